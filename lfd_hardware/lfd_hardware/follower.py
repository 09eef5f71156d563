"""Follow one trajectory, cycle by cycle, without ROS: the heart of joint_trajectory_controller.

The follower's time is counted in cycles. A cycle that the loop missed delays the motion by one period; it never makes
the command jump. Every stop is smooth: along the path, within the joints' accelerations. Not thread-safe: its
controller holds a lock around every call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lfd_hardware.description import JointLimit
from lfd_hardware.limits import POSITION_ROUNDING, braking, check_limits
from lfd_hardware.pace import Brake, Pace
from lfd_hardware.plan import Path, Plan, at_rest, lead_to
from lfd_hardware.spline import JointSample, Spline
from lfd_hardware.tolerances import Tolerances, violation
from lfd_hardware.trajectory import STOPPED, Array, ErrorCode, TrajectoryRefused, Waypoints

TURN = 2.0 * np.pi  # [rad]
LATEST_START = 0.1  # [s] how late a trajectory with a start time may come and still begin a little off its path
START_TOLERANCE = 0.01  # [rad or m] by which a plan's start may differ from the command: arms lag behind it a little


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
    path: Path
    tolerances: Tolerances
    ends_in_motion: bool = False  # the last waypoint has a velocity
    time: float = 0.0  # [s] along the path
    overtime: float = 0.0  # [s] since its end, by the loop's clock
    arrived: bool = False  # the last waypoint was commanded in an earlier cycle


class TrajectoryFollower:
    """Turns waypoints into one command per cycle, from the commanded state on and within the limits."""

    def __init__(self, limits: Sequence[JointLimit], period: float) -> None:
        self.joints = tuple(limit.joint for limit in limits)
        self.limits = tuple(limits)
        self.period = period  # [s]
        self._lower = np.array([limit.lower for limit in limits])
        self._upper = np.array([limit.upper for limit in limits])
        self._reach = np.array([limit.velocity for limit in limits])  # [rad/s] or [m/s]
        self._braking = np.array([braking(limit) for limit in limits])  # [rad/s2] or [m/s2]
        self._turns = np.array([limit.continuous for limit in limits])
        self._any_turns = bool(self._turns.any())
        self._scaling = 1.0  # the pace that is asked for
        self.hold(np.zeros(len(limits)))

    @property
    def commanded(self) -> JointSample:
        """The last command."""
        return self._commanded

    @property
    def moving(self) -> bool:
        """Whether a trajectory is being followed; a stop is none."""
        return self._run is not None and not self._stopping

    @property
    def at_rest(self) -> bool:
        """Whether the command stands still, and will until a trajectory is started."""
        return self._run is None and self._brake is None

    @property
    def pace(self) -> float:
        """How fast the trajectory is being followed: 1 as planned, 0 at rest."""
        return 0.0 if self._run is None else self._pace.value

    @property
    def scaling(self) -> float:
        """The pace that is asked for."""
        return self._scaling

    def hold(self, positions: Array) -> None:
        """Command these positions [rad or m] from now on, at once."""
        self._run: _Run | None = None
        self._brake: Brake | None = None
        self._stopping = False
        self._commanded = at_rest(np.array(positions, dtype=float))
        self._moved = np.zeros(len(positions))  # [rad or m] in the last cycle
        self._pace = Pace(self._braking, self.period)

    def stop(self) -> None:
        """Give up any motion and come to rest, along the path where that is possible."""
        if self._run is not None and self._run.time < self._run.path.duration:
            self._stopping = True
        elif self._run is not None:
            self._finish()

    def scale(self, factor: float) -> None:
        """Follow at this part (0 to 1) of the planned speed, from now on and until told otherwise; 0 is a pause."""
        self._scaling = factor

    def prepare(self, waypoints: Waypoints) -> Plan:
        """The slow part of a start, without the present state: check the motion between the waypoints."""
        if waypoints.held.any():
            stand = np.clip(self._commanded.positions, self._lower, self._upper)
            waypoints = replace(waypoints, positions=np.where(waypoints.held, stand, waypoints.positions))
        spline = Spline.through(waypoints)
        check_limits(spline, self.limits)
        return Plan(waypoints, spline)

    def start(self, plan: Plan, delay: float, tolerances: Tolerances) -> None:
        """Follow a plan instead of what is being followed, or raise TrajectoryRefused and go on as before.

        ``delay`` [s] is how far in the future the plan's time zero lies; it is negative when it lies in the past, and
        then the part that is over is left out. The way to the first point that is still to come starts at the
        commanded state, and joints that turn without end begin in the turn in which they are.
        """
        plan = plan.shifted(self._offset(plan, delay))
        times = plan.waypoints.times + delay
        coming = min(int(np.searchsorted(times, self.period / 2.0)), len(times) - 1)
        origin = self._origin(plan, delay, coming)
        lead = lead_to(origin, plan.waypoints.row(coming), max(float(times[coming]), self.period))
        check_limits(lead, self._limits_from_here(), starts_at=-delay)
        ends_in_motion = bool(np.abs(plan.waypoints.velocities[-1]).max() > STOPPED)
        self._run = _Run(Path(lead, plan.spline, coming), tolerances, ends_in_motion)
        self._brake, self._stopping = None, False
        self._pace = Pace(self._braking, self.period)
        if not self._moved.any():  # at rest, any pace is as good
            self._pace.value = self._scaling

    def at(self, ahead: float) -> JointSample | None:
        """What will be commanded some time from now [s], or was before; None before the start of the motion.

        While nothing is followed, that is the last command.
        """
        run = self._run
        if run is None or self._stopping:
            return self._commanded
        time = run.time + ahead * (self._pace.value if ahead < 0.0 else self._scaling)
        return run.path.at(time) if time >= 0.0 else None

    def update(self, positions: Array, velocities: Array | None) -> Progress:
        """Advance by one period; the arguments are the actual state [rad or m, rad/s or m/s]."""
        run, before = self._run, self._commanded.positions
        if run is not None:
            self._follow(run)
        elif self._brake is not None:
            self._commanded = self._brake.advance()
            self._brake = None if self._brake.done else self._brake
        self._moved = self._commanded.positions - before
        position_error = self._difference(self._commanded.positions, positions)
        velocity_error = None if velocities is None else self._commanded.velocities - velocities
        outcome = None if run is None or self._stopping else self._judge(run, position_error, velocity_error)
        if self._stopping and run is not None and (self._pace.value == 0.0 or run.time >= run.path.duration):
            self._finish()
        elif outcome is not None:
            self.stop()
        return Progress(self._commanded, position_error, velocity_error, outcome)

    def _follow(self, run: _Run) -> None:
        """Command the path's next point; after a path that ends in motion, what leads to rest."""
        wanted = 0.0 if self._stopping else self._scaling
        pace = self._pace
        if wanted == pace.value and wanted in (0.0, 1.0):
            run.time += wanted * self.period
        elif self._brake is None:
            run.time = pace.advance(run.path, run.time, self._moved, wanted)
        if run.ends_in_motion and run.time > run.path.duration:
            self._brake_straight_on()
            return
        point = run.path.at(run.time)
        if pace.value != 1.0:
            speed = pace.value
            point = JointSample(point.positions, point.velocities * speed, point.accelerations * speed**2)
        self._commanded = point

    def _brake_straight_on(self) -> None:
        if self._brake is None:
            limits = self._limits_from_here()
            lower, upper = np.array([each.lower for each in limits]), np.array([each.upper for each in limits])
            now = self._commanded.positions
            self._brake = Brake(now, self._moved, self._braking, lower, upper, self.period)
        if not self._brake.done:
            self._commanded = self._brake.advance()

    def _finish(self) -> None:
        """No trajectory any more: hold, or go on braking."""
        self._run, self._stopping = None, False
        if self._brake is not None and self._brake.done:
            self._brake = None
        if self._brake is None:
            self._commanded = at_rest(self._commanded.positions)

    def _judge(self, run: _Run, position_error: Array, velocity_error: Array | None) -> Outcome | None:
        if run.time < run.path.duration:
            bad = violation(self.joints, run.tolerances.path, position_error, velocity_error)
            return Outcome(ErrorCode.PATH_TOLERANCE_VIOLATED, f'Left the path: {bad}.') if bad else None
        if not run.arrived:  # the last command reaches the hardware after this cycle: judge it from the next one on
            run.arrived = True
            return None
        run.overtime += self.period
        bad = violation(self.joints, run.tolerances.goal, position_error, velocity_error)
        if not bad:
            return Outcome(ErrorCode.SUCCESSFUL, 'Goal reached.')
        if run.tolerances.goal_time > 0.0 and run.overtime > run.tolerances.goal_time:
            message = f'Did not settle within {run.tolerances.goal_time:g} s: {bad}.'
            return Outcome(ErrorCode.GOAL_TOLERANCE_VIOLATED, message)
        return None

    def _offset(self, plan: Plan, delay: float) -> Array:
        """What brings a plan to the turn in which the joints are, and the joints that it does not name to rest."""
        now = self._commanded
        offset = self._whole_turns(now.positions - plan.at(-delay).positions)
        if not plan.held.any():
            return offset
        rest = now.positions + now.velocities * np.abs(now.velocities) / (2.0 * self._braking)
        limits = self._limits_from_here()
        rest = np.clip(rest, [limit.lower for limit in limits], [limit.upper for limit in limits])
        held: Array = np.where(plan.held, rest - plan.waypoints.positions[0], offset)
        return held

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
            held=plan.held,
        )

    def _check_start(self, plan: Plan, delay: float) -> None:
        """Refuse a plan that is under way already, but somewhere else than the commanded state."""
        there = plan.at(-delay).positions
        off = np.abs(self._difference(there, self._commanded.positions))
        reach = self._reach * (self.period + min(max(0.0, -delay), LATEST_START)) + POSITION_ROUNDING
        allowed = np.where(plan.held, np.inf, np.maximum(reach, START_TOLERANCE))
        if not np.all(off <= allowed):  # so that NaN is refused
            worst = int(np.argmax(off / allowed))
            raise TrajectoryRefused(
                ErrorCode.INVALID_GOAL,
                f"The trajectory begins with joint '{self.joints[worst]}' at {there[worst]:.4f}, but the joint is at "
                f'{self._commanded.positions[worst]:.4f}: plan from the present state.',
            )

    def _limits_from_here(self) -> list[JointLimit]:
        """The limits, wide enough for a joint that stands outside of them already: it may only go back."""
        return [
            limit if not (at < limit.lower or at > limit.upper) else _including(limit, at)
            for limit, at in zip(self.limits, self._commanded.positions.tolist(), strict=True)
        ]

    def _difference(self, desired: Array, actual: Array) -> Array:
        error = desired - actual
        return error - self._whole_turns(error) if self._any_turns else error

    def _whole_turns(self, difference: Array) -> Array:
        """The part of a difference that joints which turn without end do not feel [rad]; zero for the others."""
        turns: Array = np.where(self._turns, TURN * np.round(difference / TURN), 0.0)
        return turns


def _including(limit: JointLimit, position: float) -> JointLimit:
    return replace(limit, lower=min(limit.lower, position), upper=max(limit.upper, position))
