"""A real bridge on localhost, and a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from support.vr_page import browser
from support.vr_server import SayerOfYes, running_server

from lfd_description.scenes import open_scene
from lfd_description.shapes import Box, Cylinder, Sphere
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, Part, PlanningScene, WorldObject, from_scene
from lfd_vr_bridge.server.bridge_server import BridgeServer


@pytest.fixture(scope='module')
def chromium() -> Iterator[Browser]:
    """A browser for one file: while it runs, playwright's event loop would be in the way of other files' own."""
    with browser() as running:
        yield running


@pytest.fixture
def robot() -> SayerOfYes:
    return SayerOfYes()


@pytest.fixture
def bridge(tmp_path: Path, robot: SayerOfYes) -> Iterator[BridgeServer]:
    with running_server(tmp_path, robot=robot) as server:
        yield server


@pytest.fixture
def crowd() -> PlanningScene:
    """The demonstration cell with 10,000 more things on the floor around it."""
    scene = from_scene(open_scene('seed_cell'))
    shapes = (Box((0.03, 0.03, 0.03)), Sphere(0.015), Cylinder(0.015, 0.03))
    for number in range(10_000):
        x, y = 0.05 * (number % 100) - 2.5, 0.05 * (number // 100) - 2.5
        body = Body((Part(shapes[number % 3]),), movable=True)
        scene = scene.add(WorldObject(f'thing_{number}', body, Pose((x, y, -0.885))))
    return scene


@pytest.fixture
def crowded(tmp_path: Path, robot: SayerOfYes, crowd: PlanningScene) -> Iterator[BridgeServer]:
    with running_server(tmp_path, robot=robot, scene=crowd) as server:
        yield server
