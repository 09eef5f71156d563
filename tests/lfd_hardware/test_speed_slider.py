"""A UR arm whose pendant lets it move only so fast: the trajectory keeps pace with it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from support.real_arm import RealArm, real_arm
from support.rigs import URRig

WAY = 2.4  # [rad]
SECONDS = 2.0  # [s] at full speed, so that the joint moves at 2.3 rad/s, which it cannot at half of its speed


@pytest.fixture(scope='module')
def arm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealArm]:
    with real_arm(URRig(), tmp_path_factory.mktemp('cell')) as arm:
        arm.way = WAY
        yield arm


def slide(arm: RealArm, slider: float) -> None:
    """Set the slider on the pendant, and wait until the trajectory controller has heard of it."""
    assert isinstance(arm.rig, URRig)
    arm.rig.simulator.do(lambda controller: setattr(controller, 'slider', slider))
    arm.eventually(lambda: arm.speeds and arm.speeds[-1] == slider, 'the speed')


def duration(rig: URRig) -> float:
    """For how long the set-points of the first joint moved [s]."""
    points = list(rig.simulator.set_points)
    moved = np.flatnonzero(np.diff([point.positions[0] for point in points]))
    return points[moved[-1]].time - points[moved[0]].time


def test_at_half_the_speed_a_fast_motion_takes_twice_the_time_and_arrives(arm: RealArm):
    assert isinstance(arm.rig, URRig)
    slide(arm, 0.5)
    arm.rig.forget()
    arm.speeds.clear()
    arm.arrives(arm.swing(SECONDS, patient=False))
    assert duration(arm.rig) > 1.9 * SECONDS  # how much more depends on how busy the machine is
    assert set(arm.speeds) == {0.5}


def test_a_slider_that_is_moved_during_the_motion_is_followed(arm: RealArm):
    assert isinstance(arm.rig, URRig)
    slide(arm, 1.0)
    arm.rig.forget()
    goal = arm.swing(SECONDS, patient=False)
    start = arm.rig.positions[0]
    arm.eventually(lambda: abs(arm.rig.positions[0] - start) > 0.2 * WAY, 'motion')
    arm.rig.simulator.do(lambda controller: setattr(controller, 'slider', 0.4))
    arm.arrives(goal)
    assert duration(arm.rig) > 1.3 * SECONDS
    slide(arm, 1.0)
