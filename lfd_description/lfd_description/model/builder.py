"""From a robot's folder and a gripper to a model that can be planned with.

::

    robot.yaml, *.urdf.xacro, gripper ──► URDF ──► group ──► limits, poses, IK family ─┬─► RobotModel
                                                └─► bodies ──► collision matrix ───────┘
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from lfd_description.bodies import Body, MeshFinder, collision_bodies, visual_bodies
from lfd_description.grippers import Gripper
from lfd_description.kinematic_family import KinematicFamily, kinematic_family
from lfd_description.robots import HOME, MOCK, Robot, robot_description, usual_hand
from lfd_description.urdf import RobotTree, UrdfError, parse_urdf

from .collision_matrix import CollisionMatrix, Progress, sample_collision_matrix
from .collision_matrix_file import matrix_digest, read_matrix
from .findings import Finding, ModelError
from .group import Group, find_group
from .limits import JointLimits, joint_limits
from .model import RobotModel

MATRICES = 'collision_matrix'
"""The folder of the matrices in a robot's folder."""
BARE = 'bare'
"""The file of the matrix of an arm without a gripper."""


def build_model(
    robot: Robot,
    *,
    gripper: Gripper | None = None,
    prefix: str = '',
    hardware: str = MOCK,
    hand: str | None = None,
    robot_ip: str | None = None,
    hardware_parameters: Mapping[str, str] = MappingProxyType({}),
    resample: bool = False,
    progress: Progress = lambda _: None,
) -> RobotModel:
    """Derive everything that a planner needs to know about a robot.

    The collision matrix comes from the robot's folder if the one there is of this very robot; else it is sampled.

    Args:
        robot: the arm.
        gripper: what it carries.
        prefix: goes before all names.
        hardware: one of the robot's `kinds_of_hardware`.
        hand: `mock` or `external`, what moves the gripper; else the usual one for the hardware.
        robot_ip: the address of the real controller; else the one that its vendor ships it with.
        hardware_parameters: of the driver, by name.
        resample: sample the collision matrix whatever the folder holds.
        progress: told the finished share of the sampling, 0..1.

    Raises:
        RobotError, UrdfError, ModelError, MeshError: the robot cannot be planned with; the message is for the user.
    """
    urdf = robot_description(
        robot,
        hardware=hardware,
        hand=hand,
        prefix=prefix,
        gripper=gripper,
        robot_ip=robot_ip,
        hardware_parameters=hardware_parameters,
    )
    tree = _tree(urdf, robot, gripper)
    group, group_findings = find_group(tree, base=f'{prefix}{robot.base}', tip=f'{prefix}{robot.tip}')
    _refuse_other_joints(robot, group, prefix)
    limits, limits_finding = joint_limits(tree, group, robot)
    _refuse_poses_outside(robot, limits)
    family = kinematic_family(tree, group.base, group.tip)
    matrix = _collision_matrix(robot, gripper, resample, progress)
    return RobotModel(
        robot=robot,
        gripper=gripper,
        prefix=prefix,
        hardware=hardware,
        hand=hand or usual_hand(hardware),
        urdf=urdf,
        tree=tree,
        group=group,
        limits=MappingProxyType(dict(limits)),
        poses=robot.poses,
        family=family,
        collision_matrix=_prefixed(matrix, prefix),
        findings=(
            *group_findings,
            limits_finding,
            Finding('inverse kinematics', _solver(family), family.why),
            _matrix_finding(matrix),
        ),
    )


def _tree(urdf: str, robot: Robot, gripper: Gripper | None) -> RobotTree:
    try:
        return parse_urdf(urdf)
    except UrdfError as error:
        if gripper is None:
            raise
        raise ModelError(f'{robot.name} cannot carry {gripper.name}: {error}') from None


def can_carry(robot: Robot, gripper: Gripper) -> bool:
    """Whether a gripper can be mounted on a robot: there is room for it, and none of its names is the arm's."""
    if robot.own_gripper:
        return False
    try:
        parse_urdf(robot_description(robot, gripper=gripper))
    except UrdfError:
        return False
    return True


def matrix_file(robot: Robot, gripper: Gripper | None) -> Path:
    """Where the collision matrix of a robot with a gripper is kept."""
    return robot.folder / MATRICES / f'{gripper.name if gripper else BARE}.yaml'


@dataclass(frozen=True, eq=False)
class MatrixInputs:
    """All that the collision matrix of a robot with a gripper depends on; names come without prefix."""

    tree: RobotTree
    bodies: tuple[Body, ...]
    home: Mapping[str, float]
    visuals: tuple[Body, ...]

    def digest(self) -> str:
        """The digest of all of it."""
        return matrix_digest(self.tree, self.bodies, self.home, self.visuals)


def matrix_inputs(robot: Robot, gripper: Gripper | None) -> MatrixInputs:
    """Read all that the collision matrix of a robot with a gripper depends on."""
    urdf = robot_description(robot, gripper=gripper)
    home = dict(zip(robot.joints, robot.poses[HOME], strict=True))
    finder = mesh_finder(robot)
    visuals = visual_bodies(urdf, finder) if robot.conservative_collision else ()
    return MatrixInputs(parse_urdf(urdf), collision_bodies(urdf, finder), home, visuals)


def mesh_finder(robot: Robot) -> MeshFinder:
    """Finds the meshes of a robot, whose folder need not be installed yet."""
    return MeshFinder(places={f'package://lfd_description/robots/{robot.name}/': robot.folder})


def _collision_matrix(robot: Robot, gripper: Gripper | None, resample: bool, progress: Progress) -> CollisionMatrix:
    given = matrix_inputs(robot, gripper)
    kept = None if resample else read_matrix(matrix_file(robot, gripper), given.digest())
    return kept or sample_collision_matrix(
        given.tree, given.bodies, given.home, visuals=given.visuals, progress=progress
    )


def _prefixed(matrix: CollisionMatrix, prefix: str) -> CollisionMatrix:
    pairs = (dataclasses.replace(pair, link1=prefix + pair.link1, link2=prefix + pair.link2) for pair in matrix.pairs)
    return dataclasses.replace(matrix, pairs=tuple(pairs))


def _refuse_other_joints(robot: Robot, group: Group, prefix: str) -> None:
    named = tuple(prefix + joint for joint in robot.joints)
    if named != group.joints:
        raise ModelError(
            f'{robot.folder / "robot.yaml"} names the joints {", ".join(named)}, but those from {group.base} to '
            f'{group.tip} are {", ".join(group.joints)}; correct joints, base or tip.'
        )


def _refuse_poses_outside(robot: Robot, limits: Mapping[str, JointLimits]) -> None:
    for name, pose in robot.poses.items():
        for joint, position, limit in zip(robot.joints, pose, limits.values(), strict=True):
            if not limit.lower <= position <= limit.upper:
                raise ModelError(
                    f"{robot.folder / 'robot.yaml'} has the pose '{name}', in which {joint} is at {position:g}, "
                    f'outside its limits {limit.lower:g} to {limit.upper:g}; correct the pose.'
                )


def _solver(family: KinematicFamily) -> str:
    return f'closed form, {family.name}' if family.analytic else 'numeric'


def _matrix_finding(matrix: CollisionMatrix) -> Finding:
    counts = matrix.counts()
    skipped = ', '.join(f'{count} {reason.lower()}' for reason, count in counts.items() if reason and count)
    return Finding(
        'collision checks',
        f'{counts[""]} of {len(matrix.pairs)} pairs of links',
        f'the others need none: {skipped}' if skipped else 'all of them',
    )
