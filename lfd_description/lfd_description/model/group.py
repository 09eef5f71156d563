"""The planning group: which joints of a URDF are the arm, from where to where.

Found by the conventions of ROS-Industrial and of common vendors; what they do not settle is asked for by name.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lfd_description.urdf import Joint, RobotTree, UrdfError

from .findings import Finding, ModelError

GROUP = 'manipulator'

# The names of tool frames, best first; each is the end of a link's name, so that prefixes do not matter.
_TIPS = (
    r'tool0',
    r'(?:hand_|gripper_)?tcp',
    r'(?:gripper_)?tool_(?:frame|link)',
    r'tool',
    r'ee_link|link_ee|link_eef|eef|ee|end_effector|endeffector',
    r'gripper_frame_link|grasping_frame|grasp_frame|gripper_center',
    r'flange',
    r'(?:hand|gripper)(?:_link)?',
)
FASTEST = 1000.0
"""[rad/s or m/s], the velocity that no joint exceeds."""
_WORLDS = ('world', 'map', 'odom')
_FEWEST_JOINTS = 3  # below a fork, for the part below it to count as an arm of its own


@dataclass(frozen=True)
class Group:
    """The joints between two links that are planned for together."""

    base: str
    """The link in whose frame poses are given."""
    tip: str
    """The link that is brought to them."""
    joints: tuple[str, ...]
    """From base to tip; those that only follow others are not among them."""
    name: str = GROUP


def find_group(
    tree: RobotTree, *, base: str | None = None, tip: str | None = None
) -> tuple[Group, tuple[Finding, ...]]:
    """The planning group of a robot, and why it is that one.

    Args:
        tree: the robot.
        base: the first link, if it is not to be found by convention.
        tip: the last link, if it is not to be found by convention.

    Raises:
        ModelError: there is no arm, there are several, or a link has another name; the message says what to pass.
    """
    tip, tip_why = (_known(tree, tip, '--tip'), 'as asked for') if tip else _find_tip(tree)
    base, base_why = (_known(tree, base, '--base'), 'as asked for') if base else _find_base(tree, tip)
    try:
        way = tree.chain(base, tip)
    except UrdfError as error:
        raise ModelError(f'There is no chain from {base} to {tip}: {error}') from None
    joints = _group_joints(way, base, tip)
    return Group(base, tip, joints), (
        Finding('tip', tip, tip_why),
        Finding('base', base, base_why),
        Finding('joints', ', '.join(joints), f'the {len(joints)} that move between them'),
    )


def _known(tree: RobotTree, link: str, option: str) -> str:
    if link not in tree.links:
        raise ModelError(f"There is no link '{link}'; give {option} one of {', '.join(tree.links)}.")
    return link


def _group_joints(way: Sequence[Joint], base: str, tip: str) -> tuple[str, ...]:
    """The names of the joints that move, once it is sure that each can be planned for."""
    for joint in way:
        if joint.kind in ('planar', 'floating'):
            raise ModelError(f"Joint '{joint.name}' is {joint.kind}; start the arm below it: --base {joint.child}.")
        if joint.moves and joint.mimic is None:
            _check_limits(joint)
    names = tuple(joint.name for joint in way if joint.moves and joint.mimic is None)
    if not names:
        raise ModelError(f"Nothing moves between '{base}' and '{tip}'; give the arm's last link with --tip.")
    for joint in way:
        if joint.mimic is not None and joint.mimic.joint not in names:
            raise ModelError(
                f"Joint '{joint.name}' of the arm mimics '{joint.mimic.joint}', which is not part of it; "
                f'start the arm further up with --base, or end it further up with --tip.'
            )
    return names


def _check_limits(joint: Joint) -> None:
    limits = joint.limits
    if limits is None:
        raise ModelError(
            f'Joint \'{joint.name}\' has no velocity limit; add <limit velocity="..." effort="..."/> to it.'
        )
    if limits.lower >= limits.upper:
        raise ModelError(
            f"Joint '{joint.name}' cannot move: its limits are {limits.lower:g} and {limits.upper:g}; "
            f'correct lower and upper, or make it fixed.'
        )
    if not 0.0 < limits.velocity <= FASTEST:
        raise ModelError(
            f"Joint '{joint.name}' has the velocity limit {limits.velocity:g}, with which no joint moves; correct it."
        )


def _find_tip(tree: RobotTree) -> tuple[str, str]:
    """The arm's last link: by its name, or as the end of the only chain."""
    arms = _limbs(tree)
    if not arms:
        raise ModelError('No joint of this robot moves, so that there is no chain to plan for; check its joint types.')
    for pattern in _TIPS:
        named = [link for link in tree.links if re.fullmatch(rf'(?:.*[_\W])?(?:{pattern})', link.lower())]
        named = [link for link in named if _moving_joints(tree, link) and not _arm_goes_on(tree, link)]
        if len({tuple(joint.name for joint in _moving_joints(tree, link)) for link in named}) == 1:
            return named[0], 'the convention for the name of a tool frame'
        if named:
            raise ModelError(f'Several links look like the tip of an arm; choose one with --tip {" or ".join(named)}.')
    if len(arms) > 1:
        raise ModelError(
            f'The robot has several limbs and no tool frame by name; choose the tip with --tip {" or ".join(arms)}.'
        )
    return arms[0], 'the end of the only chain of moving joints'


def _arm_goes_on(tree: RobotTree, link: str) -> bool:
    """Whether the link sits in the middle of an arm: a row of joints follows that does not fork, as a hand does."""
    moving_below = _moving_below(tree)
    here, joints = _moving_joints(tree, link)[-1].child, 0
    while True:
        ahead = [joint for joint in tree.joints if joint.parent == here and moving_below[joint.child] + joint.moves]
        if len(ahead) != 1:
            return joints >= _FEWEST_JOINTS
        joints += ahead[0].moves
        here = ahead[0].child


def _limbs(tree: RobotTree) -> list[str]:
    """The ends of all chains of moving joints; a hand, whose fingers fork off, ends the chain that carries it."""
    moving_below = _moving_below(tree)
    ends = []
    stack = [tree.root]
    while stack:
        link = stack.pop()
        ahead = [joint for joint in tree.joints if joint.parent == link and moving_below[joint.child] + joint.moves]
        carried = bool(_moving_joints(tree, link))
        is_hand = carried and len(ahead) > 1 and all(moving_below[joint.child] + 1 < _FEWEST_JOINTS for joint in ahead)
        if carried and (not ahead or is_hand):
            ends.append(_last_frame(tree, link) if not ahead else link)
        elif not is_hand:
            stack += [joint.child for joint in reversed(ahead)]
    return ends


def _last_frame(tree: RobotTree, link: str) -> str:
    """The frame at the end of the fixed joints below a link, if they form a single row."""
    while True:
        below = [joint.child for joint in tree.joints if joint.parent == link]
        if len(below) != 1:
            return link
        link = below[0]


def _moving_below(tree: RobotTree) -> dict[str, int]:
    """How many moving joints hang below each link."""
    counts = dict.fromkeys(tree.links, 0)
    for joint in tree.joints:
        if joint.moves:
            for above in tree.chain(tree.root, joint.parent):
                counts[above.child] += 1
            counts[tree.root] += 1
    return counts


def _moving_joints(tree: RobotTree, link: str) -> list[Joint]:
    return [joint for joint in tree.chain(tree.root, link) if joint.moves]


def _find_base(tree: RobotTree, tip: str) -> tuple[str, str]:
    """The link where the arm starts: the robot's root, or the last fork above an arm that is one limb of several."""
    way = tree.chain(tree.root, tip)
    start, why = tree.root, 'the root of the robot'
    for joint in way:
        remaining = sum(later.moves for later in way[way.index(joint) + 1 :])
        if joint.kind in ('planar', 'floating'):
            start, why = joint.child, f"the first link above which nothing drives like '{joint.name}'"
        elif remaining >= _FEWEST_JOINTS and joint.moves and (other := _fork(tree, joint.child, way)):
            start, why = joint.child, f'the last link from which other moving parts fork off ({other})'
    still = _still_links(tree, start, tip)
    named = [link for link in still if link.lower().endswith('base_link')]
    if named:
        return named[-1], "the convention for the name of an arm's base"
    if start.lower() in _WORLDS and len(still) > 1:
        return still[1], f"the robot's first link below '{start}'"
    return start, why


def _fork(tree: RobotTree, link: str, way: Sequence[Joint]) -> str:
    """A moving joint that hangs below a link of an arm, or below links fixed to it, without being part of the arm."""
    on_the_way = {joint.name for joint in way}
    below = _moving_below(tree)
    links = [link]
    while links:
        for joint in (joint for joint in tree.joints if joint.parent == links[0]):
            if joint.name not in on_the_way and joint.moves + below[joint.child] > 0:
                return joint.name
            if joint.name in on_the_way and not joint.moves:
                links.append(joint.child)
        links.pop(0)
    return ''


def _still_links(tree: RobotTree, start: str, tip: str) -> list[str]:
    """The links from `start` towards the tip before anything moves."""
    links = [start]
    for joint in tree.chain(start, tip):
        if joint.kind != 'fixed':
            break
        links.append(joint.child)
    return links
