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
_ORDER = ('grasp', 'approach', 'close', 'lift', 'place', 'lower', 'open', 'retreat', 'transit', 'transfer')
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
        return _ended(Code.TIMED_OUT, f'No motion was found within {options.patience:g} s.', context, begin)
    last = _last_part(task, max((count.keyframe for count in counts), default=-1))
    here = tuple(sorted((count for count in counts if count.keyframe in last), key=_progress, reverse=True))
    keyframe, stage = (here[0].keyframe, here[0].stage) if here else (-1, '')
    told = tuple(RejectionCount(count.reason, count.subjects, count.count, count.detail) for count in here)
    reasons = frozenset(count.reason for count in here if count.stage == stage)
    near = suggestion(task, composition, keyframe, stage, reasons) if options.suggest and keyframe >= 0 else ''
    message = f'{_where(task, keyframe, stage)}: {_why(here)}{" " + near if near else ""}'
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
    return _ORDER.index(count.stage) if count.stage in _ORDER else -1, count.count


def _where(task: Task, keyframe: int, stage: str) -> str:
    if not 0 <= keyframe < len(task.keyframes):
        return f'The task cannot be planned ({stage})' if stage else 'The task cannot be planned'
    of = object_of(task.keyframes[keyframe])
    kind = type(task.keyframes[keyframe]).__name__.lower()
    return f"keyframes[{keyframe}] ({kind}{f' {of}' if of else ''}) cannot be done, stage '{stage}'"


def _why(counts: tuple[Count, ...]) -> str:
    if not counts:
        return 'nothing was found, and nothing was rejected.'
    parts = [str(RejectionCount(count.reason, count.subjects, count.count)) for count in counts[:MOST_TOLD]]
    details = list(dict.fromkeys(count.detail for count in counts if count.detail))[:1]
    return f'{", ".join(parts)}. {" ".join(details)}'.strip()
