"""Messages between a twin and the real robot: the same, but for a prefix of the joints' names at the real side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from control_msgs.action import FollowJointTrajectory, GripperCommand
from control_msgs.msg import JointTolerance
from trajectory_msgs.msg import JointTrajectory


@dataclass(frozen=True)
class ActionKind:
    """How the messages of an action are made for the other side.

    failure: puts a sentence into a result, before what the result says itself; None where results have no text.
    """

    type: Any
    to_real: Callable[[Any], Any]
    from_real: Callable[[Any], Any]
    """For feedback; results name no joints."""
    failure: Callable[[Any, str], Any] | None


def trajectory_kind(prefix: str) -> ActionKind:
    """The arm's action."""
    return ActionKind(
        FollowJointTrajectory,
        lambda goal: goal_to_real(goal, prefix),
        lambda feedback: feedback_from_real(feedback, prefix),
        with_failure,
    )


def gripper_kind() -> ActionKind:
    """The gripper's action, which names no joints."""
    return ActionKind(GripperCommand, lambda goal: goal, lambda feedback: feedback, None)


def trajectory_to_real(trajectory: JointTrajectory, prefix: str) -> JointTrajectory:
    """A trajectory with the real side's names, its stamp and points as they are."""
    return JointTrajectory(
        header=trajectory.header,
        joint_names=[f'{prefix}{name}' for name in trajectory.joint_names],
        points=trajectory.points,
    )


def goal_to_real(goal: Any, prefix: str) -> Any:
    """A FollowJointTrajectory goal with the real side's names; joints of several degrees of freedom keep theirs."""
    if not prefix:
        return goal
    return FollowJointTrajectory.Goal(
        trajectory=trajectory_to_real(goal.trajectory, prefix),
        multi_dof_trajectory=goal.multi_dof_trajectory,
        path_tolerance=_tolerances(goal.path_tolerance, prefix),
        component_path_tolerance=goal.component_path_tolerance,
        goal_tolerance=_tolerances(goal.goal_tolerance, prefix),
        component_goal_tolerance=goal.component_goal_tolerance,
        goal_time_tolerance=goal.goal_time_tolerance,
    )


def feedback_from_real(feedback: Any, prefix: str) -> Any:
    """FollowJointTrajectory feedback with the twin's names."""
    feedback.joint_names = [name.removeprefix(prefix) for name in feedback.joint_names]
    return feedback


def controller_state_from_real(state: Any, prefix: str) -> Any:
    """What the real trajectory controller tells about itself, with the twin's names."""
    state.joint_names = [name.removeprefix(prefix) for name in state.joint_names]
    return state


def with_failure(result: Any, why: str) -> Any:
    """A FollowJointTrajectory result of a goal that failed for a reason of the twin's own."""
    if result.error_code == FollowJointTrajectory.Result.SUCCESSFUL:
        result.error_code = FollowJointTrajectory.Result.INVALID_GOAL
    said = f' The real controller said: {result.error_string}' if result.error_string else ''
    result.error_string = f'{why}{said}'
    return result


def _tolerances(tolerances: Sequence[JointTolerance], prefix: str) -> list[JointTolerance]:
    return [
        JointTolerance(
            name=f'{prefix}{each.name}',
            position=each.position,
            velocity=each.velocity,
            acceleration=each.acceleration,
        )
        for each in tolerances
    ]
