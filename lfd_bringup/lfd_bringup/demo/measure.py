"""What the arm did, compared with what was asked of it: numbers from recorded messages only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lfd_description.kinematics import Chain
from lfd_planner.timing import Trajectory

from .ros import Recording

GOAL_TOLERANCE = 0.005  # [rad] between the last joint state and the last point
PATH_TOLERANCE = 0.02  # [rad] from the motion as asked, early or late
LONGEST_LAG = 5.0  # [s] by which a busy machine may be late; the controller delays a motion rather than jump
LAG_STEP = 0.01  # [s] between two places of the path that are joined by a straight line
SAME = 1e-4  # [rad] that do not make a greater lag the better explanation
TRANSFORM_TOLERANCE = 1e-3  # [m] between the tool in /tf and the tool by the arm's kinematics
LOWEST_RATE = 20.0  # [Hz] of joint states

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Tracking:
    """How the arm's joints followed the motion, on the simulated controllers."""

    joint_states: int
    joint_state_rate: float
    """[Hz]"""
    goal_error: float
    """[rad] largest over the joints, at the end"""
    tracking_error: float
    """[rad] largest over joints and time, lateness included"""
    path_error: float
    """[rad] the same without lateness: how far the arm left its path"""
    lateness: float
    """[s] by which the arm was late at most"""
    tool_path: float
    """[m] length of the tool's way"""
    transform_count: int
    transform_error: float
    """[m] largest distance between the tool by /tf and by the arm's kinematics"""

    def problems(self) -> list[str]:
        """What is not as it should be, in words."""
        found = []
        if not self.goal_error <= GOAL_TOLERANCE:
            found.append(f'the arm ended {self.goal_error:.4f} rad from its goal (allowed: {GOAL_TOLERANCE})')
        if not self.path_error <= PATH_TOLERANCE:
            found.append(f'the arm strayed {self.path_error:.4f} rad from its path (allowed: {PATH_TOLERANCE})')
        if self.transform_count == 0:
            found.append('no transform of the tool was heard')
        elif not self.transform_error <= TRANSFORM_TOLERANCE:
            found.append(
                f'/tf puts the tool {1000 * self.transform_error:.1f} mm off (allowed: {1000 * TRANSFORM_TOLERANCE:g})'
            )
        if not self.joint_state_rate >= LOWEST_RATE:
            found.append(f'only {self.joint_state_rate:.0f} joint states per second were heard')
        return found


def measure(motion: Trajectory, recording: Recording, chain: Chain) -> Tracking:
    """Compare a recording with the motion that was sent."""
    stamps = np.array([time for time, _ in recording.states])
    positions = np.array([position for _, position in recording.states])
    times = stamps - recording.start
    during = (times >= 0.0) & (times <= motion.duration)
    times, positions, last = times[during], positions[during], positions[-1]
    errors, lags = _off_path(motion, times, positions)
    tool = chain.poses(positions)[:, :3, 3]
    transform_errors = _transform_errors(recording, chain)
    return Tracking(
        joint_states=len(times),
        joint_state_rate=float(len(times) / motion.duration),
        goal_error=float(np.abs(last - motion.q[-1]).max()),
        tracking_error=float(np.abs(positions - motion.sample(times).q).max(initial=0.0)),
        path_error=float(errors.max(initial=0.0)),
        lateness=float(lags.max(initial=0.0)),
        tool_path=float(np.linalg.norm(np.diff(tool, axis=0), axis=1).sum()),
        transform_count=len(transform_errors),
        transform_error=max(transform_errors, default=0.0),
    )


def _off_path(motion: Trajectory, times: Array, positions: Array) -> tuple[Array, Array]:
    """How far each sample is from where the motion was at that time or shortly before [rad], and how late [s]."""
    at = motion.sample(times).q
    best = np.abs(positions - at).max(axis=1)
    lags = np.zeros(len(times))
    for lag in np.arange(LAG_STEP, min(LONGEST_LAG, motion.duration), LAG_STEP):
        before = motion.sample(times - lag).q
        off = _from_line(positions, at, before)
        nearer = off < best - SAME
        best[nearer], lags[nearer] = off[nearer], lag
        at = before
    return best, lags


def _from_line(points: Array, start: Array, end: Array) -> Array:
    """The largest joint error [rad] of each row against the nearest place on the line between two other rows."""
    along = end - start
    share = np.einsum('ij,ij->i', points - start, along) / np.maximum(np.einsum('ij,ij->i', along, along), 1e-18)
    nearest = start + np.clip(share, 0.0, 1.0)[:, np.newaxis] * along
    found: Array = np.abs(points - nearest).max(axis=1)
    return found


def _transform_errors(recording: Recording, chain: Chain) -> list[float]:
    """Distance [m] between the tool by /tf and by kinematics, for every moment of which both were heard."""
    states = dict(recording.states)
    static = recording.transforms.get(None, {})
    errors = []
    for stamp, frames in recording.transforms.items():
        if stamp is not None and stamp in states:
            tool = _tool_position({**static, **frames}, chain)
            if tool is not None:
                errors.append(float(np.linalg.norm(tool - chain.pose(states[stamp])[:3, 3])))
    return errors


def _tool_position(frames: dict[str, tuple[str, tuple[float, ...], tuple[float, ...]]], chain: Chain) -> Array | None:
    """Walk the transforms from the tool to the base; None when one is missing."""
    point = np.zeros(3)
    frame = chain.tip
    while frame != chain.base:
        if frame not in frames:
            return None
        frame, translation, (x, y, z, w) = frames[frame]
        axis = np.array([x, y, z])
        point = point + 2 * np.cross(axis, np.cross(axis, point) + w * point) + np.array(translation)
    return point
