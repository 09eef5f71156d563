"""When the state publisher owes the world a joint's transform again."""

import math
from collections.abc import Collection


class PublishRate:
    """Lets joint states through at most `frequency` [Hz] times a second of their own time stamps.

    Each joint is counted for itself, because arm and gripper may report in messages of their own. Times are
    nanoseconds, stamps those of the messages.
    """

    def __init__(self, frequency: float, *, ignore_timestamp: bool = False) -> None:
        self.frequency = frequency
        self.ignore_timestamp = ignore_timestamp
        self._published: dict[str, int] = {}
        self._last_now = 0

    def clock_went_back(self, now: int) -> bool:
        """Take note of the node's clock; if it went back (a bag was restarted), all joints are due again."""
        went_back = now < self._last_now
        if went_back:
            self._published.clear()
        self._last_now = now
        return went_back

    def due(self, joints: Collection[str], stamp: int) -> bool:
        """Whether a message about these joints is to be published; if so, it counts as published.

        One older than the last of its joints is not, nor one without a time stamp, unless stamps are ignored.
        """
        last = min(self._published.get(joint, -math.inf) for joint in joints)
        if not self.ignore_timestamp and (stamp <= 0 or stamp - last < 1e9 / self.frequency):
            return False
        self._published.update(dict.fromkeys(joints, stamp))
        return True
