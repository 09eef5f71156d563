"""A planning server that exists in the test alone, and time that only the test lets pass."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from support.scene_edits import random_body, random_pose

from lfd_planner.scene import Added, Body, Moved, PlanningScene, Pose, Removed, WorldObject
from lfd_planner.sync import Apply, Look, Mirror, Request, Seen, SeenObject, Target, Timing

STEP = 0.01  # [s]


@dataclass
class Server:
    """Does as move_group does: what can be done is done, and the answer is whether all could be done."""

    objects: dict[str, WorldObject] = field(default_factory=dict)
    attached: dict[str, str] = field(default_factory=dict)
    bodies: dict[str, Body] = field(default_factory=dict)
    refuses: set[str] = field(default_factory=set)
    rounding: float = 0.0
    tells_poses: bool = True
    requests: list[Request] = field(default_factory=list)

    def apply(self, request: Apply) -> bool:
        self.requests.append(request)
        done = [self._done(change) for change in request.changes]
        return all(done)

    def _done(self, change: object) -> bool:
        match change:
            case Added(WorldObject(id, body, pose)) if id not in self.attached and id not in self.refuses:
                self.objects[id] = WorldObject(id, body, self._rounded(pose))
            case Moved(id, pose) if id in self.objects:
                self.objects[id] = WorldObject(id, self.objects[id].body, self._rounded(pose))
            case Removed(id) if id in self.objects:
                del self.objects[id]
            case _:
                return False
        return True

    def _rounded(self, pose: Pose) -> Pose:
        x, y, z = pose.position
        return Pose((x + self.rounding, y, z), pose.orientation)

    def look(self, request: Look) -> Seen:
        self.requests.append(request)
        objects = {id: self._seen(thing, request.geometry) for id, thing in self.objects.items()}
        return Seen(objects, dict(self.attached))

    def _seen(self, thing: WorldObject, geometry: bool) -> SeenObject:
        tags = thing.body.tags
        return SeenObject(tags, thing.body, thing.pose if self.tells_poses else None) if geometry else SeenObject(tags)

    @property
    def sent(self) -> list[Apply]:
        return [request for request in self.requests if isinstance(request, Apply)]

    @property
    def sent_geometry(self) -> list[str]:
        """The ids of all objects that were sent with their shapes."""
        return [change.id for request in self.sent for change in request.changes if isinstance(change, Added)]

    def attach(self, id: str) -> None:
        self.bodies[id] = self.objects.pop(id).body
        self.attached[id] = 'hand'

    def detach(self, id: str, pose: Pose) -> None:
        del self.attached[id]
        self.objects[id] = WorldObject(id, self.bodies.pop(id), pose)


class World:
    """A twin, a server and the mirror between them."""

    def __init__(self, target: Target | None = None, timing: Timing | None = None) -> None:
        self.twin = PlanningScene('world')
        self.server = Server()
        self.mirror = Mirror(target or Target('arm', 'world'), timing or Timing())
        self.now = 0.0
        self.reports: list[object] = []

    def restart_server(self) -> None:
        self.server = Server(refuses=self.server.refuses)
        self.mirror.lost()
        self.mirror.reached(self.now)

    def follow(self, twin: PlanningScene) -> None:
        self.twin = twin
        self.mirror.follow(twin, self.now)

    def step(self, lose_request: bool = False, lose_answer: bool = False) -> Request | None:
        """Let a moment pass."""
        self.now += STEP
        request = self.mirror.request(self.now)
        if request is None or lose_request:
            return request
        if isinstance(request, Look):
            seen = self.server.look(request)
            if not lose_answer:
                self.mirror.looked(request.number, seen, self.now)
        else:
            done = self.server.apply(request)
            if not lose_answer and done:
                self.reports.append(self.mirror.applied(request.number, self.now))
            elif not lose_answer:
                self.mirror.failed(request.number, self.now, 'refused')
        return request

    def run(self, seconds: float = 5.0) -> World:
        """Let time pass."""
        for _ in range(round(seconds / STEP)):
            self.step()
        return self


@pytest.fixture
def world() -> World:
    """A server that has been reached and does not have anything yet."""
    made = World()
    made.mirror.reached(0.0)
    return made


@pytest.fixture
def make_world() -> Callable[..., World]:
    return World


def things(rng: random.Random, count: int) -> list[WorldObject]:
    """Random objects `object_0`, `object_1`, ..."""
    return [WorldObject(f'object_{n}', random_body(rng), random_pose(rng)) for n in range(count)]
