"""The page in a real browser, and a person in front of it: with controllers, with bare hands, or with a mouse.

::

    with browser() as chromium, VrPage.opened(chromium, bridge.address, headset=True) as page:
        page.until_demonstrator()
        page.enter_vr()
        hand = Controller(page, 'right')
        page.press('start_recording')
        hand.grab('blue_box')
        hand.carry(Pose((0.42, 0.1, -0.1263)))
        hand.release()

Poses are in ROS axes in the scene's frame, as in the protocol. The page is not touched: the headset is an emulation
(iwer) that is put in place before the page loads, and buttons are pressed where they are, in the page or on the board.
"""

from __future__ import annotations

import math
import os
import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from lfd_planner.pose import Pose
from lfd_vr_bridge.web_libraries import folder

FLAGS = (
    '--no-sandbox', '--disable-gpu', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-quic',
    '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
)  # fmt: skip
TIMEOUT = 60.0  # [s]
SCREEN = (960, 600)  # [px]
HEADSET = (640, 360)  # [px]
INSTALL_HEADSET = """
globalThis.xrDevice = new IWER.XRDevice(IWER.metaQuest3);
xrDevice.installRuntime({forceInstall: true});
"""
FRAMES = """async (count) => {
  const until = lfd.frames + count;
  while (lfd.frames < until && lfd.presenting) await new Promise((resolve) => setTimeout(resolve, 4));
}"""

POINT = """(id) => {
  const to = lfd.board(id);
  const input = (xrDevice.primaryInputMode === 'hand' ? xrDevice.hands : xrDevice.controllers).right;
  const {x, y, z} = xrDevice.position;
  const from = [x, y, z].map((eye, axis) => to[axis] + 0.35 * (eye - to[axis]));
  const length = Math.hypot(...to.map((value, axis) => value - from[axis]));
  const [dx, dy, dz] = to.map((value, axis) => (value - from[axis]) / length);
  const q = [dy, -dx, 0, 1 - dz];  // the shortest turn from -z, where rays point, to the button
  input.position.set(...from);
  input.quaternion.set(...q.map((value) => value / Math.hypot(...q)));
}"""
CLICK = """(value) => (xrDevice.primaryInputMode === 'hand'
  ? xrDevice.hands.right.updatePinchValue(value)
  : xrDevice.controllers.right.updateButtonValue('trigger', value))"""


def pose_of(numbers: Sequence[float]) -> Pose:
    """The pose of the protocol's seven numbers."""
    x, y, z, qx, qy, qz, qw = numbers
    return Pose((x, y, z), (qx, qy, qz, qw))


def plain(address: str) -> str:
    """The same page, drawn with less effort."""
    path, _, code = address.partition('#')
    return f'{path}?quality=low#{code}'


@contextmanager
def browser() -> Iterator[Browser]:
    """A Chromium without a screen."""
    chromium = shutil.which('chromium') or shutil.which('chromium-browser') or shutil.which('google-chrome')
    assert chromium is not None, 'the tests of the page need Chromium: apt install chromium'
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=[*FLAGS])
        try:
            yield browser
        finally:
            browser.close()


@dataclass
class VrPage:
    """One device that shows the page."""

    page: Page
    address: str
    faults: list[str] = field(default_factory=list)
    """What the page complained of in its console."""

    @staticmethod
    @contextmanager
    def opened(
        browser: Browser,
        address: str,
        *,
        headset: bool = False,
        size: tuple[int, int] | None = None,
        touch: bool = False,
        pretty: bool = False,
    ) -> Iterator[VrPage]:
        """The page in a new profile, which is a device of its own; an address with a code, as on the console, pairs.

        Unless it is to be `pretty`, for pictures, it is drawn plainly, which is a lot of work less.
        """
        width, height = size or (HEADSET if headset else SCREEN)
        context = browser.new_context(
            viewport={'width': width, 'height': height}, ignore_https_errors=True, has_touch=touch, color_scheme='dark'
        )
        context.set_default_timeout(TIMEOUT * 1000.0)
        try:
            yield VrPage.in_context(context, address if pretty else plain(address), headset=headset)
        finally:
            context.close()

    @staticmethod
    def in_context(context: BrowserContext, address: str, *, headset: bool = False) -> VrPage:
        """The page in a profile that may know a token already."""
        page = context.new_page()
        opened = VrPage(page, address)
        page.on('pageerror', lambda error: opened.faults.append(str(error)))
        page.on('console', lambda message: message.type == 'error' and opened.faults.append(message.text))
        if headset:
            page.add_init_script(path=folder() / 'iwer' / 'build' / 'iwer.min.js')
            page.add_init_script(INSTALL_HEADSET)
        page.goto(address)
        return opened

    # What the page knows ----------------------------------------------------------------------------------------------

    def ask(self, script: str, argument: Any = None) -> Any:
        """What an expression or function of JavaScript gives."""
        return self.page.evaluate(script, argument)

    def until(self, condition: str, argument: Any = None, timeout: float = TIMEOUT) -> None:
        """Wait until an expression or function of JavaScript is true."""
        # Playwright's own wait_for_function compiles text in the page, which the page's security policy forbids.
        end = time.monotonic() + timeout
        while not self.page.evaluate(condition, argument):
            assert time.monotonic() < end, f'in vain: {condition} {argument or ""}; the page says {self._words()}'
            self.page.wait_for_timeout(15.0)

    def _words(self) -> list[str]:
        return [*self.faults, *(self.ask('globalThis.lfd?.toasts') or [])]

    def until_ready(self) -> None:
        """Paired, with robot and scene on show."""
        self.until('globalThis.lfd?.ready')

    def until_demonstrator(self) -> None:
        """This device has control."""
        self.until('lfd.state.me !== null && lfd.state.roster.demonstrator === lfd.state.me')

    def state(self, name: str) -> Any:
        """A field of the page's state."""
        return self.ask('(name) => lfd.state[name]', name)

    def pose(self, name: str) -> Pose:
        """Where the page shows an object."""
        numbers, drawn = self.ask('(name) => [lfd.pose(name), lfd.drawnAt(name)]', name)
        # The test's objects have one part, in their middle.
        assert math.dist(numbers[:3], drawn) < 1e-5, f'{name} is drawn at {drawn}, and not where it is'
        return pose_of(numbers)

    def frames(self, count: int = 2) -> None:
        """Wait for so many pictures of a headset; out of it nobody knows when the next one comes."""
        self.ask(FRAMES, count)

    # What a person does -----------------------------------------------------------------------------------------------

    def pair(self, code: str) -> None:
        """Type a code into the form."""
        self.page.fill('#pairing input', code)

    def enter_vr(self) -> None:
        """Put the headset on."""
        self.page.click('#enter-vr')
        self.until('lfd.state.xr.presenting && lfd.board("stop") !== null')

    def leave_vr(self) -> None:
        """Take the headset off."""
        self.ask('() => xrDevice.activeSession.end()')
        self.until('!lfd.state.xr.presenting')

    def press(self, action: str) -> None:
        """Press a button of the panel: with the mouse, or in a headset with the right controller's ray and trigger."""
        if self.ask('lfd.state.xr.presenting'):
            self._press_board(action)
            return
        self.page.click(f'[data-action="{action}"]:not([aria-disabled="true"])')

    def set_switch(self, setting: str, on: bool) -> None:
        """Put a switch of the settings (snap, gravity, keep_paths) where it is wanted."""
        self.press('tab:more')
        if self.state('settings')[setting] != on:
            self.press(f'setting:{setting}')
        self.until('([name, on]) => lfd.state.settings[name] === on', [setting, on])
        self.press('tab:task')

    def picture(self, name: str) -> Path:
        """Write a picture of the page to the folder that LFD_SCREENSHOTS names, or nowhere in particular."""
        into = Path(os.environ.get('LFD_SCREENSHOTS') or '/tmp/lfd_screenshots')
        into.mkdir(parents=True, exist_ok=True)
        file = into / f'{name}.png'
        self.page.screenshot(path=file)
        return file

    def _press_board(self, action: str) -> None:
        """Point at a button of the board from a third of the way, and click with trigger or pinch."""
        self._turn_to(action)
        self.point(action)
        for value in (1, 0):
            self.ask(CLICK, value)
            self.frames()

    def _turn_to(self, action: str) -> None:
        """Turn the board's pages until a button can be pressed."""
        end = time.monotonic() + TIMEOUT
        while action not in (shown := self._on_board()):
            assert time.monotonic() < end, f'{action} is not on the board, which has {sorted(shown)}'
            turns = sorted(button for button in shown if button.startswith('scroll:page:'))
            if turns:
                self._press_board(turns[-1])
            self.page.wait_for_timeout(15.0)

    def _on_board(self) -> set[str]:
        """The buttons of the board's page that can be pressed."""
        return set(self.ask('lfd.buttons().filter(({enabled}) => enabled).map(({id}) => id)'))

    def point(self, action: str) -> None:
        """Point at a button of the board with the right hand."""
        self.ask(POINT, action)
        self.frames()


class Demonstrator(Protocol):
    """Somebody who moves objects."""

    def grab(self, name: str) -> None:
        """Take an object where it is."""

    def carry(self, to: Pose) -> None:
        """Bring what is held to a pose, as well as this can be done."""

    def release(self) -> Pose:
        """Let go; gives where the page showed the object last before."""


class _XrInput(ABC):
    """What controllers and hands have in common: `device` is JavaScript that names the emulated input."""

    def __init__(self, page: VrPage, side: str, device: str) -> None:
        self.page = page
        self.side = side
        self.device = device
        self.held = ''

    def grab(self, name: str) -> None:
        page = self.page
        # The hand, not the place that the device reports, is put into the object.
        page.frames()
        here = self._at()
        hand = pose_of(page.ask('(side) => lfd.inHeadset(lfd.hands()[side])', self.side))
        target = self._in_headset(page.pose(name))
        moved = [a + b - c for a, b, c in zip(here.position, target.position, hand.position, strict=True)]
        self._go(Pose((moved[0], moved[1], moved[2]), here.orientation))
        self._close(True)
        page.until('(name) => lfd.holds.includes(name)', name)
        page.frames()
        self.held = name

    def carry(self, to: Pose) -> None:
        self._go(self._in_headset(to) @ self._in_headset(self.page.pose(self.held)).inverse @ self._at())

    def release(self) -> Pose:
        shown = self.page.pose(self.held)
        self._close(False)
        self.page.until('(name) => !lfd.holds.includes(name)', self.held)
        self.page.frames()
        self.held = ''
        return shown

    @abstractmethod
    def _close(self, closed: bool) -> None: ...

    def _in_headset(self, pose: Pose) -> Pose:
        return pose_of(self.page.ask('(pose) => lfd.inHeadset(pose)', [*pose.position, *pose.orientation]))

    def _at(self) -> Pose:
        parts = '[p.x, p.y, p.z, q.x, q.y, q.z, q.w]'
        script = f'() => {{ const {{position: p, quaternion: q}} = {self.device}; return {parts} }}'
        return pose_of(self.page.ask(script))

    def _go(self, to: Pose) -> None:
        script = f'([p, q]) => {{ {self.device}.position.set(...p); {self.device}.quaternion.set(...q) }}'
        self.page.ask(script, [list(to.position), list(to.orientation)])
        self.page.frames()


class Controller(_XrInput):
    """A controller whose squeeze grabs."""

    def __init__(self, page: VrPage, side: str = 'right', button: str = 'squeeze') -> None:
        super().__init__(page, side, f'xrDevice.controllers.{side}')
        self.button = button

    def _close(self, closed: bool) -> None:
        self.page.ask(f"{self.device}.updateButtonValue('{self.button}', {int(closed)})")
        self.page.frames()


class PinchingHand(_XrInput):
    """A bare hand that grabs with thumb and index finger."""

    def __init__(self, page: VrPage, side: str = 'right') -> None:
        super().__init__(page, side, f'xrDevice.hands.{side}')
        page.ask("xrDevice.primaryInputMode = 'hand'")
        page.frames(4)

    def _close(self, closed: bool) -> None:
        self.page.ask(f'{self.device}.updatePinchValue({int(closed)})')
        self.page.frames()


class Mouse:
    """A mouse: level, then with Shift up and down; keys turn."""

    def __init__(self, page: VrPage) -> None:
        self.page = page
        self.held = ''
        self.at = (0.0, 0.0)

    def grab(self, name: str) -> None:
        self._to(self._screen(self.page.pose(name).position))
        self.page.page.mouse.down()
        self.page.until('(name) => lfd.holds.includes(name)', name)
        self.held = name

    def carry(self, to: Pose, *, near: float = 0.0015) -> None:
        """Bring what is held to a position; its orientation stays (see `turn`)."""
        high = max(to.position[2], self.page.pose(self.held).position[2]) + 0.06
        self._drag((None, None, high), near)
        self._drag((to.position[0], to.position[1], None), near)
        self._drag((None, None, to.position[2]), near)

    def turn(self, *keys: str) -> None:
        """Press keys that turn what is held: q, e, w, s, a, d; with Alt+ in small steps."""
        for key in keys:
            self.page.page.keyboard.press(key)

    def release(self) -> Pose:
        shown = self.page.pose(self.held)
        self.page.page.mouse.up()
        self.page.until('(name) => !lfd.holds.includes(name)', self.held)
        self.held = ''
        return shown

    def _drag(self, goal: Sequence[float | None], near: float) -> None:
        """Move the pointer until the named coordinates are right, as a person's eye would."""
        lifting = goal[2] is not None
        if lifting:
            self.page.page.keyboard.down('Shift')
        for _ in range(12):
            now = self.page.pose(self.held).position
            wanted = [value if aim is None else aim for value, aim in zip(now, goal, strict=True)]
            off = [aim - value for value, aim in zip(now, wanted, strict=True)]
            if max(map(abs, off)) < near:
                break
            here, there = self._screen(now), self._screen(wanted)
            self._to((self.at[0] + there[0] - here[0], self.at[1] + there[1] - here[1]))
        if lifting:
            self.page.page.keyboard.up('Shift')

    def _screen(self, point: Sequence[float]) -> tuple[float, float]:
        x, y = self.page.ask('(point) => lfd.onScreen(point)', list(point))
        return x, y

    def _to(self, at: tuple[float, float]) -> None:
        self.page.page.mouse.move(*at)
        self.at = at
