"""Plans tasks for one robot: checks, composes stages, searches, and hands out a solution or a failure."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from lfd_description.model.model import RobotModel
from lfd_description.robots import HOME
from lfd_planner.backends import PlanningBackend, SearchOptions
from lfd_planner.backends.embedded import EmbeddedBackend
from lfd_planner.mtdf import Task
from lfd_planner.pose import Pose
from lfd_planner.robot.planning_robot import planning_robot
from lfd_planner.scene import PlanningScene
from lfd_planner.solution import Motion, Solution
from lfd_planner.stages.arm import Arm
from lfd_planner.task import Context, Step, TaskConstructor
from lfd_planner.timing import Trajectory

from .checks import checked, wrong_options
from .compose import Composition
from .failure import TaskFailure
from .findings import failure_of
from .options import PlanOptions

SEARCH = SearchOptions(budget=60.0, iterations=500)  # by count and not by the clock, so that a seed decides
HARDER = 4  # times as hard is searched each time again, as long as there is budget
HARDEST = 16  # times the first effort, after which a motion is not improved any more


@dataclass(frozen=True, eq=False)
class Planned:
    """A solution, and how it was found."""

    solution: Solution
    step: Step
    """Through all stages, with the reasons of their choices."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """The time that each stage took [s], of all that was tried."""
    backups: int = 0
    """How often the search went back to another choice."""


class TaskPlanner:
    """Plans tasks for a robot; what the robot needs is made ready once. Several threads may plan at once."""

    def __init__(self, model: RobotModel, backend: PlanningBackend | None = None) -> None:
        self.model = model
        self.backend = backend or EmbeddedBackend(planning_robot(model))

    def plan(
        self, task: Task, scene: PlanningScene, origin: Pose, options: PlanOptions | None = None
    ) -> tuple[Planned, ...] | TaskFailure:
        """Solutions, the best first, or why there is none.

        Args:
            task: what is to be done.
            scene: the world; without a robot in it the arm begins at its home pose with an open hand.
            origin: of the task's poses in the scene's frame.
            options: how to plan.
        """
        options = options or PlanOptions()
        begin = time.monotonic()
        start = self.start_scene(scene)
        ready = wrong_options(options, self) or checked(task, start, origin, self)
        if isinstance(ready, TaskFailure):
            return replace(ready, planning_time=time.monotonic() - begin)
        arm = self.arm(options)
        composition = Composition(arm, start, ready, origin, options.seed, options.regrasp, self.model.robot.reach)
        stages = composition.stages(task.keyframes, self._end(options.end_pose))
        context = Context(
            seed=options.seed,
            deadline=begin + options.limit,
            should_stop=options.should_stop,
            progress=options.progress,
            observer=options.observe(stages),
        )
        constructor = TaskConstructor(stages, context)
        found = self._search(constructor, options, begin)
        if not found:
            return failure_of(task, composition, context, options, begin)
        return tuple(found)

    def start_scene(self, scene: PlanningScene) -> PlanningScene:
        """The scene with the robot in it: where it is, or at its home pose with an open hand."""
        if scene.robot:
            return scene
        empty = self.backend.robot.empty_scene()
        placed = replace(
            empty,
            objects=scene.objects,
            attached=scene.attached,
            allowed=empty.allowed.updated(scene.allowed),
            colours=scene.colours,
            fixed_frames=scene.fixed_frames,
            link_padding=scene.link_padding,
            link_scale=scene.link_scale,
        )
        group, gripper = self.backend.robot.group(self.model.group.name), self.model.gripper
        joints = group.by_name(np.array(self.model.poses[HOME], dtype=np.float64))
        if gripper is not None:
            data = gripper.grasp_data
            opened = dict(zip(data.joints, data.pregrasp_posture, strict=True))
            joints |= Arm.of(self.model, self.backend).hand(opened)
        return placed.with_joints({**joints, **scene.joints})

    def arm(self, options: PlanOptions | None = None) -> Arm:
        """What stages move; for tasks that are put together of stages by hand, too."""
        return Arm.of(self.model, self.backend, (options or PlanOptions()).scaling, replace(SEARCH, seed=1))

    def solution(self, step: Step, *, planning_time: float = 0.0, seed: int = 0) -> Solution:
        """What a task constructor found, as one motion in segments.

        Args:
            step: through all stages.
            planning_time: that it took [s].
            seed: with which it was found.
        """
        gripper = self.model.gripper.name if self.model.gripper else None
        joints = self.backend.robot.group(self.model.group.name).joints
        found = Solution.joined(
            step.all_motions() or (self._nothing(step),),
            robot=self.model.robot.name,
            gripper=gripper,
            joints=joints,
            cost=step.cost,
            planning_time=planning_time,
            seed=seed,
        )
        return found if step.all_motions() else replace(found, segments=())

    def _nothing(self, step: Step) -> Motion:
        group = self.backend.robot.group(self.model.group.name)
        return Motion('nothing', Trajectory.at(group.positions(step.start.scene.joints)))

    def _end(self, pose: str | None) -> tuple[str, np.ndarray] | None:
        return None if pose is None else (pose, np.array(self.model.poses[pose], dtype=np.float64))

    def _search(self, constructor: TaskConstructor, options: PlanOptions, begin: float) -> list[Planned]:
        """So many solutions as are wanted, the cheapest first: the first ones soon, better ones within the budget.

        As long as there is none and there is budget, what was given up is searched again and harder; where all that
        there is has been tried, it ends at once.
        """
        best: list[Planned] = []
        context = constructor.context
        while True:
            context.gave_up = False
            for step in constructor.solutions():
                self._keep(best, self._planned(step, context, options.seed, begin), options.solutions)
                if len(best) >= options.solutions and context.effort == 1:
                    break
            done = context.effort >= HARDEST if best else not context.gave_up
            if done or not options.budget or context.stopped:
                return best
            context.effort *= HARDER

    def _planned(self, step: Step, context: Context, seed: int, begin: float) -> Planned:
        solution = self.solution(step, planning_time=time.monotonic() - begin, seed=seed)
        return Planned(solution, step, dict(context.journal.seconds), context.journal.backups)

    @staticmethod
    def _keep(best: list[Planned], found: Planned, most: int) -> None:
        """Put a solution among the best, unless it is there."""
        moves = found.solution.trajectory
        if any(moves.same_as(known.solution.trajectory) for known in best):
            return
        best.append(found)
        best.sort(key=lambda planned: planned.solution.cost)
        del best[most:]


@lru_cache(maxsize=8)
def _planner_of(model: RobotModel) -> TaskPlanner:
    """The planner of a model; those of the models that were used last are kept."""
    return TaskPlanner(model)


def plan_task(
    task: Task, scene: PlanningScene, model: RobotModel, origin: Pose, *, options: PlanOptions | None = None
) -> Solution | TaskFailure:
    """The best motion that performs a task, or why there is none.

    Args:
        task: what is to be done.
        scene: the world; without a robot in it the arm begins at its home pose with an open hand.
        model: the robot.
        origin: of the task's poses in the scene's frame.
        options: how to plan.
    """
    found = _planner_of(model).plan(task, scene, origin, options)
    return found if isinstance(found, TaskFailure) else found[0].solution


def explain(planned: Planned) -> str:
    """Why this motion: the grasp of each pick, and what the choice cost."""
    lines = []
    for leaf in planned.step.leaves():
        if leaf.comment:
            lines.append(f'{leaf.stage}: {leaf.comment}')
    duration = planned.solution.trajectory.duration
    lines.append(f'The motion takes {duration:.1f} s; it was found in {planned.solution.planning_time:.3f} s.')
    return '\n'.join(lines)
