"""An arm that nobody hears of, or that does not stop: what its controller is told, how soon, and what people are."""

from __future__ import annotations

import dataclasses
import math
import threading
from collections.abc import Callable, Iterator

import pytest
import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from support.arm_server import ArmServer
from support.execution_devices import Bench
from support.peer import eventually
from support.task_cells import planner

from lfd_description.nodes.executor import BackgroundExecutor
from lfd_planner.error_codes import Code
from lfd_planner.execution import Control, Execution, ExecutionRules, Order, Outcome, WholeGoals
from lfd_planner.nodes.capabilities import controllers
from lfd_planner.nodes.capabilities.controllers import ControllerClients
from lfd_planner.nodes.task_executor_devices import RosArm, controllers_of
from lfd_planner.solution import Solution

ACTION = 'ur5e_controller/follow_joint_trajectory'
TRIES = 5
PATIENT = ExecutionRules(states_within=5.0)


@dataclasses.dataclass
class Rig:
    """An executor's arm before a controller."""

    server: ArmServer
    arm: RosArm
    solution: Solution
    bench: Bench

    def run(self, do: Callable[[Control], None], rules: ExecutionRules | None = None) -> Outcome:
        """Execute, do something while the arm is to move, and say how it ended."""
        control, ended = Control(), list[Outcome]()
        bench = Bench(self.bench.start, self.bench.names)
        devices = dataclasses.replace(bench.devices, arm=self.arm)
        execution = Execution(Order(self.solution, 2), planner().model, devices, control, rules or ExecutionRules())
        thread = threading.Thread(target=lambda: ended.append(execution.run()))
        thread.start()
        eventually(lambda: self.server.is_running.is_set() or ended, 'the arm is to move')
        if not ended:
            do(control)
        thread.join(30.0)
        assert ended
        return ended[0]


@pytest.fixture(params=[False], ids=['plain'])
def rig(request: pytest.FixtureRequest, ros_domain: int, solution: Solution, bench: Bench) -> Iterator[Rig]:
    here = dict(zip(solution.joints, solution.trajectory.q[0].tolist(), strict=True))
    server = ArmServer(ros_domain, ACTION, here, halts=request.param)
    rclpy.init(domain_id=ros_domain, signal_handler_options=SignalHandlerOptions.NO)
    node = Node('executor_arm')
    model = planner().model
    clients = ControllerClients(controllers_of(model, {}))
    arm = RosArm(node, model, clients, ExecutionRules(), WholeGoals())
    errors: list[Exception] = []
    executor = BackgroundExecutor(2, errors.append)
    executor.add_node(node)
    eventually(lambda: arm.joints(), 'where the arm is')
    yield Rig(server, arm, solution, bench)
    server.close()
    executor.close(2.0)
    clients.close()
    node.destroy_node()
    rclpy.shutdown()
    assert errors == []


def test_an_arm_of_which_nobody_hears_is_told_to_stop_within_100_ms(rig: Rig):
    """At the controller, by a steady clock; the best of a few tries, because the machine may be busy."""
    delays: list[float] = []

    def fall_silent(_: Control) -> None:
        rig.server.is_silent = True

    for _ in range(TRIES):
        rig.server.cancelled.clear()
        outcome = rig.run(fall_silent)
        assert outcome.code is Code.UNABLE_TO_AQUIRE_SENSOR_DATA
        assert 'was told to stop' in outcome.message
        assert 'emergency stop' not in outcome.message
        if rig.server.is_silent:  # else this process slept, and stopped the arm before the test had its say
            delays.append(rig.server.cancelled[0] - rig.server.last_state)
        rig.server.is_silent = False
        eventually(lambda: rig.arm.silence() < 0.05, 'joint states again')
    print('told to stop after', delays)
    assert min(delays) < 0.1


def test_a_joint_state_that_is_no_number_is_none(rig: Rig):
    joint = rig.solution.joints[2]

    def lose(_: Control) -> None:
        rig.server.joints[joint] = math.nan

    outcome = rig.run(lose, ExecutionRules(states_within=1.0))
    assert outcome.code is Code.UNABLE_TO_AQUIRE_SENSOR_DATA
    assert math.isfinite(rig.arm.joints()[joint])


def test_a_stop_that_nobody_confirms_is_not_called_done(rig: Rig, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(controllers, 'END_WITHIN', 0.3)
    rig.server.is_deaf = True
    outcome = rig.run(Control.stop, PATIENT)
    assert outcome.code is Code.PREEMPTED
    assert "'ur5e_controller' did not confirm that it stopped: use the emergency stop" in outcome.message


@pytest.mark.parametrize('rig', [True], ids=['with stop_motion'], indirect=True)
def test_an_arm_that_ignores_a_cancel_is_stopped_by_stop_motion(rig: Rig, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(controllers, 'END_WITHIN', 0.3)
    rig.server.is_deaf = True
    outcome = rig.run(Control.stop, PATIENT)
    assert outcome.code is Code.PREEMPTED
    assert rig.server.halted == 1
    assert 'emergency stop' not in outcome.message
