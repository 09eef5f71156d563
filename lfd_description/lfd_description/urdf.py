"""Reads the kinematic tree of a URDF: links, joints, limits. Geometry and inertia are left to whoever needs them.

Lengths are metres, angles radians, as in URDF; everything a stranger's file can get wrong is refused here, at the
border, with one sentence that names the culprit and the fix.
"""

import math
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from xml.parsers import expat

import numpy as np
import numpy.typing as npt

from .shapes import Vector

Matrix = npt.NDArray[np.float64]

MAX_CHARACTERS = 10_000_000
MAX_DEPTH = 100
KINDS = ('revolute', 'continuous', 'prismatic', 'fixed', 'planar', 'floating')
TURNING = ('revolute', 'continuous')
MOVING = (*TURNING, 'prismatic')


class UrdfError(ValueError):
    """A URDF that cannot be used; the message is one sentence for the person who wrote it."""


@dataclass(frozen=True)
class Limits:
    """What a joint may do: positions in rad or m, velocity in rad/s or m/s, effort in N m or N."""

    lower: float
    upper: float
    velocity: float
    effort: float


@dataclass(frozen=True)
class Mimic:
    """A joint that follows another: position = multiplier * other + offset."""

    joint: str
    multiplier: float
    offset: float

    def position(self, followed: float) -> float:
        """The position [rad or m] that goes with the followed joint's."""
        return self.multiplier * followed + self.offset


@dataclass(frozen=True)
class Joint:
    """A joint between two links; `xyz` [m] and `rpy` [rad] place its frame in the parent link at position zero."""

    name: str
    kind: str
    parent: str
    child: str
    xyz: Vector = (0.0, 0.0, 0.0)
    rpy: Vector = (0.0, 0.0, 0.0)
    axis: Vector = (1.0, 0.0, 0.0)
    limits: Limits | None = None
    mimic: Mimic | None = None

    @property
    def moves(self) -> bool:
        """Whether one number sets the joint's position."""
        return self.kind in MOVING

    @property
    def turns(self) -> bool:
        """Whether that number is an angle."""
        return self.kind in TURNING

    def span(self) -> tuple[float, float]:
        """Where it can be [rad or m]; an endless joint is given one turn, from -pi to pi."""
        if self.limits is None or not math.isfinite(self.limits.upper - self.limits.lower):
            return -math.pi, math.pi
        return self.limits.lower, self.limits.upper

    @cached_property
    def origin(self) -> Matrix:
        """The 4x4 transform parent link -> joint frame, that is, the child link's pose at position zero.

        Not to be written to.
        """
        matrix = np.eye(4)
        matrix[:3, :3] = rotation(self.rpy)
        matrix[:3, 3] = self.xyz
        return matrix


@dataclass(frozen=True)
class RobotTree:
    """A robot's links and joints, known to form one tree under `root`."""

    name: str
    links: tuple[str, ...]
    joints: tuple[Joint, ...]
    root: str

    @cached_property
    def joint_to(self) -> Mapping[str, Joint]:
        """The joint that carries each link but the root, by the link's name."""
        return MappingProxyType({joint.child: joint for joint in self.joints})

    @cached_property
    def joint(self) -> Mapping[str, Joint]:
        """The joints by name."""
        return MappingProxyType({joint.name: joint for joint in self.joints})

    def chain(self, base: str, tip: str) -> tuple[Joint, ...]:
        """The joints met on the way from link `base` down to link `tip`.

        Raises:
            UrdfError: one of the links does not exist, or `tip` does not hang below `base`.
        """
        for link in (base, tip):
            if link not in self.links:
                raise UrdfError(f"robot '{self.name}' has no link '{link}'; its links are {', '.join(self.links)}.")
        joints: list[Joint] = []
        link = tip
        while link != base:
            if link == self.root:
                raise UrdfError(f"link '{tip}' does not hang below '{base}'; start the chain at '{self.root}'.")
            joints.append(self.joint_to[link])
            link = joints[-1].parent
        return tuple(reversed(joints))


def parse_urdf(xml: str) -> RobotTree:
    """Read a URDF's kinematic tree.

    Raises:
        UrdfError: the text is no URDF, or one that describes no single tree of joints.
    """
    robot = robot_element(xml)
    links = tuple(_name(element, 'link') for element in robot.findall('link'))
    joints = tuple(_joint(element) for element in robot.findall('joint'))
    if not links:
        raise UrdfError('The robot has no links; add at least one <link name="base_link"/>.')
    _refuse_duplicates('link', links)
    _refuse_duplicates('joint', (joint.name for joint in joints))
    declared = set(links)
    for joint in joints:
        _check_links(joint, declared)
    _check_mimics(joints)
    name = ' '.join(''.join(letter if letter.isprintable() else ' ' for letter in robot.get('name', '')).split())
    return RobotTree(name, links, joints, _root(links, joints))


def finite_number(text: str) -> float | None:
    """The number that a text stands for; None when it stands for none, or for one without end."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def robot_element(xml: str) -> ET.Element:
    """The outermost element of a URDF, for whoever reads more of it than the kinematic tree.

    Raises:
        UrdfError: the text is no well-formed URDF, is too long, or declares a DOCTYPE.
    """
    if len(xml) > MAX_CHARACTERS:
        raise UrdfError(f'The URDF has {len(xml)} characters; keep it below {MAX_CHARACTERS} (meshes go into files).')
    if not xml.strip():
        raise UrdfError('The URDF is empty; pass the text of a robot description.')
    try:
        _refuse_hostile(xml)
        element = ET.fromstring(xml)
    except (ET.ParseError, expat.ExpatError, UnicodeError) as error:
        raise UrdfError(
            f'The URDF is not well-formed XML ({error}); give the text of a URDF, not a path and not a xacro file.'
        ) from None
    if element.tag.endswith('}robot'):
        raise UrdfError(
            'The URDF\'s <robot> has an xmlns="..." attribute, which makes it another element; remove that.'
        )
    if element.tag != 'robot':
        raise UrdfError(f'The URDF starts with <{element.tag}>; its outermost element must be <robot>.')
    return element


def _refuse_hostile(xml: str) -> None:
    """Entities can blow a small file up to gigabytes, deep nesting overflows the stack, and a URDF needs neither."""
    depth = 0

    def refuse(*_: object) -> None:
        raise UrdfError('The URDF has a DOCTYPE or ENTITY declaration, which is refused; remove it.')

    def enter(*_: object) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise UrdfError(f'The URDF has elements nested more than {MAX_DEPTH} deep; no robot needs that.')

    def leave(*_: object) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = enter
    parser.EndElementHandler = leave
    parser.Parse(xml, True)


def _name(element: ET.Element, kind: str) -> str:
    name = element.get('name', '')
    if not name:
        raise UrdfError(f'A <{kind}> has no name; give it name="...".')
    if not name.isprintable():
        raise UrdfError(f'The <{kind}> {name!r} has a line break or the like in its name; rename it.')
    return name


def _refuse_duplicates(kind: str, names: Iterable[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise UrdfError(f"There are {count} {kind}s called '{name}'; rename all but one.")


def _joint(element: ET.Element) -> Joint:
    name = _name(element, 'joint')
    kind = element.get('type', '')
    if kind not in KINDS:
        raise UrdfError(f"Joint '{name}' has the unknown type '{kind}'; use one of {', '.join(KINDS)}.")
    origin = element.find('origin')
    return Joint(
        name=name,
        kind=kind,
        parent=_link_of(element, name, 'parent'),
        child=_link_of(element, name, 'child'),
        xyz=_vector(origin, 'xyz', name, (0.0, 0.0, 0.0)),
        rpy=_vector(origin, 'rpy', name, (0.0, 0.0, 0.0)),
        axis=_axis(element, name) if kind != 'fixed' else (1.0, 0.0, 0.0),
        limits=_limits(element, name, kind),
        mimic=_mimic(element, name),
    )


def _link_of(element: ET.Element, joint: str, role: str) -> str:
    reference = element.find(role)
    link = '' if reference is None else reference.get('link', '')
    if not link:
        raise UrdfError(f'Joint \'{joint}\' has no {role} link; add <{role} link="..."/>.')
    return link


def _vector(element: ET.Element | None, attribute: str, joint: str, default: Vector) -> Vector:
    text = None if element is None else element.get(attribute)
    if text is None:
        return default
    try:
        x, y, z = (float(number) for number in text.split())
    except ValueError:
        raise UrdfError(f'Joint \'{joint}\' has {attribute}="{text}"; write three numbers.') from None
    if not all(map(math.isfinite, (x, y, z))):
        raise UrdfError(f'Joint \'{joint}\' has {attribute}="{text}"; its three numbers must be finite.')
    return x, y, z


def _axis(element: ET.Element, joint: str) -> Vector:
    """The joint's axis as a unit vector; URDF's default is x."""
    x, y, z = _vector(element.find('axis'), 'xyz', joint, (1.0, 0.0, 0.0))
    length = math.hypot(x, y, z)
    if length == 0.0:
        raise UrdfError(f"Joint '{joint}' has the axis 0 0 0, which has no direction; use 0 0 1, for instance.")
    return x / length, y / length, z / length


def _limits(element: ET.Element, joint: str, kind: str) -> Limits | None:
    limit = element.find('limit')
    if limit is None:
        if kind in ('revolute', 'prismatic'):
            raise UrdfError(
                f"Joint '{joint}' is {kind} but has no limits; add <limit lower upper velocity effort>"
                f'{" or make it continuous" if kind == "revolute" else ""}.'
            )
        return None
    bounded = kind != 'continuous'
    limits = Limits(
        lower=_number(limit, 'lower', joint, 0.0) if bounded else -math.inf,
        upper=_number(limit, 'upper', joint, 0.0) if bounded else math.inf,
        velocity=_number(limit, 'velocity', joint, None),
        effort=_number(limit, 'effort', joint, None),
    )
    if limits.lower > limits.upper:
        raise UrdfError(f"Joint '{joint}' has lower={limits.lower} above upper={limits.upper}; swap them.")
    for quantity, value in (('velocity', limits.velocity), ('effort', limits.effort)):
        if value < 0.0:
            raise UrdfError(f"Joint '{joint}' has the negative {quantity} limit {value}; write its magnitude.")
    return _within_soft_limits(limits, element, joint) if bounded else limits


def _within_soft_limits(limits: Limits, element: ET.Element, joint: str) -> Limits:
    """The limits, narrowed to those of a <safety_controller>, which MoveIt keeps to as well."""
    safety = element.find('safety_controller')
    if safety is None:
        return limits
    lower = max(limits.lower, _number(safety, 'soft_lower_limit', joint, limits.lower))
    upper = min(limits.upper, _number(safety, 'soft_upper_limit', joint, limits.upper))
    return replace(limits, lower=lower, upper=upper) if lower < upper else limits


def _number(element: ET.Element, attribute: str, joint: str, default: float | None) -> float:
    text = element.get(attribute)
    if text is None:
        if default is None:
            raise UrdfError(f'Joint \'{joint}\' has a <{element.tag}> without {attribute}; add {attribute}="...".')
        return default
    value = finite_number(text)
    if value is None:
        raise UrdfError(f'Joint \'{joint}\' has {attribute}="{text}" in its <{element.tag}>; write a finite number.')
    return value


def _mimic(element: ET.Element, joint: str) -> Mimic | None:
    mimic = element.find('mimic')
    if mimic is None:
        return None
    followed = mimic.get('joint', '')
    if not followed:
        raise UrdfError(f'Joint \'{joint}\' mimics no joint by name; add joint="..." to its <mimic>.')
    return Mimic(followed, _number(mimic, 'multiplier', joint, 1.0), _number(mimic, 'offset', joint, 0.0))


def _check_links(joint: Joint, links: Set[str]) -> None:
    for role, link in (('parent', joint.parent), ('child', joint.child)):
        if link not in links:
            raise UrdfError(
                f"Joint '{joint.name}' has the {role} link '{link}', which is not declared; "
                f'add <link name="{link}"/> or correct the name.'
            )


def _check_mimics(joints: tuple[Joint, ...]) -> None:
    by_name = {joint.name: joint for joint in joints}
    for joint in joints:
        if joint.mimic is None:
            continue
        followed = by_name.get(joint.mimic.joint)
        if followed is None or not followed.moves:
            raise UrdfError(
                f"Joint '{joint.name}' mimics '{joint.mimic.joint}', which is no movable joint; correct the name."
            )
        if followed.mimic is not None:
            raise UrdfError(
                f"Joint '{joint.name}' mimics '{followed.name}', which itself mimics '{followed.mimic.joint}'; "
                f'let both mimic a joint that leads.'
            )


def _root(links: tuple[str, ...], joints: tuple[Joint, ...]) -> str:
    """The one link that no joint carries, once it is sure that all others hang below it."""
    parent_of: dict[str, Joint] = {}
    for joint in joints:
        other = parent_of.setdefault(joint.child, joint)
        if other is not joint:
            raise UrdfError(
                f"Link '{joint.child}' is the child of both '{other.name}' and '{joint.name}'; remove one of the two."
            )
    roots = [link for link in links if link not in parent_of]
    if len(roots) > 1:
        raise UrdfError(f'The links {", ".join(roots)} all have no parent; join them so that one root remains.')
    stray = set(links) - _hanging_below(roots, joints)
    if stray:
        raise UrdfError(
            f'The links {_cycle(min(stray), parent_of)} form a cycle; remove one of the joints between them.'
        )
    return roots[0]


def _hanging_below(roots: list[str], joints: tuple[Joint, ...]) -> set[str]:
    children: dict[str, list[str]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint.child)
    reached: set[str] = set()
    waiting = list(roots)
    while waiting:
        link = waiting.pop()
        reached.add(link)
        waiting += children.get(link, [])
    return reached


def _cycle(link: str, parent_of: Mapping[str, Joint]) -> str:
    """The cycle met on the way up from a link that hangs below no root, as text."""
    seen = [link]
    while (link := parent_of[link].parent) not in seen:
        seen.append(link)
    return ' -> '.join(reversed([*seen[seen.index(link) :], link]))


def roll_pitch_yaw(matrix: Matrix) -> Vector:
    """The angles [rad] whose `rotation` is that of a 3x3 or 4x4 matrix; with the pitch upright, the roll is zero."""
    pitch = math.atan2(-matrix[2, 0], math.hypot(matrix[0, 0], matrix[1, 0]))
    if abs(math.cos(pitch)) < 1e-9:
        return 0.0, pitch, math.atan2(-matrix[0, 1], matrix[1, 1])
    return math.atan2(matrix[2, 1], matrix[2, 2]), pitch, math.atan2(matrix[1, 0], matrix[0, 0])


def axis_rotations(axis: npt.ArrayLike, angles: npt.ArrayLike) -> Matrix:
    """The rotations about a unit axis by N angles [rad], (N, 3, 3)."""
    x, y, z = np.asarray(axis, dtype=np.float64)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    turns = np.asarray(angles, dtype=np.float64)[:, None, None]
    rotations: Matrix = np.eye(3) + np.sin(turns) * cross + (1.0 - np.cos(turns)) * (cross @ cross)
    return rotations


def rotation(rpy: Vector) -> Matrix:
    """Roll about x, then pitch about y, then yaw about z, all fixed axes [rad]."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )
