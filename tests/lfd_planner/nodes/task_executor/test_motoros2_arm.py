"""The executor's arm behind MotoROS2: trajectory mode before every motion, goals by its rules, codes in words."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np
import pytest
import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from support.motoros2_simulator import MotoRos2Simulator
from support.peer import eventually

from lfd_description.model.builder import build_model
from lfd_description.nodes.executor import BackgroundExecutor
from lfd_description.robots import MOTOMAN, find_robot
from lfd_planner.error_codes import Code
from lfd_planner.execution import ExecutionRules
from lfd_planner.execution.motoros2 import MotoRos2Rules
from lfd_planner.nodes.capabilities.controllers import ControllerClients
from lfd_planner.nodes.task_executor_devices import RosArm, controllers_of
from lfd_planner.nodes.task_executor_motoros2 import MotoRos2Mode
from lfd_planner.timing import Trajectory

ROBOT = find_robot('gp8')
HOME = np.array(ROBOT.poses['home'])


@pytest.fixture
def controller(ros_domain: int) -> Iterator[MotoRos2Simulator]:
    with MotoRos2Simulator(ROBOT.joints, HOME, ros_domain, namespace=ROBOT.name) as simulator:
        yield simulator


@pytest.fixture
def arm(controller: MotoRos2Simulator, ros_domain: int) -> Iterator[RosArm]:
    rclpy.init(domain_id=ros_domain, signal_handler_options=SignalHandlerOptions.NO)
    model = build_model(ROBOT, hardware=MOTOMAN)
    node = Node('executor_arm', cli_args=['--ros-args', '-r', f'joint_states:={model.controller}/joint_states'])
    clients = ControllerClients(controllers_of(model, {}))
    mode = MotoRos2Mode(node, model.controller)
    arm = RosArm(node, model, clients, ExecutionRules(), MotoRos2Rules(), mode)
    errors: list[Exception] = []
    executor = BackgroundExecutor(2, errors.append)
    executor.add_node(node)
    eventually(lambda: arm.joints(), 'where the arm is')
    yield arm
    executor.close(2.0)
    clients.close()
    node.destroy_node()
    rclpy.shutdown()
    assert errors == []


def there_and_back(controller: MotoRos2Simulator, points: int = 250) -> Trajectory:
    """A motion of the first joint by 0.2 rad and back, with more points than a goal may have."""
    times = np.linspace(0.0, 2.0, points + points % 2 + 1)
    q = np.tile(controller.positions, (len(times), 1))
    v = np.zeros_like(q)
    q[:, 0] += 0.1 * (1.0 - np.cos(np.pi * times))
    v[:, 0] = 0.1 * np.pi * np.sin(np.pi * times)
    v[[0, -1]] = 0.0
    return Trajectory(times, q, v)


def test_it_starts_trajectory_mode_and_cuts_long_motions(controller: MotoRos2Simulator, arm: RosArm):
    assert not controller.in_trajectory_mode
    for _ in range(2):
        assert arm.follow(there_and_back(controller), lambda: None) is None
    assert controller.in_trajectory_mode
    assert controller.codes == [0] * len(controller.goals)
    assert max(controller.goals) <= 200
    assert controller.positions == pytest.approx(HOME, abs=1e-6)


def test_what_hinders_the_controller_is_told_before_a_goal_is_sent(controller: MotoRos2Simulator, arm: RosArm):
    controller.e_stopped = True
    failed = arm.follow(there_and_back(controller), lambda: None)
    assert failed is not None
    assert failed.code is Code.CONTROL_FAILED
    assert failed.message.startswith('MotoROS2 cannot move the arm: the emergency stop is pressed')
    assert controller.codes == []
    controller.e_stopped = False
    assert arm.follow(there_and_back(controller), lambda: None) is None


def test_what_stops_a_motion_is_told_in_words_and_the_next_motion_starts_the_mode_again(
    controller: MotoRos2Simulator, arm: RosArm
):
    def hold() -> None:
        eventually(lambda: controller.positions[0] > HOME[0] + 0.02, 'motion')
        controller.alarm = 4321

    holder = threading.Thread(target=hold)
    holder.start()
    failed = arm.follow(there_and_back(controller), lambda: None)
    holder.join()
    assert failed is not None
    assert 'an alarm or error stopped the arm' in failed.message
    controller.alarm = 0
    assert arm.follow(there_and_back(controller), lambda: None) is None


def test_an_arm_that_is_a_little_beside_its_plan_starts_from_where_it_is(controller: MotoRos2Simulator, arm: RosArm):
    """MotoROS2 wants the first point within about 30 pulses (4e-4 rad), and the checks before allow 0.01 rad."""
    planned = there_and_back(controller)
    controller.positions = HOME + np.array([0.004, -0.006, 0.002, 0.0, 0.003, -0.001])
    assert arm.follow(planned, lambda: None) is None
    assert controller.codes == [0] * len(controller.goals)
    assert controller.positions == pytest.approx(HOME, abs=1e-6)


def test_an_arm_that_is_far_from_its_plan_is_not_moved(controller: MotoRos2Simulator, arm: RosArm):
    planned = there_and_back(controller)
    controller.positions = HOME + 0.05
    eventually(lambda: arm.joints()[ROBOT.joints[0]] > HOME[0] + 0.04, 'where the arm is')
    failed = arm.follow(planned, lambda: None)
    assert failed is not None
    assert failed.code is Code.INVALID_MOTION_PLAN
    assert 'plan from where the arm is' in failed.message
    assert controller.codes == []


def test_a_motion_that_does_not_begin_at_rest_is_refused_and_no_crash(controller: MotoRos2Simulator, arm: RosArm):
    planned = there_and_back(controller)
    v = planned.v.copy()
    v[0, 0] = 0.1
    failed = arm.follow(Trajectory(planned.times, planned.q, v), lambda: None)
    assert failed is not None
    assert 'does not begin at rest' in failed.message


def test_a_goal_that_the_controller_finds_elsewhere_is_told_in_words(
    controller: MotoRos2Simulator, arm: RosArm, monkeypatch: pytest.MonkeyPatch
):
    """Somebody moves the arm between the last joint state and the goal: error 204."""
    stale = {**arm.joints()}
    monkeypatch.setattr(arm, 'joints', lambda: stale)
    planned = there_and_back(controller)
    controller.positions = HOME + 0.005
    failed = arm.follow(planned, lambda: None)
    assert failed is not None
    assert 'the goal does not begin where the arm is' in failed.message
    assert controller.codes == [-100204]
