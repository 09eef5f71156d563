import math
import random

import numpy as np
import pytest
import trimesh
from geometry_msgs.msg import Point, Pose, Quaternion
from moveit_msgs.msg import CollisionObject
from shape_msgs.msg import Mesh, MeshTriangle, Plane, SolidPrimitive
from support.scene_edits import ROBOT, TETRAHEDRON, random_pose

from lfd_description import shapes
from lfd_planner.messages import CapsuleAs, object_from_message, object_to_message
from lfd_planner.scene import (
    Body,
    Part,
    SceneFault,
    TriangleMesh,
    WorldObject,
    shapes_in_world,
    triangles_of,
)
from lfd_planner.scene import PlanningScene as Scene
from lfd_planner.scene import Pose as At

NAN = float('nan')
LINK_POSES = ROBOT.link_poses({})


def message_of(shape, capsules=CapsuleAs.MESH):
    return object_to_message(WorldObject('thing', Body.of(shape)), 'base_link', capsules)


@pytest.mark.parametrize(
    ('shape', 'type', 'dimensions'),
    [
        (shapes.Box((1.0, 2.0, 3.0)), SolidPrimitive.BOX, [1.0, 2.0, 3.0]),
        (shapes.Sphere(0.5), SolidPrimitive.SPHERE, [0.5]),
        (shapes.Cylinder(radius=0.5, height=2.0), SolidPrimitive.CYLINDER, [2.0, 0.5]),
        (shapes.Cone(radius=0.5, height=2.0), SolidPrimitive.CONE, [2.0, 0.5]),
    ],
)
def test_primitives_are_primitives(shape, type, dimensions):
    message = message_of(shape)
    assert message.primitives[0].type == type
    assert list(message.primitives[0].dimensions) == dimensions
    assert not message.meshes
    assert object_from_message(message)[0] == Body.of(shape)


def test_a_capsule_is_sent_as_a_mesh_of_its_size():
    message = message_of(shapes.Capsule(0.1, 0.7))
    vertices = np.array([(point.x, point.y, point.z) for point in message.meshes[0].vertices])
    np.testing.assert_allclose(vertices.max(axis=0), (0.1, 0.1, 0.35), rtol=1e-15)
    np.testing.assert_allclose(vertices.min(axis=0), (-0.1, -0.1, -0.35), rtol=1e-15)
    triangles = np.array([triangle.vertex_indices for triangle in message.meshes[0].triangles])
    mesh = trimesh.Trimesh(vertices, triangles, process=False)
    assert mesh.is_watertight
    exact = math.pi * 0.1**2 * 0.5 + 4.0 / 3.0 * math.pi * 0.1**3
    assert 0.98 * exact < mesh.volume < exact


@pytest.mark.parametrize('seed', range(100))
def test_a_capsule_sent_as_a_mesh_is_a_capsule_again_to_the_last_digit(seed, sent):
    rng = random.Random(seed)
    radius = rng.uniform(0.001, 1.0)
    capsule = shapes.Capsule(radius, 2.0 * radius + rng.choice([0.0, rng.random()]))
    assert object_from_message(sent(message_of(capsule)))[0] == Body.of(capsule)


def test_a_mesh_that_is_nearly_a_capsule_stays_a_mesh():
    message = message_of(shapes.Capsule(0.1, 0.7))
    message.meshes[0].vertices[77].x += 1e-9
    assert isinstance(object_from_message(message)[0].parts[0].shape, TriangleMesh)


def test_a_capsule_may_be_sent_as_a_compound():
    at = random_pose(random.Random(3))
    capsule = Body((Part(shapes.Capsule(0.1, 0.7), at),))
    message = object_to_message(WorldObject('rod', capsule), 'base_link', CapsuleAs.COMPOUND)
    assert [primitive.type for primitive in message.primitives] == [3, 2, 2]
    assert list(message.primitives[0].dimensions) == pytest.approx([0.5, 0.1])
    ends = [np.array([pose.position.x, pose.position.y, pose.position.z]) for pose in message.primitive_poses[1:]]
    assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(0.5)
    assert object_from_message(message, known=capsule)[0] is capsule


def test_a_plane_is_sent_as_one_with_its_pose():
    at = random_pose(random.Random(5))
    message = object_to_message(WorldObject('floor', Body.of(shapes.Plane()), at), 'base_link')
    assert list(message.planes[0].coef) == [0.0, 0.0, 1.0, 0.0]
    body, pose = object_from_message(message)
    assert (body, pose) == (Body.of(shapes.Plane()), at)


@pytest.mark.parametrize(
    'coefficients', [(0, 0, 1, 0.9), (0, 0, -2, 1), (1, 0, 0, -0.5), (0, 3, 0, 1), (1, -2, 2, 3), (0, 0, 5, 0)]
)
def test_any_plane_lies_where_its_coefficients_say(coefficients):
    message = CollisionObject(id='plane', planes=[Plane(coef=np.array(coefficients, dtype=np.float64))])
    body, pose = object_from_message(message)
    (shape,) = shapes_in_world(Scene('base_link').add(WorldObject('plane', body, pose)), LINK_POSES)
    normal, distance = np.array(coefficients[:3]), coefficients[3]
    on_it = shape.pose @ np.array([[0.3, -0.2, 0.0, 1.0], [0.0, 5.0, 0.0, 1.0]]).T
    np.testing.assert_allclose(normal @ on_it[:3] + distance, 0.0, atol=1e-12)
    above = shape.pose @ np.array([0.0, 0.0, 1.0, 1.0])
    assert normal @ above[:3] + distance > 0.0


def test_meshes_are_sent_with_their_triangles(sent, tmp_path):
    file = tmp_path / 'ball.stl'
    trimesh.creation.icosphere(1, 0.1).export(file)
    ball = shapes.MeshFile(file, (1.0, 2.0, 3.0))
    message = sent(message_of(ball))
    assert object_from_message(message)[0] == Body.of(triangles_of(ball))
    assert object_from_message(message, known=Body.of(ball))[0] == Body.of(ball)
    assert object_from_message(sent(message_of(TETRAHEDRON)))[0] == Body.of(TETRAHEDRON)


def test_a_mesh_file_that_is_gone_is_told(tmp_path):
    with pytest.raises(SceneFault, match='missing'):
        message_of(shapes.MeshFile(tmp_path / 'gone.stl'))


def test_a_body_with_a_mesh_file_that_is_gone_knows_nothing_again(tmp_path):
    known = Body.of(shapes.MeshFile(tmp_path / 'gone.stl'))
    assert object_from_message(message_of(TETRAHEDRON), known)[0] == Body.of(TETRAHEDRON)


def test_a_compound_of_all_shapes_comes_back():
    rng = random.Random(9)
    all_shapes = [
        shapes.Plane(),
        TETRAHEDRON,
        shapes.Box((0.1, 0.2, 0.3)),
        shapes.Capsule(0.1, 0.3),
        shapes.Sphere(0.2),
        shapes.Cone(0.1, 0.2),
    ]
    body = Body(tuple(Part(shape, random_pose(rng)) for shape in all_shapes))
    message = object_to_message(WorldObject('all', body), 'base_link')
    assert object_from_message(message, known=body)[0] is body
    assert object_from_message(message)[0] == body


def test_shapes_without_poses_are_at_the_objects_frame():
    two = [SolidPrimitive(type=SolidPrimitive.SPHERE, dimensions=[0.1])] * 2
    message = CollisionObject(id='two', primitives=two, primitive_poses=[Pose(position=Point(x=1.0))])
    body, _ = object_from_message(message)
    assert [part.pose for part in body.parts] == [At((1.0, 0.0, 0.0)), At()]


def test_the_pose_of_a_single_shape_is_that_of_the_object():
    ball = SolidPrimitive(type=SolidPrimitive.SPHERE, dimensions=[0.1])
    message = CollisionObject(id='ball', primitives=[ball], primitive_poses=[Pose(position=Point(x=1.0))])
    assert object_from_message(message) == (Body.of(shapes.Sphere(0.1)), At((1.0, 0.0, 0.0)))


def test_extra_dimensions_of_zero_are_passed_over():
    ball = SolidPrimitive(type=SolidPrimitive.SPHERE, dimensions=[0.1, 0.0, 0.0])
    assert object_from_message(CollisionObject(id='ball', primitives=[ball]))[0] == Body.of(shapes.Sphere(0.1))


def test_an_orientation_that_was_not_filled_in_is_no_turn():
    message = message_of(shapes.Sphere(0.1))
    message.pose = Pose(position=Point(x=1.0), orientation=Quaternion(x=0.0, y=0.0, z=0.0, w=0.0))
    assert object_from_message(message)[1] == At((1.0, 0.0, 0.0))


def test_a_nearly_unit_quaternion_is_made_unit_and_a_unit_one_is_left():
    message = message_of(shapes.Sphere(0.1))
    message.pose.orientation = Quaternion(x=0.0, y=0.0, z=0.6, w=0.8004)
    _, pose = object_from_message(message)
    assert math.hypot(*pose.orientation) == pytest.approx(1.0, abs=1e-15)


def primitive(type, *dimensions):
    return CollisionObject(id='thing', primitives=[SolidPrimitive(type=type, dimensions=dimensions)])


def mesh(vertices, *triangles):
    points = [Point(x=x, y=y, z=z) for x, y, z in vertices]
    corners = [MeshTriangle(vertex_indices=np.array(triangle, dtype=np.uint32)) for triangle in triangles]
    return CollisionObject(id='thing', meshes=[Mesh(vertices=points, triangles=corners)])


def posed(position=(0.0, 0.0, 0.0), orientation=(0.0, 0.0, 0.0, 1.0)):
    message = message_of(shapes.Sphere(0.1))
    x, y, z, w = orientation
    message.pose.position.x, message.pose.position.y, message.pose.position.z = position
    message.pose.orientation = Quaternion(x=x, y=y, z=z, w=w)
    return message


CORNERS = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]


@pytest.mark.parametrize(
    ('message', 'says'),
    [
        (primitive(SolidPrimitive.BOX, 1.0, 2.0), 'a box with 2 dimensions; send 3: length along x'),
        (primitive(SolidPrimitive.SPHERE), 'a sphere with 0 dimensions; send 1: radius'),
        (primitive(SolidPrimitive.CYLINDER, 1.0, 2.0, 3.0), 'a cylinder with 3 dimensions; send 2: height, radius'),
        (primitive(SolidPrimitive.SPHERE, NAN), 'the radius of primitive 1 is nan'),
        (primitive(SolidPrimitive.SPHERE, -1.0), 'no length of a solid'),
        (primitive(SolidPrimitive.BOX, 1.0, 0.0, 1.0), 'length along y of primitive 1 is 0'),
        (primitive(SolidPrimitive.SPHERE, 5000.0), 'not millimetres'),
        (primitive(SolidPrimitive.PRISM, 1.0), 'has the type 5; use a box'),
        (primitive(0), 'has the type 0'),
        (mesh(CORNERS, (0, 1, 3)), 'triangle 0 of mesh 1 has the vertex 3, and there are 3'),
        (mesh(CORNERS), 'mesh 1 has no triangles'),
        (mesh([], (0, 1, 2)), 'mesh 1 has no triangles'),
        (mesh([*CORNERS, (NAN, 0.0, 0.0)], (0, 1, 2)), 'vertices of mesh 1 has nan'),
        (mesh([*CORNERS, (1e6, 0.0, 0.0)], (0, 1, 2)), 'not millimetres'),
        (posed(position=(0.0, NAN, 0.0)), "the pose's position has nan"),
        (posed(position=(0.0, -1e9, 0.0)), 'not millimetres'),
        (posed(orientation=(1.4756, -0.2618, -6.0335, 0.9651)), 'length 6.291 and not 1'),
        (posed(orientation=(0.0, 0.0, NAN, 1.0)), 'length nan'),
        (CollisionObject(id='thing', planes=[Plane()]), r'coefficients \[0, 0, 0, 0\]'),
        (CollisionObject(id='thing', planes=[Plane(coef=[0.0, 0.0, 1.0, 1e9])]), 'distance of plane 1'),
        (CollisionObject(id='thing', primitive_poses=[Pose()]), '1 primitive poses for 0 shapes'),
        (CollisionObject(id='thing'), 'there is no shape'),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(message, says):
    with pytest.raises(SceneFault, match=says) as fault:
        object_from_message(message)
    assert all(problem.startswith("Object 'thing': ") for problem in fault.value.problems)


def test_all_that_is_wrong_is_told_at_once():
    message = primitive(SolidPrimitive.SPHERE, NAN)
    message.primitives += primitive(SolidPrimitive.BOX, 1.0).primitives
    message.pose.position.x = NAN
    message.id = ''
    message.subframe_names = ['handle']
    with pytest.raises(SceneFault) as fault:
        object_from_message(message)
    assert len(fault.value.problems) == 5
