"""How MotoROS2 wants a motion: the rules of its follow_joint_trajectory, and its error codes in words.

A goal has 2 to 200 points with positions and velocities for every joint of the controller, begins where the arm stands
at time zero, has times that increase by whole milliseconds, and ends at rest. So a long motion becomes several goals
that are sent one after the other:

- It is cut where the arm is at rest anyway, at as few of these places as there must be. Nothing about it changes.
- A stretch from rest to rest that has more points than a goal may have is thinned: points are left out where the cubic
  between the others, which is what the controller plays, stays within a tolerance of the motion.
- If that is not enough, the arm has to stop on the way, because there is no goal that ends in motion: chained goals
  never blend into one another. It stops at the slowest place around the middle, on the same path, by going along it
  more and more slowly and then faster again, without accelerating more than the motion does anyway (within 5 %). Far
  from there, the motion keeps its speed.

Between two goals the arm stands for as long as the result and the next goal take to travel. A cell that cannot have
that may use MotoROS2's queue of points (`start_point_queue_mode`) instead, which these rules are not about.

Nothing here imports ROS. Positions are in rad (or m), velocities in rad/s (or m/s), times in s.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lfd_planner.timing import Trajectory
from lfd_planner.timing.trajectory import AT_REST

from .rules import GoalRefused

Array = npt.NDArray[np.float64]

MOST_POINTS = 200
SERVICE_READY = 1
"""The result code of `start_traj_mode` and `reset_error` when all is well."""

_MILLISECOND = 0.001  # [s]
_PATIENCE = 1.05  # a stop on the way accelerates up to this much of what the motion does
_SWIFTER = 1.02  # thinned motions may be faster between points than the motion by this much
_MAKE_UP = 0.5  # [s] within which an arm that begins beside its path is on it
_SPACING = 0.02  # [s] between two points of a motion that stops on the way, at most
_PLACES = np.linspace(0.0, 0.999, 5)  # between two points, where a stop on the way is checked


@dataclass(frozen=True)
class MotoRos2Rules:
    """Makes goals of motions; it is a GoalRules of execution, too."""

    most_points: int = MOST_POINTS
    tolerance: float = 0.001
    """How far a thinned motion may be from the one that was planned [rad or m]."""
    start_tolerance: float = 0.01
    """How far the arm may be from the planned start [rad or m]; goals begin where it is."""
    begins_at_rest = True

    def goals(self, trajectory: Trajectory) -> tuple[Trajectory, ...]:
        """A motion, which begins and ends at rest, as motions that MotoROS2 takes; none if it does not take any time.

        Raises:
            GoalRefused: it does not begin and end at rest.
        """
        pieces = (piece for stretch in _stretches(trajectory) for piece in self._piece(stretch))
        return tuple(_packed(pieces, self.most_points))

    def starting_at(self, goal: Trajectory, joints: Sequence[str], current: Mapping[str, float]) -> Trajectory:
        """The same goal from where the arm stands [rad or m], which is what the controller compares it with.

        What the arm is off its planned begin is made up for on the way, so that it does not start with a jerk.

        Raises:
            GoalRefused: a joint is unknown, or farther from the planned start than the tolerance.
        """
        if lost := [joint for joint in joints if not np.isfinite(current.get(joint, np.nan))]:
            raise GoalRefused(
                f"Nobody knows where the joint '{lost[0]}' is, but MotoROS2 wants all joints in every goal: wait for "
                'its joint state.'
            )
        here = np.array([current[joint] for joint in joints], dtype=np.float64)
        off = here - goal.q[0]
        worst = int(np.argmax(np.abs(off)))
        if not abs(off[worst]) <= self.start_tolerance:
            raise GoalRefused(
                f"Joint '{joints[worst]}' is at {here[worst]:.4f}, but the goal begins at "
                f'{goal.q[0, worst]:.4f}: plan from where the arm is.'
            )
        span = min(goal.duration, _MAKE_UP)
        u = np.minimum(goal.times / span, 1.0)[:, np.newaxis]
        left, slope = 1.0 - u * u * (3.0 - 2.0 * u), -6.0 * u * (1.0 - u) / span
        # A joint that goes at its limit anyway must not be told to go faster: the controller refuses such a goal.
        fastest = np.maximum(np.abs(goal.v).max(axis=0), np.abs(slope * off).max(axis=0))
        return Trajectory(goal.times, goal.q + left * off, np.clip(goal.v + slope * off, -fastest, fastest))

    def _piece(self, stretch: Trajectory) -> Iterator[Trajectory]:
        """A stretch from rest to rest as pieces that are short enough, of which there is one if possible."""
        piece = _on_milliseconds(stretch)
        if len(piece.times) <= self.most_points:
            yield piece
            return
        fewest = thinned(piece, self.tolerance)
        if len(fewest.times) <= self.most_points:
            yield self._gently_thinned(piece, fewest)
            return
        for half in stopped_on_the_way(piece):
            yield from self._piece(half)

    def _gently_thinned(self, piece: Trajectory, fewest: Trajectory) -> Trajectory:
        """Thinned by less than what is allowed if that is enough."""
        for part in (1 / 64, 1 / 16, 1 / 4):
            thin = thinned(piece, self.tolerance * part)
            if len(thin.times) <= self.most_points:
                return thin
        return fewest


def thinned(motion: Trajectory, tolerance: float) -> Trajectory:
    """Points left out as long as the cubics between the others stay within a tolerance [rad or m] of the motion.

    Between its points it is hardly faster than the motion is anywhere (2 %).
    """
    middles = (motion.times[:-1] + motion.times[1:]) / 2.0
    times = np.empty(2 * len(motion.times) - 1)
    times[::2], times[1::2] = motion.times, middles
    wanted = motion.sample(times)
    fastest = _SWIFTER * np.abs(wanted.v).max(axis=0) + AT_REST

    def fits(first: int, last: int) -> bool:
        between = slice(2 * first, 2 * last + 1)
        q, v = _cubic(motion, first, last, times[between])
        near = np.abs(q - wanted.q[between]).max() <= tolerance
        return bool(near and (np.abs(v) <= fastest).all())

    kept, end = [0], len(motion.times) - 1
    while kept[-1] < end:
        kept.append(_farthest(kept[-1], end, fits))
    return Trajectory(motion.times[kept], motion.q[kept], motion.v[kept])


def stopped_on_the_way(motion: Trajectory) -> tuple[Trajectory, Trajectory]:
    """Two motions from rest to rest, which together go the way of one, and stop at its slowest place in the middle."""
    motion = _dense(motion)
    count = len(motion.times)
    middle = np.arange(count // 3, count - count // 3)
    fastest = np.abs(motion.v).max(axis=0)
    pace = (np.abs(motion.v[middle]) / np.maximum(fastest, AT_REST)).max(axis=1)
    cut = int(middle[np.argmin(pace)])
    strongest = np.abs(motion.a).max(axis=0)
    before = motion.part(0, cut)
    after = motion.part(cut, count - 1)
    return _braked(before, strongest), _reversed(_braked(_reversed(after), strongest))


# Pieces ---------------------------------------------------------------------------------------------------------------


def _stretches(motion: Trajectory) -> Iterator[Trajectory]:
    """From each rest to the next; a stretch has no rest inside."""
    resting = np.abs(motion.v).max(axis=1, initial=0.0) <= AT_REST
    for index, word in ((0, 'begin'), (-1, 'end')):
        if not resting[index]:
            raise GoalRefused(
                f'The motion does not {word} at rest, but goals of MotoROS2 do: plan it from rest to rest.'
            )
    for first, last in itertools.pairwise(np.flatnonzero(resting).tolist()):
        yield motion.part(first, last)


def _packed(pieces: Iterator[Trajectory], most: int) -> Iterator[Trajectory]:
    """Neighbours joined as long as they are short enough together."""
    waiting: list[Trajectory] = []
    points = 1
    for piece in pieces:
        if waiting and points + len(piece.times) - 1 > most:
            yield Trajectory.joined(waiting)
            waiting, points = [], 1
        waiting.append(piece)
        points += len(piece.times) - 1
    if waiting:
        yield Trajectory.joined(waiting)


def _on_milliseconds(stretch: Trajectory) -> Trajectory:
    """The same stretch with points at whole milliseconds, because the controller knows no others; at rest at its ends.

    It takes less than a millisecond longer.
    """
    whole = max(1.0, np.ceil(stretch.duration / _MILLISECOND - 1e-6))  # [ms]
    slower = whole * _MILLISECOND / stretch.duration
    times = np.unique(np.round(np.concatenate([stretch.times * slower / _MILLISECOND, [whole]]))) * _MILLISECOND
    sample = stretch.sample(times / slower)
    q, v = sample.q.copy(), sample.v / slower
    q[0], q[-1], v[0], v[-1] = stretch.q[0], stretch.q[-1], 0.0, 0.0
    return Trajectory(times, q, v)


def _reversed(motion: Trajectory) -> Trajectory:
    return Trajectory((motion.duration - motion.times)[::-1], motion.q[::-1], -motion.v[::-1])


def _cubic(motion: Trajectory, first: int, last: int, times: Array) -> tuple[Array, Array]:
    """Positions and velocities at times [s] on the one cubic from a point of a motion to another."""
    span = motion.times[last] - motion.times[first]
    u = ((times - motion.times[first]) / span)[:, np.newaxis]
    way = motion.q[last] - motion.q[first]
    v0, v1 = motion.v[first] * span, motion.v[last] * span
    square, cube = 3.0 * way - 2.0 * v0 - v1, v0 + v1 - 2.0 * way
    q = motion.q[first] + u * (v0 + u * (square + u * cube))
    return q, (v0 + u * (2.0 * square + 3.0 * u * cube)) / span


def _dense(motion: Trajectory) -> Trajectory:
    """The same motion with points that are close enough to one another to be played at another pace."""
    counts = np.ceil(np.diff(motion.times) / _SPACING).astype(int)
    if counts.max() <= 1:
        return motion
    edges = zip(motion.times, motion.times[1:], counts, strict=False)
    times = np.concatenate([*(np.linspace(a, b, n, endpoint=False) for a, b, n in edges), motion.times[-1:]])
    sample = motion.sample(times)
    return Trajectory(times, sample.q, sample.v)


def _farthest(first: int, end: int, fits: Callable[[int, int], bool]) -> int:
    """The farthest point that may follow a point: tried in leaps, then halved; the next one always may."""
    good, leap = first + 1, 2
    while good < end and fits(first, min(first + leap, end)):
        good, leap = min(first + leap, end), 2 * leap
    bad = min(first + leap, end + 1)
    while bad - good > 1:
        middle = (good + bad) // 2
        good, bad = (middle, bad) if fits(first, middle) else (good, middle)
    return good


def _braked(motion: Trajectory, strongest: Array) -> Trajectory:
    """The same way, slower and slower towards its end, to end at rest; ``strongest`` [rad/s2 or m/s2] is kept (5 %).

    The pace r is how much of the motion's time passes in a second. Along the motion's own time s, w = r^2 changes by
    w' = 2 r', and the joints accelerate by a w + v w' / 2. So from one point to the one before, w grows from 0 at the
    end by as much as leaves every joint within its strongest acceleration on the way, until it is 1.
    """
    steps = np.diff(motion.times)  # [s] of the motion's own time
    allowed = _PATIENCE * strongest + AT_REST
    squares = np.ones(len(motion.times))
    squares[-1] = 0.0
    for index in range(len(steps) - 1, -1, -1):
        way = motion.sample(motion.times[index] + steps[index] * _PLACES)
        speed, push = np.abs(way.v) + AT_REST, np.abs(way.a)
        grown = (squares[index + 1] * speed + 2.0 * steps[index] * allowed) / (speed + 2.0 * steps[index] * push)
        squares[index] = min(1.0, float(grown.min()))
        if squares[index] >= 1.0:
            break
    pace = np.sqrt(squares)
    real = np.concatenate([[0.0], np.cumsum(2.0 * steps / (pace[:-1] + pace[1:]))])  # [s]
    return Trajectory(real, motion.q, motion.v * pace[:, np.newaxis])


# Error codes ----------------------------------------------------------------------------------------------------------

_START_AGAIN = 'call start_traj_mode'
_REASONS = {
    100: 'the controller is not ready and gives no reason: look at the teach pendant',
    101: 'the controller has an active alarm: remove its cause and call reset_error',
    102: 'the controller has an active error: remove its cause and call reset_error',
    103: f'the emergency stop is pressed: release it, call reset_error and {_START_AGAIN}',
    104: 'the teach pendant is in TEACH: turn its key to REMOTE',
    105: 'the teach pendant is not in REMOTE: turn its key to REMOTE',
    106: f'the servo power is off: {_START_AGAIN}',
    107: f'the controller is in HOLD: release it and {_START_AGAIN}',
    108: f'the job INIT_ROS is not running: {_START_AGAIN}',
    109: 'the job INIT_ROS does not stand at its WAIT instruction: check that job',
    111: f'power and force limiting has stopped the arm: free it and {_START_AGAIN}',
    112: f'the controller refused an increment of motion: call reset_error, then {_START_AGAIN}',
    113: 'the controller runs another job: end that job',
    114: 'another motion mode is active: call stop_traj_mode first',
    115: 'the cycle mode of the controller is not continuous: set it to AUTO (continuous)',
    116: 'the controller has a major alarm, which cannot be reset from afar: restart the controller',
    117: f'the controller is in its energy saving mode: {_START_AGAIN}',
    118: 'the servo power did not come on in time: check the safety circuit',
    200: 'the controller could not begin the trajectory and gives no reason: read its debug log',
    201: 'the goal has fewer than two points',
    202: 'the goal has more than 200 points',
    203: 'a trajectory is running already: wait for its end or cancel it',
    204: 'the goal does not begin where the arm is: send the current state as first point',
    205: 'a velocity is above the limit of the controller: correct the velocity limits of the URDF',
    206: "the goal names a joint that the controller does not have: check joint_names in MotoROS2's configuration",
    207: 'the goal does not name all joints of the controller',
    208: 'a time of the goal is negative, or zero after the first point',
    209: f'the controller is not in trajectory mode: {_START_AGAIN}',
    210: 'the times of the goal do not increase',
    211: 'a point of the goal does not have a position for every joint',
    212: 'a point of the goal does not have a velocity for every joint',
    213: 'the last point of the goal is not at rest',
    214: 'the last point of the goal has an acceleration',
    215: 'the goal names a joint twice',
    300: 'the goal was cancelled',
    301: 'the arm did not end where the goal ends: look for what holds it, or for a speed limit',
    302: 'the motion took longer or shorter than planned: look for a speed limit on the controller',
    303: 'an alarm or error stopped the arm: read robot_status, remove the cause and call reset_error',
}
_STANDARD = {
    0: 'The goal was reached.',
    -1: 'The goal is invalid.',
    -2: 'The joints of the goal are not those of the controller.',
    -3: 'The goal is too old.',
    -4: 'The arm left the path.',
    -5: 'The arm did not reach the goal.',
}


def native_code(error_code: int) -> int:
    """MotoROS2's own part of the error code of a result, which is ros * 100000 - native; 0 if there is none."""
    return -error_code % 100000 if error_code <= -100000 else 0


def explain(error_code: int) -> str:
    """The error code of a follow_joint_trajectory result as a sentence."""
    if error_code in _STANDARD:
        return _STANDARD[error_code]
    native = native_code(error_code)
    standard = _STANDARD.get(-(-error_code // 100000)) if native else None
    if standard is None:
        return f'MotoROS2 answered with the unknown error code {error_code}: read its debug log.'
    return f'{standard[:-1]} ({error_code}): {explain_reason(native)}.'


def explain_reason(code: int) -> str:
    """A result code of `start_traj_mode` or `reset_error`, or the native code of a result, as part of a sentence."""
    if code == SERVICE_READY:
        return 'the controller is ready'
    return _REASONS.get(code, f'the code {code} is unknown here: read the debug log of MotoROS2')
