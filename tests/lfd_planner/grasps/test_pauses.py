"""The making of grasps of a mesh can be stopped on its way."""

from __future__ import annotations

import numpy as np
import pytest

from lfd_description.grippers import find_gripper
from lfd_planner.grasps import generate_grasps
from lfd_planner.grasps.pauses import Interrupted
from lfd_planner.scene import Body, TriangleMesh


def bumpy_ball(steps: int, bump: float) -> TriangleMesh:
    """A ball of about 20 mm radius with about twice `steps` squared triangles."""
    around, down = np.meshgrid(
        np.linspace(0.0, 2.0 * np.pi, steps, endpoint=False), np.linspace(0.0, np.pi, steps), indexing='xy'
    )
    out = np.stack([np.sin(down) * np.cos(around), np.sin(down) * np.sin(around), np.cos(down)], axis=-1)
    points = 0.02 * (1.0 + bump * np.sin(6.0 * around))[..., None] * out
    numbers = np.arange(steps * steps).reshape(steps, steps)
    a, b = numbers[:-1], np.roll(numbers, -1, axis=1)[:-1]
    c, d = numbers[1:], np.roll(numbers, -1, axis=1)[1:]
    triangles = np.concatenate([np.stack(corner, axis=-1).reshape(-1, 3) for corner in ((a, c, b), (b, c, d))])
    return TriangleMesh(points.reshape(-1, 3), triangles)


def test_whoever_stops_is_asked_often_and_heard_at_once() -> None:
    body, data = Body.of(bumpy_ball(60, 0.01)), find_gripper('two_finger').grasp_data
    asked = []

    def at_the_fifth() -> bool:
        asked.append(None)
        return len(asked) >= 5

    with pytest.raises(Interrupted):
        generate_grasps(body, data, should_stop=at_the_fifth)
    assert len(asked) == 5
    asked.clear()
    found = generate_grasps(body, data, should_stop=lambda: bool(asked.append(None)))
    assert len(found) > 0
    assert len(asked) > 20
