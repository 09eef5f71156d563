"""Why a task could not be planned, in sentences for a person who showed it: no stages, no counts from 0, no links.

The planner tells programs a keyframe, a stage and counts by reason, and people who know it a line of these; here they
become what somebody in a headset can use, such as "No grasp reaches the place: 12 are out of reach, 4 collide with
'table'."
"""

from __future__ import annotations

import re
from collections.abc import Container, Sequence

from lfd_planner.mtdf import Keyframe, Pick, Place
from lfd_planner.mtdf.task import object_of
from lfd_planner.reachability import steps_from_one

Counted = tuple[str, tuple[str, ...], int]
"""A reason, who was involved, and how often."""
MOST_TOLD = 3

_DOES = {
    'approach': 'bring its hand to {it}',
    'close': 'close its hand around {it}',
    'grasp': 'bring its hand to {it}',
    'held': 'lead {it} along this way',
    'lift': 'lift {it}',
    'lower': 'put {it} down',
    'open': 'let go of {it}',
    'place': 'put {it} there',
    'retreat': 'draw its hand back from {it}',
    'trajectory': 'lead {it} along this way',
    'transfer': 'carry {it} there',
    'transit': 'get to {it}',
}
_FIT = {
    'too_wide': '{it} is too wide for the hand.',
    'too_narrow': '{it} is too narrow for the hand.',
    'too_thin_for_finger': '{it} is narrower than a finger of the hand.',
    'too_shallow': '{it} is too flat for the hand to hold.',
    'palm_hits_object': '{it} is too deep for the hand.',
    'finger_hits_object': 'Parts of {it} are in the way of the fingers.',
    'slips': '{it} would slip out of the hand.',
    'no_flat_face': '{it} has no flat side for the suction cup.',
    'face_too_small': 'The sides of {it} are too small for the suction cup.',
    'face_covered': 'Parts of {it} are in the way of the suction cup.',
    'endless': '{it} has no end to hold it by.',
    'no_shape': '{it} has no shape to hold.',
}
_THINGS = {
    'place_occupied': '{b} is where {a} should go.',
    'blocked_above': '{b} is above {a}, where the hand needs room.',
    'covered': '{a} lies on {b}; it must be moved first.',
    'interlocked': '{a} and {b} hold each other down.',
    'objects_overlap': '{a} is inside of {b} before it is picked.',
    'start_in_collision': '{a} touches {b} before anything moves.',
}
_AT_ENDS = frozenset({'unreachable', 'joint_limit', 'collision'})
_PLANNERS = re.compile(r'It can be done if .+ (?:is moved|moves) (?P<far>\d+ [cm]m) (?P<way>.+)\.')
_WAYS = {'towards the robot': 'nearer to the robot', 'away from the robot': 'farther from the robot', 'up': 'higher'}


def why_not(
    keyframe: Keyframe | None,
    stage: str,
    reasons: Sequence[Counted],
    objects: Container[str],
    message: str,
    fit: str = '',
) -> str:
    """Why a keyframe cannot be done.

    Args:
        keyframe: that cannot; None: the task as a whole.
        stage: of the planner, in which it came farthest.
        reasons: the most important first.
        objects: names of objects; others are parts of the robot.
        message: the planner's own, for what there are no other words for.
        fit: why no hand holds the object, with sizes, if that is known.
    """
    if not reasons:
        return steps_from_one(message)
    it = f"'{object_of(keyframe)}'" if keyframe is not None and object_of(keyframe) else 'it'
    reason, subjects, _ = reasons[0]
    if reason in _FIT:
        return _sentence(f'the hand cannot hold {it}: {fit}') if fit else _sentence(_FIT[reason].format(it=it))
    if reason == 'unsupported':
        return _sentence(f'nothing carries {it} there{_in_the_air(subjects)}')
    if reason in _THINGS and len(subjects) == 2:
        a, b = (_named(subject, objects) for subject in subjects)
        return _sentence(_THINGS[reason].format(a=a, b=b))
    if stage in ('grasp', 'place') and reason in _AT_ENDS:
        return _no_grasp(keyframe, it, [one for one in reasons if one[0] in _AT_ENDS], objects)
    if stage in _DOES and reason in (*_AT_ENDS, 'no_path', 'joint_jump'):
        return f'The robot cannot {_DOES[stage].format(it=it)}: {_in_the_way(reason, subjects, objects)}.'
    return steps_from_one(message)


def advice(suggestion: str, keyframe: Keyframe | None) -> str:
    """What would work, said to who shows the task."""
    found = _PLANNERS.fullmatch(suggestion)
    if found is None or found['way'] not in _WAYS:
        return steps_from_one(suggestion)
    where = f'{found["far"]} {_WAYS[found["way"]]}'
    return f'Move it {where} first.' if isinstance(keyframe, Pick) else f'Put it {where}.'


def _no_grasp(keyframe: Keyframe | None, it: str, reasons: Sequence[Counted], objects: Container[str]) -> str:
    where = 'the place' if isinstance(keyframe, Place) else it
    if {reason for reason, _, _ in reasons} == {'unreachable'}:
        return _sentence(f"{where} is out of the robot's reach")
    counts: dict[str, int] = {}
    for reason, subjects, count in reasons:
        words = _rejected(reason, subjects, objects)
        counts[words] = counts.get(words, 0) + count
    ordered = sorted(counts.items(), key=lambda found: -found[1])[:MOST_TOLD]
    told = ', '.join(f'{count} {_conjugated(words, count)}' for words, count in ordered)
    return f'No grasp reaches {where}: {told}.'


def _rejected(reason: str, subjects: Sequence[str], objects: Container[str]) -> str:
    """What is wrong with grasps, behind their number; the verb is that of several."""
    if reason == 'unreachable':
        return 'are out of reach'
    if reason == 'joint_limit':
        return 'need a joint to turn too far'
    others = [name for name in subjects if name in objects]
    return f'collide with {_quoted(others[-1])}' if others else 'make the robot touch itself'


def _conjugated(words: str, count: int) -> str:
    if count != 1:
        return words
    verb, _, rest = words.partition(' ')
    return f'{ {"are": "is"}.get(verb, f"{verb}s") } {rest}'.strip()


def _in_the_way(reason: str, subjects: Sequence[str], objects: Container[str]) -> str:
    if reason == 'unreachable':
        return 'that is out of reach'
    if reason == 'joint_limit':
        return 'a joint would have to turn too far'
    if reason == 'joint_jump':
        return 'the arm would have to turn over on the way'
    others = [name for name in subjects if name in objects]
    if len(others) == 2:
        return f'{_quoted(others[0])} would touch {_quoted(others[1])}'
    if others:
        return f'{_quoted(others[0])} is in the way'
    return 'the robot would touch itself' if len(subjects) == 2 else 'no way there was found'


def _in_the_air(subjects: Sequence[str]) -> str:
    return f'; it would fall onto {_quoted(subjects[1])}' if len(subjects) == 2 else ''


def _named(name: str, objects: Container[str]) -> str:
    return _quoted(name) if name in objects else 'the robot'


def _quoted(name: str) -> str:
    return f"'{name}'"


def _sentence(text: str) -> str:
    text = text.rstrip('.')
    return f'{text[0].upper()}{text[1:]}.'
