"""A simulated controller as a process that remembers which set-points came: ``control_robot.py KIND FILE ...``.

It prints one line of JSON, the parameters of a tag that leads to it, and runs until SIGTERM. Then each set-point's
time of arrival [s, monotonic] and values go to FILE. A UR controller looks at its sockets once per cycle of 2 ms, an
ABB's once in 4 ms, so that an arrival may be told late by as much.
"""

from __future__ import annotations

import argparse
import json
import math
import signal
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from support.abb_simulator import AbbSimulator
from support.motoman_simulator import MotomanSimulator
from support.ur_simulator import REAL_PORTS, URSimulator

PATIENCE = 1.0  # [s] a busy machine must not end a measurement; the drivers' own limits are below 0.1 s
Rows = Callable[[], list[tuple[float, ...]]]
Serving = Iterator[tuple[dict[str, object], Rows]]


@contextmanager
def ur(arguments: argparse.Namespace) -> Serving:
    ports = REAL_PORTS if arguments.real_ports else (0, 0, 0)
    with URSimulator(arguments.host, ports, positions=arguments.positions) as robot:
        tag = {
            'robot_ip': arguments.host,
            'rtde_port': robot.rtde_port,
            'script_port': robot.script_port,
            'dashboard_port': robot.dashboard_port,
            'state_limit': PATIENCE,
            'robot_receive_timeout': PATIENCE,
        }
        yield tag, lambda: [(each.time, *_doubles(each.values)) for each in list(robot.inputs)]


def _doubles(values: dict[str, float]) -> tuple[float, ...]:
    return tuple(value for name, value in values.items() if name.startswith('input_double_register_'))


@contextmanager
def abb(arguments: argparse.Namespace) -> Serving:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(('127.0.0.1', 0))
        port = free.getsockname()[1]
    with AbbSimulator(port, tuple(math.degrees(each) for each in arguments.positions)) as robot:
        robot.egm.answer_timeout = PATIENCE
        tag = {
            'rws_ip': '127.0.0.1',
            'rws_port': robot.rws.port,
            'egm_port': port,
            'state_limit': PATIENCE,
            'connect_timeout': 10.0,
        }
        yield tag, lambda: [(each.at, *each.joints) for each in robot.setpoints]


@contextmanager
def motoman(arguments: argparse.Namespace) -> Serving:
    with MotomanSimulator(arguments.positions) as robot:
        tag = {
            'robot_ip': '127.0.0.1',
            'motion_port': robot.motion_port,
            'state_port': robot.state_port,
            'state_timeout': PATIENCE,
            'reply_timeout': PATIENCE,
        }
        yield tag, lambda: [(each.received, *each.positions) for each in list(robot.points)]


KINDS = {'ur': ur, 'abb': abb, 'motoman': motoman}


def main() -> None:
    parser = argparse.ArgumentParser(description='A simulated controller that remembers set-points.')
    parser.add_argument('kind', choices=KINDS)
    parser.add_argument('file', type=Path)
    parser.add_argument('--host', default='127.0.0.1')
    parser.add_argument('--real-ports', action='store_true', help='of a UR controller, as some clients demand')
    parser.add_argument('--positions', type=float, nargs=6, required=True, help='where the arm stands [rad]')
    arguments = parser.parse_args()
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with KINDS[arguments.kind](arguments) as (tag, rows):
        print(json.dumps(tag), flush=True)
        ended.wait()
        found = rows()
    # A client may send frames of several kinds; those of servoing are the most.
    usual = Counter(map(len, found)).most_common(1)[0][0] if found else 1
    np.save(arguments.file, np.array([row for row in found if len(row) == usual]).reshape(-1, usual))


if __name__ == '__main__':
    main()
