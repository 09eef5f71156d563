"""Shapes and shape_msgs: which shape becomes which message, and back, checked.

======================  ===========================================
box                     SolidPrimitive.BOX
sphere                  SolidPrimitive.SPHERE
cylinder                SolidPrimitive.CYLINDER
cone                    SolidPrimitive.CONE
capsule                 Mesh (or, on request, a cylinder and two balls)
plane                   Plane
mesh (file, triangles)  Mesh
======================  ===========================================
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest

import numpy as np
from geometry_msgs.msg import Point
from moveit_msgs.msg import CollisionObject
from shape_msgs.msg import Mesh, MeshTriangle, SolidPrimitive
from shape_msgs.msg import Plane as PlaneMessage

from lfd_description.meshes import MeshError
from lfd_description.shapes import Box, Capsule, Cone, Cylinder, MeshFile, Plane, Sphere
from lfd_planner.scene import IDENTITY, Code, Part, Pose, SceneFault, SceneShape, TriangleMesh, triangles_of
from lfd_planner.scene.objects import message_order

from .capsules import CapsuleAs, as_capsule, capsule_mesh, compound
from .checks import MAX_SHAPES, MAX_TRIANGLES, Report
from .poses import pose_from_message, pose_to_message

_PRIMITIVES = {
    SolidPrimitive.BOX: ('box', ('length along x', 'length along y', 'length along z')),
    SolidPrimitive.SPHERE: ('sphere', ('radius',)),
    SolidPrimitive.CYLINDER: ('cylinder', ('height', 'radius')),
    SolidPrimitive.CONE: ('cone', ('height', 'radius')),
}


def as_sent(parts: Iterable[Part], capsules: CapsuleAs = CapsuleAs.MESH) -> tuple[Part, ...]:
    """The parts as a message has them: only shapes that ROS knows; primitives, then meshes, then planes.

    Raises:
        SceneFault: a mesh file cannot be used.
    """
    sent = [piece for part in parts for piece in _pieces(part, capsules)]
    return tuple(sorted(sent, key=message_order))


def shapes_to_message(message: CollisionObject, parts: Iterable[Part], capsules: CapsuleAs) -> None:
    """Fill in the shapes of a message and their poses.

    Raises:
        SceneFault: a mesh file cannot be used.
    """
    for part in as_sent(parts, capsules):
        pose = pose_to_message(part.pose)
        match part.shape:
            case TriangleMesh():
                message.meshes.append(mesh_to_message(part.shape))
                message.mesh_poses.append(pose)
            case Plane():
                message.planes.append(PlaneMessage(coef=np.array([0.0, 0.0, 1.0, 0.0])))
                message.plane_poses.append(pose)
            case shape:
                message.primitives.append(_primitive_to_message(shape))
                message.primitive_poses.append(pose)


def shapes_from_message(message: CollisionObject, report: Report) -> tuple[Part, ...]:
    """The shapes of a message as they were sent, none for those that are wrong; poses not given are no motion."""
    count = len(message.primitives) + len(message.meshes) + len(message.planes)
    if count > MAX_SHAPES:
        report.problem(f'there are {count} shapes, more than {MAX_SHAPES}; make several objects of them.')
        return ()
    parts: list[Part] = []
    _read(parts, 'primitive', message.primitives, message.primitive_poses, _primitive_from_message, report)
    _read(parts, 'mesh', message.meshes, message.mesh_poses, mesh_from_message, report)
    _read(parts, 'plane', message.planes, message.plane_poses, _plane_from_message, report)
    return tuple(parts)


def shape_poses_from_message(message: CollisionObject, report: Report) -> tuple[Pose, ...]:
    """The poses of shapes alone, in the order of a message."""
    poses = (*message.primitive_poses, *message.mesh_poses, *message.plane_poses)
    if len(poses) > MAX_SHAPES:
        report.problem(f'there are {len(poses)} shape poses, more than {MAX_SHAPES}; send one for each shape.')
        return ()
    return tuple(pose_from_message(pose, report, f'shape pose {number}') for number, pose in enumerate(poses, start=1))


def has_shapes(message: CollisionObject) -> bool:
    """Whether a message brings geometry."""
    return bool(message.primitives or message.meshes or message.planes)


def known_again(parts: tuple[Part, ...], known: tuple[Part, ...]) -> tuple[Part, ...]:
    """Parts as they were sent, with the exact shapes back that ROS does not know.

    `known` are the parts that the object has here. If those are sent as these, it is them; a single mesh is the shape
    among them that is sent as such, or else a capsule if some capsule is.
    """
    for capsules in CapsuleAs:
        if known and _sent(known, capsules) == parts:
            return known
    meshes = {found: part.shape for part in known for found in _meshes(part)}
    return tuple(Part(_exact(part.shape, meshes), part.pose) for part in parts)


def mesh_to_message(mesh: TriangleMesh) -> Mesh:
    """The triangles as shape_msgs/Mesh."""
    return Mesh(
        vertices=[Point(x=x, y=y, z=z) for x, y, z in mesh.vertices.tolist()],
        triangles=[MeshTriangle(vertex_indices=corners) for corners in mesh.triangles],
    )


def mesh_from_message(message: Mesh, report: Report, what: str) -> tuple[TriangleMesh, Pose] | None:
    """The triangles of a message; none after noting what is wrong with them."""
    if not message.vertices or not message.triangles:
        report.problem(f'{what} has no triangles; send vertices and the triangles between them.')
        return None
    if max(len(message.triangles), len(message.vertices)) > MAX_TRIANGLES:
        report.problem(f'{what} has more than {MAX_TRIANGLES} triangles or vertices; simplify it.')
        return None
    vertices = np.array([(point.x, point.y, point.z) for point in message.vertices], dtype=np.float64)
    triangles = np.array([triangle.vertex_indices for triangle in message.triangles], dtype=np.int64)
    if not report.coordinates((float(vertices.min()), float(vertices.max())), f'vertices of {what}'):
        return None
    beyond = np.flatnonzero((triangles >= len(vertices)).any(axis=1))
    if len(beyond):
        report.problem(
            f'triangle {int(beyond[0])} of {what} has the vertex {int(triangles[beyond[0]].max())}, and there are '
            f'{len(vertices)}; count vertices from 0.'
        )
        return None
    return TriangleMesh(vertices, triangles.astype(np.uint32)), IDENTITY


def _pieces(part: Part, capsules: CapsuleAs) -> tuple[Part, ...]:
    match part.shape:
        case Capsule() as capsule if capsules is CapsuleAs.COMPOUND:
            return tuple(Part(piece.shape, part.pose @ piece.pose) for piece in compound(capsule))
        case Capsule() as capsule:
            return (Part(capsule_mesh(capsule), part.pose),)
        case MeshFile() as mesh:
            try:
                return (Part(triangles_of(mesh), part.pose),)
            except MeshError as error:
                raise SceneFault(Code.FAILURE, str(error)) from None
        case _:
            return (part,)


def _sent(parts: tuple[Part, ...], capsules: CapsuleAs) -> tuple[Part, ...]:
    """The parts as a message has them; none if a mesh file of theirs is gone."""
    try:
        return as_sent(parts, capsules)
    except SceneFault:
        return ()


def _meshes(part: Part) -> tuple[TriangleMesh, ...]:
    sent = _sent((part,), CapsuleAs.MESH)
    return tuple(piece.shape for piece in sent if isinstance(piece.shape, TriangleMesh))


def _exact(shape: SceneShape, meshes: dict[TriangleMesh, SceneShape]) -> SceneShape:
    if not isinstance(shape, TriangleMesh):
        return shape
    return meshes.get(shape) or as_capsule(shape) or shape


def _read(
    parts: list[Part],
    kind: str,
    shapes: Sequence[object],
    poses: Sequence[object],
    read: Callable[..., tuple[SceneShape, Pose] | None],
    report: Report,
) -> None:
    if len(poses) > len(shapes):
        report.problem(f'there are {len(poses)} {kind} poses for {len(shapes)} shapes; send one for each shape.')
        return
    for number, (shape, pose) in enumerate(zip_longest(shapes, poses), start=1):
        what = f'{kind} {number}'
        found = read(shape, report, what)
        at = IDENTITY if pose is None else pose_from_message(pose, report, f'pose of {what}')
        if found is not None:
            parts.append(Part(found[0], at @ found[1]))


def _primitive_to_message(shape: SceneShape) -> SolidPrimitive:
    match shape:
        case Box(size):
            return SolidPrimitive(type=SolidPrimitive.BOX, dimensions=[float(length) for length in size])
        case Sphere(radius):
            return SolidPrimitive(type=SolidPrimitive.SPHERE, dimensions=[float(radius)])
        case Cylinder(radius, height):
            return SolidPrimitive(type=SolidPrimitive.CYLINDER, dimensions=[float(height), float(radius)])
        case Cone(radius, height):
            return SolidPrimitive(type=SolidPrimitive.CONE, dimensions=[float(height), float(radius)])
        case _:
            raise TypeError(f'{shape} is no primitive.')


def _primitive_from_message(message: SolidPrimitive, report: Report, what: str) -> tuple[SceneShape, Pose] | None:
    known = _PRIMITIVES.get(message.type)
    if known is None:
        report.problem(f'{what} has the type {message.type}; use a box, sphere, cylinder or cone, or send a mesh.')
        return None
    name, meaning = known
    sizes = list(message.dimensions)
    while len(sizes) > len(meaning) and sizes[-1] == 0.0:  # some clients always send three
        sizes.pop()
    if len(sizes) != len(meaning):
        report.problem(f'{what} is a {name} with {len(sizes)} dimensions; send {len(meaning)}: {", ".join(meaning)}.')
        return None
    lengths = [report.length(size, f'{text} of {what}') for size, text in zip(sizes, meaning, strict=True)]
    match name:
        case 'box':
            return Box((lengths[0], lengths[1], lengths[2])), IDENTITY
        case 'sphere':
            return Sphere(lengths[0]), IDENTITY
        case 'cylinder':
            return Cylinder(radius=lengths[1], height=lengths[0]), IDENTITY
        case _:
            return Cone(radius=lengths[1], height=lengths[0]), IDENTITY


def _plane_from_message(message: PlaneMessage, report: Report, what: str) -> tuple[SceneShape, Pose] | None:
    """The half space below ax + by + cz + d = 0, and where its frame is in that of the message."""
    a, b, c, d = (float(number) for number in message.coef)
    norm = math.hypot(a, b, c)
    if not math.isfinite(norm + d) or norm == 0.0:
        report.problem(f'{what} has the coefficients [{a:g}, {b:g}, {c:g}, {d:g}]; send those of ax + by + cz + d = 0.')
        return None
    x, y, z = a / norm, b / norm, c / norm
    shift = -d / norm
    if not report.coordinates((shift,), f'distance of {what}'):
        return None
    return Plane(), Pose((shift * x, shift * y, shift * z), _turn_of_z(x, y, z))


def _turn_of_z(x: float, y: float, z: float) -> tuple[float, float, float, float]:
    """The shortest turn of the z axis to a unit vector, as quaternion x, y, z, w."""
    if z <= -1.0 + 1e-15:
        return 1.0, 0.0, 0.0, 0.0
    w = math.sqrt(0.5 * (1.0 + z))
    return -0.5 * y / w, 0.5 * x / w, 0.0, w
