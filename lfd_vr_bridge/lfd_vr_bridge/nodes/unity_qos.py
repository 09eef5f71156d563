"""The quality of service with which Unity is heard and hears, so that whoever is on a topic matches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from lfd_description.nodes.qos import LATCHED_QOS, TF_QOS, TF_STATIC_QOS, UNITY_HEARS_QOS

TRANSFORMS = 'tf2_msgs/TFMessage'
"""Every message of it tells of other frames, so that the newest does not stand for those before it."""


def waiting_depth(type_name: str) -> int:
    """How many messages of a topic wait for a client that reads slowly."""
    return int(TF_QOS.depth) if type_name == TRANSFORMS else 1


def subscription_qos(type_name: str, publishers: Sequence[Any]) -> QoSProfile:
    """To hear all who publish: as reliable as the least reliable, and what is latched if all of them latch."""
    profiles = [publisher.qos_profile for publisher in publishers]
    reliable = all(profile.reliability != ReliabilityPolicy.BEST_EFFORT for profile in profiles)
    latched = bool(profiles) and all(profile.durability == DurabilityPolicy.TRANSIENT_LOCAL for profile in profiles)
    depth = TF_STATIC_QOS.depth if latched or type_name == TRANSFORMS else UNITY_HEARS_QOS.depth
    return QoSProfile(
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


def publisher_qos(queue_size: int, latch: bool, subscribers: Sequence[Any]) -> QoSProfile:
    """To be heard by all who listen: some hear only publishers that latch, and all hear those."""
    if latch:
        return LATCHED_QOS
    wanted = any(listener.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL for listener in subscribers)
    return QoSProfile(
        depth=queue_size,
        reliability=ReliabilityPolicy.RELIABLE,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if wanted else DurabilityPolicy.VOLATILE,
    )


def same(one: QoSProfile, other: QoSProfile) -> bool:
    """Whether two profiles match the same partners."""
    return bool(one.reliability == other.reliability and one.durability == other.durability)
