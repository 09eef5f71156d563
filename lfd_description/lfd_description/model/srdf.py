"""The SRDF of a model: groups, named poses, the end effector and the pairs of links that need no collision check."""

import xml.etree.ElementTree as ET

from .model import HAND, RobotModel, mount_link


def srdf(model: RobotModel) -> str:
    """The model's SRDF as XML text, as MoveIt reads it."""
    robot = ET.Element('robot', name=ET.fromstring(model.urdf).get('name', model.robot.name))
    group = ET.SubElement(robot, 'group', name=model.group.name)
    ET.SubElement(group, 'chain', base_link=model.group.base, tip_link=model.group.tip)
    for name, pose in model.poses.items():
        state = ET.SubElement(robot, 'group_state', name=name, group=model.group.name)
        for joint, value in zip(model.group.joints, pose, strict=True):
            ET.SubElement(state, 'joint', name=joint, value=f'{value:g}')
    if model.gripper:
        _add_hand(robot, model)
    for pair in model.collision_matrix.disabled:
        ET.SubElement(
            robot,
            'disable_collisions',
            link1=pair.link1,
            link2=pair.link2,
            reason=str(pair.reason and pair.reason.value),
        )
    ET.indent(robot)
    return f'<?xml version="1.0"?>\n{ET.tostring(robot, encoding="unicode")}\n'


def _add_hand(robot: ET.Element, model: RobotModel) -> None:
    gripper = model.gripper
    if gripper is None:
        return
    group = ET.SubElement(robot, 'group', name=HAND)
    for link in model.hand_links:
        ET.SubElement(group, 'link', name=link)
    if gripper.joint:
        data = gripper.grasp_data
        column = data.joints.index(gripper.joint)
        for name, posture in (('open', data.pregrasp_posture), ('closed', data.grasp_posture)):
            state = ET.SubElement(robot, 'group_state', name=name, group=HAND)
            ET.SubElement(state, 'joint', name=f'{model.prefix}{gripper.joint}', value=f'{posture[column]:g}')
    ET.SubElement(
        robot,
        'end_effector',
        name=HAND,
        parent_link=mount_link(model),
        group=HAND,
        parent_group=model.group.name,
    )
