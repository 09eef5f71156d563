"""Everything that a person can do, as methods: hands, objects, recording, tasks.

::

    idle ──start──► recording ──complete──► review ──start──► recording ...
      ▲                 │ discard              │ discard        open_task: review of a task of the library
      └─────────────────┴──────────────────────┘

Call all methods on one thread. What cannot be done raises `Refusal` and changes nothing. `listen` gets what others must
see, `watch` gets what a log needs.

Where things are for planning: while somebody shows a task, objects move in the twin, but not in the cell. So the
arrangement that a recording began with is kept, and `prepare_plan` puts the objects that were shown back to it; a
person sees them fly back. Whatever moves outside of a recording (by hand, by `place_object`, by the robot) really is
there from then on, and stays. An opened task moves nothing: it is planned from where things are.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from lfd_description.bodies import Colour
from lfd_planner.mtdf import GraspHint, Task
from lfd_planner.pose import IDENTITY, Pose
from lfd_planner.scene import PlanningScene, WorldObject

from . import events
from .journal import Journal, Kept
from .landing import Landing, Landings
from .library import TaskLibrary, checked_name
from .poses import checked_pose
from .recorder import Carry, Demonstration, Step, Thresholds
from .replaying import again
from .settle import Settled
from .twin import Twin
from .values import (
    Change,
    Hand,
    Hands,
    Held,
    Notice,
    OtherUnwanted,
    Recording,
    RecordingChanged,
    RecordingState,
    Refusal,
    Released,
    Settings,
    SettingsChanged,
    TaskEntry,
    TasksChanged,
)

IDLE, RECORDING, REVIEW = RecordingState.IDLE, RecordingState.RECORDING, RecordingState.REVIEW
JOURNAL = 'recording.journal'
NewsT = TypeVar('NewsT')


class Saved(NamedTuple):
    """Where a task was saved."""

    name: str
    version: int


@dataclass(frozen=True)
class PlanRequest:
    """All that planning needs; poses are in the twin's frame."""

    task: Task
    origin: Pose
    scene: PlanningScene
    """The twin's objects, and others, where they are before the task is done."""


class Studio:
    """The twin, the recording and the library.

    Args:
        scene: objects and colours to begin with; its frame is the twin's.
        folder: where tasks and the journal are kept; an unfinished recording in it is taken up again.
        origin: of the poses of tasks that are recorded, in the twin's frame.
        settings: to begin with.
        thresholds: within which a grab counts as an accident.
        clock: of all times [s].
        wall: what a recording's begin is dated by.
    """

    def __init__(
        self,
        scene: PlanningScene,
        folder: Path,
        *,
        origin: Pose = IDENTITY,
        settings: Settings | None = None,
        thresholds: Thresholds | None = None,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.twin = Twin(scene)
        self.library = TaskLibrary(folder / 'tasks')
        self.origin = checked_pose(origin)
        self.settings = settings or Settings()
        self.thresholds = thresholds or Thresholds()
        self._clock, self._wall = clock, wall
        self._pinned: float | None = None
        self._listeners: list[Callable[[Change], None]] = []
        self._watchers: list[Callable[[events.Event], None]] = []
        self._file_scene = self.twin.scene
        self._began: PlanningScene | None = None
        self._start: PlanningScene | None = None
        self._state = IDLE
        self._shown: Demonstration | None = None
        self._saved = False
        self._kept_as = ''  # its name in the library; empty: it is not there
        self._deleted_as = ''  # the name that it had there; empty: it was not deleted, or is another since
        self._zero = 0.0
        self._latest = 0.0
        self._carry: Carry | None = None
        self._grabbed: dict[str, Pose] = {}
        self._landings = Landings()
        self.early_notices: tuple[Notice, ...] = ()
        """What there was to tell before anybody listened; for whoever connects first."""
        self._journal = Journal(folder / JOURNAL)
        self._take_up()

    def close(self) -> None:
        """Let go of files; an unsaved recording stays in the journal."""
        self._journal.close()

    # Who is told ------------------------------------------------------------------------------------------------------

    def listen(self, callback: Callable[[Change], None]) -> Callable[[], None]:
        """Be told what changes; call the answer to be told no more."""
        return _subscribed(self._listeners, callback)

    def watch(self, callback: Callable[[events.Event], None]) -> Callable[[], None]:
        """Be told what happens, for a log; call the answer to be told no more."""
        return _subscribed(self._watchers, callback)

    @property
    def recording(self) -> Recording:
        """The recording as it is now."""
        shown = self._shown
        if shown is None:
            return Recording(origin=self.origin)
        since = self._since() if self._state is RECORDING else shown.end
        return Recording(self._state, shown.name, shown.keyframes, shown.origin, self._saved, since)

    @property
    def tasks(self) -> tuple[TaskEntry, ...]:
        """The library's tasks."""
        return self.library.entries()

    # Hands ------------------------------------------------------------------------------------------------------------

    def hands(self, client: str, hands: Hands, ago: float = 0.0) -> None:
        """Hands and head of a person were somewhere some seconds ago: for the log."""
        self._happened(events.HandsMoved(self._now() - ago, client, hands))

    def grab(self, client: str, hand: Hand, object: str, pose: Pose, hand_pose: Pose | None = None) -> None:
        """Take an object.

        Args:
            client: who does.
            hand: with what.
            object: its name.
            pose: the object's, as the client sees it.
            hand_pose: x along the fingers, y the way they close, z up from the hand; None: a mouse has no fingers.

        Raises:
            Refusal: nobody may take it, or the hand is full.
        """
        pose, hand_pose = checked_pose(pose), None if hand_pose is None else checked_pose(hand_pose)
        if self._state is RECORDING and self.twin.held and object not in self.twin.held:
            other = next(iter(self.twin.held))
            raise Refusal(
                'hand_full', f"'{other}' is in the hand; a robot has one hand, so put it down before you grab another."
            )
        now, stranger = self._now(), self._other(object)
        news = self.twin.grab(object, Held(client, hand))
        before = self._grabbed[object] = self.twin.scene.objects[object].pose
        if self._state is RECORDING:
            grasp = None if hand_pose is None else GraspHint(pose.inverse @ hand_pose)
            self._carry = Carry(object, before, grasp, self._since(now), keep_path=self.settings.keep_paths)
        self._tell(news)
        self._adopted(stranger)
        self._happened(events.Grabbed(now, client, hand, object, pose, hand_pose))

    def move(self, client: str, object: str, pose: Pose, hand_pose: Pose | None = None) -> None:
        """Bring a held object somewhere.

        Raises:
            Refusal: the client does not hold it.
        """
        pose, now = checked_pose(pose), self._now()
        self._tell(self.twin.move(object, client, pose))
        if self._carry is not None and self._carry.object == object:
            self._carry.moved(pose, self._since(now))
        self._happened(events.Carried(now, client, object, pose, hand_pose))

    def release(
        self, client: str, object: str, pose: Pose, hand_pose: Pose | None = None, landing: Landing | None = None
    ) -> Released:
        """Let go of a held object.

        Args:
            client: who does.
            object: its name.
            pose: where.
            hand_pose: of the hand that held it.
            landing: what `landing_of` found for this pose; None: it is found now.

        Raises:
            Refusal: the client does not hold it.
        """
        pose, now = checked_pose(pose), self._now()
        self.twin.holder(object, client)
        landing = landing or self.landing(object, pose)
        before = self._grabbed.pop(object)
        carry, self._carry = (self._carry, None) if self._carries(object) else (None, self._carry)
        rest, reason = self._rest(landing.settled, before, recorded=carry is not None)
        self._tell(self.twin.release(object, client, rest))
        for warning in (*landing.settled.warnings, *(landing.falls if rest == landing.pose else ())):
            self._notice('warning', warning)
        if carry is not None and not reason:
            self._add_step(carry.released(rest, self._since(now), self._demonstration.origin))
        elif carry is None:
            self._really_at(object)
        kept = carry is not None and not reason
        self._happened(events.LetGo(now, client, object, pose, hand_pose, rest, kept))
        return Released(rest, kept, reason or ('' if carry is not None else 'Nothing is being recorded.'))

    def landing(self, object: str, pose: Pose) -> Landing:
        """What would become of an object if it were let go of at a pose.

        Raises:
            Refusal: there is no such object.
        """
        return self.landing_of(object, pose)()

    def landing_of(self, object: str, pose: Pose) -> Callable[[], Landing]:
        """The same as a job for any thread, about the twin as it is now.

        Raises:
            Refusal: there is no such object.
        """
        return partial(self._landings.of, *self._let_go(object, pose))

    def rest_of(self, object: str, pose: Pose) -> Callable[[], Settled]:
        """Only where it would stay, as a job for any thread.

        Raises:
            Refusal: there is no such object.
        """
        return partial(self._landings.settled, *self._let_go(object, pose))

    def _let_go(self, object: str, pose: Pose) -> tuple[PlanningScene, WorldObject, Settings]:
        thing = replace(self.twin.known(object), pose=checked_pose(pose))
        return self.twin.standing(object), thing, self.settings

    def lose(self, client: str) -> None:
        """A client is gone, or no demonstrator any more: what it holds goes back to where it was grabbed."""
        mine = [name for name, held in self.twin.held.items() if held.by == client]
        for name in mine:
            self._tell(self.twin.release(name, client, self._grabbed.pop(name)))
            self._carry = None if self._carries(name) else self._carry
            self._notice(
                'warning', f"Whoever held '{name}' is gone; it is back where it was, and nothing was recorded."
            )
        if mine:
            self._happened(events.Lost(self._now(), client))

    # Objects ----------------------------------------------------------------------------------------------------------

    def add_object(self, thing: WorldObject, colour: Colour | None = None) -> str:
        """Put a new object into the twin; without an id it gets one. Gives its name.

        Raises:
            Refusal: it cannot be added.
        """
        stem = type(thing.body.parts[0].shape).__name__.lower() if thing.body.parts else 'object'
        thing = replace(thing, id=thing.id or self.twin.new_name(stem), pose=checked_pose(thing.pose))
        self._tell(self.twin.add(thing, colour))
        self._really_at(thing.id)
        self._happened(events.Added(self._now(), thing, colour))
        return thing.id

    def place_object(self, object: str, pose: Pose) -> None:
        """Put an object somewhere, without recording it.

        Raises:
            Refusal: nobody may move it now.
        """
        pose, other = checked_pose(pose), self._other(object)
        self._tell(self.twin.place(object, pose))
        self._adopted(other)
        self._really_at(object)
        self._happened(events.Placed(self._now(), object, pose))

    def remove_object(self, object: str) -> None:
        """Take an object out of the twin; one of others is gone when the planning scene says so.

        Raises:
            Refusal: nobody may do so now, or the recording uses it.
        """
        if self._other(object) is not None:
            self._tell(OtherUnwanted(object))
            return
        if self._state is RECORDING and self._shown is not None and self._shown.uses(object):
            raise Refusal('used', f"The recording uses '{object}'; undo that, or discard the recording first.")
        self._tell(self.twin.remove(object))
        if self._start is not None and object in self._start.objects:
            self._start = self._start.remove(object)
            if self._began is not None and object in self._began.objects:
                self._began = self._began.remove(object)
            if not self._saved:
                self._keep(lambda: self._journal.start_changed(scene=self.twin.scene, removed=(object,)))
        self._happened(events.Removed(self._now(), object))

    def reset_scene(self) -> None:
        """Put all objects back to where the recording began, or else to where they were at first.

        Raises:
            Refusal: a recording goes on, or an object is held.
        """
        self._not_recording('put objects back')
        self._nothing_held('put objects back')
        self._arrange(self._began or self._file_scene)
        if self._start is not None:
            self._start = self.twin.scene

    def adjust(
        self, *, snap: bool | None = None, gravity: bool | None = None, keep_paths: bool | None = None
    ) -> Settings:
        """Change settings; those that are None stay."""
        old = self.settings
        self.settings = Settings(
            old.snap if snap is None else snap,
            old.gravity if gravity is None else gravity,
            old.keep_paths if keep_paths is None else keep_paths,
        )
        if self.settings != old:
            self._tell(SettingsChanged(self.settings))
            self._happened(events.Adjusted(self._now(), self.settings))
        return self.settings

    # The robot's side -------------------------------------------------------------------------------------------------

    def robot_took(self, object: str) -> None:
        """The robot holds an object from now on; others that the twin does not know are no matter."""
        carried = self._carries(object)
        news = self.twin.robot_took(object)
        if news is None:
            return
        if self._grabbed.pop(object, None) is not None:
            self._carry = None if carried else self._carry
            self._notice('warning', f"The robot took '{object}' out of a person's hand; nothing was recorded.")
        self._tell(news)
        self._happened(events.RobotTook(self._now(), object))

    def robot_moved(self, object: str, pose: Pose) -> None:
        """What the robot holds is somewhere else."""
        news = self.twin.robot_moved(object, pose)
        if news is not None:
            self._tell(news)

    def robot_put(self, object: str, pose: Pose) -> None:
        """The robot has let go of an object."""
        news = self.twin.robot_put(object, pose)
        if news is not None:
            self._tell(news)
            self._really_at(object)
            self._happened(events.RobotPut(self._now(), object, pose))

    def set_others(self, others: Mapping[str, WorldObject], colours: Mapping[str, Colour] | None = None) -> None:
        """The objects of the planning scene; those that are the twin's are passed over."""
        news = self.twin.set_others(others, colours)
        if news is not None:
            self._tell(news)

    # Recording --------------------------------------------------------------------------------------------------------

    def start_recording(self, name: str = '') -> str:
        """Begin to record; what is under review and not saved is saved first. Gives the task's name.

        Raises:
            Refusal: a recording goes on, an object is held, or the name cannot be used.
        """
        return self._start_recording(name, self._wall(), self.origin)

    def complete_recording(self) -> Recording:
        """End a recording and keep it for review.

        Raises:
            Refusal: none goes on, or an object is held.
        """
        self._recording_goes_on()
        self._nothing_held('complete the recording')
        if self._demonstration.steps:
            self._state = REVIEW
            self._keep(self._journal.complete)
        else:
            self._forget()
            self._notice('info', 'Nothing was recorded: no object was moved.')
        self._recording_changed()
        self._happened(events.Completed(self._now()))
        return self.recording

    def discard_recording(self) -> None:
        """Throw the task away that is recorded or under review; objects go back to where it began.

        Raises:
            Refusal: there is none.
        """
        if self._shown is None:
            raise Refusal('nothing', 'There is no recording to throw away.')
        self._arrange(self._before_demonstration())
        self._carry = None
        self._grabbed.clear()
        self._forget()
        self._recording_changed()
        self._happened(events.Discarded(self._now()))

    def undo(self) -> None:
        """Take the last pick and place back, and put the object back to where it was.

        Raises:
            Refusal: there is none, or an object is held.
        """
        shown = self._demonstration
        if not shown.steps:
            raise Refusal('nothing', 'There is no keyframe to take back.')
        self._nothing_held('undo')
        self._cut(0, len(shown.steps) - 1)
        self._happened(events.Undone(self._now()))

    def trim(self, first: int, last: int) -> None:
        """Keep the keyframes from the first to the last, both included.

        What is cut off at the end is undone; what is cut off at the begin belongs to what the task begins with.

        Raises:
            Refusal: these are not whole picks and places, or an object is held.
        """
        begin, behind = self._demonstration.kept(first, last)
        self._nothing_held('trim')
        self._cut(begin, behind)
        self._happened(events.Trimmed(self._now(), first, last))

    def task(self) -> Task:
        """The task that is recorded or under review.

        Raises:
            Refusal: there is none.
        """
        return self._demonstration.task

    @property
    def start_scene(self) -> PlanningScene:
        """The world as it is before the task is done: objects that were shown are where they were; others included."""
        scene = self.twin.world
        for thing in self._before_demonstration().objects.changes_from(self.twin.scene.objects).values():
            scene = scene.add(thing[1]) if thing[1] is not None else scene
        return scene

    def prepare_plan(self) -> PlanRequest:
        """Put the objects that were shown back to where the recording began; gives what is to be planned.

        Raises:
            Refusal: there is no task, a recording goes on, or an object is held.
        """
        self._not_recording('plan')
        task = self.task()
        if not task.keyframes:
            raise Refusal('nothing', 'The task has no keyframes; record some before you plan.')
        self._nothing_held('plan')
        self._arrange(self._before_demonstration())
        return PlanRequest(task, self._demonstration.origin, self.twin.world)

    # Tasks ------------------------------------------------------------------------------------------------------------

    def save(self, name: str = '') -> Saved:
        """Keep the task under review in the library, as a new version; without a name under its own.

        Raises:
            Refusal: there is none, a recording goes on, or it cannot be saved.
        """
        shown = self._demonstration
        self._not_recording('save')
        name = checked_name(name or shown.name)
        version = self.library.save(name, shown.task)
        self._shown = replace(shown, name=name)
        self._is_in_library(name)
        self._keep(self._journal.end, begin=False)
        self._recording_changed()
        self._tell(TasksChanged(self.tasks))
        return Saved(name, version)

    def open_task(self, name: str, version: int | None = None) -> Recording:
        """Review a task of the library; what is under review and not saved is saved first.

        Raises:
            Refusal: there is no such task, it is wrong, a recording goes on, or an object is held.
        """
        self._not_recording('open a task')
        self._nothing_held('open a task')
        task, _ = self.library.open(name, version)
        self._save_first()
        self._keep(self._journal.end, begin=False)
        self._shown = Demonstration.opened(checked_name(name), task, self._origin_of(task), self.twin.frame)
        self._state, self._start = REVIEW, None
        self._is_in_library(self._shown.name)
        self._recording_changed()
        return self.recording

    def delete_task(self, name: str) -> None:
        """Put a task with all its versions into the library's trash; if it is under review, it is not saved then.

        Raises:
            Refusal: there is none, or it comes with the suite.
        """
        self.library.delete(name)
        self._tell(TasksChanged(self.tasks))
        if self._kept_as == checked_name(name):
            self._deleted_as = self._kept_as if self._saved else ''
            self._kept_as, self._saved = '', False
            self._recording_changed()

    def restore_task(self, name: str) -> None:
        """Bring a deleted task back.

        Raises:
            Refusal: it is not in the trash, or its name is taken.
        """
        self.library.restore(name)
        self._tell(TasksChanged(self.tasks))
        if self._deleted_as == checked_name(name):
            self._is_in_library(self._deleted_as)
            self._recording_changed()

    def rename_task(self, name: str, to: str) -> None:
        """Give a task another name; if it is under review, that has it, too.

        Raises:
            Refusal: there is none, or the name cannot be used.
        """
        self.library.rename(name, to)
        self._tell(TasksChanged(self.tasks))
        if self._kept_as == checked_name(name):
            self._kept_as = checked_name(to)
            self._shown = replace(self._demonstration, name=self._kept_as)
            if not self._saved:
                self._keep(lambda: self._journal.named(self._kept_as))
            self._recording_changed()

    # Replay -----------------------------------------------------------------------------------------------------------

    def perform(self, event: events.Event) -> None:
        """Do what was done before, at the time at which it was done.

        Raises:
            Refusal: it cannot be done now.
        """
        self._pinned = event.time
        try:
            if isinstance(event, events.Began):
                self._replay_begin(event)
            else:
                again(self, event)
        finally:
            self._pinned = None

    def _replay_begin(self, event: events.Began) -> None:
        settings = event.settings
        self.adjust(snap=settings.snap, gravity=settings.gravity, keep_paths=settings.keep_paths)
        self._not_recording('replay')
        self._nothing_held('replay')
        self._arrange(event.scene, only_moves=False)
        self._start_recording(event.name, event.recorded_at, event.origin)

    # Inside -----------------------------------------------------------------------------------------------------------

    def _take_up(self) -> None:
        """Go on with what an earlier run left."""
        kept = self._journal.found()
        if kept is None:
            return
        if kept.shown.frame != self.twin.frame:
            self._journal.put_aside()
            text = (
                f"An unfinished recording in another frame, '{kept.shown.frame}', was put aside: {self._journal.aside}."
            )
            self.early_notices = (Notice('warning', text),)
            return
        self._shown, self._began, self._start = kept.shown, kept.start, kept.start
        self._state = REVIEW if kept.complete or kept.start is None else RECORDING
        self._latest = kept.shown.end
        self._zero = self._now() - self._latest
        if kept.start is not None:
            self.twin.arrange(_after(kept.start, kept.shown.steps))
        count, name = len(kept.shown.keyframes), kept.shown.name
        what = 'go on, or complete it' if self._state is RECORDING else 'save it, or discard it'
        self.early_notices = (
            Notice('warning', f"The recording '{name}' with {count} keyframes was not finished; {what}."),
        )

    def _start_recording(self, name: str, recorded_at: datetime, origin: Pose) -> str:
        self._not_recording('start another')
        self._nothing_held('start to record')
        name = checked_name(name) if name else self._free_task_name()
        self._save_first()
        now = self._now()
        self._shown = Demonstration(name, origin, self.twin.frame, recorded_at)
        self._state, self._saved, self._zero, self._latest = RECORDING, False, now, 0.0
        self._kept_as = self._deleted_as = ''
        self._began = self._start = self.twin.scene
        self._journal.close()
        self._keep(lambda: None)
        self._recording_changed()
        self._happened(events.Began(now, name, recorded_at, origin, self.settings, self.twin.scene))
        return name

    def _free_task_name(self) -> str:
        names = {entry.name for entry in self.tasks}
        number = 1
        while f'demonstration_{number}' in names:
            number += 1
        return f'demonstration_{number}'

    def _save_first(self) -> None:
        """Save what is under review and would be lost; what was deleted is meant to be."""
        if self._shown is not None and self._shown.steps and not (self._saved or self._deleted_as):
            name, version = self.save()
            self._notice('info', f"'{name}' was saved as version {version}.")

    def _rest(self, settled: Settled, before: Pose, *, recorded: bool) -> tuple[Pose, str]:
        """Where a released object stays, and why it is not recorded, if it is not."""
        if settled.pose is None:
            return before, settled.warnings[0]
        if recorded and not self.thresholds.moved(before, settled.pose):
            millimetres, degrees = 1000.0 * self.thresholds.distance, math.degrees(self.thresholds.angle)
            return before, f'It moved less than {millimetres:g} mm and {degrees:g} degrees, so it stays where it was.'
        return settled.pose, ''

    def _add_step(self, step: Step) -> None:
        self._shown = self._demonstration.with_step(step)
        self._keep(lambda: self._journal.step(step))
        self._recording_changed()

    def _cut(self, begin: int, behind: int) -> None:
        """Keep the steps from one number to another."""
        shown = self._demonstration
        for step in reversed(shown.steps[behind:]):
            self._take_back(step)
        self._shown, self._saved, self._deleted_as = replace(shown, steps=shown.steps[begin:behind]), False, ''
        if begin and self._start is not None:
            self._start = _after(self._start, shown.steps[:begin])
            self._journal.close()  # the journal begins anew with another start
        self._keep(lambda: self._journal.keep(begin, behind))
        self._recording_changed()

    def _take_back(self, step: Step) -> None:
        """Put an object back to where it was before a step, unless it is not any more where the step left it."""
        thing = self.twin.scene.objects.get(step.object)
        if thing is not None and thing.pose == step.after and self.twin.owner(step.object) == 'twin':
            self._tell(self.twin.place(step.object, step.before))

    def _before_demonstration(self) -> PlanningScene:
        """The twin's objects, those that were shown where they were before."""
        scene, start = self.twin.scene, self._start
        if self._shown is None or start is None:
            return scene
        shown = {step.object for step in self._shown.steps} | set(self.twin.held)
        for name in (name for name in shown if name in scene.objects and name in start.objects):
            scene = scene.add(replace(scene.objects[name], pose=start.objects[name].pose))
        return scene

    def _other(self, object: str) -> WorldObject | None:
        """An object that the planning scene has from others; None if it is none of these."""
        return self.twin.objects[object] if self.twin.owner(object) == 'other' else None

    def _adopted(self, thing: WorldObject | None) -> None:
        """An object of others is the twin's now, as if it had been added."""
        if thing is not None:
            self._really_at(thing.id)
            self._happened(events.Added(self._now(), thing, self.twin.colour(thing.id)))

    def _really_at(self, name: str) -> None:
        """An object was moved, and not by the demonstration: planning begins with it where it is now."""
        shown = self._shown
        if self._start is None or shown is None or (self._state is RECORDING and shown.uses(name)):
            return
        thing = self.twin.scene.objects[name]
        self._start = self._start.add(thing, colours={name: self.twin.colour(name)})
        if self._began is not None and name not in self._began.objects:
            self._began = self._began.add(thing)
        if not self._saved:
            self._keep(lambda: self._journal.start_changed(thing, scene=self.twin.scene))

    def _arrange(self, scene: PlanningScene, *, only_moves: bool = True) -> None:
        news = self.twin.arrange(scene, only_moves=only_moves)
        if news is not None:
            self._grabbed.clear()
            self._tell(news)

    def _forget(self) -> None:
        """There is no task any more."""
        self._state, self._shown, self._saved, self._began, self._start = IDLE, None, False, None, None
        self._kept_as = self._deleted_as = ''
        self._keep(self._journal.end, begin=False)

    def _keep(self, write: Callable[[], None], *, begin: bool = True) -> None:
        """Write to the journal, which begins with the task as it is now; a full disk must not end a demonstration."""
        try:
            if begin and not self._journal.is_open:
                self._journal.begin(Kept(self._demonstration, self._start, complete=self._state is REVIEW))
            else:
                write()
        except Refusal as refusal:
            self._journal.close()
            self._notice('error', f'If lfd ends now, this recording is lost. {refusal}')

    @property
    def _demonstration(self) -> Demonstration:
        if self._shown is None:
            raise Refusal('nothing', 'There is no task; record one, or open one.')
        return self._shown

    def _origin_of(self, task: Task) -> Pose:
        """Where an opened task is done: where it was shown, if that is known in the twin's frame."""
        hint = task.origin
        if hint is None or hint.frame not in (None, self.twin.frame):
            return self.origin
        return hint.pose

    def _is_in_library(self, name: str) -> None:
        """The task under review is in the library as it is."""
        self._saved, self._kept_as, self._deleted_as = True, name, ''

    def _carries(self, object: str) -> bool:
        return self._carry is not None and self._carry.object == object

    def _not_recording(self, what: str) -> None:
        if self._state is RECORDING:
            raise Refusal('recording', f'A recording goes on; complete or discard it before you {what}.')

    def _recording_goes_on(self) -> None:
        if self._state is not RECORDING:
            raise Refusal('not_recording', 'Nothing is being recorded; start a recording first.')

    def _nothing_held(self, what: str) -> None:
        if self.twin.held:
            name = next(iter(self.twin.held))
            raise Refusal('held', f"'{name}' is in a hand; let go of it before you {what}.")

    def _now(self) -> float:
        return self._clock() if self._pinned is None else self._pinned

    def _since(self, now: float | None = None) -> float:
        """How long the recording has been going on [s]; never less than it was before."""
        self._latest = max(self._latest, (self._now() if now is None else now) - self._zero)
        return self._latest

    def _recording_changed(self) -> None:
        self._tell(RecordingChanged(self.recording))

    def _notice(self, level: str, text: str) -> None:
        self._tell(Notice(level, text))

    def _tell(self, change: Change) -> None:
        for listener in tuple(self._listeners):
            listener(change)

    def _happened(self, event: events.Event) -> None:
        for watcher in tuple(self._watchers):
            watcher(event)


def _after(scene: PlanningScene, steps: Iterable[Step]) -> PlanningScene:
    """A scene after steps were done."""
    for step in steps:
        if step.object in scene.objects:
            scene = scene.move(step.object, step.after)
    return scene


def _subscribed(listeners: list[Callable[[NewsT], None]], callback: Callable[[NewsT], None]) -> Callable[[], None]:
    listeners.append(callback)

    def leave() -> None:
        if callback in listeners:
            listeners.remove(callback)

    return leave
