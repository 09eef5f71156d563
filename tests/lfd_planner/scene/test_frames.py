import numpy as np
import pytest
from support.scene_edits import ROBOT, TREE

from lfd_description.shapes import Box
from lfd_planner.scene import (
    IDENTITY,
    Body,
    Code,
    PersistentMap,
    PlanningScene,
    Pose,
    RobotFrames,
    SceneFault,
    WorldObject,
    frame_pose,
)

HANDLE = Pose((0.0, 0.1, 0.0), (0.0, 0.0, 0.6, 0.8))
MUG = Body.of(Box((0.1, 0.1, 0.1))).with_subframes({'handle': HANDLE, 'in/side': Pose((0.0, 0.0, 0.05))})
AT = Pose((0.5, 0.2, 0.1), (0.6, 0.0, 0.0, 0.8))
CAMERA = Pose((0.0, 0.0, 2.0))
SCENE = PlanningScene('base_link', fixed_frames=PersistentMap({'camera': CAMERA})).add(
    WorldObject('mug', MUG, AT), WorldObject('shelf/mug', MUG, Pose((1.0, 0.0, 0.0)))
)
LINK_POSES = ROBOT.link_poses({'joint_1': 0.3, 'joint_2': -0.4})


@pytest.mark.parametrize(
    ('frame', 'pose'),
    [
        ('base_link', IDENTITY),
        ('/base_link', IDENTITY),
        ('mug', AT),
        ('/mug', AT),
        ('mug/handle', AT @ HANDLE),
        ('mug/in/side', AT @ Pose((0.0, 0.0, 0.05))),
        ('shelf/mug', Pose((1.0, 0.0, 0.0))),
        ('shelf/mug/handle', Pose((1.0, 0.0, 0.0)) @ HANDLE),
        ('camera', CAMERA),
    ],
)
def test_frames_have_names(frame, pose):
    assert frame_pose(SCENE, frame, LINK_POSES) == pose


def test_links_are_frames():
    np.testing.assert_allclose(frame_pose(SCENE, 'hand', LINK_POSES).matrix, LINK_POSES['hand'], atol=1e-15)


def test_attached_objects_are_frames_that_move():
    scene = SCENE.attach('mug', 'hand', LINK_POSES)
    moved = ROBOT.link_poses({'joint_1': 1.0})
    expected = moved['hand'] @ np.linalg.inv(LINK_POSES['hand']) @ (AT @ HANDLE).matrix
    np.testing.assert_allclose(frame_pose(scene, 'mug/handle', moved).matrix, expected, atol=1e-14)


def test_a_frame_without_end_is_refused_in_a_short_sentence():
    """Trying each of its slashes would take hours."""
    scene = PlanningScene('b' * 100_000)
    with pytest.raises(SceneFault, match='is not known') as fault:
        frame_pose(scene, '/' * 5_000_000, {})
    assert len(str(fault.value)) < 400


@pytest.mark.parametrize('frame', ['', 'cup', 'mug/spout', 'hand/handle'])
def test_unknown_frames_are_refused(frame):
    with pytest.raises(SceneFault, match=f"frame '{frame}' is not known") as fault:
        frame_pose(SCENE, frame, LINK_POSES)
    assert fault.value.code is Code.FRAME_TRANSFORM_FAILURE


def test_a_scene_may_be_in_the_frame_of_any_link():
    positions = {'joint_1': 0.3, 'joint_2': -0.4}
    poses = RobotFrames(TREE, 'forearm').link_poses(positions)
    np.testing.assert_allclose(poses['forearm'], np.eye(4), atol=1e-15)
    np.testing.assert_allclose(poses['base_link'] @ LINK_POSES['hand'], poses['hand'], atol=1e-14)
    assert RobotFrames(TREE, 'world').link_poses(positions).keys() == LINK_POSES.keys()
