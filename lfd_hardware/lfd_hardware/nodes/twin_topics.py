"""Topics between a twin and the real robot, beside the joint states: commands on their way there, states back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription


class CommandForwarder:
    """Hands a topic's messages on to the real side, while somebody listens there.

    Without a listener at the real side there is none here either: who asks before sending gets the real answer.
    """

    def __init__(
        self,
        node: Node,
        kind: Any,
        names: tuple[str, str],
        qos: QoSProfile,
        group: CallbackGroup,
        on_message: Callable[[Any], None] | None = None,
    ) -> None:
        """``names`` are those of the topic here and at the real side; ``on_message`` sees what is handed on."""
        self._node, self._kind, self._qos, self._group = node, kind, qos, group
        self._name, real_name = names
        self._on_message = on_message
        self._publisher = node.create_publisher(kind, real_name, qos)
        self._subscription: Subscription | None = None

    def look(self) -> None:
        """Begin to listen, or stop, as the real side does."""
        is_heard = self._publisher.get_subscription_count() > 0
        if is_heard and self._subscription is None:
            self._subscription = self._node.create_subscription(
                self._kind, self._name, self._hand_on, self._qos, callback_group=self._group
            )
        elif not is_heard and self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None

    def _hand_on(self, message: Any) -> None:
        self._publisher.publish(message)
        if self._on_message is not None:
            self._on_message(message)
