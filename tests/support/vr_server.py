"""The VR bridge's server with the demonstration cell, the real studio and a robot that only says yes: for tests and for
whoever works on the page, `./lfd run python tests/support/vr_server.py --port 8765`."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lfd_description.grippers import find_gripper
from lfd_description.model.builder import mesh_finder
from lfd_description.robots import HOME, find_robot, robot_description, robot_names
from lfd_description.scenes import open_scene
from lfd_description.urdf import parse_urdf
from lfd_planner.mtdf import Task
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene, from_scene
from lfd_vr_bridge.server.assets import Assets
from lfd_vr_bridge.server.bridge_server import BridgeServer, Options
from lfd_vr_bridge.studio.studio import Studio
from lfd_vr_bridge.studio.values import (
    KeyframeQuality,
    PlannedSegment,
    PlanProgress,
    PlanResult,
    Quality,
    Refusal,
    RunProgress,
    RunResult,
    Verdict,
)

GRIPPER = 'two_finger'
REACH = 0.75  # [m] from the base, of the yes-sayer


@dataclass
class SayerOfYes:
    """Plans a nod, and judges by distance; `gate` holds plans and runs up until it is set, if `waits`."""

    name: str = 'ur5e'
    robots: tuple[str, ...] = field(default_factory=robot_names)
    waits: bool = False
    judged: list[tuple[str, Pose]] = field(default_factory=list)
    resumed: list[int] = field(default_factory=list)
    stops: int = 0
    paused: bool = False

    def __post_init__(self) -> None:
        self.gate = asyncio.Event()
        self._running = False

    async def plan(self, task: Task, origin: Pose, robot: str, progress: Callable[[PlanProgress], None]) -> PlanResult:
        progress(PlanProgress(robot, 0, len(task.keyframes), 'generate_grasp_pose'))
        if not await self._goes_on():
            return PlanResult(False, robot, 'Planning was stopped.')
        arm = find_robot(robot)
        home = list(arm.poses[HOME])
        times = [0.05 * step for step in range(41)]
        rows = [[home[0] + 0.3 * min(step, 40 - step) / 20, *home[1:]] for step in range(41)]
        count = max(len(task.keyframes), 1)
        segments = tuple(
            PlannedSegment(f'step {at}', at, 40 * at // count, 40 * (at + 1) // count) for at in range(count)
        )
        return PlanResult(True, robot, 'It nods.', arm.joints, times, rows, segments, 0.01)

    async def run(self, speed: float, progress: Callable[[RunProgress], None]) -> RunResult:
        progress(RunProgress('running', 0, 'step 0', 0.0))
        self._running = True
        went_on = await self._goes_on()
        self._running = False
        return RunResult(went_on, 'It nodded.' if went_on else 'It was stopped.', 1, 1 if went_on else -7)

    async def go_on(
        self, task: Task, origin: Pose, first: int, speed: float, progress: Callable[[RunProgress], None]
    ) -> RunResult:
        self.resumed.append(first)
        return await self.run(speed, progress)

    async def stop(self) -> None:
        self.stops += 1
        self.gate.set()

    async def pause(self) -> None:
        if not self._running:
            raise Refusal('not_running', 'Nothing runs.')
        self.paused = True

    async def resume(self) -> None:
        if not self.paused:
            raise Refusal('not_paused', 'Nothing is paused.')
        self.paused = False

    async def judge(self, scene: PlanningScene, object: str, pose: Pose) -> Verdict:
        self.judged.append((object, pose))
        distance = sum(part * part for part in pose.position) ** 0.5
        return Verdict('good', '', 8) if distance < REACH else Verdict('bad', 'That is too far away.')

    async def assess(self, task: Task, origin: Pose, scene: PlanningScene) -> Quality:
        frames = tuple(KeyframeQuality(at, 90, 8, 'good') for at in range(len(task.keyframes)))
        return Quality(90, frames, ('All can be reached.',))

    async def _goes_on(self) -> bool:
        """Whether nobody pressed stop."""
        if not self.waits:
            return True
        before = self.stops
        self.gate.clear()
        await self.gate.wait()
        return self.stops == before


@contextmanager
def running_server(
    folder: Path,
    *,
    scene: PlanningScene | str = 'seed_cell',
    robot: SayerOfYes | None = None,
    show_code: Callable[[str], None] = lambda code: None,
    **options: object,
) -> Iterator[BridgeServer]:
    """A server on a free port with a scene, the real studio and a robot; `options` are those of `Options`."""
    world = from_scene(open_scene(scene)) if isinstance(scene, str) else scene
    studio = Studio(world, folder / 'studio')
    told = Options(**{'folder': folder, 'port': 0, **options})
    server = BridgeServer(studio, robot, told, Assets(GRIPPER), show_code)
    try:
        server.start()
        if robot is not None:
            publish(server, robot.name)
        yield server
    finally:
        server.stop()
        studio.close()


def publish(server: BridgeServer, name: str) -> None:
    """Show a robot of the suite at its home pose."""
    arm = find_robot(name)
    urdf = robot_description(arm, gripper=find_gripper(GRIPPER))
    joints = tuple(joint.name for joint in parse_urdf(urdf).joints if joint.moves)
    server.publish_robot(urdf, name, base=arm.base, tip=arm.tip, joints=joints, find=mesh_finder(arm))
    server.publish_joints(dict(zip(arm.joints, arm.poses[HOME], strict=True)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--port', type=int, default=8765)
    parser.add_argument('--lan', action='store_true', help='https for the network, too')
    parser.add_argument('--scene', default='seed_cell')
    parser.add_argument('--robot', default='ur5e', choices=robot_names())
    parser.add_argument('--page', type=Path, help="the page's folder (default: as installed)")
    parser.add_argument('--folder', type=Path, help='where tasks and tokens are kept (default: gone afterwards)')
    given = parser.parse_args()
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with tempfile.TemporaryDirectory() as temporary:
        options = {'port': given.port, 'lan': given.lan, 'page': given.page, 'scene': given.scene}
        robot = SayerOfYes(given.robot)
        with running_server(given.folder or Path(temporary), robot=robot, show_code=_show, **options) as server:
            print(f'open {server.address}', *server.lan_pages, flush=True)
            ended.wait()
    return 0


def _show(code: str) -> None:
    print(f'code {code}', flush=True)


if __name__ == '__main__':
    sys.exit(main())
