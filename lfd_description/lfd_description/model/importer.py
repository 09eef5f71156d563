"""A stranger's URDF or xacro becomes a robot's folder: description, meshes, robot.yaml and all that is derived.

Everything is made in a hidden folder beside the others and moved into place when it is whole, so that a refused or
interrupted import leaves nothing behind.
"""

import math
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import yaml

from lfd_description.bodies import COLLISION, Body, MeshFinder, collision_bodies, visual_bodies
from lfd_description.convex_meshes import MOST_TRIANGLES
from lfd_description.grippers import GripperError, find_gripper, gripper_names
from lfd_description.kinematics import Chain
from lfd_description.meshes import load_mesh
from lfd_description.nearby_packages import nearby_packages
from lfd_description.robots import MOCK, UNKNOWN, Robot, RobotError, expand_xacro, find_robot, load_robot, robot_names
from lfd_description.shapes import MeshFile
from lfd_description.urdf import MAX_CHARACTERS, RobotTree, UrdfError, parse_urdf, robot_element

from .builder import build_model
from .collision_matrix import Progress, least_contact_position
from .derived import derived_files, write_files
from .findings import Finding, ModelError
from .group import Group, find_group
from .mesh_copies import copy_meshes
from .model import RobotModel, below
from .portable_xacro import Mount, portable_xacro

_NAME = re.compile(r'[a-z][a-z0-9_]*')
_XACRO = 'http://www.ros.org/wiki/xacro'  # the name space by which a file is known as xacro, whatever it is called
REACH_SAMPLES = 5000
POSE_CANDIDATES = 40
SEED = 3
FARTHEST = 100.0  # [m]

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Request:
    """What a person asked for."""

    file: Path
    """A URDF or xacro file."""
    name: str | None = None
    """Of the robot's folder; else the URDF's own name is used."""
    tip: str | None = None
    base: str | None = None
    gripper: str | None = None
    """The gripper that it is to carry."""
    arguments: Mapping[str, str] = field(default_factory=dict)
    """What a xacro file is to be given."""


@dataclass(frozen=True)
class Imported:
    """A new robot in its folder, with what was found out on the way."""

    robot: Robot
    model: RobotModel
    findings: tuple[Finding, ...]


def import_robot(request: Request, robots: Path, progress: Progress = lambda _: None) -> Imported:
    """Make a robot's folder in the folder `robots` from a URDF or xacro file.

    Raises:
        RobotError, UrdfError, ModelError, MeshError, GripperError: no robot can be made of it; the message says why,
            and nothing is left behind.
    """
    if request.gripper:
        find_gripper(request.gripper)
    urdf = read_description(request.file, request.arguments)
    tree = parse_urdf(urdf)
    name = request.name or _folder_name(tree.name or request.file.name.split('.')[0])
    _refuse_name(name, robots)
    finder = MeshFinder(request.file.resolve().parent)
    seen, solid = visual_bodies(urdf, finder), collision_bodies(urdf, finder)
    meshes_finding = _check_meshes(seen, solid)
    group, group_findings = find_group(tree, base=request.base, tip=request.tip)
    mount, mount_finding = _mount(tree, group)
    if request.gripper and mount is None:
        raise ModelError(f'{mount_finding.value}, so that no gripper can be mounted: leave --gripper out.')
    home, home_finding = _home(tree, group, solid)
    facts, fact_findings = _facts(tree, group, name, home)
    with _workshop(robots, name) as folder:
        meshes = copy_meshes([body.shape.file for body in seen + solid if isinstance(body.shape, MeshFile)], folder)
        settings = {**facts, 'gripper': request.gripper, 'own_gripper': mount is None or None}
        text, dropped = portable_xacro(urdf, name, finder, meshes, mount)
        write_files(folder, {f'{name}.urdf.xacro': text, 'robot.yaml': _robot_yaml(request.file, settings)})
        write_files(folder, derived_files(load_robot(folder), progress=progress))
    robot = load_robot(robots / name)
    model = build_model(robot, gripper=robot.default_gripper())
    body_finding = _bodies_finding(tree, seen, solid)
    findings = (*group_findings, mount_finding, home_finding, *fact_findings, body_finding, *meshes_finding)
    return Imported(robot, model, (*findings, *_dropped(dropped), *model.findings[len(group_findings) :]))


def read_description(file: Path, arguments: Mapping[str, str] | None = None) -> str:
    """The URDF in a file, after xacro has expanded it if it is one, with these arguments.

    Raises:
        UrdfError, RobotError: the file is missing, too long, no text, hostile or wrong.
    """
    try:
        if file.stat().st_size > MAX_CHARACTERS:
            raise UrdfError(f'{file} has more than {MAX_CHARACTERS} bytes; meshes go into files of their own.')
        text = file.read_text(encoding='utf-8')
    except OSError as error:
        raise UrdfError(f'{file} cannot be read: {error.strerror}.') from None
    except UnicodeError:
        raise UrdfError(f'{file} is no text in UTF-8; give a URDF or xacro file.') from None
    robot_element(text)
    if file.suffix.lower() != '.xacro' and _XACRO not in text:
        return text
    return expand_xacro(file, arguments or {}, nearby_packages(file.resolve().parent))


def _check_meshes(seen: Sequence[Body], solid: Sequence[Body]) -> tuple[Finding, ...]:
    """Refuse meshes that cannot be read, and tell of those with too many triangles."""
    colliding = {body.shape.file for body in solid if isinstance(body.shape, MeshFile)}
    drawn = {body.shape.file for body in seen if isinstance(body.shape, MeshFile)}
    heavy = [file for file in sorted(colliding | drawn) if len(load_mesh(file).faces) > MOST_TRIANGLES]
    heavy = [file for file in heavy if file in colliding]
    if not heavy:
        return ()
    names = ', '.join(file.name for file in heavy)
    return (Finding('large meshes', f'{names}: checked as convex hulls', f'more than {MOST_TRIANGLES} triangles'),)


def _folder_name(text: str) -> str:
    name = re.sub(r'[^a-z0-9]+', '_', text.lower()).strip('_')
    return name if name[:1].isalpha() else f'robot_{name}'.rstrip('_')


def _refuse_name(name: str, robots: Path) -> None:
    if not _NAME.fullmatch(name):
        raise ModelError(f"The name '{name}' cannot be a folder's; use small letters, digits and _, a letter first.")
    if name in gripper_names():
        raise ModelError(f"There is a gripper '{name}'; choose another name for the robot with --name.")
    if (robots / name).exists():
        raise ModelError(f"There is a robot '{name}' already; choose another with --name, or remove {robots / name}.")


@contextmanager
def _workshop(robots: Path, name: str) -> Iterator[Path]:
    """A folder to make a robot in; it becomes robots/name when all went well, and is removed otherwise."""
    workshop = robots / f'.{name}-{uuid.uuid4().hex[:8]}'
    folder = workshop / 'robots' / name
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise ModelError(f'{robots} cannot be written: {error.strerror}; use a checkout of your own.') from None
    try:
        yield folder
        folder.rename(robots / name)
    except OSError as error:
        where = str(error.filename or robots / name).replace(str(folder), str(robots / name))
        raise ModelError(f'{where} cannot be written: {error.strerror}.') from None
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _mount(tree: RobotTree, group: Group) -> tuple[Mount | None, Finding]:
    """Where a gripper goes: the flange of ROS-Industrial, or the tip."""
    last = next(joint.child for joint in reversed(tree.chain(group.base, group.tip)) if joint.moves)
    moving = [joint.name for joint in tree.joints if joint.moves and joint.parent in below(tree, last)]
    if moving:
        value = f'{", ".join(moving)} {"moves" if len(moving) == 1 else "move"} below the tip'
        return None, Finding('gripper', value, 'a gripper of its own, or more of the arm')
    for link in below(tree, last):
        if link.lower().endswith('flange'):
            tool = next((j for j in tree.joints if j.parent == link and j.child.lower().endswith('tool0')), None)
            if tool:
                return Mount(link, tool.rpy), Finding('gripper mount', link, f'turned as {tool.child} is')
            why = 'its x axis is taken to point out, as in ROS-Industrial'
            return Mount(link, (0.0, math.pi / 2, 0.0)), Finding('gripper mount', link, why)
    return Mount(group.tip, (0.0, 0.0, 0.0)), Finding('gripper mount', group.tip, 'its z axis is taken to point out')


def _home(tree: RobotTree, group: Group, bodies: Sequence[Body]) -> tuple[tuple[float, ...], Finding]:
    """Where a simulated arm starts: at zero if it can be there, else where it touches itself least."""
    low, high = _ranges(tree, group)
    middle = np.where((low <= 0.0) & (high >= 0.0), 0.0, 0.5 * (low + high))
    random = np.random.default_rng(SEED).uniform(-0.5, 0.5, (POSE_CANDIDATES, len(low)))
    random *= np.linspace(0.2, 1.0, POSE_CANDIDATES)[:, None] * (high - low)  # near zero first
    # Rounded to be read, and clipped after that: a rounded limit may be beyond the limit.
    candidates = np.clip(np.round([middle, *(middle + random)], 4), low, high)
    named = [dict(zip(group.joints, q.tolist(), strict=True)) for q in candidates]
    number, contacts = least_contact_position(tree, bodies, group.joints, named)
    pose = tuple(named[number].values())
    why = (
        'zero, or the middle of the range' if number == 0 else 'at zero, or the middle of the range, it touches itself'
    )
    touching = f'; even here {contacts} pairs of links touch' if contacts else ''
    return pose, Finding('home', ', '.join(f'{value:g}' for value in pose), why + touching)


def _ranges(tree: RobotTree, group: Group) -> tuple[Numbers, Numbers]:
    """The lowest and the highest positions of the joints [rad or m]."""
    spans = np.array([tree.joint[name].span() for name in group.joints])
    return spans[:, 0], spans[:, 1]


def _facts(
    tree: RobotTree, group: Group, name: str, home: tuple[float, ...]
) -> tuple[dict[str, object], tuple[Finding, ...]]:
    """The keys of a robot.yaml that can be found out."""
    hardware, hardware_why = _hardware(tree, group)
    reach = _reach(tree, group)
    facts: dict[str, object] = {
        'title': tree.name or name,
        'vendor': UNKNOWN,
        'hardware': hardware,
        'reach_m': reach,
        'base': group.base,
        'tip': group.tip,
        'joints': list(group.joints),
        'poses': {'home': list(home)},
        'other_joints': _other_joints(tree, group),
    }
    return facts, (
        Finding('hardware', hardware, hardware_why),
        Finding('reach', f'{reach:g} m', f"the tip's farthest from the first joint in {REACH_SAMPLES} configurations"),
    )


def _hardware(tree: RobotTree, group: Group) -> tuple[str, str]:
    """The kind of the real controller, told by the joints' names."""
    for robot in _known_robots():
        names = [name[-len(own) :] for name, own in zip(group.joints, robot.joints, strict=False)]
        if len(group.joints) == len(robot.joints) and names == list(robot.joints) and robot.hardware != MOCK:
            distinct = not all(re.fullmatch(r'joint_?\d', own) for own in robot.joints)
            if distinct or robot.hardware in tree.name.lower() or robot.name in tree.name.lower():
                return robot.hardware, f'its joints have the names of those of {robot.title}'
    return MOCK, 'no controller that is known; robot.yaml can name one: motoman, abb or ur'


def _other_joints(tree: RobotTree, group: Group) -> dict[str, float] | None:
    """Where the joints that are no part of the arm stand [rad or m]: at zero, or at the limit nearest to it."""
    others = [joint for joint in tree.joints if joint.moves and joint.mimic is None and joint.name not in group.joints]
    return {joint.name: min(max(0.0, joint.span()[0]), joint.span()[1]) for joint in others} or None


def _known_robots() -> Iterator[Robot]:
    for name in robot_names():
        with suppress(RobotError, GripperError):  # another robot's fault is none of this one's
            yield find_robot(name)


def _reach(tree: RobotTree, group: Group) -> float:
    low, high = _ranges(tree, group)
    q = np.random.default_rng(SEED).uniform(low, high, (REACH_SAMPLES, len(low)))
    chain = Chain(tree, group.base, group.tip)
    shoulder = chain.link_poses(np.zeros((1, len(low))))[0, 0, :3, 3]
    reach = float(np.linalg.norm(chain.poses(q)[:, :3, 3] - shoulder, axis=1).max())
    if not 0.001 <= reach <= FARTHEST:
        raise ModelError(
            f"The tip '{group.tip}' gets {reach:.3g} m away from the first joint, which no arm does; "
            f'choose another with --tip, or give lengths in metres.'
        )
    return round(reach, 3)


def _robot_yaml(source: Path, settings: Mapping[str, object]) -> str:
    known = {key: value for key, value in settings.items() if value is not None}
    body = yaml.safe_dump(known, sort_keys=False, default_flow_style=None, width=110)
    origin = ''.join(letter for letter in source.name if letter.isprintable())
    return (
        f'# Derived from {origin}; correct what is wrong, then run ./lfd robots build.\n'
        '# Optional: payload_kg, accelerations (a list [rad/s^2], one for each joint), more poses [rad].\n'
        f'# other_joints are no part of the arm; a simulated one holds them there [rad or m].\n{body}'
    )


def _bodies_finding(tree: RobotTree, seen: Sequence[Body], solid: Sequence[Body]) -> Finding:
    links = {body.link for body in solid}
    bare = [link for link in {body.link for body in seen} if link not in links]
    why = f'{len(bare)} links are seen but collide with nothing' if bare else f'from <{COLLISION}> of the URDF'
    return Finding('bodies', f'{len(solid)} solids on {len(links)} of {len(tree.links)} links', why)


def _dropped(tags: Sequence[str]) -> Iterator[Finding]:
    if tags:
        yield Finding('left out', ', '.join(f'<{tag}>' for tag in tags), 'lfd writes its own <ros2_control>')
