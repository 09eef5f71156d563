"""Read the hardware out of a URDF: the ``<ros2_control>`` tags, and the limits of the joints that they name.

Positions are in rad (revolute, continuous) or m (prismatic), velocities in rad/s or m/s, all in the joint's own frame.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from lfd_description.urdf import MOVING, Joint, Mimic, UrdfError, finite_number, parse_urdf, robot_element

COMPONENT_TYPES = ('system', 'actuator', 'sensor')
PART_KINDS = ('joint', 'sensor', 'gpio')


class DescriptionError(ValueError):
    """A robot description that no hardware can be made of; the message is one sentence naming the tag and the fix."""


@dataclass(frozen=True)
class Interface:
    """One value that can be read from, or written to, a part of the hardware, for example ``position``."""

    name: str
    initial_value: float | None = None  # [rad], [m], [rad/s], ... as the interface's name says
    minimum: float = -math.inf
    maximum: float = math.inf


@dataclass(frozen=True)
class JointLimit:
    """How far and how fast a joint may be commanded."""

    joint: str
    lower: float = -math.inf  # [rad] or [m]
    upper: float = math.inf  # [rad] or [m]
    velocity: float = math.inf  # [rad/s] or [m/s]
    continuous: bool = False  # turns without end, so that positions 2 pi apart are the same
    acceleration: float = math.inf  # [rad/s2] or [m/s2] of a stop; a URDF cannot say it


@dataclass(frozen=True)
class Part:
    """A joint, a sensor or a group of inputs and outputs (gpio) of a hardware component."""

    kind: str
    name: str
    command_interfaces: tuple[Interface, ...]
    state_interfaces: tuple[Interface, ...]
    parameters: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    limit: JointLimit | None = None
    mimic: Mimic | None = None


@dataclass(frozen=True)
class Component:
    """One ``<ros2_control>`` tag: a device with one driver."""

    name: str
    type: str
    plugin: str
    parameters: Mapping[str, str]
    parts: tuple[Part, ...]

    @property
    def joints(self) -> tuple[Part, ...]:
        """The parts that are joints, in the tag's order."""
        return tuple(part for part in self.parts if part.kind == 'joint')

    @cached_property
    def command_interfaces(self) -> tuple[str, ...]:
        """All that can be commanded, named ``<part>/<interface>``."""
        return tuple(f'{part.name}/{interface.name}' for part in self.parts for interface in part.command_interfaces)

    @cached_property
    def state_interfaces(self) -> tuple[str, ...]:
        """All that can be read, named ``<part>/<interface>``."""
        return tuple(f'{part.name}/{interface.name}' for part in self.parts for interface in part.state_interfaces)


@dataclass(frozen=True)
class HardwareDescription:
    """All hardware of one robot."""

    robot: str
    components: tuple[Component, ...]

    @property
    def limits(self) -> Mapping[str, JointLimit]:
        """The limit of every joint of the hardware, by the joint's name."""
        return {
            part.name: part.limit
            for component in self.components
            for part in component.joints
            if part.limit is not None
        }


def parse_hardware(urdf: str) -> HardwareDescription:
    """Read every ``<ros2_control>`` tag of a URDF text, or raise DescriptionError."""
    try:
        tree = parse_urdf(urdf)
    except UrdfError as error:
        raise DescriptionError(str(error)) from None
    root = robot_element(urdf)
    tags = root.findall('ros2_control')
    if not tags:
        raise DescriptionError(
            'The robot description has no <ros2_control> tag: add one with the plugin and the joints to control.'
        )
    components = tuple(_component(tag, tree.joint) for tag in tags)
    _refuse_twins([component.name for component in components], '<ros2_control> tags are named')
    _refuse_twins([p.name for c in components for p in c.parts], 'parts of the <ros2_control> tags are named')
    _check_mimics(components)
    return HardwareDescription(robot=tree.name, components=components)


def _component(tag: ElementTree.Element, urdf_joints: Mapping[str, Joint]) -> Component:
    name = _attribute(tag, 'name', 'a <ros2_control> tag')
    where = f"<ros2_control name='{name}'>"
    kind = _attribute(tag, 'type', where)
    if kind not in COMPONENT_TYPES:
        raise DescriptionError(f"{where} has the type '{kind}': use one of {', '.join(COMPONENT_TYPES)}.")
    hardware = tag.find('hardware')
    plugin = '' if hardware is None else (hardware.findtext('plugin') or '').strip()
    if hardware is None or not plugin:
        raise DescriptionError(
            f'{where} has no <hardware><plugin>: name the driver, for example mock_components/GenericSystem.'
        )
    parts = tuple(_part(child, where, urdf_joints) for child in tag if child.tag in PART_KINDS)
    if not parts:
        raise DescriptionError(f'{where} has no <joint>, <sensor> or <gpio>: name the joints to control.')
    return Component(name, kind, plugin, _parameters(hardware, where), parts)


def _part(tag: ElementTree.Element, where: str, urdf_joints: Mapping[str, Joint]) -> Part:
    name = _attribute(tag, 'name', f'a <{tag.tag}> in {where}')
    here = f"<{tag.tag} name='{name}'> in {where}"
    commands = tuple(_interface(child, here) for child in tag.findall('command_interface'))
    states = tuple(_interface(child, here) for child in tag.findall('state_interface'))
    _refuse_twins([interface.name for interface in commands], f'command interfaces of {here} are named')
    _refuse_twins([interface.name for interface in states], f'state interfaces of {here} are named')
    if not commands and not states:
        raise DescriptionError(f'{here} has no <command_interface> and no <state_interface>: add at least one.')
    parameters = _parameters(tag, here)
    if tag.tag != 'joint':
        return Part(tag.tag, name, commands, states, parameters)
    urdf_joint = urdf_joints.get(name)
    if urdf_joint is None:
        known = ', '.join(sorted(urdf_joints)) or 'none'
        raise DescriptionError(f'{here} is no joint of the URDF: use one of its joints ({known}).')
    mimic = None if tag.get('mimic') == 'false' else urdf_joint.mimic
    if mimic is not None and commands:
        raise DescriptionError(
            f"{here} follows '{mimic.joint}' by <mimic> but has a command interface: remove the "
            'command interface, or set mimic="false".'
        )
    return Part('joint', name, commands, states, parameters, _limit(urdf_joint, here, commands), mimic)


def _interface(tag: ElementTree.Element, where: str) -> Interface:
    name = _attribute(tag, 'name', f'a <{tag.tag}> of {where}')
    here = f"<{tag.tag} name='{name}'> of {where}"
    values = {
        key: _number(text, f"'{key}' of {here}") for key, text in _parameters(tag, here).items() if key in _NUMBERS
    }
    minimum, maximum = values.get('min', -math.inf), values.get('max', math.inf)
    if minimum > maximum:
        raise DescriptionError(f"{here} has a 'min' of {minimum:g} above its 'max' of {maximum:g}: swap them.")
    return Interface(name, values.get('initial_value'), minimum, maximum)


_NUMBERS = ('initial_value', 'min', 'max')


def _limit(joint: Joint, where: str, commands: tuple[Interface, ...]) -> JointLimit:
    """The URDF's limit, made narrower by ``min`` and ``max`` of the command interfaces as ros2_control does."""
    if not joint.moves:
        raise DescriptionError(
            f"{where} is a '{joint.kind}' joint in the URDF: only {', '.join(MOVING)} joints can be controlled."
        )
    here = f"the URDF's <limit> of joint '{joint.name}'"
    lower, upper, velocity, acceleration = -math.inf, math.inf, math.inf, math.inf
    if joint.limits is not None:
        lower, upper, velocity = joint.limits.lower, joint.limits.upper, joint.limits.velocity
    for interface in commands:
        if interface.name == 'position':
            lower, upper = max(lower, interface.minimum), min(upper, interface.maximum)
        elif interface.name == 'velocity':
            velocity = min(velocity, interface.maximum, -interface.minimum)
        elif interface.name == 'acceleration':
            acceleration = min(acceleration, interface.maximum, -interface.minimum)
    if lower > upper:
        raise DescriptionError(f'{here} has no position left between {lower:g} and {upper:g}: correct lower and upper.')
    if velocity <= 0.0:
        raise DescriptionError(f'{here} allows a velocity of {velocity:g}: give one above zero.')
    if acceleration <= 0.0:
        raise DescriptionError(f"{where} allows an acceleration of {acceleration:g}: give a 'max' above zero.")
    # A continuous joint that a command interface narrows has two ends, and a turn more is another place.
    endless = joint.kind == 'continuous' and math.isinf(lower) and math.isinf(upper)
    return JointLimit(joint.name, lower, upper, velocity, endless, acceleration)


def _check_mimics(components: tuple[Component, ...]) -> None:
    for component in components:
        driven = {part.name for part in component.joints if part.mimic is None}
        for part in component.joints:
            if part.mimic is not None and part.mimic.joint not in driven:
                raise DescriptionError(
                    f"Joint '{part.name}' mimics '{part.mimic.joint}', which <ros2_control name='{component.name}'> "
                    'does not drive: add that joint to the tag.'
                )


def _attribute(tag: ElementTree.Element, name: str, where: str) -> str:
    value = (tag.get(name) or '').strip()
    if not value:
        raise DescriptionError(f"There is no '{name}' attribute on {where}: add it.")
    return value


def _parameters(tag: ElementTree.Element, where: str) -> Mapping[str, str]:
    return MappingProxyType(
        {_attribute(p, 'name', f'a <param> of {where}'): (p.text or '').strip() for p in tag.findall('param')}
    )


def _number(text: str, where: str) -> float:
    value = finite_number(text)
    if value is None:
        raise DescriptionError(f"{where} is '{text}': write a finite number.")
    return value


def _refuse_twins(names: list[str], what: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise DescriptionError(f"{names.count(name)} {what} '{name}': give each its own name.")
