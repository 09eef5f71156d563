"""The seed's stacking demonstration on the page: where the boxes go, how they are stacked, and what is saved of it."""

from __future__ import annotations

import math

from lfd_planner.mtdf import Pick, Place, Task, find_task, parse_task
from lfd_planner.pose import Pose

from .vr_page import Demonstrator, VrPage


def commanded() -> dict[str, Pose]:
    """Where the seed's demonstrator put the boxes, in order, in the frame of the robot's base."""
    task = find_task('stack_boxes')
    return {step.object: origin(task) @ step.pose for step in task.keyframes if isinstance(step, Place)}


def origin(task: Task) -> Pose:
    return task.origin.pose if task.origin is not None else Pose()


def saved_task(page: VrPage) -> Task:
    """Save what is under review, and download it."""
    page.press('save')
    page.until('lfd.state.recording.saved')
    text = page.ask(
        """async (name) => {
          const headers = {Authorization: `Bearer ${localStorage.getItem('lfd.token')}`};
          const answer = await fetch(`/tasks/${name}.mtdf.yaml`, {headers});
          return answer.text();
        }""",
        page.state('recording')['name'],
    )
    return parse_task(text)


def demonstrate(page: VrPage, hand: Demonstrator, targets: dict[str, Pose]) -> None:
    """Stack the boxes."""
    page.press('start_recording')
    page.until("lfd.state.recording.state === 'recording'")
    for count, (name, pose) in enumerate(targets.items(), start=1):
        hand.grab(name)
        hand.carry(pose)
        hand.release()
        page.until('(count) => lfd.state.recording.keyframes.length === count', 2 * count)
    page.press('complete_recording')
    page.until("lfd.state.recording.state === 'review'")


def assert_same(task: Task, expected: dict[str, Pose], metres: float, radians: float) -> None:
    assert [(type(step), step.object) for step in task.keyframes] == [
        (kind, name) for name in expected for kind in (Pick, Place)
    ]
    places = [step for step in task.keyframes if isinstance(step, Place)]
    for step, (name, pose) in zip(places, expected.items(), strict=True):
        off = pose.inverse @ (origin(task) @ step.pose)
        assert math.dist(off.position, (0.0, 0.0, 0.0)) < metres, name
        assert 2.0 * math.acos(min(1.0, abs(off.orientation[3]))) < radians, name
