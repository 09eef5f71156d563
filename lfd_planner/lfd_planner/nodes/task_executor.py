"""Executes task solutions over ROS: the arm, the hand, and the planning scene follow a solution segment by segment.

execute_task (action) ──► [plan_task, if there is no solution] ──► checks ──► follow_joint_trajectory, gripper_cmd,
pause_execution, resume_execution, abort_execution (services),                apply_planning_scene, cell_outputs
trajectory_execution_event (topic) ──► smooth stop, or going on

Nothing moves when the node starts. When it is asked to end, it stops the arm first. When it is killed, the controller
ends the goal that it has, which was checked, and gets no other; the hand keeps what it holds.
"""

from __future__ import annotations

import math
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from typing import Any

from lfd_msgs.action import ExecuteTask
from moveit_msgs.msg import MoveItErrorCodes
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import Trigger

from lfd_description.grippers import GripperError, find_gripper
from lfd_description.meshes import MeshError
from lfd_description.model.builder import build_model
from lfd_description.model.findings import ModelError
from lfd_description.model.model import RobotModel
from lfd_description.nodes.lifetime import run_until_signal
from lfd_description.robots import EXTERNAL, HANDS, HARDWARE, MOCK, MOTOMAN, MOTOROS1, RobotError, find_robot
from lfd_description.urdf import UrdfError
from lfd_planner.backends import Failure
from lfd_planner.error_codes import Code
from lfd_planner.execution import (
    Control,
    Devices,
    Execution,
    ExecutionRules,
    Hand,
    Memory,
    Order,
    Outcome,
    State,
    Status,
    WholeGoals,
    from_keyframe,
    remaining,
    renumbered,
    slowed,
)
from lfd_planner.execution.motoros2 import MotoRos2Rules
from lfd_planner.messages import pose_from_message
from lfd_planner.messages.checks import Report
from lfd_planner.messages.solutions import solution_from_message
from lfd_planner.mtdf import MtdfError, Task, dump_task, parse_task
from lfd_planner.pose import Pose
from lfd_planner.robot.planning_robot import planning_robot
from lfd_planner.scene import SceneFault
from lfd_planner.solution import Attachment, Solution

from .capabilities.controllers import ControllerClients, ControllerFault
from .capabilities.execution import STOP
from .task_executor_devices import CONTROLLERS, RosArm, RosSignals, controllers_of
from .task_executor_hand import NoHand, RosHand, ToldFingers, fingers_of
from .task_executor_motoros2 import MotoRos2Mode
from .task_executor_planning import PlanningClient
from .task_executor_scene import RosScene

NAME = 'task_executor'
THREADS = 12
AGREE_WITHIN = 10.0  # [s] that the planning server has to hear where the arm is
LOOK_EVERY = 0.05  # [s]
FEEDBACK_EVERY = 0.04  # [s], unless keyframe, segment or state are new
ENDING = Failure(Code.PREEMPTED, 'The executor was shut down, and stopped the arm.')
STOP_WITHIN = 8.0  # [s] that an execution has to end when the node does
BUSY = 'Another solution is being executed; wait for it, cancel it, or call abort_execution.'


class ParameterError(ValueError):
    """The node cannot start with a parameter it was given; the message says which and why."""


class TaskExecutor(Node):
    """Executes solutions on one robot, one at a time.

    Raises:
        ParameterError: there is no such robot or gripper, or a controller cannot be used.
    """

    def __init__(self) -> None:
        super().__init__(NAME, automatically_declare_parameters_from_overrides=True)
        model, rules = self._model(), self._rules()
        controllers = self._controllers(model)
        are_outputs_needed = self._declared(
            'outputs_needed', True, 'Whether to refuse solutions that switch outputs to which nobody listens.'
        )
        self._robot_model, self._execution_rules = model, rules
        self._ending = threading.Event()
        self._busy = threading.Lock()
        self._control: Control | None = None
        self._memory = Memory()
        self._controller_clients = ControllerClients(controllers, f'{NAME}_controllers')
        self._planning = PlanningClient()
        has_motoros2 = model.hardware == MOTOMAN
        goals = MotoRos2Rules(start_tolerance=rules.start_tolerance) if has_motoros2 else WholeGoals()
        mode = MotoRos2Mode(self, model.controller) if has_motoros2 else None
        self._arm = RosArm(self, model, self._controller_clients, rules, goals, mode)
        hand = self._hand(model, rules)
        self._scene = RosScene(self, planning_robot(model), rules, self._is_unwanted)
        self._devices = Devices(self._arm, hand, self._scene, RosSignals(self, model, are_outputs_needed))
        group = ReentrantCallbackGroup()
        for name, callback in (
            ('pause_execution', self._on_pause),
            ('resume_execution', self._on_resume),
            ('abort_execution', self._on_abort),
        ):
            self.create_service(Trigger, name, callback, callback_group=group)
        self.create_subscription(String, 'trajectory_execution_event', self._on_event, 10, callback_group=group)
        self._action = ActionServer(
            self,
            ExecuteTask,
            'execute_task',
            self._on_goal,
            callback_group=group,
            goal_callback=lambda _: GoalResponse.REJECT if self._ending.is_set() else GoalResponse.ACCEPT,
            cancel_callback=lambda _: CancelResponse.ACCEPT,
        )
        names = ', '.join(spec.name for spec in controllers)
        self.get_logger().info(f"Executing tasks on robot '{model.robot.name}' with {names}.")

    def stop(self) -> None:
        """Bring the arm to rest and end what is under way."""
        self._ending.set()
        control = self._control
        if control is not None:
            control.stop(ENDING)

    def destroy_node(self) -> None:
        """Take everything down."""
        self.stop()
        self._busy.acquire(timeout=STOP_WITHIN)  # the arm stands before its controllers' clients are gone
        self._controller_clients.close()
        self._planning.close()
        self._action.destroy()
        super().destroy_node()

    def _hand(self, model: RobotModel, rules: ExecutionRules) -> Hand:
        if model.gripper is None or model.gripper.joint is None:
            return NoHand()
        fingers = fingers_of(model)
        if fingers is None:
            return RosHand(self._controller_clients, rules)
        return RosHand(self._controller_clients, rules, fingers, ToldFingers(self).tell)

    # Parameters

    def _model(self) -> RobotModel:
        name = self._declared('robot', '', 'The name of the robot to execute with.')
        gripper = self._declared('gripper', '', 'The name of the gripper that it carries; empty: none, or its own.')
        hand = self._declared(
            'hand', '', f'What moves the gripper: {" or ".join(HANDS)}; empty: {EXTERNAL} on real hardware.'
        )
        kinds = (MOCK, *HARDWARE, MOTOROS1)
        hardware = self._declared('hardware', MOCK, f'What moves the arm: {", ".join(kinds)}.')
        if hardware not in kinds:
            raise ParameterError(f"The parameter hardware is '{hardware}'; set it to one of {', '.join(kinds)}.")
        if not name:
            raise ParameterError('The parameter robot is empty; set it to the name of the robot to execute with.')
        try:
            return build_model(
                find_robot(name),
                gripper=find_gripper(gripper) if gripper else None,
                hardware=hardware,
                hand=hand or None,
            )
        except (RobotError, GripperError, UrdfError, ModelError, MeshError) as error:
            raise ParameterError(str(error)) from None

    def _controllers(self, model: RobotModel) -> Any:
        told = {name: parameter.value for name, parameter in self.get_parameters_by_prefix(CONTROLLERS).items()}
        try:
            return controllers_of(model, told)
        except ControllerFault as error:
            raise ParameterError(str(error)) from None

    def _rules(self) -> ExecutionRules:
        usual = ExecutionRules()

        def number(name: str, default: float, description: str) -> float:
            least, most = (0.01, 10.0) if name == 'joint_states_within' else (0.0, 1000.0)
            return float(
                self._declared(name, default, description, FloatingPointRange(from_value=least, to_value=most))
            )

        return ExecutionRules(
            start_tolerance=number(
                'start_tolerance', usual.start_tolerance, 'Between the first point and the arm [rad or m].'
            ),
            grip_tolerance=number(
                'grip_tolerance', usual.grip_tolerance, 'Between fingers and where they should be [rad or m].'
            ),
            grip_squeeze=number(
                'grip_squeeze', usual.grip_squeeze, 'How much further than to an object real fingers close [rad or m].'
            ),
            states_within=number(
                'joint_states_within', usual.states_within, 'Longest time without joint states while moving [s].'
            ),
            duration_scaling=number(
                'duration_scaling', usual.duration_scaling, 'How many times as long a motion may take.'
            ),
            duration_margin=number('duration_margin', usual.duration_margin, 'And how much longer [s].'),
        )

    def _declared(self, name: str, default: Any, description: str, bounds: FloatingPointRange | None = None) -> Any:
        if self.has_parameter(name):  # by an override, before anybody described it
            value = self.get_parameter(name).value
            if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool):
                value = float(value)
            if not isinstance(value, type(default)):
                raise ParameterError(f"The parameter {name} is '{value}'; set it to a {type(default).__name__}.")
            if bounds is not None and not bounds.from_value <= value <= bounds.to_value:
                raise ParameterError(
                    f'The parameter {name} is {value:g}; set it to {bounds.from_value:g} to {bounds.to_value:g}.'
                )
            return value
        descriptor = ParameterDescriptor(description=description, floating_point_range=[bounds] if bounds else [])
        return self.declare_parameter(name, default, descriptor).value

    # Goals

    def _on_goal(self, goal: ServerGoalHandle) -> ExecuteTask.Result:
        if not self._busy.acquire(blocking=False):
            goal.abort()
            return _result(Outcome(Code.CONTROL_FAILED, BUSY, max(goal.request.first_keyframe, 0)))
        control = Control(lambda: bool(goal.is_cancel_requested))
        self._control = control
        self._arm.forget_errors()
        try:
            if self._ending.is_set():
                control.stop(ENDING)
            outcome = self._executed(goal, control)
        except Exception as error:
            self.get_logger().error(f'Execution failed: {error!r}\n{traceback.format_exc()}')
            message = f'Execution failed here: {error!r}; see the log of {NAME}.'
            outcome = Outcome(Code.FAILURE, message, max(goal.request.first_keyframe, 0))
        finally:
            self._control = None
            self._busy.release()
        return self._finished(goal, outcome)

    def _finished(self, goal: ServerGoalHandle, outcome: Outcome) -> ExecuteTask.Result:
        if outcome.code is Code.SUCCESS:
            self.get_logger().info(outcome.message)
            goal.succeed()
        else:
            self.get_logger().warning(f'{outcome.code.name}: {outcome.message}')
            if goal.is_cancel_requested:
                goal.canceled()
            else:
                goal.abort()
        return _result(outcome, self._arm.errors(), self._robot_model.group.joints)

    def _executed(self, goal: ServerGoalHandle, control: Control) -> Outcome:
        first = max(goal.request.first_keyframe, 0)
        tell = _Feedback(goal)
        tell(Status(first, '', 0.0, State.CHECKING))
        try:
            failed = self._memory.settle(self._scene)
            order = failed or self._order(goal.request, control, tell)
        except SceneFault as fault:
            order = Failure(fault.code, str(fault))
        except MtdfError as error:
            order = Failure(Code.FAILURE, f'The task cannot be used: {error}')
        if order is None:
            return Outcome(Code.SUCCESS, f'All {first} keyframes were done before.', first)
        if isinstance(order, Failure):
            return Outcome(order.code, f'Nothing was moved. {order.message}', first)
        execution = Execution(order, self._robot_model, self._devices, control, self._execution_rules, tell)
        try:
            return execution.run()
        finally:
            self._memory.keep(execution.held, execution.pending, self._scene)

    def _order(self, request: ExecuteTask.Goal, control: Control, tell: _Feedback) -> Order | Failure | None:
        """What a goal asks for, planned if it has no solution; None: nothing is left to do.

        Raises:
            SceneFault, MtdfError: a part of the goal is wrong; there is a sentence for it.
        """
        _check(request)
        speed, first = request.speed or 1.0, request.first_keyframe
        task = parse_task(request.task_description) if request.task_description.strip() else None
        origin = _origin(request, task)
        if request.solution.segments:
            return self._given(request, task, origin, speed)
        if task is None:
            return Failure(Code.FAILURE, 'The goal has neither a solution nor a task; send one of them.')
        if first == len(task.keyframes) > 0:
            return None
        try:
            rest = remaining(task, first)
        except ValueError as error:
            return Failure(Code.FAILURE, str(error))
        tell(Status(first, '', 0.0, State.PLANNING))
        if failed := self._disagreement(control):
            return failed
        planned = self._planning.plan(dump_task(rest.task), request.task_origin, lambda: control.stopped)
        if isinstance(planned, Failure):
            return planned
        solution = slowed(renumbered(self._read(planned), rest.offset), speed)
        return Order(solution, len(task.keyframes), rest.task, origin, rest.offset, first, speed, request.dry_run)

    def _disagreement(self, control: Control) -> Failure | None:
        """Why nothing can be planned: the planning server, which may have just come, has the arm elsewhere."""
        until, names = time.monotonic() + AGREE_WITHIN, self._robot_model.group.joints
        while True:
            planned, told = self._scene.current().joints, self._arm.joints()
            off = [
                name
                for name in names
                if name not in told
                or abs(told[name] - planned.get(name, math.inf)) > self._execution_rules.start_tolerance
            ]
            if not off or control.stopped is not None:
                return control.stopped
            if time.monotonic() > until:
                return Failure(
                    Code.INVALID_ROBOT_STATE,
                    f"The planning server does not know where '{off[0]}' is by 'joint_states'; see to it that both "
                    'move_group and the joint state broadcaster run.',
                )
            control.wait(LOOK_EVERY)

    def _given(self, request: ExecuteTask.Goal, task: Task | None, origin: Pose, speed: float) -> Order | Failure:
        whole = self._read(request.solution)
        solution = from_keyframe(whole, request.first_keyframe)
        if solution is None:
            return Failure(Code.FAILURE, f'The solution has nothing from keyframe {request.first_keyframe} on.')
        count = len(task.keyframes) if task is not None else 1 + max(each.keyframe for each in whole.segments)
        first = request.first_keyframe
        return Order(
            slowed(solution, speed),
            count,
            task if first == 0 else None,
            origin,
            first=first,
            speed=speed,
            dry_run=request.dry_run,
        )

    def _read(self, message: Any) -> Solution:
        held = self._scene.current().attached.values()
        in_hand = [Attachment(each.id, each.link, tuple(sorted(each.touch_links))) for each in held]
        return solution_from_message(message, self._robot_model.group.joints, in_hand)

    def _is_unwanted(self) -> bool:
        """Whether whoever waits for the scene need not wait any longer."""
        control = self._control
        return self._ending.is_set() or (control is not None and control.stopped is not None)

    # Those who pause and stop

    def _on_pause(self, _: Trigger.Request, answer: Trigger.Response) -> Trigger.Response:
        return self._asked(answer, Control.pause, 'It comes to rest, and waits for resume_execution.')

    def _on_resume(self, _: Trigger.Request, answer: Trigger.Response) -> Trigger.Response:
        return self._asked(answer, Control.resume, 'It goes on.')

    def _on_abort(self, _: Trigger.Request, answer: Trigger.Response) -> Trigger.Response:
        return self._asked(answer, Control.stop, 'It comes to rest, and ends.')

    def _asked(self, answer: Trigger.Response, do: Any, told: str) -> Trigger.Response:
        control = self._control
        if control is None:
            answer.success, answer.message = False, 'Nothing is being executed.'
            return answer
        do(control)
        answer.success, answer.message = True, told
        return answer

    def _on_event(self, message: String) -> None:
        control = self._control
        if message.data == STOP and control is not None:
            control.stop()


class _Feedback:
    """Sends feedback, not more often than anybody needs it."""

    def __init__(self, goal: ServerGoalHandle) -> None:
        self._goal = goal
        self._last: tuple[int, str, State] | None = None
        self._next = 0.0

    def __call__(self, status: Status) -> None:
        now, key = time.monotonic(), (status.keyframe, status.segment, status.state)
        if now < self._next and key == self._last:
            return
        self._next, self._last = now + FEEDBACK_EVERY, key
        self._goal.publish_feedback(
            ExecuteTask.Feedback(
                keyframe=status.keyframe,
                segment=status.segment,
                progress=status.progress,
                state=str(status.state),
            )
        )


def _check(request: ExecuteTask.Goal) -> None:
    report = Report('Goal')
    if not (request.speed == 0.0 or 0.0 < request.speed <= 1.0):
        report.problem(f'speed is {request.speed:g}; send a number above 0 and at most 1.')
    if request.first_keyframe < 0:
        report.problem(f'first_keyframe is {request.first_keyframe}; send 0, or the keyframe to resume from.')
    report.finish()


def _origin(request: ExecuteTask.Goal, task: Task | None) -> Pose:
    """Of the task's poses in the planning frame; where nobody told one, the task's own hint counts."""
    report = Report('Task origin')
    origin = pose_from_message(request.task_origin, report)
    report.finish()
    return task.origin.pose if origin == Pose() and task is not None and task.origin is not None else origin


def _result(outcome: Outcome, errors: dict[str, float] | None = None, joints: Sequence[str] = ()) -> ExecuteTask.Result:
    source = '' if outcome.code is Code.SUCCESS else NAME
    errors = errors or {}
    return ExecuteTask.Result(
        error_code=MoveItErrorCodes(val=int(outcome.code), message=outcome.message, source=source),
        message=outcome.message,
        next_keyframe=outcome.next_keyframe,
        duration=outcome.duration,
        joint_names=[name for name in joints if name in errors],
        tracking_errors=[errors[name] for name in joints if name in errors],
    )


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM: returns 0 then, or 2 at once if a parameter cannot be used."""
    refusals = (ParameterError, ParameterException)
    return run_until_signal(NAME, TaskExecutor, args, refusals, threads=THREADS, on_stop=TaskExecutor.stop)


if __name__ == '__main__':
    sys.exit(main())
