"""One task, planned by ours and by the stock peer in the same process, and what there is to say about the motions.

Times are of the process's CPU [s]: both planners use one thread, and other work of the machine does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from time import process_time
from typing import Any

import numpy as np
import numpy.typing as npt
from benchmarks.planner_tasks import BenchTask, random_task
from support.stock_peer import StockPeer
from support.stock_peer_arm import StockArm
from support.stock_peer_motion import STEP, least_time

from lfd_description.grippers import find_gripper
from lfd_description.model.builder import build_model
from lfd_description.model.model import RobotModel
from lfd_description.robots import find_robot
from lfd_planner.planner import PlanOptions, TaskFailure, TaskPlanner
from lfd_planner.solution import Segment, Solution
from lfd_planner.timing import Trajectory, path_samples
from lfd_planner.validate import Check, validate

Array = npt.NDArray[np.float64]

GRIPPER = 'two_finger'
# A spline through points of a path is a little faster or slower than the path itself; that is no fault of a motion.
TIMING = (Check.VELOCITY, Check.ACCELERATION)
FINE = 0.02  # [rad] between points of a path that is measured


@dataclass(frozen=True)
class Run:
    """What a planner made of a task."""

    solved: bool
    seconds: float
    """To the first solution, or to giving up."""
    cycle: float | None = None
    """How long the motion takes [s]."""
    length: float | None = None
    """Of the arm's way in joint space [rad]."""
    bound: float | None = None
    """The least time [s] that its own path allows, by TOPP-RA, hands included."""
    faults: tuple[str, ...] = ()
    """What the validator says against the motion."""
    why: str = ''
    """Why there is none."""
    split: dict[str, float] = field(default_factory=dict)
    """The seconds by what they were spent on."""


@dataclass(frozen=True)
class Record:
    """One task."""

    robot: str
    task: str
    seed: int | None
    pairs: int
    objects: int
    ours: Run
    peer: Run | None = None
    """None: it was not asked."""
    sampled: bool = True
    """Whether the peer was asked whatever came of ours, so that its figures are fair."""

    @property
    def missed(self) -> bool:
        """Whether the peer solves what ours does not."""
        return self.peer is not None and self.peer.solved and not self.ours.solved

    def data(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Budget:
    """What the peer may use."""

    seconds: float = 20.0
    step: float = STEP
    """[rad] between two states that it checks."""


@cache
def model(robot: str) -> RobotModel:
    """The arm with its hand."""
    return build_model(find_robot(robot), gripper=find_gripper(GRIPPER))


@cache
def planner(robot: str) -> TaskPlanner:
    """Ours, ready for many tasks."""
    return TaskPlanner(model(robot))


@cache
def _peer(robot: str, budget: Budget) -> StockPeer:
    return StockPeer(model(robot), budget=budget.seconds, step=budget.step)


def run_ours(robot: str, task: BenchTask, *, seed: int = 0, fresh: bool = False, judge: bool = True) -> Run:
    """Plan with ours; a `fresh` planner knows the robot and nothing else."""
    ours = TaskPlanner(model(robot)) if fresh else planner(robot)
    begin = process_time()
    found = ours.plan(task.task, task.scene, task.origin, PlanOptions(seed=seed, suggest=False))
    seconds = process_time() - begin
    if isinstance(found, TaskFailure):
        return Run(False, seconds, why=found.message)
    spent = dict(found[0].seconds)
    share = seconds / max(sum(spent.values()), seconds, 1e-9)  # stages are timed by the clock on the wall
    split = {stage: value * share for stage, value in spent.items()}
    faults = _faults(robot, task, found[0].solution) if judge else ()
    return _run(robot, found[0].solution, seconds, split, faults)


def run_peer(robot: str, task: BenchTask, budget: Budget) -> Run:
    """Plan with the peer."""
    peer = _peer(robot, budget)
    found = peer.plan(task.task, task.origin, planner(robot).start_scene(task.scene))
    if found.solution is None:
        return Run(False, found.seconds, why=f'{found.grasps} grasps tried', split=found.split)
    faults = _faults(robot, task, found.solution, TIMING)
    return _run(robot, found.solution, found.seconds, found.split, faults)


def record(robot: str, task: BenchTask, budget: Budget, *, sampled: bool = True) -> Record:
    """Plan with ours, and with the peer if the task is sampled for it or ours fails."""
    ours = run_ours(robot, task)
    peer = None if ours.solved and not sampled else run_peer(robot, task, budget)
    return Record(robot, task.name, task.seed, task.pairs, len(task.scene.objects), ours, peer, sampled)


def random_record(robot: str, seed: int, budget: Budget, sampled: bool = True) -> Record:
    """The same for a random task."""
    return record(robot, random_task(robot, seed), budget, sampled=sampled)


def _faults(robot: str, task: BenchTask, solution: Solution, but: Sequence[Check] = ()) -> tuple[str, ...]:
    report = validate(solution, model(robot), task.scene, task.task, task.origin)
    return tuple(f'{finding.check}: {finding.message}' for finding in report.findings if finding.check not in but)


def _run(robot: str, solution: Solution, seconds: float, split: dict[str, float], faults: tuple[str, ...]) -> Run:
    cycle = solution.trajectory.duration
    length = float(np.linalg.norm(np.diff(path_samples(solution.trajectory, FINE), axis=0), axis=1).sum())
    return Run(True, seconds, cycle, length, _bound(robot, solution), faults, split=split)


def _bound(robot: str, solution: Solution) -> float:
    """The least time [s] of the same path through the same rests; where TOPP-RA fails, a stretch counts as it is."""
    arm = _limits(robot)
    total = 0.0
    for segment in solution.segments:
        part = _part(solution.trajectory, segment)
        best = None if np.ptp(part.q, axis=0).max() < 1e-9 else least_time(arm, part)
        total += part.duration if best is None else best
    return total


@cache
def _limits(robot: str) -> StockArm:
    return StockArm(model(robot))


def _part(trajectory: Trajectory, segment: Segment) -> Trajectory:
    rows = slice(segment.first, segment.last + 1)
    times = trajectory.times[rows]
    return Trajectory(times - times[0], trajectory.q[rows], trajectory.v[rows])
