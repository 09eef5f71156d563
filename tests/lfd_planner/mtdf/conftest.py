"""Task files for the tests: the printed recording, and tasks made at random with all that the format has."""

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lfd_planner.mtdf import (
    AwaitInput,
    Descriptor,
    GraspHint,
    Keyframe,
    Origin,
    Pick,
    Place,
    Pose,
    Recorder,
    SetOutput,
    Task,
    Trajectory,
    Wait,
)
from lfd_planner.mtdf.quaternions import unit
from lfd_planner.mtdf.rules import (
    AllOf,
    AnyOf,
    HasColour,
    HasShape,
    HasSize,
    HasTag,
    InBall,
    InBox,
    Nearest,
    Not,
    Rule,
)

NAMES = (
    'red_box',
    'Deckel 2',
    'ケーブル',
    "it's",
    'true',
    '12',
    'a: b',
    '#5',
    'y',
    'x-1',
    'null',
    '"',
    '\\',
    '{a}',
    '- b',
)


class Dice:
    """Draws values; the same seed draws the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def some(self, value: object) -> object:
        return value if self.random.random() < 0.5 else None

    def point(self) -> tuple[float, float, float]:
        scale = self.random.choice((1.0, 100.0, 1e-7))
        x, y, z = (self.random.uniform(-scale, scale) for _ in range(3))
        return x, y, z

    def pose(self) -> Pose:
        x, y, z, w = (self.random.gauss(0, 1) for _ in range(4))
        length = (x * x + y * y + z * z + w * w) ** 0.5
        turn = unit((x / length, y / length, z / length, w / length))
        assert turn is not None
        return Pose(self.point(), turn)

    def time(self) -> float:
        return self.random.uniform(0.0, 10.0)

    def rule(self, depth: int = 0) -> Rule:
        kinds = [*range(9)] if depth < 3 else [*range(6)]
        match self.random.choice(kinds):
            case 0:
                return HasShape(self.random.choice(('box', 'sphere', 'mesh')))
            case 1:
                return HasSize((0.01, self.random.uniform(0.02, 1.0)), None, self.random.choice((None, (0.0, 0.5))))
            case 2:
                return HasColour(self.random.choice(('red', '#00ff7f', (0.1, 0.2, 1.0))))
            case 3:
                return HasTag(self.random.choice(NAMES))
            case 4:
                low = self.point()
                return self.random.choice((InBox(low, low), InBall(low, 0.3)))
            case 5:
                return Nearest(self.random.choice((self.point(), self.random.choice(NAMES))))
            case 6:
                return Not(self.rule(depth + 1))
            case kind:
                rules = tuple(self.rule(depth + 1) for _ in range(self.random.randint(1, 3)))
                return AllOf(rules) if kind == 7 else AnyOf(rules)

    def keyframes(self, names: list[str]) -> list[Keyframe]:
        """Picks and places with all that may be between."""
        found: list[Keyframe] = []
        for name in names:
            grasp = GraspHint(self.pose(), self.random.choice((None, 0.04))) if self.random.random() < 0.5 else None
            found.append(Pick(name, grasp))
            poses = tuple(self.pose() for _ in range(self.random.randint(1, 4)))
            times = tuple(0.5 * n for n in range(len(poses)))
            found += [
                Trajectory(name, poses),
                Trajectory(name, poses, times),
                Trajectory(name, poses, speed=self.random.uniform(0.01, 1.0)),
            ][: self.random.randint(0, 3)]
            value = self.random.choice((True, False, 0.5, -3.0))
            extras = [Wait(self.time() + 0.1), SetOutput('lamp', value), AwaitInput('part 2', value)]
            found += [*extras, AwaitInput('part', value, 5.0)][: self.random.randint(0, 4)]
            found.append(Place(name, self.pose()))
        return found

    def task(self) -> Task:
        names = self.random.sample(NAMES, self.random.randint(1, 6))
        descriptors = [Descriptor(name, self.rule() if self.random.random() < 0.5 else None) for name in names]
        timed = self.random.random() < 0.5
        keyframes = [
            type(keyframe)(**{**vars(keyframe), 'time': 0.25 * n}) if timed else keyframe
            for n, keyframe in enumerate(self.keyframes(names))
        ]
        return Task(
            tuple(descriptors),
            tuple(keyframes),
            self.random.choice((None, Origin(self.pose()), Origin(self.pose(), 'base_link'))),
            self.random.choice((None, Recorder('lfd'), Recorder('lfd', '0.1'))),
            self.random.choice(
                (None, datetime(2026, 3, 1, 14, 5, 9, 250, UTC) + timedelta(hours=self.random.random()))
            ),
        )


@pytest.fixture
def random_task() -> Callable[[int], Task]:
    """Tasks by their seed."""
    return lambda seed: Dice(seed).task()


@pytest.fixture
def printed() -> str:
    """The recording as it was printed: commas and exponents are missing, and the axes are not named."""
    return Path(__file__).with_name('printed_recording.txt').read_text(encoding='utf-8')


@pytest.fixture
def recorded() -> dict[str, Pose]:
    """Where it puts the boxes in ROS axes, worked out by hand: (z, -x, y) and (z, -x, y, -w) of what is printed."""
    by_hand = {
        'blue_box': ((0.321, -0.534, 0.0237), (-6.0335e-05, -1.4756e-05, -0.2618, -0.9651)),
        'yellow_box': ((0.3241, -0.5332, 0.069), (-0.0007, -0.0007, 0.5797, -0.8149)),
        'red_box': ((0.3279, -0.5345, 0.0988), (0.0004, -0.0005, 0.9934, -0.1143)),
        'green_box': ((0.3290, -0.5360, 0.1329), (-0.2767, 0.651, -0.275, -0.6511)),
    }
    return {name: Pose(position, _unit(turn)) for name, (position, turn) in by_hand.items()}


def _unit(quaternion: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    length = sum(part * part for part in quaternion) ** 0.5
    x, y, z, w = (part / length for part in quaternion)
    return x, y, z, w
