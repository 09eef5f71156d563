import numpy as np
import pytest

from lfd_description.grippers import find_gripper, gripper_names
from lfd_description.model.builder import mesh_finder
from lfd_description.pictures.robot_picture import corners_of, drawn_robot, robot_picture
from lfd_description.pictures.scene_picture import PictureError
from lfd_description.pictures.studio import BACKDROP
from lfd_description.robots import find_robot, robot_description, robot_names
from lfd_description.urdf import UrdfError

SIZE = (160, 120)
POSES = [(name, pose) for name in robot_names() for pose in find_robot(name).poses]

TWO_BOXES = """
<robot name="two">
  <link name="base"><visual><geometry><box size="0.4 0.4 0.4"/></geometry>
    <material name="red"><color rgba="0.8 0 0 1"/></material></visual></link>
  <link name="arm"><visual><origin xyz="0 0 0.5"/><geometry><box size="0.1 0.1 1"/></geometry></visual></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 0.2"/><axis xyz="0 1 0"/>
    <limit lower="0.5" upper="1.5" velocity="1" effort="1"/></joint>
</robot>"""


@pytest.mark.parametrize(('name', 'pose'), POSES)
def test_every_arm_in_every_pose_fits_into_its_picture(name: str, pose: str) -> None:
    robot = find_robot(name)
    joints = dict(zip(robot.joints, robot.poses[pose], strict=True))

    image = robot_picture(robot_description(robot), joints, SIZE, find=mesh_finder(robot), with_floor=False)

    covered = np.abs(image - 255.0 * np.array(BACKDROP)).max(axis=-1) > 3.0
    assert not covered[[0, -1]].any()
    assert not covered[:, [0, -1]].any()
    assert 0.04 < covered.mean() < 0.6
    rows, columns = np.nonzero(covered)
    assert np.ptp(rows) > 0.7 * SIZE[1] or np.ptp(columns) > 0.7 * SIZE[0]


@pytest.mark.parametrize('gripper', gripper_names())
def test_a_gripper_is_drawn_on_its_arm(gripper: str) -> None:
    robot = find_robot('ur5e')

    bare = drawn_robot(robot_description(robot), mesh_finder(robot))
    equipped = drawn_robot(robot_description(robot, gripper=find_gripper(gripper)), mesh_finder(robot))

    assert len(equipped.posed({})) > len(bare.posed({}))


def test_links_are_where_the_joints_put_them() -> None:
    robot = drawn_robot(TWO_BOXES)

    bounds = [(corners_of((item,)).min(axis=0), corners_of((item,)).max(axis=0)) for item in robot.posed({'turn': 1.5})]

    np.testing.assert_allclose(bounds[0], [[-0.2, -0.2, -0.2], [0.2, 0.2, 0.2]])
    assert bounds[1][1][0] == pytest.approx(np.sin(1.5) + 0.05 * np.cos(1.5))


def test_a_joint_that_is_not_named_rests_within_its_limits() -> None:
    robot = drawn_robot(TWO_BOXES)

    np.testing.assert_allclose(robot.posed({})[1].pose, robot.posed({'turn': 1.0})[1].pose)


def test_colours_come_from_the_urdf() -> None:
    image = robot_picture(TWO_BOXES, {}, SIZE).astype(int)

    assert ((image[:, :, 0] > image[:, :, 1] + 60) & (image[:, :, 0] > image[:, :, 2] + 60)).mean() > 0.02


def test_a_joint_that_is_not_there_is_refused() -> None:
    with pytest.raises(PictureError, match="no joint 'elbow'"):
        robot_picture(TWO_BOXES, {'elbow': 1.0}, SIZE)


def test_a_robot_without_looks_is_refused() -> None:
    with pytest.raises(PictureError, match='nothing to draw'):
        robot_picture('<robot name="ghost"><link name="base"/></robot>', {}, SIZE)


def test_a_missing_mesh_is_named() -> None:
    lost = TWO_BOXES.replace('<box size="0.1 0.1 1"/>', '<mesh filename="package://nowhere/arm.stl"/>')

    with pytest.raises(UrdfError, match='nowhere'):
        robot_picture(lost, {}, SIZE)
