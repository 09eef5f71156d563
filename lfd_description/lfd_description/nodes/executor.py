"""An executor in a thread of its own that can be ended without losing an answer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from rclpy.executors import MultiThreadedExecutor

LOOK_EVERY = 0.1  # [s] between two looks whether to end, when nothing else happens
POLL_EVERY = 0.005  # [s] between two looks whether all is answered


class BackgroundExecutor(MultiThreadedExecutor):
    """Serves its nodes until ``close``, which waits for the tasks that are under way.

    A goal's execution is such a task, and so is the sending of its result. rclpy's own ``shutdown`` drops them, and the
    client waits for ever.
    """

    def __init__(self, threads: int, on_error: Callable[[Exception], None]) -> None:
        super().__init__(num_threads=threads)
        self._on_error = on_error
        self._unfinished: list[Any] = []
        self._unfinished_lock = threading.Lock()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._serve, name='executor', daemon=True)
        self._thread.start()

    def create_task(self, callback: Any, *args: Any, **kwargs: Any) -> Any:
        """Have the callback executed; return its future."""
        task = super().create_task(callback, *args, **kwargs)
        with self._unfinished_lock:
            self._unfinished = [*self._remaining(), task]
        return task

    def close(self, timeout: float) -> bool:
        """Wait at most ``timeout`` seconds for all tasks, then end; return whether all were done."""
        deadline = time.monotonic() + timeout
        while not (answered := self._is_idle()) and time.monotonic() < deadline:
            time.sleep(POLL_EVERY)
        self._ending.set()
        self._thread.join(timeout)
        self.shutdown(timeout_sec=0.0)
        return answered

    def _is_idle(self) -> bool:
        with self._unfinished_lock:
            return not self._remaining()

    def _remaining(self) -> list[Any]:
        return [task for task in self._unfinished if not (task.done() or task.cancelled())]

    def _serve(self) -> None:
        while not self._ending.is_set() and self.context.ok():
            try:
                self.spin_once(timeout_sec=LOOK_EVERY)
            except Exception as error:  # a callback's: the others go on
                self._on_error(error)
