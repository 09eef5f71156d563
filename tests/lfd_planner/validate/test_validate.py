"""Each check is broken on purpose, one by one, in a solution that is otherwise accepted."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from support.coal_judge import PinocchioWorld
from support.pick_and_place import (
    BOX,
    CLOSED,
    FINGERS,
    OPEN,
    ORIGIN,
    PLACE,
    Case,
    Hand,
    from_above,
    pick_and_place,
    raised,
)

from lfd_description.bodies import collision_bodies
from lfd_description.model.builder import mesh_finder
from lfd_description.shapes import Box, Sphere, Vector
from lfd_planner.mtdf import AwaitInput, Pick, Place, SetOutput, Trajectory, Wait
from lfd_planner.pose import Pose
from lfd_planner.scene import AttachedObject, Body, Part, SceneFault, WorldObject
from lfd_planner.solution import Attachment, Awaited, Segment
from lfd_planner.timing import Trajectory as Motion
from lfd_planner.validate import Check, Report, validate

PICK, PUT = pick_and_place().task.keyframes


@pytest.fixture
def case() -> Case:
    return pick_and_place()


def judged(case: Case) -> Report:
    return validate(case.solution, case.model, case.scene, case.task, case.origin)


def checks(case: Case) -> set[Check]:
    return {finding.check for finding in judged(case).findings}


def with_box(case: Case, name: str, size: Vector, position: Vector, *, movable: bool = False) -> Case:
    body = Body((Part(Box(size)),), movable=movable)
    return replace(case, scene=case.scene.add(WorldObject(name, body, Pose(position))))


def changed_points(
    case: Case, q: Sequence[tuple[int, int, float]] = (), v: Sequence[tuple[int, int, float]] = ()
) -> Case:
    """The case with numbers added to positions and velocities: point, joint, amount."""
    moves = case.solution.trajectory
    positions, velocities = moves.q.copy(), moves.v.copy()
    for point, joint, amount in q:
        positions[point, joint] += amount
    for point, joint, amount in v:
        velocities[point, joint] += amount
    return case.with_solution(trajectory=Motion(moves.times, positions, velocities))


def test_shares_no_code_with_the_planner_and_its_collision_checks() -> None:
    program = 'import json, sys; import lfd_planner.validate; print(json.dumps(sorted(sys.modules)))'
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, check=True)
    loaded = [name for name in json.loads(done.stdout) if name.startswith('lfd_planner.')]
    assert 'lfd_planner.validate.collisions' in loaded
    rooms = {name.split('.')[1] for name in loaded}
    assert rooms.isdisjoint(
        {'collision', 'search', 'backends', 'cartesian', 'robot', 'planner', 'stages', 'task', 'grasps'}
    )


@pytest.mark.parametrize('gripper', ['two_finger', 'suction'])
def test_accepts_a_sound_solution_and_says_what_it_looked_at(gripper: str) -> None:
    report = judged(pick_and_place(gripper))
    assert report.ok, report.text
    assert report.text.startswith('accepted')
    assert report.checked['segments'] == 8
    assert (report.checked['grasps'], report.checked['places']) == (1, 1)
    assert report.checked['states'] > 1000
    assert report.clearance is not None
    assert 0.0 < report.clearance.distance < 0.01
    assert json.loads(json.dumps(report.data()))['ok'] is True


def test_clearance_is_that_of_pinocchio_and_coal(case: Case) -> None:
    """Of the way to the box, where nobody may touch anything."""
    end = case.solution.segments[1].last
    moves = case.solution.trajectory
    way = Motion(moves.times[: end + 1], moves.q[: end + 1], moves.v[: end + 1])
    short = case.with_solution(trajectory=way, segments=case.solution.segments[:2])
    report = judged(short)
    judge = PinocchioWorld(
        case.model.urdf,
        collision_bodies(case.model.urdf, mesh_finder(case.model.robot)),
        case.scene.with_joints({'left_finger_slide': 0.0095, 'right_finger_slide': 0.0095}),  # pinocchio mimics nothing
        case.solution.joints,
    )
    nearest = min(judge.distance(q) for q in way.sample(np.linspace(0.0, way.duration, 400)).q)
    assert report.clearance is not None
    assert report.clearance.distance == pytest.approx(nearest, abs=2e-4)
    at = judge.distance(way.sample(report.clearance.time).q)
    assert report.clearance.distance == pytest.approx(at, abs=1e-6)


# Motion


def test_refuses_a_joint_beyond_its_limit(case: Case) -> None:
    joint = case.solution.joints[0]
    reached = float(case.solution.trajectory.q[:, 0].max())
    limits = {**case.model.limits, joint: replace(case.model.limits[joint], upper=reached - 0.01)}
    report = judged(replace(case, model=replace(case.model, limits=MappingProxyType(limits))))
    (finding,) = report.findings
    assert (finding.check, finding.subjects) == (Check.LIMIT, (joint,))
    assert finding.amount == pytest.approx(0.01, abs=1e-3)
    assert joint in report.text


def test_refuses_a_limit_that_is_broken_between_two_points(case: Case) -> None:
    joint = case.solution.joints[0]
    standing = case.solution.trajectory.q[0]
    limits = {**case.model.limits, joint: replace(case.model.limits[joint], upper=float(standing[0]) + 0.05)}
    v = np.zeros((2, 6))
    v[:, 0] = 1.0, -1.0
    motion = Motion(np.array([0.0, 1.0]), np.array([standing, standing]), v)
    broken = case.with_solution(trajectory=motion, segments=(Segment('swing', 0, 0, 1),))
    found = judged(replace(broken, model=replace(case.model, limits=MappingProxyType(limits)))).of(Check.LIMIT)
    assert [finding.subjects for finding in found] == [(joint,)]
    assert found[0].amount == pytest.approx(0.25 - 0.05)


def test_refuses_a_motion_that_is_too_fast(case: Case) -> None:
    moves = case.solution.trajectory
    faster = case.with_solution(trajectory=Motion(0.5 * moves.times, moves.q, 2.0 * moves.v))
    assert {Check.VELOCITY, Check.ACCELERATION} <= checks(faster)


def test_refuses_a_speed_that_is_too_high_between_two_points(case: Case) -> None:
    standing = case.solution.trajectory.q[0]
    moved = standing + np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    motion = Motion(np.array([0.0, 0.4]), np.array([standing, moved]), np.zeros((2, 6)))
    found = judged(case.with_solution(trajectory=motion, segments=(Segment('dash', 0, 0, 1),)))
    assert found.of(Check.VELOCITY)[0].amount == pytest.approx(1.5 / 0.4 - np.pi)
    assert found.of(Check.ACCELERATION)[0].amount == pytest.approx(6.0 / 0.16 - 5.0)


def test_refuses_a_jump(case: Case) -> None:
    inside = case.solution.segments[0].last + 3
    assert {Check.VELOCITY, Check.ACCELERATION} & checks(changed_points(case, q=[(inside, 3, 0.2)]))


def test_refuses_a_start_that_is_not_where_the_arm_is(case: Case) -> None:
    joint = case.solution.joints[2]
    elsewhere = case.scene.with_joints({joint: case.scene.joints[joint] + 0.01})
    (finding,) = judged(replace(case, scene=elsewhere)).findings
    assert (finding.check, finding.subjects) == (Check.START, (joint,))


def test_refuses_an_end_in_full_motion(case: Case) -> None:
    assert Check.CONTINUITY in checks(changed_points(case, v=[(-1, 0, 0.01)]))


def test_refuses_to_wait_while_the_arm_moves(case: Case) -> None:
    """Whoever executes it would stop there, where the motion does not."""
    lift = case.solution.segments[case.segment('lift')]
    moving = changed_points(case, v=[(lift.last, 0, 0.01)])
    assert Check.CONTINUITY not in checks(moving)
    assert Check.CONTINUITY in checks(moving.with_segment('lift', awaits=Awaited('door', True)))


def test_a_scene_whose_arm_holds_something_with_another_robots_link_is_no_scene(case: Case) -> None:
    held = AttachedObject('cup', Body.of(Sphere(0.02)), 'fourth_finger')
    scene = replace(case.scene, attached=case.scene.attached.set('cup', held))
    with pytest.raises(SceneFault, match="'cup' is attached to 'fourth_finger', which is no link"):
        judged(replace(case, scene=scene))


def test_refuses_to_take_while_the_arm_moves(case: Case) -> None:
    last = case.solution.segments[case.segment('close')].last
    assert Check.CONTINUITY in checks(changed_points(case, v=[(last, 0, 0.01)]))


def test_refuses_a_gripper_that_moves_while_the_arm_does(case: Case) -> None:
    found = judged(case.with_segment('lift', gripper={'joint_left_finger': 0.02})).of(Check.GRIPPER)
    assert found[0].segment == case.segment('lift')


def test_refuses_a_gripper_that_is_too_fast_or_beyond_its_limits(case: Case) -> None:
    moves = case.solution.trajectory
    close = case.solution.segments[case.segment('close')]
    times = moves.times.copy()
    times[close.last :] -= 0.45  # 15 mm of the drive in 50 ms
    fast = case.with_solution(trajectory=Motion(times, moves.q, moves.v))
    assert judged(fast).of(Check.VELOCITY)[0].subjects == ('joint_left_finger',)
    wide = case.with_segment('open', gripper={'joint_left_finger': 0.05})
    assert judged(wide).of(Check.LIMIT)[0].subjects == ('joint_left_finger',)


# Structure


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'segments': ()}, 'end at point 0'),
        ({'joints': ('a', 'b')}, 'columns are a, b'),
        ({'gripper': None}, 'gripper None'),
        ({'segments': (Segment('all', 0, 0, 10_000),)}, 'from point 0 to 10000'),
        ({'segments': (Segment('all', 0, 3, 4),)}, 'begins at point 3'),
        ({'segments': (Segment('all', 9, 0, 55),)}, 'keyframe 9'),
        ({'segments': (Segment('all', 0, 0, 55, gripper={'thumb': 1.0}),)}, "no joint 'thumb'"),
    ],
)
def test_refuses_what_it_cannot_read(case: Case, change: dict[str, object], message: str) -> None:
    report = judged(case.with_solution(**change))
    assert {finding.check for finding in report.findings} == {Check.STRUCTURE}
    assert message in report.text


@pytest.mark.parametrize(
    ('name', 'attachment', 'message'),
    [
        ('close', Attachment('phantom', 'tcp'), 'not in the scene'),
        ('close', Attachment(BOX, 'thumb'), 'no link'),
        ('lift', Attachment(BOX, 'tcp'), 'held already'),
    ],
)
def test_refuses_to_take_what_is_not_there(case: Case, name: str, attachment: Attachment, message: str) -> None:
    assert message in judged(case.with_segment(name, attach=attachment)).of(Check.STRUCTURE)[0].message


def test_refuses_to_let_go_of_what_is_not_held(case: Case) -> None:
    assert Check.STRUCTURE in checks(case.with_segment('open', detach=Attachment('red_box', 'tcp')))
    assert Check.STRUCTURE in checks(case.with_segment('open', detach=Attachment(BOX, 'hand_base')))


# Collisions


def collision_pairs(case: Case) -> set[frozenset[str]]:
    return {frozenset(finding.subjects) for finding in judged(case).of(Check.COLLISION)}


def walled(case: Case) -> Case:
    """The case with a wall between the two places."""
    return with_box(case, 'wall', (0.4, 0.01, 0.3), (0.45, 0.0, 0.0))


def test_refuses_a_way_through_a_wall(case: Case) -> None:
    pairs = collision_pairs(walled(case))
    assert pairs
    assert all('wall' in pair for pair in pairs)


def test_refuses_a_held_object_in_something(case: Case) -> None:
    x, y, z = PLACE
    posted = with_box(case, 'post', (0.004, 0.004, 0.03), (x + 0.015, y, z + 0.018))
    assert collision_pairs(posted) == {frozenset({BOX, 'post'})}


def test_refuses_a_finger_in_a_neighbour(case: Case) -> None:
    x, y, z = case.scene.objects[BOX].pose.position
    crowded = with_box(case, 'neighbour', (0.02, 0.01, 0.0474), (x, y + 0.031, z), movable=True)
    fingers = [pair for pair in collision_pairs(crowded) if pair & set(FINGERS)]
    assert fingers
    assert all('neighbour' in pair for pair in fingers)


def test_refuses_an_arm_in_itself(case: Case) -> None:
    hand = Hand.of('two_finger')
    folded = hand.q.copy()
    folded[2] = 3.0
    hand.follow('fold', np.array([hand.q, folded]))
    pairs = collision_pairs(case.with_solution(trajectory=hand.parts[0], segments=tuple(hand.segments)))
    links = set(case.model.tree.links)
    assert any(pair <= links for pair in pairs)


def test_refuses_a_contact_that_is_not_declared(case: Case) -> None:
    """The box is lowered 0.5 mm into the template: a place recorded by hand is not exact."""
    deep = sunk(case, 0.0005)
    assert judged(deep).ok, judged(deep).text
    undeclared = deep.with_segment('lower', contacts=())
    (finding,) = judged(undeclared).findings
    assert (finding.check, set(finding.subjects)) == (Check.COLLISION, {BOX, 'template'})
    assert finding.segment == case.segment('lower')


def test_refuses_a_declared_contact_that_nobody_needs(case: Case) -> None:
    x, y, z = PLACE
    posted = with_box(case, 'post', (0.004, 0.004, 0.03), (x + 0.015, y, z + 0.018))
    for name, broken in (('post', posted), ('wall', walled(case))):
        pairs = collision_pairs(broken)
        assert pairs
        everything = tuple((link, name) for link in (*case.model.tree.links, BOX))
        declared = broken
        for segment in case.solution.segments:
            declared = declared.with_segment(segment.name, contacts=(*segment.contacts, *everything))
        assert collision_pairs(declared) == pairs


def sunk(case: Case, depth: float) -> Case:
    """The case with a template that reaches higher at the place."""
    x, y, z = PLACE
    low = z - 0.0474 / 2
    scene = case.scene.remove('template')
    for name, place, top in (('template', (x, y), low + depth), ('sheet', (0.40, -0.10), low)):
        body = Body((Part(Box((0.08, 0.08, 0.01))),))
        scene = scene.add(WorldObject(name, body, Pose((*place, top - 0.005))))
    return replace(case, scene=scene.remove('table').remove('red_box').remove('green_box').remove('yellow_box'))


# Grasps


def test_refuses_a_gripper_that_did_not_close(case: Case) -> None:
    found = judged(case.with_segment('close', gripper={})).of(Check.GRASP)
    assert {finding.subjects[0] for finding in found} == {'left_finger', 'right_finger'}
    assert found[0].amount == pytest.approx(0.0035, abs=1e-4)


def test_refuses_a_gripper_that_closes_into_the_object(case: Case) -> None:
    found = judged(case.with_segment('close', gripper={'joint_left_finger': 0.0})).of(Check.GRASP)
    assert {finding.subjects[0] for finding in found} == set(FINGERS)
    assert min(finding.amount or 0.0 for finding in found) > 0.0015


def test_refuses_to_take_what_is_elsewhere(case: Case) -> None:
    moved = case.scene.move(BOX, Pose((0.40, -0.10 + 0.06, -0.1263)))
    assert Check.GRASP in checks(replace(case, scene=moved))


@pytest.mark.parametrize(('below', 'sound'), [(-0.005, True), (0.015, False)])
def test_refuses_to_squeeze_a_ball_out_of_the_hand(case: Case, below: float, sound: bool) -> None:
    """Pads that touch a ball far above its middle press it down; [m] below the pads' tips."""
    x, y, z = case.scene.objects[BOX].pose.position
    tips = z + 0.0474 / 2 - 0.005
    radius = np.hypot(0.021, max(below, 0.0))
    ball = WorldObject(BOX, Body((Part(Sphere(float(radius))),), movable=True), Pose((x, y, tips - below)))
    found = judged(replace(case, scene=case.scene.add(ball))).of(Check.GRASP)
    assert [finding.subjects for finding in found] == ([] if sound else [(*FINGERS, BOX)])


def test_refuses_a_cup_beside_the_face() -> None:
    case = pick_and_place('suction')
    x, y, z = case.scene.objects[BOX].pose.position
    for shift, message in (((0.015, 0.0), 'beside'), ((0.0, -0.03), 'beside')):
        moved = case.scene.move(BOX, Pose((x + shift[0], y + shift[1], z)))
        assert message in judged(replace(case, scene=moved)).of(Check.GRASP)[0].message
    low = case.scene.move(BOX, Pose((x, y, z - 0.004)))
    assert 'off the face' in judged(replace(case, scene=low)).of(Check.GRASP)[0].message


# Objects


def placed(case: Case, pose: Pose) -> Case:
    return case.with_task(PICK, Place(BOX, ORIGIN.inverse @ pose))


def test_refuses_a_wrong_place(case: Case) -> None:
    x, y, z = PLACE
    assert judged(placed(case, Pose((x + 0.0008, y, z)))).ok
    found = judged(placed(case, Pose((x + 0.002, y, z)))).of(Check.PLACE)
    assert found[0].amount == pytest.approx(0.002, abs=1e-4)
    turned = Pose(PLACE, (0.0, 0.0, np.sin(0.01), np.cos(0.01)))
    assert judged(placed(case, turned)).of(Check.PLACE)[0].amount == pytest.approx(0.02, abs=1e-4)


def test_refuses_an_object_that_is_dropped_on_the_way(case: Case) -> None:
    held = case.solution.segments[case.segment('close')].attach
    dropped = case.with_segment('open', detach=None).with_segment('transfer', detach=held)
    assert {Check.PLACE, Check.STABILITY, Check.MOVED} <= checks(dropped)
    assert 'stands on nothing' in judged(dropped).text


def test_refuses_an_object_over_the_edge_of_its_support(case: Case) -> None:
    x, y, z = PLACE
    low = z - 0.0474 / 2
    bare = replace(case, scene=case.scene.remove('template').remove('table').remove('red_box').remove('green_box'))
    bare = with_box(bare, 'start', (0.3, 0.14, 0.02), (0.45, -0.10, low - 0.01))
    for over, sound in ((-0.006, True), (0.003, False)):
        edge = with_box(bare, 'template', (0.1, 0.1, 0.02), (x + 0.05 + over, y, low - 0.01))
        report = judged(edge)
        assert report.ok is sound, report.text
        assert [finding.subjects for finding in report.of(Check.STABILITY)] == ([] if sound else [(BOX, 'template')])


def test_refuses_an_object_that_is_put_into_another(case: Case) -> None:
    assert judged(sunk(case, 0.001)).ok
    assert {Check.PLACE, Check.COLLISION} <= checks(sunk(case, 0.003))


def test_refuses_to_pull_away_what_something_stands_on(case: Case) -> None:
    x, y, z = case.scene.objects[BOX].pose.position
    lid = with_box(case, 'lid', (0.01, 0.01, 0.002), (x + 0.015, y + 0.01, z + 0.0474 / 2 + 0.001), movable=True)
    found = judged(lid).of(Check.MOVED)
    assert ('lid', BOX) in [finding.subjects for finding in found]


def test_refuses_to_take_a_counterweight(case: Case) -> None:
    """The box stands on the short end of a board whose long end hangs over the edge."""
    x, y, z = case.scene.objects[BOX].pose.position
    low = z - 0.0474 / 2
    scene = case.scene
    for name in ('template', 'table', 'red_box', 'green_box', 'yellow_box'):
        scene = scene.remove(name)
    bare = replace(case, scene=scene)
    bare = with_box(bare, 'there', (0.1, 0.1, 0.01), (PLACE[0], PLACE[1], low - 0.005))
    for length, sound in ((0.06, True), (0.12, False)):
        board = with_box(bare, 'board', (length, 0.03, 0.004), (x + 0.5 * length - 0.02, y, low - 0.002), movable=True)
        post = with_box(board, 'post', (0.08, 0.08, 0.02), (x - 0.01, y, low - 0.014))
        report = judged(post)
        found = [finding for finding in report.of(Check.STABILITY) if finding.segment == case.segment('close')]
        assert [finding.subjects for finding in found] == ([] if sound else [('board', 'post')]), report.text


def test_objects_in_each_other_are_judged(case: Case) -> None:
    """Each of several boards in each other stands on the others."""
    crowded = case
    for number in range(8):
        crowded = with_box(crowded, f'board_{number}', (0.1, 0.1, 0.001), (*PLACE[:2], -0.15), movable=True)
    assert judged(crowded).checked['places'] == 1


def test_a_finding_tells_its_keyframe_and_causes_come_first(case: Case) -> None:
    spoilt = case.with_segment('close', gripper={}).with_segment('open', detach=None)
    report = judged(spoilt)
    times = [finding.time for finding in report.findings if finding.time is not None]
    assert times == sorted(times)
    assert report.findings[0].check is Check.GRASP
    assert "segment 2 'close' of keyframe 0" in report.text
    told = json.loads(json.dumps(report.data()))['findings']
    assert told[0]['keyframe'] == 0
    assert {finding['keyframe'] for finding in told} == {0, 1}


def test_refuses_to_move_what_the_task_does_not_speak_of(case: Case) -> None:
    held = Attachment('red_box', 'tcp', ('left_finger', 'right_finger'))
    stolen = case.with_segment('close', attach=held).with_segment('open', detach=held)
    assert {Check.MOVED, Check.GRASP, Check.KEYFRAME} <= checks(stolen)


def test_refuses_what_is_still_in_the_hand(case: Case) -> None:
    kept = case.with_segment('open', detach=None)
    assert {Check.KEYFRAME, Check.MOVED} <= checks(kept)


# Keyframes


def test_refuses_a_missing_keyframe(case: Case) -> None:
    for missing in (Wait(1.0), SetOutput('lamp', True), AwaitInput('button', True)):
        found = judged(case.with_task(PICK, PUT, missing)).of(Check.KEYFRAME)
        assert 'Keyframe 2' in found[0].message


def test_refuses_keyframes_out_of_order(case: Case) -> None:
    late = case.with_segment('retreat', keyframe=0)
    assert judged(late).of(Check.KEYFRAME)[0].segment == case.segment('retreat')


def test_waits_outputs_and_trajectories_are_checked() -> None:
    case = pick_and_place()
    hand = Hand.of('two_finger')
    grasp, held = from_above(case.scene.objects[BOX].pose.position, 0.005), Attachment(BOX, 'tcp', FINGERS)
    hand.go('transit', raised(grasp, 0.06))
    hand.glide('approach', grasp)
    hand.stand('close', attach=held, gripper=CLOSED)
    hand.glide('lift', raised(grasp, 0.06), (BOX, 'template'))
    hand.keyframe = 1
    hand.glide('lead', raised(grasp, 0.12))
    hand.keyframe = 2
    hand.stand('wait', 0.7)
    hand.keyframe = 3
    hand.stand('switch', 0.1, outputs={'lamp': True})
    up = ORIGIN.inverse @ case.scene.objects[BOX].pose
    ways = [Pose((*up.position[:2], up.position[2] + height)) for height in (0.06, 0.09, 0.12)]
    keyframes = (PICK, Trajectory(BOX, tuple(ways)), Wait(0.7), SetOutput('lamp', True))
    done = replace(case, solution=hand.solution()).with_task(*keyframes)
    assert judged(done).ok, judged(done).text
    for number, wrong in (
        (1, Trajectory(BOX, tuple(reversed(ways)))),
        (1, Trajectory(BOX, (Pose((*up.position[:2], up.position[2] + 0.2)),))),
        (2, Wait(1.0)),
        (3, SetOutput('lamp', False)),
        (3, SetOutput('lamp', 1.0)),
    ):
        broken = done.with_task(*(wrong if at == number else keyframe for at, keyframe in enumerate(keyframes)))
        assert [finding.check for finding in judged(broken).findings] == [Check.KEYFRAME], wrong


def test_a_regrasp_on_the_way_is_no_fault(case: Case) -> None:
    """Let go of and taken again at the place, and put down there."""
    held = case.solution.segments[case.segment('close')].attach
    opened = case.solution.segments[case.segment('open')]
    moves = case.solution.trajectory
    at = opened.first
    still = np.repeat(moves.q[at][np.newaxis], 4, axis=0)
    times = np.concatenate([moves.times[: at + 1], moves.times[at] + 0.5 * np.arange(1, 4), 1.5 + moves.times[at:][1:]])
    q = np.concatenate([moves.q[: at + 1], still[:3], moves.q[at + 1 :]])
    v = np.concatenate([moves.v[: at + 1], np.zeros((3, 6)), moves.v[at + 1 :]])
    support = opened.contacts
    between = (
        Segment('open', 1, at, at + 1, detach=held, gripper=OPEN, contacts=support),
        Segment('close', 1, at + 1, at + 2, attach=held, gripper=CLOSED),
        Segment('wait', 1, at + 2, at + 3),
    )
    later = [replace(s, first=s.first + 3, last=s.last + 3) for s in case.solution.segments[case.segment('open') :]]
    segments = (*case.solution.segments[: case.segment('open')], *between, *later)
    again = case.with_solution(trajectory=Motion(times, q, v), segments=segments)
    assert judged(again).ok, judged(again).text


def test_rules_of_a_task_are_resolved(case: Case) -> None:
    assert isinstance(PICK, Pick)
    report = validate(case.solution, case.model, case.scene, case.task, case.origin, {BOX: 'red_box'})
    assert {Check.KEYFRAME, Check.MOVED} <= {finding.check for finding in report.findings}
