"""Whether the task was done: every keyframe, in order, each object where it belongs, and nothing else moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lfd_description.urdf import Matrix
from lfd_planner.mtdf import Keyframe, Pick, Place, SetOutput, Task, Trajectory, Wait
from lfd_planner.pose import Pose

from .replay import Held, Stage, Story, Stretch
from .report import Check, Finding, millimetres

AWAY = 0.001  # [m], of a placed object from its place
TURNED = 0.01  # [rad]
ON_THE_WAY = 2.0  # times as much along a trajectory, whose poses may lie between two samples
SHORT = 1e-3  # [s], that a wait may be too short


@dataclass(frozen=True, eq=False)
class KeyframeCheck:
    """Checks a story against a task whose descriptors are `objects`, at `origin` in the scene's frame."""

    stage: Stage
    story: Story
    task: Task
    objects: Mapping[str, str]
    origin: Pose

    def check(self) -> Iterator[Finding]:
        """All that was not done, was done wrongly, or should not have been done."""
        yield from self._order()
        for number, keyframe in enumerate(self.task.keyframes):
            parts = [stretch for stretch in self.story.stretches if stretch.segment.keyframe == number]
            if not parts:
                yield Finding(Check.KEYFRAME, f'Keyframe {number} ({_named(keyframe)}) is missing.')
            else:
                yield from self._done(number, keyframe, parts)
        yield from self._strangers()
        yield from self._left()

    def _order(self) -> Iterator[Finding]:
        last = 0
        for stretch in self.story.stretches:
            if stretch.segment.keyframe < last:
                message = f'It serves keyframe {stretch.segment.keyframe} after keyframe {last}.'
                yield Finding(Check.KEYFRAME, message, stretch.index, float(stretch.times[0]))
            last = max(last, stretch.segment.keyframe)

    def _done(self, number: int, keyframe: Keyframe, parts: Sequence[Stretch]) -> Iterator[Finding]:
        end = parts[-1]
        match keyframe:
            case Pick(object=descriptor):
                if self._name(descriptor) not in self.story.held_after(end):
                    message = f"Keyframe {number} picks '{self._name(descriptor)}', which is not in the hand after it."
                    yield Finding(Check.KEYFRAME, message, end.index, end.end, (self._name(descriptor),))
            case Place(object=descriptor, pose=pose):
                yield from self._placed(number, self._name(descriptor), self.origin @ pose, parts)
            case Trajectory(object=descriptor, poses=poses):
                yield from self._led(number, self._name(descriptor), poses, parts)
            case Wait(duration=duration):
                waited = sum(part.end - float(part.times[0]) for part in parts if not part.arm_moves)
                if waited < duration - SHORT:
                    message = f'Keyframe {number} waits {duration:g} s, and the arm stands for {waited:.3f} s.'
                    yield Finding(Check.KEYFRAME, message, end.index, end.end, (), duration - waited)
            case SetOutput(signal=signal, value=value):
                if not any(_same(part.segment.outputs.get(signal), value) for part in parts):
                    message = f"Keyframe {number} sets '{signal}' to {value}, which no segment does."
                    yield Finding(Check.KEYFRAME, message, end.index, end.end, (signal,))
            case _:  # waiting for an input is up to whoever executes
                return

    def _placed(self, number: int, name: str, place: Pose, parts: Sequence[Stretch]) -> Iterator[Finding]:
        releases = [part for part in parts if part.segment.detach is not None and part.segment.detach.object == name]
        if not releases or name in self.story.held_after(parts[-1]):
            message = f"Keyframe {number} places '{name}', which is not let go of."
            yield Finding(Check.KEYFRAME, message, parts[-1].index, parts[-1].end, (name,))
            return
        last = releases[-1]
        at = self.story.standing_after(last).get(name)
        if at is not None:
            yield from _compared(Check.PLACE, name, at, place, last)

    def _led(self, number: int, name: str, poses: Sequence[Pose], parts: Sequence[Stretch]) -> Iterator[Finding]:
        """Whether a held object passes all poses in their order."""
        ways = [self._way(part, part.held[name]) for part in parts if name in part.held]
        way = np.concatenate(ways) if ways else np.empty((0, 4, 4))
        at = 0
        for count, pose in enumerate(poses):
            shift, turn = differences(way[at:], (self.origin @ pose).matrix)
            passed = np.flatnonzero((shift <= ON_THE_WAY * AWAY) & (turn <= ON_THE_WAY * TURNED))
            if not len(passed):
                nearest = f', {millimetres(float(shift.min()))} at its nearest' if len(shift) else ''
                message = f"'{name}' does not pass pose {count} of keyframe {number}{nearest}."
                yield Finding(Check.KEYFRAME, message, parts[-1].index, parts[-1].end, (name,))
                return
            at += int(passed[0])

    def _way(self, part: Stretch, held: Held) -> Matrix:
        """The transforms scene -> held object in a stretch, (N, 4, 4)."""
        poses = self.stage.link_poses(part.q)[:, self.stage.links[held.attachment.link]]
        found: Matrix = poses @ held.grip
        return found

    def _strangers(self) -> Iterator[Finding]:
        """What was taken although its keyframe speaks of something else."""
        for stretch in self.story.stretches:
            taken = stretch.segment.attach
            keyframe = self.task.keyframes[stretch.segment.keyframe]
            meant = self._name(keyframe.object) if isinstance(keyframe, Pick | Place | Trajectory) else None
            if taken is not None and taken.object != meant:
                message = f"'{taken.object}' is taken, which keyframe {stretch.segment.keyframe} does not speak of."
                yield Finding(Check.MOVED, message, stretch.index, stretch.end, (taken.object,))

    def _left(self) -> Iterator[Finding]:
        """Whether in the end all is where the task says, and what it does not speak of where it was."""
        first, end = self.story.stretches[0], self.story.stretches[-1]
        expected = {name: Pose.of(pose) for name, pose in first.standing.items()}
        for keyframe in self.task.keyframes:
            if isinstance(keyframe, Pick):
                expected.pop(self._name(keyframe.object), None)
            elif isinstance(keyframe, Place):
                expected[self._name(keyframe.object)] = self.origin @ keyframe.pose
        for name, place in expected.items():
            if name in self.story.held:
                yield Finding(Check.MOVED, f"'{name}' is still in the hand at the end.", end.index, end.end, (name,))
            elif name in self.story.standing:
                yield from _compared(Check.MOVED, name, self.story.standing[name], place, end)

    def _name(self, descriptor: str) -> str:
        return self.objects.get(descriptor, descriptor)


def differences(poses: Matrix, other: Matrix) -> tuple[Matrix, Matrix]:
    """How far transforms, (N, 4, 4), are from another: shifts [m] and turns [rad], (N,) each."""
    shift: Matrix = np.linalg.norm(poses[:, :3, 3] - other[:3, 3], axis=1)
    chord = np.linalg.norm(poses[:, :3, :3] - other[:3, :3], axis=(1, 2)) / (2.0 * np.sqrt(2.0))
    turn: Matrix = 2.0 * np.arcsin(np.clip(chord, 0.0, 1.0))
    return shift, turn


def _compared(check: Check, name: str, at: Matrix, place: Pose, stretch: Stretch) -> Iterator[Finding]:
    shift, turn = (float(found[0]) for found in differences(at[np.newaxis], place.matrix))
    if shift > AWAY:
        message = f"'{name}' is {millimetres(shift)} away from where it belongs."
        yield Finding(check, message, stretch.index, stretch.end, (name,), shift)
    if turn > TURNED:
        message = f"'{name}' is turned by {turn:.4f} rad from how it belongs."
        yield Finding(check, message, stretch.index, stretch.end, (name,), turn)


def _same(one: bool | float | None, other: bool | float) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and one == other


def _named(keyframe: Keyframe) -> str:
    name = f" '{keyframe.object}'" if isinstance(keyframe, Pick | Place | Trajectory) else ''
    return f'{type(keyframe).__name__.lower()}{name}'
