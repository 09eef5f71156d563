"""Follow one trajectory, cycle by cycle, without ROS: the heart of joint_trajectory_controller.

The follower's time is counted in cycles. A cycle that the loop missed delays the motion by one period; it never makes
the command jump. Not thread-safe: its controller holds a lock around every call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lfd_hardware.description import JointLimit
from lfd_hardware.limits import POSITION_ROUNDING, check_limits
from lfd_hardware.spline import JointSample, Spline
from lfd_hardware.tolerances import Tolerances, violation
from lfd_hardware.trajectory import Array, ErrorCode, TrajectoryRefused, Waypoints

TURN = 2.0 * np.pi  # [rad]
LATEST_START = 0.1  # [s] how late a trajectory with a start time may come and still begin a little off its path


@dataclass(frozen=True)
class Plan:
    """Waypoints whose own motion was found to be within the limits."""

    waypoints: Waypoints
    spline: Spline

    def at(self, time: float) -> JointSample:
        """Where the plan is at a time [s]; before its first point it is there."""
        if len(self.waypoints.times) == 1:
            return _at_rest(self.waypoints.positions[0])
        return self.spline.sample(max(time, float(self.waypoints.times[0])))

    def shifted(self, offset: Array) -> Plan:
        """The same motion elsewhere; ``offset`` [rad or m] has a value for every joint."""
        return Plan(
            replace(self.waypoints, positions=self.waypoints.positions + offset),
            replace(self.spline, control=self.spline.control + offset),
        )


@dataclass(frozen=True)
class Outcome:
    """How a motion ended."""

    code: ErrorCode
    message: str


@dataclass(frozen=True)
class Progress:
    """One cycle's result."""

    desired: JointSample  # what is commanded in this cycle
    position_error: Array  # [rad] or [m] desired minus actual
    velocity_error: Array | None  # [rad/s] or [m/s]; None when the hardware has no velocities
    outcome: Outcome | None  # set in the cycle in which a motion ends


@dataclass
class _Run:
    spline: Spline
    tolerances: Tolerances
    elapsed: float = 0.0  # [s]
    arrived: bool = False  # the last waypoint was commanded in an earlier cycle


class TrajectoryFollower:
    """Turns waypoints into one command per cycle, from the commanded state on and within the limits."""

    def __init__(self, limits: Sequence[JointLimit], period: float) -> None:
        self.joints = tuple(limit.joint for limit in limits)
        self.limits = tuple(limits)
        self.period = period  # [s]
        self._reach = np.array([limit.velocity for limit in limits])  # [rad/s] or [m/s]
        self._turns = np.array([limit.continuous for limit in limits])
        self._run: _Run | None = None
        self._commanded = _at_rest(np.zeros(len(limits)))

    @property
    def commanded(self) -> JointSample:
        """The last command."""
        return self._commanded

    @property
    def moving(self) -> bool:
        """Whether a trajectory is being followed."""
        return self._run is not None

    def hold(self, positions: Array) -> None:
        """Command these positions [rad or m] from now on."""
        self._run = None
        self._commanded = _at_rest(positions)

    def stop(self) -> None:
        """Give up any motion and hold the last command. Every stop is this one, and it is at once: no braking."""
        self.hold(self._commanded.positions)

    def prepare(self, waypoints: Waypoints) -> Plan:
        """The slow part of a start, without the present state: check the motion between the waypoints."""
        spline = Spline.through(waypoints)
        check_limits(spline, self.limits)
        return Plan(waypoints, spline)

    def start(self, plan: Plan, delay: float, tolerances: Tolerances) -> None:
        """Follow a plan instead of what is being followed, or raise TrajectoryRefused and go on as before.

        ``delay`` [s] is how far in the future the plan's time zero lies; it is negative when it lies in the past, and
        then the part that is over is left out. The way to the first point that is still to come starts at the
        commanded state, and joints that turn without end begin in the turn in which they are.
        """
        plan = plan.shifted(self._whole_turns(self._commanded.positions - plan.at(-delay).positions))
        times = plan.waypoints.times + delay
        coming = min(int(np.searchsorted(times, self.period / 2.0)), len(times) - 1)
        origin = self._origin(plan, delay, coming)
        lead = _lead(origin, plan.waypoints.row(coming), max(float(times[coming]), self.period))
        check_limits(lead, self.limits, starts_at=-delay)
        self._run = _Run(lead.followed_by(plan.spline, coming), tolerances)

    def update(self, positions: Array, velocities: Array | None) -> Progress:
        """Advance by one period; the arguments are the actual state [rad or m, rad/s or m/s]."""
        run = self._run
        if run is not None:
            run.elapsed += self.period
            self._commanded = run.spline.sample(run.elapsed)
        position_error = self._difference(self._commanded.positions, positions)
        velocity_error = None if velocities is None else self._commanded.velocities - velocities
        outcome = None if run is None else self._judge(run, position_error, velocity_error)
        if outcome is not None:
            self.stop()
        return Progress(self._commanded, position_error, velocity_error, outcome)

    def _judge(self, run: _Run, position_error: Array, velocity_error: Array | None) -> Outcome | None:
        overtime = run.elapsed - run.spline.duration
        if overtime < 0.0:
            bad = violation(self.joints, run.tolerances.path, position_error, velocity_error)
            return Outcome(ErrorCode.PATH_TOLERANCE_VIOLATED, f'Left the path: {bad}.') if bad else None
        if not run.arrived:  # the last command reaches the hardware after this cycle: judge it from the next one on
            run.arrived = True
            return None
        bad = violation(self.joints, run.tolerances.goal, position_error, velocity_error)
        if not bad:
            return Outcome(ErrorCode.SUCCESSFUL, 'Goal reached.')
        if run.tolerances.goal_time > 0.0 and overtime > run.tolerances.goal_time:
            message = f'Did not settle within {run.tolerances.goal_time:g} s: {bad}.'
            return Outcome(ErrorCode.GOAL_TOLERANCE_VIOLATED, message)
        return None

    def _origin(self, plan: Plan, delay: float, coming: int) -> Waypoints:
        """The commanded state as the waypoint before ``coming``.

        When the plan is under way already (its usual first point is the present state at time zero), the segment goes
        on as planned: with the plan's acceleration, and linear, cubic or quintic as planned.
        """
        now = self._commanded
        accelerations, has_velocity, has_acceleration = now.accelerations, True, True
        if coming > 0:
            self._check_start(plan, delay)
            accelerations = plan.at(-delay).accelerations
            has_velocity = bool(plan.waypoints.has_velocity[coming - 1])
            has_acceleration = bool(plan.waypoints.has_acceleration[coming - 1])
        return Waypoints(
            times=np.zeros(1),
            positions=now.positions[None],
            velocities=now.velocities[None],
            accelerations=accelerations[None],
            has_velocity=np.array([has_velocity]),
            has_acceleration=np.array([has_acceleration]),
        )

    def _check_start(self, plan: Plan, delay: float) -> None:
        """Refuse a plan that is under way already, but somewhere else than the commanded state."""
        there = plan.at(-delay).positions
        off = np.abs(self._difference(there, self._commanded.positions))
        allowed = self._reach * (self.period + min(max(0.0, -delay), LATEST_START)) + POSITION_ROUNDING
        if not np.all(off <= allowed):  # so that NaN is refused
            worst = int(np.argmax(off / allowed))
            raise TrajectoryRefused(
                ErrorCode.INVALID_GOAL,
                f"The trajectory begins with joint '{self.joints[worst]}' at {there[worst]:.4f}, but the joint is at "
                f'{self._commanded.positions[worst]:.4f}: plan from the present state.',
            )

    def _difference(self, desired: Array, actual: Array) -> Array:
        error = desired - actual
        return error - self._whole_turns(error)

    def _whole_turns(self, difference: Array) -> Array:
        """The part of a difference that joints which turn without end do not feel [rad]; zero for the others."""
        turns: Array = np.where(self._turns, TURN * np.round(difference / TURN), 0.0)
        return turns


def _at_rest(positions: Array) -> JointSample:
    return JointSample(positions, np.zeros(len(positions)), np.zeros(len(positions)))


def _lead(origin: Waypoints, target: Waypoints, time: float) -> Spline:
    """The segment from one waypoint to another, ``time`` seconds long."""
    return Spline.through(
        Waypoints(
            times=np.array([0.0, time]),
            positions=np.vstack((origin.positions, target.positions)),
            velocities=np.vstack((origin.velocities, target.velocities)),
            accelerations=np.vstack((origin.accelerations, target.accelerations)),
            has_velocity=np.concatenate((origin.has_velocity, target.has_velocity)),
            has_acceleration=np.concatenate((origin.has_acceleration, target.has_acceleration)),
        )
    )
