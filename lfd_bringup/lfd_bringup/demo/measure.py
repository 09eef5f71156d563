"""What the arm did, compared with what was asked of it: numbers from recorded messages only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lfd_description.kinematics import Chain

from .motion import Array, Motion
from .ros import Recording

GOAL_TOLERANCE = 0.005  # [rad] between the last joint state and the last point
PATH_TOLERANCE = 0.02  # [rad] from the motion as asked, early or late
LONGEST_LAG = 0.5  # [s] by which a busy machine may be late; the controller delays a motion rather than jump
TRANSFORM_TOLERANCE = 1e-3  # [m] between the tool in /tf and the tool by the arm's kinematics
LOWEST_RATE = 20.0  # [Hz] of joint states


@dataclass(frozen=True)
class Measurement:
    """Figures of one motion."""

    duration: float
    """[s]"""
    joint_states: int
    joint_state_rate: float
    """[Hz]"""
    goal_error: float
    """[rad] largest over the joints, at the end"""
    tracking_error: float
    """[rad] largest over joints and time, lateness included"""
    path_error: float
    """[rad] the same without lateness: how far the arm left its path"""
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

    def lines(self) -> list[str]:
        """The figures for a person."""
        strayed, missed = 1000 * self.tracking_error, 1000 * self.goal_error  # [mrad]
        return [
            f'joint states   {self.joint_states} heard, {self.joint_state_rate:.0f} per second',
            f'tracking       at most {strayed:.1f} mrad off, {missed:.2f} mrad at the end',
            f'tool           {self.tool_path:.2f} m travelled; /tf and the kinematics agree within '
            f'{max(1e6 * self.transform_error, 0.001):.3f} µm in {self.transform_count} transforms',
        ]


@dataclass(frozen=True)
class Trace:
    """The recorded motion for a picture: times [s] from the start, joint positions [rad], tool positions [m]."""

    times: Array
    positions: Array
    tool: Array


def measure(motion: Motion, recording: Recording, chain: Chain) -> tuple[Measurement, Trace]:
    """Compare a recording with the motion that was sent."""
    stamps = np.array([time for time, _ in recording.states])
    positions = np.array([position for _, position in recording.states])
    times = stamps - recording.start
    during = (times >= 0.0) & (times <= motion.duration)
    errors = _errors(motion, times[during], positions[during])
    tool = chain.poses(positions[during])[:, :3, 3]
    transform_errors = _transform_errors(recording, chain)
    measurement = Measurement(
        duration=motion.duration,
        joint_states=int(during.sum()),
        joint_state_rate=float(during.sum() / motion.duration),
        goal_error=float(np.max(np.abs(positions[-1] - motion.positions[-1]))),
        tracking_error=float(errors[0].max(initial=0.0)),
        path_error=float(errors.min(axis=0).max(initial=0.0)),
        tool_path=float(np.linalg.norm(np.diff(tool, axis=0), axis=1).sum()),
        transform_count=len(transform_errors),
        transform_error=max(transform_errors, default=0.0),
    )
    return measurement, Trace(times[during], positions[during], tool)


def _errors(motion: Motion, times: Array, positions: Array) -> Array:
    """Largest joint error [rad] of each sample, (lags, samples): on time in the first row, later in the others."""
    lags = np.arange(0.0, LONGEST_LAG, 0.005)
    return np.array([np.abs(positions - motion.at(times - lag)).max(axis=1) for lag in lags])


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
