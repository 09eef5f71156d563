"""Arms to solve for, and kinematics that nobody here wrote to check the solutions with (pinocchio, EAIK)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from lfd_description.kinematics import JointAxes
from lfd_description.robots import find_robot, robot_description
from lfd_description.urdf import RobotTree, parse_urdf

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class TestArm:
    """A chain of a URDF."""

    __test__ = False
    urdf: str
    base: str
    tip: str

    @property
    def tree(self) -> RobotTree:
        return parse_urdf(self.urdf)


# Arms of other makers, from the package example-robot-data: file, base, tip.
EXAMPLES = {
    'panda': ('panda_description/urdf/panda.urdf', 'panda_link0', 'panda_link8'),
    'pr2 right': ('pr2_description/urdf/pr2.urdf', 'torso_lift_link', 'r_wrist_roll_link'),
    'pr2 left': ('pr2_description/urdf/pr2.urdf', 'torso_lift_link', 'l_wrist_roll_link'),
    'pr2 lift and right': ('pr2_description/urdf/pr2.urdf', 'base_link', 'r_wrist_roll_link'),
    'tiago': ('tiago_description/robots/tiago.urdf', 'torso_lift_link', 'arm_tool_link'),
    'tiago with lift': ('tiago_description/robots/tiago.urdf', 'base_link', 'arm_tool_link'),
    'baxter': ('baxter_description/urdf/baxter.urdf', 'torso', 'left_gripper'),
    'xarm7': ('xarm_description/urdf/xarm7.urdf', 'world', 'link7'),
    'talos': ('talos_data/robots/talos_left_arm.urdf', 'arm_left_1_link', 'gripper_left_base_link'),
    'so101': ('so_arm_description/urdf/so101.urdf', 'base_link', 'gripper_link'),
    'kinova': ('kinova_description/robots/kinova.urdf', 'base', 'j2s6s200_link_6'),
    'z1': ('z1_description/urdf/z1.urdf', 'world', 'link06'),
    'ur5': ('ur_description/urdf/ur5_robot.urdf', 'base_link', 'ee_link'),
    'ur10': ('ur_description/urdf/ur10_joint_limited_robot.urdf', 'base_link', 'ee_link'),
}


ANALYTIC_EXAMPLES = ('talos', 'kinova', 'z1', 'ur5', 'ur10')


@cache
def example_arm(name: str) -> TestArm:
    file, base, tip = EXAMPLES[name]
    prefix = find_spec('cmeel')
    assert prefix is not None
    assert prefix.origin is not None
    robots = Path(prefix.origin).parents[1] / 'cmeel.prefix/share/example-robot-data/robots'
    return TestArm((robots / file).read_text(encoding='utf-8'), base, tip)


@cache
def shipped_arm(name: str, prefix: str = '') -> TestArm:
    return TestArm(robot_description(find_robot(name), prefix=prefix), f'{prefix}base_link', f'{prefix}tool0')


class PinocchioArm:
    """Pinocchio's forward kinematics of the same chain."""

    def __init__(self, arm: TestArm, joints: Sequence[str]) -> None:
        import pinocchio

        self._pin = pinocchio
        self.model = pinocchio.buildModelFromXML(arm.urdf)
        self.data = self.model.createData()
        self._base, self._tip = self.model.getFrameId(arm.base), self.model.getFrameId(arm.tip)
        self._joints = [self.model.joints[self.model.getJointId(name)] for name in joints]

    def _full(self, q: Array) -> Array:
        full = np.array(self._pin.neutral(self.model))
        for joint, value in zip(self._joints, q, strict=True):
            # Pinocchio keeps a joint without limits as cosine and sine.
            full[joint.idx_q : joint.idx_q + joint.nq] = value if joint.nq == 1 else (math.cos(value), math.sin(value))
        return full

    def pose(self, q: Array) -> Array:
        self._pin.framesForwardKinematics(self.model, self.data, self._full(q))
        base, tip = self.data.oMf[self._base], self.data.oMf[self._tip]
        return np.array(base.actInv(tip).homogeneous)

    def jacobian(self, q: Array) -> Array:
        """The tip's Jacobian, (6, dof)."""
        full = self._full(q)
        columns = [joint.idx_v for joint in self._joints]
        return np.array(self._pin.computeFrameJacobian(self.model, self.data, full, self._tip))[:, columns]

    def poses(self, q: Array) -> Array:
        return np.array([self.pose(row) for row in q]).reshape(-1, 4, 4)


def pose_errors(a: Array, b: Array) -> tuple[Array, Array]:
    """The distances [m] and the angles [rad] between two lists of poses, (N, 4, 4) each."""
    turn = Rotation.from_matrix(a[:, :3, :3].transpose(0, 2, 1) @ b[:, :3, :3])
    return np.linalg.norm(a[:, :3, 3] - b[:, :3, 3], axis=1), turn.magnitude()


def turned_apart(a: Array, b: Array) -> Array:
    """The largest difference of any joint, full turns aside, along the last axis [rad]."""
    difference = a - b
    return np.asarray(np.abs(difference - 2 * math.pi * np.round(difference / (2 * math.pi))).max(axis=-1))


def eaik_solver(axes: JointAxes) -> Callable[[Array], Array]:
    """EAIK for the same joint axes: all solutions for a pose, limits ignored, whether they reach it or not."""
    from eaik.IK_HP import HPRobot

    points = np.vstack([np.zeros(3), axes.point, axes.home[:3, 3]])
    robot = HPRobot(np.ascontiguousarray(axes.direction), np.diff(points, axis=0))

    def solve(pose: Array) -> Array:
        goal = pose.copy()
        goal[:3, :3] = pose[:3, :3] @ axes.home[:3, :3].T
        return np.asarray(robot.IK(goal).Q, dtype=np.float64).reshape(-1, 6)

    return solve


# Arms that nobody built ----------------------------------------------------------------------------------------------

SHAPES = ('2 and 3 parallel', '1 and 2 parallel', '1 and 2 meet', '2 and 3 meet', 'parallel axes', 'general')


def made_up_arm(shape: str, random: np.random.Generator, decimals: int | None = None) -> TestArm:
    """A six-axis arm with random lines of the given shape, random frames, signs and limits.

    With `decimals` the numbers in its URDF are rounded, as people do.
    """
    direction, point = _lines(shape, random)
    turn, shift = Rotation.random(rng=random).as_matrix(), random.uniform(-0.5, 0.5, 3)
    return _urdf_of_lines(direction @ turn.T, point @ turn.T + shift, random, decimals)


def _lines(shape: str, random: np.random.Generator) -> tuple[Array, Array]:
    while True:
        direction = random.normal(size=(6, 3))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        point = random.uniform(-0.4, 0.4, (6, 3))
        if shape == 'parallel axes':
            direction[2:4] = direction[1] * random.choice([-1, 1], (2, 1))
            point[5] = point[4]
        elif shape != 'general':
            first = int(shape[0]) - 1
            point[4:] = point[3]
            if shape.endswith('parallel'):
                direction[first + 1] = direction[first] * random.choice([-1, 1])
            else:
                point[first + 1] = point[first]
        if _well_apart(shape, direction, point):
            slide = random.uniform(-0.3, 0.3, (6, 1))
            return direction, point + slide * direction


def _well_apart(shape: str, direction: Array, point: Array) -> bool:
    """Whether neighbouring axes are neither almost parallel nor almost the same, but where they should be."""
    parallel = {'parallel axes': (1, 2), '2 and 3 parallel': (1,), '1 and 2 parallel': (0,)}.get(shape, ())
    for i in range(5):
        if i in parallel:
            if np.linalg.norm(np.cross(direction[i], point[i + 1] - point[i])) < 0.1:
                return False
        elif np.linalg.norm(np.cross(direction[i], direction[i + 1])) < 0.4:
            return False
    wrist_off_elbow = np.linalg.norm(np.cross(direction[2], point[3] - point[2]))
    return bool(wrist_off_elbow > 0.1 and np.linalg.norm(np.cross(direction[0], direction[2])) > 0.4)


def _urdf_of_lines(direction: Array, point: Array, random: np.random.Generator, decimals: int | None) -> TestArm:
    frames = [np.eye(4)]
    joints = []
    for i in range(6):
        frame = np.eye(4)
        frame[:3, :3] = Rotation.random(rng=random).as_matrix()
        frame[:3, 3] = point[i]
        lower, upper = -random.uniform(1.5, 6.0), random.uniform(1.5, 6.0)
        kind, limit = 'revolute', f'<limit lower="{lower}" upper="{upper}" velocity="1" effort="1"/>'
        if random.uniform() < 0.2:
            kind, limit = 'continuous', ''
        # The axis is one of the frame's own, or its reverse, so that it prints without rounding.
        axis = np.zeros(3)
        axis[random.integers(3)] = random.choice([-1.0, 1.0])
        onto, _ = Rotation.align_vectors(direction[i], frame[:3, :3] @ axis)
        frame[:3, :3] = onto.as_matrix() @ frame[:3, :3]
        joints.append(_joint(i, kind, frames[-1], frame, axis, limit, decimals))
        frames.append(frame)
    tool = np.eye(4)
    tool[:3, :3], tool[:3, 3] = Rotation.random(rng=random).as_matrix(), random.uniform(-0.5, 0.5, 3)
    joints.append(_joint(6, 'fixed', frames[-1], tool, np.array([1.0, 0.0, 0.0]), '', decimals))
    links = ''.join(f'<link name="link_{i}"/>' for i in range(8))
    return TestArm(f'<robot name="made_up">{links}{"".join(joints)}</robot>', 'link_0', 'link_7')


def _joint(i: int, kind: str, parent: Array, child: Array, axis: Array, limit: str, decimals: int | None) -> str:
    origin = np.linalg.inv(parent) @ child
    numbers = np.concatenate(
        [origin[:3, 3], Rotation.from_matrix(origin[:3, :3]).as_euler('xyz', suppress_warnings=True)]
    )
    if decimals is not None:
        numbers = np.round(numbers, decimals)
    xyz, rpy = (' '.join(repr(float(number)) for number in part) for part in (numbers[:3], numbers[3:]))
    return (
        f'<joint name="joint_{i}" type="{kind}"><parent link="link_{i}"/><child link="link_{i + 1}"/>'
        f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis[0]} {axis[1]} {axis[2]}"/>{limit}</joint>'
    )
