"""What counts as a sign that the demonstrator is there."""

from __future__ import annotations

from lfd_planner.pose import Pose
from lfd_vr_bridge.server.signs import Signs
from lfd_vr_bridge.studio.values import Hands, HandState


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def hands(x: float = 0.4, grip: float = 0.0) -> Hands:
    return Hands(right=HandState(Pose((x, 0.0, 0.0)), grip), head=HandState(Pose((0.0, 0.0, 1.7))))


def test_a_headset_that_trembles_on_a_table_is_no_sign() -> None:
    clock = Clock()
    signs = Signs(clock)
    signs.hands(hands())
    for number in range(700):
        clock.now += 0.1
        signs.hands(hands(0.4 + 0.002 * (number % 2)))
    assert signs.silence > 60.0


def test_hands_that_move_however_slowly_grip_or_appear_are_signs() -> None:
    clock = Clock()
    signs = Signs(clock)
    for number in range(700):
        clock.now += 0.1
        signs.hands(hands(0.4 + 0.002 * number))
        assert signs.silence < 1.0
    for seen in (hands(grip=1.0), Hands(), hands()):
        clock.now += 90.0
        signs.hands(seen)
        assert signs.silence == 0.0


def test_what_is_done_is_a_sign() -> None:
    clock = Clock()
    signs = Signs(clock)
    clock.now += 90.0
    signs.seen()
    assert signs.silence == 0.0
