"""The way from the event loop's thread into the node's, and back."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import Trigger


class NoAnswer(Exception):
    """A node did not do what it was asked; the message is one sentence for the person."""


class RosThread:
    """Runs functions in the thread that spins a node.

    rclpy's action client loses the answer to a goal that is sent while another thread spins; so whoever is elsewhere
    sends through here.
    """

    def __init__(self, node: Node) -> None:
        self._queue: deque[Callable[[], object]] = deque()
        self._lock = threading.Lock()
        self._guard = node.create_guard_condition(self._run)

    def post(self, function: Callable[[], object]) -> None:
        """Have a function called in the node's thread, soon; may be called from any thread."""
        with self._lock:
            self._queue.append(function)
            self._guard.trigger()

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._queue:
                    return
                function = self._queue.popleft()
            function()


class TriggerLink:
    """Calls a std_srvs/Trigger service from the event loop."""

    def __init__(self, node: Node, thread: RosThread, name: str, server: str, timeout: float = 5.0) -> None:
        self._client = node.create_client(Trigger, name)
        self._thread, self._name, self._server, self._timeout = thread, name, server, timeout

    @property
    def is_there(self) -> bool:
        """Whether somebody serves it."""
        return bool(self._client.service_is_ready())

    async def call(self) -> tuple[bool, str]:
        """Whether it was done, and a sentence.

        Raises:
            NoAnswer: nobody serves it, or there was no answer in time.
        """
        if not self.is_there:
            raise NoAnswer(f"Nobody serves '{self._name}'; start {self._server}.")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Trigger.Response] = loop.create_future()
        calls: list[Future] = []

        def send() -> None:
            calls.append(self._client.call_async(Trigger.Request()))
            calls[0].add_done_callback(lambda done: tell(loop, answer, done))

        self._thread.post(send)
        try:
            response = await asyncio.wait_for(answer, self._timeout)
        except TimeoutError:
            self._thread.post(lambda: [self._client.remove_pending_request(call) for call in calls])
            raise NoAnswer(f"'{self._name}' did not answer; see the log of {self._server}.") from None
        return bool(response.success), str(response.message)


def tell(loop: asyncio.AbstractEventLoop, answer: asyncio.Future[Any], done: Future) -> None:
    """Hand the result of rclpy's future over to one of the event loop, from the node's thread."""

    def take() -> None:
        if answer.done():
            return
        error = done.exception()
        if done.cancelled() or error is not None:
            answer.set_exception(NoAnswer(f'The call failed: {error}.'))
        else:
            answer.set_result(done.result())

    if not loop.is_closed():
        loop.call_soon_threadsafe(take)
