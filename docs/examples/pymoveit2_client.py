"""Drive a UR5e through the planning server with pymoveit2, a client that was written for MoveIt 2.

Start the robot first, with `./lfd up --robot ur5e` or `ros2 launch lfd_bringup ur5e.launch.py`; then, in the same ROS
domain: `python pymoveit2_client.py`. The same lines drive either home.
"""

import sys
import threading
import time
from collections.abc import Callable

import rclpy
from moveit_msgs.msg import PlanningScene
from pymoveit2 import MoveIt2
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node

JOINTS = [
    'shoulder_pan_joint',
    'shoulder_lift_joint',
    'elbow_joint',
    'wrist_1_joint',
    'wrist_2_joint',
    'wrist_3_joint',
]
READY = [0.0, -1.8, 1.9, -1.6708, -1.5708, 0.0]  # [rad]
LEFT = [0.9, -1.5, 1.7, -1.7708, -1.5708, 0.0]  # [rad]
NO_TURN = (0.0, 0.0, 0.0, 1.0)
PATIENCE = 60.0  # [s]


def main() -> None:
    """Connect, and go through all steps."""
    rclpy.init()
    node = Node('pymoveit2_client')
    arm = MoveIt2(
        node,
        joint_names=JOINTS,
        base_link_name='base_link',
        end_effector_name='tool0',
        group_name='manipulator',
        callback_group=ReentrantCallbackGroup(),
    )
    executor = MultiThreadedExecutor(2)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    arm.allowed_planning_time = 5.0  # [s]
    try:
        show(arm)
    finally:
        executor.shutdown()
        thread.join()
        arm.destroy()
        node.destroy_node()
        rclpy.shutdown()


def show(arm: MoveIt2) -> None:
    """Move by joints, by poses and along lines, around an object and with one in the hand."""
    arm.move_to_configuration(READY)
    done(arm, 'joint goal')

    # Forward and inverse kinematics: the pose of the flange at LEFT, and joint positions for that pose.
    pose = arm.compute_fk(joint_state=LEFT, timeout_sec=PATIENCE).pose
    found = arm.compute_ik(pose.position, pose.orientation, timeout_sec=PATIENCE)
    print('inverse kinematics:', [round(value, 4) for value in found.position])

    # A wall between here and there, which the next motion goes around.
    arm.add_collision_box('wall', size=(0.6, 0.02, 1.6), position=(0.6, 0.25, 0.4), quat_xyzw=NO_TURN)
    seen(arm, lambda scene: 'wall' in in_world(scene))
    arm.move_to_pose(position=pose.position, quat_xyzw=pose.orientation)
    done(arm, 'pose goal around a wall')
    arm.remove_collision_object('wall')

    # Straight down by 10 cm, and up again.
    x, y, z = pose.position.x, pose.position.y, pose.position.z
    for height in (z - 0.1, z):
        arm.move_to_pose(position=(x, y, height), quat_xyzw=pose.orientation, cartesian=True)
        done(arm, f'straight line to z = {height:.3f}')

    # A part below the flange: attached, carried, put down.
    arm.add_collision_box('part', size=(0.05, 0.05, 0.05), position=(x, y, z - 0.03), quat_xyzw=NO_TURN)
    arm.attach_collision_object('part', link_name='tool0', touch_links=['wrist_3_link'])
    seen(arm, lambda scene: scene.robot_state.attached_collision_objects)
    arm.move_to_configuration(READY)
    done(arm, 'carrying the part')
    arm.detach_collision_object('part')
    seen(arm, lambda scene: 'part' in in_world(scene))
    print('in the world:', ', '.join(in_world(arm.planning_scene)))
    arm.remove_collision_object('part')


def in_world(scene: PlanningScene) -> list[str]:
    """The names of the objects that stand in the world."""
    return [thing.id for thing in scene.world.collision_objects]


def seen(arm: MoveIt2, condition: Callable[[PlanningScene], object]) -> None:
    """Wait until the planning scene is as it should be: objects are sent by topic, and take a moment to arrive."""
    deadline = time.monotonic() + PATIENCE
    while not (arm.update_planning_scene(timeout_sec=PATIENCE) and condition(arm.planning_scene)):
        if time.monotonic() > deadline:
            sys.exit('The planning scene is not as it should be.')
        time.sleep(0.05)


def done(arm: MoveIt2, what: str) -> None:
    """Wait for the motion that was started, and end if it failed."""
    if not arm.wait_until_executed(timeout_sec=PATIENCE):
        sys.exit(f'{what}: {arm.last_failure()}')
    print(f'{what}: done')


if __name__ == '__main__':
    main()
