"""The RTDE connection to a UR controller: agrees on variables, then keeps the newest state and sends set-points."""

from __future__ import annotations

import select
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from lfd_hardware.drivers.driver import DriverError
from lfd_hardware.drivers.ur import rtde
from lfd_hardware.drivers.ur.rtde import Frame, Kind, RtdeError
from lfd_hardware.drivers.ur.script import inputs
from lfd_hardware.drivers.ur.state import INPUT_TYPES, OUTPUT_TYPES, RobotState, output_names

CHUNK = 65536  # [byte] taken from the network at once
MOST_CHUNKS = 16  # taken in one poll, so that a flood cannot hold up the update loop
NEWEST = 4  # states looked at in one poll; those before them are older
FAREWELL = 0.2  # [s] that the controller has to see that the connection ends
DRIFT = 0.001  # by which the controller's clock and this computer's may differ in speed


class RtdeLink:
    """One connection; ``where`` names the controller in the errors.

    ``poll`` and ``send`` never wait for the network. Threads may share a link.
    """

    def __init__(self, host: str, port: int, timeout: float, where: str, first_register: int) -> None:
        self._where = where
        self._deadline = time.monotonic() + timeout
        self._lock = threading.Lock()
        self._reader = rtde.FrameReader()
        self._frames: list[Frame] = []
        self._version = 1
        self._said = ''
        self.received_at = 0.0  # [s] of the newest state, monotonic
        self.lateness = 0.0  # [s] that the newest state was longer on its way than the quickest one
        self._quickest = 0.0  # [s] from the controller's clock to ours, with the least delay that was seen
        try:
            self._socket = socket.create_connection((host, port), timeout)
        except (OSError, UnicodeError) as error:  # the latter for a name that cannot be one
            raise DriverError(
                f'{where} does not answer on RTDE port {port} ({error}): check robot_ip, the cable and that it is on.'
            ) from None
        try:
            self._socket.setblocking(False)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._agree(first_register)
            self.state = self._first_state()
        except RtdeError as error:
            self._socket.close()
            raise self._garbled(error) from None
        except BaseException:
            self._socket.close()
            raise

    def poll(self) -> RobotState:
        """Take what has come and return the newest state; a state of the past or of the same time is no new one."""
        with self._lock:
            try:
                self._receive()
                data = [frame for frame in self._frames if self._hear(frame)]
                self._frames.clear()
                for frame in data[-NEWEST:]:
                    self._take(frame)
            except RtdeError as error:
                raise self._garbled(error) from None
            return self.state

    def send(self, order: int, count: int, positions: Sequence[float]) -> None:
        """Set the input registers: the order, the count and the set-point [rad]."""
        frame = self._inputs.pack((order, count, *positions))
        with self._lock:
            try:
                sent = self._socket.send(frame)
            except BlockingIOError:
                sent = 0
            except OSError as error:
                raise self._closed(str(error)) from None
            if sent != len(frame):
                raise DriverError(f'{self._where} takes set-points too slowly: check the network and the controller.')

    def wait(self, condition: Callable[[RobotState], bool], timeout: float) -> bool:
        """Poll until a state meets the condition; False when none did within ``timeout`` [s]."""
        end = time.monotonic() + timeout
        while not condition(self.poll()):
            remaining = end - time.monotonic()
            if remaining <= 0.0:
                return False
            # Another thread may take the state first, so that this must look again before long.
            self._await_data(min(remaining, 0.01))
        return True

    @property
    def age(self) -> float:
        """Time since the newest state came [s]."""
        return time.monotonic() - self.received_at

    def close(self) -> None:
        """Let go of the registers and the connection."""
        with self._lock:
            with suppress(OSError):
                self._socket.send(rtde.frame(Kind.PAUSE))
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)
                self._drain(time.monotonic() + FAREWELL)
            self._socket.close()

    def _drain(self, end: float) -> None:
        """Read on to the controller's end: to close with data unread could take the last order back."""
        while (remaining := end - time.monotonic()) > 0.0:
            self._await_data(remaining)
            with suppress(BlockingIOError):
                if not self._socket.recv(CHUNK):
                    return

    # The agreement

    def _agree(self, first_register: int) -> None:
        if rtde.accepted(self._ask(rtde.version_request(rtde.NEWEST_VERSION), Kind.VERSION)):
            self._version = rtde.NEWEST_VERSION
        self.controller = rtde.controller_version(
            self._ask(rtde.frame(Kind.CONTROLLER_VERSION), Kind.CONTROLLER_VERSION)
        )
        names = output_names(first_register)
        answer = self._ask(rtde.outputs_request(names, self.controller.rate, self._version), Kind.OUTPUTS)
        self._outputs = rtde.outputs_answer(answer, names, self._version)
        self._check(self._outputs, OUTPUT_TYPES)
        if self._version > 1 and not self._outputs.number:
            raise DriverError(f'{self._where} refused to send its state{self._quote}: is its software up to date?')
        names = inputs(first_register)
        self._inputs = rtde.inputs_answer(self._ask(rtde.inputs_request(names), Kind.INPUTS), names)
        self._check(self._inputs, INPUT_TYPES)
        if not self._inputs.number:
            raise DriverError(f'{self._where} refused to take set-points{self._quote}: is its software up to date?')
        if not rtde.accepted(self._ask(rtde.frame(Kind.START), Kind.START)):
            raise DriverError(f'{self._where} refused to start sending its state{self._quote}: restart it.')

    def _check(self, recipe: rtde.Recipe, types: Sequence[str]) -> None:
        for name, found, wanted in zip(recipe.names, recipe.types, types, strict=True):
            if found == rtde.IN_USE:
                raise DriverError(
                    f'{self._where} lets another client set {name}: end that client (a second driver, a gripper or '
                    'fieldbus program), or set first_register to a free block.'
                )
            if found == rtde.NOT_FOUND:
                raise DriverError(
                    f'{self._where} has software {self.controller}, which does not know {name}: update it to 3.9, 5.3 '
                    'or later, or set first_register to 0.'
                )
            if found != wanted:
                raise RtdeError(f'{name} is {found} where {wanted} was expected')

    def _ask(self, request: bytes, kind: Kind) -> bytes:
        self._socket.sendall(request)
        return self._next(kind)

    def _next(self, kind: Kind) -> bytes:
        """The payload of the next frame of a kind; what comes before it is heard and dropped."""
        while True:
            while self._frames:
                frame = self._frames.pop(0)
                if frame.kind is kind:
                    return frame.payload
                self._hear(frame)
            remaining = self._deadline - time.monotonic()
            if remaining <= 0.0:
                raise DriverError(
                    f"{self._where} did not answer RTDE's '{chr(kind)}' in time: is this port RTDE, and the controller "
                    'not overloaded?'
                )
            self._await_data(remaining)
            self._receive()

    def _first_state(self) -> RobotState:
        state = RobotState.of(self._outputs.unpack(self._next(Kind.DATA)))
        self.received_at = time.monotonic()
        self._quickest = self.received_at - state.timestamp
        return state

    # The stream

    def _receive(self) -> None:
        for _ in range(MOST_CHUNKS):
            try:
                data = self._socket.recv(CHUNK)
            except BlockingIOError:
                return
            except OSError as error:
                raise self._closed(str(error)) from None
            if not data:
                raise self._closed('end of stream')
            self._frames += self._reader.feed(data)
            if len(data) < CHUNK:
                return

    def _await_data(self, timeout: float) -> None:
        poller = select.poll()
        try:
            poller.register(self._socket, select.POLLIN)
        except ValueError:
            raise DriverError(f'The connection to {_small(self._where)} was closed from here.') from None
        poller.poll(timeout * 1000.0)

    def _take(self, frame: Frame) -> None:
        state = RobotState.of(self._outputs.unpack(frame.payload))
        if state.timestamp > self.state.timestamp:
            now = time.monotonic()
            offset, drift = now - state.timestamp, DRIFT * (now - self.received_at)
            self._quickest = min(self._quickest + drift, offset)
            self.state, self.received_at, self.lateness = state, now, offset - self._quickest

    def _hear(self, frame: Frame) -> bool:
        """Whether a frame is data; a message is remembered."""
        if frame.kind is Kind.TEXT:
            self._said = rtde.text(frame.payload, self._version).text
        return frame.kind is Kind.DATA

    @property
    def _quote(self) -> str:
        return f" ('{self._said[:200]}')" if self._said else ''

    def _closed(self, why: str) -> DriverError:
        return DriverError(
            f'{self._where} has closed the RTDE connection ({why}): check that it is on and configure the hardware '
            'anew.'
        )

    def _garbled(self, error: RtdeError) -> DriverError:
        return DriverError(f'{self._where} sent what is no RTDE, {error}: is this the RTDE port of a UR controller?')


def _small(where: str) -> str:
    return where[0].lower() + where[1:]
