"""A client of an action for the event loop: sends one goal at a time, follows it, and notices if its server is gone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.task import Future

from .ros_thread import NoAnswer, RosThread, tell

CONNECT_WITHIN = 10.0  # [s]
ACCEPT_WITHIN = 10.0  # [s]
LOOK_EVERY = 0.5  # [s] whether the server is still the same
POLL_EVERY = 0.05  # [s] whether it is there


class ActionLink:
    """Sends goals; all methods are called in the event loop's thread, and ROS is spoken in the node's.

    Args:
        node: whose client this is.
        thread: that spins it.
        kind: of the action.
        name: of the action.
        server: the node that serves it, for people.
        tries: how often a goal is sent that nobody answers; above 1 only if it does no harm when it is done twice.
    """

    def __init__(self, node: Node, thread: RosThread, kind: Any, name: str, server: str, tries: int = 1) -> None:
        self._node, self._thread = node, thread
        self._client = ActionClient(node, kind, name)
        self._name, self._server, self._tries = name, server, tries
        self._status = node.resolve_topic_name(f'{name}/_action/status')
        self._goal: _Goal | None = None
        self._is_busy = self._is_cancelled = False

    @property
    def is_busy(self) -> bool:
        """Whether a goal is under way."""
        return self._is_busy

    async def run(self, goal: Any, feedback: Callable[[Any], None]) -> Any:
        """The result of a goal.

        Raises:
            NoAnswer: it was not taken, or its server is gone.
        """
        self._is_busy, self._is_cancelled = True, False
        try:
            await self._wait_for_server()
            before = self._servers()
            result = await self._sent(goal, feedback)
            while True:
                done, _ = await asyncio.wait({result}, timeout=LOOK_EVERY)
                if done:
                    return result.result().result
                if not self._servers() & before:
                    raise NoAnswer(f'{self._server} ended while it was at work; try again when it is back.')
        finally:
            self._is_busy, self._goal = False, None

    def cancel(self) -> None:
        """Have the goal that is under way end soon, if there is one."""
        self._is_cancelled = True
        if self._goal is not None:
            self._thread.post(self._goal.cancel)

    def destroy(self) -> None:
        """Take the client down, in the node's thread."""
        self._client.destroy()

    async def _sent(self, goal: Any, feedback: Callable[[Any], None]) -> asyncio.Future[Any]:
        """The future of the result of a goal that was accepted."""
        for _ in range(self._tries):
            sent = self._goal = _Goal(self._client, goal, feedback, self._is_cancelled)
            self._thread.post(sent.send)
            try:
                accepted = await asyncio.wait_for(asyncio.shield(sent.accepted), ACCEPT_WITHIN)
            except TimeoutError:
                self._thread.post(sent.cancel)
                continue
            if not accepted:
                raise NoAnswer(f'{self._server} refused it; see its log.')
            return sent.result
        raise NoAnswer(f"'{self._name}' did not answer; see the log of {self._server}.")

    async def _wait_for_server(self) -> None:
        until = time.monotonic() + CONNECT_WITHIN
        while not self._client.server_is_ready():
            if time.monotonic() > until:
                raise NoAnswer(f"Nobody serves '{self._name}'; start {self._server}.")
            await asyncio.sleep(POLL_EVERY)

    def _servers(self) -> frozenset[bytes]:
        """Who serves the action: others after a restart."""
        return frozenset(bytes(each.endpoint_gid) for each in self._node.get_publishers_info_by_topic(self._status))


class _Goal:
    """One goal; made in the event loop's thread, all else happens in the node's."""

    def __init__(
        self, client: ActionClient, goal: Any, feedback: Callable[[Any], None], is_cancelled: bool = False
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.accepted: asyncio.Future[bool] = self._loop.create_future()
        self.result: asyncio.Future[Any] = self._loop.create_future()
        self.is_cancelled = is_cancelled
        self._client, self._goal, self._feedback = client, goal, feedback
        self._handle: Any = None

    def send(self) -> None:
        """Send it."""
        self._client.send_goal_async(self._goal, feedback_callback=self._on_feedback).add_done_callback(self._on_answer)

    def cancel(self) -> None:
        """Have it end, now or as soon as it is accepted."""
        self.is_cancelled = True
        if self._handle is not None:
            self._handle.cancel_goal_async()

    def _on_feedback(self, message: Any) -> None:
        self._loop.call_soon_threadsafe(self._feedback, message.feedback)

    def _on_answer(self, future: Future) -> None:
        handle = future.result()
        is_accepted = handle is not None and handle.accepted
        if is_accepted:
            self._handle = handle
            handle.get_result_async().add_done_callback(lambda done: tell(self._loop, self.result, done))
            if self.is_cancelled:
                self.cancel()
        self._loop.call_soon_threadsafe(self._accept, is_accepted)

    def _accept(self, is_accepted: bool) -> None:
        if not self.accepted.done():
            self.accepted.set_result(is_accepted)
