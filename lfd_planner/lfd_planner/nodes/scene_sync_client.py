"""How a node has the planning scenes brought up to date before it plans."""

from __future__ import annotations

from dataclasses import dataclass

from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import Trigger


@dataclass(frozen=True)
class SceneUpToDate:
    """Whether the planning scenes are as the twin is."""

    success: bool
    message: str
    """A sentence for each planning server, or why there was no answer."""


class SceneSyncClient:
    """Calls `synchronize_scene`; nothing here blocks.

    In a node's callback: ``outcome = await self._scene_sync.synchronize()``.
    """

    def __init__(self, node: Node, timeout: float = 15.0) -> None:
        self._client = node.create_client(Trigger, 'synchronize_scene')
        self._timeout = timeout
        self._node = node
        self._clock = Clock(clock_type=ClockType.STEADY_TIME)

    @property
    def is_there(self) -> bool:
        """Whether a scene sync runs; without one, the planning scene is what its clients made it."""
        return bool(self._client.service_is_ready())

    def synchronize(self) -> Future:
        """Ask for it; the future's result is a `SceneUpToDate`, at the latest after `timeout` [s]."""
        outcome = Future()
        name = self._client.service_name
        if not self.is_there:
            outcome.set_result(SceneUpToDate(False, f"Nobody serves '{name}'; start scene_sync."))
            return outcome
        call = self._client.call_async(Trigger.Request())
        timer = self._node.create_timer(self._timeout, lambda: self._give_up(call, outcome), clock=self._clock)
        outcome.add_done_callback(lambda _: self._node.destroy_timer(timer))
        call.add_done_callback(lambda done: _take(done, outcome))
        return outcome

    def _give_up(self, call: Future, outcome: Future) -> None:
        self._client.remove_pending_request(call)
        if not outcome.done():
            text = f"'{self._client.service_name}' did not answer in {self._timeout:g} s; see the log of scene_sync."
            outcome.set_result(SceneUpToDate(False, text))


def _take(call: Future, outcome: Future) -> None:
    if outcome.done() or call.cancelled() or call.exception() is not None:
        return
    answer = call.result()
    outcome.set_result(SceneUpToDate(bool(answer.success), str(answer.message)))
