"""A robot to plan for, made of what MoveIt is given too: a URDF, an SRDF and joint limits.

::

    URDF ──► tree, bodies ─┐
    SRDF ──► groups, ACM ──┼─► PlanningRobot ──► group ──► inverse kinematics of its chain
    joint limits ──────────┘
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from lfd_description.bodies import Body, MeshFinder, collision_bodies
from lfd_description.hints import no_such
from lfd_description.kinematics import Tree
from lfd_description.model.builder import mesh_finder
from lfd_description.model.limits import TIME_TO_FULL_SPEED, JointLimits
from lfd_description.model.model import RobotModel
from lfd_description.model.srdf import srdf
from lfd_description.urdf import Joint, Matrix, Mimic, RobotTree, parse_urdf
from lfd_planner.robot.ik import IkSolver, NumericOptions, make_solver
from lfd_planner.robot.srdf import EndEffector, GroupDescription, Srdf, parse_srdf
from lfd_planner.scene import AllowedCollisions, PlanningScene, RobotFrames

FALLBACK_VELOCITY = 1.0  # [rad/s or m/s], of joints for which neither URDF nor limits say one


class NoSuchGroup(ValueError):
    """There is no planning group of that name; the message names those that there are."""


class NoKinematics(ValueError):
    """Nobody can bring that link of that group to a pose; the message says why."""


@dataclass(frozen=True)
class LimitsOverride:
    """What joint_limits.yaml says of a joint; None where it says nothing."""

    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    acceleration: float | None = None


@dataclass(frozen=True, eq=False)
class LinkSolver:
    """Inverse kinematics for a link that is fixed to the tip of a group's chain."""

    solver: IkSolver
    offset: Matrix
    """The 4x4 transform link -> tip [m]."""

    def to_tip(self, poses: Matrix) -> Matrix:
        """Poses base -> tip, (..., 4, 4), for poses base -> link [m]."""
        return poses @ self.offset


@dataclass(frozen=True, eq=False)
class PlanningGroup:
    """The joints that are planned for together, in the order of the columns of q."""

    description: GroupDescription
    tree: RobotTree
    limits: tuple[JointLimits, ...]
    numeric: NumericOptions | None = None

    @property
    def name(self) -> str:
        """Of the group."""
        return self.description.name

    @property
    def joints(self) -> tuple[str, ...]:
        """The names of the columns of q."""
        return self.description.joints

    @cached_property
    def bounds(self) -> Matrix:
        """The lowest and the highest positions, (2, dof) [rad or m]; infinite for joints that turn without end."""
        return np.array([[limit.lower for limit in self.limits], [limit.upper for limit in self.limits]])

    @cached_property
    def velocities(self) -> Matrix:
        """The highest velocities, (dof,) [rad/s or m/s]."""
        return np.array([limit.velocity for limit in self.limits])

    @cached_property
    def accelerations(self) -> Matrix:
        """The highest accelerations, (dof,) [rad/s^2 or m/s^2]."""
        return np.array([limit.acceleration for limit in self.limits])

    @property
    def tip(self) -> str:
        """The last link of the group's chain.

        Raises:
            NoKinematics: the group is no chain.
        """
        return self._chain()[1]

    @property
    def base(self) -> str:
        """The link in whose frame the group's solver takes poses.

        Raises:
            NoKinematics: the group is no chain.
        """
        return self._chain()[0]

    @cached_property
    def solver(self) -> IkSolver:
        """The inverse kinematics of the chain base -> tip.

        Raises:
            NoKinematics: the group is no chain.
        """
        base, tip = self._chain()
        return make_solver(self.tree, base, tip, numeric=self.numeric)

    def solver_for(self, link: str) -> LinkSolver:
        """The inverse kinematics for a link that is fixed to the chain's tip.

        Raises:
            NoKinematics: the group is no chain, or a joint moves the link against its tip.
        """
        tip = self.tip
        to_tip, to_link = self.tree.chain(self.tree.root, tip), self.tree.chain(self.tree.root, link)
        shared = sum(1 for a, b in zip(to_tip, to_link, strict=False) if a is b)
        to_tip, to_link = to_tip[shared:], to_link[shared:]
        if any(joint.kind != 'fixed' for joint in (*to_tip, *to_link)):
            raise NoKinematics(
                f"Link '{link}' is not fixed to '{tip}', the tip of group '{self.name}'; "
                f"give the pose of '{tip}' or of a link that is."
            )
        return LinkSolver(self.solver, np.linalg.inv(_product(to_link)) @ _product(to_tip))

    def positions(self, joints: Mapping[str, float]) -> Matrix:
        """The columns of q, (dof,), of positions by joint; 0 for those that are not there [rad or m]."""
        return np.array([joints.get(name, 0.0) for name in self.joints], dtype=np.float64)

    def by_name(self, q: Matrix) -> dict[str, float]:
        """Positions by joint, of the columns of q [rad or m]."""
        return dict(zip(self.joints, q.tolist(), strict=True))

    def _chain(self) -> tuple[str, str]:
        if self.description.chain is None or not self.joints:
            raise NoKinematics(f"Group '{self.name}' is no chain of links, so that it has no inverse kinematics.")
        return self.description.chain


@dataclass(frozen=True, eq=False)
class PlanningRobot:
    """A robot to plan for."""

    urdf: str
    srdf: str
    tree: RobotTree
    bodies: tuple[Body, ...]
    """What its links collide with."""
    groups: Mapping[str, PlanningGroup]
    end_effectors: tuple[EndEffector, ...]
    allowed: AllowedCollisions
    """Which of its links may touch."""
    frame: str
    """The planning frame: the root link, or the frame to which the SRDF fixes it."""
    limits: Mapping[str, JointLimits] = field(default_factory=dict)
    """Of all joints that move and follow no other."""

    @staticmethod
    def of(
        urdf: str,
        srdf: str,
        overrides: Mapping[str, LimitsOverride] | None = None,
        *,
        meshes: MeshFinder | None = None,
        numeric: NumericOptions | None = None,
    ) -> PlanningRobot:
        """Read a robot from the texts of its URDF and SRDF; `overrides` are the limits by joint that win.

        Raises:
            UrdfError, SrdfError, MeshError: it cannot be planned for; the message is for the user.
        """
        tree = parse_urdf(urdf)
        read = parse_srdf(srdf, tree)
        limits = _limits(tree, overrides or {})
        groups = {
            name: PlanningGroup(group, tree, tuple(limits[joint] for joint in group.joints), numeric)
            for name, group in read.groups.items()
        }
        bodies = collision_bodies(urdf, meshes)
        frame = read.world_frame or tree.root
        return PlanningRobot(urdf, srdf, tree, bodies, groups, read.end_effectors, _allowed(read), frame, limits)

    @property
    def name(self) -> str:
        """Of the robot."""
        return self.tree.name

    @cached_property
    def frames(self) -> RobotFrames:
        """Where its links are in the planning frame."""
        return RobotFrames(self.tree, self.frame)

    @cached_property
    def kinematics(self) -> Tree:
        """Forward kinematics of all its links."""
        return Tree(self.tree)

    @cached_property
    def joints(self) -> tuple[str, ...]:
        """All joints that move and follow no other."""
        return self.kinematics.joints

    def with_followers(self, positions: Mapping[str, float]) -> dict[str, float]:
        """Positions by joint [rad or m] with those of the joints that follow one of them, computed from it.

        Positions that are given for joints that follow another do not count.
        """
        leading = {name: value for name, value in positions.items() if name not in self._leaders}
        following = {
            name: mimic.position(leading[mimic.joint])
            for name, mimic in self._leaders.items()
            if mimic.joint in leading
        }
        return {**leading, **following}

    @cached_property
    def _leaders(self) -> Mapping[str, Mimic]:
        """For each joint that follows another, which one and how."""
        return {joint.name: joint.mimic for joint in self.tree.joints if joint.moves and joint.mimic is not None}

    def group(self, name: str) -> PlanningGroup:
        """A group by its name.

        Raises:
            NoSuchGroup: there is none of that name.
        """
        if name not in self.groups:
            raise NoSuchGroup(no_such('planning group', name, self.groups))
        return self.groups[name]

    @cached_property
    def home(self) -> Mapping[str, float]:
        """Positions of all joints, where nobody says otherwise: 0, or the middle of the range if 0 is outside it."""
        return {name: _default(limit) for name, limit in self.limits.items()}

    def empty_scene(self) -> PlanningScene:
        """The scene with the robot alone, at its home position."""
        scene = PlanningScene(self.frame, allowed=self.allowed, robot=self.name)
        return scene.with_joints(self.home)


def planning_robot(model: RobotModel, numeric: NumericOptions | None = None) -> PlanningRobot:
    """The robot of a model, read from the very texts that a MoveIt would be given for it."""
    overrides = {
        name: LimitsOverride(limit.lower, limit.upper, limit.velocity, limit.acceleration)
        for name, limit in model.limits.items()
    }
    return PlanningRobot.of(model.urdf, srdf(model), overrides, meshes=mesh_finder(model.robot), numeric=numeric)


def _product(way: Sequence[Joint]) -> Matrix:
    matrix = np.eye(4)
    for joint in way:
        matrix = matrix @ joint.origin
    return matrix


def _default(limit: JointLimits) -> float:
    if limit.lower <= 0.0 <= limit.upper:
        return 0.0
    return 0.5 * (limit.lower + limit.upper)


def _limits(tree: RobotTree, overrides: Mapping[str, LimitsOverride]) -> dict[str, JointLimits]:
    """The limits of all joints that set the robot's position."""
    limits = {}
    for joint in tree.joints:
        if joint.moves and joint.mimic is None:
            own = joint.limits
            velocity = own.velocity if own and own.velocity > 0.0 else FALLBACK_VELOCITY
            found = JointLimits(
                lower=own.lower if own else -math.inf,
                upper=own.upper if own else math.inf,
                velocity=velocity,
                acceleration=math.nan,
                effort=own.effort if own else 0.0,
            )
            limits[joint.name] = _overridden(found, overrides.get(joint.name, LimitsOverride()))
    return limits


def _overridden(limits: JointLimits, override: LimitsOverride) -> JointLimits:
    velocity = override.velocity if override.velocity is not None else limits.velocity
    acceleration = override.acceleration if override.acceleration is not None else velocity / TIME_TO_FULL_SPEED
    return replace(
        limits,
        lower=limits.lower if override.lower is None else max(limits.lower, override.lower),
        upper=limits.upper if override.upper is None else min(limits.upper, override.upper),
        velocity=velocity,
        acceleration=acceleration,
    )


def _allowed(read: Srdf) -> AllowedCollisions:
    allowed = AllowedCollisions.of(read.disabled)
    for link in read.free_links:
        allowed = allowed.with_default(link, True)
    return allowed.edited((a, b, False) for a, b in read.enabled)
