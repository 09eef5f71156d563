"""What the control loop is compared with, as programs: ``control_peers.py KIND FILE RATE ...``.

======  ================================================================================================================
floor   a loop that does nothing but sleep until the next time on a fixed grid: the least that Python has here
rtde    the loop of the third-party client ur-rtde (C++), which servos a simulated UR arm at HOST
======  ================================================================================================================

They print ``ready`` when they run, and go on until SIGTERM. Every cycle's start [s, monotonic] goes to FILE. On each
SIGUSR1, the client of ur-rtde gives another set-point; the time just before goes to FILE with `.calls` in its name.
"""

from __future__ import annotations

import argparse
import signal
import time
from array import array
from pathlib import Path

import numpy as np

STEP = 0.002  # [rad] between two set-points


class Switch:
    """What signals ask for."""

    def __init__(self) -> None:
        self.ended = False
        self.asked = 0
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._end)
        signal.signal(signal.SIGUSR1, self._ask)

    def _end(self, *_: object) -> None:
        self.ended = True

    def _ask(self, *_: object) -> None:
        self.asked += 1


def floor(arguments: argparse.Namespace, switch: Switch) -> None:
    period = 1.0 / arguments.rate
    stamps = array('d')
    print('ready', flush=True)
    due = time.monotonic()
    while not switch.ended:
        stamps.append(time.monotonic())
        due += period
        remaining = due - time.monotonic()
        if remaining > 0.0:
            time.sleep(remaining)
        else:
            due += period * int(-remaining / period)
    np.save(arguments.file, np.array(stamps))


def rtde(arguments: argparse.Namespace, switch: Switch) -> None:
    import rtde_control

    client = rtde_control.RTDEControlInterface(arguments.host, arguments.rate)
    goal = list(arguments.positions)
    stamps, calls = array('d'), array('d')
    period, done = 1.0 / arguments.rate, 0
    print('ready', flush=True)
    while not switch.ended:
        start = client.initPeriod()
        stamps.append(time.monotonic())
        if switch.asked > done:
            done += 1
            goal[0] += STEP if done % 2 else -STEP
            print('called', flush=True)
            calls.append(time.monotonic())
        client.servoJ(goal, 0.0, 0.0, period, 0.05, 300.0)
        client.waitPeriod(start)
    client.servoStop()
    client.stopScript()
    client.disconnect()
    np.save(arguments.file, np.array(stamps))
    np.save(arguments.file.with_suffix('.calls.npy'), np.array(calls))


def main() -> None:
    parser = argparse.ArgumentParser(description='Loops to compare with.')
    parser.add_argument('kind', choices=('floor', 'rtde'))
    parser.add_argument('file', type=Path)
    parser.add_argument('rate', type=float, help='[Hz]')
    parser.add_argument('--host', default='127.0.0.1')
    parser.add_argument('--positions', type=float, nargs=6, help='where the arm stands [rad]')
    arguments = parser.parse_args()
    {'floor': floor, 'rtde': rtde}[arguments.kind](arguments, Switch())


if __name__ == '__main__':
    main()
