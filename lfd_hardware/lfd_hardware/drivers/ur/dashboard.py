"""The dashboard of a UR controller (TCP 29999, lines of text): switches motors on and releases the brakes."""

from __future__ import annotations

import socket
from types import TracebackType

from lfd_hardware.drivers.driver import DriverError

LONGEST_LINE = 4096  # [byte]


class Dashboard:
    """A connection to the dashboard; ``where`` names the controller in the errors."""

    def __init__(self, host: str, port: int, timeout: float, where: str) -> None:
        self._where = f'The dashboard of {where} (port {port})'
        try:
            self._socket = socket.create_connection((host, port), timeout)
        except (OSError, UnicodeError) as error:  # the latter for a name that cannot be one
            raise DriverError(f'{self._where} cannot be reached: {error}.') from None
        self._rest = b''
        try:
            self._line()  # a greeting
        except DriverError:
            self._socket.close()
            raise

    def __enter__(self) -> Dashboard:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def order(self, command: str, answer: str) -> None:
        """Give a command; raises DriverError unless the answer begins as it should."""
        try:
            self._socket.sendall(command.encode('ascii') + b'\n')
        except OSError as error:
            raise DriverError(f'{self._where} has closed the connection: {error}.') from None
        line = self._line()
        if not line.lower().startswith(answer.lower()):
            raise DriverError(f"{self._where} refused '{command}': it says '{line[:200]}'.")

    def _line(self) -> str:
        while b'\n' not in self._rest:
            if len(self._rest) > LONGEST_LINE:
                raise DriverError(f'{self._where} sent a line without an end: is this port a dashboard?')
            try:
                data = self._socket.recv(LONGEST_LINE)
            except OSError as error:
                raise DriverError(f'{self._where} does not answer: {error}.') from None
            if not data:
                raise DriverError(f'{self._where} has closed the connection.')
            self._rest += data
        line, self._rest = self._rest.split(b'\n', 1)
        return line.decode('utf-8', 'replace').strip()
