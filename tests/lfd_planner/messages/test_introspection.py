"""Stages and steps as moveit_task_constructor_msgs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from support.stage_mockups import SCENE, BackwardMockup, ConnectMockup, ForwardMockup, GeneratorMockup

from lfd_planner.messages.introspection import (
    description_to_message,
    motions_to_message,
    number_to_message,
    parts_to_message,
    statistics_to_message,
)
from lfd_planner.task import Context, Motion, Record, Serial, State, Step, TaskConstructor
from lfd_planner.timing import Trajectory

ROBOT = replace(SCENE, robot='two_axes')


def searched() -> tuple[Record, tuple[Step, ...]]:
    task = Serial(
        'task',
        GeneratorMockup(name='now'),
        ConnectMockup(name='move'),
        BackwardMockup(name='approach'),
        GeneratorMockup([2.0, 1.0], name='grasp', keyframe=4),
        ForwardMockup([math.inf, 3.0], name='lift'),
    )
    record = Record(task)
    return record, TaskConstructor(task, Context(observer=record)).plan()


def still(times: list[float]) -> Trajectory:
    return Trajectory(np.array(times), np.zeros((len(times), 2)), np.zeros((len(times), 2)))


def test_stages_are_described_with_what_they_read_and_write():
    record, _ = searched()
    message = description_to_message('me', record.entries)
    assert message.task_id == 'me'
    assert [(stage.id, stage.parent_id) for stage in message.stages] == [(1, 0), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1)]
    flags = {stage.name: stage.flags for stage in message.stages}
    assert flags == {'task': 0x0C, 'now': 0x0C, 'move': 0x03, 'approach': 0x0A, 'grasp': 0x0C, 'lift': 0x05}
    assert [[each.value for each in stage.properties] for stage in message.stages][4:] == [['4'], []]


def test_a_task_without_stages_is_gone():
    assert not description_to_message('me').stages


def test_statistics_name_steps_by_cost_and_rejections():
    record, found = searched()
    message = statistics_to_message('me', record.statistics())
    assert list(message.stages[0].solved) == [record.number(step) for step in found]
    assert [(stage.num_failed, len(stage.failed)) for stage in message.stages][-1] == (2, 2)


def test_a_solution_has_a_part_for_every_stage():
    record, (best, _) = searched()
    message = parts_to_message('me', record.parts(best), ())
    (whole,) = message.sub_solution
    assert whole.info.cost == pytest.approx(best.cost)
    assert list(whole.sub_solution_id) == [part.info.id for part in message.sub_trajectory]
    assert [part.info.stage_id for part in message.sub_trajectory] == [2, 3, 4, 5, 6]
    assert all(part.scene_diff.is_diff and part.scene_diff.robot_state.is_diff for part in message.sub_trajectory)


def test_a_rejection_is_an_endless_cost_and_a_reason():
    record, _ = searched()
    number = record.statistics()[-1].failed[0]
    (part,) = number_to_message('me', record, number, (), ROBOT).sub_trajectory
    assert part.info.cost == math.inf
    assert part.info.comment == '1 x endless'
    assert (part.info.id, part.info.stage_id) == (number, 6)


def test_a_number_that_nothing_has_is_the_scene_alone():
    record, _ = searched()
    message = number_to_message('me', record, 1000, (), ROBOT)
    assert message.start_scene.robot_model_name == 'two_axes'
    assert not message.sub_solution
    assert not message.sub_trajectory


def test_fingers_move_with_the_motion_in_which_they_move():
    open_hand = State(SCENE.with_joints({'finger': 0.1}))
    step = Step.moving(
        open_hand,
        open_hand,
        Motion('carry', still([0.0, 1.0])),
        Motion('close', still([0.0, 1.0, 2.0]), gripper={'finger': 0.5}),
        Motion('lift', still([0.0, 1.0])),
    )
    message = motions_to_message(step, ('a', 'b'))
    assert list(message.joint_names) == ['a', 'b', 'finger']
    assert [point.positions[2] for point in message.points] == pytest.approx([0.1, 0.1, 0.3, 0.5, 0.5])
    assert [point.time_from_start.sec for point in message.points] == [0, 1, 2, 3, 4]
