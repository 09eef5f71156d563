"""Read the hardware out of a URDF: the ``<ros2_control>`` tags, and the limits of the joints that they name.

Positions are in rad (revolute, continuous) or m (prismatic), velocities in rad/s or m/s, all in the joint's own frame.
"""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

COMPONENT_TYPES = ('system', 'actuator', 'sensor')
PART_KINDS = ('joint', 'sensor', 'gpio')
MOVING_JOINT_TYPES = ('revolute', 'continuous', 'prismatic')


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


@dataclass(frozen=True)
class Mimic:
    """A joint that is not driven by itself: position = multiplier * position of ``joint`` + offset."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0  # [rad] or [m]


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
    if re.search(r'<!\s*(DOCTYPE|ENTITY)', urdf, re.IGNORECASE):
        raise DescriptionError('The robot description has a DOCTYPE or ENTITY declaration: remove it.')
    try:
        root = ElementTree.fromstring(urdf)
    except ElementTree.ParseError as error:
        raise DescriptionError(f'The robot description is not XML ({error}): publish the URDF after xacro.') from error
    if root.tag != 'robot':
        raise DescriptionError(f'The robot description starts with <{root.tag}> and not with <robot>: publish a URDF.')
    tags = root.findall('ros2_control')
    if not tags:
        raise DescriptionError(
            'The robot description has no <ros2_control> tag: add one with the plugin and the joints to control.'
        )
    urdf_joints = {joint.get('name', ''): joint for joint in root.findall('joint')}
    components = tuple(_component(tag, urdf_joints) for tag in tags)
    _refuse_twins([component.name for component in components], '<ros2_control> tags are named')
    _refuse_twins([p.name for c in components for p in c.parts], 'parts of the <ros2_control> tags are named')
    _check_mimics(components)
    return HardwareDescription(robot=root.get('name', ''), components=components)


def _component(tag: ElementTree.Element, urdf_joints: Mapping[str, ElementTree.Element]) -> Component:
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


def _part(tag: ElementTree.Element, where: str, urdf_joints: Mapping[str, ElementTree.Element]) -> Part:
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
    mimic = None if tag.get('mimic') == 'false' else _mimic(urdf_joint, here)
    if mimic is not None and commands:
        raise DescriptionError(
            f"{here} follows '{mimic.joint}' by <mimic> but has a command interface: remove the "
            'command interface, or set mimic="false".'
        )
    limit = _limit(urdf_joint, name, here, commands)
    _check_start(states, limit, mimic, here)
    return Part('joint', name, commands, states, parameters, limit, mimic)


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


def _limit(urdf_joint: ElementTree.Element, name: str, where: str, commands: tuple[Interface, ...]) -> JointLimit:
    """The URDF's limit, made narrower by ``min`` and ``max`` of the command interfaces as ros2_control does."""
    kind = urdf_joint.get('type', '')
    if kind not in MOVING_JOINT_TYPES:
        raise DescriptionError(
            f"{where} is a '{kind}' joint in the URDF: only {', '.join(MOVING_JOINT_TYPES)} joints can be controlled."
        )
    tag = urdf_joint.find('limit')
    continuous = kind == 'continuous'
    if tag is None and not continuous:
        raise DescriptionError(f'{where} has no <limit> in the URDF: add lower, upper and velocity.')
    attributes = {} if tag is None else tag.attrib
    here = f"the URDF's <limit> of joint '{name}'"

    def bound(key: str, default: float) -> float:
        return _number(attributes[key], f"'{key}' of {here}") if key in attributes else default

    # URDF: lower and upper are 0 when left out.
    lower = -math.inf if continuous else bound('lower', 0.0)
    upper = math.inf if continuous else bound('upper', 0.0)
    velocity = bound('velocity', math.inf)
    for interface in commands:
        if interface.name == 'position':
            lower, upper = max(lower, interface.minimum), min(upper, interface.maximum)
        elif interface.name == 'velocity':
            velocity = min(velocity, interface.maximum, -interface.minimum)
    if lower > upper:
        raise DescriptionError(f'{here} has no position left between {lower:g} and {upper:g}: correct lower and upper.')
    if velocity <= 0.0:
        raise DescriptionError(f'{here} allows a velocity of {velocity:g}: give one above zero.')
    return JointLimit(name, lower, upper, velocity, continuous)


def _mimic(urdf_joint: ElementTree.Element, where: str) -> Mimic | None:
    tag = urdf_joint.find('mimic')
    if tag is None:
        return None
    return Mimic(
        joint=_attribute(tag, 'joint', f'<mimic> of {where}'),
        multiplier=_number(tag.get('multiplier', '1'), f"'multiplier' of <mimic> of {where}"),
        offset=_number(tag.get('offset', '0'), f"'offset' of <mimic> of {where}"),
    )


def _check_start(states: tuple[Interface, ...], limit: JointLimit, mimic: Mimic | None, where: str) -> None:
    for interface in states:
        if interface.name != 'position' or mimic is not None:
            continue
        start = interface.initial_value or 0.0
        if not limit.lower <= start <= limit.upper:
            raise DescriptionError(
                f'{where} starts at {start:g}, outside of its limits {limit.lower:g} to {limit.upper:g}: '
                'set initial_value of its position state interface to a value between them.'
            )


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
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DescriptionError(f"{where} is '{text}': write a finite number.")
    return value


def _refuse_twins(names: list[str], what: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise DescriptionError(f"{names.count(name)} {what} '{name}': give each its own name.")
