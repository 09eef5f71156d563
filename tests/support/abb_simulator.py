"""An ABB controller on the wire: EGM over UDP and Robot Web Services over HTTP, with one arm that follows.

``python -m support.abb_simulator --egm-port 6511`` runs it as a program of its own and prints its RWS port.
"""

from __future__ import annotations

import argparse
import json
import signal
import threading
from types import TracebackType

from support.abb_controller import AbbController
from support.abb_egm_source import EgmSource, SetPoint
from support.abb_rws_server import RwsServer

HOME = (10.0, -20.0, 30.0, 5.0, 45.0, -60.0)  # [deg]


class AbbSimulator:
    """Use as a context manager; set ``egm.target`` once the port of the driver is known."""

    def __init__(
        self,
        egm_port: int = 0,
        joints: tuple[float, ...] = HOME,
        rws_version: int = 1,
        rws_port: int = 0,
        egm_host: str = '127.0.0.1',
        seed: int = 1,
    ) -> None:
        self.controller = AbbController(joints)
        self.egm = EgmSource(self.controller, (egm_host, egm_port), seed)
        self.rws = RwsServer(self.controller, rws_version, rws_port)
        self._closed = False

    def __enter__(self) -> AbbSimulator:
        self.egm.start()
        self.rws.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lose power."""
        if not self._closed:
            self._closed = True
            self.egm.close()
            self.rws.close()

    @property
    def setpoints(self) -> list[SetPoint]:
        """What it was told, oldest first."""
        return list(self.egm.setpoints)

    def send_to(self, egm_port: int) -> None:
        """Configure the UDPUC device."""
        self.egm.target = (self.egm.target[0], egm_port)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--egm-port', type=int, required=True, help='where the computer listens for EGM')
    parser.add_argument('--egm-host', default='127.0.0.1', help='the computer')
    parser.add_argument('--port', type=int, default=0, help='of RWS; 0 takes a free one')
    parser.add_argument('--rws-version', type=int, choices=(1, 2), default=1)
    parser.add_argument('--joints', type=float, nargs=6, default=HOME, metavar='DEG')
    parser.add_argument('--answer-timeout', type=float, default=0.1, help='[s] of lfd_egm.mod; more on a busy machine')
    arguments = parser.parse_args()
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with AbbSimulator(
        arguments.egm_port, tuple(arguments.joints), arguments.rws_version, arguments.port, arguments.egm_host
    ) as simulator:
        simulator.egm.answer_timeout = arguments.answer_timeout
        print(json.dumps({'rws_port': simulator.rws.port, 'egm_port': arguments.egm_port}), flush=True)
        ended.wait()


if __name__ == '__main__':
    main()
