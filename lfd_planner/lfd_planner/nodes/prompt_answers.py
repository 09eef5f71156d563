"""Answers that come in time: who asked for something and wants it no more does not wait until it has ended."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import TypeVar

from lfd_planner.stopping import ShouldStop

GRACE = 0.05  # [s] that work has to end by itself, with what it has by then, after it should stop
LOOK_EVERY = 0.01  # [s] between two looks at whether it should stop
Answer = TypeVar('Answer')


class PromptAnswers:
    """Does work on threads beside, so that it can be left behind.

    Args:
        most: pieces of work at once, those left behind included; more wait.
    """

    def __init__(self, most: int) -> None:
        self._threads = ThreadPoolExecutor(most, thread_name_prefix='work')

    def answer(self, work: Callable[[], Answer], should_stop: ShouldStop) -> Answer | None:
        """What `work` gives; None if it goes on for longer than a moment after it should stop.

        It then ends by itself, on its own thread; it should look at `should_stop`, too.
        """
        answer = self._threads.submit(work)
        while not (_is_done(answer, LOOK_EVERY) or should_stop()):
            pass
        return answer.result() if _is_done(answer, GRACE) else None

    def close(self) -> None:
        """Wait for all work to end."""
        self._threads.shutdown(wait=True)


def _is_done(answer: Future[Answer], within: float) -> bool:
    return bool(wait([answer], within).done)
