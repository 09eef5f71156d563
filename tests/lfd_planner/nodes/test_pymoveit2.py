"""A client that others wrote for move_group drives the planning server: pymoveit2, step by step and as documented."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rclpy
import trimesh
from moveit_msgs.msg import MoveItErrorCodes
from pymoveit2 import MoveIt2
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from support.move_group_client import GROUP, HOME
from support.peer import eventually
from support.process import Process

from lfd_description.robots import find_robot

EXAMPLE = Path(__file__).resolve().parents[3] / 'docs' / 'examples' / 'pymoveit2_client.py'
JOINTS = list(find_robot('ur5e').joints)
LEFT = [0.9, -1.5, 1.7, -1.7708, -1.5708, 0.0]
NO_TURN = (0.0, 0.0, 0.0, 1.0)
PATIENCE = 60.0  # [s]


@contextmanager
def stranger(domain: int, **options: Any) -> Iterator[MoveIt2]:
    """pymoveit2 on a node of its own, spun in the background as its documentation says until it is destroyed."""
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    node = rclpy.create_node('stranger', context=context)
    group = ReentrantCallbackGroup()
    arm = MoveIt2(node, JOINTS, 'base_link', 'tool0', group_name=GROUP, callback_group=group, **options)
    arm.allowed_planning_time = 10.0
    executor = MultiThreadedExecutor(2, context=context)
    executor.add_node(node)
    ending = threading.Event()

    def spin() -> None:
        while not ending.is_set():  # an executor that is shut down while it spins fails in whatever it does
            executor.spin_once(timeout_sec=0.1)

    thread = threading.Thread(target=spin, daemon=True)
    thread.start()
    try:
        eventually(lambda: arm.joint_state is not None, 'joint states')
        yield arm
    finally:
        ending.set()
        thread.join()
        executor.shutdown()
        arm.destroy()
        node.destroy_node()
        rclpy.try_shutdown(context=context)


@pytest.fixture
def arm(cell, client) -> Iterator[MoveIt2]:
    """An arm at home."""
    with stranger(cell.domain) as arm:
        arm.move_to_configuration(HOME)
        assert arm.wait_until_executed(PATIENCE)
        yield arm


def objects(arm: MoveIt2) -> dict[str, object]:
    assert arm.update_planning_scene(PATIENCE)
    return {thing.id: thing for thing in arm.planning_scene.world.collision_objects}


def attached(arm: MoveIt2) -> dict[str, object]:
    assert arm.update_planning_scene(PATIENCE)
    return {held.object.id: held for held in arm.planning_scene.robot_state.attached_collision_objects}


def at(arm: MoveIt2, goal: list[float]) -> bool:
    found = dict(zip(arm.joint_state.name, arm.joint_state.position, strict=True))
    return bool(np.allclose([found[name] for name in JOINTS], goal, atol=0.01))


def test_collision_objects_of_all_kinds(arm):
    arm.add_collision_box('box', size=(0.1, 0.2, 0.3), position=(1.0, 0.0, 0.0), quat_xyzw=NO_TURN)
    arm.add_collision_sphere('sphere', radius=0.1, position=(1.0, 0.5, 0.0), quat_xyzw=NO_TURN)
    arm.add_collision_cylinder('cylinder', height=0.3, radius=0.1, position=(1.0, 1.0, 0.0), quat_xyzw=NO_TURN)
    arm.add_collision_cone('cone', height=0.3, radius=0.1, position=(1.0, 1.5, 0.0), quat_xyzw=NO_TURN)
    torus = trimesh.creation.torus(0.2, 0.05)
    arm.add_collision_mesh(None, 'torus', position=(1.0, 2.0, 0.0), quat_xyzw=NO_TURN, mesh=torus)
    eventually(lambda: objects(arm).keys() == {'box', 'sphere', 'cylinder', 'cone', 'torus'}, 'all objects')
    assert len(objects(arm)['torus'].meshes[0].triangles) == len(torus.faces)
    arm.move_collision('box', position=(2.0, 0.0, 0.0), quat_xyzw=NO_TURN)
    eventually(lambda: objects(arm)['box'].pose.position.x == 2.0, 'the moved box')
    arm.remove_collision_object('sphere')
    eventually(lambda: 'sphere' not in objects(arm), 'the sphere gone')
    future = arm.clear_all_collision_objects()
    eventually(future.done, 'the cleared scene')
    assert arm.process_clear_all_collision_objects_future(future)
    assert objects(arm) == {}


def test_forward_and_inverse_kinematics(arm):
    pose = arm.compute_fk(joint_state=LEFT, timeout_sec=PATIENCE).pose
    state = arm.compute_ik(pose.position, pose.orientation, timeout_sec=PATIENCE)
    found = dict(zip(state.name, state.position, strict=True))
    again = arm.compute_fk(joint_state=[found[name] for name in JOINTS], timeout_sec=PATIENCE).pose
    away = [getattr(again.position, k) - getattr(pose.position, k) for k in 'xyz']
    assert np.linalg.norm(away) < 1e-6
    assert arm.compute_ik((3.0, 0.0, 0.0), NO_TURN, timeout_sec=PATIENCE) is None


def test_joint_and_pose_goals(arm):
    arm.move_to_configuration(LEFT)
    assert arm.wait_until_executed(PATIENCE)
    eventually(lambda: at(arm, LEFT), 'the arm at its joint goal')
    pose = arm.compute_fk(joint_state=list(HOME), timeout_sec=PATIENCE).pose
    arm.move_to_pose(position=pose.position, quat_xyzw=pose.orientation)
    assert arm.wait_until_executed(PATIENCE)

    def away() -> float:
        here = arm.compute_fk(timeout_sec=PATIENCE).pose.position
        return float(np.linalg.norm([getattr(here, k) - getattr(pose.position, k) for k in 'xyz']))

    eventually(lambda: away() < 2e-3, 'the tool at its goal')


def test_a_goal_that_cannot_be_reached_is_explained(arm):
    arm.move_to_pose(position=(3.0, 0.0, 0.0), quat_xyzw=NO_TURN)
    assert not arm.wait_until_executed(PATIENCE)
    assert 'NO_IK_SOLUTION' in arm.last_failure()


def test_cartesian_paths(arm):
    pose = arm.compute_fk(timeout_sec=PATIENCE).pose
    down = (pose.position.x, pose.position.y, pose.position.z - 0.1)
    trajectory = arm.plan(position=down, quat_xyzw=pose.orientation, cartesian=True, timeout_sec=PATIENCE)
    for point in trajectory.points[::10]:
        here = arm.compute_fk(joint_state=list(point.positions), timeout_sec=PATIENCE).pose.position
        assert np.hypot(here.x - down[0], here.y - down[1]) < 1e-3
    arm.execute(trajectory)
    assert arm.wait_until_executed(PATIENCE)


def test_a_part_is_attached_carried_and_put_down(arm):
    pose = arm.compute_fk(timeout_sec=PATIENCE).pose.position
    size = (0.05, 0.05, 0.05)
    arm.add_collision_box('part', size=size, position=(pose.x, pose.y, pose.z - 0.03), quat_xyzw=NO_TURN)
    arm.attach_collision_object('part', link_name='tool0', touch_links=['wrist_3_link'])
    eventually(lambda: 'part' in attached(arm), 'the attached part')
    assert objects(arm) == {}
    arm.move_to_configuration(LEFT)
    assert arm.wait_until_executed(PATIENCE)
    eventually(lambda: at(arm, LEFT), 'the arm at its goal')
    there = arm.compute_fk(timeout_sec=PATIENCE).pose.position
    arm.detach_collision_object('part')
    part = eventually(lambda: objects(arm).get('part'), 'the part in the world').pose.position
    assert np.linalg.norm([part.x - there.x, part.y - there.y, part.z - there.z]) == pytest.approx(0.03, abs=2e-3)


def test_an_allowed_collision_lets_a_motion_pass(arm):
    pose = arm.compute_fk(joint_state=LEFT, timeout_sec=PATIENCE).pose.position
    arm.add_collision_box('fog', size=(0.2, 0.2, 0.2), position=(pose.x, pose.y, pose.z), quat_xyzw=NO_TURN)
    eventually(lambda: 'fog' in objects(arm), 'the box')
    arm.move_to_configuration(LEFT)
    assert not arm.wait_until_executed(PATIENCE)
    future = arm.allow_collisions('fog', True)
    eventually(future.done, 'the edited matrix')
    assert arm.process_allow_collision_future(future)
    arm.move_to_configuration(LEFT)
    assert arm.wait_until_executed(PATIENCE)


def test_the_move_group_action(cell, arm):
    with stranger(cell.domain, use_move_group_action=True) as other:

        def moved() -> bool:
            other.move_to_configuration(LEFT)  # gives up after a second if the server is not known yet
            return bool(other.wait_until_executed(PATIENCE))

        eventually(moved, 'the motion')
        assert other.get_last_execution_error_code().val == MoveItErrorCodes.SUCCESS


def test_the_documented_example(cell, client):
    example = Process([sys.executable, str(EXAMPLE)], {**os.environ, 'ROS_DOMAIN_ID': str(cell.domain)})
    assert example.wait(300.0) == 0, example.output
    assert 'pose goal around a wall: done' in example.output
    assert 'carrying the part: done' in example.output
    assert 'in the world: part' in example.output
