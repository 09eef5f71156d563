"""What a descriptor can stand for: the objects of a scene file or of a planning scene, seen in one way.

An object of a planning scene may be made of several shapes, or be a mesh that is nowhere in a file; rules can be
applied to it all the same.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lfd_description.bodies import Colour
from lfd_description.meshes import load_mesh
from lfd_description.scenes import Scene
from lfd_description.scenes.scene import LIGHT_GREY
from lfd_description.shapes import Box, Capsule, Cone, Cylinder, MeshFile, Plane, Sphere, Vector
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, LinkPoses, Part, PlanningScene, SceneShape, TriangleMesh, triangles_of
from lfd_planner.scene.planning_scene import link_pose


@dataclass(frozen=True)
class Thing:
    """An object as rules see it."""

    name: str
    parts: tuple[Part, ...]
    """Its shapes, and where they are in the object's frame."""
    position: Vector
    """Of the shape's origin in the scene's frame, or of the object's if it is made of several [m]."""
    colour: Colour = LIGHT_GREY
    movable: bool = False
    tags: tuple[str, ...] = ()

    @property
    def shape(self) -> str | None:
        """Its shape as rules name it; None: it is made of several."""
        return kind(self.parts[0].shape) if len(self.parts) == 1 else None

    def extents(self) -> Vector:
        """The edges of the box around it, longest first [m]: along the shape's axes, or the object's if it has several.

        Raises:
            MeshError: a shape is a mesh file that cannot be used.
        """
        return extents(self.parts[0].shape) if len(self.parts) == 1 else _extents_together(self.parts)


def things_in(scene: Scene | PlanningScene, link_poses: LinkPoses | None = None) -> Mapping[str, Thing]:
    """The objects of a scene by name; attached ones are where the links are now.

    Raises:
        SceneFault: something is attached to a link that is not among `link_poses`.
    """
    if isinstance(scene, Scene):
        return {
            thing.name: Thing(thing.name, (Part(thing.shape),), thing.position, thing.colour, thing.movable, thing.tags)
            for thing in scene.objects
        }
    found = {thing.id: _thing(scene, thing.id, thing.body, thing.pose) for thing in scene.objects.values()}
    for held in scene.attached.values():
        found[held.id] = _thing(scene, held.id, held.body, link_pose(held.link, link_poses or {}) @ held.pose)
    return found


def kind(shape: SceneShape) -> str:
    """A shape as rules name it."""
    return 'mesh' if isinstance(shape, MeshFile | TriangleMesh) else type(shape).__name__.lower()


def extents(shape: SceneShape) -> Vector:
    """The edges of the box around a shape along its own axes, longest first [m].

    Raises:
        MeshError: the shape is a mesh file that cannot be used.
    """
    return _longest_first(_edges(shape))


def _thing(scene: PlanningScene, name: str, body: Body, pose: Pose) -> Thing:
    at = pose @ body.parts[0].pose if len(body.parts) == 1 else pose
    colour = scene.colours.get(name, LIGHT_GREY)
    return Thing(name, body.parts, at.position, colour, body.movable, body.tags)


def _extents_together(parts: tuple[Part, ...]) -> Vector:
    if any(isinstance(part.shape, Plane) for part in parts):
        return math.inf, math.inf, math.inf
    corners = [triangles_of(part.shape).vertices @ part.pose.matrix[:3, :3].T + part.pose.position for part in parts]
    x, y, z = np.ptp(np.concatenate(corners), axis=0).tolist()
    return _longest_first((x, y, z))


def _longest_first(edges: Vector) -> Vector:
    x, y, z = sorted(edges, reverse=True)
    return x, y, z


def _edges(shape: SceneShape) -> Vector:
    match shape:
        case Box(size):
            return size
        case Sphere(radius):
            return 2.0 * radius, 2.0 * radius, 2.0 * radius
        case Cylinder(radius, height) | Cone(radius, height) | Capsule(radius, height):
            return 2.0 * radius, 2.0 * radius, height
        case MeshFile():
            return _mesh_edges(shape)
        case TriangleMesh(vertices):
            x, y, z = np.ptp(vertices, axis=0).tolist()
            return x, y, z
        case Plane():
            return math.inf, math.inf, math.inf


@lru_cache(maxsize=256)
def _mesh_edges(shape: MeshFile) -> Vector:
    x, y, z = np.ptp(np.asarray(load_mesh(shape.file, shape.scale).vertices), axis=0).tolist()
    return x, y, z
