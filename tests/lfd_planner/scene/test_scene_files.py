import random

import numpy as np
import pytest
from support.scene_edits import ROBOT, TETRAHEDRON, random_pose

from lfd_description.scenes import KINDS, SceneError, find_scene, random_scene, scene_names
from lfd_description.scenes.scene import Scene, SceneObject
from lfd_description.shapes import Box, Capsule, Sphere
from lfd_planner.scene import Body, Part, PlanningScene, Pose, WorldObject, from_scene, shapes_in_world, to_scene

LINK_POSES = ROBOT.link_poses({'joint_1': 0.3})


@pytest.mark.parametrize('name', scene_names())
def test_scene_files_come_back_as_they_were(name):
    scene = find_scene(name)
    assert to_scene(from_scene(scene)) == scene


@pytest.mark.parametrize('kind', KINDS)
def test_random_scenes_come_back_as_they_were(kind):
    scene = random_scene(kind, 4)
    assert to_scene(from_scene(scene)) == scene


def test_shapes_are_where_the_file_says():
    pose = random_pose(random.Random(2))
    scene = Scene('base_link', (SceneObject('rod', Capsule(0.1, 0.5), pose.position, pose.orientation),))
    (shape,) = shapes_in_world(from_scene(scene), {})
    assert shape.shape == Capsule(0.1, 0.5)
    np.testing.assert_allclose(shape.pose, scene.objects[0].pose, atol=1e-15)


def test_a_shape_off_its_objects_frame_is_where_it_was():
    body = Body((Part(Box((0.1, 0.2, 0.3)), Pose((0.0, 0.0, 0.5))),))
    scene = to_scene(PlanningScene('base_link').add(WorldObject('box', body, Pose((1.0, 0.0, 0.0)))))
    assert scene.objects[0].position == (1.0, 0.0, 0.5)


def test_what_is_held_is_written_where_it_is_held():
    scene = PlanningScene('base_link').add(WorldObject('ball', Body.of(Sphere(0.1)), Pose((0.4, 0.1, 0.2))))
    held = scene.attach('ball', 'hand', LINK_POSES)
    np.testing.assert_allclose(to_scene(held, LINK_POSES).objects[0].position, (0.4, 0.1, 0.2), atol=1e-12)


def test_what_a_file_cannot_hold_is_told_at_once():
    scene = PlanningScene('base_link').add(
        WorldObject('two', Body.of(Sphere(0.1), Sphere(0.2))),
        WorldObject('mesh', Body.of(TETRAHEDRON)),
        WorldObject('held', Body.of(Sphere(0.1))),
    )
    with pytest.raises(SceneError) as error:
        to_scene(scene.attach('held', 'hand', LINK_POSES))
    assert [problem.split(';')[0] for problem in error.value.problems] == [
        "object 'held' is attached to link 'hand'",
        "object 'two' has 2 shapes, and a scene file has one an object",
        "object 'mesh' is a mesh without a file",
    ]
