"""A robot judged by path constraints: which joint positions keep them, what breaks them, and where to go instead."""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from lfd_description.hints import no_such
from lfd_description.kinematics import Tree
from lfd_description.shapes import Box, Sphere
from lfd_description.transforms import Quaternion
from lfd_description.urdf import Joint, Matrix, RobotTree
from lfd_planner.pose import Pose
from lfd_planner.robot.ik.solutions import Numbers

from .constraints import (
    JointConstraint,
    OrientationConstraint,
    Parameterization,
    PathConstraints,
    PositionConstraint,
    Region,
    WrongConstraint,
)
from .projection import (
    BALL,
    BOX,
    CYLINDER,
    EULER_ANGLES,
    POSITION,
    ROTATION_VECTOR,
    SLACK,
    Constraints,
    keeps,
    make_projection_room,
    missing,
    project,
)

_KINDS = {Parameterization.XYZ_EULER_ANGLES: EULER_ANGLES, Parameterization.ROTATION_VECTOR: ROTATION_VECTOR}


class ConstraintChecker:
    """Path constraints of one robot in one scene.

    Args:
        tree: the robot.
        frame: the scene's frame; if that is a link, the robot hangs from it, any other name means the root link.
        joints: the columns of q.
        constraints: what must be kept.
        positions: where all other joints stand, by name [rad or m]; those not named are at zero.

    Raises:
        WrongConstraint: a constraint is of a joint or link that the robot does not have.
    """

    def __init__(
        self,
        tree: RobotTree,
        frame: str,
        joints: Sequence[str],
        constraints: PathConstraints,
        positions: Mapping[str, float] | None = None,
    ) -> None:
        self.constraints = constraints
        self.joints = tuple(joints)
        self._tree = tree
        # With the columns of q at zero, joints that mimic one of them stand at their offsets.
        self._still = {**(positions or {}), **dict.fromkeys(self.joints, 0.0)}
        self._poses = Tree(tree).poses_at(self._still)
        self._frame = frame if frame in tree.links else tree.root
        self.data = self._compile()
        """For compiled code."""

    def satisfied(self, q: npt.ArrayLike) -> bool:
        """Whether joint positions q, (dof,) [rad or m], keep all constraints."""
        return keeps(self._row(q), self.data, make_projection_room(self.data, len(self.joints)))

    def violations(self, q: npt.ArrayLike) -> tuple[str, ...]:
        """One sentence for each constraint that joint positions q, (dof,) [rad or m], break."""
        room = make_projection_room(self.data, len(self.joints))
        missing(self._row(q), self.data, 0.0, room)
        count = len(self.constraints.joints)
        found = [
            _joint_sentence(joint, -float(room.residual[i]))
            for i, joint in enumerate(self.constraints.joints)
            if abs(room.residual[i]) > SLACK
        ]
        for i, constraint in enumerate(self._on_links()):
            rows = room.residual[count + 3 * i : count + 3 * i + 3]
            if np.linalg.norm(rows) > SLACK:
                found.append(_link_sentence(constraint, rows, room.told[i]))
        return tuple(found)

    def project(self, q: npt.ArrayLike, limits: Matrix) -> Numbers | None:
        """Joint positions near q within limits, lower and upper (2, dof) [rad or m], that keep all constraints."""
        near, room = self._row(q).copy(), make_projection_room(self.data, len(self.joints))
        return near if project(near, self.data, np.ascontiguousarray(limits[:2]), room) else None

    def _row(self, q: npt.ArrayLike) -> Numbers:
        row: Numbers = np.ascontiguousarray(q, dtype=np.float64)
        if row.shape != (len(self.joints),):
            raise ValueError(f'Joint positions must have the shape ({len(self.joints)},), not {row.shape}.')
        return row

    def _compile(self) -> Constraints:
        positions, orientations = self.constraints.positions, self.constraints.orientations
        links = [self._link(constraint.link) for constraint in self._on_links()]
        chains = [self._chain(link) for link in links]
        regions = [constraint.regions for constraint in positions] + [()] * len(orientations)
        numbers = [(POSITION, *constraint.offset) for constraint in positions]
        numbers += [(_KINDS[constraint.parameterization], *constraint.tolerance) for constraint in orientations]
        targets = [np.eye(3)] * len(positions) + [_rotation(constraint.orientation) for constraint in orientations]
        return Constraints(
            joints=_table([self._joint_row(constraint) for constraint in self.constraints.joints], 7),
            links=_table(numbers, 4),
            target=_table(targets, 3, 3),
            arm_joints=_table([row for chain in chains for row in chain], 10),
            arm_first=_starts(chains),
            arm_home=_table([self._in_frame(self._poses[link]) for link in links], 4, 4),
            regions=_table([_region_row(region) for owned in regions for region in owned], 4),
            region_first=_starts(regions),
            region_pose=_table([_region_pose(region) for owned in regions for region in owned], 4, 4),
        )

    def _on_links(self) -> tuple[PositionConstraint | OrientationConstraint, ...]:
        return (*self.constraints.positions, *self.constraints.orientations)

    def _link(self, link: str) -> str:
        if link not in self._poses:
            raise WrongConstraint(no_such('link', link, self._tree.links))
        return link

    def _joint_row(self, constraint: JointConstraint) -> tuple[float, ...]:
        movable = {joint.name: joint for joint in self._tree.joints if joint.moves}
        if constraint.joint not in movable:
            raise WrongConstraint(no_such('moving joint', constraint.joint, movable))
        joint = movable[constraint.joint]
        column, multiplier = self._column(joint)
        wanted = (constraint.position, constraint.above, constraint.below)
        return column, multiplier, self._stands(joint), *wanted, float(joint.kind == 'continuous')

    def _stands(self, joint: Joint) -> float:
        """Where a joint is with the columns of q at zero."""
        if joint.mimic is None:
            return self._still.get(joint.name, 0.0)
        return joint.mimic.position(self._still.get(joint.mimic.joint, 0.0))

    def _column(self, joint: Joint) -> tuple[int, float]:
        """The column of q that moves a joint, -1 if none does, and how much."""
        leader = joint.name if joint.mimic is None else joint.mimic.joint
        if leader not in self.joints:
            return -1, 0.0
        return self.joints.index(leader), 1.0 if joint.mimic is None else joint.mimic.multiplier

    def _chain(self, link: str) -> list[Numbers]:
        """The moving joints between the scene's frame and a link, as rows of `Arm.joints`.

        Those that carry both move neither against the other; those above the frame are passed backwards.
        """
        up = self._tree.chain(self._tree.root, self._frame)
        down = self._tree.chain(self._tree.root, link)
        upwards = (joint for joint in reversed(up) if joint not in down)
        downwards = (joint for joint in down if joint not in up)
        return [*self._axes(upwards, -1.0), *self._axes(downwards, 1.0)]

    def _axes(self, joints: Iterator[Joint], sign: float) -> Iterator[Numbers]:
        for joint in joints:
            column, multiplier = self._column(joint)
            if joint.moves and column >= 0:
                pose = self._in_frame(self._poses[joint.child])
                line = (pose[:3, :3] @ joint.axis, pose[:3, 3])
                yield np.concatenate([*line, [joint.turns, column, sign * multiplier, 0.0]])

    def _in_frame(self, pose: Matrix) -> Matrix:
        """A pose in the root's frame, seen from the scene's."""
        return np.linalg.inv(self._poses[self._frame]) @ pose


def _table(rows: Sequence[npt.ArrayLike], *shape: int) -> Matrix:
    return np.ascontiguousarray(np.array(rows, dtype=np.float64).reshape(-1, *shape))


def _starts(owned: Sequence[Sequence[object]]) -> npt.NDArray[np.int64]:
    """Where the things of each owner begin in a list of all, and where the list ends."""
    return np.cumsum([0, *(len(things) for things in owned)], dtype=np.int64)


def _rotation(quaternion: Quaternion) -> Matrix:
    x, y, z, w = quaternion
    length = math.sqrt(x * x + y * y + z * z + w * w)
    return Pose(orientation=(x / length, y / length, z / length, w / length)).matrix[:3, :3]


def _region_pose(region: Region) -> Matrix:
    matrix = np.eye(4)
    matrix[:3, :3] = _rotation(region.pose.orientation)
    matrix[:3, 3] = region.pose.position
    return matrix


def _region_row(region: Region) -> tuple[float, ...]:
    kind = BOX if isinstance(region.shape, Box) else BALL if isinstance(region.shape, Sphere) else CYLINDER
    x, y, z = region.size
    return kind, 0.5 * x, 0.5 * y, 0.5 * z


def _joint_sentence(joint: JointConstraint, beyond: float) -> str:
    end = joint.position + joint.above if beyond > 0.0 else joint.position - joint.below
    side = 'above' if beyond > 0.0 else 'below'
    return f"Joint '{joint.joint}' is {abs(beyond):.4g} {side} {end:.4g}, where its constraint ends [rad or m]."


def _link_sentence(constraint: PositionConstraint | OrientationConstraint, rows: Numbers, told: Numbers) -> str:
    if isinstance(constraint, PositionConstraint):
        where = ', '.join(f'{value:.4g}' for value in told)
        far = float(np.linalg.norm(rows))
        return f"Link '{constraint.link}' has its point at ({where}), {far:.4g} m outside the region of its constraint."
    turned = (
        f'{abs(value):.4g} rad about {axis} where {tolerance:.4g} is allowed'
        for axis, value, tolerance, row in zip('xyz', told, constraint.tolerance, rows, strict=True)
        if abs(row) > SLACK
    )
    return f"Link '{constraint.link}' is turned away from its orientation constraint: {', '.join(turned)}."
