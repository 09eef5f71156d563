"""Runs the demo: robot by robot, from its poses to a line of the report."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from lfd_description.files import write_atomically
from lfd_description.kinematics import Chain
from lfd_description.robots import Robot, find_robot, robot_description
from lfd_description.urdf import parse_urdf

from .. import domain
from ..graph import PLANNING, describe, embedded
from ..home.console import coloured
from ..home.faults import Fault
from ..supervisor import Supervisor, log_folder
from .measure import Measurement, Trace, measure
from .motion import Motion, motion_through
from .picture import LiveView, draw
from .ros import MotionFailed, perform

SPEED = 0.25  # of the joints' velocity limits
READY_TIMEOUT = 60.0  # [s] for a graph to come up
BASE, TIP = 'base_link', 'tool0'


@dataclass(frozen=True)
class Result:
    """One robot's part of the report."""

    robot: str
    ok: bool
    message: str
    measurement: Measurement | None = None
    picture: str | None = None


def main(arguments: argparse.Namespace) -> int:
    """Run the demo; return 1 if any robot did not do what was asked."""
    out: Path = arguments.out.absolute()
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_atomically(out / 'report.json', '{}\n')
    except OSError as error:
        raise Fault(
            f'the report cannot be written to {out}: {error.strerror}.', 'choose another folder with --out'
        ) from None
    is_live = sys.stdout.isatty() and not arguments.headless
    results = [_show(name, out, is_live) for name in dict.fromkeys(arguments.robots)]
    ok = all(result.ok for result in results)
    report = {'ok': ok, 'robots': [asdict(result) for result in results]}
    write_atomically(out / 'report.json', json.dumps(report, indent=1) + '\n')
    print(f'\nReport: {out / "report.json"}')
    return 0 if ok else 1


def _show(name: str, out: Path, is_live: bool) -> Result:
    robot = find_robot(name)
    tree = parse_urdf(robot_description(robot))
    limits = {joint.name: joint.limits for joint in tree.joints if joint.limits is not None}
    route = ['home', *(pose for pose in robot.poses if pose != 'home'), 'home']
    motion = motion_through([robot.poses[pose] for pose in route], [limits[j].velocity for j in robot.joints], SPEED)
    print(f'\n{robot.title}: {" → ".join(route)}, {motion.duration:.1f} s, over ROS 2')
    view = LiveView(robot.joints, [(limits[j].lower, limits[j].upper) for j in robot.joints]) if is_live else None
    try:
        measurement, trace = asyncio.run(_run(robot, motion, Chain(tree, BASE, TIP), view))
    except MotionFailed as error:
        print(f'  {coloured("failed", "31", sys.stdout)}: {error}')
        return Result(name, False, str(error))
    picture = f'{name}.png'
    draw(out / picture, robot, motion, trace)
    problems = measurement.problems()
    for line in measurement.lines():
        print(f'  {line}')
    print(
        f'  {coloured("ok", "32", sys.stdout)}: {out / picture}' if not problems else f'  failed: {"; ".join(problems)}'
    )
    return Result(name, not problems, '; '.join(problems) or 'the arm did what was asked', measurement, picture)


async def _run(
    robot: Robot, motion: Motion, chain: Chain, view: Callable[[list[float]], None] | None
) -> tuple[Measurement, Trace]:
    """Bring up the graph, perform the motion, and take the graph down whatever happens."""
    last_lines: list[str] = []

    def on_line(name: str, line: str) -> None:
        last_lines[:] = [*last_lines[-4:], f'{name}: {line}']

    with domain.claim() as claimed:
        folder = log_folder(f'demo-{robot.name}')
        environment = {**os.environ, 'ROS_DOMAIN_ID': str(claimed.number), 'ROS_LOG_DIR': str(folder)}
        supervisor = Supervisor(embedded(describe(robot.name)).without(*PLANNING), environment, folder, on_line)
        stop = threading.Event()
        supervisor.start()
        try:
            await asyncio.wait_for(supervisor.wait_ready(), READY_TIMEOUT)
            print(f'  graph is up in ROS domain {claimed.number}: {", ".join(supervisor.pids())}', flush=True)
            recording = await asyncio.to_thread(perform, robot, motion, claimed.number, view, stop)
        except TimeoutError:
            raise MotionFailed(
                f'the graph was not ready after {READY_TIMEOUT:.0f} s: {" | ".join(last_lines)}'
            ) from None
        finally:
            stop.set()
            await supervisor.stop()
    return measure(motion, recording, chain)
