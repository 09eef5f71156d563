"""Publish what the hardware reports: ``joint_states`` and ``dynamic_joint_states``."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Any

from control_msgs.msg import DynamicJointState, InterfaceValue
from sensor_msgs.msg import JointState

from lfd_description.nodes.qos import JOINT_STATES_OUT_QOS
from lfd_hardware.controllers.controller import Controller

LOOK_EVERY = 25  # cycles between two looks whether anybody listens to dynamic_joint_states
FIELDS = ('position', 'velocity', 'effort')  # [rad, rad/s, Nm] or [m, m/s, N]


class JointStateBroadcaster(Controller):
    """Publishes the state of all joints in every cycle, stamped by the node's clock.

    ``dynamic_joint_states`` comes in every cycle too while somebody listens, else every LOOK_EVERY cycles.
    """

    type_name = 'joint_state_broadcaster/JointStateBroadcaster'

    def configure(self) -> None:
        """Decide which interfaces to publish, and make the publishers and the messages that are filled later."""
        joints = self.parameter('joints', [], 'Joints to publish; empty: all.')
        interfaces = self.parameter('interfaces', [], 'Interfaces of these joints to publish; empty: all.')
        local = self.parameter('use_local_topics', False, "Publish in the controller's own namespace.")
        if joints and interfaces:
            self._states = tuple(f'{joint}/{interface}' for joint in joints for interface in interfaces)
        else:
            self._states = tuple(self.hardware.states)
        prefix = '~/' if local else ''
        self._joint_publisher = self.node.create_publisher(JointState, f'{prefix}joint_states', JOINT_STATES_OUT_QOS)
        self._dynamic_publisher = self.node.create_publisher(
            DynamicJointState, f'{prefix}dynamic_joint_states', JOINT_STATES_OUT_QOS
        )
        self._make_messages()
        self._cycle = 0
        self._is_heard = False

    def command_interfaces(self) -> Sequence[str]:
        """None: it only reads."""
        return ()

    def state_interfaces(self) -> Sequence[str]:
        """Everything that is published."""
        return self._states

    def activate(self) -> None:
        """Nothing to prepare."""

    def update(self) -> None:
        """Publish joint_states, and dynamic_joint_states if somebody listens or may come to."""
        stamp = self.node.get_clock().now().to_msg()
        value = self.hardware.states.get
        message = self._joint_message
        message.header.stamp = stamp
        for field, names in self._columns:
            setattr(message, field, array('d', [value(name, math.nan) for name in names]))
        self._joint_publisher.publish(message)
        if self._cycle % LOOK_EVERY == 0:
            self._is_heard = self._dynamic_publisher.get_subscription_count() > 0
        if self._is_heard or self._cycle % LOOK_EVERY == 0:
            self._dynamic_message.header.stamp = stamp
            for values, names in self._groups:
                values.values = array('d', [value(name, math.nan) for name in names])
            self._dynamic_publisher.publish(self._dynamic_message)
        self._cycle += 1

    def deactivate(self, reason: str) -> None:
        """Nothing is going on between two cycles."""

    def cleanup(self) -> None:
        """Take the publishers back."""
        self.node.destroy_publisher(self._joint_publisher)
        self.node.destroy_publisher(self._dynamic_publisher)

    def _make_messages(self) -> None:
        parts: dict[str, list[str]] = {}
        for name in self._states:
            part, _, interface = name.rpartition('/')
            parts.setdefault(part, []).append(interface)
        joints = [part for part, interfaces in parts.items() if set(interfaces) & set(FIELDS)]
        self._joint_message = JointState(name=joints)
        # A field that no joint has stays empty; a single joint without it is NaN.
        self._columns = [
            (field, [f'{joint}/{field}' for joint in joints])
            for field in FIELDS
            if any(field in parts[joint] for joint in joints)
        ]
        self._groups: list[tuple[Any, list[str]]] = [
            (InterfaceValue(interface_names=interfaces), [f'{part}/{interface}' for interface in interfaces])
            for part, interfaces in parts.items()
        ]
        self._dynamic_message = DynamicJointState(
            joint_names=list(parts), interface_values=[values for values, _ in self._groups]
        )
