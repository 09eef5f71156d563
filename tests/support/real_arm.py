"""The part of a real arm's graph that moves it, as `./lfd up` runs it, with a rig for its controller and a client."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance, JointTrajectoryControllerState
from controller_manager_msgs.srv import ListHardwareComponents, SetHardwareComponentState, SwitchController
from lifecycle_msgs.msg import State
from rclpy.action import ActionClient
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from lfd_bringup.domain import claim_free
from lfd_bringup.graph import describe, embedded
from lfd_description.robots import find_robot
from support.cell import Cell
from support.peer import ASK_AGAIN, Peer
from support.process import Process
from support.rigs import Rig

WAY = 0.5  # [rad] that the first joint swings
SECONDS = 1.0  # [s] that a swing takes
SLOW = 4.0  # [s] that a swing takes which is not to end
UNDER_WAY = 0.03  # [rad]
THERE = 0.02  # [rad]
PATIENCE = 60.0  # [s]


@contextmanager
def real_arm(rig: Rig, folder: Path) -> Iterator[RealArm]:
    """An arm that is up, alone in its ROS domain; `folder` is for the files of its processes."""
    with claim_free() as domain:
        arm = RealArm(rig, domain.number, folder)
        try:
            arm.start()
            yield arm
        finally:
            arm.close()
            rig.lose_power()


class RealArm(Peer):
    """One arm whose first joint swings to and fro between two places."""

    def __init__(self, rig: Rig, domain: int, folder: Path) -> None:
        super().__init__('reliability_test', domain)
        self.rig = rig
        self.robot = find_robot(rig.robot)
        self.controller = f'{rig.robot}_controller'
        self.way = WAY  # [rad]
        self._home = rig.positions
        self._out = False  # which of the two places it is sent to
        graph = describe(
            rig.robot,
            hardware=rig.hardware,
            robot_ip='127.0.0.1',
            hardware_parameters={name: str(value) for name, value in rig.parameters.items()},
        )
        self._cell = Cell(rig.robot, domain, folder, change=lambda _: embedded(graph))
        self.speeds: list[float] = []  # that the trajectory controller told, as parts of the planned one
        self.node.create_subscription(
            JointTrajectoryControllerState,
            f'{self.controller}/controller_state',
            lambda state: self.speeds.append(state.speed_scaling_factor),
            10,
        )
        name = f'{self.controller}/follow_joint_trajectory'
        self._action = ActionClient(self.node, FollowJointTrajectory, name)
        self._other_node = rclpy.create_node('another_client', context=self.context)
        self._executor.add_node(self._other_node)
        self._other_action = ActionClient(self._other_node, FollowJointTrajectory, name)
        self._set = self._client(SetHardwareComponentState, 'set_hardware_component_state')
        self._switch = self._client(SwitchController, 'switch_controller')
        self._list = self._client(ListHardwareComponents, 'list_hardware_components')

    def _client(self, kind: Any, name: str) -> Any:
        return self.node.create_client(kind, f'controller_manager/{name}')

    # Processes

    def start(self) -> None:
        """Start all."""
        self._cell.start('robot_state_publisher', 'controller_manager', 'spawner')

    def restart(self) -> None:
        """Start the controllers again."""
        self._cell.start('controller_manager', 'spawner')

    @property
    def manager(self) -> Process:
        """ros2_control_node."""
        return self._cell.processes['controller_manager']

    def close(self) -> None:
        self._cell.stop()
        super().close()

    # Motion

    def swing(self, seconds: float = SECONDS, patient: bool = True, by_another: bool = False) -> Future:
        """Send the first joint to its other place; the future is of the goal's result.

        Unless it is patient, the tolerances are those of the controller. The goal may be another client's.
        """
        self._out = not self._out
        goal = FollowJointTrajectory.Goal(trajectory=JointTrajectory(joint_names=list(self.robot.joints)))
        target = self.target
        duration = Duration(sec=int(seconds), nanosec=int(seconds % 1 * 1e9))
        still = [0.0] * len(target)
        goal.trajectory.points = [
            JointTrajectoryPoint(positions=target.tolist(), velocities=still, time_from_start=duration)
        ]
        # A machine that is busy with other things makes an arm late, and that is not what is tested.
        if patient:
            goal.path_tolerance = [JointTolerance(name=name, position=self.way) for name in self.robot.joints]
            goal.goal_time_tolerance = Duration(sec=int(PATIENCE))
        action = self._other_action if by_another else self._action
        self.eventually(action.server_is_ready, 'the action', PATIENCE)
        handle = self._send(action, goal)
        assert handle.accepted
        return handle.get_result_async()

    def _send(self, action: ActionClient, goal: Any) -> Any:
        """The handle of a goal; it may be sent again, because a node that was killed still seems to be there."""
        deadline = time.monotonic() + PATIENCE
        while True:
            future = action.send_goal_async(goal)
            again = time.monotonic() + ASK_AGAIN
            while not future.done() and time.monotonic() < again:
                self.spin_once()
            if future.done():
                return future.result()
            assert time.monotonic() < deadline, 'nobody takes the goal'

    @property
    def target(self) -> np.ndarray:
        """Where the last swing goes to [rad]."""
        return self._home + np.array([self.way * self._out] + [0.0] * (len(self._home) - 1))

    def swing_half(self) -> Future:
        """The same, and wait until the arm is on its way."""
        start = self.rig.positions[0]
        future = self.swing(SLOW)
        self.eventually(lambda: abs(self.rig.positions[0] - start) > UNDER_WAY or future.done(), 'motion', PATIENCE)
        assert not future.done(), future.result().result.error_string
        return future

    def arrives(self, future: Future) -> None:
        """The goal is reached, and the arm is there, without a jump."""
        answer = self.result(future, PATIENCE)
        assert answer.status == GoalStatus.STATUS_SUCCEEDED, answer.result.error_string
        self.eventually(lambda: np.abs(self.rig.positions - self.target).max() < THERE, 'the arm at its goal')
        self.check_steps()

    def fails(self, future: Future) -> str:
        """The goal is aborted, and the arm comes to stand without a jump; what the goal's error says."""
        answer = self.result(future, PATIENCE)
        assert answer.status == GoalStatus.STATUS_ABORTED
        self.stands()
        return str(answer.result.error_string)

    def stands(self) -> None:
        """The arm comes to stand without a jump, short of its goal."""
        self.eventually(lambda: self.rig.is_off or self.rig.is_still, 'the arm to stand', PATIENCE)
        assert abs(self.rig.positions[0] - self.target[0]) > THERE
        self.check_steps()

    def check_steps(self) -> None:
        """No set-point was further from the one before than the limits allow within a cycle."""
        assert not self.rig.has_jumped

    # Services

    @property
    def state(self) -> str:
        """Of the hardware."""
        self.eventually(self._list.service_is_ready, 'the services', PATIENCE)
        components = self.ask(self._list, ListHardwareComponents.Request(), PATIENCE).component
        return str(next(each.state.label for each in components if each.name == self.rig.robot))

    def set_state(self, label: str) -> str:
        """Ask for a state of the hardware, again while it is busy; why it was refused, or nothing."""
        request = SetHardwareComponentState.Request(name=self.rig.robot, target_state=State(label=label))
        self.eventually(self._set.service_is_ready, 'the services', PATIENCE)
        while True:
            looks = partial(self._errors_since, len(self.manager.output))
            if self.result(self._set.call_async(request), PATIENCE).ok:
                return ''
            said = self.eventually(looks, 'an error of the node')
            if 'is busy with' not in said:
                return str(said)

    def _errors_since(self, place: int) -> str:
        lines = self.manager.output[place:].splitlines()
        return '\n'.join(line for line in lines if line.startswith('[ERROR]'))

    def switch(self, **lists: list[str]) -> Any:
        """Have controllers switched, all or none: `activate_controllers`, `deactivate_controllers`."""
        request = SwitchController.Request(strictness=SwitchController.Request.STRICT, **lists)
        self.eventually(self._switch.service_is_ready, 'the services', PATIENCE)
        return self.result(self._switch.call_async(request), PATIENCE)

    def activate_controllers(self) -> None:
        """Have those that are not active activated."""
        names = ['joint_state_broadcaster', self.controller]
        request = SwitchController.Request(activate_controllers=names, strictness=SwitchController.Request.BEST_EFFORT)
        self.eventually(self._switch.service_is_ready, 'the services', PATIENCE)
        answer = self.result(self._switch.call_async(request), PATIENCE)
        assert answer.ok, answer.message

    def goes_on(self) -> None:
        """Bring hardware and controllers up again as a user does, and swing, from where the arm stands."""
        self.rig.forget()
        assert self.set_state('active') == ''
        self.activate_controllers()
        self.arrives(self.swing())
