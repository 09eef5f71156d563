"""Whole tasks, judged by the independent validator."""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.task_cells import box, moving, planner, seed_cell, seed_origin, seed_task

from lfd_description.robots import HOME
from lfd_planner.backends import SpeedScaling
from lfd_planner.mtdf import AwaitInput, Pick, Place, SetOutput, Task, Trajectory, Wait
from lfd_planner.planner import Planned, PlanOptions, TaskFailure, explain, plan_task
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene
from lfd_planner.solution import Awaited, Solution
from lfd_planner.validate import validate

FLIPPED = (1.0, 0.0, 0.0, 0.0)
ON_TEMPLATE = -0.15  # [m], the height of the template's upper side


def planned(
    task: Task, scene: PlanningScene, origin: Pose, options: PlanOptions | None = None, robot: str = 'ur5e'
) -> Planned:
    found = planner(robot).plan(task, scene, origin, options)
    assert not isinstance(found, TaskFailure), found.message
    return found[0]


def judged(found: Planned, task: Task, scene: PlanningScene, origin: Pose, robot: str = 'ur5e') -> None:
    report = validate(found.solution, planner(robot).model, scene, task, origin)
    assert report.ok, report.text


def names(solution: Solution) -> list[str]:
    return [segment.name for segment in solution.segments]


@pytest.mark.parametrize('robot', ['gp8', 'irb1600', 'ur5e', 'ur3', 'ur3e', 'ur10e'])
def test_every_arm_stacks_the_boxes(robot: str) -> None:
    found = planned(seed_task(), seed_cell(), seed_origin(), robot=robot)
    judged(found, seed_task(), seed_cell(), seed_origin(), robot)
    attached = [segment.attach.object for segment in found.solution.segments if segment.attach]
    assert attached == ['blue_box', 'yellow_box', 'red_box', 'green_box']
    assert found.backups == 0


def test_the_same_seed_gives_the_same_motion() -> None:
    one, two = (planned(seed_task(), seed_cell(), seed_origin(), PlanOptions(seed=3)).solution for _ in range(2))
    assert np.array_equal(one.trajectory.q, two.trajectory.q)
    assert np.array_equal(one.trajectory.times, two.trajectory.times)
    assert one.segments == two.segments


def test_a_pick_and_place_has_its_segments_in_order() -> None:
    task = Task(seed_task().descriptors[2:3], seed_task().keyframes[:2])
    found = names(planned(task, seed_cell(), seed_origin()).solution)
    assert found == ['open', 'transit', 'approach', 'close', 'lift', 'transfer', 'lower', 'open', 'retreat']


def test_only_declared_contacts_are_allowed() -> None:
    task = Task(seed_task().descriptors[2:3], seed_task().keyframes[:2])
    segments = {segment.name: segment for segment in planned(task, seed_cell(), seed_origin()).solution.segments}
    assert segments['transit'].contacts == segments['transfer'].contacts == segments['approach'].contacts == ()
    assert ('blue_box', 'template') in segments['lift'].contacts
    assert ('blue_box', 'template') in segments['lower'].contacts


def test_waits_and_signals_happen_where_the_keyframes_stand() -> None:
    pick, place = seed_task().keyframes[:2]
    task = Task(
        seed_task().descriptors[2:3],
        (SetOutput('lamp', True), pick, Wait(1.5), place, AwaitInput('door', True), Wait(0.5)),
    )
    solution = planned(task, seed_cell(), seed_origin()).solution
    told = [(segment.name, segment.keyframe) for segment in solution.segments]
    assert told[0] == ('io', 0)
    assert ('wait', 2) in told
    assert told.index(('lift', 1)) < told.index(('wait', 2)) < told.index(('lower', 3))
    assert told[-2:] == [('await', 4), ('wait', 5)]
    assert solution.segments[0].outputs == {'lamp': True}
    assert solution.segments[-2].awaits == Awaited('door', True)
    waits = [segment for segment in solution.segments if segment.name == 'wait']
    times = solution.trajectory.times
    assert [float(times[wait.last] - times[wait.first]) for wait in waits] == pytest.approx([1.5, 0.5])


def test_a_held_object_is_led_along_a_trajectory() -> None:
    pick, place = seed_task().keyframes[:2]
    assert isinstance(place, Place)
    x, y, z = place.pose.position
    way = tuple(replace(place.pose, position=(x - 0.1 + 0.05 * step, y, z + 0.15)) for step in range(3))
    task = Task(seed_task().descriptors[2:3], (pick, Trajectory('blue_box', way, speed=0.05), place))
    found = planned(task, seed_cell(), seed_origin())
    judged(found, task, seed_cell(), seed_origin())
    (led,) = (segment for segment in found.solution.segments if segment.name == 'trajectory')
    times = found.solution.trajectory.times
    assert float(times[led.last] - times[led.first]) == pytest.approx(2.0, rel=1e-6)  # 0.1 m at 0.05 m/s


def test_the_times_of_a_trajectory_are_kept_pose_by_pose() -> None:
    pick, place = seed_task().keyframes[:2]
    assert isinstance(place, Place)
    x, y, z = place.pose.position
    way = tuple(replace(place.pose, position=(x - 0.1 + 0.05 * step, y, z + 0.15)) for step in (0, 1, 1, 2))
    times = (0.5, 3.5, 4.0, 5.0)  # slowly, a rest, and then quicker
    task = Task(seed_task().descriptors[2:3], (pick, Trajectory('blue_box', way, times=times), place))
    found = planned(task, seed_cell(), seed_origin())
    judged(found, task, seed_cell(), seed_origin())
    (led,) = (segment for segment in found.solution.segments if segment.name == 'trajectory')
    moves = found.solution.trajectory
    begin = float(moves.times[led.first])
    assert float(moves.times[led.last]) - begin == pytest.approx(4.5)
    rest = moves.sample(np.array([begin + 3.0, begin + 3.25, begin + 3.5])).q
    assert np.ptp(rest, axis=0) == pytest.approx(np.zeros(6), abs=1e-9)


def test_an_object_may_stay_in_the_hand() -> None:
    task = Task(seed_task().descriptors[2:3], seed_task().keyframes[:1])
    assert names(planned(task, seed_cell(), seed_origin()).solution)[-1] == 'lift'


def test_an_empty_task_moves_nothing() -> None:
    found = planned(Task((), ()), seed_cell(), seed_origin()).solution
    assert found.segments == ()
    assert found.trajectory.duration == 0.0


def test_the_arm_goes_home_at_the_end_if_it_is_told_to() -> None:
    solution = planned(seed_task(), seed_cell(), seed_origin(), PlanOptions(end_pose=HOME)).solution
    assert solution.trajectory.q[-1] == pytest.approx(planner().model.poses[HOME])


def test_an_object_is_regrasped_where_no_single_grasp_serves() -> None:
    """From above it can be had at both ends, but upside down: it is laid on the pillar in between."""
    size = (0.06, 0.042, 0.05)
    pillar = box('pillar', (0.12, 0.12, 0.16), (0.5, 0.25, -0.07), movable=False)
    middle = ON_TEMPLATE + 0.5 * size[2]
    scene = seed_cell().add(pillar, box('blue_box', size, (0.4, -0.1, middle)))
    task = moving(Pick('blue_box'), Place('blue_box', Pose((0.42, 0.1, middle), FLIPPED)))
    found = planned(task, scene, Pose())
    judged(found, task, scene, Pose())
    assert names(found.solution).count('close') == 2
    assert isinstance(planner().plan(task, scene, Pose(), PlanOptions(regrasp=False)), TaskFailure)


def test_a_slower_scaling_makes_a_slower_motion() -> None:
    fast = planned(seed_task(), seed_cell(), seed_origin()).solution
    slow = planned(
        seed_task(), seed_cell(), seed_origin(), PlanOptions(scaling=SpeedScaling(velocity=0.3, acceleration=0.3))
    ).solution
    assert slow.trajectory.duration > 1.5 * fast.trajectory.duration


def test_several_solutions_come_the_cheapest_first() -> None:
    found = planner().plan(seed_task(), seed_cell(), seed_origin(), PlanOptions(solutions=3))
    assert not isinstance(found, TaskFailure)
    costs = [each.solution.cost for each in found]
    assert len(costs) == 3
    assert costs == sorted(costs)
    moves = [each.solution.trajectory for each in found]
    assert not any(one.same_as(two) for one, two in itertools.combinations(moves, 2))


def test_a_budget_makes_a_motion_that_is_no_worse() -> None:
    first = planned(seed_task(), seed_cell(), seed_origin()).solution
    better = planned(seed_task(), seed_cell(), seed_origin(), PlanOptions(budget=1.0)).solution
    assert better.cost <= first.cost
    judged_solution = validate(better, planner().model, seed_cell(), seed_task(), seed_origin())
    assert judged_solution.ok, judged_solution.text


def test_a_budget_ends_the_search_for_more_solutions() -> None:
    """A thousand take far longer than it allows, and less than the patience for a first one."""
    found = planner().plan(seed_task(), seed_cell(), seed_origin(), PlanOptions(budget=1.0, solutions=1000))
    assert not isinstance(found, TaskFailure)
    assert 1 <= len(found) < 1000
    assert found[-1].solution.planning_time < PlanOptions().patience


def test_another_process_plans_the_same_motion() -> None:
    """Neither hashes nor addresses decide."""
    here = planned(seed_task(), seed_cell(), seed_origin(), PlanOptions(seed=5)).solution.trajectory
    code = (
        'from support.task_cells import planner, seed_cell, seed_origin, seed_task\n'
        'from lfd_planner.planner import PlanOptions\n'
        'import hashlib\n'
        'found = planner().plan(seed_task(), seed_cell(), seed_origin(), PlanOptions(seed=5))\n'
        'moves = found[0].solution.trajectory\n'
        'print(hashlib.sha256(moves.times.tobytes() + moves.q.tobytes()).hexdigest())\n'
    )
    tests = Path(__file__).parents[2]
    environment = {**os.environ, 'PYTHONHASHSEED': '12345', 'PYTHONPATH': f'{tests}:{os.environ.get("PYTHONPATH", "")}'}
    there = subprocess.run(
        [sys.executable, '-c', code], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    assert there.stdout.strip() == hashlib.sha256(here.times.tobytes() + here.q.tobytes()).hexdigest()


def test_a_success_says_why_this_grasp() -> None:
    text = explain(planned(seed_task(), seed_cell(), seed_origin()))
    assert text.count('fingers') == 4
    assert 'green_box' in text


def test_suction_stacks_a_box() -> None:
    pick, place = seed_task().keyframes[:2]
    task = Task(seed_task().descriptors[2:3], (pick, place))
    found = planner('ur5e', 'suction').plan(task, seed_cell(), seed_origin())
    assert not isinstance(found, TaskFailure), found.message
    report = validate(found[0].solution, planner('ur5e', 'suction').model, seed_cell(), task, seed_origin())
    assert report.ok, report.text


def test_plan_task_gives_the_solution_alone() -> None:
    found = plan_task(seed_task(), seed_cell(), planner().model, seed_origin())
    assert isinstance(found, Solution)
    assert found.robot == 'ur5e'
