"""Whether a robot can hold something somewhere, and the words for why not."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from lfd_planner.task import Rejection

GOOD, HARD, BAD, UNKNOWN = 'good', 'hard', 'bad', 'unknown'
ENOUGH = 6  # grasps, below which something counts as hard
_NUMBERED = re.compile(r'\bkeyframes?(?:\[(\d+)\]| (\d+)\b)')


@dataclass(frozen=True)
class Verdict:
    """Whether a robot can bring an object to a pose."""

    state: str
    """good, hard (few ways), bad, or unknown."""
    reason: str = ''
    """For people."""
    grasps: int = 0
    """In how many ways the object can be held there."""


def verdict_of(grasps: int) -> Verdict:
    """The verdict on an object that can be held in so many ways, one at least."""
    if grasps >= ENOUGH:
        return Verdict(GOOD, '', grasps)
    return Verdict(HARD, f'only {grasps} {"way" if grasps == 1 else "ways"} to hold it there', grasps)


def most_frequent(found: Iterable[Rejection]) -> Rejection | None:
    """The rejection that counts most."""
    return max(found, key=lambda rejection: rejection.count, default=None)


def words(rejection: Rejection) -> str:
    """Why something cannot be done, in a few words."""
    names = [f"'{name}'" for name in rejection.subjects]
    if rejection.reason == 'unreachable':
        return "out of the robot's reach"
    if rejection.reason == 'collision' and len(names) == 2:
        return f'collision of {names[0]} with {names[1]}'
    if rejection.reason == 'joint_limit' and names:
        return f'joint {names[0]} cannot turn that far'
    return rejection.detail.rstrip('.') or rejection.reason.replace('_', ' ')


def out_of_reach(distance: float, reach: float) -> str:
    """That a place at a distance from the base of an arm is farther away than it reaches [m]."""
    return f'out of reach by {max(1, math.ceil(100.0 * (distance - reach)))} cm'


def steps_from_one(text: str) -> str:
    """A text with steps that are counted from 1, as people count, in place of keyframes that are counted from 0."""
    return _NUMBERED.sub(lambda found: f'Step {int(found[1] or found[2]) + 1}', text)
