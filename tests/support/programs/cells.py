"""Solutions to write programs of: the planned stack of boxes, and motions at random with every kind of action."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from lfd_description.model.model import RobotModel
from lfd_planner.planner import TaskFailure
from lfd_planner.programs import INFORM, RAPID, URSCRIPT, Options, export
from lfd_planner.solution import Attachment, Awaited, Segment, Solution
from lfd_planner.timing import Trajectory, time_path
from support.task_cells import planner, seed_cell, seed_origin, seed_task

from .inform import run_inform
from .rapid import run_rapid
from .replay import Inputs, Recorder, all_on
from .urscript import run_urscript

ROBOTS = {URSCRIPT: 'ur5e', RAPID: 'irb1600', INFORM: 'gp8'}
PULSES = (1341.4, -1341.4, 1101.0, 924.4, 926.2, 497.8)  # made up: what they really are, each controller says


@dataclass(frozen=True)
class Names:
    """What a user may name as he likes."""

    program: str = 'stack'
    segment: str = 'transit'
    thing: str = 'box'
    output: str = 'lamp'
    level: str = 'glue'
    input: str = 'door'


TAME = Names()


@cache
def stacked(robot: str) -> Solution:
    """The plan of the demonstrated task."""
    found = planner(robot).plan(seed_task(), seed_cell(), seed_origin())
    assert not isinstance(found, TaskFailure), found
    return found[0].solution


def model(robot: str) -> RobotModel:
    return planner(robot).model


def random_motion(arm: RobotModel, seed: int, waypoints: int = 4) -> Trajectory:
    """A motion from rest to rest through waypoints at random, near home."""
    numbers = np.random.default_rng(seed)
    limits = [arm.limits[joint] for joint in arm.group.joints]
    path = np.array(arm.poses['home']) + numbers.uniform(-0.4, 0.4, (waypoints, len(limits)))
    return time_path(path, [limit.velocity for limit in limits], [limit.acceleration for limit in limits])


def acting(robot: str, names: Names = TAME, *, seed: int = 0, timeout: float | None = 2.5) -> Solution:
    """A motion with all kinds of actions in it."""
    arm = model(robot)
    out, back = random_motion(arm, seed), random_motion(arm, seed + 1000)
    there = time_path(np.array([out.q[-1], back.q[0]]), *_limits(arm))
    held = Attachment(names.thing, 'tcp')
    parts: list[tuple[Trajectory, dict[str, object]]] = [
        (out, {'name': names.segment}),
        (_still(out.q[-1]), {'name': 'close', 'attach': held, 'gripper': {'joint_left_finger': 0.01}}),
        (there, {'name': names.segment, 'outputs': {names.output: True, names.level: 0.25}}),
        (Trajectory.at(back.q[0]), {'name': 'await', 'awaits': Awaited(names.input, True, timeout)}),
        (back, {'name': names.segment, 'outputs': {names.output: False}}),
        (_still(back.q[-1]), {'name': 'open', 'detach': held, 'gripper': {'joint_left_finger': 0.04}}),
    ]
    segments, last = [], 0
    for number, (motion, happens) in enumerate(parts):
        first, last = last, last + len(motion.times) - 1
        segments.append(Segment(keyframe=number, first=first, last=last, **happens))
    motion = Trajectory.joined([motion for motion, _ in parts])
    return Solution(robot, 'two_finger', arm.group.joints, motion, tuple(segments), 1.0, 0.1)


def _limits(arm: RobotModel) -> tuple[list[float], list[float]]:
    limits = [arm.limits[joint] for joint in arm.group.joints]
    return [limit.velocity for limit in limits], [limit.acceleration for limit in limits]


def _still(q: np.ndarray) -> Trajectory:
    return Trajectory(np.array([0.0, 0.123]), np.array([q, q]), np.zeros((2, len(q))))


def run(
    solution: Solution,
    options: Options,
    *,
    start: np.ndarray | None = None,
    inputs: Inputs = all_on,
    step: float = 0.002,
) -> Recorder:
    """Write the program of a solution and run it."""
    arm = model(solution.robot)
    made = export(solution, arm, options)
    where = solution.trajectory.q[0] if start is None else start
    texts = [file.text for file in made.files if not file.name.endswith('.pgf')]
    if made.format == URSCRIPT:
        return run_urscript(texts[0], where, step=step, inputs=inputs)
    if made.format == RAPID:
        return run_rapid(texts, where, inputs=inputs, tools=(options.tool or 'tool0',))
    speeds = np.array([arm.limits[joint].velocity for joint in arm.group.joints])
    return run_inform(texts, where, np.array(options.pulses_per_degree), speeds, inputs=inputs)


def options(language: str, **changes: object) -> Options:
    """Options for a language."""
    pulses = PULSES if language == INFORM else None
    return Options(**{'name': 'stack', 'pulses_per_degree': pulses, **changes})
