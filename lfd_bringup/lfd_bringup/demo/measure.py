"""What the arm did, compared with what was asked of it: numbers from recorded messages only.

A solution is executed in goals, with the hand's work between them, so that nobody can say when the arm should be where.
What the arm must keep to is the path, in its order. How far it left that is told without regard to time; how long it
took is told by the executor, and how far each joint was from where it was commanded to be by the controller.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lfd_description.kinematics import Chain
from lfd_planner.timing import Trajectory, path_times

from .ros import Recording

GOAL_TOLERANCE = 0.005  # [rad] between the last joint state and the last point
PATH_TOLERANCE = 0.02  # [rad] from the planned path, at whatever time
PATH_STEP = 0.01  # [rad or m] between two places of the path that are joined by a straight line
TRANSFORM_TOLERANCE = 1e-3  # [m] between the tool in /tf and the tool by the arm's kinematics
LOWEST_RATE = 20.0  # [Hz] of joint states

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Tracking:
    """How the arm's joints followed the motion, on the simulated controllers."""

    joint_states: int
    """from the request to execute to the last one"""
    joint_state_rate: float
    """[Hz]"""
    goal_error: float
    """[rad] largest over the joints, at the end"""
    tracking_error: float
    """[rad] largest over joints and time, from where the controller commanded the joint to be at that moment"""
    joint_errors: Mapping[str, float]
    """[rad] the same by joint"""
    path_error: float
    """[rad] largest over joints and time, from the planned path, which the arm takes in its order at any speed"""
    tool_path: float
    """[m] length of the tool's way"""
    hand_travel: float
    """[rad or m] length of the way of the hand's joint, opening and closing"""
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
        if not self.joint_errors:
            found.append('nobody told how well the joints followed their commands')
        if self.transform_count == 0:
            found.append('no transform of the tool was heard')
        elif not self.transform_error <= TRANSFORM_TOLERANCE:
            found.append(
                f'/tf puts the tool {1000 * self.transform_error:.1f} mm off (allowed: {1000 * TRANSFORM_TOLERANCE:g})'
            )
        if not self.joint_state_rate >= LOWEST_RATE:
            found.append(f'only {self.joint_state_rate:.0f} joint states per second were heard')
        return found


def measure(motion: Trajectory, recording: Recording, chain: Chain, joint_errors: Mapping[str, float]) -> Tracking:
    """Compare a recording with the motion that was executed; `joint_errors` [rad] are what the executor tells."""
    stamps = np.array([time for time, _ in recording.states])
    positions = np.array([position for _, position in recording.states])
    tool = chain.poses(positions)[:, :3, 3]
    transform_errors = _transform_errors(recording, chain)
    return Tracking(
        joint_states=len(stamps),
        joint_state_rate=float((len(stamps) - 1) / max(np.ptp(stamps), 1e-9)),
        goal_error=float(np.abs(positions[-1] - motion.q[-1]).max()),
        tracking_error=max(joint_errors.values(), default=0.0),
        joint_errors=dict(joint_errors),
        path_error=off_path(motion, positions),
        tool_path=float(np.linalg.norm(np.diff(tool, axis=0), axis=1).sum()),
        hand_travel=float(np.abs(np.diff(recording.hand)).sum()),
        transform_count=len(transform_errors),
        transform_error=max(transform_errors, default=0.0),
    )


def off_path(motion: Trajectory, positions: Array) -> float:
    """How far an arm that was at positions, (N, dof), one after the other, was from a motion's path at most [rad].

    The arm may take any time, and never goes back: of all ways to say where on the path it was when, that counts by
    which it strayed least.
    """
    times = np.union1d(path_times(motion, PATH_STEP), motion.times)  # the points, too: a path turns back there
    path = motion.sample(times).q
    start, end = (path[:-1], path[1:]) if len(path) > 1 else (path, path)
    worst = np.zeros(len(start))  # so far, if the arm is at this piece of the path now
    for position in positions[_moved(positions)]:
        worst = np.maximum(_from_lines(position, start, end), np.minimum.accumulate(worst))
    return float(worst.min())


def _moved(positions: Array) -> npt.NDArray[np.bool_]:
    """Which rows are not just the one before again: an arm that stands needs to be looked at once."""
    return np.concatenate([[True], np.diff(positions, axis=0).any(axis=1)])


def _from_lines(point: Array, start: Array, end: Array) -> Array:
    """The largest joint error [rad] of a point, (dof,), against the nearest place of each line, (M, dof) both."""
    along = end - start
    share = np.einsum('ij,ij->i', point - start, along) / np.maximum(np.einsum('ij,ij->i', along, along), 1e-18)
    nearest = start + np.clip(share, 0.0, 1.0)[:, np.newaxis] * along
    found: Array = np.abs(point - nearest).max(axis=1)
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
