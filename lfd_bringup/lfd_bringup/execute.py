"""`./lfd execute`: have the graph that runs perform a task, and tell how it goes."""

from __future__ import annotations

import argparse
import contextlib
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lfd_msgs.action import ExecuteTask
from rcl_interfaces.srv import GetParameters
from rclpy.action import ActionClient

from lfd_description.robots import RobotError, find_robot
from lfd_planner.messages import pose_to_message
from lfd_planner.messages.solutions import solution_to_message
from lfd_planner.mtdf import Task
from lfd_planner.solution_file import PlanningError, SolutionFile, SolutionFileError, read_solution

from .demo.execution import Execution, Progress, execution_of, progress_of, spoken
from .home.console import complain, say
from .home.faults import Fault
from .inputs import task_of
from .member import FOUND_WITHIN, Member, joined

EXECUTOR = 'task_executor'
ANSWER_WITHIN = 10.0  # [s]
STOP_WITHIN = 30.0  # [s] that a cancelled execution has to come to rest
GONE_AFTER = 15.0  # [s] that the executor may not be seen


def main(arguments: argparse.Namespace) -> int:
    """Execute a task; returns 1 if not all of it was done.

    Uses `task` (a path), `solution` (a path or None: the graph plans), `first_keyframe`, `speed`, `dry_run` and
    `domain_id` (a number, or None: the usual one).
    """
    task = task_of(arguments.task)
    goal = ExecuteTask.Goal(
        task_description=_text(arguments.task),
        first_keyframe=arguments.first_keyframe,
        speed=arguments.speed,
        dry_run=arguments.dry_run,
    )
    if arguments.solution is not None:
        _add_solution(goal, arguments.solution)
    with joined('lfd_execute', arguments.domain_id) as member, _interruptible() as is_interrupted:
        ended = _executed(member, goal, _Lines(task), is_interrupted)
    if not ended.ok:
        complain(ended.problem)
        return 1
    print(f'{ended.message} ({ended.cycle_time:.1f} s)' if ended.cycle_time else ended.message)
    return 0


def _add_solution(goal: ExecuteTask.Goal, file: Path) -> None:
    try:
        found: SolutionFile = read_solution(file)
        if isinstance(found.outcome, PlanningError):
            raise Fault(f'{file} holds no motion: {found.outcome.message}')
        goal.solution = solution_to_message(found.outcome, find_robot(found.robot).base)
    except (SolutionFileError, RobotError) as error:
        raise Fault(str(error)) from None
    if found.request.origin is not None:
        goal.task_origin = pose_to_message(found.request.origin)


def _executed(
    member: Member, goal: ExecuteTask.Goal, tell: Callable[[Progress], None], is_interrupted: Callable[[], bool]
) -> Execution:
    # An answer proves that the executor knows us: a goal must not be sent twice.
    known = member.node.create_client(GetParameters, f'{EXECUTOR}/get_parameters')
    member.ask(known, GetParameters.Request(names=['robot']), ANSWER_WITHIN)
    client = ActionClient(member.node, ExecuteTask, 'execute_task')
    try:
        member.wait(client.server_is_ready, FOUND_WITHIN, 'execute_task')
        sending = client.send_goal_async(goal, feedback_callback=lambda told: tell(progress_of(told.feedback)))
        member.wait(sending.done, ANSWER_WITHIN, 'an answer of execute_task')
        handle = sending.result()
        if not handle.accepted:
            raise Fault('the task executor refused the goal: it is ending.', 'start it again')
        result = handle.get_result_async()
        _follow(member, client, handle, result, is_interrupted)
        return execution_of(result.result().result)
    finally:
        client.destroy()


def _follow(member: Member, client: ActionClient, handle: Any, result: Any, is_interrupted: Callable[[], bool]) -> None:
    """Wait for the result; whoever interrupts has the arm stopped."""
    seen = time.monotonic()

    def is_over() -> bool:
        nonlocal seen
        if client.server_is_ready():
            seen = time.monotonic()
        return bool(result.done()) or is_interrupted() or time.monotonic() - seen > GONE_AFTER

    member.wait(is_over, None, 'the result')
    if result.done():
        return
    if not is_interrupted():
        raise Fault('the task executor is gone.', 'see to the arm, start the executor, and resume from a keyframe')
    say('Stopping the arm ...')
    handle.cancel_goal_async()
    member.wait(result.done, STOP_WITHIN, 'the arm to stop (use the emergency stop if it moves)')


class _Lines:
    """One line for each keyframe when it begins, and for planning and pauses."""

    def __init__(self, task: Task) -> None:
        self._keyframes = task.keyframes
        self._last: tuple[int, str] | None = None

    def __call__(self, progress: Progress) -> None:
        state = progress.state if progress.state in ('checking', 'planning', 'paused', 'stopping') else ''
        if (progress.keyframe, state) == self._last or not 0 <= progress.keyframe < len(self._keyframes):
            return
        self._last = (progress.keyframe, state)
        what = state or spoken(self._keyframes[progress.keyframe])
        count = len(self._keyframes)
        print(f'{100 * progress.share:3.0f} %  keyframe {progress.keyframe} (of 0 to {count - 1}): {what}', flush=True)


@contextlib.contextmanager
def _interruptible() -> Iterator[Callable[[], bool]]:
    """Whether the user has asked for an end; the second time ends this program alone."""
    asked: list[int] = []

    def on_signal(number: int, _: object) -> None:
        if asked:
            raise KeyboardInterrupt
        asked.append(number)

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding='utf-8')
    except (OSError, UnicodeError) as error:
        raise Fault(f'{file} cannot be read: {error}.') from None
