"""The parameters of joint_trajectory_controller, by their official names, checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lfd_hardware.controllers.controller import Controller, ControllerError
from lfd_hardware.description import JointLimit
from lfd_hardware.tolerances import StateTolerance, Tolerances

COMMAND_INTERFACES = ('position', 'velocity', 'acceleration')
STATE_INTERFACES = ('position', 'velocity', 'acceleration')


@dataclass(frozen=True)
class TrajectoryParameters:
    """What a trajectory controller was told."""

    joints: tuple[str, ...]
    command_kinds: tuple[str, ...]
    state_kinds: tuple[str, ...]
    scaling_interface: str  # the state interface of the hardware's own speed, from 0 to 1; empty: it has none
    limits: tuple[JointLimit, ...]
    tolerances: Tolerances
    allow_final_velocity: bool
    allow_partial: bool
    feedback_every: int  # [cycles]
    state_every: int  # [cycles]


def read_parameters(controller: Controller) -> TrajectoryParameters:
    """Read them all, or raise ControllerError naming the first that is wrong."""
    joints = tuple(controller.parameter('joints', [], 'Joints to control.'))
    if not joints or len(set(joints)) != len(joints):
        raise ControllerError(f"'joints' of '{controller.name}' is {list(joints)}: name at least one joint, each once.")
    return TrajectoryParameters(
        joints=joints,
        command_kinds=_kinds(controller, 'command_interfaces', COMMAND_INTERFACES),
        state_kinds=_kinds(controller, 'state_interfaces', STATE_INTERFACES),
        scaling_interface=controller.parameter(
            'speed_scaling.state_interface',
            '',
            "State interface of the hardware's speed (0 to 1), with which the trajectory keeps pace; empty: none.",
        ),
        limits=tuple(_limit(controller, joint) for joint in joints),
        tolerances=_tolerances(controller, joints),
        allow_final_velocity=controller.parameter(
            'allow_nonzero_velocity_at_trajectory_end', False, 'Accept trajectories that do not end at rest.'
        ),
        allow_partial=controller.parameter(
            'allow_partial_joints_goal', False, 'Accept trajectories that leave joints out; those stay put.'
        ),
        feedback_every=read_rate(controller, 'action_monitor_rate', 'Rate of the action feedback [Hz].'),
        state_every=read_rate(controller, 'state_publish_rate', 'Rate of ~/controller_state [Hz].'),
    )


def read_number(controller: Controller, name: str, default: float, description: str) -> float:
    """A parameter that is zero or more."""
    value = float(controller.parameter(name, default, description))
    if not np.isfinite(value) or value < 0.0:
        raise ControllerError(f"'{name}' of '{controller.name}' is {value:g}: give zero or more.")
    return value


def read_rate(controller: Controller, name: str, description: str, default: float = 20.0) -> int:
    """A rate [Hz] as cycles from one message to the next."""
    rate = float(controller.parameter(name, default, description))
    if not rate > 0.0:
        raise ControllerError(f"'{name}' of '{controller.name}' is {rate:g}: give a rate above zero.")
    return max(1, round(1.0 / (rate * controller.period)))


def known_limit(controller: Controller, joint: str, parameter: str) -> JointLimit:
    """The limit of a joint of the hardware."""
    limit = controller.hardware.limits.get(joint)
    if limit is None:
        known = ', '.join(controller.hardware.limits)
        raise ControllerError(
            f"'{parameter}' of '{controller.name}' names '{joint}': use joints of the hardware ({known})."
        )
    return limit


def _limit(controller: Controller, joint: str) -> JointLimit:
    """The hardware's limit, with the acceleration that the parameters name as the official joint_limits do."""
    limit = known_limit(controller, joint, 'joints')
    acceleration = read_number(
        controller,
        f'joint_limits.{joint}.max_acceleration',
        0.0,
        'Largest acceleration of a stop [rad/s^2 or m/s^2]. Zero: full speed within 0.4 s.',
    )
    return replace(limit, acceleration=min(limit.acceleration, acceleration)) if acceleration > 0.0 else limit


def _kinds(controller: Controller, name: str, known: Sequence[str]) -> tuple[str, ...]:
    kinds = tuple(controller.parameter(name, [], f'{name} of every joint: position, and further ones.'))
    if 'position' not in kinds or not set(kinds) <= set(known):
        raise ControllerError(
            f"'{name}' of '{controller.name}' is {list(kinds)}: it must hold position and may hold "
            f'{" and ".join(known[1:])} (controllers without position need the official ros2_control).'
        )
    return kinds


def _tolerances(controller: Controller, joints: Sequence[str]) -> Tolerances:
    def tolerance(name: str, default: float, description: str) -> float:
        return read_number(controller, f'constraints.{name}', default, f'{description} Zero: not checked.')

    stopped = tolerance('stopped_velocity_tolerance', 0.01, 'Largest velocity at the end.')
    path = [tolerance(f'{joint}.trajectory', 0.0, 'Largest error.') for joint in joints]
    goal = [tolerance(f'{joint}.goal', 0.0, 'Largest error at the end.') for joint in joints]
    return Tolerances(
        path=StateTolerance(np.array(path), np.zeros(len(joints))),
        goal=StateTolerance(np.array(goal), np.full(len(joints), stopped)),
        goal_time=tolerance('goal_time', 0.0, 'Time to settle after the end [s].'),
    )
