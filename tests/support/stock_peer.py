"""A task planner of stock parts, to measure ours against: no filter, no batching, no closed form.

::

    grasp after grasp ──► IK at pick and place ──► straight moves ──► transit, transfer ──► commit, next pair
                          damped least squares     IK every 5 mm      OMPL RRT-Connect, simplified
                          pinocchio, restarts      checked by coal    TOPP-RA

It gets the same robot, scene, task and grasps as ours, moves by the same distances, and allows the same contacts.
What it gives is a `Solution` as well, so that the same judge can look at it. It does not go back to an earlier pair,
and does not regrasp. Times are of the process's CPU, because machines are shared.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import process_time

import numpy as np
import numpy.typing as npt

from lfd_description.model.model import RobotModel
from lfd_planner.grasps import Grasp, generate_grasps
from lfd_planner.mtdf import Pick, Place, Task
from lfd_planner.pose import Pose
from lfd_planner.robot.planning_robot import planning_robot
from lfd_planner.scene import AttachedObject, Body, PlanningScene
from lfd_planner.solution import Attachment, Motion, Solution
from lfd_planner.timing import Trajectory, path_samples

from .coal_judge import PinocchioWorld, coal_distance
from .stock_peer_arm import StockArm
from .stock_peer_motion import DENSE, STEP, search, seed_search, simplified, timed

Array = npt.NDArray[np.float64]
Pair = tuple[str, str]

CLEARANCE = 0.03  # [m] lifted and lowered
AWAY = 0.01  # [m] beyond the depth of a grasp, by which approach and retreat must be free at least
TOUCHING = 0.003  # [m] between an object and what it stands on, after tolerances of poses by hand
TRIES = 6  # descents of the numeric IK for one pose
MOST_ENDS = 2  # arm positions at the pick, and at the place, that are tried for one grasp
SEARCH_TIME = 3.0  # [s] of CPU for one search
SEARCHES = 3  # of one free motion, if what is executed collides
HAND_TIME = 0.05  # [s] that a hand takes at least


@dataclass(frozen=True, eq=False)
class PeerResult:
    """What came of a task."""

    solution: Solution | None
    seconds: float
    """Of CPU."""
    split: dict[str, float] = field(default_factory=dict)
    """The same, by what it was spent on."""
    grasps: int = 0
    """How many grasps were tried."""


@dataclass(frozen=True, eq=False)
class _Worlds:
    """The world at each part of a pick and place with one grasp."""

    open: PinocchioWorld
    lift: PinocchioWorld
    carry: PinocchioWorld
    lower: PinocchioWorld
    done: PinocchioWorld
    after: PlanningScene


class OutOfTime(Exception):
    """The budget of the task is used up."""


class StockPeer:
    """Plans pick and place tasks for one robot with a two-finger hand."""

    def __init__(self, model: RobotModel, *, budget: float = 20.0, seed: int = 1, step: float = STEP) -> None:
        assert model.gripper is not None
        seed_search(seed)
        self.arm = StockArm(model, seed)
        self.gripper = model.gripper
        self.budget = budget
        self.step = step
        self._limits = planning_robot(model).limits
        self._begin = 0.0
        self._grasps = 0
        self._split: dict[str, float] = {}

    def plan(self, task: Task, origin: Pose, scene: PlanningScene) -> PeerResult:
        """Plan a task of picks and places whose descriptors are names of objects, in a scene with the robot."""
        self._begin, self._grasps, self._split = process_time(), 0, {}
        motions: list[Motion] | None = []
        try:
            motions = self._motions(task, scene, origin)
        except OutOfTime:
            motions = None
        seconds = process_time() - self._begin
        solution = None if motions is None else self._solution(motions, seconds)
        return PeerResult(solution, seconds, dict(self._split), self._grasps)

    def _motions(self, task: Task, scene: PlanningScene, origin: Pose) -> list[Motion] | None:
        motions: list[Motion] = []
        frames = task.keyframes
        for number in range(0, len(frames), 2):
            pick, place = frames[number], frames[number + 1]
            assert isinstance(pick, Pick)
            assert isinstance(place, Place)
            found = self._pair(scene, pick, origin @ place.pose, number)
            if found is None:
                return None
            motions += found[0]
            scene = found[1]
        return motions

    def _pair(
        self, scene: PlanningScene, pick: Pick, goal: Pose, number: int
    ) -> tuple[list[Motion], PlanningScene] | None:
        thing = scene.objects[pick.object]
        grasps = generate_grasps(thing.body, self.gripper.grasp_data, hint=pick.grasp)
        supports = self._touching(scene, pick.object, thing.body, thing.pose)
        places = self._touching(scene, pick.object, thing.body, goal)
        for grasp in grasps:
            self._check_time()
            self._grasps += 1
            found = self._with_grasp(_Case(pick.object, goal, grasp, supports, places, number), scene)
            if found is not None:
                return found
        return None

    def _with_grasp(self, case: _Case, scene: PlanningScene) -> tuple[list[Motion], PlanningScene] | None:
        arm, thing = self.arm, scene.objects[case.object]
        q0 = self._q(scene)
        opened = scene.with_joints(self._hand(case.grasp.open_posture))
        with self._spent('worlds'):
            here = arm.world(opened)
        picks = self._ends(here, thing.pose.matrix @ case.grasp.tcp.matrix, q0)
        if not picks:
            return None
        with self._spent('worlds'):
            worlds = self._worlds(case, opened, here)
        places = self._ends(worlds.lower, case.goal.matrix @ case.grasp.tcp.matrix, picks[0], worlds.done)
        for q1 in picks if places else ():
            for q2 in places:
                found = self._between(case, worlds, scene, q0, q1, q2)
                if found is not None:
                    return found
        return None

    def _between(
        self, case: _Case, worlds: _Worlds, scene: PlanningScene, q0: Array, q1: Array, q2: Array
    ) -> tuple[list[Motion], PlanningScene] | None:
        """All motions of a pick at q1 and a place at q2: the cheap ones first."""
        arm, data = self.arm, self.gripper.grasp_data
        far, least = data.approach_distance_desired + data.grasp_max_depth, data.grasp_max_depth + AWAY
        away = data.retreat_distance_desired + data.grasp_max_depth
        up = np.array([0.0, 0.0, max(data.lift_distance_desired, CLEARANCE)])
        with self._spent('lines'):
            approach = arm.line(worlds.open, q1, -far * arm.pose(q1)[:3, 2], least)
            lift = None if approach is None else arm.line(worlds.lift, q1, up, data.lift_distance_desired)
            lower = None if lift is None else arm.line(worlds.lower, q2, up, data.lift_distance_desired)
            retreat = None if lower is None else arm.line(worlds.done, q2, -away * arm.pose(q2)[:3, 2], least)
        if approach is None or lift is None or lower is None or retreat is None:
            return None
        straight = [
            self._executed(worlds.open, approach[::-1]),
            self._executed(worlds.lift, lift),
            self._executed(worlds.lower, lower[::-1]),
            self._executed(worlds.done, retreat),
        ]
        if any(part is None for part in straight):
            return None
        transit = self._free(worlds.open, q0, approach[-1])
        transfer = None if transit is None else self._free(worlds.carry, lift[-1], lower[-1])
        if transit is None or transfer is None:
            return None
        parts = [transit, *straight[:2], transfer, *straight[2:]]
        end = worlds.after.with_joints(dict(zip(arm.joints, retreat[-1].tolist(), strict=True)))
        return self._told(case, scene, [part for part in parts if part is not None], q1, q2), end

    def _told(self, case: _Case, scene: PlanningScene, parts: list[Trajectory], q1: Array, q2: Array) -> list[Motion]:
        transit, approach, lift, transfer, lower, retreat = parts
        opened, closed = self._hand(case.grasp.open_posture), self._hand(case.grasp.posture)
        now = {name: scene.joints[name] for name in opened}
        held = Attachment(case.object, self.arm.tcp, self._touch_links)
        fingers = tuple((link, case.object) for link in self._touch_links)
        on = tuple((case.object, name) for name in case.supports)
        onto = tuple((case.object, name) for name in case.places)
        pick, place = case.number, case.number + 1
        opening = (
            [Motion('open', self._still(transit.q[0], now, opened), pick, gripper=opened)] if now != opened else []
        )
        closing, letting_go = self._still(q1, opened, closed), self._still(q2, closed, opened)
        return [
            *opening,
            Motion('transit', transit, pick),
            Motion('approach', approach, pick),
            Motion('close', closing, pick, held, gripper=closed, contacts=fingers),
            Motion('lift', lift, pick, contacts=on),
            Motion('transfer', transfer, place),
            Motion('lower', lower, place, contacts=onto),
            Motion('open', letting_go, place, detach=held, gripper=opened, contacts=(*fingers, *onto)),
            Motion('retreat', retreat, place),
        ]

    def _ends(self, world: PinocchioWorld, pose: Array, seed: Array, *others: PinocchioWorld) -> list[Array]:
        """Free positions that reach a pose."""
        found: list[Array] = []
        with self._spent('ik'):
            for q in self.arm.solutions(pose, seed, TRIES):
                if not any(checked.collides(q) for checked in (world, *others)):
                    found.append(q)
                if len(found) == MOST_ENDS:
                    break
        return found

    def _free(self, world: PinocchioWorld, start: Array, goal: Array) -> Trajectory | None:
        """A motion from one place to another that is free as executed."""
        for _ in range(SEARCHES):
            with self._spent('search'):
                end = min(process_time() + SEARCH_TIME, self._begin + self.budget)
                path, setup = search(self.arm, world.collides, start, goal, end, self.step)
            if path is None:
                return None
            with self._spent('simplify'):
                path = simplified(setup, len(start))
            found = self._executed(world, path)
            if found is not None:
                return found
        return None

    def _executed(self, world: PinocchioWorld, path: Array) -> Trajectory | None:
        """The fastest motion along a path; its spline is laid the nearer to the path the more often it collides."""
        for spacing in (DENSE, DENSE / 2.0, DENSE / 4.0):
            with self._spent('timing'):
                found = timed(self.arm, path, spacing)
            if found is None:
                continue
            with self._spent('check'):
                if not world.collide(path_samples(found, self.step)).any():
                    return found
        return None

    def _worlds(self, case: _Case, opened: PlanningScene, here: PinocchioWorld) -> _Worlds:
        arm, thing = self.arm, opened.objects[case.object]
        held = AttachedObject(case.object, thing.body, arm.tcp, case.grasp.tcp.inverse, frozenset(self._touch_links))
        carried = opened.with_joints(self._hand(case.grasp.posture)).attach_new(held, {arm.tcp: np.eye(4)})
        after = opened.move(case.object, case.goal)
        return _Worlds(
            here,
            arm.world(carried.allow(case.object, *case.supports)),
            arm.world(carried),
            arm.world(carried.allow(case.object, *case.places)),
            arm.world(after),
            after,
        )

    def _touching(self, scene: PlanningScene, name: str, body: Body, pose: Pose) -> tuple[str, ...]:
        """What a body at a pose stands on or leans at."""
        with self._spent('worlds'):
            return tuple(
                other.id
                for other in scene.objects.values()
                if other.id != name
                and any(
                    coal_distance(part.shape, placed.shape, np.linalg.inv(pose.matrix @ part.pose.matrix) @ placed.pose)
                    <= TOUCHING
                    for part in body.parts
                    for placed in other.placed
                )
            )

    @property
    def _touch_links(self) -> tuple[str, ...]:
        return tuple(f'{self.arm.robot.prefix}{link}' for link in self.gripper.touch_links)

    def _hand(self, posture: dict[str, float]) -> dict[str, float]:
        """A posture without the joints that follow others."""
        named = {f'{self.arm.robot.prefix}{joint}': position for joint, position in posture.items()}
        return {joint: position for joint, position in named.items() if joint in self._limits}

    def _still(self, q: Array, before: dict[str, float], after: dict[str, float]) -> Trajectory:
        times = [abs(after[joint] - before[joint]) / self._limits[joint].velocity for joint in after]
        rows = np.array([q, q])
        return Trajectory(np.array([0.0, max([*times, HAND_TIME])]), rows, np.zeros_like(rows))

    def _q(self, scene: PlanningScene) -> Array:
        return np.array([scene.joints[name] for name in self.arm.joints])

    def _solution(self, motions: list[Motion], seconds: float) -> Solution:
        robot = self.arm.robot
        return Solution.joined(
            motions,
            robot=robot.robot.name,
            gripper=self.gripper.name,
            joints=robot.group.joints,
            planning_time=seconds,
        )

    def _is_late(self) -> bool:
        return process_time() - self._begin > self.budget

    def _check_time(self) -> None:
        if self._is_late():
            raise OutOfTime

    @contextmanager
    def _spent(self, what: str) -> Iterator[None]:
        begin = process_time()
        yield
        self._split[what] = self._split.get(what, 0.0) + process_time() - begin


@dataclass(frozen=True, eq=False)
class _Case:
    """A pick and place with one grasp."""

    object: str
    goal: Pose
    """Of the object in the scene's frame."""
    grasp: Grasp
    supports: tuple[str, ...]
    """What the object stands on where it is."""
    places: tuple[str, ...]
    """What it stands on where it goes."""
    number: int
    """Of the pick's keyframe."""
