"""What mirroring a twin costs: bytes and time, against sending geometry again; a part of `./lfd bench scene`.

Three processes over DDS: a planning server, scene sync, and the twin (this one). The first object has the size of a
scanned household object (20,480 triangles), every tenth of the others is a small mesh, and the rest are boxes. The
peer has no mirror: it sends an object as a whole, with its geometry, straight to the planning server.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import trimesh
from diagnostic_msgs.msg import DiagnosticArray
from moveit_msgs.msg import PlanningScene as SceneMessage
from moveit_msgs.srv import ApplyPlanningScene
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from support import scene_server
from support.cell import Cell
from support.peer import Peer
from support.process import Process

import lfd_planner.nodes.scene_sync
from lfd_bringup import tether
from lfd_bringup.domain import claim_free
from lfd_description.shapes import Box
from lfd_planner.messages import diff_to_message, scene_to_message
from lfd_planner.scene import Body, Part, PlanningScene, Pose, TriangleMesh, WorldObject

COUNTS = (1, 100, 1000)
MOVES = 15
SCAN, SMALL = 5, 2  # how fine a mesh is
FRAME = 'base_link'
ROBOT = 'ur5e'
PATIENCE = 120.0  # [s]
LATCHED = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
RELIABLE = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)


@dataclass(frozen=True)
class Cost:
    """Of one synchronisation."""

    bytes: int
    seconds: float

    def __str__(self) -> str:
        return f'{self.bytes:>12,} bytes {1e3 * self.seconds:>10.1f} ms'


@dataclass(frozen=True)
class SceneNumbers:
    """What was measured."""

    server: str
    triangles: int
    """Of the mesh that is moved."""
    whole: dict[int, Cost]
    """To synchronise so many new objects."""
    resent: dict[int, Cost]
    """The peer's: to send them all again."""
    moved: dict[int, Cost]
    """To move one mesh in a scene of so many objects; medians."""
    moved_resent: Cost
    """The peer's: to send one mesh again; medians."""

    @property
    def fewer_bytes(self) -> float:
        """How many times as much the peer sends of one moved mesh in the biggest scene."""
        return self.moved_resent.bytes / self.moved[max(self.moved)].bytes

    @property
    def less_time(self) -> float:
        """How many times as long the peer takes for one moved mesh in the biggest scene."""
        return self.moved_resent.seconds / self.moved[max(self.moved)].seconds

    def lines(self) -> list[str]:
        """A table for people."""
        lines = [f'Scene sync over DDS to {self.server}; the object that moves is a mesh of {self.triangles} triangles']
        for count, cost in self.whole.items():
            lines.append(f'  {f"{count} new objects":32}{cost}   (sent again as a whole: {self.resent[count]})')
        for count, cost in self.moved.items():
            lines.append(f'  {f"1 mesh moved among {count}":32}{cost}')
        lines.append(f'  {"1 mesh sent again (peer)":32}{self.moved_resent}')
        return [*lines, f'  peer / ours: {self.fewer_bytes:.0f}x the bytes, {self.less_time:.1f}x the time']


def measure_scene(counts: tuple[int, ...] = COUNTS, moves: int = MOVES, server: str = 'move_group') -> SceneNumbers:
    """Measure with a planning server: 'move_group', or 'small' for the one that tests use."""
    with claim_free() as domain, _planning_server(server, domain.number), _scene_sync(domain.number):
        twin = _Twin(domain.number)
        try:
            return _measured(twin, counts, moves, server)
        finally:
            twin.close()


def _measured(twin: _Twin, counts: tuple[int, ...], moves: int, server: str) -> SceneNumbers:
    whole, resent, moved = dict[int, Cost](), dict[int, Cost](), dict[int, Cost]()
    peer: list[Cost] = []
    for count in counts:
        scene = scene_of(count)
        twin.become(PlanningScene(FRAME))
        twin.rest()
        whole[count] = twin.become(scene)
        # One after the other: scene sync listens to what the server publishes of the peer's objects.
        twin.rest()
        moved[count] = _median([twin.move('object_0', Pose((0.001 * n, 0.0, 1.0))) for n in range(1, moves + 1)])
        peer += [twin.resend('object_0') for _ in range(moves)]
        resent[count] = twin.resend_all()
    return SceneNumbers(server, len(mesh(0, SCAN).triangles), whole, resent, moved, _median(peer))


def _median(costs: list[Cost]) -> Cost:
    return Cost(
        round(statistics.median(cost.bytes for cost in costs)), statistics.median(cost.seconds for cost in costs)
    )


def scene_of(count: int) -> PlanningScene:
    """A grid of objects far from any robot, the first and every tenth a mesh."""
    things = []
    for n in range(count):
        shape = Box((0.05, 0.05, 0.1 + 1e-4 * n)) if n % 10 else mesh(n, SMALL if n else SCAN)
        pose = Pose((3.0 + 0.2 * (n % 32), 0.2 * (n // 32), 0.5))
        things.append(WorldObject(f'object_{n}', Body((Part(shape),), tags=('graspable',)), pose))
    return PlanningScene(FRAME).add(*things)


def mesh(n: int, fineness: int) -> TriangleMesh:
    """A bumpy ball of 20 * 4**fineness triangles, each a little different."""
    ball = trimesh.creation.icosphere(subdivisions=fineness, radius=0.05)
    bumps = 1.0 + 0.05 * np.sin(7.0 * ball.vertices[:, :1] / 0.05 + n)
    return TriangleMesh(ball.vertices * bumps, ball.faces)


class _Twin:
    """A twin that waits for scene sync, and the peer that needs none."""

    def __init__(self, domain: int) -> None:
        self.peer = Peer('twin', domain)
        node = self.peer.node
        self.scene = PlanningScene(FRAME)
        self._number = 0
        self._counts: dict[str, str] = {}
        self._heard = 0  # reports
        self._whole = node.create_publisher(SceneMessage, 'twin_scene', LATCHED)
        self._updates = node.create_publisher(SceneMessage, 'twin_scene_updates', RELIABLE)
        self._apply = node.create_client(ApplyPlanningScene, 'apply_planning_scene')
        node.create_subscription(DiagnosticArray, 'scene_sync/statistics', self._on_statistics, LATCHED)
        self.peer.eventually(self._apply.service_is_ready, 'the planning server', PATIENCE)
        self.peer.eventually(lambda: self._updates.get_subscription_count() == 1, 'scene sync to listen', PATIENCE)
        self.peer.eventually(lambda: self._counts, 'a report', PATIENCE)

    def close(self) -> None:
        self.peer.close()

    def become(self, scene: PlanningScene) -> Cost:
        """Publish a whole scene of other objects, or none, and wait until a planning server has acknowledged them."""
        before, expected = self._counts, (len(scene.objects), len(self.scene.objects))
        start = perf_counter()
        self.scene = scene
        self._number += 1
        message = scene_to_message(scene)
        message.name = f'bench/{self._number}'
        self._whole.publish(message)
        self.peer.eventually(lambda: self._since(before) == expected, 'the acknowledgement', PATIENCE)
        return Cost(int(self._counts['bytes sent']) - int(before['bytes sent']), perf_counter() - start)

    def rest(self) -> None:
        """Wait until nothing goes on any more: the server publishes what it got, and scene sync checks that."""
        heard = self._heard
        self.peer.eventually(lambda: self._heard >= heard + 3, 'reports', PATIENCE)

    def _since(self, before: dict[str, str]) -> tuple[int, ...]:
        """How many objects were added and removed since then."""
        return tuple(int(self._counts[key]) - int(before[key]) for key in ('objects added', 'objects removed'))

    def move(self, id: str, pose: Pose) -> Cost:
        """Publish that one object moved, and wait until a planning server has acknowledged that."""
        requests = self._counts['requests']
        start = perf_counter()
        new = self.scene.move(id, pose)
        message = diff_to_message(self.scene, new)
        self.scene = new
        self._number += 1
        message.name = f'bench/{self._number}'
        self._updates.publish(message)
        self.peer.eventually(lambda: self._counts['requests'] != requests, 'the acknowledgement', PATIENCE)
        return Cost(int(self._counts['last: bytes sent']), perf_counter() - start)

    def resend(self, id: str) -> Cost:
        """What somebody without a mirror does: send the object with its geometry."""
        return self._direct(self.scene.objects[id])

    def resend_all(self) -> Cost:
        """The same with all objects."""
        cost = self._direct(*self.scene.objects.values())
        empty = PlanningScene(FRAME)
        message = diff_to_message(empty.add(*map(_of_peer, self.scene.objects.values())), empty)
        self.peer.result(self._apply.call_async(ApplyPlanningScene.Request(scene=message)), PATIENCE)
        return cost

    def _direct(self, *things: WorldObject) -> Cost:
        """Send objects under names of their own: those of the mirror would be put right at once."""
        empty = PlanningScene(FRAME)
        scene = empty.add(*map(_of_peer, things))
        start = perf_counter()
        message = diff_to_message(empty, scene)
        answer = self.peer.result(self._apply.call_async(ApplyPlanningScene.Request(scene=message)), PATIENCE)
        seconds = perf_counter() - start
        assert answer.success
        return Cost(len(serialize_message(message)), seconds)

    def _on_statistics(self, message: DiagnosticArray) -> None:
        self._heard += 1
        for status in message.status:
            if status.hardware_id != 'twin':
                self._counts = {entry.key: entry.value for entry in status.values}


def _of_peer(thing: WorldObject) -> WorldObject:
    return WorldObject(f'peer_{thing.id}', thing.body, thing.pose)


@contextmanager
def _planning_server(kind: str, domain: int) -> Iterator[None]:
    with tempfile.TemporaryDirectory() as folder:
        if kind == 'move_group':
            cell = Cell(ROBOT, domain, Path(folder))
            cell.start('move_group')
            stop: Callable[[], Any] = cell.stop
        else:
            stop = _program(domain, scene_server.__file__, '', FRAME).stop
        try:
            yield
        finally:
            stop()


@contextmanager
def _scene_sync(domain: int) -> Iterator[None]:
    # One move after the other is measured, so that the limit on their rate must not count.
    arguments = ('frame:=base_link', 'rate:=1000.0', 'request_timeout:=60.0', 'check_period:=0.0')
    extra = [text for argument in arguments for text in ('-p', argument)]
    process = _program(domain, lfd_planner.nodes.scene_sync.__file__, '--ros-args', *extra)
    try:
        yield
    finally:
        process.stop()


def _program(domain: int, file: str | None, *arguments: str) -> Process:
    assert file is not None
    command = [sys.executable, '-u', tether.__file__, str(os.getpid()), file, *arguments]
    return Process(command, {**os.environ, 'ROS_DOMAIN_ID': str(domain)})
