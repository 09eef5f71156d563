"""What the server says, as values, and as the text that goes over the wire; docs/vr_protocol.md explains it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from lfd_description.shapes import Box, Capsule, Cone, Cylinder, MeshFile, Plane, Sphere
from lfd_planner.mtdf import Keyframe, Pick, Place, Trajectory, kind_of
from lfd_planner.pose import Pose
from lfd_planner.reachability import steps_from_one
from lfd_planner.scene import Part, TriangleMesh, WorldObject

from ..studio.values import (
    Hands,
    HandState,
    Held,
    Notice,
    PlannedSegment,
    PlanProgress,
    PlanResult,
    Quality,
    Recording,
    Released,
    RunProgress,
    RunResult,
    Settings,
    TaskEntry,
    Verdict,
)
from .frames import Colour
from .protocol import PROTOCOL

Fields = dict[str, object]
MeshUrl = Callable[[MeshFile | TriangleMesh], str]
"""Where a mesh of the scene can be had."""


@dataclass(frozen=True)
class ShownObject:
    """An object as a page sees it."""

    thing: WorldObject
    colour: Colour
    owner: str
    held: Held | None = None


@dataclass(frozen=True)
class Welcome:
    """A client is paired."""

    client: str
    token: str
    name: str
    version: str
    robots: tuple[str, ...]
    settings: Settings


@dataclass(frozen=True)
class Refused:
    """Something cannot be done; `id` is the request's, if there was one."""

    code: str
    message: str
    id: int | None = None


@dataclass(frozen=True)
class Done:
    """A request was done; `more` are further fields of the answer."""

    id: int
    more: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Pong:
    """The answer to a ping: its own time, and the server's [s]."""

    t: float
    now: float


@dataclass(frozen=True)
class Roster:
    """Who is there: names by client; who demonstrates, and who would like to."""

    clients: Mapping[str, str]
    demonstrator: str | None
    asking: tuple[str, ...]


@dataclass(frozen=True)
class ShownRobot:
    """The robot that is there."""

    name: str
    urdf: str
    """Its address."""
    base: str
    joints: tuple[str, ...]
    tip: str


@dataclass(frozen=True)
class SceneNews:
    """All objects."""

    revision: int
    frame: str
    objects: Sequence[ShownObject]


@dataclass(frozen=True)
class ObjectsNews:
    """What changed of the objects."""

    revision: int
    changed: Sequence[ShownObject] = ()
    moved: Mapping[str, Pose] = field(default_factory=dict)
    removed: tuple[str, ...] = ()
    held: Mapping[str, Held | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Joints:
    """Where the robot's joints are at a time; in the order of `ShownRobot.joints` [rad or m]."""

    t: float
    q: tuple[float, ...]


@dataclass(frozen=True)
class HandsNews:
    """Where the demonstrator's hands are."""

    client: str
    hands: Hands


@dataclass(frozen=True)
class Tasks:
    """What the library has."""

    tasks: tuple[TaskEntry, ...]


@dataclass(frozen=True)
class Reach:
    """Whether the robot can bring a held object to where it is, or would come to rest."""

    object: str
    verdict: Verdict
    landing: Pose | None = None


@dataclass(frozen=True)
class PlanNews:
    """A plan, or why there is none."""

    result: PlanResult
    urdf: str
    """The robot's address."""
    base: str
    hand_joints: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlanDropped:
    """The last plan does not hold any more, or why there was none."""


News = (
    Welcome | Refused | Done | Pong | Roster | ShownRobot | SceneNews | ObjectsNews | Joints | HandsNews | Recording
    | Tasks | Settings | Reach | PlanProgress | PlanNews | PlanDropped
    | RunProgress | RunResult | Notice
)  # fmt: skip


def encode(news: News, url: MeshUrl) -> str:
    """The text of a frame; `url` says where meshes can be had."""
    kind, write = _WRITERS[type(news)]
    return _text({'type': kind, **write(news, url)})


_ENCODER = json.JSONEncoder(separators=(',', ':'), allow_nan=False)


def _text(fields: Fields) -> str:
    """Lists are written entry by entry: one call for all of a big scene would keep other threads waiting to its end."""
    return '{' + ','.join(f'"{key}":{_value(value)}' for key, value in fields.items()) + '}'


def _value(value: object) -> str:
    return '[' + ','.join(map(_ENCODER.encode, value)) + ']' if isinstance(value, list) else _ENCODER.encode(value)


def released(value: Released) -> Fields:
    """The answer to a release."""
    return {'pose': numbers(value.pose), 'kept': value.kept, 'reason': value.reason}


def quality(value: Quality) -> Fields:
    """The answer to `assess`."""
    return {'quality': {**asdict(value), 'reasons': [steps_from_one(reason) for reason in value.reasons]}}


def numbers(pose: Pose) -> list[float]:
    """A pose as it goes over the wire: x, y, z [m], qx, qy, qz, qw."""
    return [*pose.position, *pose.orientation]


def keyframe_fields(index: int, keyframe: Keyframe, origin: Pose) -> Fields:
    """A keyframe; `origin` is that of its poses in the scene's frame, which is that of the wire."""
    poses = keyframe.poses if isinstance(keyframe, Trajectory) else ()
    pose = keyframe.pose if isinstance(keyframe, Place) else poses[-1] if poses else None
    hint = keyframe.grasp if isinstance(keyframe, Pick) else None
    return {
        'index': index,
        'kind': kind_of(keyframe),
        'object': getattr(keyframe, 'object', ''),
        'pose': None if pose is None else numbers(origin @ pose),
        'time': keyframe.time,
        'hand': None if hint is None else numbers(hint.hand),
    }


# Objects --------------------------------------------------------------------------------------------------------------


def object_fields(shown: ShownObject, url: MeshUrl) -> Fields:
    """An object as `scene` and `objects` have it."""
    body = shown.thing.body
    return {
        'name': shown.thing.id,
        'parts': [_part(part, url) for part in body.parts],
        'pose': numbers(shown.thing.pose),
        'color': list(shown.colour),
        'movable': body.movable,
        'tags': list(body.tags),
        'held': _held(shown.held),
        'owner': shown.owner,
    }


def _held(held: Held | None) -> Fields | None:
    return None if held is None else {'by': held.by, 'hand': held.hand.value}


def _part(part: Part, url: MeshUrl) -> Fields:
    fields: Fields = {'pose': numbers(part.pose)}
    match part.shape:
        case Box(size):
            fields |= {'shape': 'box', 'size': list(size)}
        case Sphere(radius):
            fields |= {'shape': 'sphere', 'radius': radius}
        case Cylinder(radius, height):
            fields |= {'shape': 'cylinder', 'radius': radius, 'height': height}
        case Cone(radius, height):
            fields |= {'shape': 'cone', 'radius': radius, 'height': height}
        case Capsule(radius, height):  # the suite's height is from pole to pole, the wire's without the caps
            fields |= {'shape': 'capsule', 'radius': radius, 'height': max(height - 2.0 * radius, 0.0)}
        case Plane():
            fields |= {'shape': 'plane'}
        case mesh:
            fields |= {'shape': 'mesh', 'url': url(mesh)}
    return fields


# Writers --------------------------------------------------------------------------------------------------------------


def _welcome(news: Welcome, _: MeshUrl) -> Fields:
    return {
        'protocol': PROTOCOL, 'client': news.client, 'token': news.token, 'name': news.name, 'version': news.version,
        'robots': list(news.robots), 'settings': asdict(news.settings),
    }  # fmt: skip


def _refused(news: Refused, _: MeshUrl) -> Fields:
    return {**({} if news.id is None else {'id': news.id}), 'code': news.code, 'message': steps_from_one(news.message)}


def _roster(news: Roster, _: MeshUrl) -> Fields:
    clients = [{'client': client, 'name': name} for client, name in news.clients.items()]
    return {'clients': clients, 'demonstrator': news.demonstrator, 'asking': list(news.asking)}


def _scene(news: SceneNews, url: MeshUrl) -> Fields:
    return {
        'revision': news.revision,
        'frame': news.frame,
        'objects': [object_fields(thing, url) for thing in news.objects],
    }


def _objects(news: ObjectsNews, url: MeshUrl) -> Fields:
    return {
        'revision': news.revision,
        'changed': [object_fields(thing, url) for thing in news.changed],
        'moved': [[name, numbers(pose)] for name, pose in news.moved.items()],
        'removed': list(news.removed),
        'held': {name: _held(held) for name, held in news.held.items()},
    }


def _hand(state: HandState | None) -> Fields | None:
    return None if state is None else {'pose': numbers(state.pose), 'grip': state.grip}


def _hands(news: HandsNews, _: MeshUrl) -> Fields:
    hands = news.hands
    return {
        'client': news.client, 'left': _hand(hands.left), 'right': _hand(hands.right), 'head': _hand(hands.head),
    }  # fmt: skip


def _recording(news: Recording, _: MeshUrl) -> Fields:
    return {
        'state': news.state.value,
        'name': news.name,
        'keyframes': [keyframe_fields(at, each, news.origin) for at, each in enumerate(news.keyframes)],
        'saved': news.saved,
        'since': news.since,
    }


def _reach(news: Reach, _: MeshUrl) -> Fields:
    landing = None if news.landing is None else numbers(news.landing)
    return {'object': news.object, 'state': news.verdict.state, 'reason': news.verdict.reason, 'landing': landing}


def _plan(news: PlanNews, _: MeshUrl) -> Fields:
    result = news.result
    fields: Fields = {
        'ok': result.ok, 'robot': result.robot, 'urdf': news.urdf, 'base': news.base, 'message': result.message,
    }  # fmt: skip
    return fields | (_motion(news) if result.ok else _failure(result))


def _motion(news: PlanNews) -> Fields:
    result = news.result
    times = [float(time) for time in result.times]
    return {
        'joints': list(result.joints),
        'times': times,
        'q': [[float(position) for position in row] for row in result.q],
        'hand_joints': list(news.hand_joints),
        'segments': [_segment(segment) for segment in result.segments],
        'duration': times[-1] if times else 0.0,
        'planning_time': result.planning_time,
    }


def _segment(segment: PlannedSegment) -> Fields:
    return {
        'name': segment.name, 'keyframe': segment.keyframe, 'first': segment.first, 'last': segment.last,
        'attach': _link_of(segment.attach), 'detach': _link_of(segment.detach), 'gripper': dict(segment.gripper),
    }  # fmt: skip


def _link_of(pair: tuple[str, str] | None) -> Fields | None:
    return None if pair is None else {'object': pair[0], 'link': pair[1]}


def _failure(result: PlanResult) -> Fields:
    reasons = [
        {'reason': reason, 'subjects': list(subjects), 'count': count} for reason, subjects, count in result.reasons
    ]
    return {
        'keyframe': result.keyframe, 'object': result.object, 'stage': result.stage, 'reasons': reasons,
        'suggestion': result.suggestion,
    }  # fmt: skip


def _executed(news: RunResult, _: MeshUrl) -> Fields:
    return {**asdict(news), 'message': steps_from_one(news.message)}


def _plain(news: Any, _: MeshUrl) -> Fields:
    return asdict(news)


_WRITERS: Mapping[type, tuple[str, Callable[[Any, MeshUrl], Fields]]] = {
    Welcome: ('welcome', _welcome),
    Refused: ('refused', _refused),
    Done: ('done', lambda news, _: {'id': news.id, **news.more}),
    Pong: ('pong', _plain),
    Roster: ('roster', _roster),
    ShownRobot: ('robot', _plain),
    SceneNews: ('scene', _scene),
    ObjectsNews: ('objects', _objects),
    Joints: ('joints', _plain),
    HandsNews: ('hands', _hands),
    Recording: ('recording', _recording),
    Tasks: ('tasks', _plain),
    Settings: ('settings', _plain),
    Reach: ('reach', _reach),
    PlanProgress: ('planning', _plain),
    PlanNews: ('plan', _plan),
    PlanDropped: ('plan_dropped', _plain),
    RunProgress: ('execution', _plain),
    RunResult: ('executed', _executed),
    Notice: ('notice', lambda news, _: {'level': news.level, 'text': steps_from_one(news.text)}),
}
