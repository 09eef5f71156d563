"""Planned solutions of several arms, spoilt in one respect each: every fault is named with its place."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from support.pick_and_place import Case
from support.task_cells import planner, seed_cell, seed_origin, seed_task

from lfd_planner.mtdf import Place, Task
from lfd_planner.planner import TaskFailure
from lfd_planner.pose import Pose
from lfd_planner.solution import Segment, Solution
from lfd_planner.timing import Trajectory
from lfd_planner.validate import Check, validate

ARMS = ['ur5e', 'gp8', 'irb1600']
BOX = 'blue_box'
Spoil = Callable[[Case], Case]


@cache
def sound(robot: str, gripper: str = 'two_finger') -> Case:
    """The first box of the recorded task, picked and placed."""
    task = Task(seed_task().descriptors[2:3], seed_task().keyframes[:2])
    found = planner(robot, gripper).plan(task, seed_cell(), seed_origin())
    assert not isinstance(found, TaskFailure), found.message
    return Case(found[0].solution, planner(robot, gripper).model, seed_cell(), task, seed_origin())


def at(case: Case, name: str) -> Segment:
    """The last segment of that name."""
    return [segment for segment in case.solution.segments if segment.name == name][-1]


def changed(case: Case, name: str, **changes: object) -> Case:
    """The case with the last segment of that name changed."""
    old = at(case, name)
    segments = tuple(replace(old, **changes) if segment is old else segment for segment in case.solution.segments)
    return case.with_solution(segments=segments)


def moved_points(case: Case, name: str, **added: tuple[int, float]) -> Case:
    """The case with something added to q or v of a joint in the middle of a segment."""
    segment, moves = at(case, name), case.solution.trajectory
    columns = {'q': moves.q.copy(), 'v': moves.v.copy()}
    for key, (joint, amount) in added.items():
        columns[key][(segment.first + segment.last) // 2, joint] += amount
    return case.with_solution(trajectory=Trajectory(moves.times, columns['q'], columns['v']))


def quicker(case: Case) -> Case:
    moves = case.solution.trajectory
    return case.with_solution(trajectory=Trajectory(moves.times / 1.1, moves.q, 1.1 * moves.v))


def carried_by(link: str) -> Spoil:
    def spoil(case: Case) -> Case:
        held = replace(at(case, 'close').attach, link=link)
        return changed(changed(case, 'close', attach=held), 'open', detach=held)

    return spoil


def placed(by: Pose) -> Spoil:
    """The task wants the box elsewhere than where the solution puts it."""

    def spoil(case: Case) -> Case:
        pick, place = case.task.keyframes
        assert isinstance(place, Place)
        return case.with_task(pick, replace(place, pose=place.pose @ by))

    return spoil


def gripper_at(name: str, share: float) -> Spoil:
    """The fingers stop on their way from open to closed."""

    def spoil(case: Case) -> Case:
        ends = at(case, 'open').gripper, at(case, 'close').gripper
        posture = {joint: (1.0 - share) * ends[0][joint] + share * ends[1][joint] for joint in ends[0]}
        return changed(case, name, gripper=posture)

    return spoil


def box_moved(x: float, y: float, z: float) -> Spoil:
    """The box is not where it was when the motion was planned."""

    def spoil(case: Case) -> Case:
        here = case.scene.objects[BOX].pose
        px, py, pz = here.position
        return replace(case, scene=case.scene.move(BOX, replace(here, position=(px + x, py + y, pz + z))))

    return spoil


def lifted_table(case: Case) -> Case:
    """The table and the template are 3 mm higher than they were."""
    scene = case.scene
    for name in ('table', 'template'):
        x, y, z = scene.objects[name].pose.position
        scene = scene.move(name, replace(scene.objects[name].pose, position=(x, y, z + 0.003)))
    return replace(case, scene=scene)


def reordered(case: Case) -> Case:
    segments = case.solution.segments
    swapped = tuple(replace(segment, keyframe=1 - segment.keyframe) for segment in segments)
    return case.with_solution(segments=swapped)


def elsewhere(case: Case) -> Case:
    """The arm is not where the motion starts."""
    first = dict(zip(case.solution.joints, case.solution.trajectory.q[0].tolist(), strict=True))
    joint = case.solution.joints[1]
    return replace(case, scene=case.scene.with_joints({**first, joint: first[joint] + 0.001}))


SPOILT: list[tuple[str, Spoil, Check, str, tuple[str, ...]]] = [
    ('jump', lambda case: moved_points(case, 'approach', q=(2, 0.02)), Check.ACCELERATION, 'approach', ()),
    ('speed', lambda case: moved_points(case, 'transfer', v=(0, 9.0)), Check.VELOCITY, 'transfer', ()),
    ('too quick', quicker, Check.ACCELERATION, '', ()),
    ('start', elsewhere, Check.START, '', ()),
    ('open fingers', gripper_at('close', 0.0), Check.GRASP, 'close', ('left_finger', BOX)),
    ('fingers 1 mm off', gripper_at('close', 0.7), Check.GRASP, 'close', ('left_finger', BOX)),
    ('fingers in it', gripper_at('close', 1.4), Check.GRASP, 'close', ('left_finger', BOX)),
    ('not a number', gripper_at('close', math.nan), Check.STRUCTURE, 'close', ()),
    ('never opened', gripper_at('open', 1.0), Check.GRASP, 'open', ('left_finger', BOX)),
    ('hardly opened', gripper_at('open', 0.95), Check.GRASP, 'open', ('left_finger', BOX)),
    ('wrong link', carried_by('left_finger'), Check.GRASP, 'close', (BOX, 'left_finger')),
    ('base carries', carried_by('base_link'), Check.GRASP, 'close', (BOX, 'base_link')),
    ('no attach', lambda case: changed(case, 'close', attach=None), Check.KEYFRAME, '', (BOX,)),
    ('no detach', lambda case: changed(case, 'open', detach=None), Check.KEYFRAME, '', (BOX,)),
    ('5 mm off', placed(Pose((0.005, 0.0, 0.0))), Check.PLACE, 'open', (BOX,)),
    ('3 degrees off', placed(Pose((0.0, 0.0, 0.0), (0.0, 0.0, 0.02618, 0.99966))), Check.PLACE, 'open', (BOX,)),
    ('floating', box_moved(0.0, 0.0, 0.002), Check.STABILITY, 'open', (BOX,)),
    ('finger tips only', box_moved(0.0, 0.0, -0.005), Check.GRASP, 'close', ('left_finger', 'right_finger', BOX)),
    ('beside it', box_moved(0.003, 0.003, 0.0), Check.GRASP, 'close', ()),
    ('in the support', lifted_table, Check.COLLISION, 'lower', (BOX, 'template')),
    ('undone order', reordered, Check.KEYFRAME, '', ()),
]


@pytest.mark.parametrize('robot', ARMS)
def test_a_planned_solution_is_accepted(robot: str) -> None:
    case = sound(robot)
    report = validate(case.solution, case.model, case.scene, case.task, case.origin)
    assert report.ok, report.text


@pytest.mark.parametrize('robot', ARMS)
@pytest.mark.parametrize(
    ('spoil', 'check', 'name', 'subjects'), [row[1:] for row in SPOILT], ids=[r[0] for r in SPOILT]
)
def test_a_spoilt_solution_is_refused(
    robot: str, spoil: Spoil, check: Check, name: str, subjects: tuple[str, ...]
) -> None:
    case = spoil(sound(robot))
    report = validate(case.solution, case.model, case.scene, case.task, case.origin)
    found = [finding for finding in report.of(check) if set(subjects) <= set(finding.subjects)]
    assert found, report.text
    if name:
        places = [case.solution.segments[finding.segment] for finding in found if finding.segment is not None]
        assert at(case, name) in places, report.text
        assert f"'{name}' of keyframe {at(case, name).keyframe}" in report.text


@pytest.mark.parametrize(
    ('name', 'word', 'value'), [('close', 'is not on', False), ('open', 'is still on', True)], ids=['take', 'let go']
)
def test_a_vacuum_that_is_not_switched_is_refused(name: str, word: str, value: bool) -> None:
    case = sound('ur5e', 'suction')
    report = validate(case.solution, case.model, case.scene, case.task, case.origin)
    assert report.ok, report.text
    for outputs in ({}, {'vacuum': value}):
        spoilt = changed(case, name, outputs=outputs)
        found = validate(spoilt.solution, case.model, case.scene, case.task, case.origin).of(Check.GRASP)
        assert [finding.subjects for finding in found] == [(BOX, 'vacuum')]
        assert word in found[0].message


@pytest.mark.parametrize('row', [5, 9])
def test_numbers_that_are_none_make_no_trajectory(row: int) -> None:
    moves = sound('ur5e').solution.trajectory
    for column in (moves.times, moves.q, moves.v):
        broken = column.copy()
        broken[row] = np.nan
        columns = [broken if column is other else other for other in (moves.times, moves.q, moves.v)]
        with pytest.raises(ValueError, match='must be finite'):
            Trajectory(*columns)
    still = moves.times.copy()
    still[row] = still[row - 1]
    with pytest.raises(ValueError, match=f'point {row} is not later'):
        Trajectory(still, moves.q, moves.v)


def test_a_solution_is_not_changed_by_its_judge() -> None:
    case = sound('ur5e')
    assert isinstance(case.solution, Solution)
    reports = [validate(case.solution, case.model, case.scene, case.task, case.origin) for _ in range(2)]
    assert reports[0] == reports[1]
