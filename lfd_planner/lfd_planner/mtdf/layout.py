"""The format itself: the keys of a task file, in which version they came, and which values they make.

The reader, the JSON Schema and the messages are all made of the tables here.
"""

from itertools import pairwise
from typing import Any

from lfd_description.scenes.yaml_nodes import Keys, Node, Scalar, shown
from lfd_planner.pose import Pose

from . import values
from .axes import AXES
from .kinds import Fields, Key, Kind, Notes, Schema, list_of, mapping, suggestion
from .rules import AllOf, AnyOf, HasColour, HasShape, HasSize, HasTag, InBall, InBox, Nearest, Not, Rule
from .task import (
    AwaitInput,
    Descriptor,
    GraspHint,
    Keyframe,
    Origin,
    Pick,
    Place,
    Recorder,
    SetOutput,
    Task,
    Trajectory,
    Wait,
)

VERSIONS = (1, 2)


def peek(node: Node | None, key: str) -> Node | None:
    """What stands after a key, right or wrong."""
    if not isinstance(node, Keys):
        return None
    return next((value for name, value in node.entries if name.text == key), None)


def peek_text(node: Node | None, key: str) -> str | None:
    """The text after a key, right or wrong."""
    value = peek(node, key)
    return value.text if isinstance(value, Scalar) else None


# Poses

POSITION = Key('position', values.POSITION, '[x, y, z] in metres')
ORIENTATION = Key('orientation', values.ORIENTATION, 'the unit quaternion [x, y, z, w]')
POSE = mapping(
    (POSITION, ORIENTATION),
    lambda fields, _: Pose(fields.need(POSITION), fields.need(ORIENTATION)),
    what='a pose',
    example='{position: [0.4, 0, 0.1], orientation: [0, 0, 0, 1]}',
)

# Rules

LONGEST = Key('longest', values.RANGE, '[least, most] of the longest edge [m]', needed=False)
MIDDLE = Key('middle', values.RANGE, '[least, most] of the middle edge [m]', needed=False)
SHORTEST = Key('shortest', values.RANGE, '[least, most] of the shortest edge [m]', needed=False)
SIZE = mapping(
    (LONGEST, MIDDLE, SHORTEST),
    lambda fields, _: HasSize(fields.get(LONGEST), fields.get(MIDDLE), fields.get(SHORTEST)),
    what='a range of sizes',
    example='{longest: [0.02, 0.08]}',
    can_be_empty=False,
)

MIN = Key('min', values.POSITION, 'the lowest corner [x, y, z] [m]', needed=False)
MAX = Key('max', values.POSITION, 'the highest corner [x, y, z] [m]', needed=False)
CENTER = Key('center', values.POSITION, '[x, y, z] [m]', needed=False)
RADIUS = Key('radius', values.LENGTH, '[m]', needed=False)


def _region(fields: Fields, notes: Notes) -> InBox | InBall | None:
    low, high = fields.get(MIN), fields.get(MAX)
    centre, radius = fields.get(CENTER), fields.get(RADIUS)
    keys = fields.places.keys()
    if keys not in ({'min', 'max'}, {'center', 'radius'}):
        notes.add(fields.node, 'a region needs two keys', 'write min and max, or center and radius')
    elif low is not None and high is not None:
        if all(a <= b for a, b in zip(low, high, strict=True)):
            return InBox(low, high)
        notes.add(fields.node, 'a part of min is above max', 'exchange them')
    elif centre is not None and radius is not None:
        return InBall(centre, radius)
    return None


REGION = mapping(
    (MIN, MAX, CENTER, RADIUS),
    _region,
    what='a region',
    schema={
        'oneOf': [
            {'required': ['min', 'max'], 'maxProperties': 2},
            {'required': ['center', 'radius'], 'maxProperties': 2},
        ]
    },
    example='{min: [0, 0, 0], max: [0.5, 0.5, 0.5]}',
)


def _rule(fields: Fields, _: Notes) -> Rule | None:
    """The rule of a mapping; several keys in one mapping all have to hold."""
    wrappers: dict[str, Any] = {
        'shape': HasShape,
        'color': HasColour,
        'tag': HasTag,
        'nearest': Nearest,
        'all': AllOf,
        'any': AnyOf,
        'not': Not,
    }
    parts = tuple(wrappers[name](value) if name in wrappers else value for name, value in fields.values.items())
    if not parts or len(parts) != len(fields.places):  # some were wrong, which is noted
        return None
    rule: Rule = parts[0] if len(parts) == 1 else AllOf(parts)
    return rule


def _read_rule(node: Node, notes: Notes) -> Rule | None:
    return RULE_MAPPING.read(node, notes)


RULE: Kind[Rule] = Kind(_read_rule, lambda version: {'$ref': '#/$defs/rule'})
_RULES = list_of(RULE, what='rules', least=1)
RULE_KEYS: tuple[Key[Any], ...] = (
    Key('shape', values.SHAPE, 'what it is', needed=False),
    Key('size', SIZE, 'the edges of the box around it, longest, middle and shortest', needed=False),
    Key('color', values.COLOUR, 'a name, #rrggbb or [r, g, b]', needed=False),
    Key('tag', values.NAME, 'a tag that it has', needed=False),
    Key('region', REGION, 'where it is, relative to the task origin', needed=False),
    Key('nearest', values.POINT_OR_NAME, 'a point [m] or an object: only the nearest to it matches', needed=False),
    Key('all', _RULES, 'rules that all hold', needed=False),
    Key('any', _RULES, 'rules of which one holds', needed=False),
    Key('not', RULE, 'a rule that does not hold', needed=False),
)
RULE_MAPPING: Kind[Rule] = mapping(
    RULE_KEYS, _rule, what='a rule', example='{shape: box, color: red}', can_be_empty=False
)

# Descriptors

DESCRIPTOR_NAME = Key('name', values.NAME, 'what the keyframes call it')
DESCRIPTOR_RULE = Key('rule', RULE, 'which object of the scene it is')
_BY_RULE = mapping(
    (DESCRIPTOR_NAME, DESCRIPTOR_RULE),
    lambda fields, _: Descriptor(fields.need(DESCRIPTOR_NAME), fields.need(DESCRIPTOR_RULE)),
    what='an object descriptor',
    example='{name: lid, rule: {color: red}}',
)


def _read_descriptor(node: Node, notes: Notes) -> Descriptor | None:
    if not isinstance(node, Keys):
        name = values.NAME.read(node, notes)
        return None if name is None else Descriptor(name)
    if notes.version < 2:
        notes.add(node, 'descriptors by rule belong to version 2 of the format', "begin the file with 'version: 2'")
        return None
    return _BY_RULE.read(node, notes)


def _descriptor_schema(version: int) -> Schema:
    name = values.NAME.schema(version)
    return name if version < 2 else {'oneOf': [name, _BY_RULE.schema(version)]}


DESCRIPTOR = Kind(_read_descriptor, _descriptor_schema)

# Keyframes

OBJECT = Key('object_descriptor', values.NAME, 'which object, by its descriptor')
TIME = Key('time', values.SECONDS, 'since the recording began [s]', needed=False, since=2)

WIDTH = Key('width', values.LENGTH, 'how far the fingers were apart [m]', needed=False)
GRASP_HINT = mapping(
    (POSITION, ORIENTATION, WIDTH),
    lambda fields, _: GraspHint(Pose(fields.need(POSITION), fields.need(ORIENTATION)), fields.get(WIDTH)),
    what='a grasp',
    example='{position: [0, 0, 0.02], orientation: [0, 0.7071, 0, 0.7071]}',
)
GRASP = Key('grasp', GRASP_HINT, 'the hand in the frame of the object', needed=False, since=2)
PLACE_POSE = Key('place_pose', POSE, 'where the object is then, relative to the task origin')

POSE_TIME = Key('time', values.SECONDS, 'when it is reached, since the trajectory began [s]', needed=False)
_WAYPOINT = mapping(
    (POSITION, ORIENTATION, POSE_TIME),
    lambda fields, _: (Pose(fields.need(POSITION), fields.need(ORIENTATION)), fields.get(POSE_TIME)),
    what='a pose',
    example='{position: [0.4, 0, 0.1], orientation: [0, 0, 0, 1], time: 0.5}',
)
POSES = Key(
    'poses', list_of(_WAYPOINT, what='poses', least=1), 'where the held object goes, relative to the task origin'
)
SPEED = Key('speed', values.SPEED, 'of the object along the way [m/s]', needed=False)
DURATION = Key('duration', values.DURATION, '[s]')
OUTPUT = Key('output', values.NAME, 'the signal to set', needed=False)
INPUT = Key('input', values.NAME, 'the signal to wait for', needed=False)
VALUE = Key('value', values.SIGNAL_VALUE, 'of the signal: true, false or a number')
TIMEOUT = Key('timeout', values.DURATION, 'after which the task has failed [s]', needed=False)


def _type(word: str) -> Key[str]:
    return Key('type', values.choice([word], 'type of keyframe'), 'what happens')


def _trajectory(fields: Fields, notes: Notes) -> Trajectory | None:
    waypoints = fields.need(POSES)
    times = tuple(time for _, time in waypoints if time is not None)
    place, speed = fields.place(POSES), fields.get(SPEED)
    if times and len(times) != len(waypoints):
        notes.add(place, f'{len(times)} of {len(waypoints)} poses have a time', 'give all of them one, or none')
    elif times and speed is not None:
        notes.add(fields.place(SPEED), 'the poses have times and the trajectory a speed', 'remove one of them')
    elif any(after <= before for before, after in pairwise(times)):
        notes.add(place, 'the times of the poses do not grow', 'sort the poses by time')
    else:
        poses = tuple(pose for pose, _ in waypoints)
        return Trajectory(fields.need(OBJECT), poses, times, speed, fields.get(TIME))
    return None


def _io(fields: Fields, notes: Notes) -> SetOutput | AwaitInput | None:
    output, entry, value = fields.get(OUTPUT), fields.get(INPUT), fields.need(VALUE)
    if ('output' in fields.places) == ('input' in fields.places):
        notes.add(fields.node, 'an io keyframe has either an output or an input', 'write one of them')
    elif output is not None and 'timeout' in fields.places:
        notes.add(fields.place(TIMEOUT), 'setting an output takes no time', "remove 'timeout'")
    elif output is not None:
        return SetOutput(output, value, fields.get(TIME))
    elif entry is not None:
        return AwaitInput(entry, value, fields.get(TIMEOUT), fields.get(TIME))
    return None


KEYFRAMES: dict[str, Kind[Any]] = {
    'pick': mapping(
        (_type('pick'), OBJECT, TIME, GRASP),
        lambda fields, _: Pick(fields.need(OBJECT), fields.get(GRASP), fields.get(TIME)),
        what='a keyframe',
    ),
    'place': mapping(
        (_type('place'), OBJECT, TIME, PLACE_POSE),
        lambda fields, _: Place(fields.need(OBJECT), fields.need(PLACE_POSE), fields.get(TIME)),
        what='a keyframe',
    ),
    'trajectory': mapping((_type('trajectory'), OBJECT, TIME, SPEED, POSES), _trajectory, what='a keyframe'),
    'wait': mapping(
        (_type('wait'), DURATION, TIME),
        lambda fields, _: Wait(fields.need(DURATION), fields.get(TIME)),
        what='a keyframe',
    ),
    'io': mapping(
        (_type('io'), OUTPUT, INPUT, VALUE, TIMEOUT, TIME),
        _io,
        what='a keyframe',
        schema={
            'oneOf': [
                {'required': ['output'], 'not': {'anyOf': [{'required': ['input']}, {'required': ['timeout']}]}},
                {'required': ['input'], 'not': {'required': ['output']}},
            ]
        },
    ),
}
SINCE = {'pick': 1, 'place': 1, 'trajectory': 2, 'wait': 2, 'io': 2}


def _read_keyframe(node: Node, notes: Notes) -> Keyframe | None:
    kind = peek(node, 'type')
    if not isinstance(node, Keys):
        notes.add(node, f'{shown(node)} is no keyframe', 'write keys such as {type: pick, object_descriptor: lid}')
        return None
    if kind is None:
        notes.add(node, "the key 'type' is missing", f'add it: {", ".join(_types(notes.version))}')
        return None
    word = kind.text if isinstance(kind, Scalar) else ''
    if word not in SINCE:
        notes.add(kind, f'{shown(kind)} is no type of keyframe', suggestion(word, _types(notes.version)))
        return None
    if SINCE[word] > notes.version:
        message = f"keyframes of type '{word}' belong to version {SINCE[word]} of the format"
        notes.add(kind, message, f"begin the file with 'version: {SINCE[word]}'")
        return None
    keyframe: Keyframe | None = KEYFRAMES[word].read(node, notes)
    return keyframe


def _types(version: int) -> list[str]:
    return [word for word, since in SINCE.items() if since <= version]


def _enter_keyframe(index: int, node: Node, notes: Notes) -> None:
    notes.keyframe, notes.object = index, peek_text(node, 'object_descriptor')


def _read_keyframes(node: Node, notes: Notes) -> tuple[Keyframe, ...] | None:
    try:
        return _KEYFRAME_LIST.read(node, notes)
    finally:
        notes.keyframe = notes.object = None


KEYFRAME: Kind[Keyframe] = Kind(
    _read_keyframe, lambda version: {'oneOf': [KEYFRAMES[word].schema(version) for word in _types(version)]}
)
_KEYFRAME_LIST = list_of(KEYFRAME, what='keyframes', enter=_enter_keyframe)

# The task

VERSION = Key('version', values.whole(VERSIONS, 'version of the format'), 'of the format; 1 without it', needed=False)
AXES_KEY = Key(
    'axes',
    values.choice(AXES, 'set of axes'),
    'of all numbers in the file: ros (default) or unity',
    needed=False,
    since=2,
)
FRAME = Key('frame', values.NAME, 'the frame that the origin is in', needed=False)
ORIGIN = mapping(
    (FRAME, POSITION, ORIENTATION),
    lambda fields, _: Origin(Pose(fields.need(POSITION), fields.need(ORIENTATION)), fields.get(FRAME)),
    what='a task origin',
    example='{frame: base_link, position: [0.4, 0, 0], orientation: [0, 0, 0, 1]}',
)
TASK_ORIGIN = Key('task_origin', ORIGIN, 'where the task was shown, as a hint', needed=False, since=2)
RECORDER_NAME = Key('name', values.NAME, 'what recorded the task')
RECORDER_VERSION = Key('version', values.NAME, 'of the recorder, in quotes', needed=False)
RECORDER_KIND = mapping(
    (RECORDER_NAME, RECORDER_VERSION),
    lambda fields, _: Recorder(fields.need(RECORDER_NAME), fields.get(RECORDER_VERSION)),
    what='a recorder',
    example='{name: lfd_vr_bridge}',
)
RECORDER = Key('recorder', RECORDER_KIND, 'what recorded the task', needed=False, since=2)
RECORDED_AT = Key('recorded_at', values.MOMENT, 'when the recording began, with its zone', needed=False, since=2)
DESCRIPTORS = Key('object_descriptors', list_of(DESCRIPTOR, what='object descriptors'), 'the objects of the task')
KEYFRAMES_KEY = Key('keyframes', Kind(_read_keyframes, _KEYFRAME_LIST.schema), 'what happens, in order')


def _task(fields: Fields, notes: Notes) -> Task:
    return Task(
        descriptors=fields.need(DESCRIPTORS),
        keyframes=fields.need(KEYFRAMES_KEY),
        origin=fields.get(TASK_ORIGIN),
        recorder=fields.get(RECORDER),
        recorded_at=fields.get(RECORDED_AT),
    )


TASK = mapping(
    (VERSION, AXES_KEY, RECORDER, RECORDED_AT, TASK_ORIGIN, DESCRIPTORS, KEYFRAMES_KEY),
    _task,
    what='a task',
    example='object_descriptors and keyframes',
)
