"""Robots in scenes to plan in, and judges that nobody here wrote: pinocchio and coal."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pinocchio as pin
from scipy.spatial.transform import Rotation

from lfd_description.bodies import MeshFinder
from lfd_description.grippers import find_gripper
from lfd_description.model.builder import build_model
from lfd_description.robots import find_robot
from lfd_description.scenes import find_scene
from lfd_description.shapes import Box, Vector
from lfd_planner.robot.planning_robot import PlanningGroup, PlanningRobot, planning_robot
from lfd_planner.scene import Body, PlanningScene, Pose, WorldObject, from_scene

from .coal_judge import PinocchioWorld
from .urdfs import PUBLISHED

Array = npt.NDArray[np.float64]


def box(name: str, size: Vector, position: Vector) -> WorldObject:
    """A box that stands in the world, `size` and `position` of its middle in the scene's frame [m]."""
    return WorldObject(name, Body.of(Box(size)), Pose(position))


@dataclass(frozen=True, eq=False)
class PlanningCell:
    """A robot in a scene: where it starts, and the links that its tasks are about."""

    robot: PlanningRobot
    group: PlanningGroup
    scene: PlanningScene
    """The robot is at home in it."""
    home: Array
    """(dof,) [rad or m], with the hand pointing down."""
    tcp: str
    moving: str
    """A link that is not fixed to the tip."""
    foot: str
    has_closed_form: bool

    def judge(self, scene: PlanningScene | None = None) -> PinocchioWorld:
        """An independent collision checker for a scene, or for the cell's own."""
        scene = self.scene if scene is None else scene
        return PinocchioWorld(self.robot.urdf, self.robot.bodies, scene, self.group.joints)

    def pose(self, q: Array, link: str | None = None) -> Array:
        """Where a link, or the TCP, is at q by pinocchio: the 4x4 transform scene frame -> link [m]."""
        return self.poses(q[np.newaxis], link)[0]

    def poses(self, q: Array, link: str | None = None) -> Array:
        """The same for each row."""
        model, data, columns, neutral = _pinocchio(self.robot.urdf, self.group.joints)
        frame, found = model.getFrameId(link or self.tcp), []
        for row in q:
            full = neutral.copy()
            full[columns] = row
            pin.framesForwardKinematics(model, data, full)
            found.append(np.array(data.oMf[frame].homogeneous))
        return np.array(found).reshape(-1, 4, 4)

    def random_states(self, count: int, seed: int) -> Array:
        """Positions within limits, (count, dof) [rad or m]."""
        lower, upper = self.group.bounds
        return np.random.default_rng(seed).uniform(lower, upper, (count, len(lower)))

    def free_states(self, count: int, seed: int, scene: PlanningScene | None = None, room: float = 0.005) -> Array:
        """Positions that keep `room` [m] from everything, by the judge, and are no more than 2.5 rad from home.

        Further away the way round is longer than a turn, and where an arm cannot reach through its pedestal there is
        none.
        """
        judge = self.judge(scene)
        lower, upper = self.group.bounds
        near = np.maximum(lower, self.home - 2.5), np.minimum(upper, self.home + 2.5)
        states = np.random.default_rng(seed).uniform(*near, (40 * count, len(lower)))
        free = [q for q in states if not judge.collides(q) and judge.distance(q) > room]
        assert len(free) >= count
        return np.array(free[:count])

    def with_joints(self, scene: PlanningScene, q: Array) -> PlanningScene:
        """The scene with the group at q."""
        return scene.with_joints(self.group.by_name(q))

    def at_tcp(self, name: str, size: Vector, below: float = 0.0) -> WorldObject:
        """A box around the TCP at home, or `below` it [m]."""
        x, y, z = self.pose(self.home)[:3, 3].tolist()
        return box(name, size, (x, y, z - below))


@cache
def shipped_cell(name: str) -> PlanningCell:
    """A shipped arm with the two-finger gripper in the demonstration cell."""
    model = build_model(find_robot(name), gripper=find_gripper('two_finger'))
    robot = planning_robot(model)
    group, home = robot.group(model.group.name), np.array(model.poses['home'])
    scene = robot.empty_scene().with_joints(group.by_name(home))
    scene = scene.add(*from_scene(find_scene('seed_cell')).objects.values())
    return PlanningCell(robot, group, scene, home, 'tcp', 'left_finger', robot.bodies[0].link, has_closed_form=True)


@cache
def panda_cell() -> PlanningCell:
    """Somebody else's arm, with seven joints, described by somebody else's files."""
    folder = PUBLISHED / 'panda_description'
    # Their SRDF lists the arm's joints; inverse kinematics is for groups that are written as a chain.
    chain = '<group name="arm"><chain base_link="panda_link0" tip_link="panda_link8"/></group>'
    srdf = re.sub('<group name="arm">.*?</group>', chain, (folder / 'srdf/panda.srdf').read_text(), count=1, flags=re.S)
    urdf = (folder / 'urdf/panda.urdf').read_text()
    meshes = MeshFinder(places={'package://example-robot-data/robots/': PUBLISHED})
    robot = PlanningRobot.of(urdf, srdf, meshes=meshes)
    group, home = robot.group('arm'), np.array([0.0, -0.785398, 0.0, -2.35619, 0.0, 1.5707, 0.785398])
    scene = robot.empty_scene().with_joints(group.by_name(home))
    scene = scene.add(
        box('table', (0.6, 1.0, 0.04), (0.65, 0.0, -0.02)), box('crate', (0.2, 0.2, 0.2), (0.5, 0.35, 0.1))
    )
    return PlanningCell(
        robot, group, scene, home, 'panda_hand_tcp', 'panda_leftfinger', 'panda_link0', has_closed_form=False
    )


def planning_cell(name: str) -> PlanningCell:
    """A cell by the name of its arm."""
    return panda_cell() if name == 'panda' else shipped_cell(name)


@cache
def _pinocchio(urdf: str, joints: tuple[str, ...]) -> tuple[pin.Model, pin.Data, list[int], Array]:
    model = pin.buildModelFromXML(urdf)
    columns = [model.joints[model.getJointId(name)].idx_q for name in joints]
    return model, model.createData(), columns, np.array(pin.neutral(model))


def dense(path: Array, step: float) -> Array:
    """Positions along a path between which no joint moves more than a step [rad or m]."""
    pieces = [path[:1]]
    for a, b in pairwise(path):
        count = max(int(np.ceil(np.abs(b - a).max() / step)), 1)
        pieces.append(a + np.linspace(0.0, 1.0, count + 1)[1:, np.newaxis] * (b - a))
    return np.concatenate(pieces)


def off_line(poses: Array, first: Array, last: Array) -> tuple[float, float]:
    """How far poses are from a straight line of poses at most: from the line [m], and turned from the start [rad]."""
    along = last[:3, 3] - first[:3, 3]
    along = along / np.linalg.norm(along)
    away = poses[:, :3, 3] - first[:3, 3]
    away = away - np.outer(away @ along, along)
    turns = Rotation.from_matrix(first[:3, :3].T @ poses[:, :3, :3]).magnitude()
    return float(np.linalg.norm(away, axis=1).max()), float(turns.max())


def caged(cell: PlanningCell, start: Array) -> tuple[PlanningScene, Array, Array]:
    """A scene without a way from a free start to a free goal: the hand holds a plate, and at the goal that is caged.

    The plate is wider than the diagonal of the hole through which the wrist gets into the cage.
    """
    scene = cell.with_joints(cell.robot.empty_scene(), start)
    pose = cell.pose(start)
    plate = WorldObject('plate', Body.of(Box((0.26, 0.26, 0.01))), Pose.of(pose) @ Pose((0.0, 0.0, 0.05)))
    touch = {body.link for body in cell.robot.bodies}
    scene = scene.add(plate).attach('plate', cell.tcp, cell.robot.frames.link_poses(scene.joints), touch)
    x, y, z = (Pose.of(cell.pose(cell.home)) @ Pose((0.0, 0.0, 0.05))).position
    walls = [box('floor of the cage', (0.34, 0.34, 0.02), (x, y, z - 0.06))]
    for dx, dy in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)):
        side, lid = 0.16 * np.array([dx, dy]), 0.125 * np.array([dx, dy])
        across = 0.34 * np.abs([dy, dx])
        walls.append(
            box(f'side {len(walls)}', (across[0] or 0.02, across[1] or 0.02, 0.14), (x + side[0], y + side[1], z))
        )
        walls.append(
            box(f'lid {len(walls)}', (across[0] or 0.07, across[1] or 0.07, 0.01), (x + lid[0], y + lid[1], z + 0.03))
        )
    return replace(scene.add(*walls), name='caged'), start, cell.home
