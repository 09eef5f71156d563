"""Grasps that serve the pick and the place: chosen for both at once, before anything moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from lfd_description.urdf import Matrix
from lfd_planner.grasps.grasp import SOURCES, Grasp, GraspSet, Source
from lfd_planner.grasps.pauses import Interrupted
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene
from lfd_planner.solution import Attachment
from lfd_planner.stopping import ShouldStop, never
from lfd_planner.task import Context, Generator, Rejection, State, Step

from .arm import Arm
from .grasping import HOLD, Goal, Hold
from .loose_object import LooseObject, Touching
from .obstructions import held_down, no_room, occupied, overlapping, unsupported
from .reach import Reached, reach, why_not

SCORE_WEIGHT = 0.3  # [s] of motion that a grasp's full score is worth
HINT_WORTH = 2.0  # [s] of motion that a demonstrated grasp is worth
MOST_HANDS = 3  # openings of the hand that are told apart
PLACE = 'place'

GraspMaker = Callable[[ShouldStop], GraspSet]
"""Makes grasps, or raises `Interrupted` soon after what it is given says yes."""


@dataclass(frozen=True, eq=False)
class Purpose:
    """A pose that a grasp must be able to hold its object at, besides where it is picked."""

    pose: Pose
    """Of the object in the scene's frame."""
    keyframe: int
    put_down: bool = True
    """Whether the object is let go there, so that the open hand must be free."""

    def blames(self, found: Iterable[Rejection]) -> Iterator[Rejection]:
        """The same, about the place and its keyframe."""
        return (replace(why, stage=PLACE, keyframe=self.keyframe) for why in found)


@dataclass(frozen=True)
class _Around:
    """What an object touches, where it is and at its purposes."""

    pick: Touching
    purposes: tuple[Touching, ...]
    obstructions: tuple[Rejection, ...]
    """Why no grasp can help."""
    falls: tuple[Rejection, ...]
    """Where it would be let go in the air; to be told only if it gets there."""


@dataclass(frozen=True, eq=False)
class _Hand:
    """Grasps for which the hand opens equally far."""

    numbers: npt.NDArray[np.int64]
    posture: Mapping[str, float]
    """The open gripper's joints [rad or m]."""
    scene: PlanningScene
    """The scene with the hand open like this."""


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A grasp, and an arm position for it."""

    number: int
    hand: _Hand
    q: Matrix
    cost: float


class GenerateGrasps(Generator):
    """Brings the open hand to grasps of an object, those first that promise the fastest pick and place.

    Args:
        arm: what grasps.
        object: its name in the scene.
        grasps: of the object's body, or who makes them when they are first needed; if he is stopped on the way, which
            he is to look for, he raises `Interrupted`.
        purposes: where the object goes with the same grasp; a grasp that cannot serve all of them is not tried.
        rise: how far the object is lifted off where it is, and lowered to where it is put down, at least [m].
        keyframe: of the pick.
        most: of the grasps that are tried.
    """

    blames_before = False  # where objects are does not depend on how they came there

    def __init__(
        self,
        arm: Arm,
        object: str,
        grasps: GraspSet | GraspMaker,
        purposes: Sequence[Purpose] = (),
        *,
        rise: float = 0.0,
        keyframe: int = -1,
        most: int | None = None,
        name: str = 'grasp',
    ) -> None:
        super().__init__(name, keyframe=keyframe, most=most)
        self.arm, self.object, self.purposes = arm, object, tuple(purposes)
        self.rise = rise
        self._grasps = grasps

    @property
    def grasps(self) -> GraspSet:
        """Of the object's body; made when they are first asked for."""
        return self._made(never)

    def _made(self, should_stop: ShouldStop) -> GraspSet:
        if not isinstance(self._grasps, GraspSet):
            self._grasps = self._grasps(should_stop)
        return self._grasps

    def generate(self, context: Context, before: State | None) -> Iterable[Step | Rejection]:
        """The arm at grasps, the hand open around the object."""
        if before is None or self.object not in before.scene.objects:
            yield Rejection('no_object', (self.object,), detail=f"There is no object '{self.object}' to pick.")
            return
        try:
            self._made(context.should_stop)
        except Interrupted:
            return
        if not len(self.grasps):
            yield from self._unfit()
            return
        around = self._around(before.scene)
        candidates = [] if around.obstructions else self._candidates(before)
        if around.obstructions or (candidates and around.falls):
            yield from around.obstructions or around.falls
            return
        if not candidates:
            yield from self._why_none(before)
            return
        goals = tuple(
            Goal(purpose.pose, found.supports)
            for purpose, found in zip(self.purposes, around.purposes, strict=True)
            if purpose.put_down
        )
        attachment = Attachment(self.object, self.arm.tcp, self.arm.touch_links)
        for number, found in enumerate(candidates, 1):
            grasp = replace(self.grasps[found.number], open_posture=found.hand.posture)
            hold = Hold(self.object, grasp, attachment, around.pick.supports, goals)
            state = before.with_scene(self.arm.moved(found.hand.scene, found.q))
            yield Step.at(state.knowing(HOLD, hold), comment=self._comment(grasp, number, len(candidates)))

    def _comment(self, grasp: Grasp, number: int, count: int) -> str:
        whole = 'pick and place' if self.purposes else 'pick'
        return f'{self.object} {grasp.reason}; number {number} by time of {count} ways to {whole} it'

    def serves(self, before: State) -> bool:
        """Whether any grasp serves all purposes, as far as the ends of the motions tell."""
        return self.within_reach(before) and self.is_free(before)

    def within_reach(self, before: State) -> bool:
        """Whether grasps are within reach at the pick and at all purposes, whatever anything would touch; quick."""
        return all(
            len(reach(self.arm, before.scene, pose.matrix @ self.grasps.tcp_matrices, self.arm.q(before), free=False).q)
            for pose in (before.scene.objects[self.object].pose, *(purpose.pose for purpose in self.purposes))
        )

    def is_free(self, before: State) -> bool:
        """Whether there is room for the object, and the arm is free with a grasp at the pick and at all purposes."""
        return bool(self._candidates(before)) and not self.obstructed(before)

    def usable(
        self,
        scene: PlanningScene,
        pose: Pose,
        now: Matrix,
        among: npt.NDArray[np.int64] | None = None,
        *,
        free: bool = True,
    ) -> npt.NDArray[np.int64]:
        """The numbers of the grasps, of all or `among` some, that an arm has with the object at a pose."""
        placed = self._touchable(scene.move(self.object, pose))
        found: list[npt.NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
        for hand in self._hands(placed):
            numbers = hand.numbers if among is None else np.intersect1d(hand.numbers, among)
            if len(numbers):
                poses = pose.matrix @ self.grasps.tcp_matrices[numbers]
                found.append(numbers[np.unique(reach(self.arm, hand.scene, poses, now, free=free).pose)])
        return np.concatenate(found)

    def hopeful(
        self, scene: PlanningScene, poses: Sequence[Pose], now: Matrix, among: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.bool_]:
        """At which of many poses of the object an arm may have one of some grasps, (P,); all poses are looked at once.

        The object itself is left out, which stands nowhere yet.
        """
        places = np.array([pose.matrix for pose in poses]).reshape(-1, 1, 4, 4)
        reached = np.zeros(len(poses), dtype=np.bool_)
        for hand in self._hands(scene.remove(self.object)):
            numbers = np.intersect1d(hand.numbers, among)
            if len(numbers) and not reached.all():
                left = np.flatnonzero(~reached)
                tcps = places[left] @ self.grasps.tcp_matrices[numbers]
                found = reach(self.arm, hand.scene, tcps.reshape(-1, 4, 4), now).pose
                reached[left[np.unique(found // len(numbers))]] = True
        return reached

    def obstructed(self, before: State) -> bool:
        """Whether no grasp can help, because of where things are."""
        around = self._around(before.scene)
        return bool(around.obstructions or around.falls)

    def _around(self, scene: PlanningScene) -> _Around:
        """What the object touches where it is and where it goes, and what that forbids."""
        loose, pose = LooseObject(scene, self.object), scene.objects[self.object].pose
        pick = loose.touching(pose)
        purposes = tuple(loose.touching(purpose.pose) for purpose in self.purposes)
        there = [overlapping(self.object, overlap) for overlap in pick.overlaps]
        there += held_down(loose, scene, pick.supports, self.rise) if not there else ()
        falls: list[Rejection] = []
        for purpose, found in zip(self.purposes, purposes, strict=True):
            if not purpose.put_down:
                there += purpose.blames(occupied(self.object, overlap) for overlap in found.overlaps)
                continue
            there += purpose.blames(no_room(loose, purpose.pose, found, self.rise))
            if not found.overlaps:
                falls += purpose.blames(unsupported(loose, purpose.pose, found.supports))
        return _Around(pick, purposes, tuple(there), tuple(falls))

    def _unfit(self) -> Iterator[Rejection]:
        for found in self.grasps.rejections:
            yield Rejection(str(found.reason), (self.object,), found.count, found.detail)

    def _hands(self, scene: PlanningScene) -> Iterator[_Hand]:
        """The grasps sorted by how far the hand opens for them; so few that checking them all stays cheap."""
        widths = np.nan_to_num(self.grasps.widths)
        order = np.argsort(widths, kind='stable')
        steps = np.flatnonzero(np.diff(widths[order]) > 1e-9) + 1
        parts = np.split(
            order, steps if len(steps) < MOST_HANDS else len(order) * np.arange(1, MOST_HANDS) // MOST_HANDS
        )
        for numbers in parts:
            if len(numbers):
                posture = self.grasps[int(numbers[-1])].open_posture
                yield _Hand(np.sort(numbers), posture, scene.with_joints(self.arm.hand(posture)))

    def _touchable(self, scene: PlanningScene) -> PlanningScene:
        """The scene in which a suction cup may touch the object that it is about to hold."""
        return scene.allow(self.object, *self.arm.touch_links) if self.arm.sucks else scene

    def _candidates(self, before: State) -> list[_Candidate]:
        """Grasps and arm positions that serve all purposes, the cheapest first."""
        now = self.arm.q(before)
        found = [candidate for hand in self._hands(before.scene) for candidate in self._served(hand, now)]
        return sorted(found, key=lambda candidate: candidate.cost)

    def _served(self, hand: _Hand, now: Matrix) -> list[_Candidate]:
        """Of the grasps with one opening of the hand, those that serve all purposes."""
        scene, tcps = self._touchable(hand.scene), self.grasps.tcp_matrices[hand.numbers]
        picked = reach(self.arm, scene, scene.objects[self.object].pose.matrix @ tcps, now)
        left = np.unique(picked.pose)
        ways: list[Reached] = []
        for purpose in self.purposes:
            if not len(left):
                return []
            there = scene.move(self.object, purpose.pose)
            reached = reach(self.arm, there, purpose.pose.matrix @ tcps[left], now, free=purpose.put_down)
            ways.append(Reached(reached.q, left[reached.pose]))
            left = np.unique(ways[-1].pose)
        worths = self._worths()
        return [
            _Candidate(number, hand, q, cost + float(worths[number]))
            for n, number in ((n, int(hand.numbers[n])) for n in left.tolist())
            for q, cost in self._costs(picked.of(n), [way.of(n) for way in ways], now)
        ]

    def _worths(self) -> npt.NDArray[np.float64]:
        """What the grasps add to the cost, (N,) [s]; less is better."""
        shown = self.grasps.batch.source == SOURCES.index(Source.HINT)
        return np.asarray(SCORE_WEIGHT * (1.0 - self.grasps.scores) - HINT_WORTH * shown)

    def _costs(self, picked: Matrix, ways: list[Matrix], now: Matrix) -> Iterator[tuple[Matrix, float]]:
        """Positions at the pick, and how long the arm takes there and to the nearest positions for its purposes [s]."""
        speed = self.arm.group.velocities
        costs = (np.abs(picked - now) / speed).max(axis=1)
        for way in ways:
            costs += (np.abs(picked[:, np.newaxis] - way[np.newaxis]) / speed).max(axis=2).min(axis=1)
        return zip(picked, costs.tolist(), strict=True)

    def _why_none(self, before: State) -> Iterator[Rejection]:
        """Why no grasp is left: at the pick, or else at the first purpose that none of those serves."""
        now = self.arm.q(before)
        for hand in self._hands(before.scene):
            scene, tcps = self._touchable(hand.scene), self.grasps.tcp_matrices[hand.numbers]
            poses = scene.objects[self.object].pose.matrix @ tcps
            left = np.unique(reach(self.arm, scene, poses, now).pose)
            if not len(left):
                yield from why_not(self.arm, scene, poses, now)
                continue
            yield from self._why_unserved(scene, tcps[left], now)

    def _why_unserved(self, scene: PlanningScene, tcps: Matrix, now: Matrix) -> Iterator[Rejection]:
        for purpose in self.purposes:
            there, poses = scene.move(self.object, purpose.pose), purpose.pose.matrix @ tcps
            served = np.unique(reach(self.arm, there, poses, now, free=purpose.put_down).pose)
            if not len(served):
                yield from purpose.blames(why_not(self.arm, there, poses, now))
                return
            tcps = tcps[served]
