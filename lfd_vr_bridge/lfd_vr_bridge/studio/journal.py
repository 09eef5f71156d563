"""The unsaved task on disk, line by line as it grows, so that a crash loses at most the object in the hand.

The file begins with a line that says what the recording began with; each change adds a line, which is on the disk
before anybody is told that it was recorded. A line that a crash cut off is as if it had never been written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from lfd_description.files import write_atomically
from lfd_planner.mtdf import Descriptor, Task, dump_task, parse_task
from lfd_planner.mtdf.task import object_of
from lfd_planner.scene import PlanningScene, WorldObject

from .disk import on_disk, sync_folder
from .encoding import Data, Unreadable, object_data, pose_data, pose_of, scene_data, scene_of
from .encoding import object_of as thing_of
from .recorder import Demonstration, Step

FORMAT = 1


@dataclass(frozen=True)
class Kept:
    """What a journal holds."""

    shown: Demonstration
    start: PlanningScene | None
    """Where objects were when the recording began; None of a task that was opened."""
    complete: bool
    """Whether the recording had been completed."""


class Journal:
    """The journal in a file; nothing is written before `begin`."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._stream: BinaryIO | None = None

    @property
    def aside(self) -> Path:
        """Where a file is put that cannot be gone on with."""
        return self.file.with_suffix('.aside')

    @property
    def is_open(self) -> bool:
        """Whether there is something that could be lost."""
        return self._stream is not None

    def begin(self, kept: Kept) -> None:
        """Begin anew with a task as it is.

        Raises:
            Refusal: the disk does not take it.
        """
        self.close()
        lines = [_begin_data(kept), *(_step_data(step) for step in kept.shown.steps)]
        lines += [{'do': 'complete'}] if kept.complete else []
        on_disk('recorded', lambda: self._write(b''.join(map(_line, lines))))

    def step(self, step: Step) -> None:
        """One more step was shown."""
        self._add(_step_data(step))

    def keep(self, first: int, behind: int) -> None:
        """All steps before the first and from the other on are gone."""
        self._add({'do': 'keep', 'first': first, 'behind': behind})

    def start_changed(self, *things: WorldObject, scene: PlanningScene, removed: tuple[str, ...] = ()) -> None:
        """The arrangement that the recording began with is another: objects of the scene, and some that are gone."""
        data = [object_data(thing, scene.colours.get(thing.id)) for thing in things]
        self._add({'do': 'start', 'objects': data, 'removed': list(removed)})

    def named(self, name: str) -> None:
        """The task has another name."""
        self._add({'do': 'name', 'name': name})

    def complete(self) -> None:
        """The recording was completed."""
        self._add({'do': 'complete'})

    def end(self) -> None:
        """There is nothing any more that could be lost."""
        self.close()
        on_disk('recorded', lambda: self.file.unlink(missing_ok=True))

    def close(self) -> None:
        """Let go of the file; what is in it stays."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def put_aside(self) -> None:
        """Keep the file for whoever looks for it, and begin without it."""
        self.close()
        on_disk('put aside', lambda: self.file.replace(self.aside))

    def found(self) -> Kept | None:
        """What an earlier run left, to be gone on with; None if there is nothing.

        A file that is no journal is put aside, and told as nothing.

        Raises:
            Refusal: the disk does not give it.
        """
        if not self.file.is_file():
            return None
        lines = on_disk('read', self.file.read_bytes).split(b'\n')
        kept: Kept | None = None
        for data in _readable(lines):
            try:
                kept = _begun(data) if kept is None else _changed(kept, data)
            except Unreadable:
                break
        if kept is None:
            self.put_aside()
            return None
        self.begin(kept)
        return kept

    def _write(self, content: bytes) -> None:
        write_atomically(self.file, content)
        sync_folder(self.file.parent)
        self._stream = self.file.open('ab', buffering=0)

    def _add(self, data: Data) -> None:
        stream = self._stream
        if stream is None:
            raise RuntimeError('The journal was not begun.')

        on_disk('recorded', lambda: _append(stream, _line(data)))


def _append(stream: BinaryIO, line: bytes) -> None:
    """Add a line that is on the disk when this returns, or none of it."""
    size = stream.tell()
    try:
        stream.write(line)
        stream.flush()
        os.fsync(stream.fileno())
    except OSError:
        os.ftruncate(stream.fileno(), size)
        raise


def _line(data: Data) -> bytes:
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(',', ':')).encode() + b'\n'


def _readable(lines: list[bytes]) -> Iterator[Data]:
    """The data of whole lines up to one that is none; what is behind the last line break was cut off."""
    for line in lines[:-1]:
        try:
            data = json.loads(line)
        except ValueError:
            return
        if not isinstance(data, dict):
            return
        yield data


def _begin_data(kept: Kept) -> Data:
    shown = kept.shown
    return {
        'do': 'begin',
        'format': FORMAT,
        'name': shown.name,
        'origin': pose_data(shown.origin),
        'frame': shown.frame,
        'recorded_at': None if shown.recorded_at is None else shown.recorded_at.isoformat(),
        'read': None if shown.read is None else dump_task(shown.read, file_format='json'),
        'start': None if kept.start is None else scene_data(kept.start),
    }


def _step_data(step: Step) -> Data:
    names = dict.fromkeys(name for keyframe in step.keyframes if (name := object_of(keyframe)))
    task = Task(tuple(map(Descriptor, names)), step.keyframes)
    before, after = pose_data(step.before), pose_data(step.after)
    text = dump_task(task, file_format='json')
    return {'do': 'step', 'object': step.object, 'before': before, 'after': after, 'task': text}


def _begun(data: Data) -> Kept:
    if data['do'] != 'begin' or data['format'] != FORMAT:
        raise ValueError('this is no journal')
    shown = Demonstration(
        str(data['name']),
        pose_of(data['origin']),
        str(data['frame']),
        None if data['recorded_at'] is None else datetime.fromisoformat(data['recorded_at']),
        read=None if data['read'] is None else parse_task(data['read']),
    )
    return Kept(shown, None if data['start'] is None else scene_of(data['start']), complete=False)


def _changed(kept: Kept, data: Data) -> Kept:
    return _CHANGES[data['do']](kept, data)


def _with_step(kept: Kept, data: Data) -> Kept:
    keyframes = parse_task(data['task']).keyframes
    step = Step(keyframes, str(data['object']), pose_of(data['before']), pose_of(data['after']))
    return replace(kept, shown=kept.shown.with_step(step))


def _with_kept(kept: Kept, data: Data) -> Kept:
    steps = kept.shown.steps[int(data['first']) : int(data['behind'])]
    return replace(kept, shown=replace(kept.shown, steps=steps))


def _with_start(kept: Kept, data: Data) -> Kept:
    if kept.start is None:
        raise ValueError('nothing was begun')
    start = kept.start
    for name in data['removed']:
        start = start.remove(name)
    for thing, colour in map(thing_of, data['objects']):
        start = start.add(thing, colours={} if colour is None else {thing.id: colour})
    return replace(kept, start=start)


_CHANGES: dict[str, Callable[[Kept, Data], Kept]] = {
    'step': _with_step,
    'keep': _with_kept,
    'start': _with_start,
    'name': lambda kept, data: replace(kept, shown=replace(kept.shown, name=str(data['name']))),
    'complete': lambda kept, data: replace(kept, complete=True),
}
