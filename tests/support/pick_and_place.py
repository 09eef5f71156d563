"""A pick and a place made by hand, motion by motion: solutions whose every part a test can break on purpose."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import numpy.typing as npt

from lfd_description.grippers import find_gripper
from lfd_description.model.builder import build_model
from lfd_description.model.model import RobotModel
from lfd_description.robots import find_robot
from lfd_description.scenes import find_scene
from lfd_description.shapes import Vector
from lfd_planner.backends import Failure, Path
from lfd_planner.backends.embedded import EmbeddedBackend
from lfd_planner.mtdf import Descriptor, Pick, Place, Task
from lfd_planner.pose import Pose
from lfd_planner.robot.planning_robot import planning_robot
from lfd_planner.scene import PlanningScene, from_scene
from lfd_planner.solution import Attachment, Segment, Solution
from lfd_planner.timing import Trajectory

Array = npt.NDArray[np.float64]
Pair = tuple[str, str]

BOX = 'blue_box'
PLACE: Vector = (0.42, 0.10, -0.1263)
"""Where the box is put, in the scene's frame [m]."""
ORIGIN = Pose((0.1, -0.05, -0.15))
OPEN, CLOSED = {'joint_left_finger': 0.04}, {'joint_left_finger': 0.04 * 12 / 19}  # pads 49 mm and 42 mm apart
CLEAR = 0.06  # [m], above the box
FINGERS = ('left_finger', 'right_finger')


@dataclass(frozen=True, eq=False)
class Case:
    """A solution and all that it is judged by."""

    solution: Solution
    model: RobotModel
    scene: PlanningScene
    task: Task
    origin: Pose = ORIGIN

    def segment(self, name: str) -> int:
        """The index of the segment of that name."""
        return [segment.name for segment in self.solution.segments].index(name)

    def with_segment(self, name: str, **changes: object) -> Case:
        """The case with a segment changed."""
        segments = list(self.solution.segments)
        segments[self.segment(name)] = replace(segments[self.segment(name)], **changes)
        return self.with_solution(segments=tuple(segments))

    def with_solution(self, **changes: object) -> Case:
        """The case with the solution changed."""
        return replace(self, solution=replace(self.solution, **changes))

    def with_task(self, *keyframes: object) -> Case:
        """The case with other keyframes."""
        return replace(self, task=replace(self.task, keyframes=keyframes))


@dataclass
class Hand:
    """Writes a solution: moves the arm, opens, closes and takes, one segment after the other."""

    model: RobotModel
    scene: PlanningScene
    q: Array
    keyframe: int = 0
    parts: list[Trajectory] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)

    @staticmethod
    def of(gripper: str) -> Hand:
        """A UR5e at home in the demonstration cell, its hand open."""
        backend = _backend(gripper)
        model, robot = _model(gripper), backend.robot
        home = np.array(model.poses['home'])
        start = {**robot.group('manipulator').by_name(home), **(OPEN if gripper == 'two_finger' else {})}
        scene = robot.empty_scene().with_joints(start)
        return Hand(model, scene.add(*from_scene(find_scene('seed_cell')).objects.values()), home)

    @property
    def backend(self) -> EmbeddedBackend:
        return _backend(self.model.gripper.name)

    def reach(self, tcp: Array) -> Array:
        """Positions that bring the TCP to a pose, nearest to where the arm is."""
        group = self.backend.robot.group('manipulator')
        return self.backend.ik(self.scene, group, 'tcp', tcp, self.q, avoid_collisions=False)[0]

    def go(self, name: str, tcp: Array) -> None:
        """A free motion."""
        group = self.backend.robot.group('manipulator')
        path = self.backend.plan_joint(self.scene, group, self.q, self.reach(tcp)[np.newaxis])
        assert isinstance(path, Path), path
        self.follow(name, path.q)

    def glide(self, name: str, tcp: Array, *contacts: Pair) -> None:
        """A straight motion; the arm may touch what it likes."""
        scene = self.scene
        for a, b in contacts:
            scene = scene.allow(a, b)
        group = self.backend.robot.group('manipulator')
        line = self.backend.plan_linear(scene, group, self.q, 'tcp', tcp[np.newaxis])
        assert line.failure is None, line.failure
        self.follow(name, line.q, *contacts)

    def follow(self, name: str, q: Array, *contacts: Pair) -> None:
        """A motion through positions."""
        group = self.backend.robot.group('manipulator')
        timed = self.backend.time(self.scene, group, Path(q), avoid_collisions=False)
        assert not isinstance(timed, Failure), timed
        self.add(name, timed, contacts=contacts)
        self.q = q[-1]
        self.scene = self.scene.with_joints(group.by_name(self.q))

    def stand(self, name: str, duration: float = 0.5, **happens: object) -> None:
        """The arm stands, while the gripper moves [s]."""
        still = np.repeat(self.q[np.newaxis], 2, axis=0)
        self.add(name, Trajectory(np.array([0.0, duration]), still, np.zeros_like(still)), **happens)

    def add(self, name: str, part: Trajectory, **happens: object) -> None:
        """One more segment."""
        first = self.segments[-1].last if self.segments else 0
        self.parts.append(part)
        segment = Segment(name, self.keyframe, first, first + len(part.times) - 1, **happens)
        self.segments.append(segment)
        poses = self.backend.robot.frames.link_poses(self.scene.joints)
        if segment.attach is not None:
            taken = segment.attach
            self.scene = self.scene.attach(taken.object, taken.link, poses, taken.touch_links)
        if segment.detach is not None:
            self.scene = self.scene.detach(segment.detach.object, poses)
        self.scene = self.scene.with_joints(segment.gripper)

    def solution(self) -> Solution:
        """All of it."""
        gripper = self.model.gripper.name
        trajectory = Trajectory.joined(self.parts)
        return Solution('ur5e', gripper, self.model.group.joints, trajectory, tuple(self.segments), 1.0, 0.01, 7)


@cache
def pick_and_place(gripper: str = 'two_finger') -> Case:
    """The blue box is taken from above and put down elsewhere."""
    hand = Hand.of(gripper)
    start = hand.scene
    fingers = gripper == 'two_finger'
    depth = 0.005 if fingers else 0.001
    pads = FINGERS if fingers else ('suction_cup',)
    taken = Attachment(BOX, 'tcp', pads)
    grasp = from_above(start.objects[BOX].pose.position, depth)
    place = from_above(PLACE, depth)
    closing = {'gripper': CLOSED} if fingers else {'outputs': {'vacuum': True}}
    opening = {'gripper': OPEN} if fingers else {'outputs': {'vacuum': False}}
    pressed = () if fingers else (('suction_cup', BOX),)
    support = (BOX, 'template')
    hand.go('transit', raised(grasp, CLEAR))
    hand.glide('approach', grasp, *pressed)
    hand.stand('close', attach=taken, **closing)
    hand.glide('lift', raised(grasp, CLEAR), support)
    hand.keyframe = 1
    hand.go('transfer', raised(place, CLEAR))
    hand.glide('lower', place, support)
    hand.stand('open', detach=taken, contacts=(support,), **opening)
    hand.glide('retreat', raised(place, CLEAR), *pressed)
    task = Task((Descriptor(BOX),), (Pick(BOX), Place(BOX, ORIGIN.inverse @ Pose(PLACE))))
    return Case(hand.solution(), hand.model, start, task)


def from_above(position: Vector, depth: float) -> Array:
    """The TCP that holds the blue box at a position from above, so deep behind its upper face: scene -> tcp [m]."""
    tcp = np.diag([1.0, -1.0, -1.0, 1.0])
    tcp[:3, 3] = position
    tcp[2, 3] += 0.0474 / 2 - depth
    return tcp


def raised(tcp: Array, height: float) -> Array:
    """The same, higher [m]."""
    found = tcp.copy()
    found[2, 3] += height
    return found


@cache
def _model(gripper: str) -> RobotModel:
    return build_model(find_robot('ur5e'), gripper=find_gripper(gripper))


@cache
def _backend(gripper: str) -> EmbeddedBackend:
    return EmbeddedBackend(planning_robot(_model(gripper)))
