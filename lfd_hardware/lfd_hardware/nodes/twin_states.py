"""What a real robot says about its joints, checked and renamed for its twin, and for how long it has said nothing."""

from __future__ import annotations

import math
from array import array
from collections.abc import Collection, Iterable, Sequence

from sensor_msgs.msg import JointState

MOST_NAMES = 1000  # in one message; who says more says nonsense
LONGEST_SHOWN = 40  # characters of a name from outside
LONGEST_STEP = 0.04  # [s] by which one look can make a silence longer


class StatesRefused(ValueError):
    """A message that cannot be used; the text is one sentence, ``fault`` is the same for all with the same fault."""

    def __init__(self, fault: str, sentence: str) -> None:
        super().__init__(sentence)
        self.fault = fault


class StateMirror:
    """Makes the twin's joint states of the real ones: the robot's joints alone, in the model's order.

    Names of the real side have a prefix. Positions [rad or m] must be finite; a velocity or an effort that is not known
    is NaN, as ros2_control publishes it. A message may have some of the joints only, and each joint has its own stamp:
    an arm and a gripper may publish for themselves.
    """

    def __init__(self, joints: Sequence[str], prefix: str = '') -> None:
        self._joints = {f'{prefix}{joint}': joint for joint in joints}
        self._stamps: dict[str, tuple[int, int]] = {}  # of the newest message, by the real name

    def mirrored(self, real: JointState) -> JointState | None:
        """The twin's message; None when the real one has none of the robot's joints.

        Raises:
            StatesRefused: the message is not usable.
        """
        columns = self._columns(real.name)
        self._check_lengths(real)
        if not columns:
            return None
        self._check_stamp(real, columns)
        twin = JointState(header=real.header, name=[self._joints[name] for name in columns])
        for field in ('position', 'velocity', 'effort'):
            values = getattr(real, field)
            if len(values):
                setattr(twin, field, array('d', self._checked(field, values, columns)))
        stamp = (real.header.stamp.sec, real.header.stamp.nanosec)
        self._stamps.update(dict.fromkeys(columns, stamp))
        return twin

    def forget(self) -> None:
        """Take the next message whatever its stamp: a real side that comes back may have another clock."""
        self._stamps.clear()

    def _columns(self, names: Sequence[str]) -> dict[str, int]:
        """Where the robot's joints are in a message, by the real name, in the model's order."""
        if len(names) > MOST_NAMES:
            raise StatesRefused('names', f'it has {len(names)} names, more than {MOST_NAMES}')
        found: dict[str, int] = {}
        for column, name in enumerate(names):
            if name in self._joints and found.setdefault(name, column) != column:
                raise StatesRefused('twice', f'it has {_shown(name)} twice')
        return {name: found[name] for name in self._joints if name in found}

    @staticmethod
    def _check_lengths(real: JointState) -> None:
        count = len(real.name)
        if len(real.position) != count:
            raise StatesRefused('positions', f'it has {count} names and {len(real.position)} positions')
        for field in ('velocity', 'effort'):
            length = len(getattr(real, field))
            if length not in (0, count):
                raise StatesRefused(field, f'it has {count} names and {length} values of {field}')

    def _check_stamp(self, real: JointState, columns: Collection[str]) -> None:
        stamp = (real.header.stamp.sec, real.header.stamp.nanosec)
        for name in columns:
            if stamp < self._stamps.get(name, stamp):
                raise StatesRefused('old', f'its stamp is older than the one before for {_shown(name)}')

    @staticmethod
    def _checked(field: str, values: Sequence[float], columns: dict[str, int]) -> list[float]:
        for name, column in columns.items():
            is_unknown = field != 'position' and math.isnan(values[column])
            if not math.isfinite(values[column]) and not is_unknown:
                raise StatesRefused(f'{field} of', f'the {field} of {_shown(name)} is {values[column]}')
        return [values[column] for column in columns.values()]


class Silence:
    """For how long a robot's joints have not been heard of.

    It grows with every look, by a short time at most: time in which this process did not run is no silence of the
    other side, and what came meanwhile is heard before the next look.
    """

    def __init__(self, joints: Iterable[str]) -> None:
        self._heard = dict.fromkeys(joints, -math.inf)  # by joint [s], by the time of the looks
        self._looked: float | None = None
        self._now = 0.0

    def look(self, clock: float) -> None:
        """Let time pass until a clock's now [s]."""
        if self._looked is not None:
            self._now += min(max(clock - self._looked, 0.0), LONGEST_STEP)
        self._looked = clock

    def hear(self, joints: Iterable[str]) -> None:
        """Note that there is news of these joints."""
        self._heard.update({joint: self._now for joint in joints if joint in self._heard})

    @property
    def seconds(self) -> float:
        """Since the news of the joint that was not heard of for longest [s]; infinite before the first.

        Too long by one interval of looks at most, and never too short.
        """
        return self._now - min(self._heard.values())

    @property
    def quietest(self) -> str:
        """The joint that was not heard of for longest."""
        return min(self._heard, key=lambda joint: self._heard[joint])


def _shown(name: str) -> str:
    """A name from outside, fit for a line of a log."""
    return repr(name if len(name) <= LONGEST_SHOWN else f'{name[:LONGEST_SHOWN]}...')
