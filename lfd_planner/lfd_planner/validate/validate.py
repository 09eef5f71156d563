"""The judge: all checks of one solution, in one report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from lfd_description.model.model import RobotModel
from lfd_description.urdf import Matrix
from lfd_planner.mtdf import Task, resolve_task
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene
from lfd_planner.solution import Solution

from . import motion
from .collisions import CollisionCheck
from .contacts import REST, Contacts
from .grasps import GraspCheck
from .keyframes import KeyframeCheck
from .replay import Stage, Story, Stretch, replay
from .report import Check, Clearance, Finding, Report, millimetres
from .solids import Place, distance
from .stability import Fall, Shapes, Stack


def validate(
    solution: Solution,
    model: RobotModel,
    scene: PlanningScene,
    task: Task | None = None,
    origin: Pose | None = None,
    objects: Mapping[str, str] | None = None,
) -> Report:
    """Judge a solution.

    Args:
        solution: the motion.
        model: the arm and its gripper.
        scene: where it starts; if it says where the arm's joints are, the motion must start there.
        task: what was to be done; None: that is not looked at.
        origin: of the task's frame in the scene's frame; None: they are the same.
        objects: the scene's objects by descriptor; without it they are looked for as the task describes them.

    Raises:
        UrdfError, MeshError, SceneFault: the robot or the scene cannot be checked; the message is for the user.
    """
    names = tuple((segment.name, segment.keyframe) for segment in solution.segments)
    count = len(task.keyframes) if task else 1 + max((keyframe for _, keyframe in names), default=0)
    findings = list(motion.structure(solution, model, count))
    if findings:
        return Report(tuple(findings), {'segments': len(names)}, segments=names)
    judge = _Judge(solution, model, scene)
    findings += judge.judged()
    if task is not None:
        origin = origin or Pose()
        if objects is None:
            objects = _objects(task, scene, origin, judge)
        findings += KeyframeCheck(judge.stage, judge.story, task, objects, origin).check()
    findings.sort(key=lambda finding: -1.0 if finding.time is None else finding.time)  # causes before what follows
    return Report(tuple(findings), judge.counts, judge.clearance, names)


def _objects(task: Task, scene: PlanningScene, origin: Pose, judge: _Judge) -> Mapping[str, str]:
    """The scene's objects by descriptor, those in the hand included."""
    stage = judge.stage
    start = stage.start(scene, judge.solution.trajectory.q[0], judge.solution.joints)
    links = stage.link_poses(start[np.newaxis])[0]
    return resolve_task(task, scene, origin, link_poses=dict(zip(stage.links, links, strict=True))).objects


class _Judge:
    """One solution under examination."""

    def __init__(self, solution: Solution, model: RobotModel, scene: PlanningScene) -> None:
        self.solution = solution
        self.model = model
        self.scene = scene
        self.stage = Stage(model, scene)
        self.story: Story = replay(self.stage, scene, solution)
        self.counts: Counter[str] = Counter(segments=len(solution.segments), points=len(solution.trajectory.times))
        self.clearance: Clearance | None = None

    def judged(self) -> Iterator[Finding]:
        """All findings but those about the task."""
        start = self.stage.start(self.scene, self.solution.trajectory.q[0], self.solution.joints)
        yield from self.story.findings
        yield from motion.limits(self.solution, self.model)
        yield from motion.start(self.solution, self.scene)
        at = dict(zip(self.stage.joints, start.tolist(), strict=True))
        yield from motion.turns(self.story.stretches, self.solution, self.model, at)
        yield from self._collisions()
        yield from self._handling()

    def _collisions(self) -> Iterator[Finding]:
        contacts = Contacts(self.model, self.scene, self.story.stretches)
        check = CollisionCheck(self.stage, contacts)
        for stretch in self.story.stretches:
            yield from check.check(stretch)
        self.counts.update(check.counts)
        self.clearance = check.clearance

    def _handling(self) -> Iterator[Finding]:
        """How objects are taken and put down."""
        shapes = Shapes(self.stage.bodies)
        grasps = GraspCheck(self.stage, shapes)
        for stretch in self.story.stretches:
            taken, let_go = stretch.segment.attach, stretch.segment.detach
            after = self.story.standing_after(stretch)
            leaving = self.story.leaving_after(stretch)
            if let_go is not None and let_go.object in after:
                self.counts['places'] += 1
                yield from grasps.let_go(stretch, let_go.object, leaving)
                yield from self._intruders(stretch, let_go.object, after)
                yield from _falls(stretch, Stack(shapes, after).falls(let_go.object))
            if taken is not None and taken.object in stretch.standing and taken.link in self.stage.links:
                self.counts['grasps'] += 1
                yield from grasps.taken(stretch, taken, leaving)
                yield from _bereft(stretch, taken.object, Stack(shapes, stretch.standing), Stack(shapes, after))

    def _intruders(self, stretch: Stretch, name: str, standing: Mapping[str, Matrix]) -> Iterator[Finding]:
        """What an object was put into."""
        for other in standing:
            if other == name or self.scene.allowed.allows(name, other):
                continue
            depth = -min(
                distance(mine, Place.of(standing[name] @ mine.origin), its, Place.of(standing[other] @ its.origin))
                for mine in self.stage.object_solids[name]
                for its in self.stage.object_solids[other]
            )
            if depth > REST:
                message = f"'{name}' is put down {millimetres(depth)} in '{other}'."
                yield Finding(Check.PLACE, message, stretch.index, stretch.end, (name, other), depth)


def _bereft(stretch: Stretch, name: str, before: Stack, after: Stack) -> Iterator[Finding]:
    """What stood only because of an object that is taken."""
    for other in before.above(name):
        message = f"'{other}' stands on '{name}', which is taken."
        yield Finding(Check.MOVED, message, stretch.index, stretch.end, (other, name))
    for carrier in before.carriers(name):
        if before.is_movable(carrier) and not any(before.falls(carrier)):
            yield from _falls(stretch, after.falls(carrier))


def _falls(stretch: Stretch, falls: Iterable[Fall]) -> Iterator[Finding]:
    for fall in falls:
        if fall.outside is None:
            message = f"'{fall.object}' stands on nothing."
        else:
            on = ' and '.join(f"'{other}'" for other in fall.on)
            message = f"'{fall.object}' tips over: its weight is {millimetres(fall.outside)} too far outside on {on}."
        yield Finding(Check.STABILITY, message, stretch.index, stretch.end, (fall.object, *fall.on), fall.outside)
