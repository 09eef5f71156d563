"""Reads an SRDF: groups, named states, end effectors and the pairs of links that need no collision check.

What a stranger's file can get wrong is refused here with one sentence that names the culprit and the fix. Elements that
planning does not use (passive joints, sphere approximations) are passed over.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lfd_description.hints import did_you_mean
from lfd_description.urdf import Joint, RobotTree, UrdfError, finite_number, robot_element

MOST_NESTED_GROUPS = 20


class SrdfError(ValueError):
    """An SRDF that cannot be used; the message is one sentence for the person who wrote it."""


@dataclass(frozen=True)
class GroupDescription:
    """A planning group: the joints that are planned for together."""

    name: str
    joints: tuple[str, ...]
    """Those that move and follow no other: from base to tip if the group is one chain, else in the file's order."""
    links: tuple[str, ...]
    """The links that these joints and the fixed ones among them carry."""
    chain: tuple[str, str] | None = None
    """Base and tip, if the group is one chain: told as such, or made of joints, links or groups that form one."""
    states: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Named joint positions [rad or m]: by state, then by joint."""


@dataclass(frozen=True)
class EndEffector:
    """A hand: `group` of links that hangs from `parent_link`, which `parent_group` moves."""

    name: str
    group: str
    parent_link: str
    parent_group: str = ''


@dataclass(frozen=True)
class Srdf:
    """What an SRDF says."""

    groups: Mapping[str, GroupDescription] = field(default_factory=dict)
    end_effectors: tuple[EndEffector, ...] = ()
    disabled: tuple[tuple[str, str], ...] = ()
    """Pairs of links that may touch."""
    free_links: tuple[str, ...] = ()
    """Links that may touch all others, but those of `enabled`."""
    enabled: tuple[tuple[str, str], ...] = ()
    """Pairs of links that are checked although one of them is free."""
    world_frame: str | None = None
    """The frame in which a virtual joint fixes the robot."""


def parse_srdf(xml: str, tree: RobotTree) -> Srdf:
    """Read an SRDF for a robot.

    Raises:
        SrdfError: the text is no SRDF, or names what the robot has not.
    """
    try:
        robot = robot_element(xml)
    except UrdfError as error:
        raise SrdfError(str(error).replace('URDF', 'SRDF')) from None
    return _Reader(robot, tree).read()


class _Reader:
    """One SRDF on its way in."""

    def __init__(self, robot: ET.Element, tree: RobotTree) -> None:
        self.robot = robot
        self.tree = tree
        self.elements = {_name(element, 'group'): element for element in robot.findall('group')}

    def read(self) -> Srdf:
        groups = {name: self.group(name) for name in self.elements}
        return Srdf(
            groups=groups,
            end_effectors=tuple(self.end_effector(element, groups) for element in self.robot.findall('end_effector')),
            disabled=tuple(self.pair(element) for element in self.robot.findall('disable_collisions')),
            free_links=tuple(
                self.link(element, 'link') for element in self.robot.findall('disable_default_collisions')
            ),
            enabled=tuple(self.pair(element) for element in self.robot.findall('enable_collisions')),
            world_frame=self.world_frame(),
        )

    def group(self, name: str) -> GroupDescription:
        element = self.elements[name]
        members = list(dict.fromkeys(self.members(element, name)))
        chains = element.findall('chain')
        chain: tuple[str, str] | None
        if len(chains) == 1 and len(element) == 1:
            chain = self.link(chains[0], 'base_link'), self.link(chains[0], 'tip_link')
        else:
            chain = self.path(members)
        if chain is not None:
            members = list(self.tree.chain(*chain))
        moving = tuple(joint.name for joint in members if joint.moves and joint.mimic is None)
        links = tuple(joint.child for joint in members)
        return GroupDescription(name, moving, links, chain, dict(self.states(name, moving)))

    def path(self, members: Sequence[Joint]) -> tuple[str, str] | None:
        """Base and tip of joints that follow one another, in whatever order they are listed.

        None if they fork, if a moving joint between them is left out, or if no solver could move them.
        """
        if not any(joint.moves for joint in members):
            return None
        depth = {joint.name: len(self.tree.chain(self.tree.root, joint.child)) for joint in members}
        first, last = (end(members, key=lambda joint: depth[joint.name]) for end in (min, max))
        try:
            way = self.tree.chain(first.parent, last.child)
        except UrdfError:
            return None
        listed, passed = {joint.name for joint in members}, {joint.name for joint in way}
        left_out = any(joint.kind != 'fixed' for joint in way if joint.name not in listed)
        solvable = all(joint.kind == 'fixed' or joint.moves for joint in way)
        led = all(joint.mimic is None or joint.mimic.joint in passed for joint in way)
        return (first.parent, last.child) if listed <= passed and not left_out and solvable and led else None

    def members(self, element: ET.Element, name: str, depth: int = 0) -> Iterator[Joint]:
        """All joints of a group, those of its subgroups included."""
        if depth > MOST_NESTED_GROUPS:
            raise SrdfError(f"Group '{name}' contains itself; remove one of its <group> elements.")
        for member in element:
            if member.tag == 'chain':
                base, tip = self.link(member, 'base_link'), self.link(member, 'tip_link')
                try:
                    yield from self.tree.chain(base, tip)
                except UrdfError as error:
                    raise SrdfError(f"The chain of group '{name}' cannot be followed: {error}") from None
            elif member.tag == 'joint':
                yield self.joint(member, f"Group '{name}'")
            elif member.tag == 'link':
                link = self.link(member, 'name')
                if link != self.tree.root:
                    yield self.tree.joint_to[link]
            elif member.tag == 'group':
                inner = member.get('name', '')
                if inner not in self.elements:
                    raise SrdfError(f"Group '{name}' contains the group '{inner}', which there is not.")
                yield from self.members(self.elements[inner], name, depth + 1)

    def states(self, group: str, joints: tuple[str, ...]) -> Iterator[tuple[str, dict[str, float]]]:
        for element in self.robot.findall('group_state'):
            if element.get('group') != group:
                continue
            state = _name(element, 'group_state')
            positions = {}
            for entry in element.findall('joint'):
                joint = self.joint(entry, f"The state '{state}'")
                value = finite_number(entry.get('value', ''))
                if value is None:
                    raise SrdfError(f"The state '{state}' has no finite value for joint '{joint.name}'; add one.")
                if joint.name in joints:
                    positions[joint.name] = value
            yield state, positions

    def end_effector(self, element: ET.Element, groups: Mapping[str, GroupDescription]) -> EndEffector:
        name, group = _name(element, 'end_effector'), element.get('group', '')
        if group not in groups:
            raise SrdfError(f"The end effector '{name}' is the group '{group}', which there is not; name one.")
        return EndEffector(name, group, self.link(element, 'parent_link'), element.get('parent_group', ''))

    def pair(self, element: ET.Element) -> tuple[str, str]:
        return self.link(element, 'link1'), self.link(element, 'link2')

    def link(self, element: ET.Element, attribute: str) -> str:
        link = element.get(attribute, '')
        if link not in self.tree.links:
            hint = did_you_mean(link, self.tree.links)
            raise SrdfError(f'<{element.tag} {attribute}="{link}"> names no link of the robot{hint}; correct it.')
        return link

    def joint(self, element: ET.Element, where: str) -> Joint:
        name = element.get('name', '')
        if name not in self.tree.joint:
            hint = did_you_mean(name, self.tree.joint)
            raise SrdfError(f"{where} names the joint '{name}', which the robot has not{hint}; correct it.")
        return self.tree.joint[name]

    def world_frame(self) -> str | None:
        for element in self.robot.findall('virtual_joint'):
            if element.get('child_link') == self.tree.root:
                if element.get('type') != 'fixed':
                    kind = element.get('type', '')
                    raise SrdfError(f"The virtual joint is {kind}; only robots that stand still ('fixed') are planned.")
                return element.get('parent_frame') or None
        return None


def _name(element: ET.Element, kind: str) -> str:
    name = element.get('name', '')
    if not name:
        raise SrdfError(f'A <{kind}> of the SRDF has no name; give it name="...".')
    return name
