"""Hands the goals of an action on to the real robot's action of the same kind, and its answers back, one to one.

All of it happens in the thread that spins the node: rclpy's action client loses answers otherwise. So nothing here
blocks; what waits is a coroutine, and a timer of the node ends waits that take too long (``Patience``).
"""

from __future__ import annotations

import functools
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient, ActionServer, CancelResponse, GoalResponse
from rclpy.action.client import ClientGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.task import Future

from lfd_hardware.nodes.twin_messages import ActionKind

ANSWER_WITHIN = 2.0  # [s] for the real side to take or refuse a goal, or to answer a cancel request
END_WITHIN = 2.0  # [s] for the real side to end a goal that was given up
LOOK_AFTER = 0.5  # [s] between two looks whether the real side of a running goal is still there
ENDED = (GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED, GoalStatus.STATUS_ABORTED)


class Patience:
    """Waits of coroutines that come to an end; ``look`` must be called all the time."""

    def __init__(self) -> None:
        self._waits: list[tuple[float, Callable[[], None]]] = []

    async def answered(self, future: Future, within: float) -> bool:
        """Wait until a future is done, at most for a time [s]; return whether it is."""
        over = Future()

        def end(*_: object) -> None:
            if not over.done():
                over.set_result(None)

        wait = (time.monotonic() + within, end)
        self._waits.append(wait)
        future.add_done_callback(end)
        await over
        if wait in self._waits:
            self._waits.remove(wait)
        return bool(future.done())

    def look(self) -> None:
        """End the waits whose time is over."""
        now = time.monotonic()
        for wait in [wait for wait in self._waits if wait[0] <= now]:
            self._waits.remove(wait)
            wait[1]()


@dataclass(eq=False)
class _Goal:
    """A goal of the twin's and its counterpart at the real side."""

    real: ClientGoalHandle
    twin: Any = None  # the handle of the twin's server, from acceptance on
    given_up: str = ''  # why, in one sentence
    end_by: float = float('inf')  # [s] when to end it without the real side's answer
    cancels: list[Future] = field(default_factory=list)  # done when a cancel request of a client is answered

    def give_up(self, why: str) -> None:
        """Cancel it at the real side for a reason of ours; that has some time to answer."""
        if not self.given_up:
            self.given_up, self.end_by = why, time.monotonic() + END_WITHIN
        self.real.cancel_goal_async()


class GoalForwarder:
    """An action server whose goals run at another one."""

    def __init__(
        self, node: Node, kind: ActionKind, name: str, real_name: str, why_not: Callable[[], str], patience: Patience
    ) -> None:
        """``why_not`` gives a sentence when no goal may be sent now, else an empty text."""
        self._node, self._kind, self._real_name = node, kind, real_name
        self._why_not, self._patience = why_not, patience
        self._logger = node.get_logger()
        self._goals: list[_Goal] = []
        # Between a goal's two callbacks, by the id of its request: its counterpart, or why it is refused.
        self._arriving: dict[int, tuple[Any, _Goal | str]] = {}
        group = ReentrantCallbackGroup()  # a goal that waits for the real side must not keep another waiting
        self._client = ActionClient(node, kind.type, real_name, callback_group=group)
        self._server = ActionServer(
            node,
            kind.type,
            name,
            execute_callback=self._unexpected,
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
            callback_group=group,
        )

    @property
    def count(self) -> int:
        """How many goals are at the real side, or on their way there."""
        return len(self._goals)

    def give_up(self, why: str) -> None:
        """Cancel all goals at the real side, for a reason that is one sentence."""
        for goal in self._goals:
            goal.give_up(why)

    def look(self) -> None:
        """Give goals up that the real side took but rclpy did not: their client is gone, or gave one id to two."""
        for request, goal in [*self._arriving.values()]:
            del self._arriving[id(request)]
            if isinstance(goal, _Goal):
                goal.give_up('Its client is gone.')
                self._goals.remove(goal)

    def destroy(self) -> None:
        """Let go of server and client; nobody spins the node any more."""
        self._server.destroy()
        self._client.destroy()

    async def _on_goal(self, request: Any) -> GoalResponse:
        """Send a goal on, and accept it if the real side does."""
        why = self._why_not()
        if not why and not self._client.server_is_ready():
            why = f"Nobody serves '{self._real_name}': start the real robot's controller."
        if why:
            return self._refuse(request, why)
        goal = self._new_goal()
        sent = self._client.send_goal_async(
            self._kind.to_real(request), functools.partial(self._on_feedback, goal), goal_uuid=goal.real.goal_id
        )
        self._goals.append(goal)
        response = await self._response(goal, sent)
        if response is GoalResponse.ACCEPT:
            self._arriving[id(request)] = (request, goal)
            return response
        self._goals.remove(goal)
        return self._refuse(request, goal.given_up) if goal.given_up else response

    def _new_goal(self) -> _Goal:
        """A goal with an id, by which it can be cancelled even if the real side never says that it took it."""
        service = self._kind.type.Impl.SendGoalService
        goal_id = service.Request().goal_id
        goal_id.uuid = list(uuid.uuid4().bytes)
        return _Goal(ClientGoalHandle(self._client, goal_id, service.Response(accepted=True)))

    async def _response(self, goal: _Goal, sent: Future) -> GoalResponse:
        if not await self._patience.answered(sent, ANSWER_WITHIN):
            # It may have taken the goal all the same, or may take it yet.
            goal.give_up(f"'{self._real_name}' did not answer within {ANSWER_WITHIN:g} s: is the real side stuck?")
            sent.add_done_callback(lambda late: late.result().accepted and late.result().cancel_goal_async())
            return GoalResponse.REJECT
        goal.real = sent.result()
        if not goal.real.accepted:
            self._logger.error(f"'{self._real_name}' refused a goal: its own log says why.")
            return GoalResponse.REJECT
        if goal.given_up:
            goal.real.cancel_goal_async()
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _refuse(self, request: Any, why: str) -> GoalResponse:
        """Refuse a goal: by its result where that can say why, else by rejection."""
        self._logger.error(f'Refused a goal: {why}')
        if self._kind.failure is None:
            return GoalResponse.REJECT
        self._arriving[id(request)] = (request, why)
        return GoalResponse.ACCEPT

    def _on_accepted(self, twin: Any) -> None:
        _, goal = self._arriving.pop(id(twin.request))
        if isinstance(goal, _Goal):
            goal.twin = twin
            twin.execute(functools.partial(self._run, goal))
        else:
            twin.execute(functools.partial(self._tell, goal))

    async def _tell(self, why: str, twin: Any) -> Any:
        """The result of a goal that was refused."""
        twin.abort()
        assert self._kind.failure is not None
        return self._kind.failure(self._kind.type.Result(), why)

    async def _run(self, goal: _Goal, twin: Any) -> Any:
        """Wait for the end at the real side and end here likewise."""
        try:
            answer = await self._answer(goal)
            for cancel in goal.cancels:  # whose answer decides whether this goal counts as cancelled
                await self._patience.answered(cancel, ANSWER_WITHIN)
        finally:
            self._goals.remove(goal)
        if answer is not None and answer.status == GoalStatus.STATUS_SUCCEEDED:
            twin.succeed()
            return answer.result
        if answer is not None and answer.status == GoalStatus.STATUS_CANCELED and twin.is_cancel_requested:
            twin.canceled()
            return answer.result
        twin.abort()
        result = self._kind.type.Result() if answer is None else answer.result
        why = self._why_ended(goal, answer)
        return result if not why or self._kind.failure is None else self._kind.failure(result, why)

    def _why_ended(self, goal: _Goal, answer: Any) -> str:
        """A sentence about an end that is not the real side's own; empty: its own words are enough."""
        if goal.given_up or answer is None:
            unknown = '' if answer is not None else f" '{self._real_name}' did not say whether it stopped."
            return f'{goal.given_up}{unknown}'.strip()
        if answer.status == GoalStatus.STATUS_CANCELED:
            return f"Somebody else cancelled it at '{self._real_name}'."
        if answer.status != GoalStatus.STATUS_ABORTED:
            return f"'{self._real_name}' does not know the goal any more: was it restarted?"
        return ''

    async def _answer(self, goal: _Goal) -> Any:
        """The real side's result with its status; None when there will be none."""
        asked = goal.real.get_result_async()
        while not await self._patience.answered(asked, LOOK_AFTER):
            if not self._client.server_is_ready():
                goal.give_up(f"'{self._real_name}' is gone while a goal was running.")
                goal.end_by = 0.0
            if time.monotonic() > goal.end_by:
                asked.cancel()
                return None
            if goal.real.status in ENDED:  # an answer that was lost: ask again
                asked.cancel()
                asked = goal.real.get_result_async()
        return asked.result()

    async def _on_cancel(self, twin: Any) -> CancelResponse:
        """Cancel at the real side, and answer as that does."""
        goal = next((goal for goal in self._goals if goal.twin is not None and goal.twin == twin), None)
        if goal is None:
            return CancelResponse.REJECT
        done = Future()
        goal.cancels.append(done)
        asked = goal.real.cancel_goal_async()
        if await self._patience.answered(asked, ANSWER_WITHIN):
            is_accepted = len(asked.result().goals_canceling) > 0
        else:
            is_accepted = False
            self._logger.error(f"'{self._real_name}' did not answer a cancel request within {ANSWER_WITHIN:g} s.")
        done.set_result(None)  # rclpy changes the goal's state right after this, before anybody who waits goes on
        return CancelResponse.ACCEPT if is_accepted else CancelResponse.REJECT

    def _on_feedback(self, goal: _Goal, message: Any) -> None:
        if goal.twin is not None and goal.twin.is_active:
            goal.twin.publish_feedback(self._kind.from_real(message.feedback))

    @staticmethod
    def _unexpected(_: Any) -> Any:
        raise AssertionError('every goal brings its own execute callback')
