"""The page in the whole graph of a UR5e; two parts of `./lfd bench vr`.

scene
    From letting go of an object on the page to the planning server's acknowledgement, which scene sync tells of in its
    statistics. An object is put somewhere else at once, or dragged there at 90 Hz. The floor is a client that applies
    the same move to the planning server itself.
bytes
    What one page is sent. The peer, counted from the same messages, sends every joint state, and the whole scene
    whenever something of it changes.
"""

from __future__ import annotations

import asyncio
import json
import math
import statistics
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from benchmarks.control_cell import Planners
from benchmarks.vr_link import Page, move_text, opened, spread
from diagnostic_msgs.msg import DiagnosticArray
from moveit_msgs.srv import ApplyPlanningScene, GetPlanningScene
from sensor_msgs.msg import JointState
from support.peer import Peer
from support.vr_graph import VrGraph
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from lfd_description.nodes.qos import JOINT_STATES_QOS, LATCHED_QOS
from lfd_description.robots import HOME, find_robot
from lfd_description.shapes import Box
from lfd_planner.messages import diff_to_message
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, PlanningScene, WorldObject

ROBOT = 'ur5e'
RATE = 90.0  # [Hz]
LOADS = ('idle', 'planner')
WAYS = ('put', 'dragged')
OBJECT, UPRIGHT = 'green_box', (0.0, 0.0, 0.0, 1.0)
PLACES = ((0.52, 0.10, 0.05), (0.48, 0.22, 0.05))  # [m] where it is let go of in turn; it falls from there
AWAY = 0.02  # [m] short of the place, where the last move before the release ends
DRAG = 0.3  # [s]
QUIET = 0.25  # [s] without another request, after which the last one was it
NEAR = 1e-6  # [m]
PATIENCE = 120.0  # [s]
SWING = 0.3  # [rad] of the first joint, each second
SETTLE = 0.3  # [s] after a change of load


class Cell:
    """A running graph with a page, and a node that hears what happens in it, in a thread."""

    def __init__(self, graph: VrGraph) -> None:
        self.graph = graph
        self.peer = Peer('bench_vr', graph.domain)
        node = self.peer.node
        self._apply = node.create_client(ApplyPlanningScene, 'apply_planning_scene')
        self._get = node.create_client(GetPlanningScene, 'get_planning_scene')
        self._path = node.create_publisher(JointTrajectory, f'{ROBOT}_controller/joint_trajectory', 10)
        node.create_subscription(DiagnosticArray, 'scene_sync/statistics', self._on_statistics, LATCHED_QOS)
        node.create_subscription(JointState, 'joint_states', self._on_joints, JOINT_STATES_QOS)
        self._requests = 0
        self.acknowledged: list[float] = []
        """When scene sync told of another acknowledged request [s]."""
        self.joint_states = 0
        """Messages that came so far."""
        self._scene = PlanningScene('base_link')
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._spin, name='bench_vr')
        self._thread.start()
        self.token = ''

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        self.peer.close()

    @asynccontextmanager
    async def page(self) -> AsyncIterator[Page]:
        """A page; the first one pairs with the code."""
        how = {'token': self.token} if self.token else {'code': self.graph.code}
        async with opened(self.graph.port, **how) as page:
            self.token = json.loads(page.newest['welcome'])['token']
            yield page

    async def ready(self) -> None:
        """Wait until the planning scene has the twin's objects, the floor's object is in it, and joint states come."""
        await until(lambda: self._apply.service_is_ready() and self._get.service_is_ready(), 'the planning server')
        await until(lambda: self._path.get_subscription_count() and self.joint_states, 'the robot')
        while await self.pose(OBJECT) is None:
            await asyncio.sleep(0.1)
        if not self._scene.objects:
            before = self._scene
            self._scene = before.add(WorldObject('bench_box', Body.of(Box((0.05, 0.05, 0.05))), Pose((0.0, 1.5, 0.5))))
            await self._applied(before)

    async def apply_move(self, pose: Pose) -> float:
        """Move the floor's object in the planning scene; gives how long the answer took [s]."""
        before, self._scene = self._scene, self._scene.move('bench_box', pose)
        return await self._applied(before)

    async def pose(self, name: str) -> Any:
        """Where the planning scene has an object, if it does."""
        answer, _ = await self._answer(self._get, GetPlanningScene.Request())
        return next((each.pose.position for each in answer.scene.world.collision_objects if each.id == name), None)

    def swing(self, seconds: float) -> None:
        """Move the first joint to and fro for some time."""
        arm = find_robot(ROBOT)
        home = list(arm.poses[HOME])
        path = JointTrajectory(joint_names=list(arm.joints))
        for second in range(1, math.ceil(seconds) + 1):
            point = JointTrajectoryPoint(positions=[home[0] + SWING * (second % 2), *home[1:]], velocities=[0.0] * 6)
            point.time_from_start.sec = second
            path.points.append(point)
        self._path.publish(path)

    async def _applied(self, before: PlanningScene) -> float:
        request = ApplyPlanningScene.Request(scene=diff_to_message(before, self._scene))
        start = time.monotonic()
        answer, end = await self._answer(self._apply, request)
        assert answer.success
        return end - start

    async def _answer(self, client: Any, request: Any) -> tuple[Any, float]:
        """The answer of a service, and when it came [s]."""
        came: list[float] = []
        future = client.call_async(request)
        future.add_done_callback(lambda _: came.append(time.monotonic()))
        await until(lambda: came, f'an answer of {client.srv_name}', 0.001)
        return future.result(), came[0]

    def _spin(self) -> None:
        while not self._ended.is_set():
            self.peer.spin_once(0.05)

    def _on_statistics(self, message: DiagnosticArray) -> None:
        now = time.monotonic()
        counts = {entry.key: entry.value for status in message.status for entry in status.values}
        if int(counts.get('requests', 0)) != self._requests:
            self._requests = int(counts['requests'])
            self.acknowledged.append(now)

    def _on_joints(self, _: JointState) -> None:
        self.joint_states += 1


async def until(condition: Callable[[], Any], what: str, every: float = 0.01) -> None:
    """Wait for something that another thread brings about."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f'waited {PATIENCE:g} s in vain for {what}'
        await asyncio.sleep(every)


# To the planning scene and back ---------------------------------------------------------------------------------------


def measure_scene(cell: Cell, planners: Planners, releases: int) -> list[dict]:
    """Rows of both ways to move an object and of the floor, for each load."""
    return asyncio.run(_scene(cell, planners, releases))


async def _scene(cell: Cell, planners: Planners, releases: int) -> list[dict]:
    rows: list[dict] = []
    async with cell.page() as page:
        await page.do('take_control')
        await cell.ready()
        for load in LOADS:
            with planners.working(load != 'idle'):
                await asyncio.sleep(SETTLE)
                rows += await _rows(cell, page, load, releases)
        await page.do('reset_scene')
        await page.do('give_control')
    return rows


async def _rows(cell: Cell, page: Page, load: str, releases: int) -> list[dict]:
    found: dict[str, list[float]] = {who: [] for who in (*WAYS, 'floor')}
    for number in range(releases):
        for way in WAYS:
            found[way].append(await _release(cell, page, way))
        found['floor'].append(await cell.apply_move(Pose((0.0, 1.5, 0.5 + 0.001 * (number + 1)))))
    rows = [{'who': who, 'load': load, **spread(found[who], releases)} for who in found]
    floor = rows[-1]
    return [{**row, 'ratio': row['p50'] / floor['p50'], 'ratio_p99': row['p99'] / floor['p99']} for row in rows]


async def _release(cell: Cell, page: Page, way: str) -> float:
    """Grab, move, let go: how long until the planning server has acknowledged where the object came to rest [s]."""
    here = await cell.pose(OBJECT)
    start = (here.x, here.y, here.z)
    goal = max(PLACES, key=lambda place: math.dist(place, start))
    await page.grab(OBJECT, [*start, *UPRIGHT])
    if way == 'dragged':
        await _drag(page, start, goal)
    before, let_go = len(cell.acknowledged), time.monotonic()
    rest = await page.release(OBJECT, [*goal, *UPRIGHT])
    while True:
        known = len(cell.acknowledged)
        await asyncio.sleep(QUIET)
        if len(cell.acknowledged) == known > before:
            now = await cell.pose(OBJECT)
            if math.dist((now.x, now.y, now.z), rest[:3]) < NEAR and len(cell.acknowledged) == known:
                return cell.acknowledged[-1] - let_go


async def _drag(page: Page, start: Sequence[float], goal: Sequence[float]) -> None:
    """Move a held object nearly to where it is wanted."""
    steps = round(DRAG * RATE)
    begin = time.monotonic()
    for step in range(1, steps + 1):
        between = [a + (1.0 - AWAY) * step / steps * (b - a) for a, b in zip(start, goal, strict=True)]
        await page.say(move_text(step, OBJECT, [*between, *UPRIGHT]))
        await asyncio.sleep(max(0.0, begin + step / RATE - time.monotonic()))


# Bytes ----------------------------------------------------------------------------------------------------------------


def measure_bytes(cell: Cell, seconds: float) -> list[dict]:
    """What a page that only looks on is sent in a second while nothing, the arm and an object moves."""
    return asyncio.run(_bytes(cell, seconds))


async def _bytes(cell: Cell, seconds: float) -> list[dict]:
    async with cell.page() as page, cell.page() as viewer:
        await page.do('take_control')
        await cell.ready()
        await until(lambda: 'joints' in viewer.newest, 'joints on the page')
        rows = [await _sent('nothing', cell, viewer, asyncio.sleep(seconds, 0))]
        cell.swing(seconds + 1.0)
        rows.append(await _sent('arm', cell, viewer, asyncio.sleep(seconds, 0)))
        here = await cell.pose(OBJECT)
        await page.grab(OBJECT, [here.x, here.y, here.z, *UPRIGHT])
        rows.append(await _sent('object', cell, viewer, _dragged(page, seconds)))
        await page.release(OBJECT, [*PLACES[0], *UPRIGHT])
        await page.do('reset_scene')
        await page.do('give_control')
    return rows


async def _dragged(page: Page, seconds: float) -> int:
    """Drag the object around in a circle; gives how often it moved."""
    begin, moves = time.monotonic(), max(1, round(seconds * RATE))
    for number in range(1, moves + 1):
        turn = 2.0 * math.pi * number / moves
        at = [0.5 + 0.1 * math.cos(turn), 0.1 * math.sin(turn), 0.1]
        await page.say(move_text(number, OBJECT, [*at, *UPRIGHT]))
        await asyncio.sleep(max(0.0, begin + number / RATE - time.monotonic()))
    return moves


async def _sent(what: str, cell: Cell, viewer: Page, doing: Any) -> dict:
    """Bytes a second to a viewer while something is done, which gives how many changes the scene had."""
    viewer.lengths.clear()
    begin, before, joints = time.monotonic(), viewer.received, cell.joint_states
    changes = await doing
    seconds = time.monotonic() - begin
    came = cell.joint_states - joints
    joint_frame = statistics.mean(viewer.lengths.get('joints') or [len(viewer.newest['joints'])])
    peer = came * joint_frame + changes * len(viewer.newest['scene'])
    row = {
        'what': what,
        'bytes': (viewer.received - before) / seconds,
        'peer': peer / seconds,
        'joint_states': came / seconds,
        'changes': changes / seconds,
    }
    return {**row, 'ratio': row['peer'] / max(row['bytes'], 1e-9)}
