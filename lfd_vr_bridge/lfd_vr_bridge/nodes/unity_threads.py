"""The way from the server's event loop to ROS and back: all that makes or ends something in ROS goes through here."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from rclpy.node import Node

from lfd_vr_bridge.nodes.ros_thread import RosThread
from lfd_vr_bridge.unity_tcp.ports import Refused

Result = TypeVar('Result')


class Threads:
    """The node's thread and the event loop's."""

    def __init__(self, node: Node, loop: asyncio.AbstractEventLoop) -> None:
        self.node, self.loop = node, loop
        self._ros = RosThread(node)

    async def in_ros(self, function: Callable[[], Result]) -> Result:
        """What a function returns in the node's thread.

        Raises:
            Refused: rclpy cannot do it.
        """
        answer: asyncio.Future[Result] = self.loop.create_future()

        def run() -> None:
            try:
                result = function()
            except Exception as error:  # rclpy has many, of no common kind, and who waits must hear of each
                self.in_loop(_settle, answer, None, Refused(' '.join(str(error).split())))
            else:
                self.in_loop(_settle, answer, result, None)

        self._ros.post(run)
        return await answer

    def in_loop(self, function: Callable[..., object], *arguments: Any) -> None:
        """Have a function called in the event loop, soon."""
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(function, *arguments)

    def log(self, level: str, text: str) -> None:
        """Log a sentence; `level` is log, warn or error."""
        logger = self.node.get_logger()
        match level:  # rclpy allows each line of code one level only
            case 'error':
                logger.error(text)
            case 'warn':
                logger.warning(text)
            case _:
                logger.info(text)


def _settle(answer: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    if answer.done():
        return
    if error is not None:
        answer.set_exception(error)
    else:
        answer.set_result(result)
