"""One planning server's mirror of the twin: what it has, what it should have, and the next request to make.

A mirror is a state machine. The twin and the server give it events (`follow`, `reached`, `lost`, `observe`, and the
answers `looked`, `applied`, `failed`), each with the time it happened; `request` then tells what to ask the server now.
There is one request under way at a time, so that answers cannot overtake each other, and none before the first word of
the twin: what a server has from an earlier life of scene sync is not removed because the twin has not spoken yet.

- Known is only what the server has acknowledged. A request that failed, or that nobody answered, leaves its objects in
  doubt, and a look settles that before anything is sent again.
- A server that refuses a request of many changes gets half as many, until the object it refuses is found. That one is
  told to people and tried again less and less often; the others go on.
- What a robot holds is left alone. Once it is put down it stays there until the twin has something new to say of it,
  also if the server is restarted. What was held when the server went is sent as the twin has it, but nobody knows where
  it is: the mirror does not count as up to date until the twin tells, or it is held again.
- What a server publishes may be an echo of what it was sent, or somebody else's doing. Where that cannot be told apart
  the object is unsure: a look with shapes and poses has to settle it before the mirror counts as up to date.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import StrEnum

from lfd_planner.scene import Added, Body, Moved, PlanningScene, Pose, Removed, WorldObject, difference
from lfd_planner.scene.diffs import ObjectChange

from .echoes import KEPT, Echoes
from .requests import Apply, Look, Request, Seen, SeenObject, Synchronised
from .sameness import near, same_body
from .target import Target, Wanted

MOST_AT_ONCE = 1000
"""Objects in one request; more are sent in several."""
_UNKNOWN = Body(())
"""Of an object that the server has with some body: different from every other."""
_NOWHERE = Pose((math.nan, math.nan, math.nan))
"""The pose of an object that the server has somewhere: different from every other."""


@dataclass(frozen=True)
class Timing:
    """When requests are made; all but the first in seconds."""

    rate: float = 30.0
    """Changes are sent at most so often [Hz]; what happens between is sent at once, as it is then."""
    timeout: float = 5.0
    """An answer is waited for so long; twice as long after each request in vain, up to a minute."""
    check: float = 2.0
    """A server is looked at so often without need; 0: never."""
    first_retry: float = 0.1
    last_retry: float = 5.0

    def retry(self, attempts: int) -> float:
        """How long to wait after so many attempts in vain."""
        return min(self.last_retry, self.first_retry * 2.0 ** min(attempts - 1, 30))

    def patience(self, attempts: int) -> float:
        """How long to wait for an answer after so many attempts in vain."""
        return min(max(60.0, self.timeout), self.timeout * 2.0 ** min(attempts, 30))


class State(StrEnum):
    """How a mirror stands."""

    ABSENT = 'absent'
    """The server is not there."""
    BEHIND = 'behind'
    """Something is still to be sent or to be found out."""
    MIRRORED = 'mirrored'
    """The server has acknowledged all that it should have."""


@dataclass
class _Refusal:
    """An object that the server refuses."""

    reason: str
    wanted: WorldObject | None
    attempts: int = 1
    until: float = 0.0
    """Not tried before this time [s]."""


@dataclass(frozen=True)
class _Held:
    """An object that a robot holds."""

    link: str
    body: Body | None
    """As the server has it; None: not known."""
    told: WorldObject | None
    """What the twin had said of it when it was taken; None: something that the server had not heard yet."""
    number: int = 0
    """Of the last request that was made before this was observed; an answer to it may be older."""


@dataclass(frozen=True)
class _Resting:
    """An object that a robot has put down."""

    told: WorldObject
    """What the twin had said of it when it was taken."""
    pose: Pose | None = None
    """Where it was, for a server that has lost it; None: not known."""


@dataclass(frozen=True)
class _Unsure:
    """An object of which something was published that may be an echo or not."""

    number: int
    """Of the last request that was made before; an answer to it may be older."""
    at: float
    """[s]"""


@dataclass
class _Doubt:
    """What a look has to settle."""

    look: bool = True
    geometry: bool = False
    changes: dict[str, tuple[ObjectChange, Apply]] = field(default_factory=dict)
    """By id, what was sent and perhaps done."""


class Mirror:
    """Keeps one planning server's copy of the twin's objects."""

    def __init__(self, target: Target, timing: Timing | None = None) -> None:
        self.target = target
        self.timing = timing or Timing()
        self._wanted = Wanted(target)
        self._known = PlanningScene(target.frame)
        self._present = False
        self._is_told = False  # of the twin; an empty one would be something else
        self._is_surveyed = False  # whether all is known that the server had when it was reached
        self._doubt = _Doubt()
        self._underway: Request | None = None
        self._sent_at = 0.0
        self._not_before = 0.0
        self._next_check = math.inf
        self._number = 0
        self._looked = 0  # the number of the last look that was answered
        self._attempts = 0  # in vain, one after the other
        self._at_once = MOST_AT_ONCE
        self._since: dict[str, float] = {}  # when an object first changed since it was sent
        self._thorough = False  # whether what is unsure is looked at now, and not only when echoes are over
        self._reason = ''
        self._held: dict[str, _Held] = {}
        self._resting: dict[str, _Resting] = {}
        self._astray: dict[str, _Held] = {}  # held when the server went
        self._unsure: dict[str, _Unsure] = {}
        self._blind: set[str] = set()  # whose poses the server tells in a frame that cannot be compared
        self._refusals: dict[str, _Refusal] = {}
        self._echoes = Echoes()

    # What people and nodes ask ----------------------------------------------------------------------------------------

    @property
    def wanted(self) -> PlanningScene:
        """What the server should have, robot's hands aside."""
        return self._wanted.scene

    @property
    def known(self) -> PlanningScene:
        """What the server has acknowledged of the twin's objects."""
        return self._known

    @property
    def held(self) -> dict[str, str]:
        """The twin's objects that a robot holds, with the links that do; they are left alone."""
        return {id: held.link for id, held in self._held.items()}

    @property
    def resting(self) -> tuple[str, ...]:
        """The objects that a robot has put down, and of which the twin has told nothing new since."""
        return tuple(id for id in self._resting if self._rests(id))

    @property
    def astray(self) -> tuple[str, ...]:
        """The objects that a robot held when the server went, and of which the twin has told nothing new since."""
        wanted = self._wanted.scene.objects
        return tuple(id for id, held in self._astray.items() if held.told and wanted.get(id) is held.told)

    @property
    def unsure(self) -> tuple[str, ...]:
        """The objects that have to be looked at before it is known what the server has of them."""
        return tuple(self._unsure)

    @property
    def refused(self) -> dict[str, str]:
        """The objects that the server refuses, with the reason."""
        return {id: refusal.reason for id, refusal in self._refusals.items()}

    @property
    def reason(self) -> str:
        """Why the last request was in vain; empty if it was not."""
        return self._reason

    def shown(self, now: float) -> frozenset[str]:
        """The objects whose geometry was sent not long before `now` [s]: the server may still publish that."""
        return self._echoes.shown(now)

    @property
    def underway(self) -> Request | None:
        """The request that is not answered yet."""
        return self._underway

    @property
    def state(self) -> State:
        """How the mirror stands, as far as is known; a look that is made as a matter of routine changes nothing."""
        if not self._present:
            return State.ABSENT
        certain = self._is_surveyed and not isinstance(self._underway, Apply) and not self._doubt.changes
        if not certain or self._unsure or self.astray or self._refusals:
            return State.BEHIND
        if self._changes(math.inf) or self._repainted():
            return State.BEHIND
        return State.MIRRORED

    # Events -----------------------------------------------------------------------------------------------------------

    def follow(self, twin: PlanningScene, now: float) -> None:
        """The twin has changed, at the time `now` [s]."""
        self._is_told = True
        changed = self._wanted.follow(twin)
        for id in changed:
            self._refusals.pop(id, None)
            if self._underway is None and self._known.objects.get(id) == self._wanted.scene.objects.get(id):
                self._since.pop(id, None)  # there and back
            else:
                self._since.setdefault(id, now)

    def reached(self, now: float) -> None:
        """The server is there, or is another one than before: nothing is known of it."""
        self._forget()
        self._present = True
        self._not_before = now

    def lost(self) -> None:
        """The server is gone, and an answer with it."""
        self._forget()
        self._present = False

    def check(self) -> int:
        """Have the server looked at even if there is no need; returns what `checked` and `settled` ask for."""
        self._doubt.look = self._thorough = True
        self._doubt.geometry = self._doubt.geometry or bool(self._blind)
        return self._number

    def unread(self, now: float) -> None:
        """The server has published something that was not read; anything may have changed."""
        self._doubt.look = True
        for id in self._known.objects:
            self._doubts(id, now)
        for id in self._sending():
            self._doubts(id, now)

    def follows(self, id: str) -> bool:
        """Whether it matters what the server publishes of an object's shape and pose."""
        return id in self._known.objects or id in self._sending()

    def checked(self, number: int) -> bool:
        """Whether a look that was made after `check` has been answered, and the server has all it should have."""
        return self._looked > number and self._is_idle() and self.state is State.MIRRORED

    def settled(self, number: int) -> bool:
        """Whether a look that was made after `check` has been answered, and the rest is what the server refuses."""
        done = not self._unsure and not self._changes(-math.inf) and not self._repainted()
        return self._looked > number and self._is_idle() and done

    def observe(self, objects: dict[str, SeenObject | None], now: float) -> None:
        """The server has published that it changed objects; None for one that is gone.

        Only what someone else did matters here; what the server publishes of our own requests is known again.
        """
        for id, seen in objects.items():
            if seen is not None and seen.link:
                self._observe_attached(id, seen.link)
            elif seen is None or id in self._held:
                self._doubt.look = self._doubt.look or id in self._held or self.follows(id)
            elif self.follows(id):
                self._observe(id, seen, now)

    def request(self, now: float) -> Request | None:
        """What to ask the server now; None if nothing, or if an answer is still waited for."""
        if self._underway is not None:
            if now - self._sent_at < self.timing.patience(self._attempts):
                return None
            self.failed(self._underway.number, now, f'no answer in {now - self._sent_at:.3g} s', answered=False)
        if not (self._present and self._is_told) or now < self._not_before:
            return None
        if now >= self._next_check:
            self._doubt.look = True
        unsure = self._is_unsure(now)
        if self._doubt.look or unsure:
            geometry, self._doubt.look, self._doubt.geometry = self._doubt.geometry or unsure, False, False
            return self._send(Look(self._next_number(), geometry), now)
        changes = self._changes(now)
        if not changes and not self._repainted():
            self._share()
            self._since = {id: since for id, since in self._since.items() if id in self._refusals}
            self._thorough = False
            return None
        return self._send(self._apply(changes, now), now)

    def looked(self, number: int, seen: Seen, now: float) -> None:
        """The server has answered a look."""
        look = self._answered(number)
        if not isinstance(look, Look):
            return
        self._looked = number
        self._next_check = now + self.timing.check if self.timing.check > 0.0 else math.inf
        doubt, self._doubt = self._doubt, _Doubt(self._doubt.look, self._doubt.geometry)
        if not doubt.changes:
            self._succeeded()
        self._find(seen)
        self._hold(doubt, seen, look)
        self._settle(doubt, seen)
        if look.geometry:
            self._unsure = {id: unsure for id, unsure in self._unsure.items() if unsure.number >= look.number}
            self._adopt(seen)
        self._forgive()
        strangers = [id for id in self._ours(seen) if id not in self._known.objects and id not in self._held]
        self._is_surveyed = look.geometry or not strangers
        if not self._is_surveyed:
            self._doubt.look = self._doubt.geometry = True

    def applied(self, number: int, now: float) -> Synchronised | None:
        """The server has acknowledged a request; returns what that did."""
        request = self._answered(number)
        if not isinstance(request, Apply):
            return None
        self._succeeded()
        self._at_once = min(MOST_AT_ONCE, 2 * self._at_once)
        edits = [(change.id, request.new.objects.get(change.id)) for change in request.changes]
        edits = [(id, thing) for id, thing in edits if id not in self._held]
        if self._known is request.old:  # nobody interfered: what is known and what is wanted go on sharing their parts
            self._known = request.new
        else:
            self._known = replace(self._known, objects=self._known.objects.edit(edits), colours=request.new.colours)
        for id, _ in edits:
            self._refusals.pop(id, None)
        counts = [sum(isinstance(change, kind) for change in request.changes) for kind in (Added, Moved, Removed)]
        return Synchronised(counts[0], counts[1], counts[2], max(0.0, now - request.since))

    def failed(self, number: int, now: float, reason: str, answered: bool = True) -> None:
        """A request was in vain: refused (`answered`), or nobody answered; either way it may be done in part."""
        request = self._answered(number)
        if request is None:
            return
        self._reason = reason
        self._attempts += 1
        self._doubt.look = True
        self._not_before = now + self.timing.retry(self._attempts)
        if not isinstance(request, Apply):
            self._doubt.geometry = self._doubt.geometry or request.geometry
            return
        for change in request.changes:
            self._since[change.id] = min(request.since, self._since.get(change.id, request.since))
        self._doubt.changes.update({change.id: (change, request) for change in request.changes})
        if len(request.changes) > 1:
            self._at_once = max(1, min(self._at_once, len(request.changes)) // 2)
        if answered and request.changes:
            self._attempts = 0  # it is there; what it refuses is looked for without delay
            self._not_before = now + self.timing.first_retry
            if len(request.changes) == 1:
                self._refuse(request.changes[0].id, reason, now)

    # How --------------------------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        """Forget what the server has; what robots did to objects is not only its affair."""
        self._remember_resting()
        for id, held in self._held.items():
            self._astray.setdefault(id, held)
        self._known = PlanningScene(self.target.frame)
        self._is_surveyed = False
        self._doubt = _Doubt()
        self._underway = None
        self._attempts = 0
        self._at_once = MOST_AT_ONCE
        self._refusals.clear()
        self._held.clear()
        self._unsure.clear()
        self._blind.clear()
        self._echoes.clear()

    def _sending(self) -> frozenset[str]:
        """The objects that are in the request under way."""
        request = self._underway
        return frozenset(change.id for change in request.changes) if isinstance(request, Apply) else frozenset()

    def _doubts(self, id: str, now: float) -> None:
        self._unsure[id] = _Unsure(self._number, now)

    def _is_unsure(self, now: float) -> bool:
        """Whether it is time for a look at what is unsure: echoes go on while objects move."""
        return any(self._thorough or now - unsure.at > KEPT for unsure in self._unsure.values())

    def _is_idle(self) -> bool:
        return self._underway is None and not self._doubt.look

    def _share(self) -> None:
        """Let what is known and what is wanted share their parts again if they are equal: they are compared faster."""
        goal = self._goal()
        if not self._refusals and self._known.objects is not goal.objects:
            self._known = replace(self._known, objects=goal.objects)

    def _next_number(self) -> int:
        self._number += 1
        return self._number

    def _send(self, request: Request, now: float) -> Request:
        self._underway = request
        self._sent_at = now
        return request

    def _answered(self, number: int) -> Request | None:
        """The request under way, if it has this number; an answer to any other comes too late."""
        request = self._underway
        if request is None or request.number != number:
            return None
        self._underway = None
        return request

    def _succeeded(self) -> None:
        self._attempts = 0
        self._reason = ''

    def _refuse(self, id: str, reason: str, now: float) -> None:
        wanted = self._wanted.scene.objects.get(id)
        before = self._refusals.get(id)
        attempts = before.attempts + 1 if before and before.wanted is wanted else 1
        self._refusals[id] = _Refusal(reason, wanted, attempts, now + self.timing.retry(attempts + 3))

    def _forgive(self) -> None:
        """Forget refusals of what the server turned out to have done, or need not do any more."""
        if self._refusals:
            open_ids = {change.id for change in self._changes(math.inf)}
            self._refusals = {id: refusal for id, refusal in self._refusals.items() if id in open_ids}

    def _goal(self) -> PlanningScene:
        """What the server should have now: what a robot holds is not in the world, what it put down stays."""
        wanted = self._wanted.scene
        edits: list[tuple[str, WorldObject | None]] = [(id, None) for id in self._held]
        edits += [(id, self._rest(id)) for id in self._resting if self._rests(id)]
        return replace(wanted, objects=wanted.objects.edit(edits)) if edits else wanted

    def _rests(self, id: str) -> bool:
        return id not in self._held and self._is_old_news(id) and self._rest(id) is not None

    def _rest(self, id: str) -> WorldObject | None:
        """An object that was put down, where it is or was."""
        known, resting = self._known.objects.get(id), self._resting[id]
        if known is not None or resting.pose is None:
            return known
        return replace(resting.told, pose=resting.pose)

    def _is_old_news(self, id: str) -> bool:
        return self._wanted.scene.objects.get(id) is self._resting[id].told

    def _remember_resting(self) -> None:
        """Keep where objects were put down, for a server that forgets it."""
        for id, resting in self._resting.items():
            known = self._known.objects.get(id)
            if known is not None and all(map(math.isfinite, known.pose.position)):
                self._resting[id] = replace(resting, pose=known.pose)

    def _changes(self, now: float) -> tuple[ObjectChange, ...]:
        """What is to be sent, but for objects whose time to be tried again has not come."""
        changes = difference(self._known, self._goal()).objects
        return tuple(change for change in changes if self._is_due(change.id, now))

    def _is_due(self, id: str, now: float) -> bool:
        return id not in self._refusals or now >= self._refusals[id].until

    def _repainted(self) -> tuple[str, ...]:
        """The objects that the server has and that are to get another colour."""
        known, wanted = self._known.colours, self._wanted.scene.colours
        changes = wanted.changes_from(known)
        return tuple(id for id, (_, colour) in changes.items() if colour is not None and id in self._known.objects)

    def _apply(self, changes: tuple[ObjectChange, ...], now: float) -> Apply:
        fresh, goal = [change for change in changes if change.id not in self._refusals], self._goal()
        some = tuple(fresh[: self._at_once]) or changes[:1]  # what was refused is tried alone, not to spoil the others
        whole = len(some) == len(difference(self._known, goal).objects)
        ids = {change.id for change in some}.union(self._repainted() if whole else ())
        since = min((self._since.pop(id) for id in ids if id in self._since), default=now)
        if whole:
            new, self._since = goal, {}
        else:
            objects = self._known.objects.edit((change.id, goal.objects.get(change.id)) for change in some)
            colours = self._known.colours.edit((change.id, goal.colours.get(change.id)) for change in some)
            new = replace(self._known, objects=objects, colours=colours)
        self._echoes.remember(some, now)
        self._not_before = now + 1.0 / self.timing.rate
        return Apply(self._next_number(), self._known, new, some, since)

    # What a look tells ------------------------------------------------------------------------------------------------

    def _ours(self, seen: Seen) -> list[str]:
        wanted = self._wanted.scene.objects
        return [id for id, thing in seen.objects.items() if id in wanted or self.target.mark in thing.tags]

    def _find(self, seen: Seen) -> None:
        """Take note of what became of objects that a robot held when the server went."""
        there = self.astray
        for id, held in list(self._astray.items()):
            if id in seen.attached or (id in seen.objects and held.link and not self._is_surveyed):
                self._held[id] = replace(held, number=0)  # it is the same server; held, or put down meanwhile
                del self._astray[id]
            elif id not in there:
                del self._astray[id]
            else:
                self._astray[id] = replace(held, link='')  # from now on it is there because we sent it

    def _hold(self, doubt: _Doubt, seen: Seen, look: Look) -> None:
        """Take note of what robots hold now, and of what they have put down."""
        for id, link in seen.attached.items():
            if id in self._held:
                self._held[id] = replace(self._held[id], link=link)
            elif id in self._known.objects or id in self._wanted.scene.objects:
                self._held[id] = self._taken(id, link, id in doubt.changes)
        for id in [id for id, held in self._held.items() if id not in seen.attached and held.number < look.number]:
            held = self._held.pop(id)
            if held.body is not None and id in seen.objects:
                self._know(WorldObject(id, held.body, _NOWHERE))
            if held.told is None or self._wanted.scene.objects.get(id) is not held.told:
                continue
            if id in seen.objects:
                self._resting[id] = _Resting(held.told)
                self._doubt.look = self._doubt.geometry = True  # where it is has to be known if the server forgets it
            else:
                self._astray[id] = replace(held, link='')

    def _taken(self, id: str, link: str, unsure: bool) -> _Held:
        known, wanted = self._known.objects.get(id), self._wanted.scene.objects.get(id)
        if known is None or unsure:
            return _Held(link, None, wanted)
        told = wanted if wanted is not None and same_body(known.body, wanted.body) else None
        is_told = told is not None and (near(known.pose, told.pose) or (id in self._resting and self._is_old_news(id)))
        return _Held(link, known.body, told if is_told else None)

    def _settle(self, doubt: _Doubt, seen: Seen) -> None:
        """Forget what the server does not have, and judge by the rest what became of requests that were in vain."""
        self._remember_resting()
        gone = [id for id in self._known.objects if id not in seen.objects]
        self._unknow(*gone)
        for id, (change, request) in doubt.changes.items():
            if id not in seen.objects:
                continue
            match change:
                case Added(thing) if id not in request.old.objects:
                    if self.target.mark in seen.objects[id].tags:  # or else it is somebody else's
                        self._know(thing)
                case Added():
                    self._know(WorldObject(id, _UNKNOWN, _NOWHERE))  # the old shape or the new one
                case Moved():
                    self._know(replace(request.new.objects[id], pose=_NOWHERE))
                case _:
                    self._know(request.old.objects[id])
        for id in [id for id in self._resting if not self._is_old_news(id)]:
            del self._resting[id]

    def _adopt(self, seen: Seen) -> None:
        """Take over what the server has of the twin's objects, by all that it has told of them."""
        wanted = self._wanted.scene
        for id in self._ours(seen):
            if id in self._held or id in self._unsure:  # there is newer word of it
                continue
            thing, found = wanted.objects.get(id), seen.objects[id]
            if found.pose is None:
                self._blind.add(id)
            body = found.body or _UNKNOWN
            pose = found.pose or _NOWHERE
            if thing is None or not same_body(body, thing.body):
                self._know(WorldObject(id, body, pose))
            elif id in self._resting:
                self._know(WorldObject(id, thing.body, pose))
            else:
                self._know(thing if near(pose, thing.pose) else WorldObject(id, thing.body, pose))
        ours = {id: colour for id, colour in seen.colours.items() if id in self._known.objects}
        self._known = replace(self._known, colours=self._known.colours.edit(ours.items()))

    def _know(self, thing: WorldObject) -> None:
        self._known = replace(self._known, objects=self._known.objects.set(thing.id, thing))

    def _unknow(self, *ids: str) -> None:
        edits = [(id, None) for id in ids]
        self._known = replace(
            self._known, objects=self._known.objects.edit(edits), colours=self._known.colours.edit(edits)
        )

    # What the server publishes ----------------------------------------------------------------------------------------

    def _observe_attached(self, id: str, link: str) -> None:
        """A robot has taken an object; it may have put it down again before a look could tell."""
        if id in self._held or (id not in self._known.objects and id not in self._wanted.scene.objects):
            return
        taken = self._taken(id, link, id in self._sending() or id in self._doubt.changes)
        self._held[id] = replace(taken, number=self._number)
        self._astray.pop(id, None)
        self._unknow(id)
        self._doubt.look = True

    def _observe(self, id: str, seen: SeenObject, now: float) -> None:
        """The server has told of an object's shape or pose, of our own doing or somebody else's."""
        known, sent = self._known.objects.get(id), self._sent(id)
        expected = known if sent is None else sent
        if seen.pose is None and seen.body is None:
            if not (sent and id in self._blind):  # what is blind is sent anew whenever it matters
                self._doubts(id, now)
            return
        same = seen.body is None or (expected is not None and same_body(seen.body, expected.body))
        if same and seen.pose is not None and expected is not None and near(expected.pose, seen.pose):
            return
        echo = same and seen.pose is not None and self._echoes.know(id, seen.pose, now)
        if known is None or self._underway is not None or echo or (same and seen.pose is None):
            self._doubts(id, now)
            return
        self._since.setdefault(id, now)
        self._know(replace(known, pose=seen.pose) if same and seen.pose else WorldObject(id, _UNKNOWN, _NOWHERE))

    def _sent(self, id: str) -> WorldObject | None:
        """An object as the request under way will make it; None if it is not in there."""
        request = self._underway
        return request.new.objects.get(id) if isinstance(request, Apply) and id in self._sending() else None
