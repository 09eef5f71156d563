"""What goes wrong with devices, people and networks, and what is left of a demonstration then."""

from __future__ import annotations

import math

from playwright.sync_api import Browser
from support.tcp_relay import relay
from support.vr_page import Controller, Mouse, VrPage

from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene
from lfd_vr_bridge.server.bridge_server import BridgeServer

BLUE = Pose((0.40, -0.10, -0.1263))


def ready(page: VrPage) -> None:
    page.until_ready()
    page.until_demonstrator()


def is_at(page: VrPage, name: str, pose: Pose) -> None:
    """Wait until the page shows an object there."""
    off = 'Math.hypot(...lfd.pose(name).slice(0, 3).map((value, axis) => value - at[axis]))'
    page.until(f'([name, at]) => {off} < 1e-6', [name, list(pose.position)])


def test_lost_controller_and_headset_put_away(chromium: Browser, bridge: BridgeServer) -> None:
    """Nobody let go of anything: the object goes back, and nothing is recorded."""
    with VrPage.opened(chromium, bridge.address, headset=True) as page:
        ready(page)
        page.enter_vr()
        page.press('start_recording')
        page.until("lfd.state.recording.state === 'recording'")
        for side, fault, mend in (
            ('right', 'xrDevice.controllers.right.connected = false', 'xrDevice.controllers.right.connected = true'),
            ('left', "xrDevice.updateVisibilityState('hidden')", "xrDevice.updateVisibilityState('visible')"),
            ('right', "xrDevice.updateVisibilityState('visible-blurred')", "xrDevice.updateVisibilityState('visible')"),
        ):
            hand = Controller(page, side)
            hand.grab('blue_box')
            hand.carry(Pose((0.5, 0.15, 0.05)))
            assert math.dist(page.pose('blue_box').position, (0.5, 0.15, 0.05)) < 1e-3
            page.ask(fault)
            page.until('lfd.holds.every((name) => name === null)')
            is_at(page, 'blue_box', BLUE)
            assert 'back where it was taken from' in page.ask('lfd.toasts.at(-1)')
            page.ask(f"{hand.device}.updateButtonValue('squeeze', 0)")
            page.ask(mend)
            page.frames(4)
        assert page.state('recording')['keyframes'] == []
        hand = Controller(page, 'right', 'trigger')
        hand.grab('blue_box')
        hand.carry(Pose((0.42, 0.1, -0.1)))
        hand.release()
        page.until('lfd.state.recording.keyframes.length === 2')
        assert page.faults == []


def test_two_demonstrators_and_a_closed_tab(chromium: Browser, bridge: BridgeServer) -> None:
    with VrPage.opened(chromium, bridge.address) as first:
        ready(first)
        with VrPage.opened(chromium, bridge.address) as second:
            second.until_ready()
            page, other = Mouse(first), Mouse(second)
            # Who watches sees what happens, and cannot grab.
            page.grab('red_box')
            page.carry(Pose((0.42, 0.1, -0.05)))
            second.until("Math.abs(lfd.pose('red_box')[1] - 0.1) < 0.01")
            second.page.mouse.click(*second.ask("lfd.onScreen(lfd.pose('blue_box'))"))
            second.until("lfd.toasts.some((text) => text.includes('has control'))")
            page.release()
            # Asked for, handed over.
            second.press('take_control')
            asker = second.state('me')
            first.press(f'give_control:{asker}')
            second.until_demonstrator()
            other.grab('blue_box')
            other.carry(Pose((0.42, 0.2, -0.05)))
            first.until("Math.abs(lfd.pose('blue_box')[1] - 0.2) < 0.01")
            # The tab closes with the object in the hand.
            second.page.close()
            is_at(first, 'blue_box', BLUE)
            first.press('take_control')
            first.until_demonstrator()
            assert first.faults == []


def test_network_drop(chromium: Browser, bridge: BridgeServer) -> None:
    """The page comes back by itself, without a reload; what was recorded is there, what was held is back."""
    with (
        relay(bridge.port) as cable,
        VrPage.opened(chromium, f'http://127.0.0.1:{cable.port}/#code={bridge.code}') as page,
    ):
        ready(page)
        page.ask('globalThis.loadedOnce = true')
        mouse = Mouse(page)
        page.press('start_recording')
        page.until("lfd.state.recording.state === 'recording'")
        mouse.grab('red_box')
        mouse.carry(Pose((0.42, 0.1, -0.1)))
        mouse.release()
        page.until('lfd.state.recording.keyframes.length === 2')
        mouse.grab('blue_box')
        mouse.carry(Pose((0.42, 0.2, -0.05)))
        cable.cut()
        page.until("lfd.state.link.state === 'lost'")
        assert 'Connection lost' in page.page.inner_text('#panel')
        page.page.mouse.up()
        cable.mend()
        page.until("lfd.state.link.state === 'open'")
        page.until_demonstrator()
        is_at(page, 'blue_box', BLUE)
        assert len(page.state('recording')['keyframes']) == 2
        mouse.grab('blue_box')
        mouse.carry(Pose((0.42, 0.2, -0.1)))
        mouse.release()
        page.until('lfd.state.recording.keyframes.length === 4')
        # The link fades: nobody hangs up, and yet nothing arrives.
        mouse.grab('red_box')
        mouse.carry(Pose((0.42, 0.2, -0.05)))
        cable.hush()
        page.until("lfd.state.link.state === 'lost'")
        page.page.keyboard.down('Shift')  # with nothing in the hand any more
        page.page.mouse.move(300, 300)
        page.page.keyboard.up('Shift')
        page.page.mouse.up()
        cable.mend()
        page.until("lfd.state.link.state === 'open'")
        page.until_demonstrator()
        page.until("Math.abs(lfd.pose('red_box')[1] - 0.1) < 0.01")
        assert len(page.state('recording')['keyframes']) == 4
        assert page.ask('loadedOnce'), 'the page was not loaded again'
        assert not [fault for fault in page.faults if 'Cannot read' in fault]


def test_ten_thousand_objects(chromium: Browser, crowded: BridgeServer, crowd: PlanningScene) -> None:
    """Everything is drawn in a handful of calls, and an object can still be grabbed and put down."""
    with VrPage.opened(chromium, crowded.address) as page:
        ready(page)
        assert page.ask('lfd.size') == len(crowd.objects) >= 10_000
        assert page.ask('lfd.renderer.calls') < 100
        mouse = Mouse(page)
        mouse.grab('blue_box')
        mouse.carry(Pose((0.42, 0.1, -0.05)))
        mouse.release()
        page.until("Math.abs(lfd.pose('blue_box')[1] - 0.1) < 0.01")
        page.picture('ten_thousand_objects')
        assert page.faults == []
