"""`./lfd plan`: plan a task for a robot without any graph; the same planner as behind the ROS service.

What was found goes to stdout, for people, and as data to a file; progress, and why nothing was found, go to stderr.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path

from lfd_description.files import write_atomically
from lfd_description.model.model import RobotModel
from lfd_planner.mtdf import Task, kind_of
from lfd_planner.mtdf.task import object_of
from lfd_planner.planner import Planned, PlanOptions, TaskFailure, TaskPlanner, at_speed, explain
from lfd_planner.scene import from_scene
from lfd_planner.solution import Solution
from lfd_planner.solution_file import PlanningError, Rejection, Request, dump_error, dump_solution, scene_digest

from .home.console import StepLine, complain, say
from .home.faults import Fault
from .inputs import model_of, origin_of, scene_of, task_of


def main(arguments: argparse.Namespace) -> int:
    """Plan a task; returns 1 if it cannot be done.

    Uses `robot`, `gripper` (a name, or None: the robot's own), `scene` (a name or a file), `task` (a path), `origin`
    (x, y, z [m], roll, pitch, yaw [rad], or None), `seed`, `budget` [s], `speed` (of the fastest motion), `end_pose` (a
    name or None), `json` (a path or None) and `explain`.
    """
    _refuse_folder(arguments.json)
    scene, task = scene_of(arguments.scene), task_of(arguments.task)
    origin = origin_of(arguments.origin, task)
    model = model_of(arguments.robot, arguments.gripper, with_hand=True)
    _refuse_pose(arguments.end_pose, model)
    planner = TaskPlanner(model)
    start = planner.start_scene(from_scene(scene))
    line = StepLine(f'Plan {len(task.keyframes)} keyframes for {model.robot.name}', 1, 1)
    options = PlanOptions(
        seed=arguments.seed,
        budget=arguments.budget,
        scaling=at_speed(arguments.speed),
        end_pose=arguments.end_pose,
        progress=_progress(line, len(task.keyframes)),
    )
    found = planner.plan(task, start, origin, options)
    line.end(not isinstance(found, TaskFailure))
    request = Request(
        scene=_known_as(arguments.scene),
        scene_digest=scene_digest(scene),
        task=arguments.task.read_text(encoding='utf-8'),
        origin=origin,
        start=dict(start.joints),
    )
    if isinstance(found, TaskFailure):
        return _failed(found, model, request, arguments)
    return _done(found[0], task, request, arguments)


def _done(found: Planned, task: Task, request: Request, arguments: argparse.Namespace) -> int:
    solution = found.solution
    _write(dump_solution(solution, request), arguments.json)
    print(
        f'{len(task.keyframes)} keyframes, {len(solution.segments)} segments, '
        f'{solution.trajectory.duration:.2f} s of motion, planned in {1000.0 * solution.planning_time:.0f} ms.'
    )
    print(*_by_keyframe(solution, task), sep='\n')
    if arguments.explain:
        print(explain(found))
    return 0


def _by_keyframe(solution: Solution, task: Task) -> Iterator[str]:
    """A line for each keyframe: when its motion begins [s], what is done, and by which segments."""
    for number, segments in groupby(solution.segments, lambda segment: segment.keyframe):
        own = list(segments)
        begin = solution.trajectory.times[own[0].first]
        names = ', '.join(segment.name for segment in own)
        yield f'{begin:7.2f} s  keyframe {number}, {_told(task, number)}: {names}'


def _told(task: Task, number: int) -> str:
    if not 0 <= number < len(task.keyframes):
        return 'the end'
    of = object_of(task.keyframes[number])
    return f'{kind_of(task.keyframes[number])}{f" {of}" if of else ""}'


def _failed(found: TaskFailure, model: RobotModel, request: Request, arguments: argparse.Namespace) -> int:
    error = PlanningError(
        int(found.code),
        found.message,
        found.keyframe if found.keyframe >= 0 else None,
        tuple(Rejection(count.reason, count.subjects, count.count, count.detail) for count in found.rejections),
        found.stage,
        found.suggestion,
    )
    gripper = model.gripper.name if model.gripper else None
    text = dump_error(
        model.robot.name, error, request, gripper=gripper, planning_time=found.planning_time, seed=arguments.seed
    )
    _write(text, arguments.json)
    complain(found.message)
    if arguments.explain:
        for count in found.rejections:
            say(f'  {count}{f": {count.detail}" if count.detail else ""}')
    return 1


def _progress(line: StepLine, keyframes: int) -> Callable[[int, str], None]:
    def tell(keyframe: int, stage: str) -> None:
        line.update(max(keyframe, 0) / max(keyframes, 1), f'keyframe {keyframe}, {stage}')

    return tell


def _known_as(scene: str) -> str:
    """What the scene is found by from any folder: its name in the suite, or the file's full path."""
    return str(Path(scene).resolve()) if Path(scene).exists() else scene


def _refuse_folder(out: Path | None) -> None:
    """Refuse what no file can be written to, before anything is planned."""
    if out is not None and out.is_dir():
        raise Fault(f'--json {out} is a folder.', f'name a file in it, such as {out / "out.json"}')
    if out is not None and not out.parent.is_dir():
        raise Fault(f'There is no folder {out.parent} to write {out.name} into.', 'make it, or name another')


def _refuse_pose(pose: str | None, model: RobotModel) -> None:
    if pose is not None and pose not in model.poses:
        known = ', '.join(sorted(model.poses))
        raise Fault(f"{model.robot.name} has no pose '{pose}' to end at.", f'name one of its poses: {known}')


def _write(text: str, out: Path | None) -> None:
    if out is None:
        return
    try:
        write_atomically(out, text)
    except OSError as error:
        raise Fault(f'{out} cannot be written: {error.strerror or error}.', 'choose another file') from None
    say(f'{out} is written.')
