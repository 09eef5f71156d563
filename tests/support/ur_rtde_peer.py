"""What the third-party client ur-rtde makes of a controller: prints one line of JSON.

    python -m support.ur_rtde_peer receive|control HOST

A process of its own: it holds Python's lock while it waits for the controller, and knows the real ports only.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import rtde_control
import rtde_receive


def receive(host: str) -> dict[str, Any]:
    """Ask for all that it asks for by default, and then for some only."""
    client = rtde_receive.RTDEReceiveInterface(host)
    before = client.getTimestamp()
    while client.isConnected() and client.getTimestamp() == before:
        time.sleep(0.01)
    seen = {
        'connected': client.isConnected(),
        'advances': client.getTimestamp() > before,
        'positions': client.getActualQ(),
        'velocities': client.getActualQd(),
        'robot_mode': client.getRobotMode(),
        'safety_mode': client.getSafetyMode(),
        'runtime_state': client.getRuntimeState(),
        'robot_status': client.getRobotStatus(),
        'safety_bits': client.getSafetyStatusBits(),
        'slider': client.getTargetSpeedFraction(),
    }
    client.disconnect()
    some = rtde_receive.RTDEReceiveInterface(host, 125.0, ['timestamp', 'actual_q'])
    seen['some'] = some.getActualQ()
    some.disconnect()
    return seen


def control(host: str) -> dict[str, Any]:
    """Move and servo the arm with the program that it uploads itself."""
    state = rtde_receive.RTDEReceiveInterface(host)
    client = rtde_control.RTDEControlInterface(host)
    goal = state.getActualQ()
    seen: dict[str, Any] = {'runs': client.isProgramRunning()}
    goal[0] += 0.2
    seen['moved'] = client.moveJ(goal, 2.0, 5.0)
    seen['after_move'] = [list(goal), state.getActualQ()]
    for _ in range(100):
        start = client.initPeriod()
        goal[1] += 0.001
        client.servoJ(goal, 0.0, 0.0, 0.002, 0.05, 300.0)
        client.waitPeriod(start)
    deadline = time.monotonic() + 10.0
    while abs(state.getActualQ()[1] - goal[1]) > 1e-3 and time.monotonic() < deadline:
        time.sleep(0.01)
    seen['after_servo'] = [goal, state.getActualQ()]
    seen['stopped'] = client.servoStop()
    client.stopScript()
    client.disconnect()
    state.disconnect()
    return seen


if __name__ == '__main__':
    print(json.dumps({'receive': receive, 'control': control}[sys.argv[1]](sys.argv[2])))
