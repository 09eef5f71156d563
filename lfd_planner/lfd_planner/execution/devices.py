"""What an execution moves and asks: small interfaces behind which ROS, or a test, stands.

Whatever takes long is given `should_stop`, which is to be looked at all the time: when it gives a reason, the device
comes to a smooth stop and that reason is how the call ends. None is how a call ends that did what it should.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from lfd_planner.backends import Failure
from lfd_planner.scene import AttachedObject, PlanningScene
from lfd_planner.solution import Attachment
from lfd_planner.timing import Trajectory

ShouldStop = Callable[[], Failure | None]


class Arm(Protocol):
    """The arm and its controller."""

    def follow(self, trajectory: Trajectory, should_stop: ShouldStop) -> Failure | None:
        """Move along a trajectory that begins where the arm is, to its end."""

    def missing(self) -> Failure | None:
        """Why it cannot be moved now."""

    def joints(self) -> Mapping[str, float]:
        """The newest positions of all joints [rad or m]."""

    def silence(self) -> float:
        """For how long no joint state has come [s]."""


class Hand(Protocol):
    """What opens and closes; a suction cup has no joints and is switched by an output."""

    def move(self, positions: Mapping[str, float], should_stop: ShouldStop) -> Failure | None:
        """Move the hand's joints to positions [rad or m]; fingers that are not there in the end have failed."""

    def grip(self, positions: Mapping[str, float], should_stop: ShouldStop) -> Failure | None:
        """Close on an object, at which the hand's joints are at positions [rad or m]; empty fingers have failed."""

    def missing(self) -> Failure | None:
        """Why it cannot be moved now."""


class SceneKeeper(Protocol):
    """The planning server's scene."""

    def newest(self) -> PlanningScene:
        """The scene after scene sync has had its say.

        Raises:
            SceneFault: it cannot be had.
        """

    def current(self) -> PlanningScene:
        """The scene as the planning server has it.

        Raises:
            SceneFault: it cannot be had.
        """

    def edits(self) -> int:
        """How often somebody, we included, may have changed objects."""

    def servers(self) -> frozenset[str]:
        """Who serves the scene: another one after a restart."""

    def attach(self, attachment: Attachment) -> Failure | None:
        """From now on an object of the world moves with a link."""

    def hold(self, held: AttachedObject) -> Failure | None:
        """The same of an object that the server may not have any more."""

    def detach(self, attachment: Attachment) -> Failure | None:
        """An object stays where it is from now on."""


class Signals(Protocol):
    """The cell's inputs and outputs."""

    def set(self, outputs: Mapping[str, bool | float]) -> None:
        """Switch outputs."""

    def unheard(self, outputs: Mapping[str, bool | float]) -> Failure | None:
        """Why outputs would be switched in vain."""

    def value(self, signal: str) -> bool | float | None:
        """What an input is; None: nobody told yet."""


@dataclass(frozen=True)
class Devices:
    """All that an execution needs."""

    arm: Arm
    hand: Hand
    scene: SceneKeeper
    signals: Signals
