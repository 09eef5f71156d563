"""One robot's part of the demo: its graph is brought up, plans, is judged, moves and is measured."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lfd_description.kinematics import Chain
from lfd_description.meshes import MeshError
from lfd_description.model.model import RobotModel
from lfd_description.scenes import SceneError
from lfd_description.urdf import UrdfError
from lfd_planner.scene import from_scene
from lfd_planner.solution import Solution
from lfd_planner.solution_file import Request, scene_digest

from .. import domain
from ..graph import describe, embedded
from ..supervisor import LOG_FORMAT, Supervisor, log_folder
from .job import Job
from .judge import Judgement, judge
from .measure import Tracking, measure
from .ros import Answer, GraphFailed, Listener, View, listening

READY_TIMEOUT = 120.0  # [s] for a graph to come up, on a busy machine
KEPT_LINES = 5  # of what the nodes print, for the case that they do not come up


@dataclass
class Performance:
    """What is known of a robot's performance so far: it ends where something fails, and `problem` says why."""

    request: Request
    answer: Answer | None = None
    judgement: Judgement | None = None
    tracking: Tracking | None = None
    problem: str = ''

    @property
    def solution(self) -> Solution | None:
        """The motion, if one was planned."""
        found = self.answer.outcome if self.answer else None
        return found if isinstance(found, Solution) else None


def _quiet(_: object) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Audience:
    """Who is told how it goes."""

    on_up: Callable[[int], None] = _quiet
    """The graph is up in this ROS domain."""
    on_planned: Callable[[Answer], None] = _quiet
    on_judged: Callable[[Judgement], None] = _quiet
    view: View | None = None


async def play(job: Job, model: RobotModel, audience: Audience) -> Performance:
    """Bring up a robot's graph, let it perform the job, and take the graph down whatever happens."""
    last_lines: list[str] = []

    def on_line(name: str, line: str) -> None:
        last_lines[:] = [*last_lines[1 - KEPT_LINES :], f'{name}: {line}']

    show = Performance(Request(job.scene_name, scene_digest(job.scene), job.text, job.origin))
    with domain.claim() as claimed:
        folder = log_folder(f'demo-{model.robot.name}')
        graph = embedded(describe(model.robot.name, scene=job.scene_name))
        supervisor = Supervisor(graph, _environment(claimed.number, folder), folder, on_line)
        stop = threading.Event()
        supervisor.start()
        try:
            await asyncio.wait_for(supervisor.wait_ready(), READY_TIMEOUT)
            await asyncio.to_thread(_perform, job, model, claimed.number, audience, show, stop)
        except TimeoutError:
            show.problem = f'the graph was not ready after {READY_TIMEOUT:.0f} s: {" | ".join(last_lines)}'
        except GraphFailed as error:
            show.problem = f'{error}; the logs of its nodes are in {folder}'
        finally:
            stop.set()
            await supervisor.stop()
    return show


def _environment(domain_id: int, folder: Path) -> dict[str, str]:
    """Of the graph's processes."""
    own = {'ROS_DOMAIN_ID': str(domain_id), 'ROS_LOG_DIR': str(folder)}
    return {'RCUTILS_CONSOLE_OUTPUT_FORMAT': LOG_FORMAT, **os.environ, **own}


def _perform(
    job: Job, model: RobotModel, domain_id: int, audience: Audience, show: Performance, stop: threading.Event
) -> None:
    with listening(model, domain_id, stop) as listener:
        listener.wait_ready()
        audience.on_up(domain_id)
        _plan(job, listener, audience, show)
        if show.solution is not None:
            _judge(job, model, show.solution, audience, show)
        if show.solution is not None and not show.problem:
            recording = listener.execute(show.solution, audience.view)
            chain = Chain(model.tree, model.group.base, model.group.tip)
            show.tracking = measure(show.solution.trajectory, recording, chain)
            show.problem = '; '.join(show.tracking.problems())


def _plan(job: Job, listener: Listener, audience: Audience, show: Performance) -> None:
    # What the graph knows of the robot before it moves is what the motion must start from.
    start = dict(listener.recording.joints)
    show.request = Request(show.request.scene, show.request.scene_digest, job.text, job.origin, start)
    show.answer = listener.plan(job)
    audience.on_planned(show.answer)
    if not isinstance(show.answer.outcome, Solution):
        show.problem = show.answer.outcome.message


def _judge(job: Job, model: RobotModel, solution: Solution, audience: Audience, show: Performance) -> None:
    """A motion that is not accepted is not executed."""
    scene = from_scene(job.scene).with_joints(show.request.start)
    try:
        show.judgement = judge(job, model, scene, solution)
    except (UrdfError, MeshError, SceneError) as error:
        show.problem = f'the motion cannot be judged: {error}'
        return
    audience.on_judged(show.judgement)
    if not show.judgement.report.ok:
        show.problem = f'the judge refused the motion: {show.judgement.report.findings[0].message}'
