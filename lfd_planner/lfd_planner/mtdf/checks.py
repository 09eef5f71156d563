"""What a task means: whether its keyframes make sense one after the other, whoever performs them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import Literal

from lfd_description.scenes.values import shortened
from lfd_planner.pose import Pose

from .kinds import suggestion
from .problems import GIVE_UP, Problem
from .task import Keyframe, Place, Task, kind_of, object_of

STACK_WIDTH = 0.05  # [m], within which poses count as one above the other
UNITY_SUSPICION = 'the placed objects pile up along y, which is up in Unity and left in ROS'
UPRIGHT = 0.99  # cosine of the tilt of a vertical axis


@dataclass(frozen=True)
class Spot:
    """A place in a text, line and column from 1; 0 where there is no text."""

    line: int = 0
    column: int = 0


NOWHERE = Spot()


@dataclass(frozen=True)
class Step:
    """What the checks need to know of a keyframe: also known of one that could not be read wholly."""

    kind: str
    object: str | None = None
    time: float | None = None
    spot: Spot = NOWHERE
    object_spot: Spot = NOWHERE


@dataclass(frozen=True)
class Listed:
    """A descriptor's name and where it stands."""

    name: str
    spot: Spot = NOWHERE


def check_task(task: Task) -> tuple[Problem, ...]:
    """What is wrong with the order of a task's keyframes and their objects."""
    steps = [Step(kind_of(keyframe), object_of(keyframe), keyframe.time) for keyframe in task.keyframes]
    return check_steps([Listed(descriptor.name) for descriptor in task.descriptors], steps)


def check_steps(descriptors: Sequence[Listed], steps: Sequence[Step]) -> tuple[Problem, ...]:
    """The same of parts, with their places in a text; no more than `GIVE_UP` problems, for nobody reads more."""
    found = chain(
        _descriptor_problems(descriptors, steps),
        _unknown_objects([listed.name for listed in descriptors], steps),
        _holding_problems(steps),
        _time_problems(steps),
    )
    return tuple(islice(found, GIVE_UP))


def unity_suspicion(keyframes: Sequence[Keyframe], spot: Spot = NOWHERE) -> Problem | None:
    """A warning if objects pile up along y and stand upright about y, as they do in Unity's axes."""
    poses = [keyframe.pose for keyframe in keyframes if isinstance(keyframe, Place)]
    if len(poses) < 2 or not _pile_up_along_y(poses):
        return None
    return Problem(
        spot.line,
        spot.column,
        None,
        None,
        UNITY_SUSPICION,
        "write 'version: 2' and 'axes: unity' if the poses are Unity's, or use ./lfd mtdf repair --axes unity",
        'warning',
    )


def _pile_up_along_y(poses: Sequence[Pose]) -> bool:
    heights = [pose.position[1] for pose in poses]
    widths = [max(along) - min(along) for along in ([pose.position[n] for pose in poses] for n in (0, 2))]
    piled = all(below < above for below, above in pairwise(heights)) and heights[0] > 0.0
    return piled and max(widths) < STACK_WIDTH and sum(_upright_about_y(pose) for pose in poses) * 2 > len(poses)


def _upright_about_y(pose: Pose) -> bool:
    """Whether its turn keeps y where it is and moves z."""
    matrix = pose.matrix
    return bool(matrix[1, 1] > UPRIGHT and matrix[2, 2] < UPRIGHT)


def _descriptor_problems(descriptors: Sequence[Listed], steps: Sequence[Step]) -> Iterator[Problem]:
    first: dict[str, Spot] = {}
    used = {step.object for step in steps}
    for listed in descriptors:
        spot, name = listed.spot, shortened(listed.name)
        if listed.name in first:
            where = f' (line {first[listed.name].line})' if first[listed.name].line else ''
            yield _problem(spot, None, name, f"the descriptor '{name}' is there twice{where}", 'remove one')
        elif listed.name not in used:
            message, fix = f"no keyframe uses the descriptor '{name}'", 'remove it if it is not needed'
            yield _problem(spot, None, name, message, fix, 'warning')
        first.setdefault(listed.name, spot)
    if not steps:
        yield _problem(NOWHERE, None, None, 'the task has no keyframes', 'add some if anything is to happen', 'warning')


def _unknown_objects(names: Sequence[str], steps: Sequence[Step]) -> Iterator[Problem]:
    known = set(names)
    for index, step in enumerate(steps):
        if step.object is None or step.object in known:
            continue
        name = shortened(step.object)
        message = f"'{name}' is not among the object descriptors"
        fix = suggestion(step.object, names[:20]) if names else f"add '{name}' to object_descriptors"
        yield _problem(step.object_spot, index, name, message, fix)


def _holding_problems(steps: Sequence[Step]) -> Iterator[Problem]:
    """Follow what is in the hand. Of a mistake the likelier meaning is taken, so that it is told once."""
    held: str | None = None
    since = 0
    for index, step in enumerate(steps):
        if step.object is None:
            continue
        name, holding = shortened(step.object), shortened(held or '')
        if step.kind == 'pick':
            if held == step.object:
                message = f"'{name}' is already held since keyframes[{since}]"
                yield _problem(step.spot, index, name, message, 'remove this pick, or place it before')
            elif held is not None:
                message = f"'{name}' is picked while '{holding}' is held since keyframes[{since}]"
                yield _problem(step.spot, index, name, message, f"place '{holding}' before")
            held, since = step.object, index
            continue
        verb = 'placed' if step.kind == 'place' else 'led along a trajectory'
        if held is None:
            yield _problem(step.spot, index, name, f"'{name}' is {verb} and nothing is held", 'pick it before')
        elif held != step.object:
            message = f"'{name}' is {verb} and '{holding}' is held since keyframes[{since}]"
            yield _problem(step.object_spot, index, name, message, f"write '{holding}', or place that before")
        held = None if step.kind == 'place' else held
    if held is not None:
        message = f"the task ends while '{shortened(held)}' is held since keyframes[{since}]"
        yield _problem(steps[since].spot, since, shortened(held), message, 'place it unless that is meant', 'warning')


def _time_problems(steps: Sequence[Step]) -> Iterator[Problem]:
    latest: float | None = None
    for index, step in enumerate(steps):
        if step.time is None:
            continue
        if latest is not None and step.time < latest:
            message = f'the time {step.time:g} s is before that of an earlier keyframe, {latest:g} s'
            yield _problem(step.spot, index, step.object, message, 'correct the time or the order')
        latest = step.time if latest is None else max(latest, step.time)


def _problem(
    spot: Spot,
    keyframe: int | None,
    name: str | None,
    message: str,
    fix: str,
    severity: Literal['error', 'warning'] = 'error',
) -> Problem:
    return Problem(spot.line, spot.column, keyframe, name, message, fix, severity)
