"""Solutions survive the way into a message and back; what is no solution is refused."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from lfd_msgs.msg import TaskSolution
from support.pick_and_place import pick_and_place

from lfd_planner.messages.solutions import failure_to_message, solution_from_message, solution_to_message
from lfd_planner.planner import RejectionCount, TaskFailure
from lfd_planner.scene import Code, SceneFault
from lfd_planner.solution import Awaited


@pytest.fixture(params=['two_finger', 'suction'])
def case(request):
    return pick_and_place(request.param)


def test_a_solution_comes_back_as_it_was(case, sent):
    message = sent(solution_to_message(case.solution, 'base_link', {'lift': 0.25}, 'Because.'))
    found = solution_from_message(message, case.model.group.joints)
    assert found.segments == case.solution.segments
    for name in ('robot', 'gripper', 'joints', 'cost', 'planning_time', 'seed'):
        assert getattr(found, name) == getattr(case.solution, name)
    np.testing.assert_allclose(found.trajectory.times, case.solution.trajectory.times, atol=1e-9)
    np.testing.assert_array_equal(found.trajectory.q, case.solution.trajectory.q)
    np.testing.assert_array_equal(found.trajectory.v, case.solution.trajectory.v)
    assert (message.stages, list(message.stage_times)) == (['lift'], [0.25])
    assert message.explanation == 'Because.'


def test_a_failure_tells_its_reasons_with_their_numbers(sent):
    counts = (RejectionCount('too_wide', ('box',), 3, 'box is 61 mm wide.'), RejectionCount('no_path', (), 1))
    failure = TaskFailure(Code.PLANNING_FAILED, 'No.', 2, 'grasp', counts, 'Turn it.')
    message = sent(failure_to_message(failure))
    assert (message.keyframe, message.stage, message.suggestion) == (2, 'grasp', 'Turn it.')
    told = [(each.reason, tuple(each.subjects), each.count, each.detail) for each in message.rejections]
    assert told == [(count.reason, count.subjects, count.count, count.detail) for count in counts]


def test_digital_and_analogue_outputs_stay_apart(case):
    segments = list(case.solution.segments)
    segments[0] = dataclasses.replace(segments[0], outputs={'valve': True, 'light': False, 'speed': 1.0})
    message = solution_to_message(dataclasses.replace(case.solution, segments=tuple(segments)), 'base_link')
    found = solution_from_message(message, case.model.group.joints).segments[0].outputs
    assert found == {'valve': True, 'light': False, 'speed': 1.0}
    assert isinstance(found['valve'], bool)
    assert isinstance(found['speed'], float)


@pytest.mark.parametrize('awaited', [Awaited('part_there', True, 2.5), Awaited('pressure', 0.5)])
def test_an_awaited_input_comes_back(case, awaited):
    segments = list(case.solution.segments)
    segments[1] = dataclasses.replace(segments[1], awaits=awaited)
    message = solution_to_message(dataclasses.replace(case.solution, segments=tuple(segments)), 'base_link')
    found = solution_from_message(message, case.model.group.joints)
    assert [segment.awaits for segment in found.segments[:3]] == [None, awaited, None]


def _late(message: TaskSolution) -> None:
    message.segments[0].last = 10_000


def _unheld(message: TaskSolution) -> None:
    message.segments[0].detached_object = 'moon'


def _unequal(message: TaskSolution) -> None:
    message.segments[0].gripper_joints = ['finger']


def _endless(message: TaskSolution) -> None:
    message.cost = math.inf


def _nameless(message: TaskSolution) -> None:
    message.robot = ''


def _before(message: TaskSolution) -> None:
    message.segments[0].keyframe = -1


def _belated(message: TaskSolution) -> None:
    message.trajectory.points = message.trajectory.points[1:]


@pytest.mark.parametrize(
    ('spoil', 'told'),
    [
        (_late, 'Segment 0: it goes from point 0 to 10000'),
        (_unheld, "Segment 0: it lets go of 'moon'"),
        (_unequal, 'Segment 0: it has not one position'),
        (_endless, 'Solution: its cost'),
        (_nameless, 'Solution: .* is no name of a robot'),
        (_before, 'Segment 0: its keyframe is -1'),
        (_belated, 'Solution: its motion does not start at 0 s'),
    ],
)
def test_what_is_no_solution_is_refused(spoil, told):
    case = pick_and_place()
    message = solution_to_message(case.solution, 'base_link')
    spoil(message)
    with pytest.raises(SceneFault, match=told) as raised:
        solution_from_message(message, case.model.group.joints)
    assert raised.value.code == Code.INVALID_MOTION_PLAN
