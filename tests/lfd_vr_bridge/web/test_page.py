"""What a person sees of pairing, reach, plans and failures; with a picture of each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from playwright.sync_api import Browser
from support.vr_page import Mouse, VrPage
from support.vr_server import SayerOfYes

from lfd_planner.mtdf import Task
from lfd_planner.pose import Pose
from lfd_vr_bridge.server.bridge_server import BridgeServer
from lfd_vr_bridge.studio.values import PlannedSegment, PlanProgress, PlanResult

FAR = Pose((0.62, 0.42, -0.05))


def record_one(page: VrPage, to: Pose = FAR) -> None:
    """A recording of one box."""
    mouse = Mouse(page)
    page.press('start_recording')
    page.until("lfd.state.recording.state === 'recording'")
    mouse.grab('blue_box')
    mouse.carry(to)
    mouse.release()
    page.until('lfd.state.recording.keyframes.length === 2')
    page.press('complete_recording')
    page.until("lfd.state.recording.state === 'review'")


def test_pairing(chromium: Browser, bridge: BridgeServer) -> None:
    address = bridge.address.partition('#')[0]
    with VrPage.opened(chromium, address) as page:
        page.until("document.querySelector('#pairing').open")
        wrong = f'{(int(bridge.code) + 1) % 1_000_000:06d}'
        page.pair(wrong)
        page.until("document.querySelector('[data-error]').textContent.includes('wrong')")
        page.picture('pairing')
        page.pair(bridge.code)
        page.until_ready()
        assert not page.ask("document.querySelector('#pairing').open")
        page.page.reload()  # the device is known from now on, and has all files already
        page.until_ready()
        assert not [fault for fault in page.faults if 'wrong' not in fault]


def test_objects_are_added_and_removed(chromium: Browser, bridge: BridgeServer) -> None:
    with VrPage.opened(chromium, bridge.address) as page:
        page.until_ready()
        page.until_demonstrator()
        before = page.state('objects')
        page.press('tab:more')
        page.press('add_object:cylinder')
        page.until('(count) => lfd.state.objects === count', before + 1)
        name = page.state('touched')
        thing = bridge.studio.twin.scene.objects[name]
        low = thing.pose.position[2] - 0.02
        assert low == pytest.approx(-0.15, abs=1e-3), 'it stands on the table'
        page.picture('objects')
        page.press(f'remove_object:{name}')
        page.press(f'remove_object:{name}')  # asked twice
        page.until('(count) => lfd.state.objects === count', before)
        assert name not in bridge.studio.twin.scene.objects
        assert page.faults == []


def test_reach_is_shown_on_what_is_held(chromium: Browser, bridge: BridgeServer) -> None:
    with VrPage.opened(chromium, bridge.address, pretty=True) as page:
        page.until_ready()
        page.until_demonstrator()
        page.picture('desktop')
        page.press('start_recording')
        mouse = Mouse(page)
        mouse.grab('blue_box')
        mouse.carry(Pose((0.42, 0.1, -0.05)))
        page.until("lfd.labels.blue_box?.includes('can reach') && lfd.colours.blue_box === '#37c978'")
        page.picture('reach_good')
        mouse.carry(FAR)
        page.until("lfd.labels.blue_box?.includes('too far') && lfd.colours.blue_box === '#ff5d5d'")
        page.picture('reach_bad')
        mouse.release()
        page.until('lfd.state.recording.keyframes.length === 2 && Object.keys(lfd.labels).length === 0')
        page.press('undo')
        page.until('lfd.state.recording.keyframes.length === 0')
        assert math.dist(page.pose('blue_box').position, (0.40, -0.10, -0.1263)) < 1e-6
        assert page.faults == []


class Carrier(SayerOfYes):
    """Plans a motion that carries the blue box a quarter turn about the base."""

    async def plan(self, task: Task, origin: Pose, robot: str, progress: Callable[[PlanProgress], None]) -> PlanResult:
        nod = await super().plan(task, origin, robot, progress)
        rows = [[row[0] + math.pi / 2 * at / 40, *row[1:]] for at, row in enumerate([nod.q[0]] * 41)]
        segments = (
            PlannedSegment('approach', 0, 0, 10, attach=('blue_box', 'tool0'), gripper={'left_finger_joint': 0.0}),
            PlannedSegment('transfer', 1, 10, 30, detach=('blue_box', 'tool0')),
            PlannedSegment('retreat', 1, 30, 40),
        )
        return replace(nod, q=rows, segments=segments)


def test_plan_is_scrubbed_and_run(chromium: Browser, bridge: BridgeServer, robot: SayerOfYes) -> None:
    robot.__class__ = Carrier
    with VrPage.opened(chromium, bridge.address, pretty=True) as page:
        page.until_ready()
        page.until_demonstrator()
        record_one(page, Pose((0.42, 0.1, -0.1)))
        page.press('plan')
        page.until('lfd.ghost.visible')
        before = page.ask('lfd.ghost')
        page.page.locator('[data-field="scrub"]').evaluate(
            "(slider) => { slider.value = '1.5'; slider.dispatchEvent(new Event('input', {bubbles: true})) }"
        )
        page.until('Math.abs(lfd.ghost.time - 1.5) < 1e-9')
        after = page.ask('lfd.ghost')
        turned = after['joints']['shoulder_pan_joint'] - before['joints']['shoulder_pan_joint']
        assert math.isclose(turned, math.pi / 2 * 30 / 40, abs_tol=1e-6)
        # Held from a quarter of the way to three quarters: turned by half of it, about the base's axis.
        x, y = before['objects']['blue_box'][:2]
        angle = math.atan2(*reversed(after['objects']['blue_box'][:2])) - math.atan2(y, x)
        assert math.isclose(angle, math.pi / 4, abs_tol=1e-6)
        page.picture('plan_ghost')
        page.press('ghost:play')
        page.until('lfd.ghost.time > 1.6 || !lfd.ghost.playing')
        page.press('run')
        page.until('lfd.state.executed?.ok')
        assert page.state('executed')['message'] == 'It nodded.'
        assert not page.ask('lfd.ghost.visible')
        assert page.faults == []


class Refuser(SayerOfYes):
    """Finds no way."""

    async def plan(self, task: Task, origin: Pose, robot: str, progress: Callable[[PlanProgress], None]) -> PlanResult:
        message = 'No grasp reaches the place: 12 are out of reach, 4 collide with the table.'
        return PlanResult(
            False, robot, message, keyframe=1, object='blue_box', stage='place', suggestion='Put it 6 cm nearer.'
        )


def test_failure_is_shown_where_it_happens(chromium: Browser, bridge: BridgeServer, robot: SayerOfYes) -> None:
    robot.__class__ = Refuser
    with VrPage.opened(chromium, bridge.address, pretty=True) as page:
        page.until_ready()
        page.until_demonstrator()
        record_one(page)
        page.press('plan')
        page.until("lfd.labels.blue_box?.includes('12 are out of reach')")
        assert 'Put it 6 cm nearer.' in page.ask('lfd.labels.blue_box')
        assert page.ask('lfd.colours.blue_box') == '#ff5d5d'
        assert 'Step 2, blue_box, cannot be done' in page.page.inner_text('#panel')
        assert page.page.locator('[data-item="step:1"].bad').count() == 1
        page.picture('failure')
        page.page.set_viewport_size({'width': 390, 'height': 780})
        page.until("document.querySelector('#view').clientWidth <= 390")
        page.picture('phone')
        assert page.ask('document.documentElement.scrollWidth') <= 390
        assert page.page.locator('[data-action="stop"]').is_visible()
        assert page.faults == []


def test_keys_and_library(chromium: Browser, bridge: BridgeServer) -> None:
    with VrPage.opened(chromium, bridge.address) as page:
        page.until_ready()
        page.until_demonstrator()
        page.page.keyboard.press('?')
        page.until("document.querySelector('#help').open")
        page.page.click('#help button')
        record_one(page, Pose((0.42, 0.1, -0.1)))
        page.press('assess')
        page.until("document.querySelector('#panel').textContent.includes('Quality 90')")
        page.page.fill('[data-field="task_name"]', ' 积木 put aside ')
        page.press('save')
        page.until('lfd.state.recording.saved')
        page.press('save')  # a second version
        page.press('tab:library')
        page.until("lfd.state.tasks.some(({name, versions}) => name === '积木 put aside' && versions.length === 2)")
        page.press('show_task:积木 put aside')
        page.picture('library')
        task = bridge.studio.library.path('积木 put aside', 1)
        task.with_name(task.name.replace('.mtdf.yaml', '.mcap')).write_bytes(b'what was logged')
        with page.page.expect_download() as log:
            page.press('download_log:积木 put aside/1')
        assert log.value.suggested_filename == '积木 put aside v1.mcap'
        page.press('open_task:积木 put aside/1')
        page.until("lfd.state.tab === 'task' && lfd.state.recording.name === '积木 put aside'")
        page.press('tab:library')
        page.press('show_task:积木 put aside')
        page.press('rename_task:积木 put aside')
        page.page.fill('[data-field="typing"]', 'put aside')
        page.press('typing:done')
        page.until("lfd.state.tasks.some((task) => task.name === 'put aside')")
        page.press('show_task:put aside')
        with page.page.expect_download() as download:
            page.press('download:put aside')
        assert download.value.suggested_filename == 'put aside.mtdf.yaml'
        page.press('delete_task:put aside')
        page.press('delete_task:put aside')  # it is asked once whether that is meant
        page.until("lfd.state.tasks.every((task) => task.name !== 'put aside')")
        page.press('restore_task:put aside')  # as its toast offers
        page.until("lfd.state.tasks.some((task) => task.name === 'put aside')")
        assert page.faults == []


def test_touch_lifts_and_moves(chromium: Browser, bridge: BridgeServer) -> None:
    with VrPage.opened(chromium, bridge.address, touch=True, size=(500, 800)) as page:
        page.until_ready()
        page.until_demonstrator()
        x, y = page.ask("lfd.onScreen(lfd.pose('blue_box'))")
        session = page.page.context.new_cdp_session(page.page)

        def touch(kind: str, *points: tuple[float, float]) -> None:
            spots = [{'x': at[0], 'y': at[1], 'id': number} for number, at in enumerate(points)]
            session.send('Input.dispatchTouchEvent', {'type': kind, 'touchPoints': spots})

        touch('touchStart', (x, y))
        page.until("lfd.holds.includes('blue_box')")
        touch('touchMove', (x + 20, y))
        page.until("Math.hypot(lfd.pose('blue_box')[0] - 0.4, lfd.pose('blue_box')[1] + 0.1) > 0.02")
        assert page.page.locator('[data-held="held:up"]').is_visible()
        height = page.pose('blue_box').position[2]
        page.page.locator('[data-held="held:up"]').dispatch_event('pointerdown')
        page.until('(height) => lfd.pose("blue_box")[2] > height + 0.005', height)
        touch('touchEnd')
        page.until('lfd.holds.every((name) => name === null)')
        assert page.faults == []
