"""`./lfd validate`: judge a solution file by other means than it was planned with."""

from __future__ import annotations

import argparse
import json

from lfd_description.meshes import MeshError
from lfd_description.scenes import Scene
from lfd_description.urdf import UrdfError
from lfd_planner.mtdf import resolve_task, told
from lfd_planner.scene import from_scene
from lfd_planner.solution import Solution
from lfd_planner.solution_file import PlanningError, SolutionFile, SolutionFileError, read_solution, scene_digest
from lfd_planner.validate import validate

from .home.console import complain, say
from .home.faults import Fault
from .inputs import model_of, origin_of, scene_of, task_of

WRONG_USAGE = 2


def main(arguments: argparse.Namespace) -> int:
    """Print the report of a solution file; returns 1 if it is refused, 2 if something is missing to judge it.

    Uses `file`, `scene` (a name, a file or None), `task` (a path or None), `origin` (x, y, z [m], roll, pitch, yaw
    [rad], or None), `robot` and `gripper` (names or None: as the file says) and `json` (whether a program reads it).
    """
    try:
        found = read_solution(arguments.file)
    except SolutionFileError as error:
        raise Fault(str(error)) from None
    missing = _missing(arguments, found)
    if missing:
        complain(f'{arguments.file} does not say {missing}.')
        return WRONG_USAGE
    if isinstance(found.outcome, PlanningError):
        complain(f'{arguments.file} holds no motion: {found.outcome.message}')
        return 1
    return _judged(arguments, found, found.outcome)


def _judged(arguments: argparse.Namespace, found: SolutionFile, solution: Solution) -> int:
    scene = _scene(arguments, found)
    task = task_of(arguments.task or found.request.task or '')
    origin = origin_of(arguments.origin, task, found.request.origin)
    resolved = resolve_task(task, scene, origin)
    if resolved.problems:
        raise Fault('\n'.join(told(resolved.problems)))
    model = model_of(arguments.robot or found.robot, arguments.gripper or found.gripper)
    start = from_scene(scene).with_joints(found.request.start)
    try:
        report = validate(solution, model, start, task, origin, resolved.objects)
    except (MeshError, UrdfError) as error:
        raise Fault(str(error)) from None
    print(json.dumps(report.data()) if arguments.json else f'{arguments.file}: {report.text}')
    return 0 if report.ok else 1


def _missing(arguments: argparse.Namespace, found: SolutionFile) -> str:
    """What is neither in the file nor told."""
    if isinstance(found.outcome, PlanningError):
        return ''
    if not (arguments.scene or found.request.scene):
        return 'which scene it was planned in; add --scene SCENE'
    if not (arguments.task or found.request.task):
        return 'which task it performs; add --task TASK.mtdf.yaml'
    return ''


def _scene(arguments: argparse.Namespace, found: SolutionFile) -> Scene:
    name: str = arguments.scene or found.request.scene or ''
    scene = scene_of(name)
    if found.request.scene_digest not in (None, scene_digest(scene)):
        changed = f'The scene {name} is not as it was when {arguments.file} was planned'
        if not arguments.scene:
            raise Fault(f'{changed}.', 'plan again, or name the scene to judge it in with --scene')
        say(f'{changed}; it is judged in the scene as it is now.')
    return scene
