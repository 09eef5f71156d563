"""A UR controller on the network: RTDE, the script ports and the dashboard, for tests and as a process of its own.

    python -m support.ur_simulator --port 0

prints ``rtde 41001 script 41002 dashboard 41003`` when it is ready and runs until it is ended. With ``--port 30004``
the ports are those of a real controller, as some clients demand; then ``--host 127.0.5.1`` keeps several apart.
"""

from __future__ import annotations

import argparse
import selectors
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from support.ur_controller import HOME, NORMAL, OFF, Controller, SetPoint
from support.ur_rtde_server import RtdeClient, RtdeServer
from support.ur_script import is_complete

E_SERIES = (5, 11, 1, 108318)
CB3 = (3, 15, 4, 106291)
REAL_PORTS = (30004, 30002, 29999)
OTHER_SCRIPT_PORTS = (30001, 30003)
MODES = {3: 'POWER_OFF', 4: 'POWER_ON', 5: 'IDLE', 7: 'RUNNING'}
BACKLOG = 1 << 20  # [byte] a client that is so far behind gets no more data


@dataclass(frozen=True)
class Input:
    """One data frame of a client."""

    time: float  # [s] monotonic
    values: dict[str, Any]


class _Connection:
    """A client of one of the servers."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.unsent = b''

    def receive(self, data: bytes) -> None:
        raise NotImplementedError

    def send(self, data: bytes) -> None:
        self.unsent += data
        with suppress(BlockingIOError):
            self.unsent = self.unsent[self.socket.send(self.unsent) :]


class URSimulator:
    """A controller with its servers; a context manager. It runs in a thread of its own.

    ``ports`` are those of RTDE, scripts and the dashboard; 0 is a free one. ``tamper`` sees every data frame on its way
    to a client and returns what is sent instead: nothing, several, older or garbled ones. ``silent`` sends none,
    ``deaf`` loses what clients send over RTDE, and in ``local_mode`` programs and orders are refused. ``set_points``
    are those that the program on the controller gave to the arm, ``inputs`` the data frames of clients.
    """

    def __init__(
        self,
        host: str = '127.0.0.1',
        ports: Sequence[int] = (0, 0, 0),
        version: tuple[int, int, int, int] = E_SERIES,
        positions: Sequence[float] = HOME,
        rtde_version: int = 2,
        motors_on: bool = True,
    ) -> None:
        self.host = host
        self.controller = Controller(version, positions)
        if not motors_on:
            self.controller.robot_mode = OFF
        self.rtde = RtdeServer(self.controller, rtde_version)
        self.tamper: Callable[[bytes], Sequence[bytes]] | None = None
        self.deaf = False
        self.silent = False
        self.local_mode = False
        self.inputs: list[Input] = []
        self.last_data_at = 0.0  # [s] monotonic, when a state was last sent
        self._selector = selectors.DefaultSelector()
        self._connections: list[_Connection] = []
        self._lock = threading.RLock()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name='ur_simulator')
        self.rtde_port = self._listen(ports[0], lambda each: _Rtde(each, self))
        self.script_port = self._listen(ports[1], lambda each: _Script(each, self))
        self.dashboard_port = self._listen(ports[2], lambda each: _Dashboard(each, self))
        for port in OTHER_SCRIPT_PORTS if tuple(ports) == REAL_PORTS else ():
            self._listen(port, lambda each: _Script(each, self))

    def __enter__(self) -> URSimulator:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()
        for connection in self._connections:
            connection.socket.close()
        for key in list(self._selector.get_map().values()):
            if isinstance(key.fileobj, socket.socket):
                key.fileobj.close()
        self._selector.close()

    # What a test, or a person at the pendant, does

    def do(self, action: Callable[[Controller], None]) -> None:
        """Do something to the controller between two cycles, such as ``Controller.emergency_stop``."""
        with self._lock:
            action(self.controller)

    def close_connections(self) -> None:
        """Close the connections of all clients."""
        with self._lock:
            for connection in list(self._connections):
                self._drop(connection)

    @property
    def set_points(self) -> list[SetPoint]:
        return self.controller.set_points

    @property
    def positions(self) -> tuple[float, ...]:
        with self._lock:
            return tuple(self.controller.arm.positions)

    @property
    def stands(self) -> bool:
        with self._lock:
            return self.controller.arm.stands

    # The servers

    def _listen(self, port: int, serve: Callable[[socket.socket], _Connection]) -> int:
        server = socket.create_server((self.host, port))
        server.setblocking(False)
        self._selector.register(server, selectors.EVENT_READ, serve)
        return int(server.getsockname()[1])

    def _run(self) -> None:
        due = time.monotonic()
        while not self._ending.is_set():
            with self._lock:
                self._serve()
                self.controller.cycle()
                self._send_states()
            # Cycles that come too late are left out, for a burst of them would be a leap; the clock runs on.
            due += self.controller.period
            if (late := time.monotonic() - due) > 0.0:
                self.controller.clock += late
                due += late
            time.sleep(max(due - time.monotonic(), 0.0))

    def _serve(self) -> None:
        for key, _ in self._selector.select(0):
            if isinstance(key.data, _Connection):
                self._read(key.data)
            else:
                self._accept(key.fileobj, key.data)

    def _accept(self, server: Any, serve: Callable[[socket.socket], _Connection]) -> None:
        connection, _ = server.accept()
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client = serve(connection)
        if self.local_mode and isinstance(client, _Script):
            connection.close()
            return
        self._connections.append(client)
        self._selector.register(connection, selectors.EVENT_READ, client)

    def _read(self, client: _Connection) -> None:
        try:
            data = client.socket.recv(65536)
            if not data:
                self._drop(client)
            else:
                client.receive(data)
        except BlockingIOError:
            pass
        except (OSError, ValueError, IndexError, struct.error):  # a client that speaks no sense is sent away
            self._drop(client)

    def _drop(self, client: _Connection) -> None:
        if client in self._connections:
            self._connections.remove(client)
            self._selector.unregister(client.socket)
            client.socket.close()
            if isinstance(client, _Rtde):
                self.rtde.forget(client.client)

    def _send_states(self) -> None:
        for client in list(self._connections):
            if not isinstance(client, _Rtde) or self.silent:
                continue
            frame = client.client.data()
            if frame is None or len(client.unsent) > BACKLOG:
                continue
            try:
                client.send(b''.join(self.tamper(frame)) if self.tamper else frame)
            except OSError:
                self._drop(client)
            self.last_data_at = time.monotonic()


class _Rtde(_Connection):
    def __init__(self, connection: socket.socket, simulator: URSimulator) -> None:
        super().__init__(connection)
        self._simulator = simulator
        self.client = RtdeClient(simulator.rtde)

    def receive(self, data: bytes) -> None:
        if self._simulator.deaf:
            return
        answers, inputs = self.client.receive(data)
        now = time.monotonic()
        self._simulator.inputs += [Input(now, each) for each in inputs]
        if answers:
            self.send(answers)


class _Script(_Connection):
    """Runs the programs that it gets, and tells its clients something, as the real one does all the time."""

    def __init__(self, connection: socket.socket, simulator: URSimulator) -> None:
        super().__init__(connection)
        self._simulator = simulator
        self._text = ''
        self.send(struct.pack('>IB', 5, 16))  # a message of the kind 'robot state', with nothing in it

    def receive(self, data: bytes) -> None:
        self._text += data.decode('utf-8')
        if is_complete(self._text):
            text, self._text = self._text, ''
            self._simulator.controller.start(text)


class _Dashboard(_Connection):
    def __init__(self, connection: socket.socket, simulator: URSimulator) -> None:
        super().__init__(connection)
        self._simulator = simulator
        self._rest = b''
        self.send(b'Connected: Universal Robots Dashboard Server\n')

    def receive(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b'\n')
        for line in lines:
            self.send(self._answer(line.decode().strip()).encode() + b'\n')

    def _answer(self, command: str) -> str:
        controller = self._simulator.controller
        orders: dict[str, tuple[str, Callable[[], None]]] = {
            'power on': ('Powering on', controller.power_on),
            'brake release': ('Brake releasing', controller.brake_release),
            'play': ('Starting program', controller.play),
            'pause': ('Pausing program', controller.pause),
            'stop': ('Stopped', controller.stop),
            'unlock protective stop': ('Protective stop releasing', controller.release),
        }
        if command in orders:
            if self._simulator.local_mode:
                return 'Command is not allowed due to safety reasons'
            answer, act = orders[command]
            act()
            return answer
        major, minor, bugfix, build = controller.version
        return {
            'robotmode': f'Robotmode: {MODES.get(controller.robot_mode, "BOOTING")}',
            'safetymode': f'Safetymode: {"NORMAL" if controller.safety_mode == NORMAL else "PROTECTIVE_STOP"}',
            'running': f'Program running: {str(controller.runtime_state == 2).lower()}',
            'PolyscopeVersion': f'URSoftware {major}.{minor}.{bugfix}.{build} (Jan 01 2022)',
            'get serial number': '20225500000',
            'is in remote control': str(not self._simulator.local_mode).lower(),
            'quit': 'Disconnected',
        }.get(command, f"could not understand: '{command}'")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description='A simulated UR controller.')
    parser.add_argument('--host', default='127.0.0.1')
    parser.add_argument('--port', type=int, default=0, choices=(0, 30004), help='30004: all ports of a real one')
    parser.add_argument('--ports', type=int, nargs=3, default=(0, 0, 0), help='of RTDE, scripts and the dashboard')
    parser.add_argument('--cb3', action='store_true', help='a CB3 with 125 Hz instead of an e-Series with 500 Hz')
    parser.add_argument('--positions', type=float, nargs=6, default=HOME, help='where the arm stands [rad]')
    parser.add_argument('--motors-off', action='store_true')
    given = parser.parse_args(arguments)
    version = CB3 if given.cb3 else E_SERIES
    ports = REAL_PORTS if given.port else given.ports
    with URSimulator(given.host, ports, version, given.positions, motors_on=not given.motors_off) as simulator:
        print(
            f'rtde {simulator.rtde_port} script {simulator.script_port} dashboard {simulator.dashboard_port}',
            flush=True,
        )
        with suppress(KeyboardInterrupt):
            threading.Event().wait()
    return 0


if __name__ == '__main__':
    sys.exit(main())
