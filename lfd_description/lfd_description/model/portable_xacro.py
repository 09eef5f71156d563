"""A URDF rewritten as a xacro file of lfd: arguments for prefix, hardware and gripper, meshes in the robot's folder."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from lfd_description.bodies import MeshFinder
from lfd_description.shapes import Vector
from lfd_description.urdf import UrdfError, robot_element

_KEPT = ('link', 'joint', 'material')
# Where a URDF names a link, a joint or a material: element -> attribute.
_NAMES = {'link': 'name', 'joint': 'name', 'material': 'name', 'parent': 'link', 'child': 'link', 'mimic': 'joint'}

_HEAD = """\
<?xml version="1.0"?>
<robot name="{name}" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="prefix" default=""/>
  <xacro:arg name="hardware" default="mock"/>
  <xacro:arg name="gripper" default=""/>
  <xacro:property name="prefix" value="$(arg prefix)"/>
  <xacro:include filename="$(find lfd_description)/macros/ros2_control.xacro"/>
"""
_TOOL = """\
  <xacro:include filename="$(find lfd_description)/macros/tool.xacro"/>
  <xacro:lfd_tool gripper="$(arg gripper)" prefix="${{prefix}}" parent={parent} rpy="{rpy}"/>
"""
_TAIL = """\
  <xacro:lfd_ros2_control name="{name}" robot="${{xacro.load_yaml('robot.yaml')}}" prefix="${{prefix}}"
                          hardware="$(arg hardware)"/>
</robot>
"""


@dataclass(frozen=True)
class Mount:
    """The link that carries a gripper, and how its axes are turned so that z points out of the flange [rad]."""

    link: str
    rpy: Vector


def portable_xacro(
    urdf: str, name: str, finder: MeshFinder, meshes: Mapping[Path, str], mount: Mount | None
) -> tuple[str, tuple[str, ...]]:
    """The text of a robot's xacro file, and the names of the elements that were left out.

    Args:
        urdf: the description.
        name: of the robot's folder.
        finder: finds the URDF's meshes.
        meshes: where each of them lies now, below the robot's folder.
        mount: where a gripper goes, if one can be mounted.

    Raises:
        UrdfError: a text in the URDF would mean something to xacro.
    """
    robot = robot_element(urdf)
    dropped = {child.tag for child in robot if child.tag not in _KEPT}
    parts = [_HEAD.format(name=name)]
    for child in robot:
        if child.tag not in _KEPT:
            continue
        dropped |= _drop_foreign(child)
        _refuse_xacro(child)
        for element in child.iter():
            _rewrite(element, name, finder, meshes)
            element.tail = None
        ET.indent(child, level=1)
        parts.append(f'  {ET.tostring(child, encoding="unicode")}\n')
    if mount:
        rpy = ' '.join(f'{angle:.10g}' for angle in mount.rpy)
        parts.append(_TOOL.format(parent=quoteattr(mount.link), rpy=rpy))
    parts.append(_TAIL.format(name=name))
    return ''.join(parts), tuple(sorted(tag for tag in dropped if isinstance(tag, str)))


def _drop_foreign(part: ET.Element) -> set[str]:
    """Remove elements of other name spaces, and textures, whose files stay behind; give their names."""
    dropped = set()
    for element in list(part.iter()):
        for child in list(element):
            if not isinstance(child.tag, str) or '}' in child.tag or child.tag == 'texture':
                element.remove(child)
                dropped.add(str(child.tag).rpartition('}')[2])
    return dropped


def _rewrite(element: ET.Element, name: str, finder: MeshFinder, meshes: Mapping[Path, str]) -> None:
    attribute = _NAMES.get(element.tag)
    if attribute and element.get(attribute):
        element.set(attribute, '${prefix}' + element.get(attribute, ''))
    if element.tag == 'mesh' and element.get('filename'):
        place = meshes[finder(element.get('filename', ''))]
        element.set('filename', f'package://lfd_description/robots/{name}/{place}')


def _refuse_xacro(part: ET.Element) -> None:
    """A stranger's text must not be evaluated."""
    for element in part.iter():
        for text in (*element.attrib.values(), element.text or '', element.tail or ''):
            if '$' in text:
                raise UrdfError(f"The <{part.tag}> '{part.get('name', '')}' has a $ in '{text.strip()}'; remove it.")
