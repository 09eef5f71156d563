"""Poses, objects and scenes as JSON data, for the journal and the log; what is read back is equal to what was written.

Whoever reads data of unknown origin must expect `ValueError`, `KeyError` and `TypeError`; `Unreadable` is all of them.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np

from lfd_description.bodies import Colour
from lfd_description.shapes import Box, Capsule, Cone, Cylinder, MeshFile, Plane, Sphere
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, ObjectType, Part, PlanningScene, SceneShape, TriangleMesh, WorldObject

Data = dict[str, Any]
Unreadable = (ValueError, KeyError, TypeError, AttributeError)
"""What reading wrong data raises."""

_ROUND: dict[str, type[Cylinder] | type[Cone] | type[Capsule]] = {
    'cylinder': Cylinder,
    'cone': Cone,
    'capsule': Capsule,
}


def pose_data(pose: Pose) -> list[float]:
    """Position [m], then the quaternion x, y, z, w."""
    return [*map(float, pose.position), *map(float, pose.orientation)]


def pose_of(data: Any) -> Pose:
    """The pose of seven numbers."""
    x, y, z, qx, qy, qz, qw = map(float, data)
    return Pose((x, y, z), (qx, qy, qz, qw))


def object_data(thing: WorldObject, colour: Colour | None = None) -> Data:
    """An object with all that its body knows."""
    body = thing.body
    return {
        'name': thing.id,
        'pose': pose_data(thing.pose),
        'parts': [{**shape_data(part.shape), 'pose': pose_data(part.pose)} for part in body.parts],
        'movable': body.movable,
        'tags': list(body.tags),
        'subframes': {name: pose_data(pose) for name, pose in body.subframes},
        'type': [body.type.key, body.type.db],
        'color': None if colour is None else list(colour),
    }


def object_of(data: Data) -> tuple[WorldObject, Colour | None]:
    """The object, and its colour if it has one."""
    body = Body(
        tuple(Part(shape_of(part), pose_of(part['pose'])) for part in data['parts']),
        tuple((str(name), pose_of(pose)) for name, pose in data['subframes'].items()),
        ObjectType(*map(str, data['type'])),
        tuple(map(str, data['tags'])),
        bool(data['movable']),
    )
    colour = data['color']
    red, green, blue, opacity = map(float, colour or (0.0, 0.0, 0.0, 0.0))
    return WorldObject(str(data['name']), body, pose_of(data['pose'])), (red, green, blue, opacity) if colour else None


def scene_data(scene: PlanningScene) -> Data:
    """The objects of a scene in their order, and its frame."""
    things = [object_data(thing, scene.colours.get(name)) for name, thing in scene.objects.items()]
    return {'frame': scene.frame, 'objects': things}


def scene_of(data: Data) -> PlanningScene:
    """The scene with these objects."""
    pairs = [object_of(thing) for thing in data['objects']]
    colours = {thing.id: colour for thing, colour in pairs if colour is not None}
    return PlanningScene(str(data['frame'])).add(*(thing for thing, _ in pairs), colours=colours)


def shape_data(shape: SceneShape) -> Data:
    """A shape by its name in scene files, and its sizes [m]."""
    match shape:
        case Box(size):
            return {'shape': 'box', 'size': list(size)}
        case Sphere(radius):
            return {'shape': 'sphere', 'radius': radius}
        case Cylinder(radius, height) | Cone(radius, height) | Capsule(radius, height):
            return {'shape': type(shape).__name__.lower(), 'radius': radius, 'height': height}
        case Plane():
            return {'shape': 'plane'}
        case MeshFile(file, scale):
            return {'shape': 'mesh', 'file': str(file), 'scale': list(scale)}
        case TriangleMesh():
            return {'shape': 'triangles', 'vertices': _packed(shape.vertices), 'triangles': _packed(shape.triangles)}


def shape_of(data: Data) -> SceneShape:
    """The shape of data."""
    kind = data['shape']
    if kind == 'box':
        x, y, z = map(float, data['size'])
        return Box((x, y, z))
    if kind == 'sphere':
        return Sphere(float(data['radius']))
    if kind in _ROUND:
        return _ROUND[kind](float(data['radius']), float(data['height']))
    if kind == 'plane':
        return Plane()
    if kind == 'mesh':
        x, y, z = map(float, data['scale'])
        return MeshFile(Path(data['file']), (x, y, z))
    if kind == 'triangles':
        vertices = np.frombuffer(base64.b64decode(data['vertices']), dtype='<f8').reshape(-1, 3)
        return TriangleMesh(vertices, np.frombuffer(base64.b64decode(data['triangles']), dtype='<u4').reshape(-1, 3))
    raise ValueError(f'{kind!r} is no shape')


def _packed(numbers: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers).astype(numbers.dtype.newbyteorder('<')).tobytes()).decode()
