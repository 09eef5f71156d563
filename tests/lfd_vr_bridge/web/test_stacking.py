"""The seed's stacking demonstration, shown on the page with controllers, with bare hands and with a mouse."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Browser
from support.stacking import assert_same, commanded, demonstrate, saved_task
from support.vr_page import Controller, Demonstrator, Mouse, PinchingHand, VrPage

from lfd_planner.mtdf import Pick
from lfd_planner.pose import Pose
from lfd_vr_bridge.server.bridge_server import BridgeServer


@pytest.mark.parametrize('make', [Controller, PinchingHand], ids=['controllers', 'hands'])
def test_stacked_in_a_headset(chromium: Browser, bridge: BridgeServer, make: Callable[[VrPage], Demonstrator]) -> None:
    with VrPage.opened(chromium, bridge.address, headset=True) as page:
        page.until_ready()
        page.until_demonstrator()
        page.enter_vr()
        hand = make(page)
        page.set_switch('snap', False)
        page.set_switch('gravity', False)
        demonstrate(page, hand, commanded())
        task = saved_task(page)
        page.picture(f'headset_{make.__name__.lower()}')
        assert_same(task, commanded(), 2e-4, 2e-3)
        for step in task.keyframes:
            if isinstance(step, Pick):
                assert step.grasp is not None, 'the hand that grabbed hints at a grasp'
                assert np.linalg.norm(step.grasp.hand.position) < 0.1, 'the hand was at the object'
        assert page.faults == []


def test_stacked_with_a_mouse(chromium: Browser, bridge: BridgeServer) -> None:
    with VrPage.opened(chromium, bridge.address) as page:
        page.until_ready()
        page.until_demonstrator()
        mouse = Mouse(page)
        page.press('start_recording')
        page.until("lfd.state.recording.state === 'recording'")
        shown: dict[str, Pose] = {}
        for name, target in commanded().items():
            mouse.grab(name)
            if name == 'green_box':
                mouse.turn(*'wwwwww')  # onto its side
            mouse.carry(target)
            mouse.release()
            page.until('(count) => lfd.state.recording.keyframes.length === count', 2 * len(shown) + 2)
            shown[name] = page.pose(name)
            assert math.dist(shown[name].position, target.position) < 0.006, name
        page.press('complete_recording')
        page.until("lfd.state.recording.state === 'review'")
        task = saved_task(page)
        assert_same(task, shown, 1e-6, 1e-4)
        assert all(step.grasp is None for step in task.keyframes if isinstance(step, Pick)), 'a mouse has no fingers'
        page.picture('stacked_with_a_mouse')
        assert page.faults == []
