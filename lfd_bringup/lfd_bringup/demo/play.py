"""One robot's part of the demo: its graph is brought up, plans, is judged, executes and is measured."""

from __future__ import annotations

import asyncio
import dataclasses
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
from lfd_vr_bridge.console import PageLine

from .. import domain
from ..graph import Graph, Page, describe, embedded
from ..supervisor import LOG_FORMAT, Supervisor, log_folder
from .boxes import EndPose, end_poses
from .execution import Execution, Progress
from .job import Job
from .judge import Judgement, judge
from .measure import Tracking, measure
from .ros import Answer, GraphFailed, Listener, View, listening

READY_TIMEOUT = 120.0  # [s] for a graph to come up, on a busy machine
KEPT_LINES = 5  # of what the nodes print, for the case that they do not come up
# Simulated controllers stop when this machine does, and nobody is hurt: an arm that nobody hears of for a while because
# the machine is busy need not be stopped.
PATIENT = {'joint_states_within': 2.0, 'duration_margin': 60.0}  # [s], parameters of the task executor


@dataclass
class Performance:
    """What is known of a robot's performance so far: it ends where something fails, and `problem` says why."""

    request: Request
    answer: Answer | None = None
    judgement: Judgement | None = None
    execution: Execution | None = None
    end_poses: tuple[EndPose, ...] = ()
    """Where the planning scene has the objects after the execution."""
    tracking: Tracking | None = None
    page: str = ''
    """Where people could watch."""
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

    on_page: Callable[[PageLine], None] = _quiet
    """People can watch there."""
    on_up: Callable[[int], None] = _quiet
    """The graph is up in this ROS domain."""
    on_planned: Callable[[Answer], None] = _quiet
    on_judged: Callable[[Judgement], None] = _quiet
    on_progress: Callable[[Progress], None] = _quiet
    """Many times a second while the motion is executed."""
    view: View | None = None


async def play(job: Job, model: RobotModel, audience: Audience, page: Page | None = None) -> Performance:
    """Bring up a robot's graph, with a page if people shall watch, let it perform the job, and take the graph down."""
    last_lines: list[str] = []
    show = Performance(Request(job.scene_name, scene_digest(job.scene), job.text, job.origin))

    def on_line(name: str, line: str) -> None:
        last_lines[:] = [*last_lines[1 - KEPT_LINES :], f'{name}: {line}']
        if found := PageLine.read(line):
            show.page = found.address
            audience.on_page(found)

    with domain.claim() as claimed:
        folder = log_folder(f'demo-{model.robot.name}')
        graph = patient(embedded(describe(model.robot.name, scene=job.scene_name, page=page)))
        supervisor = Supervisor(graph, _environment(claimed.number, folder), folder, on_line)
        stop = threading.Event()
        supervisor.start()
        try:
            await asyncio.wait_for(supervisor.wait_ready(), READY_TIMEOUT)
            await asyncio.to_thread(_perform, job, model, claimed.number, audience, show, stop)
        except TimeoutError:
            show.problem = f'the graph was not ready after {READY_TIMEOUT:.0f} s: {" | ".join(last_lines)}'
        except GraphFailed as error:
            show.problem = f'{str(error).rstrip(".")}; the logs of its nodes are in {folder}'
        finally:
            stop.set()
            await supervisor.stop()
    return show


def patient(graph: Graph) -> Graph:
    """The same graph, whose executor waits for a busy machine."""
    nodes = (
        dataclasses.replace(node, parameters={**node.parameters, **PATIENT}) if node.name == 'task_executor' else node
        for node in graph.nodes
    )
    return dataclasses.replace(graph, nodes=tuple(nodes))


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
            _execute(job, model, show.solution, listener, audience, show)


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


def _execute(
    job: Job, model: RobotModel, solution: Solution, listener: Listener, audience: Audience, show: Performance
) -> None:
    """Where everything ended is told of an execution that failed, too."""
    show.execution = listener.execute(job, solution, audience.on_progress, audience.view)
    failed = show.execution.problem
    try:
        show.end_poses = end_poses(job, listener.scene())
    except GraphFailed:
        if not failed:  # what went wrong first is what the user must know
            raise
    if failed:
        raise GraphFailed(failed)
    chain = Chain(model.tree, model.group.base, model.group.tip)
    show.tracking = measure(solution.trajectory, listener.recording, chain, show.execution.joint_errors)
    misplaced = [end.problem for end in show.end_poses if end.problem]
    show.problem = '; '.join([*show.tracking.problems(), *misplaced])
