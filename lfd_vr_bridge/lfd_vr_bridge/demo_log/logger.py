"""Writes a log of every demonstration, beside the studio, and keeps it with the task when that is saved.

The log of what is being recorded is `recording.mcap` in the studio's folder; that of version 3 of a task lies beside
`0003.mtdf.yaml` as `0003.mcap`. A thread writes, so that a slow disk does not hold up the hands.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from std_msgs.msg import Float32, String

from ..studio import events
from ..studio.library import TaskLibrary
from ..studio.studio import Studio
from ..studio.values import Change, Hands, HandState, ObjectsChanged, Recording, RecordingChanged, RecordingState
from .codec import event_text
from .log_file import ENDING, LogError, LogWriter, finished_copy, read_log
from .messages import EVENTS, GRIPS, HANDS, OBJECTS, TF, hand_message, objects_message, poses_message

LIVE = f'recording{ENDING}'
FLUSH_EVERY = 0.5  # [s] of hands and objects that a crash may take; what was done is never taken
END_WITHIN = 10.0  # [s]


def log_path(library: TaskLibrary, name: str, version: int) -> Path:
    """Where the log of a version of a task is, if there is one."""
    return library.path(name, version).with_name(f'{version:04}{ENDING}')


@dataclass(frozen=True)
class _Times:
    """What the studio's clock means in a log."""

    offset: float
    """Of the log's times from the clock's [s]: 0, or else an earlier run began the log."""
    wall: float
    """Of times since 1970 from the log's [s]."""


class DemoLogger:
    """Logs what happens in a studio; made and called in the studio's thread.

    Args:
        studio: that is logged.
        folder: where the log of what is being recorded lies.
        complain: told what went wrong, from any thread; a log that cannot be written must not end a demonstration.
        clock: the studio's.
    """

    def __init__(
        self,
        studio: Studio,
        folder: Path,
        complain: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._studio, self._live, self._complain, self._clock = studio, folder / LIVE, complain, clock
        self._queue: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._writer: LogWriter | None = None  # the thread's
        self._is_urgent = False  # the thread's
        self._recording = studio.recording
        self._times: _Times | None = None  # None: nothing is logged
        self._grips: dict[str, float] = {}
        self._leave = (studio.watch(self._on_event), studio.listen(self._on_change))
        self._thread = threading.Thread(target=self._serve, name='demo_log', daemon=True)
        self._thread.start()
        self._take_up()

    def close(self) -> None:
        """Write what is left; the log of an unfinished recording is taken up by the next logger."""
        for leave in self._leave:
            leave()
        self._queue.put(None)
        self._thread.join(END_WITHIN)

    # In the studio's thread -------------------------------------------------------------------------------------------

    def _take_up(self) -> None:
        """Go on with the log of a recording that an earlier run left."""
        if self._recording.state is RecordingState.IDLE or self._recording.saved:
            return
        old = self._live.with_name(f'{LIVE}.old')
        try:
            if not old.exists() and self._live.exists():
                self._live.replace(old)
            log = read_log(old)
        except (LogError, OSError) as error:
            self._complain(f'The log of the unfinished recording cannot be taken up: {error}')
            return
        began = log.events[0]
        assert isinstance(began, events.Began)
        last = max(event.time for event in log.events)
        offset = max(began.time + self._recording.since, last) - self._clock()
        self._begin(began, offset)
        self._do(lambda: self._copy_from(old))
        for client in sorted(_holders(log.events)):
            self._event(events.Lost(self._clock(), client))

    def _on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Began):
            self._begin(event)
            self._event(event)
            self._objects(ObjectsChanged(0, changed=tuple(event.scene.objects.values())))
        elif self._times is None:
            return
        elif isinstance(event, events.HandsMoved):
            self._hands(event.time, event.hands)
        else:
            self._event(event)
        if isinstance(event, events.Discarded):
            self._times = None
            self._do(self._discard)

    def _on_change(self, change: Change) -> None:
        if isinstance(change, ObjectsChanged) and self._times is not None:
            self._objects(change)
        elif isinstance(change, RecordingChanged):
            self._follow(change.recording)

    def _follow(self, now: Recording) -> None:
        """Keep the log with a task that was saved; what was opened has none of ours."""
        before, self._recording = self._recording, now
        if self._times is None or not now.saved or before.state is not RecordingState.REVIEW:
            return
        if now.keyframes != before.keyframes:
            self._times = None
            return
        library = self._studio.library
        versions = [entry.version for entry in library.entries() if entry.name == now.name]
        if versions:
            target = log_path(library, now.name, versions[0])
            self._do(lambda: self._keep(target))

    def _begin(self, began: events.Began, offset: float = 0.0) -> None:
        self._times = _Times(offset, _seconds(began.recorded_at) - began.time)
        self._grips.clear()
        self._do(self._open)

    def _event(self, event: events.Event) -> None:
        assert self._times is not None
        text = event_text(replace(event, time=event.time + self._times.offset))
        self._message(EVENTS, event.time, lambda _: String(data=text), urgent=not isinstance(event, events.Carried))

    def _hands(self, at: float, hands: Hands) -> None:
        frame = self._studio.twin.frame
        for side, topic in HANDS.items():
            state: HandState | None = getattr(hands, side)
            if state is None:
                continue
            self._message(topic, at, partial(hand_message, state, frame))
            if side in GRIPS and self._grips.get(side) != state.grip:
                self._grips[side] = state.grip
                self._message(GRIPS[side], at, partial(_grip_message, state.grip))

    def _objects(self, change: ObjectsChanged) -> None:
        twin, at = self._studio.twin, self._clock()
        things = [(thing, twin.colour(thing.id)) for thing in change.changed]
        if things or change.removed:
            self._message(OBJECTS, at, lambda _: objects_message(things, change.removed))
        poses = {**{thing.id: thing.pose for thing, _ in things}, **change.moved}
        if poses:
            self._message(TF, at, lambda stamp: poses_message(poses, twin.frame, stamp))

    def _message(self, topic: str, at: float, make: Callable[[float], Any], urgent: bool = False) -> None:
        assert self._times is not None
        wall = at + self._times.offset + self._times.wall
        self._do(lambda: self._write(topic, make(wall), wall, urgent))

    def _do(self, job: Callable[[], None]) -> None:
        self._queue.put(job)

    # In the logger's thread -------------------------------------------------------------------------------------------

    def _serve(self) -> None:
        flushed = time.monotonic()
        while True:
            try:
                job = self._queue.get(timeout=FLUSH_EVERY)
            except queue.Empty:
                self._flush()
                flushed = time.monotonic()
                continue
            if job is None:
                break
            self._try(job)
            if self._queue.empty() and (self._is_urgent or time.monotonic() > flushed + FLUSH_EVERY):
                self._flush()
                flushed = time.monotonic()
        self._try(self._abandon)

    def _try(self, job: Callable[[], None]) -> None:
        try:
            job()
        except (LogError, OSError) as error:
            with contextlib.suppress(OSError):
                self._abandon()
            self._writer = None
            self._complain(f'The demonstration is not logged any more: {error}')

    def _open(self) -> None:
        self._abandon()
        self._writer = LogWriter(self._live)

    def _copy_from(self, old: Path) -> None:
        """Begin with what an earlier run logged."""
        assert self._writer is not None
        self._writer.append(old)
        self._writer.flush()
        old.unlink()

    def _write(self, topic: str, message: Any, at: float, urgent: bool) -> None:
        if self._writer is not None:
            self._writer.write(topic, message, at)
            self._is_urgent |= urgent

    def _flush(self) -> None:
        self._is_urgent = False
        if self._writer is not None:
            self._try(self._writer.flush)

    def _keep(self, target: Path) -> None:
        """Keep a finished copy; the log goes on, because a task can be edited after it was saved."""
        if self._writer is None:
            return
        self._writer.flush()
        try:
            finished_copy(self._live, target)
        except LogError as error:
            self._complain(f'The log of the demonstration is not kept with the task: {error}')

    def _discard(self) -> None:
        self._abandon()
        self._live.unlink(missing_ok=True)

    def _abandon(self) -> None:
        if self._writer is not None:
            writer, self._writer = self._writer, None
            writer.abandon()


def _holders(happened: tuple[events.Event, ...]) -> set[str]:
    """The clients that held something in the end."""
    held: dict[str, str] = {}
    for event in happened:
        match event:
            case events.Grabbed():
                held[event.object] = event.client
            case events.LetGo() | events.RobotTook():
                held.pop(event.object, None)
            case events.Lost():
                held = {name: client for name, client in held.items() if client != event.client}
    return set(held.values())


def _grip_message(grip: float, _: float) -> Float32:
    return Float32(data=grip)


def _seconds(moment: datetime) -> float:
    return moment.timestamp()
