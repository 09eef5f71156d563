"""Every arm x gripper x prefix: the derived files agree with the description and with each other."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import product

import numpy as np
import pinocchio
import pytest
import yaml
from ament_index_python.packages import get_package_share_directory

from lfd_description.grasp_data import load_grasp_data
from lfd_description.grippers import find_gripper, gripper_names
from lfd_description.model.builder import build_model
from lfd_description.model.derived import derived_files, model_files
from lfd_description.model.findings import ModelError
from lfd_description.model.model import RobotModel
from lfd_description.robots import RobotError, find_robot, load_robot, robot_names

CASES = [
    (name, gripper, prefix)
    for name, gripper, prefix in product(robot_names(), (None, *gripper_names()), ('', 'left_'))
    if gripper is None or not find_robot(name).own_gripper
]
each_model = pytest.mark.parametrize(('name', 'gripper', 'prefix'), CASES)


def model_of(name: str, gripper: str | None, prefix: str, **options: str) -> RobotModel:
    return build_model(find_robot(name), gripper=find_gripper(gripper) if gripper else None, prefix=prefix, **options)


@each_model
def test_the_srdf_names_what_the_urdf_has(name: str, gripper: str | None, prefix: str) -> None:
    model = model_of(name, gripper, prefix)

    srdf = ET.fromstring(model_files(model)[f'{name}.srdf'])
    assert srdf.get('name') == ET.fromstring(model.urdf).get('name')
    chain = srdf.find('group[@name="manipulator"]/chain')
    assert model.tree.chain(chain.get('base_link'), chain.get('tip_link'))
    for state in srdf.findall('group_state'):
        for joint in state.findall('joint'):
            assert joint.get('name') in model.tree.joint
            limits = model.tree.joint[joint.get('name')].limits
            assert limits.lower <= float(joint.get('value')) <= limits.upper
    for pair in srdf.findall('disable_collisions'):
        assert {pair.get('link1'), pair.get('link2')} <= set(model.tree.links)
        assert pair.get('reason') in ('Adjacent', 'Never', 'Always', 'Default')
    ends = srdf.findall('end_effector')
    assert len(ends) == (gripper is not None)
    for end in ends:
        assert end.get('parent_link') in model.tree.links
        links = {link.get('name') for link in srdf.findall(f'group[@name="{end.get("group")}"]/link')}
        assert links == {link for link in model.tree.links if _hangs_below(model, link, f'{prefix}hand_base')}


def _hangs_below(model: RobotModel, link: str, above: str) -> bool:
    return link == above or above in {joint.parent for joint in model.tree.chain(model.tree.root, link)}


@each_model
def test_pinocchio_reads_the_description_and_the_srdf(name: str, gripper: str | None, prefix: str) -> None:
    model = model_of(name, gripper, prefix)
    share = get_package_share_directory('lfd_description')

    peer = pinocchio.buildModelFromXML(model.urdf, mimic=True)
    geometry = pinocchio.buildGeomFromUrdfString(
        peer, model.urdf, pinocchio.GeometryType.COLLISION, package_dirs=[f'{share}/..']
    )
    geometry.addAllCollisionPairs()
    before = len(geometry.collisionPairs)
    pinocchio.removeCollisionPairsFromXML(peer, geometry, model_files(model)[f'{name}.srdf'], False)

    assert [joint for joint in peer.names if joint in model.group.joints] == list(model.group.joints)
    assert 0 < len(geometry.collisionPairs) < before


@each_model
def test_the_files_of_moveit_and_ros2_control_agree(name: str, gripper: str | None, prefix: str) -> None:
    model = model_of(name, gripper, prefix)
    files = {file: yaml.safe_load(text) for file, text in model_files(model).items() if file.endswith('.yaml')}

    arm = f'{prefix}{name}_controller'
    joints = [prefix + joint for joint in model.robot.joints]
    assert files['controllers.yaml'][arm]['ros__parameters']['joints'] == joints
    moveit = files['moveit_controllers.yaml']['moveit_simple_controller_manager']
    assert moveit[arm]['joints'] == joints
    running = set(files['controllers.yaml']['controller_manager']['ros__parameters'])
    if model.gripper and not prefix:
        hand = yaml.safe_load(model.gripper.controllers_file.read_text())
        assert {each: files['controllers.yaml'][each] for each in model.gripper.controllers} == {
            each: hand[each] for each in model.gripper.controllers
        }
        assert set(model.gripper.controllers) <= running
    assert set(moveit['controller_names']) <= running
    assert list(files['joint_limits.yaml']['joint_limits']) == joints
    for limits in files['joint_limits.yaml']['joint_limits'].values():
        assert limits['max_acceleration'] > 0
        assert limits['max_velocity'] > 0
    assert files['kinematics.yaml']['manipulator']['kinematics_solver']
    assert (
        files['ompl_planning.yaml']['manipulator']['default_planner_config']
        in files['ompl_planning.yaml']['planner_configs']
    )
    controlled = {joint.get('name') for joint in ET.fromstring(model.urdf).findall('ros2_control/joint')}
    assert controlled == {joint for controller in moveit['controller_names'] for joint in moveit[controller]['joints']}


@each_model
def test_the_grasp_data_puts_the_tcp_where_the_urdf_has_it(
    name: str, gripper: str | None, prefix: str, tmp_path
) -> None:
    model = model_of(name, gripper, prefix)
    files = model_files(model)
    if gripper is None:
        assert 'grasp_data.yaml' not in files
        return
    file = tmp_path / 'grasp_data.yaml'
    file.write_text(files['grasp_data.yaml'])

    data = load_grasp_data(file)
    assert data.base_link == model.group.base
    assert set(data.joints) <= set(model.tree.joint)
    parent = ET.fromstring(files[f'{name}.srdf']).find('end_effector').get('parent_link')
    x, y, z, roll, pitch, yaw = data.tcp_to_eef_mount_transform
    to_mount = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(roll, pitch, yaw), np.array([x, y, z]))
    peer = pinocchio.buildModelFromXML(model.urdf, mimic=True)
    state = peer.createData()
    pinocchio.framesForwardKinematics(peer, state, pinocchio.neutral(peer))
    tcp = state.oMf[peer.getFrameId(f'{prefix}tcp')]
    np.testing.assert_allclose((tcp * to_mount).homogeneous, state.oMf[peer.getFrameId(parent)].homogeneous, atol=1e-5)


@pytest.mark.parametrize('name', robot_names())
def test_the_files_in_its_folder_are_those_that_are_derived(name: str) -> None:
    """If not: ./lfd robots build."""
    robot = find_robot(name)

    for file, text in derived_files(robot, resample=False).items():
        assert (robot.folder / file).read_text() == text, file


def test_a_real_controller_s_rate_is_its_own() -> None:
    rates = {
        name: yaml.safe_load(model_files(model_of(name, None, '', hardware='ur'))['controllers.yaml'])[
            'controller_manager'
        ]['ros__parameters']['update_rate']
        for name in ('ur3', 'ur5e')
    }

    assert rates == {'ur3': 125, 'ur5e': 500}  # the UR3's controller is of the older generation


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        (('elbow_joint', 'knee_joint'), 'names the joints .* but those from base_link to tool0 are'),
        (('[0.9, -1.5', '[0.9, -9.5'), "the pose 'left', in which shoulder_lift_joint is at -9.5, outside its limits"),
        (('reach_m:', 'tip: tool1\nreach_m:'), "no link 'tool1'"),
    ],
)
def test_a_folder_that_contradicts_itself_is_refused(tmp_path, change: tuple[str, str], message: str) -> None:
    source = find_robot('ur5e').folder
    folder = tmp_path / 'ur5e'
    folder.mkdir()
    for file in source.iterdir():
        if file.is_file():
            (folder / file.name).write_text(file.read_text())
    settings = folder / 'robot.yaml'
    settings.write_text(settings.read_text().replace(*change))

    with pytest.raises((ModelError, RobotError), match=message):
        build_model(load_robot(folder))
