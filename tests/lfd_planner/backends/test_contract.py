"""What every planning backend promises, judged by kinematics and collision checks that none of them uses."""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.arms import pose_errors, turned_apart
from support.planning_cells import PlanningCell, box, caged, dense, off_line

from lfd_planner.backends import Failure, LinearOptions, LinearPath, Path, PlanningBackend, SearchOptions, SpeedScaling
from lfd_planner.error_codes import Code
from lfd_planner.pose import Pose
from lfd_planner.robot.planning_robot import NoKinematics
from lfd_planner.search.constraints import JointConstraint, OrientationConstraint, PathConstraints
from lfd_planner.timing import Trajectory, path_samples

SEED = 20261116
STEP = 0.005
"""[rad or m] between two states that the judge looks at."""
EXACT = 1e-5
"""[m or rad] that a solution may be off."""


def names(contacts) -> set[frozenset[str]]:
    return {frozenset((contact.a, contact.b)) for contact in contacts}


def planned(found: Path | Failure) -> Path:
    assert isinstance(found, Path), found
    return found


def refused(found: Path | Failure) -> Code:
    assert isinstance(found, Failure)
    assert found.message.endswith('.')
    return found.code


def down(cell: PlanningCell, by: float) -> np.ndarray:
    """A pose straight below the TCP at home, (1, 4, 4)."""
    pose = cell.pose(cell.home)
    pose[2, 3] -= by
    return pose[np.newaxis]


# Inverse kinematics ---------------------------------------------------------------------------------------------------


def test_all_solutions_reach_the_pose_within_limits_the_nearest_first(backend: PlanningBackend, cell: PlanningCell):
    for q in cell.random_states(30, SEED):
        pose = cell.pose(q)
        found = backend.ik(cell.scene, cell.group, cell.tcp, pose, cell.home, avoid_collisions=False)
        assert found.shape[1:] == q.shape
        far, turned = pose_errors(cell.poses(found), np.repeat(pose[np.newaxis], len(found), axis=0))
        assert max(far.max(initial=0.0), turned.max(initial=0.0)) < EXACT
        lower, upper = cell.group.bounds
        assert ((found >= lower) & (found <= upper)).all()
        assert (np.diff(np.linalg.norm(found - cell.home, axis=1)) >= -1e-12).all()
        if cell.has_closed_form:
            assert turned_apart(found, q).min() < 1e-4


def test_every_solution_is_one_of_its_own(backend: PlanningBackend, cell: PlanningCell):
    for q in cell.random_states(20, SEED + 1):
        found = backend.ik(cell.scene, cell.group, cell.tcp, cell.pose(q), avoid_collisions=False)
        for n, row in enumerate(found):
            assert (turned_apart(found[n + 1 :], row) > 1e-6).all()


def test_solutions_avoid_collisions_if_asked_to(backend: PlanningBackend, cell: PlanningCell):
    judge, left_out = cell.judge(), 0
    for q in cell.random_states(30, SEED + 2):
        pose = cell.pose(q)
        every = backend.ik(cell.scene, cell.group, cell.tcp, pose, cell.home, avoid_collisions=False)
        free = backend.ik(cell.scene, cell.group, cell.tcp, pose, cell.home)
        assert not judge.collide(free).any()
        left_out += len(every) - len(free)
        if cell.has_closed_form:
            assert len(free) == (~judge.collide(every)).sum()
    assert left_out > 0


def test_a_pose_out_of_reach_has_no_solution(backend: PlanningBackend, cell: PlanningCell):
    pose = np.eye(4)
    pose[0, 3] = 5.0
    assert backend.ik(cell.scene, cell.group, cell.tcp, pose).shape == (0, len(cell.home))


def test_a_link_that_the_group_cannot_lead_is_refused(backend: PlanningBackend, cell: PlanningCell):
    for link in (cell.moving, cell.foot, 'no such link'):
        with pytest.raises(NoKinematics, match=link):
            backend.ik(cell.scene, cell.group, link, np.eye(4))
        with pytest.raises(NoKinematics, match=link):
            backend.plan_linear(cell.scene, cell.group, cell.home, link, np.eye(4)[np.newaxis])


# Collisions -----------------------------------------------------------------------------------------------------------


def test_home_is_free(backend: PlanningBackend, cell: PlanningCell):
    assert backend.contacts(cell.scene, cell.group, cell.home) == ()
    assert backend.state_contacts(cell.scene) == ()
    assert backend.free(cell.scene, cell.group, cell.home[np.newaxis]).tolist() == [True]
    assert backend.free(cell.scene, cell.group, np.empty((0, len(cell.home)))).shape == (0,)


def test_what_is_free_is_free_to_the_judge_too(backend: PlanningBackend, cell: PlanningCell):
    judge, states = cell.judge(), cell.random_states(150, SEED + 3)
    free = backend.free(cell.scene, cell.group, states)
    assert 0.05 < free.mean() < 0.95
    for q, is_free in zip(states, free, strict=True):
        assert is_free == (not judge.collides(q)) or abs(judge.distance(q)) < 1e-4


def test_what_is_not_free_has_contacts(backend: PlanningBackend, cell: PlanningCell):
    states = cell.random_states(40, SEED + 4)
    for q, is_free in zip(states, backend.free(cell.scene, cell.group, states), strict=True):
        contacts = backend.contacts(cell.scene, cell.group, q)
        assert bool(contacts) != is_free
        first = backend.first_contact(cell.scene, cell.group, q)
        assert (first is None) == is_free
        assert is_free or names([first]) <= names(contacts)


def test_a_contact_names_the_two_that_touch(backend: PlanningBackend, cell: PlanningCell):
    scene = cell.scene.add(cell.at_tcp('thing', (0.02, 0.02, 0.3)))
    found = backend.contacts(scene, cell.group, cell.home)
    assert found
    assert names(found) == names(backend.state_contacts(scene))
    links = {body.link for body in cell.robot.bodies}
    for contact in found:
        assert {contact.a, contact.b} & links
        assert 'thing' in (contact.a, contact.b)
        assert {contact.kind_a, contact.kind_b} == {'link', 'object'}
        assert 'thing' in str(contact)


def test_an_arm_that_touches_itself_is_told_by_its_links(backend: PlanningBackend, cell: PlanningCell):
    scene = cell.robot.empty_scene()
    judge = cell.judge(scene)
    states = [q for q in cell.random_states(200, SEED + 5) if judge.collides(q)]
    found = backend.contacts(scene, cell.group, states[0])
    assert found
    assert all((contact.kind_a, contact.kind_b) == ('link', 'link') for contact in found)
    assert not any(scene.may_touch(contact.a, contact.b) for contact in found)


def test_what_is_allowed_is_no_collision(backend: PlanningBackend, cell: PlanningCell):
    scene = cell.scene.add(cell.at_tcp('thing', (0.02, 0.02, 0.3)))
    touching = {contact.a if contact.b == 'thing' else contact.b for contact in backend.state_contacts(scene)}
    allowed = scene.allow('thing', *touching)
    assert backend.contacts(allowed, cell.group, cell.home) == ()
    assert backend.free(allowed, cell.group, cell.home[np.newaxis]).all()
    assert backend.contacts(allowed.forbid('thing', min(touching)), cell.group, cell.home)
    assert backend.contacts(scene.with_default('thing', True), cell.group, cell.home) == ()


def test_padding_of_links_counts_against_the_world(backend: PlanningBackend, cell: PlanningCell):
    """And is gone in the next scene, which has none."""
    links = sorted({body.link for body in cell.robot.bodies})
    for padding in (0.0, 1.0, 0.0):
        edits = ((link, padding) for link in links)
        padded = replace(cell.scene, link_padding=cell.scene.link_padding.edit(edits))
        assert backend.free(padded, cell.group, cell.home[np.newaxis]).all() == (padding == 0.0)
    assert backend.free(cell.scene, cell.group, cell.home[np.newaxis]).all()


def test_an_attached_object_moves_along_and_collides(backend: PlanningBackend, cell: PlanningCell):
    """A long rod in the hand reaches a shelf that the hand itself does not."""
    x, y, z = cell.pose(cell.home)[:3, 3].tolist()
    rod = cell.at_tcp('rod', (0.01, 0.01, 0.2), below=0.09)
    scene = cell.robot.empty_scene().with_joints(cell.group.by_name(cell.home)).add(rod)
    scene = scene.add(box('shelf', (0.1, 0.1, 0.01), (x, y, z - 0.22)))
    poses = cell.robot.frames.link_poses(scene.joints)
    links = {body.link for body in cell.robot.bodies}
    held = scene.attach('rod', cell.tcp, poses, links)
    lower = backend.ik(held, cell.group, cell.tcp, down(cell, 0.05)[0], cell.home, avoid_collisions=False)[0]
    assert backend.contacts(held, cell.group, cell.home) == ()
    (contact,) = backend.contacts(held, cell.group, lower)
    assert {(contact.a, contact.kind_a), (contact.b, contact.kind_b)} == {('rod', 'attached'), ('shelf', 'object')}
    assert backend.free(held, cell.group, np.array([cell.home, lower])).tolist() == [True, False]
    assert backend.contacts(held.allow('rod', 'shelf'), cell.group, lower) == ()
    assert backend.contacts(held.drop('rod'), cell.group, lower) == ()


def test_an_attached_object_touches_the_links_that_it_may(backend: PlanningBackend, cell: PlanningCell):
    scene = cell.scene.add(cell.at_tcp('thing', (0.02, 0.02, 0.3)))
    poses = cell.robot.frames.link_poses(scene.joints)
    touching = {contact.a if contact.b == 'thing' else contact.b for contact in backend.state_contacts(scene)}
    assert backend.state_contacts(scene.attach('thing', cell.tcp, poses, touching)) == ()
    untold = scene.attach('thing', cell.tcp, poses)
    assert names(backend.state_contacts(untold)) == {frozenset(('thing', link)) for link in touching - {cell.tcp}}


def test_branches_of_a_scene_do_not_influence_each_other(backend: PlanningBackend, cell: PlanningCell):
    trunk = cell.scene
    blocked = trunk.add(cell.at_tcp('thing', (0.02, 0.02, 0.3)))
    moved = blocked.move('thing', Pose((0.0, 0.0, 5.0)))
    held = blocked.attach(
        'thing',
        cell.tcp,
        cell.robot.frames.link_poses(blocked.joints),
        {body.link for body in cell.robot.bodies},
    )
    row = cell.home[np.newaxis]
    for _ in range(2):
        for scene, is_free in ((trunk, True), (blocked, False), (moved, True), (held, True), (blocked, False)):
            assert backend.free(scene, cell.group, row).tolist() == [is_free]


def test_joints_of_other_groups_stand_where_the_scene_has_them(backend: PlanningBackend, cell: PlanningCell):
    """A box beside the closed fingers is hit by the open ones, or the other way round."""
    (finger,) = {name for name in cell.robot.joints if name not in cell.group.joints}
    limit = cell.robot.limits[finger]
    shut, wide = (cell.robot.empty_scene().with_joints({finger: value}) for value in (limit.lower, limit.upper))
    scenes = [cell.with_joints(scene, cell.home) for scene in (shut, wide)]
    told = []
    for offset in np.linspace(-0.08, 0.08, 41):
        pose = Pose.of(cell.pose(cell.home)) @ Pose((0.0, float(offset), 0.0))
        thing = box('thing', (0.004, 0.004, 0.004), pose.position)
        told.append(tuple(bool(backend.contacts(scene.add(thing), cell.group, cell.home)) for scene in scenes))
    assert len({frozenset(pair) for pair in told}) > 1
    assert any(a != b for a, b in told)


def test_several_threads_get_what_one_gets(backend: PlanningBackend, cell: PlanningCell):
    """Each with scenes of its own that nobody saw before."""
    states = cell.random_states(30, SEED + 6)

    def ask(number: int) -> list[bool]:
        thing = box('thing', (0.3, 0.3, 0.3), (0.1 * number - 0.5, 0.3, 0.4))
        rows: list[bool] = []
        for repeat in range(3):
            scene = cell.scene.add(thing, *(box(f'{n}', (0.1, 0.1, 0.1), (0.0, 0.0, 5.0)) for n in range(repeat)))
            rows += backend.free(scene, cell.group, states).tolist()
        return rows

    alone = [ask(number) for number in range(12)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(ask, range(12)))
    assert together == alone


# Paths in joint space -------------------------------------------------------------------------------------------------


def test_a_path_leads_from_the_start_to_the_goal_and_is_free_all_the_way(backend: PlanningBackend, cell: PlanningCell):
    judge = cell.judge()
    for number, (start, goal) in enumerate(pairwise(cell.free_states(9, SEED + 7))):
        found = planned(backend.plan_joint(cell.scene, cell.group, start, goal[np.newaxis], SearchOptions(budget=30.0)))
        assert found.q[0] == pytest.approx(start, abs=1e-9), number
        assert found.q[-1] == pytest.approx(goal, abs=1e-9)
        lower, upper = cell.group.bounds
        assert ((found.q >= lower - 1e-9) & (found.q <= upper + 1e-9)).all()
        assert not judge.collide(dense(found.q, STEP)).any()


def test_a_path_with_an_attached_object_keeps_it_from_everything(backend: PlanningBackend, cell: PlanningCell):
    scene = cell.scene.add(cell.at_tcp('rod', (0.02, 0.02, 0.2)))
    links = {body.link for body in cell.robot.bodies}
    held = scene.attach('rod', cell.tcp, cell.robot.frames.link_poses(scene.joints), links)
    judge = cell.judge(held)
    for start, goal in pairwise(cell.free_states(4, SEED + 8, held)):
        found = planned(backend.plan_joint(held, cell.group, start, goal[np.newaxis], SearchOptions(budget=30.0)))
        assert not judge.collide(dense(found.q, STEP)).any()


def test_one_of_several_goals_is_enough(backend: PlanningBackend, cell: PlanningCell):
    start, *rest = cell.free_states(4, SEED + 9)
    outside = cell.group.bounds[1] + 1.0
    blocked = next(q for q in cell.random_states(500, SEED) if cell.judge().collides(q))
    goals = np.array([outside, blocked, *rest])
    found = planned(backend.plan_joint(cell.scene, cell.group, start, goals, SearchOptions(budget=30.0)))
    assert np.abs(np.array(rest) - found.q[-1]).max(axis=1).min() < 1e-9


def test_starts_and_goals_that_cannot_be_are_refused_with_moveits_codes(backend: PlanningBackend, cell: PlanningCell):
    free = cell.free_states(1, SEED + 10)[0]
    blocked = next(q for q in cell.random_states(500, SEED) if cell.judge().collides(q))
    outside = cell.group.bounds[1] + 0.1
    cases = {
        (tuple(blocked), tuple(free)): Code.START_STATE_IN_COLLISION,
        (tuple(free), tuple(blocked)): Code.GOAL_IN_COLLISION,
        (tuple(outside), tuple(free)): Code.START_STATE_INVALID,
        (tuple(free), tuple(outside)): Code.GOAL_STATE_INVALID,
    }
    for (start, goal), code in cases.items():
        assert refused(backend.plan_joint(cell.scene, cell.group, np.array(start), np.array([goal]))) == code
    for centre, code in (
        (free, Code.GOAL_VIOLATES_PATH_CONSTRAINTS),
        (cell.home, Code.START_STATE_VIOLATES_PATH_CONSTRAINTS),
    ):
        kept = PathConstraints(joints=(JointConstraint(cell.group.joints[0], float(centre[0]), 0.01, 0.01),))
        found = backend.plan_joint(
            cell.scene, cell.group, free, cell.home[np.newaxis], SearchOptions(constraints=kept, budget=30.0)
        )
        assert refused(found) == code


def test_constraints_are_kept_all_the_way(backend: PlanningBackend, cell: PlanningCell):
    """A full glass: the tool may turn about its own axis only."""
    here = cell.pose(cell.home)
    there = here.copy()
    there[:3, 3] += (0.0, 0.25, 0.05)
    goals = backend.ik(cell.scene, cell.group, cell.tcp, there, cell.home)
    upright = OrientationConstraint(cell.tcp, Pose.of(here).orientation, (0.2, 0.2, math.pi))
    options = SearchOptions(budget=60.0, constraints=PathConstraints(orientations=(upright,)))
    found = planned(backend.plan_joint(cell.scene, cell.group, cell.home, goals, options))
    states = dense(found.q, 0.02)
    assert not cell.judge().collide(states).any()
    axes = cell.poses(states)[:, :3, 2]
    assert np.arccos(np.clip(axes @ here[:3, 2], -1.0, 1.0)).max() < math.hypot(0.2, 0.2) + 0.01
    timed = backend.time(cell.scene, cell.group, found, constraints=options.constraints)
    assert isinstance(timed, Trajectory)
    axes = cell.poses(path_samples(timed, 0.02))[:, :3, 2]
    assert np.arccos(np.clip(axes @ here[:3, 2], -1.0, 1.0)).max() < math.hypot(0.2, 0.2) + 0.01


def test_the_same_seed_gives_the_same_path(backend: PlanningBackend, cell: PlanningCell):
    start, goal = cell.free_states(2, SEED + 11)
    paths = [
        planned(backend.plan_joint(cell.scene, cell.group, start, goal[np.newaxis], SearchOptions(30.0, seed=seed))).q
        for seed in (3, 3)
    ]
    if backend.repeatable:
        assert np.array_equal(*paths)
    for path in paths:
        assert path[-1] == pytest.approx(goal, abs=1e-9)


def test_more_attempts_give_no_longer_path(backend: PlanningBackend, cell: PlanningCell):
    start, goal = cell.free_states(2, SEED + 12)

    def length(attempts: int) -> float:
        options = SearchOptions(budget=30.0, attempts=attempts)
        path = planned(backend.plan_joint(cell.scene, cell.group, start, goal[np.newaxis], options)).q
        return float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())

    if backend.repeatable:
        assert length(4) <= length(1) + 1e-12


def test_a_search_without_hope_ends_with_its_budget(backend: PlanningBackend, cell: PlanningCell):
    scene, start, goal = hopeless(cell)
    began = time.monotonic()
    found = backend.plan_joint(scene, cell.group, start, goal[np.newaxis], SearchOptions(budget=0.3))
    assert time.monotonic() - began > 0.25
    assert refused(found) == Code.TIMED_OUT


def test_a_search_stops_when_it_is_told_to(backend: PlanningBackend, cell: PlanningCell):
    """It looks often enough: the usual gap between two looks is below 100 ms."""
    scene, start, goal = hopeless(cell)
    looks: list[float] = []

    def should_stop() -> bool:
        looks.append(time.monotonic())
        return looks[-1] - looks[0] > 0.5

    found = backend.plan_joint(
        scene, cell.group, start, goal[np.newaxis], SearchOptions(budget=600.0, should_stop=should_stop)
    )
    assert refused(found) == Code.PREEMPTED
    assert np.median(np.diff(looks)) < 0.1


def test_a_search_that_is_stopped_from_the_start_does_nothing(backend: PlanningBackend, cell: PlanningCell):
    scene, start, goal = hopeless(cell)
    options = SearchOptions(budget=600.0, should_stop=lambda: True)
    assert refused(backend.plan_joint(scene, cell.group, start, goal[np.newaxis], options)) == Code.PREEMPTED


def hopeless(cell: PlanningCell):
    """A scene, a start and a goal, both free, without a way between them."""
    plain = cell.free_states(40, SEED + 13, cell.robot.empty_scene())
    for start in plain:
        scene, start, goal = caged(cell, start)
        judge = cell.judge(scene)
        if not judge.collide(np.array([start, goal])).any():
            return scene, start, goal
    raise AssertionError('there is no free start')


def test_searches_in_several_threads_do_not_disturb_each_other(backend: PlanningBackend, cell: PlanningCell):
    states = cell.free_states(6, SEED + 14)
    pairs = list(pairwise(states))
    judge = cell.judge()

    def plan(pair) -> np.ndarray:
        start, goal = pair
        return planned(
            backend.plan_joint(cell.scene, cell.group, start, goal[np.newaxis], SearchOptions(budget=60.0))
        ).q

    alone = [plan(pair) for pair in pairs]
    with ThreadPoolExecutor(3) as pool:
        together = list(pool.map(plan, pairs))
    for one, other, (start, goal) in zip(alone, together, pairs, strict=True):
        assert not backend.repeatable or np.array_equal(one, other)
        assert other[0] == pytest.approx(start)
        assert other[-1] == pytest.approx(goal)
        assert not judge.collide(dense(other, STEP)).any()


# Straight lines -------------------------------------------------------------------------------------------------------


def test_a_straight_line_is_straight(backend: PlanningBackend, cell: PlanningCell):
    found = backend.plan_linear(cell.scene, cell.group, cell.home, cell.tcp, down(cell, 0.08))
    assert (found.fraction, found.failure) == (1.0, None)
    assert np.array_equal(found.q[0], cell.home)
    first, last = cell.pose(cell.home), down(cell, 0.08)[0]
    far, turned = pose_errors(cell.poses(found.q[-1:]), last[np.newaxis])
    assert max(far.max(), turned.max()) < EXACT
    away, turn = off_line(cell.poses(dense(found.q, STEP)), first, last)
    assert away < 1e-3
    assert turn < 1e-2
    assert not cell.judge().collide(dense(found.q, STEP)).any()


def test_a_line_through_several_poses_passes_all_of_them(backend: PlanningBackend, cell: PlanningCell):
    ways = np.concatenate([down(cell, 0.05), down(cell, 0.05), down(cell, 0.0)])
    ways[1, 1, 3] += 0.06
    ways[1, :3, :3] = ways[1, :3, :3] @ Rotation.from_rotvec((0.0, 0.0, 0.3)).as_matrix()
    found = backend.plan_linear(cell.scene, cell.group, cell.home, cell.tcp, ways)
    assert (found.fraction, found.failure) == (1.0, None)
    poses = cell.poses(found.q)
    for way in ways:
        far, turned = pose_errors(poses, np.repeat(way[np.newaxis], len(poses), axis=0))
        assert np.maximum(far, turned).min() < EXACT


def test_a_line_of_another_link_leads_that_link(backend: PlanningBackend, cell: PlanningCell):
    link = cell.group.tip
    goal = cell.pose(cell.home, link)
    goal[2, 3] -= 0.05
    found = backend.plan_linear(cell.scene, cell.group, cell.home, link, goal[np.newaxis])
    assert found.fraction == 1.0
    assert pose_errors(cell.poses(found.q[-1:], link), goal[np.newaxis])[0].max() < EXACT


def test_a_line_into_an_object_ends_before_it_with_the_reason(backend: PlanningBackend, cell: PlanningCell):
    scene = cell.scene.add(cell.at_tcp('step', (0.1, 0.1, 0.02), below=0.05))
    found = backend.plan_linear(scene, cell.group, cell.home, cell.tcp, down(cell, 0.08))
    assert 0.2 < found.fraction < 0.8
    assert found.failure is not None
    assert found.failure.code == Code.PLANNING_FAILED
    assert cell.tcp in found.failure.message
    assert not cell.judge(scene).collide(found.q).any()
    reached = cell.pose(cell.home)[2, 3] - cell.pose(found.q[-1])[2, 3]
    assert reached == pytest.approx(0.08 * found.fraction, abs=1e-3)
    through = backend.plan_linear(
        scene, cell.group, cell.home, cell.tcp, down(cell, 0.08), LinearOptions(avoid_collisions=False)
    )
    assert (through.fraction, through.failure) == (1.0, None)


def test_a_line_out_of_reach_ends_with_the_reason(backend: PlanningBackend, cell: PlanningCell):
    goal = cell.pose(cell.home)
    goal[0, 3] += 3.0
    found = backend.plan_linear(cell.robot.empty_scene(), cell.group, cell.home, cell.tcp, goal[np.newaxis])
    assert 0.0 < found.fraction < 0.9
    assert found.failure is not None
    assert found.failure.code in (Code.NO_IK_SOLUTION, Code.PLANNING_FAILED)
    away, _ = off_line(cell.poses(dense(found.q, STEP)), cell.pose(cell.home), goal)
    assert away < 1e-3


def test_a_line_to_where_the_link_is_has_arrived(backend: PlanningBackend, cell: PlanningCell):
    found = backend.plan_linear(cell.scene, cell.group, cell.home, cell.tcp, down(cell, 0.0))
    assert isinstance(found, LinearPath)
    assert (found.fraction, found.failure) == (1.0, None)
    assert found.q[-1] == pytest.approx(cell.home, abs=1e-6)


def test_a_line_keeps_to_constraints(backend: PlanningBackend, cell: PlanningCell):
    whole = backend.plan_linear(cell.scene, cell.group, cell.home, cell.tcp, down(cell, 0.08))
    moved = int(np.abs(whole.q[-1] - whole.q[0]).argmax())
    half = 0.5 * float(np.abs(whole.q[-1] - whole.q[0])[moved])
    kept = PathConstraints(joints=(JointConstraint(cell.group.joints[moved], float(cell.home[moved]), half, half),))
    options = LinearOptions(constraints=kept)
    found = backend.plan_linear(cell.scene, cell.group, cell.home, cell.tcp, down(cell, 0.08), options)
    assert 0.0 < found.fraction < 1.0
    assert np.abs(found.q[:, moved] - cell.home[moved]).max() <= half + 1e-6


# Timing ---------------------------------------------------------------------------------------------------------------


def a_path(backend: PlanningBackend, cell: PlanningCell, seed: int) -> Path:
    start, goal = cell.free_states(2, seed)
    return planned(backend.plan_joint(cell.scene, cell.group, start, goal[np.newaxis], SearchOptions(budget=30.0)))


@pytest.mark.parametrize('scaling', [SpeedScaling(), SpeedScaling(0.3, 0.2)], ids=['full', 'slow'])
def test_a_motion_keeps_the_limits_and_stays_free(backend: PlanningBackend, cell: PlanningCell, scaling: SpeedScaling):
    judge = cell.judge()
    for number in range(3):
        path = a_path(backend, cell, SEED + 20 + number)
        motion = backend.time(cell.scene, cell.group, path, scaling)
        assert isinstance(motion, Trajectory)
        assert motion.q[0] == pytest.approx(path.q[0], abs=1e-9)
        assert motion.q[-1] == pytest.approx(path.q[-1], abs=1e-9)
        assert np.abs(motion.v[[0, -1]]).max() < 1e-9
        at = motion.sample(np.linspace(0.0, motion.duration, 3000))
        assert (np.abs(at.v) <= scaling.velocity * cell.group.velocities * (1.0 + 1e-6)).all()
        assert (np.abs(at.a) <= scaling.acceleration * cell.group.accelerations * (1.0 + 1e-4)).all()
        assert not judge.collide(path_samples(motion, STEP)).any()


def test_a_slower_motion_takes_longer(backend: PlanningBackend, cell: PlanningCell):
    path = a_path(backend, cell, SEED + 20)
    fast, slow = (backend.time(cell.scene, cell.group, path, scaling) for scaling in (None, SpeedScaling(0.5, 0.25)))
    assert isinstance(fast, Trajectory)
    assert isinstance(slow, Trajectory)
    assert slow.duration == pytest.approx(2.0 * fast.duration, rel=0.2)


def test_a_straight_line_is_still_straight_in_time(backend: PlanningBackend, cell: PlanningCell):
    line = backend.plan_linear(cell.scene, cell.group, cell.home, cell.tcp, down(cell, 0.08))
    motion = backend.time(cell.scene, cell.group, Path(line.q))
    assert isinstance(motion, Trajectory)
    away, turn = off_line(cell.poses(path_samples(motion, STEP)), cell.pose(cell.home), down(cell, 0.08)[0])
    assert away < 2e-3
    assert turn < 2e-2


def test_a_motion_through_an_object_is_refused_with_its_name(backend: PlanningBackend, cell: PlanningCell):
    scene = cell.scene.add(cell.at_tcp('step', (0.1, 0.1, 0.02), below=0.05))
    through = backend.plan_linear(
        scene, cell.group, cell.home, cell.tcp, down(cell, 0.08), LinearOptions(avoid_collisions=False)
    )
    found = backend.time(scene, cell.group, Path(through.q))
    assert isinstance(found, Failure)
    assert found.code == Code.INVALID_MOTION_PLAN
    assert "'step'" in found.message
    assert isinstance(backend.time(scene, cell.group, Path(through.q), avoid_collisions=False), Trajectory)


def test_no_motion_takes_no_time(backend: PlanningBackend, cell: PlanningCell):
    motion = backend.time(cell.scene, cell.group, Path(np.array([cell.home, cell.home])))
    assert isinstance(motion, Trajectory)
    assert motion.duration == 0.0
