"""How far the joints may be from where they should be: on the way, and at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lfd_hardware.trajectory import Array, ErrorCode, TrajectoryRefused

KEEP = 0.0  # in a goal: use the controller's own tolerance
ERASE = -1.0  # in a goal: do not check


@dataclass(frozen=True)
class StateTolerance:
    """Largest errors per joint; zero means that it is not checked."""

    positions: Array  # [rad] or [m]
    velocities: Array  # [rad/s] or [m/s]

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """The same, with infinity for what is not checked."""
        return _bounds(self.positions), _bounds(self.velocities)

    def holds(self, position_error: Array, velocity_error: Array | None) -> bool:
        """Whether all errors are within, told quickly; NaN is not."""
        positions, velocities = self.bounds
        if not (np.abs(position_error) <= positions).all():
            return False
        return velocity_error is None or bool((np.abs(velocity_error) <= velocities).all())


def _bounds(largest: Array) -> Array:
    bounds: Array = np.where(largest > 0.0, largest, np.inf)
    return bounds


@dataclass(frozen=True)
class Tolerances:
    """All tolerances of one motion."""

    path: StateTolerance
    goal: StateTolerance
    goal_time: float = 0.0  # [s] how long after its end the motion may still settle; zero: for ever


@dataclass(frozen=True)
class JointTolerance:
    """What a goal says about one joint: a value above zero counts, KEEP and ERASE are as above."""

    joint: str
    position: float  # [rad] or [m]
    velocity: float  # [rad/s] or [m/s]


def adapt(
    defaults: Tolerances,
    joints: Sequence[str],
    path: Sequence[JointTolerance],
    goal: Sequence[JointTolerance],
    goal_time: float,
) -> Tolerances:
    """The controller's tolerances, changed by what a goal asks for; raise TrajectoryRefused when that is nonsense."""
    return Tolerances(
        path=_adapt_state(defaults.path, joints, path, 'path_tolerance'),
        goal=_adapt_state(defaults.goal, joints, goal, 'goal_tolerance'),
        goal_time=_pick(defaults.goal_time, goal_time, 'goal_time_tolerance'),
    )


def violation(
    joints: Sequence[str], tolerance: StateTolerance, position_error: Array, velocity_error: Array | None
) -> str:
    """The first joint whose error is too large, as part of a sentence; empty when all are within."""
    if tolerance.holds(position_error, velocity_error):
        return ''
    checks = [('position', position_error, tolerance.positions)]
    if velocity_error is not None:
        checks.append(('velocity', velocity_error, tolerance.velocities))
    for what, error, largest in checks:
        bad = np.flatnonzero((largest > 0.0) & ~(np.abs(error) <= largest))  # so that NaN is too large
        if len(bad):
            index = int(bad[0])
            return f"the {what} error of joint '{joints[index]}' is {error[index]:.4f}, not within {largest[index]:.4f}"
    return ''


def _adapt_state(
    default: StateTolerance, joints: Sequence[str], asked: Sequence[JointTolerance], field: str
) -> StateTolerance:
    adapted = replace(default, positions=default.positions.copy(), velocities=default.velocities.copy())
    for tolerance in asked:
        if tolerance.joint not in joints:
            raise TrajectoryRefused(
                ErrorCode.INVALID_GOAL,
                f"{field} names the joint '{tolerance.joint}', which the controller does not have: "
                f'use {", ".join(joints)}.',
            )
        index = list(joints).index(tolerance.joint)
        where = f"{field} of joint '{tolerance.joint}'"
        adapted.positions[index] = _pick(float(default.positions[index]), tolerance.position, where)
        adapted.velocities[index] = _pick(float(default.velocities[index]), tolerance.velocity, where)
    return adapted


def _pick(default: float, asked: float, where: str) -> float:
    if asked == KEEP:
        return default
    if asked == ERASE:
        return 0.0
    if not np.isfinite(asked) or asked < 0.0:
        raise TrajectoryRefused(
            ErrorCode.INVALID_GOAL,
            f"{where} is {asked:g}: use a value above zero, 0 for the controller's own, or -1 for no check.",
        )
    return asked
