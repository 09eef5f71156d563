"""A studio in the demonstration cell, and a person who works in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from lfd_planner.pose import IDENTITY, Pose
from lfd_planner.scene import PlanningScene
from lfd_vr_bridge.studio import Event, Hand, Released, Settings, Studio
from lfd_vr_bridge.studio.values import Change, Notice

from .task_cells import seed_cell

WHEN = datetime(2026, 11, 16, 12, 0, tzinfo=UTC)
HAND = Pose((0.0, 0.0, 0.05), (0.0, 0.7071067811865476, 0.0, 0.7071067811865476))
"""A hand above an object, in its frame: its fingers point down."""


@dataclass
class Clock:
    """Goes on by a fixed time whenever somebody looks at it."""

    now: float = 100.0
    step: float = 0.25

    def __call__(self) -> float:
        self.now += self.step
        return self.now


@dataclass
class Person:
    """Somebody who moves objects in a studio, and remembers what was told."""

    studio: Studio
    name: str = 'person'
    news: list[Change] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.studio.listen(self.news.append)
        self.studio.watch(self.events.append)

    def pose(self, object: str) -> Pose:
        return self.studio.twin.objects[object].pose

    def grab(self, object: str, hand: Hand = Hand.RIGHT) -> None:
        pose = self.pose(object)
        self.studio.grab(self.name, hand, object, pose, pose @ HAND)

    def carry(self, object: str, *poses: Pose) -> None:
        for pose in poses:
            self.studio.move(self.name, object, pose, pose @ HAND)

    def release(self, object: str, pose: Pose) -> Released:
        return self.studio.release(self.name, object, pose, pose @ HAND)

    def bring(self, object: str, pose: Pose) -> Released:
        """Grab an object, carry it over and let go of it."""
        self.grab(object)
        x, y, z = pose.position
        self.carry(object, Pose((x, y, z + 0.1), pose.orientation), pose)
        return self.release(object, pose)

    def notices(self) -> list[str]:
        return [change.text for change in self.news if isinstance(change, Notice)]


def person(folder: Path, *, scene: PlanningScene | None = None, origin: Pose = IDENTITY, **settings: bool) -> Person:
    """Somebody in a studio of the demonstration cell whose files are in a folder."""
    made = Studio(
        seed_cell() if scene is None else scene,
        folder,
        origin=origin,
        settings=Settings(**settings),
        clock=Clock(),
        wall=lambda: WHEN,
    )
    return Person(made)


People = Callable[..., Person]


def people(folder: Path) -> Iterator[People]:
    """Makes studios in one folder, and closes them at the end."""
    made: list[Person] = []

    def make(**options: object) -> Person:
        made.append(person(folder, **options))
        return made[-1]

    yield make
    for one in made:
        one.studio.close()
