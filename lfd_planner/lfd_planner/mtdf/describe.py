"""Tasks in words, for a person who wants to see what is in a file."""

import math
from collections.abc import Iterator

from lfd_description.shapes import Vector
from lfd_description.urdf import roll_pitch_yaw
from lfd_planner.pose import Pose

from .rules import AllOf, AnyOf, HasColour, HasShape, HasSize, HasTag, InBall, InBox, Nearest, Not, Rule
from .task import AwaitInput, Keyframe, Pick, Place, SetOutput, Task, Trajectory, Wait


def task_in_words(task: Task) -> Iterator[str]:
    """The lines that show a task; keyframes count from 0."""
    if task.recorder is not None:
        version = f' {task.recorder.version}' if task.recorder.version else ''
        yield f'recorded by  {task.recorder.name}{version}'
    if task.recorded_at is not None:
        yield f'recorded at  {task.recorded_at.isoformat(sep=" ")}'
    if task.origin is not None:
        yield f'task origin  {pose_in_words(task.origin.pose)}{f" in {task.origin.frame}" if task.origin.frame else ""}'
    for descriptor in task.descriptors:
        rule = rule_in_words(descriptor.rule) if descriptor.rule is not None else 'by its name'
        yield f'object       {descriptor.name} ({rule})'
    width = len(str(max(len(task.keyframes) - 1, 0)))
    timed = any(keyframe.time is not None for keyframe in task.keyframes)
    for index, keyframe in enumerate(task.keyframes):
        time = '' if not timed else f'{keyframe.time:9.3f} s  ' if keyframe.time is not None else ' ' * 13
        yield f'[{index:{width}}]  {time}{keyframe_in_words(keyframe)}'


def keyframe_in_words(keyframe: Keyframe) -> str:
    """What happens in a keyframe."""
    match keyframe:
        case Pick(name, grasp):
            return f'pick {name}{f", hand at {pose_in_words(grasp.hand)} of it" if grasp is not None else ""}'
        case Place(name, pose):
            return f'place {name} at {pose_in_words(pose)}'
        case Trajectory(name, poses, times, speed):
            pace = f' in {times[-1]:g} s' if times else f' at {speed:g} m/s' if speed is not None else ''
            return f'lead {name} through {len(poses)} poses to {pose_in_words(poses[-1])}{pace}'
        case Wait(duration):
            return f'wait {duration:g} s'
        case SetOutput(signal, value):
            return f'set {signal} to {_value(value)}'
        case AwaitInput(signal, value, timeout):
            limit = f', {timeout:g} s at most' if timeout is not None else ''
            return f'wait until {signal} is {_value(value)}{limit}'


def rule_in_words(rule: Rule) -> str:
    """Which objects a rule means."""
    match rule:
        case HasShape(shape):
            return f'a {shape}'
        case HasSize(longest, middle, shortest):
            edges = (('longest', longest), ('middle', middle), ('shortest', shortest))
            return ' and '.join(f'{word} edge {ends[0]:g} to {ends[1]:g} m' for word, ends in edges if ends is not None)
        case HasColour(colour):
            return colour if isinstance(colour, str) else f'coloured {point_in_words(colour)}'
        case HasTag(tag):
            return f"tagged '{tag}'"
        case InBox(low, high):
            return f'between {point_in_words(low)} and {point_in_words(high)}'
        case InBall(centre, radius):
            return f'within {radius:g} m of {point_in_words(centre)}'
        case Nearest(to):
            return f'nearest to {to if isinstance(to, str) else point_in_words(to)}'
        case AllOf(rules):
            return ', '.join(_bracketed(part) for part in rules)
        case AnyOf(rules):
            return ' or '.join(_bracketed(part) for part in rules)
        case Not(part):
            return f'not {_bracketed(part)}'


def pose_in_words(pose: Pose) -> str:
    """A position [m], and the turn as roll, pitch, yaw in degrees if there is one."""
    angles = [math.degrees(angle) for angle in roll_pitch_yaw(pose.matrix)]
    turn = f' turned {", ".join(f"{angle:.1f}".replace("-0.0", "0.0") for angle in angles)} deg'
    return f'{point_in_words(pose.position)}{turn if any(abs(angle) > 0.05 for angle in angles) else ""}'


def point_in_words(point: Vector) -> str:
    """A point, to a tenth of a millimetre."""
    return f'({", ".join(f"{round(part, 4) + 0.0:g}" for part in point)})'


def _bracketed(rule: Rule) -> str:
    words = rule_in_words(rule)
    return f'({words})' if isinstance(rule, AllOf | AnyOf) else words


def _value(value: bool | float) -> str:
    return ('on' if value else 'off') if isinstance(value, bool) else f'{value:g}'
