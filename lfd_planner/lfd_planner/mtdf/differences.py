"""What differs between two tasks: poses that mean the same are the same, however they were written."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from lfd_description.transforms import Quaternion
from lfd_planner.pose import Pose

from .describe import keyframe_in_words, pose_in_words, rule_in_words
from .task import AwaitInput, Descriptor, GraspHint, Keyframe, Pick, Place, SetOutput, Task, Trajectory, object_of

SAME_LENGTH = 1e-9  # [m]
SAME_ANGLE = 1e-9  # [rad]
MAX_ALIGNED = 2000  # keyframes between the first and the last change that are matched with care

_Key = tuple[str, str | None]


def differences(before: Task, after: Task) -> tuple[str, ...]:
    """A line for each difference, keyframes counted from 0 in the task that they are in; none if there is none."""
    return (
        *_descriptors(before.descriptors, after.descriptors),
        *_heads(before, after),
        *_keyframes(before.keyframes, after.keyframes),
    )


def turn_between(a: Quaternion, b: Quaternion) -> float:
    """The angle [rad] between two orientations; a quaternion and its negative are the same one."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    x = aw * bx - ax * bw - ay * bz + az * by
    y = aw * by + ax * bz - ay * bw - az * bx
    z = aw * bz - ax * by + ay * bx - az * bw
    w = aw * bw + ax * bx + ay * by + az * bz
    return 2.0 * math.atan2(math.hypot(x, y, z), abs(w))


def _descriptors(before: Sequence[Descriptor], after: Sequence[Descriptor]) -> Iterator[str]:
    old, new = ({descriptor.name: descriptor for descriptor in both} for both in (before, after))
    for name in dict.fromkeys([*old, *new]):
        if name not in new:
            yield f'- object {name}'
        elif name not in old:
            yield f'+ object {name}'
        elif old[name].rule != new[name].rule:
            yield f'  object {name}: {_rule(old[name])} became {_rule(new[name])}'


def _rule(descriptor: Descriptor) -> str:
    return 'by its name' if descriptor.rule is None else rule_in_words(descriptor.rule)


def _heads(before: Task, after: Task) -> Iterator[str]:
    if before.recorder != after.recorder or before.recorded_at != after.recorded_at:
        yield '  another recording: recorder or recorded_at differ'
    a, b = before.origin, after.origin
    if a is None or b is None:
        if a is not b:
            yield f'{"-" if a is not None else "+"} task origin'
        return
    if a.frame != b.frame:
        yield f'  task origin: in {a.frame or "the frame of the scene"}, became {b.frame or "the frame of the scene"}'
    yield from (f'  task origin: {change}' for change in _pose(a.pose, b.pose))


def _keyframes(before: Sequence[Keyframe], after: Sequence[Keyframe]) -> Iterator[str]:
    for old, new in _aligned([_key(keyframe) for keyframe in before], [_key(keyframe) for keyframe in after]):
        if new is None and old is not None:
            yield f'- keyframes[{old}]: {keyframe_in_words(before[old])}'
        elif old is None and new is not None:
            yield f'+ keyframes[{new}]: {keyframe_in_words(after[new])}'
        elif old is not None and new is not None:
            changes = list(_keyframe(before[old], after[new]))
            number = f'{old}]' if old == new else f'{old}] -> [{new}]'
            if changes:
                yield f'  keyframes[{number}, {_title(before[old])}: {", ".join(changes)}'


def _aligned(before: list[_Key], after: list[_Key]) -> Iterator[tuple[int | None, int | None]]:
    """Pairs of indices; None where a keyframe has no partner."""
    head = _equal_ones(before, after)
    tail = _equal_ones(before[head:][::-1], after[head:][::-1])
    yield from ((n, n) for n in range(head))
    old, new = before[head : len(before) - tail], after[head : len(after) - tail]
    if max(len(old), len(new)) > MAX_ALIGNED:  # matching takes the square of their number
        blocks = [(0, len(old), 0, len(new))]
    else:
        matcher = SequenceMatcher(None, old, new, autojunk=False)
        blocks = [(a, b, c, d) for _, a, b, c, d in matcher.get_opcodes()]
    for a, b, c, d in blocks:
        if old[a:b] == new[c:d]:
            yield from ((head + a + n, head + c + n) for n in range(b - a))
        else:
            yield from ((head + n, None) for n in range(a, b))
            yield from ((None, head + n) for n in range(c, d))
    yield from ((len(before) - n, len(after) - n) for n in range(tail, 0, -1))


def _equal_ones(a: Sequence[_Key], b: Sequence[_Key]) -> int:
    """How many are equal before the first that are not."""
    return next((n for n, (one, other) in enumerate(zip(a, b, strict=False)) if one != other), min(len(a), len(b)))


def _key(keyframe: Keyframe) -> _Key:
    signal = keyframe.signal if isinstance(keyframe, SetOutput | AwaitInput) else None
    return type(keyframe).__name__, object_of(keyframe) or signal


def _title(keyframe: Keyframe) -> str:
    word, name = _key(keyframe)
    return f'{word.lower()} {name}' if name else word.lower()


def _keyframe(a: Keyframe, b: Keyframe) -> Iterator[str]:
    """What differs between two keyframes of one type and object."""
    match a, b:
        case Place(), Place():
            yield from _pose(a.pose, b.pose)
        case Pick(), Pick():
            yield from _grasp(a.grasp, b.grasp)
        case Trajectory(), Trajectory():
            yield from _trajectory(a, b)
        case _ if keyframe_in_words(a) != keyframe_in_words(b):
            yield f'{keyframe_in_words(a)} became {keyframe_in_words(b)}'
        case _ if replace(a, time=None) != replace(b, time=None):  # by less than words show
            yield f'{replace(a, time=None)} became {replace(b, time=None)}'
    if a.time != b.time:
        yield f'time {_time(a.time)} became {_time(b.time)}'


def _pose(a: Pose, b: Pose) -> Iterator[str]:
    away, turn = math.dist(a.position, b.position), turn_between(a.orientation, b.orientation)
    if away > SAME_LENGTH:
        yield f'moved by {away:.6g} m to {pose_in_words(b)}'
    if turn > SAME_ANGLE:
        yield f'turned by {math.degrees(turn):.6g} deg'


def _grasp(a: GraspHint | None, b: GraspHint | None) -> Iterator[str]:
    if a is None or b is None:
        if a is not b:
            yield 'lost its grasp' if a is not None else 'got a grasp'
        return
    yield from (f'hand {change}' for change in _pose(a.hand, b.hand))
    if a.width != b.width:
        yield 'width of the grasp differs'


def _trajectory(a: Trajectory, b: Trajectory) -> Iterator[str]:
    if len(a.poses) != len(b.poses):
        yield f'{len(a.poses)} poses became {len(b.poses)}'
    else:
        changed = sum(any(True for _ in _pose(p, q)) for p, q in zip(a.poses, b.poses, strict=True))
        if changed:
            yield f'{changed} of {len(a.poses)} poses differ'
    if a.times != b.times or a.speed != b.speed:
        yield 'times or speed differ'


def _time(time: float | None) -> str:
    return 'none' if time is None else f'{time:g} s'
