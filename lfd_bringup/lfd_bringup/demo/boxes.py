"""Where the objects of a job ended: what the graph's planning scene says after the execution, and where they belong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene
from lfd_planner.solution_file import Json
from lfd_planner.validate.keyframes import differences

from .job import Job

AWAY = 0.002  # [m] of an object from its place; the arm's own tolerances move the hand by less
TURNED = 0.02  # [rad]


@dataclass(frozen=True)
class EndPose:
    """Where an object is in the planning scene, in the scene's frame, and where the task wants it."""

    object: str
    wanted: Pose
    found: Pose | None
    """None: it does not stand anywhere."""
    held_by: str | None = None
    """The link that holds it."""

    @property
    def distance(self) -> float:
        """From where it belongs [m]; infinite if it stands nowhere."""
        return self._off[0]

    @property
    def angle(self) -> float:
        """By which it is turned from how it belongs [rad]; infinite if it stands nowhere."""
        return self._off[1]

    @property
    def problem(self) -> str:
        """Why it is not where it belongs, in words; empty: it is."""
        if self.held_by is not None:
            return f"'{self.object}' is still held by '{self.held_by}'"
        if self.found is None:
            return f"'{self.object}' is not in the planning scene"
        if self.distance > AWAY:
            return f"'{self.object}' ended {1000 * self.distance:.1f} mm off (allowed: {1000 * AWAY:g})"
        if self.angle > TURNED:
            allowed = f'{math.degrees(TURNED):.1f}'
            return f"'{self.object}' ended turned by {math.degrees(self.angle):.1f} deg (allowed: {allowed})"
        return ''

    def data(self) -> Json:
        """For JSON."""
        stands = self.found is not None
        return {
            'object': self.object,
            'found': pose_data(self.found) if self.found is not None else None,
            'held_by': self.held_by,
            'wanted': pose_data(self.wanted),
            'distance': self.distance if stands else None,
            'angle': self.angle if stands else None,
        }

    @property
    def _off(self) -> tuple[float, float]:
        return compared(self.found, self.wanted) if self.found is not None else (math.inf, math.inf)


def end_poses(job: Job, scene: PlanningScene) -> tuple[EndPose, ...]:
    """Where a scene has the objects that a job wants somewhere."""
    return tuple(_end_pose(name, wanted, scene) for name, wanted in job.wanted.items())


def worst(ends: Sequence[EndPose]) -> float:
    """How far objects that stand are from where they belong, at most [m]."""
    return max((end.distance for end in ends if end.found is not None), default=0.0)


def compared(pose: Pose, wanted: Pose) -> tuple[float, float]:
    """The distance [m] and the angle [rad] between two poses."""
    shift, turn = differences(pose.matrix[np.newaxis], wanted.matrix)
    return float(shift[0]), float(turn[0])


def pose_data(pose: Pose) -> Json:
    """A pose for JSON: x, y, z [m] and a quaternion x, y, z, w."""
    return {'position': list(pose.position), 'orientation': list(pose.orientation)}


def _end_pose(name: str, wanted: Pose, scene: PlanningScene) -> EndPose:
    if name in scene.attached:
        return EndPose(name, wanted, None, scene.attached[name].link)
    return EndPose(name, wanted, scene.objects[name].pose if name in scene.objects else None)
