"""Who is there, who demonstrates, and who is told what. All of it lives in the event loop's thread.

    session ──► frame ──► Hub ──► Studio, Robot
    session ◄── news  ◄── Hub ◄── changes

One client at a time is the demonstrator, who may change things; all others see them, and may stop the robot.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from lfd_description.hints import did_you_mean
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene, WorldObject

from ..studio.ports import Robot
from ..studio.studio import Studio
from ..studio.values import (
    Change,
    Held,
    Notice,
    ObjectsChanged,
    RecordingChanged,
    Refusal,
    SettingsChanged,
    TasksChanged,
)
from . import frames, news
from .assets import Assets, RobotAsset
from .motions import Motions
from .news import Fields, News, ObjectsNews, SceneNews, ShownObject
from .outbox import Outbox, Text
from .pace import ClientClock, Pacer
from .pairing import Pairing
from .protocol import PROTOCOL
from .reach import ReachFeedback
from .session import Limits, Session
from .signs import Signs

PERIOD = 1.0 / 60.0  # [s] at which moved objects, joints and hands are told
LOOK_EVERY = 1.0  # [s] whether all devices are still paired
NOT_PAIRED = 'This device is not paired any more; pair it with the code on the console.'
MANY = 300  # objects, from which on their text is made beside the loop

_log = logging.getLogger(__name__)
Answer = Fields | None | Coroutine[Any, Any, Fields | None]

FOR_ALL = (
    frames.TakeControl, frames.Invite, frames.Assess, frames.Stop,
)  # fmt: skip
"""Requests that need not come from the demonstrator."""
NEVER_BUSY = (frames.Stop, frames.PauseMotion)
"""Requests that are worked on however many others are."""


@dataclass(frozen=True)
class Identity:
    """What this bridge is called."""

    name: str
    version: str


class Hub:
    """All clients of one studio and one robot."""

    def __init__(
        self, studio: Studio, robot: Robot | None, assets: Assets, pairing: Pairing, limits: Limits, identity: Identity
    ) -> None:
        self._studio = studio
        self._robot = robot
        self._assets = assets
        self._pairing = pairing
        self._limits = limits
        self._identity = identity
        self._sessions: dict[str, Session] = {}
        self._numbers = count(1)
        self._demonstrator: str | None = None
        self._asking: list[str] = []
        self._signs = Signs(asyncio.get_running_loop().time)
        self.motions = Motions(studio, robot, assets, self.tell)
        self._plan: str | None = None
        """The newest plan's text, for who comes later."""
        self._moved: dict[str, Pose] = {}
        self._moves = Pacer(PERIOD, self._tell_moves)
        self._hands: frames.HandsMoved | None = None
        self._hands_clock = ClientClock()
        self._move_numbers: dict[str, int] = {}  # of the last move of an object since it was grabbed
        self._hands_pace = Pacer(PERIOD, self._tell_hands)
        self._joints: Mapping[str, float] = {}
        self._joints_pace = Pacer(PERIOD, self._tell_joints)
        self._scene_text: tuple[int, asyncio.Future[str]] | None = None
        self._handlers = self._table()
        self._reach = None if robot is None else ReachFeedback(studio, robot, self._tell_reach)
        self._jobs: set[asyncio.Task[None]] = set()
        self._early_notices = studio.early_notices
        self._leave = studio.listen(self._on_change)
        self._spawn(self._follow_tokens(), self._jobs)
        if self._reach is not None:
            self._spawn(self._reach.serve(), self._jobs)

    async def close(self) -> None:
        """Tell all clients that it is over, and stop what goes on."""
        self._leave()
        for pace in (self._moves, self._hands_pace, self._joints_pace):
            pace.close()
        for session in tuple(self._sessions.values()):
            session.end('ending', 'The bridge is ending; this page connects again when it is back.')
        await self.motions.close()
        for job in tuple(self._jobs):
            job.cancel()
        await asyncio.gather(*self._jobs, return_exceptions=True)

    @property
    def is_full(self) -> bool:
        """Whether there are as many clients as there may be."""
        return len(self._sessions) >= self._limits.clients

    # Coming and going -------------------------------------------------------------------------------------------------

    def admit(self, hello: frames.Hello, address: str) -> str:
        """The token of who may come in, from an IP address.

        Raises:
            Refusal: this one may not.
        """
        if hello.protocol != PROTOCOL:
            raise Refusal(
                'wrong_protocol', f'This bridge speaks protocol {PROTOCOL}, the page {hello.protocol}; reload it.'
            )
        if self.is_full:
            raise Refusal('full', f'{self._limits.clients} devices are connected; disconnect one first.')
        if hello.code is not None:
            return self._pairing.pair(hello.code, address)
        if hello.token is None or not self._pairing.knows(hello.token):
            raise Refusal('unknown_token', NOT_PAIRED)
        return hello.token

    def new_outbox(self) -> Outbox:
        """What a new client's frames wait in."""
        return Outbox(self._limits.queue, self.encode)

    def new_client(self) -> str:
        """A client's short name, of which there was none before."""
        return f'c{next(self._numbers)}'

    def join(self, session: Session) -> None:
        """A client is there: it is told everything."""
        self._sessions[session.client] = session
        self._take_the_place(session)
        robots = () if self._robot is None else self._robot.robots
        identity = self._identity
        welcome = news.Welcome(
            session.client, session.token, identity.name, identity.version, robots, self._studio.settings
        )
        session.put(self.encode(welcome))
        self._tell_roster()
        if self.motions.present is not None:
            session.put(self.encode(_shown_robot(self.motions.present)))
        session.put(self._whole_scene())
        session.put(self.encode(self._studio.recording))
        session.put(self.encode(news.Tasks(self._studio.tasks)))
        if self._plan is not None:
            session.put(self._plan)
        early, self._early_notices = self._early_notices, ()
        for notice in early:
            session.put(self.encode(notice))
        if self._joints:
            self._joints_pace.ask()

    def _take_the_place(self, session: Session) -> None:
        """A page that came back has the place that it had, if nobody has noticed yet that it was gone."""
        for old in tuple(self._sessions.values()):
            is_the_same = old.page is not None and (old.page, old.token) == (session.page, session.token)
            if old is session or not is_the_same:
                continue
            del self._sessions[old.client]
            self._asking = [session.client if client == old.client else client for client in self._asking]
            if self._demonstrator == old.client:
                self._demonstrate(session.client)
            old.end('replaced', 'This page is connected anew.')

    def leave(self, session: Session) -> None:
        """A client is gone: what it held goes back, and control to the first who asked."""
        if self._sessions.pop(session.client, None) is None:
            return  # another has taken its place
        if session.client in self._asking:
            self._asking.remove(session.client)
        if self._demonstrator == session.client:
            self._hand_over(None)
        else:
            self._tell_roster()

    async def _follow_tokens(self) -> None:
        """End, for ever, the connections of devices that are not paired any more."""
        while True:
            await asyncio.sleep(LOOK_EVERY)
            for session in tuple(self._sessions.values()):
                if not self._pairing.knows(session.token):
                    session.end('unknown_token', NOT_PAIRED)

    # Frames in --------------------------------------------------------------------------------------------------------

    def handle(self, session: Session, frame: frames.Frame) -> asyncio.Task[None] | None:
        """Do what a client asks for, and answer; gives what has to be done before its next frame, if anything."""
        if session.client not in self._sessions:
            return None  # another has taken its place
        if session.client == self._demonstrator and isinstance(frame, frames.Request | frames.Move):
            self._signs.seen()
        match frame:
            case frames.Ping(t):
                session.outbox.offer('pong', self.encode(news.Pong(t, time.time())))
            case frames.Move():
                self._on_move(session, frame)
            case frames.HandsMoved():
                self._on_hands(session, frame)
            case frames.Release():
                return self._spawn(self._answer_later(session, frame.id, self._release(session, frame)), self._jobs)
            case frames.Request():
                self._on_request(session, frame)
            case frames.Hello():
                session.put(self.encode(news.Refused('paired', 'This device is paired; say hello only once.')))
        return None

    def _on_request(self, session: Session, frame: frames.Request) -> None:
        try:
            if not isinstance(frame, FOR_ALL):
                self._demonstrators_only(session)
            answer = self._handlers[type(frame)](session, frame)
        except Refusal as refusal:
            session.put(self.encode(news.Refused(refusal.code, str(refusal), frame.id)))
            return
        if not isinstance(answer, Coroutine):
            session.put(self.encode(news.Done(frame.id, answer or {})))
        elif len(session.jobs) >= self._limits.tasks and not isinstance(frame, NEVER_BUSY):
            answer.close()
            session.put(self.encode(news.Refused('busy', 'Wait for the answers to what you asked before.', frame.id)))
        else:
            self._spawn(self._answer_later(session, frame.id, answer), session.jobs)

    async def _answer_later(self, session: Session, id: int, answer: Coroutine[Any, Any, Fields | None]) -> None:
        try:
            fields = await answer
        except Refusal as refusal:
            session.put(self.encode(news.Refused(refusal.code, str(refusal), id)))
            return
        session.put(self.encode(news.Done(id, fields or {})))

    def _on_move(self, session: Session, frame: frames.Move) -> None:
        if frame.seq <= self._move_numbers.get(frame.object, -1):
            return  # a newer one came before
        try:
            self._demonstrators_only(session)
            self._studio.move(session.client, frame.object, frame.pose, frame.hand_pose)
        except Refusal:
            return  # it was let go of, or taken away, while the frame was on its way; that was told
        self._move_numbers[frame.object] = frame.seq
        self._look(frame.object, frame.pose)

    def _on_hands(self, session: Session, frame: frames.HandsMoved) -> None:
        if session.client != self._demonstrator or (self._hands is not None and frame.seq <= self._hands.seq):
            return
        self._signs.hands(frame.hands)
        sent = self._hands_clock.here(frame.t, time.monotonic())
        self._studio.hands(session.client, frame.hands, time.monotonic() - sent)
        self._hands = frame
        self._hands_pace.ask()

    def _demonstrators_only(self, session: Session) -> None:
        if session.client == self._demonstrator:
            return
        holder = self._sessions.get(self._demonstrator or '')
        who = 'nobody does' if holder is None else f'{holder.name} does'
        raise Refusal('not_demonstrator', f'Only the demonstrator may do this, and {who}; take control first.')

    def _table(self) -> Mapping[type, Callable[[Session, Any], Answer]]:
        studio = self._studio
        return {
            frames.TakeControl: self._take_control,
            frames.GiveControl: self._give_control,
            frames.Invite: self._invite,
            frames.Grab: self._grab,
            frames.ChangeSettings: self._settings,
            frames.AddObject: self._add_object,
            frames.PlaceObject: lambda session, frame: studio.place_object(frame.object, frame.pose),
            frames.RemoveObject: lambda session, frame: studio.remove_object(frame.object),
            frames.StartRecording: lambda session, frame: {'name': studio.start_recording(frame.name or '')},
            frames.CompleteRecording: lambda session, frame: _nothing(studio.complete_recording()),
            frames.DiscardRecording: lambda session, frame: studio.discard_recording(),
            frames.Undo: lambda session, frame: studio.undo(),
            frames.Trim: lambda session, frame: studio.trim(frame.first, frame.last),
            frames.Save: lambda session, frame: dict(studio.save(frame.name or '')._asdict()),
            frames.OpenTask: lambda session, frame: _nothing(studio.open_task(frame.name, frame.version)),
            frames.DeleteTask: lambda session, frame: studio.delete_task(frame.name),
            frames.RestoreTask: lambda session, frame: studio.restore_task(frame.name),
            frames.RenameTask: lambda session, frame: studio.rename_task(frame.name, frame.to),
            frames.ResetScene: lambda session, frame: studio.reset_scene(),
            frames.Assess: lambda session, frame: self._assess(),
            frames.PlanTask: lambda session, frame: self.motions.plan(frame.robot),
            frames.RunPlan: lambda session, frame: self.motions.run(frame.speed, frame.first_keyframe),
            frames.Stop: lambda session, frame: _later(self.motions.stop()),
            frames.PauseMotion: lambda session, frame: _later(self.motions.robot.pause()),
            frames.ResumeMotion: lambda session, frame: _later(self.motions.robot.resume()),
        }

    # Control ----------------------------------------------------------------------------------------------------------

    def _take_control(self, session: Session, _: frames.TakeControl) -> Answer:
        before = self._sessions.get(self._demonstrator or '')
        if self._demonstrator is None:
            self._hand_over(session.client)
        elif before is not None and before is not session and self._is_idle(before):
            self._hand_over(session.client)
            text = f'{session.name} has taken control, because you did nothing for {self._limits.idle:g} s.'
            before.put(self.encode(Notice('info', text)))
        elif session.client != self._demonstrator and session.client not in self._asking:
            self._asking.append(session.client)
            self._tell_roster()
        return {'demonstrator': self._demonstrator}

    def _is_idle(self, session: Session) -> bool:
        """Whether a demonstrator seems to be somewhere else."""
        holds = any(held.by == session.client for held in self._studio.twin.held.values())
        return not holds and self._signs.silence >= self._limits.idle

    def _invite(self, session: Session, _: frames.Invite) -> Answer:
        if self._demonstrator is not None:
            self._demonstrators_only(session)
        return {'code': self._pairing.invite()}

    def _give_control(self, session: Session, frame: frames.GiveControl) -> Answer:
        if frame.client is not None and frame.client not in self._sessions:
            hint = did_you_mean(frame.client, self._sessions)
            raise Refusal('no_client', f"There is no client '{frame.client}'{hint}; choose one of the roster.")
        self._hand_over(frame.client)
        return {'demonstrator': self._demonstrator}

    def _hand_over(self, client: str | None) -> None:
        """Control goes to a client, or else to the first who asked; what the one before held goes back."""
        if client is None and self._asking:
            client = self._asking[0]
        if client in self._asking:
            self._asking.remove(client)
        self._demonstrate(client)
        self._tell_roster()

    def _demonstrate(self, client: str | None) -> None:
        """A client is the demonstrator from now on, or nobody is."""
        before, self._demonstrator = self._demonstrator, client
        self._signs.seen()
        if before is not None and before != client:
            self._hands, self._hands_clock = None, ClientClock()
            self._studio.lose(before)

    # Studio -----------------------------------------------------------------------------------------------------------

    def _grab(self, session: Session, frame: frames.Grab) -> Answer:
        self._studio.grab(session.client, frame.hand, frame.object, frame.pose, frame.hand_pose)
        self._move_numbers.pop(frame.object, None)
        self._look(frame.object, frame.pose)
        return None

    async def _release(self, session: Session, frame: frames.Release) -> Fields:
        """Let go; where to is found beside the loop, and the client's next frame waits for it."""
        self._demonstrators_only(session)
        self._studio.twin.holder(frame.object, session.client)
        landing_of = self._studio.landing_of(frame.object, frame.pose)
        landing = await asyncio.get_running_loop().run_in_executor(None, landing_of)
        released = self._studio.release(session.client, frame.object, frame.pose, frame.hand_pose, landing)
        if self._reach is not None:
            self._reach.forget(frame.object)
        return news.released(released)

    def _look(self, object: str, pose: Pose) -> None:
        if self._reach is not None:
            self._reach.look(object, pose)

    def _settings(self, _: Session, frame: frames.ChangeSettings) -> Answer:
        self._studio.adjust(snap=frame.snap, gravity=frame.gravity, keep_paths=frame.keep_paths)
        return None

    def _add_object(self, _: Session, frame: frames.AddObject) -> Answer:
        return {'name': self._studio.add_object(WorldObject(frame.name or '', frame.body, frame.pose), frame.colour)}

    async def _assess(self) -> Fields:
        robot, recording = self.motions.robot, self._studio.recording
        found = await robot.assess(self._studio.task(), recording.origin, self._studio.start_scene)
        return news.quality(found)

    # News out ---------------------------------------------------------------------------------------------------------

    def encode(self, what: News) -> str:
        """The text of a frame."""
        return news.encode(what, self._assets.mesh_url)

    def tell(self, what: News) -> None:
        """Tell all clients something that must arrive."""
        text = self.encode(what)
        if isinstance(what, news.PlanNews | news.PlanDropped):
            self._plan = text if isinstance(what, news.PlanNews) else None
        self._put(text)

    def publish_robot(self, robot: RobotAsset) -> None:
        """Show the robot that is there now."""
        self.motions.present = robot
        self.tell(_shown_robot(robot))

    def publish_joints(self, positions: Mapping[str, float]) -> None:
        """The robot's joints are there, by name [rad or m]."""
        finite = {joint: position for joint, position in positions.items() if math.isfinite(position)}
        self._joints = {**self._joints, **finite}
        self._joints_pace.ask()

    def _put(self, text: Text) -> None:
        for session in self._sessions.values():
            session.put(text)

    def _on_change(self, change: Change) -> None:
        match change:
            case ObjectsChanged():
                self._on_objects(change)
            case RecordingChanged(recording):
                self.tell(recording)
                self.motions.task_changed()
            case TasksChanged(tasks):
                self.tell(news.Tasks(tasks))
            case SettingsChanged(settings):
                self.tell(settings)
            case Notice():
                self.tell(change)

    def _on_objects(self, change: ObjectsChanged) -> None:
        if not (change.changed or change.removed or change.held):
            self._moved.update(change.moved)
            self._moves.ask()
            return
        changed = [self._shown(thing) for thing in change.changed]
        what = ObjectsNews(change.revision, changed, change.moved, change.removed, change.held)
        told = {*change.moved, *change.removed, *(thing.id for thing in change.changed)}
        for name in told & self._moved.keys():
            del self._moved[name]
        for session in self._sessions.values():
            session.outbox.forget_moves(told)
        if len(changed) + len(change.moved) < MANY:
            self._put(self.encode(what))
        elif self._sessions:
            self._put(self._made_beside(lambda: self.encode(what)))

    def _tell_moves(self) -> None:
        moved, self._moved = self._moved, {}
        for session in self._sessions.values():
            session.outbox.move(moved, self._studio.twin.revision)

    def _tell_hands(self) -> None:
        if self._hands is None or self._demonstrator is None:
            return
        text = self.encode(news.HandsNews(self._demonstrator, self._hands.hands))
        for session in self._sessions.values():
            if session.client != self._demonstrator:
                session.outbox.offer('hands', text)

    def _tell_joints(self) -> None:
        robot = self.motions.present
        if robot is None or not self._sessions:
            return
        positions = tuple(self._joints.get(joint, 0.0) for joint in robot.joints)
        text = self.encode(news.Joints(time.time(), positions))
        for session in self._sessions.values():
            session.outbox.offer('joints', text)

    def _tell_reach(self, reach: news.Reach) -> None:
        text = self.encode(reach)
        for session in self._sessions.values():
            session.outbox.offer(f'reach {reach.object}', text)

    def _tell_roster(self) -> None:
        clients = {client: session.name for client, session in self._sessions.items()}
        self.tell(news.Roster(clients, self._demonstrator, tuple(self._asking)))

    def _shown(self, thing: WorldObject) -> ShownObject:
        twin = self._studio.twin
        return ShownObject(thing, twin.colour(thing.id), twin.owner(thing.id), twin.held.get(thing.id))

    def _whole_scene(self) -> asyncio.Future[str]:
        """The text of the whole scene, made beside the loop, once for all who come at the same time."""
        twin = self._studio.twin
        if self._scene_text is None or self._scene_text[0] != twin.revision:
            world, held, revision = twin.world, dict(twin.held), twin.revision
            made = self._made_beside(lambda: self._scene(world, held, revision))
            self._scene_text = revision, made
        return self._scene_text[1]

    def _scene(self, world: PlanningScene, held: Mapping[str, Held], revision: int) -> str:
        twin = self._studio.twin
        shown = [
            ShownObject(thing, twin.colour(name), twin.owner(name), held.get(name))
            for name, thing in world.objects.items()
        ]
        return self.encode(SceneNews(revision, world.frame, shown))

    def _made_beside(self, make: Callable[[], str]) -> asyncio.Future[str]:
        return asyncio.get_running_loop().run_in_executor(None, make)

    def _spawn(self, job: Coroutine[Any, Any, None], jobs: set[asyncio.Task[None]]) -> asyncio.Task[None]:
        """Run something beside; what goes wrong there is logged and told."""
        task = asyncio.create_task(job)
        jobs.add(task)
        task.add_done_callback(jobs.discard)
        task.add_done_callback(self._over)
        return task

    def _over(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or task.exception() is None:
            return
        _log.error('A request failed in a way that it never should.', exc_info=task.exception())
        self.tell(Notice('error', 'The bridge could not do this; its log says why.'))


def _shown_robot(robot: RobotAsset) -> news.ShownRobot:
    return news.ShownRobot(robot.name, robot.url, robot.base, robot.joints, robot.tip)


def _nothing(_: object) -> None:
    """An answer without fields."""


async def _later(job: Coroutine[Any, Any, None]) -> Fields | None:
    await job
    return None
