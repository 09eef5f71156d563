"""Forward kinematics of a chain or of a whole robot, for many joint positions at once.

A chain is flattened into arrays: before each moving joint one constant transform (its origin and all fixed joints
before it), after the last one the way to the tip. A compiled loop multiplies them up.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lfd_description.compiled import compiled
from lfd_description.urdf import Joint, Matrix, RobotTree, UrdfError


@dataclass(frozen=True, eq=False)
class JointAxes:
    """The axes of a chain's n moving joints as lines in the base frame, all joints at position zero.

    The pose base -> tip is the product of the joints' motions about (or along) these lines, from base to tip, times
    `home`. Joint i stands at `multiplier[i] * q[column[i]] + offset[i]` [rad or m].
    """

    direction: Matrix
    """Unit vectors, (n, 3)."""
    point: Matrix
    """A point on each line, (n, 3) [m]."""
    turns: npt.NDArray[np.bool_]
    """Whether the joint turns; the others slide."""
    column: npt.NDArray[np.int64]
    multiplier: npt.NDArray[np.float64]
    offset: npt.NDArray[np.float64]
    home: Matrix
    """The pose base -> tip with all moving joints at zero, (4, 4) [m]."""


class Chain:
    """The way from link `base` to link `tip` of a robot; poses are 4x4 transforms base -> link, in metres.

    `joints` names the joints that set the chain's position, in the order of the columns of q [rad or m]. Joints that
    mimic one of them follow it.

    Raises:
        UrdfError: there is no such chain, or it has joints whose position is not one number.
    """

    def __init__(self, tree: RobotTree, base: str, tip: str) -> None:
        self.base = base
        self.tip = tip
        way = tree.chain(base, tip)
        for joint in way:
            if joint.kind in ('planar', 'floating'):
                raise UrdfError(
                    f"Joint '{joint.name}' between '{base}' and '{tip}' is {joint.kind}; start the chain below it."
                )
        moving = tuple(joint for joint in way if joint.moves)
        self.joints = tuple(joint.name for joint in moving if joint.mimic is None)
        self.links = (*(joint.child for joint in moving), tip)
        """The links whose poses `link_poses` gives: the child of each moving joint, then the tip."""
        self._before = _constant_transforms(way)
        self._axis = np.array([joint.axis for joint in moving], dtype=np.float64).reshape(-1, 3)
        self._turns = np.array([joint.turns for joint in moving], dtype=np.bool_)
        self._column, self._multiplier, self._offset = _columns(moving, self.joints)

    @property
    def dof(self) -> int:
        """How many numbers set the chain's position."""
        return len(self.joints)

    def poses(self, q: npt.ArrayLike) -> Matrix:
        """The poses base -> tip, (N, 4, 4), for N rows of joint positions q, (N, dof) [rad or m]."""
        positions = self._positions(q)
        poses = np.empty((len(positions), 4, 4))
        _tip_poses(positions, self._before, self._axis, self._turns, poses)
        return poses

    def link_poses(self, q: npt.ArrayLike) -> Matrix:
        """The poses base -> each of `links`, (N, len(links), 4, 4), for N rows of joint positions q, (N, dof)."""
        positions = self._positions(q)
        poses = np.empty((len(positions), len(self.links), 4, 4))
        _link_poses(positions, self._before, self._axis, self._turns, poses)
        return poses

    def pose(self, q: Sequence[float] | npt.NDArray[np.float64]) -> Matrix:
        """The pose base -> tip, (4, 4), for one set of joint positions, (dof,)."""
        pose: Matrix = self.poses(np.asarray(q, dtype=np.float64)[np.newaxis])[0]
        return pose

    def joint_axes(self) -> JointAxes:
        """The moving joints' axes in the base frame at position zero, mimics included."""
        frames = np.empty_like(self._before)
        _chain_poses(np.zeros(len(self._axis)), self._before, self._axis, self._turns, frames)
        directions = np.einsum('nij,nj->ni', frames[:-1, :3, :3], self._axis)
        points = frames[:-1, :3, 3].copy()
        return JointAxes(
            directions, points, self._turns, self._column, self._multiplier, self._offset, frames[-1].copy()
        )

    def _positions(self, q: npt.ArrayLike) -> Matrix:
        """The positions of all moving joints, mimics included, (N, moving joints): a new array, C-ordered."""
        rows = _rows(q, self.dof)
        return np.take(rows, self._column, axis=1) * self._multiplier + self._offset


class Tree:
    """All links of a robot; poses are 4x4 transforms root -> link, in metres.

    `joints` names the joints that set the robot's position, in the order of the columns of q [rad or m]; those that
    mimic one of them follow it. Planar and floating joints stay at zero.
    """

    def __init__(self, tree: RobotTree, links: Collection[str] | None = None) -> None:
        """Prepare for the poses of all links, or only of `links` and those that carry them."""
        way = _downwards(tree)
        self.joints = tuple(joint.name for joint in way if joint.moves and joint.mimic is None)
        if links is not None:
            needed = {joint.name for link in links for joint in tree.chain(tree.root, link)}
            way = tuple(joint for joint in way if joint.name in needed)
        moving = tuple(joint for joint in way if joint.moves)
        self.links = (tree.root, *(joint.child for joint in way))
        index = {link: i for i, link in enumerate(self.links)}
        self._parent = np.array([index[joint.parent] for joint in way], dtype=np.int64)
        self._origin = np.array([joint.origin for joint in way], dtype=np.float64).reshape(-1, 4, 4)
        self._axis = np.array([joint.axis for joint in way], dtype=np.float64).reshape(-1, 3)
        self._turns = np.array([joint.turns for joint in way], dtype=np.bool_)
        self._moving = [i for i, joint in enumerate(way) if joint.moves]
        self._column, self._multiplier, self._offset = _columns(moving, self.joints)

    @property
    def dof(self) -> int:
        """How many numbers set the robot's position."""
        return len(self.joints)

    def link_poses(self, q: npt.ArrayLike) -> Matrix:
        """The poses root -> each of `links`, (N, len(links), 4, 4), for N rows of joint positions q, (N, dof)."""
        rows = _rows(q, self.dof)
        positions = np.zeros((len(rows), len(self._parent)))
        positions[:, self._moving] = np.take(rows, self._column, axis=1) * self._multiplier + self._offset
        poses = np.empty((len(rows), len(self.links), 4, 4))
        _tree_poses(positions, self._parent, self._origin, self._axis, self._turns, poses)
        return poses

    def poses_at(self, positions: Mapping[str, float]) -> Mapping[str, Matrix]:
        """The pose root -> each link, by name, for joint positions by name [rad or m]; joints not named are at zero."""
        q = [[positions.get(name, 0.0) for name in self.joints]]
        return dict(zip(self.links, self.link_poses(q)[0], strict=True))


def _downwards(tree: RobotTree) -> tuple[Joint, ...]:
    """All joints, each after the one that carries its parent."""
    below: dict[str, list[Joint]] = {}
    for joint in tree.joints:
        below.setdefault(joint.parent, []).append(joint)
    ordered: list[Joint] = []
    links = [tree.root]
    for link in links:
        ordered += below.get(link, [])
        links += [joint.child for joint in below.get(link, [])]
    return tuple(ordered)


def _rows(q: npt.ArrayLike, dof: int) -> Matrix:
    rows = np.asarray(q, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != dof:
        raise ValueError(f'Joint positions must have the shape (N, {dof}), not {rows.shape}.')
    return rows


def _constant_transforms(way: Sequence[Joint]) -> Matrix:
    """The transform before each moving joint and the one after the last, (moving joints + 1, 4, 4)."""
    transforms = []
    transform = np.eye(4)
    for joint in way:
        transform = transform @ joint.origin
        if joint.moves:
            transforms.append(transform)
            transform = np.eye(4)
    return np.array([*transforms, transform])


def _columns(
    moving: Sequence[Joint], joints: tuple[str, ...]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """For each moving joint: its column of q, and the multiplier and offset that turn it into its position."""
    columns, multipliers, offsets = [], [], []
    for joint in moving:
        leader = joint.name if joint.mimic is None else joint.mimic.joint
        if leader not in joints:
            raise UrdfError(f"Joint '{joint.name}' mimics '{leader}', which is not on its chain; start further up.")
        columns.append(joints.index(leader))
        multipliers.append(1.0 if joint.mimic is None else joint.mimic.multiplier)
        offsets.append(0.0 if joint.mimic is None else joint.mimic.offset)
    return (
        np.array(columns, dtype=np.int64),
        np.array(multipliers, dtype=np.float64),
        np.array(offsets, dtype=np.float64),
    )


@compiled
def _multiply(a: Matrix, b: Matrix, out: Matrix) -> None:
    """The product of two rigid transforms; `out` must be neither of them."""
    for row in range(3):
        for column in range(4):
            value = a[row, 0] * b[0, column] + a[row, 1] * b[1, column] + a[row, 2] * b[2, column]
            out[row, column] = value + a[row, 3] if column == 3 else value
    out[3, 0] = out[3, 1] = out[3, 2] = 0.0
    out[3, 3] = 1.0


@compiled
def _move(pose: Matrix, axis: npt.NDArray[np.float64], turns: bool, position: float, out: Matrix) -> None:
    """The pose after turning about, or sliding along, a unit axis through the pose's origin."""
    x, y, z = axis[0], axis[1], axis[2]
    out[3] = pose[3]
    if not turns:
        for row in range(3):
            for column in range(3):
                out[row, column] = pose[row, column]
            out[row, 3] = pose[row, 3] + position * (pose[row, 0] * x + pose[row, 1] * y + pose[row, 2] * z)
        return
    c, s = np.cos(position), np.sin(position)
    t = 1.0 - c
    for row in range(3):
        p0, p1, p2 = pose[row, 0], pose[row, 1], pose[row, 2]
        out[row, 0] = p0 * (t * x * x + c) + p1 * (t * x * y + s * z) + p2 * (t * x * z - s * y)
        out[row, 1] = p0 * (t * x * y - s * z) + p1 * (t * y * y + c) + p2 * (t * y * z + s * x)
        out[row, 2] = p0 * (t * x * z + s * y) + p1 * (t * y * z - s * x) + p2 * (t * z * z + c)
        out[row, 3] = pose[row, 3]


@compiled
def _chain_poses(positions: Matrix, before: Matrix, axis: Matrix, turns: npt.NDArray[np.bool_], poses: Matrix) -> None:
    """The poses of all links for one row of positions, the tip's last."""
    last = axis.shape[0]
    frame = before[0].copy()
    for i in range(last):
        _move(frame, axis[i], turns[i], positions[i], poses[i])
        _multiply(poses[i], before[i + 1], frame)
    poses[last] = frame


@compiled
def _link_poses(positions: Matrix, before: Matrix, axis: Matrix, turns: npt.NDArray[np.bool_], poses: Matrix) -> None:
    for n in range(positions.shape[0]):
        _chain_poses(positions[n], before, axis, turns, poses[n])


@compiled
def _tip_poses(positions: Matrix, before: Matrix, axis: Matrix, turns: npt.NDArray[np.bool_], poses: Matrix) -> None:
    links = np.empty_like(before)
    for n in range(positions.shape[0]):
        _chain_poses(positions[n], before, axis, turns, links)
        poses[n] = links[-1]


@compiled
def _tree_poses(
    positions: Matrix,
    parent: npt.NDArray[np.int64],
    origin: Matrix,
    axis: Matrix,
    turns: npt.NDArray[np.bool_],
    poses: Matrix,
) -> None:
    """The poses of all links, the root's first; joint i carries link i + 1, and its parent comes before it."""
    frame = np.empty((4, 4))
    for n in range(positions.shape[0]):
        poses[n, 0] = np.eye(4)
        for i in range(axis.shape[0]):
            _multiply(poses[n, parent[i]], origin[i], frame)
            _move(frame, axis[i], turns[i], positions[n, i], poses[n, i + 1])
