from __future__ import annotations

import threading

import pytest

from lfd_description.grippers import find_gripper
from lfd_description.model.builder import build_model
from lfd_description.robots import find_robot
from lfd_description.shapes import Box
from lfd_planner.robot.planning_robot import planning_robot
from lfd_planner.scene import Body, Pose, SceneFault, WorldObject, frame_pose
from lfd_planner.server.scene_monitor import SceneMonitor


@pytest.fixture
def monitor() -> SceneMonitor:
    return SceneMonitor(planning_robot(build_model(find_robot('gp8'))))


def cube(id: str) -> WorldObject:
    return WorldObject(id, Body.of(Box((0.1, 0.1, 0.1))))


def test_a_snapshot_stays_as_it_is(monitor):
    before = monitor.scene
    monitor.edit(lambda scene: scene.add(cube('a')))
    assert 'a' not in before
    assert 'a' in monitor.scene


def test_an_edit_that_fails_changes_nothing(monitor):
    before, version = monitor.snapshot()
    with pytest.raises(SceneFault):
        monitor.edit(lambda scene: scene.remove('a'))
    assert monitor.snapshot() == (before, version)


def test_edits_of_many_threads_are_all_kept(monitor):
    def add(start: int) -> None:
        for number in range(start, start + 50):
            monitor.edit(lambda scene, number=number: scene.add(cube(f'box_{number}')))

    threads = [threading.Thread(target=add, args=(50 * k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(monitor.scene.objects) == 400
    assert monitor.snapshot()[1].edits == 400


def test_joints_that_nobody_told_are_named(monitor):
    assert monitor.missing_joints == monitor.robot.joints
    monitor.set_joints({'joint_1_s': 0.5, 'stranger': 1.0})
    assert monitor.missing_joints == monitor.robot.joints[1:]
    assert monitor.scene.joints['joint_1_s'] == 0.5
    assert 'stranger' not in monitor.scene.joints


def test_a_subset_of_joints_can_be_asked_for(monitor):
    monitor.set_joints({'joint_1_s': 0.5})
    assert monitor.missing(['joint_1_s']) == ()
    assert monitor.missing(['joint_2_l', 'joint_1_s', 'stranger']) == ('joint_2_l',)


def test_joints_that_follow_another_have_no_position_of_their_own():
    monitor = SceneMonitor(planning_robot(build_model(find_robot('gp8'), gripper=find_gripper('two_finger'))))
    follower = next(joint for joint in monitor.robot.tree.joints if joint.mimic is not None)
    leader = follower.mimic.joint
    monitor.set_joints({leader: 0.01, follower.name: 0.01})
    assert monitor.scene.joints[leader] == 0.01
    assert follower.name not in monitor.scene.joints
    assert monitor.missing([follower.name]) == ()
    before = monitor.snapshot()[1]
    monitor.set_joints({follower.name: 0.02})
    assert monitor.snapshot()[1] == before


def test_joint_states_at_rest_are_heard_and_change_nothing(monitor):
    home = dict(monitor.robot.home)
    before = monitor.snapshot()[1]
    monitor.set_joints(home)
    first = monitor.snapshot()[1]
    assert first != before  # who waits for the first joint states is woken, wherever the robot stands
    monitor.set_joints(home)
    again = monitor.snapshot()[1]
    assert again == first
    assert monitor.wait_for_change(first, 0.0) == first
    monitor.set_joints({'joint_1_s': 0.1})
    assert monitor.wait_for_change(first, 0.0) != first


def test_nobody_waits_for_an_edit_but_the_next_edit(monitor):
    """Snapshots are taken and joint states heard while an edit converts a large mesh."""
    begun, go_on = threading.Event(), threading.Event()

    def slow(scene):
        begun.set()
        assert go_on.wait(30.0)
        return scene.add(cube('slow')).with_joints({'joint_2_l': 0.7, 'joint_3_u': 0.7})

    thread = threading.Thread(target=monitor.edit, args=(slow,))
    thread.start()
    assert begun.wait(30.0)
    reader = threading.Thread(target=lambda: (monitor.set_joints({'joint_1_s': 0.5, 'joint_3_u': 0.1}), monitor.scene))
    reader.start()
    reader.join(30.0)
    stuck = reader.is_alive()
    during = None if stuck else monitor.scene
    go_on.set()
    thread.join()
    assert not stuck
    assert 'slow' not in during
    assert 'slow' in monitor.scene
    joints = monitor.scene.joints
    assert (joints['joint_1_s'], joints['joint_2_l'], joints['joint_3_u']) == (0.5, 0.7, 0.1)


def test_an_edit_that_changes_nothing_is_none(monitor):
    monitor.transforms.set('world', monitor.robot.frame, Pose((1.0, 0.0, 0.0)))
    version = monitor.snapshot()[1]
    monitor.edit(lambda scene: scene)
    assert monitor.snapshot()[1] == version


def test_who_waits_is_woken_by_an_edit_and_by_the_end(monitor):
    _, version = monitor.snapshot()
    woken: list[int] = []
    thread = threading.Thread(target=lambda: woken.append(monitor.wait_for_change(version, 30.0).edits))
    thread.start()
    monitor.edit(lambda scene: scene.add(cube('a')))
    thread.join()
    assert woken == [1]
    waiting = threading.Thread(target=lambda: monitor.wait_for_change(monitor.snapshot()[1], 30.0))
    waiting.start()
    monitor.close()
    waiting.join(10.0)
    assert not waiting.is_alive()


def test_frames_of_others_move_with_the_link_they_hang_from(monitor):
    tip = monitor.robot.group('manipulator').tip
    monitor.transforms.set(tip, 'camera', Pose((0.1, 0.0, 0.0)))
    before = monitor.scene.fixed_frames['camera']
    monitor.set_joints({'joint_1_s': 1.0})
    assert monitor.scene.fixed_frames['camera'] != before


def test_poses_can_be_told_in_the_frame_that_the_robot_stands_in(monitor):
    monitor.transforms.set('world', monitor.robot.tree.root, Pose((1.0, 0.0, 0.0)))
    scene = monitor.scene
    assert frame_pose(scene, 'world', monitor.link_poses(scene)).position == (-1.0, 0.0, 0.0)
