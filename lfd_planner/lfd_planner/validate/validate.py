"""The judge: all checks of one solution, in one report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from lfd_description.bodies import collision_bodies
from lfd_description.model.builder import mesh_finder
from lfd_description.model.model import RobotModel
from lfd_description.urdf import Matrix
from lfd_planner.mtdf import Task, resolve_task
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, PlanningScene, to_scene
from lfd_planner.solution import Solution

from . import motion
from .collisions import CollisionCheck
from .contacts import REST, Contacts
from .grasps import GraspCheck
from .keyframes import KeyframeCheck
from .replay import Stage, Story, Stretch, replay
from .report import Check, Clearance, Finding, Report
from .solids import Place, distance, link_solids, object_solids
from .stability import Shapes, Stack


def validate(
    solution: Solution,
    model: RobotModel,
    scene: PlanningScene,
    task: Task,
    origin: Pose,
    objects: Mapping[str, str] | None = None,
) -> Report:
    """Judge a solution.

    Args:
        solution: the motion.
        model: the arm and its gripper.
        scene: where it starts; if it says where the arm's joints are, the motion must start there.
        task: what was to be done.
        origin: of the task's frame in the scene's frame.
        objects: the scene's objects by descriptor; without it they are looked for as the task describes them.

    Raises:
        UrdfError, MeshError, SceneError: the robot or the scene cannot be checked; the message is for the user.
    """
    names = tuple(segment.name for segment in solution.segments)
    findings = list(motion.structure(solution, model, len(task.keyframes)))
    if findings:
        return Report(tuple(findings), {'segments': len(names)}, segments=names)
    if objects is None:
        objects = resolve_task(task, to_scene(scene), origin).objects
    judge = _Judge(solution, model, scene)
    findings += judge.judged()
    findings += KeyframeCheck(judge.stage, judge.story, task, objects, origin).check()
    return Report(tuple(findings), judge.counts, judge.clearance, names)


class _Judge:
    """One solution under examination."""

    def __init__(self, solution: Solution, model: RobotModel, scene: PlanningScene) -> None:
        self.solution = solution
        self.model = model
        self.scene = scene
        self.stage = Stage(model, scene)
        self.story: Story = replay(self.stage, scene, solution)
        self.bodies: dict[str, Body] = {name: thing.body for name, thing in scene.objects.items()}
        self.bodies |= {name: thing.body for name, thing in scene.attached.items()}
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
        self.links = link_solids(collision_bodies(self.model.urdf, mesh_finder(self.model.robot)))
        contacts = Contacts(self.model, self.scene, self.story.stretches)
        check = CollisionCheck(self.stage, self.links, self.bodies, contacts)
        for stretch in self.story.stretches:
            yield from check.check(stretch)
        self.counts.update(check.counts)
        self.clearance = check.clearance

    def _handling(self) -> Iterator[Finding]:
        """How objects are taken and put down."""
        shapes = Shapes(self.bodies)
        solids = {name: object_solids(name, body) for name, body in self.bodies.items()}
        grasps = GraspCheck(self.stage, self.links, solids, shapes)
        for stretch in self.story.stretches:
            taken, let_go = stretch.segment.attach, stretch.segment.detach
            after = self._standing_after(stretch)
            if let_go is not None and let_go.object in after:
                self.counts['places'] += 1
                yield from self._intruders(stretch, let_go.object, after)
                yield from _falls(stretch, let_go.object, Stack(shapes, after))
            if taken is not None and taken.object in stretch.standing:
                self.counts['grasps'] += 1
                yield from grasps.check(stretch, taken.object, stretch.standing[taken.object])
                for other in Stack(shapes, stretch.standing).above(taken.object):
                    message = f"'{other}' stands on '{taken.object}', which is taken."
                    yield Finding(Check.MOVED, message, stretch.index, stretch.end, (other, taken.object))

    def _standing_after(self, stretch: Stretch) -> Mapping[str, Matrix]:
        after = stretch.index + 1
        return self.story.stretches[after].standing if after < len(self.story.stretches) else self.story.standing

    def _intruders(self, stretch: Stretch, name: str, standing: Mapping[str, Matrix]) -> Iterator[Finding]:
        """What an object was put into."""
        for other in standing:
            if other == name or self.scene.allowed.allows(name, other):
                continue
            depth = -min(
                distance(mine, Place.of(standing[name] @ mine.origin), its, Place.of(standing[other] @ its.origin))
                for mine in object_solids(name, self.bodies[name])
                for its in object_solids(other, self.bodies[other])
            )
            if depth > REST:
                message = f"'{name}' is put down {1e3 * depth:.2f} mm in '{other}'."
                yield Finding(Check.PLACE, message, stretch.index, stretch.end, (name, other), depth)


def _falls(stretch: Stretch, name: str, stack: Stack) -> Iterator[Finding]:
    for fall in stack.falls(name):
        if fall.outside is None:
            message = f"'{fall.object}' stands on nothing."
        else:
            on = ' and '.join(f"'{other}'" for other in fall.on)
            message = f"'{fall.object}' tips over: its weight is {1e3 * fall.outside:.2f} mm too far outside on {on}."
        yield Finding(Check.STABILITY, message, stretch.index, stretch.end, (fall.object, *fall.on), fall.outside)
