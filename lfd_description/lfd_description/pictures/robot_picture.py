"""Pictures of robots in a pose, from their URDF."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..bodies import Body, MeshFinder, visual_bodies
from ..kinematics import Tree
from ..meshes import NO_COLOUR, coloured_meshes, shape_mesh
from ..shapes import MeshFile
from ..urdf import Joint, RobotTree, parse_urdf
from .rasteriser import Floats
from .scene_picture import SIZE, Camera, Item, PictureError, Size, aspect_of, render
from .studio import Image

AZIMUTH = float(np.radians(-52.0))
ELEVATION = float(np.radians(16.0))


@dataclass(frozen=True)
class DrawnRobot:
    """A robot that can be drawn: its tree, and for each link the items it is made of, in the link's frame."""

    tree: RobotTree
    items: Mapping[str, tuple[Item, ...]]

    def posed(self, joints: Mapping[str, float]) -> tuple[Item, ...]:
        """The robot's items in the frame of its root link, for joint positions by name [rad or m].

        Joints that are not named are at zero, or in the middle of their range if zero is not in it.

        Raises:
            PictureError: the robot has no joint of a given name.
        """
        unknown = sorted(set(joints) - set(self.tree.joint))
        if unknown:
            raise PictureError(f"Robot '{self.tree.name}' has no joint '{unknown[0]}'; correct the name.")
        poses = Tree(self.tree).poses_at({**resting_joints(self.tree), **joints})
        return tuple(
            Item(item.mesh, poses[link] @ item.pose, item.colour)
            for link, items in self.items.items()
            for item in items
        )


def drawn_robot(urdf: str, find: MeshFinder | None = None) -> DrawnRobot:
    """Read what a robot looks like from the text of its URDF.

    Raises:
        UrdfError: the URDF is wrong or names mesh files that are missing.
        MeshError: a mesh file cannot be read.
    """
    return DrawnRobot(parse_urdf(urdf), items_by_link(visual_bodies(urdf, find)))


def resting_joints(tree: RobotTree) -> Mapping[str, float]:
    """Positions [rad or m] of all joints that lead: zero, or the middle of the range if zero is not in it."""
    joints: dict[str, float] = {}
    for joint in tree.joints:
        if joint.moves and joint.mimic is None:
            lower, upper = slider_range(joint)
            joints[joint.name] = 0.0 if lower <= 0.0 <= upper else 0.5 * (lower + upper)
    return joints


def slider_range(joint: Joint) -> tuple[float, float]:
    """From where to where a joint can be set [rad or m]; one turn for joints without end."""
    if joint.limits is None or not math.isfinite(joint.limits.upper - joint.limits.lower):
        return -math.pi, math.pi
    return joint.limits.lower, joint.limits.upper


def items_by_link(bodies: tuple[Body, ...]) -> Mapping[str, tuple[Item, ...]]:
    """The bodies as items in their links' frames.

    Raises:
        MeshError: a mesh file cannot be read.
    """
    items: dict[str, tuple[Item, ...]] = {}
    for body in bodies:
        items[body.link] = (*items.get(body.link, ()), *_items(body))
    return items


def robot_picture(
    urdf: str,
    joints: Mapping[str, float],
    size: Size = SIZE,
    *,
    find: MeshFinder | None = None,
    azimuth: float = AZIMUTH,
    elevation: float = ELEVATION,
    with_floor: bool = True,
) -> Image:
    """The robot in a pose, all of it in the picture, on a floor at the height of its lowest point.

    `joints` are positions by name [rad or m], the others rest at zero. `azimuth` [rad] is where the camera stands, from
    the root's +x towards its +y; `elevation` [rad] how far it looks down.

    Raises:
        UrdfError: the URDF is wrong or names mesh files that are missing.
        MeshError: a mesh file cannot be read.
        PictureError: a joint or the size is wrong, or the robot has nothing to draw.
    """
    robot = drawn_robot(urdf, find)
    items = robot.posed(joints)
    if not items:
        raise PictureError(f"Robot '{robot.tree.name}' has nothing to draw; add <visual> to its links.")
    camera = Camera.around(corners_of(items), azimuth, elevation, aspect=aspect_of(size))
    return render(items, camera, size, with_floor=with_floor)


def corners_of(items: tuple[Item, ...]) -> Floats:
    """All corners of the items in the world, (N, 3) [m]."""
    return np.concatenate([np.asarray(i.mesh.vertices) @ i.pose[:3, :3].T + i.pose[:3, 3] for i in items])


def _items(body: Body) -> tuple[Item, ...]:
    if isinstance(body.shape, MeshFile) and body.colour is None:
        parts = coloured_meshes(body.shape.file, body.shape.scale)
        return tuple(Item(mesh, body.origin, colour) for mesh, colour in parts)
    return (Item(shape_mesh(body.shape), body.origin, body.colour or NO_COLOUR),)
