"""What a person in a headset sees and can do besides stacking: the board, and what is not meant as a grab."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from support.vr_page import CLICK, Controller, VrPage

from lfd_planner.pose import Pose
from lfd_vr_bridge.server.bridge_server import BridgeServer


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
    click(page)
    page.until("lfd.boardToast === 'Record or open a task first'")
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
