"""From what a search rejected to a failure that says where, why, and what would work."""

from __future__ import annotations

import time

from lfd_planner.error_codes import Code
from lfd_planner.mtdf import Task
from lfd_planner.mtdf.task import object_of
from lfd_planner.task import Context, Count

from .compose import Composition, carried
from .failure import RejectionCount, TaskFailure
from .options import PlanOptions
from .suggest import suggestion

MOST_TOLD = 4
UNSEARCHED = 'no_path'
"""The reason of which nobody knows whether a longer search would have cured it."""
_ORDER = (
    'hold',
    'grasp',
    'approach',
    'close',
    'lift',
    'held',
    'trajectory',
    'place',
    'lower',
    'open',
    'retreat',
    'transit',
    'transfer',
    'move to',
)
"""Of the stages, as they are searched."""
_CODES = {
    'start_in_collision': Code.START_STATE_IN_COLLISION,
    'unreachable': Code.NO_IK_SOLUTION,
    'joint_limit': Code.NO_IK_SOLUTION,
    'place_occupied': Code.GOAL_IN_COLLISION,
    'objects_overlap': Code.START_STATE_IN_COLLISION,
    'collision': Code.GOAL_IN_COLLISION,
    'no_object': Code.INVALID_OBJECT_NAME,
}


def failure_of(
    task: Task, composition: Composition, context: Context, options: PlanOptions, begin: float
) -> TaskFailure:
    """The failure of a search that found nothing."""
    if context.should_stop():
        return _ended(Code.PREEMPTED, 'Planning was stopped.', context, begin)
    counts = context.journal.counts
    if context.late and not counts:
        return _ended(Code.TIMED_OUT, f'No motion was found within {options.limit:g} s.', context, begin)
    last = _last_part(task, max((count.keyframe for count in counts), default=-1))
    here = tuple(sorted((count for count in counts if count.keyframe in last), key=_progress, reverse=True))
    keyframe, stage = (here[0].keyframe, here[0].stage) if here else (-1, '')
    told = tuple(RejectionCount(count.reason, count.subjects, count.count, count.detail) for count in here)
    reasons = frozenset(count.reason for count in here if count.stage == stage)
    near = suggestion(task, composition, keyframe, stage, reasons) if options.suggest and keyframe >= 0 else ''
    unfinished = context.late or (bool(here) and here[0].reason == UNSEARCHED)
    verdict = _verdict(context.late, unfinished, options)
    message = f'{_where(task, keyframe)} {verdict}{f", stage {stage!r}" if stage else ""}: {_why(here)}'
    message = ' '.join(part for part in (message, near, _advice(options) if unfinished else '') if part)
    code = _CODES.get(here[0].reason, Code.PLANNING_FAILED) if here else Code.PLANNING_FAILED
    return TaskFailure(
        Code.TIMED_OUT if context.late else code,
        message,
        keyframe,
        stage,
        told,
        near,
        time.monotonic() - begin,
        dict(context.journal.seconds),
    )


def _ended(code: Code, message: str, context: Context, begin: float) -> TaskFailure:
    return TaskFailure(code, message, planning_time=time.monotonic() - begin, seconds=dict(context.journal.seconds))


def _last_part(task: Task, keyframe: int) -> range:
    """The keyframes that are planned together with one."""
    number = 0
    while number <= keyframe < len(task.keyframes):
        count = carried(task.keyframes, number)
        if keyframe < number + count:
            return range(number, number + count)
        number += count
    return range(keyframe, keyframe + 1)


def _progress(count: Count) -> tuple[int, int]:
    """How far the search came before it rejected something, and how often it did."""
    stage = 'move to' if count.stage.startswith('move to ') else count.stage
    return _ORDER.index(stage) if stage in _ORDER else -1, count.count


def _where(task: Task, keyframe: int) -> str:
    if not 0 <= keyframe < len(task.keyframes):
        return 'The task'
    of = object_of(task.keyframes[keyframe])
    kind = type(task.keyframes[keyframe]).__name__.lower()
    return f'keyframes[{keyframe}] ({kind}{f" {of}" if of else ""})'


def _verdict(late: bool, unfinished: bool, options: PlanOptions) -> str:
    """What became of a keyframe: what was searched in vain may still be there."""
    if late:
        return f'was not planned within {options.limit:g} s'
    return 'was not planned' if unfinished else 'cannot be done'


def _advice(options: PlanOptions) -> str:
    return f'A {"longer " if options.budget else ""}time budget (--budget) may find a way.'


def _why(counts: tuple[Count, ...]) -> str:
    if not counts:
        return 'nothing was found, and nothing was rejected.'
    parts = [str(RejectionCount(count.reason, count.subjects, count.count)) for count in counts[:MOST_TOLD]]
    details = list(dict.fromkeys(count.detail for count in counts if count.detail))[:1]
    return f'{", ".join(parts)}. {" ".join(details)}'.strip()
