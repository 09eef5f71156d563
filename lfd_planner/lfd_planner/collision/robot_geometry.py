"""A robot's solids, and where its links are in the frames that a group's joints move.

Links that no joint of the group moves against each other share a moving frame. Frame 0 is the scene's.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lfd_description.bodies import Body
from lfd_description.hints import no_such
from lfd_description.urdf import Joint, Matrix, RobotTree, axis_rotations

from .library import ShapeLibrary
from .rows import Numbers
from .solids import Solid, solid_of
from .world import AXIS, BEFORE, COLUMN, JOINT_WIDTH, MULTIPLIER, OFFSET, PARENT, TURNS

_KEPT = 8  # groups and positions of the other joints whose frames are remembered


@dataclass(frozen=True, eq=False)
class MovingFrames:
    """How a group's joints move the robot's links."""

    joints: Numbers
    """As `World.joints`."""
    places: Mapping[str, tuple[int, Matrix]]
    """For each link its moving frame and the 4x4 transform moving frame -> link [m]."""


@dataclass(frozen=True, eq=False)
class _Step:
    """From a link to a neighbour; upwards, if `joint` carries the link that one comes from."""

    joint: Joint
    start: str
    end: str
    upwards: bool


class RobotGeometry:
    """A robot made ready for collision checks, once: hulls, hierarchies and balls of all its bodies.

    `frame` is the scene's frame. If that is a link, the robot hangs from it; any other name means the root link.

    Raises:
        MeshError: a mesh file cannot be used.
        UrdfError: a body belongs to a link that the robot does not have.
    """

    def __init__(self, tree: RobotTree, bodies: Sequence[Body], frame: str) -> None:
        self.tree = tree
        self.frame = frame
        self.links = frozenset(tree.links)
        self.bodies = tuple(bodies)
        for body in self.bodies:
            tree.chain(tree.root, body.link)
        self.solids = tuple(solid_of(body.shape) for body in self.bodies)
        """Of the bodies, in their order."""
        self._steps = _steps(tree, frame if frame in self.links else tree.root)
        self._start = frame if frame in self.links else tree.root
        self._lock = threading.Lock()
        self._kept: dict[tuple[object, ...], MovingFrames] = {}
        self._library = ShapeLibrary()

    def library(self) -> ShapeLibrary:
        """The shapes of the robot and of the scenes it was in; begun anew when it has become too large."""
        with self._lock:
            if self._library.is_full:
                self._library = ShapeLibrary()
            return self._library

    def scaled(self, number: int, scale: float) -> Solid:
        """A body's solid, times `scale`."""
        return self.solids[number] if scale == 1.0 else solid_of(self.bodies[number].shape, scale)

    def moving_frames(self, joints: Sequence[str], positions: Mapping[str, float]) -> MovingFrames:
        """The frames that `joints` move; all other joints stand at `positions` [rad or m], or at 0.

        Raises:
            ValueError: a joint is not one that moves and leads, or is named twice.
        """
        leaders = tuple(joint.name for joint in self.tree.joints if joint.moves and joint.mimic is None)
        for name in joints:
            if name not in leaders:
                raise ValueError(no_such('joint', name, leaders))
        if len(set(joints)) < len(joints):
            raise ValueError(f'A joint is named twice among {", ".join(joints)}; name each once.')
        still = tuple((name, positions.get(name, 0.0)) for name in leaders if name not in joints)
        key = (tuple(joints), still)
        with self._lock:
            if key not in self._kept:
                if len(self._kept) >= _KEPT:
                    del self._kept[next(iter(self._kept))]
                self._kept[key] = self._moving_frames(tuple(joints), dict(still))
            return self._kept[key]

    def _moving_frames(self, joints: tuple[str, ...], still: Mapping[str, float]) -> MovingFrames:
        rows: list[Numbers] = []
        places: dict[str, tuple[int, Matrix]] = {self._start: (0, np.eye(4))}
        for step in self._steps:
            frame, pose = places[step.start]
            joint = step.joint
            leader, multiplier, offset = joint.name, 1.0, 0.0
            if joint.mimic is not None:
                leader, multiplier, offset = joint.mimic.joint, joint.mimic.multiplier, joint.mimic.offset
            origin = joint.origin
            if joint.moves and leader in joints:
                way = -1.0 if step.upwards else 1.0
                before = pose if step.upwards else pose @ origin
                rows.append(_row(joint, frame, joints.index(leader), way * multiplier, way * offset, before))
                places[step.end] = (len(rows), _inverse(origin) if step.upwards else np.eye(4))
                continue
            position = multiplier * still.get(leader, 0.0) + offset if joint.moves else 0.0
            motion = origin @ _motion(joint, position)
            places[step.end] = (frame, pose @ (_inverse(motion) if step.upwards else motion))
        return MovingFrames(np.array(rows, dtype=np.float64).reshape(-1, JOINT_WIDTH), places)


def _row(joint: Joint, parent: int, column: int, multiplier: float, offset: float, before: Matrix) -> Numbers:
    row = np.zeros(JOINT_WIDTH)
    row[PARENT], row[COLUMN], row[MULTIPLIER], row[OFFSET], row[TURNS] = parent, column, multiplier, offset, joint.turns
    row[AXIS : AXIS + 3] = joint.axis
    row[BEFORE:] = before[:3].ravel()
    return row


def _steps(tree: RobotTree, start: str) -> tuple[_Step, ...]:
    """All joints, walked away from a link."""
    around: dict[str, list[Joint]] = {}
    for joint in tree.joints:
        around.setdefault(joint.parent, []).append(joint)
        around.setdefault(joint.child, []).append(joint)
    steps: list[_Step] = []
    seen, links = {start}, [start]
    for link in links:
        for joint in around.get(link, []):
            end = joint.parent if joint.child == link else joint.child
            if end not in seen:
                steps.append(_Step(joint, link, end, upwards=joint.child == link))
                seen.add(end)
                links.append(end)
    return tuple(steps)


def _inverse(pose: Matrix) -> Matrix:
    """The inverse of a rigid 4x4 transform."""
    inverse: Matrix = np.eye(4)
    inverse[:3, :3] = pose[:3, :3].T
    inverse[:3, 3] = -pose[:3, :3].T @ pose[:3, 3]
    return inverse


def _motion(joint: Joint, position: float) -> Matrix:
    """The 4x4 transform of a joint at a position [rad or m]."""
    motion = np.eye(4)
    if joint.turns:
        motion[:3, :3] = axis_rotations(joint.axis, [position])[0]
    else:
        motion[:3, 3] = position * np.array(joint.axis)
    return motion
