from __future__ import annotations

import math

import numpy as np
import pytest

from lfd_planner.messages.trajectories import duration, seconds, trajectory_to_message
from lfd_planner.scene import Code, SceneFault
from lfd_planner.timing import Trajectory


@pytest.mark.parametrize('value', [0.0, 1e-9, 1.5, 2147483646.0, -3.25])
def test_times_survive_the_way_into_a_message_and_back(value):
    assert seconds(duration(value)) == value


@pytest.mark.parametrize('value', [2147483648.0, 1e300, -1e10, math.inf, math.nan])
def test_times_that_a_message_cannot_tell_are_refused(value):
    with pytest.raises(SceneFault, match='cannot be sent') as raised:
        duration(value)
    assert raised.value.code == Code.INVALID_MOTION_PLAN


def test_a_motion_of_centuries_is_refused():
    motion = Trajectory(np.array([0.0, 3e9]), np.array([[0.0], [1.0]]), np.zeros((2, 1)))
    with pytest.raises(SceneFault, match='make the motion faster'):
        trajectory_to_message(motion, ['joint_1'], 'base_link')
