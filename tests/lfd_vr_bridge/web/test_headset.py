"""What a person in a headset sees and can do besides stacking: the board, and what is not meant as a grab."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from support.vr_page import CLICK, Controller, PinchingHand, VrPage

from lfd_planner.pose import Pose
from lfd_vr_bridge.server.bridge_server import BridgeServer

WATCH_TOASTS = """() => {
  globalThis.boardToasts = new Set();
  setInterval(() => boardToasts.add(lfd.boardToast), 10);
}"""
HIDE_JOINT = """(hidden) => {
  const {prototype} = XRFrame;
  prototype.seesAll ??= prototype.getJointPose;
  const some = function (joint, space) {
    return joint.jointName === 'pinky-finger-tip' ? null : this.seesAll(joint, space);
  };
  prototype.getJointPose = hidden ? some : prototype.seesAll;
}"""


@pytest.fixture
def page(chromium: Browser, bridge: BridgeServer) -> Iterator[VrPage]:
    """A headset that is worn."""
    with VrPage.opened(chromium, bridge.address, headset=True) as opened:
        opened.until_ready()
        opened.until_demonstrator()
        opened.enter_vr()
        yield opened
        assert opened.faults == []


def click(page: VrPage) -> None:
    for value in (1, 0):
        page.ask(CLICK, value)
        page.frames()


def test_board_says_why_and_has_room_for_everything(page: VrPage) -> None:
    page.press('tab:run')
    page.until("lfd.buttons().some(({id}) => id === 'plan')")
    page.point('plan')
    page.ask(WATCH_TOASTS)  # which come and go
    click(page)
    page.until("boardToasts.has('Record or open a task first')")
    page.picture('headset_toast')
    # After the first grab there is more to show: what was touched can be removed.
    hand = Controller(page)
    hand.grab('blue_box')
    hand.carry(Pose((0.42, 0.1, -0.1)))
    hand.release()
    page.press('tab:more')
    page.press('invite')
    page.until('lfd.state.invite !== null')
    page.picture('headset_settings')
    page.press('setting:snap')
    page.until('!lfd.state.settings.snap')
    page.press('tab:view')
    page.press('view:up')
    page.press('view:farther')
    page.press('view:reset')
    page.press('view:leave')
    page.until('!lfd.state.xr.presenting')


def test_hand_that_is_half_seen_does_not_throw_the_object(page: VrPage) -> None:
    hand = PinchingHand(page)
    hand.grab('blue_box')
    hand.carry(Pose((0.45, 0.1, 0.0)))
    before = page.pose('blue_box')
    page.ask(HIDE_JOINT, True)
    page.frames(3)
    assert math.dist(page.pose('blue_box').position, before.position) < 1e-6
    page.ask(HIDE_JOINT, False)
    hand.carry(Pose((0.45, 0.2, 0.0)))
    assert math.dist(page.pose('blue_box').position, (0.45, 0.2, 0.0)) < 1e-3
    hand.release()
