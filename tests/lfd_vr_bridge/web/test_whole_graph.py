"""A person in a headset shows the stack once, presses plan and run, and the robot does it, in the whole graph."""

from __future__ import annotations

import math
from pathlib import Path

from moveit_msgs.msg import PlanningSceneComponents
from playwright.sync_api import Browser
from support.move_group_client import MoveGroupClient
from support.peer import eventually
from support.stacking import commanded, demonstrate
from support.vr_graph import running_vr_graph
from support.vr_page import Controller, VrPage

from lfd_planner.messages import pose_from_message
from lfd_planner.messages.checks import Report
from lfd_planner.pose import Pose

PLANNED, EXECUTED = 120.0, 300.0  # [s] on a busy machine
NEAR = 0.002  # [m]


def world_of(client: MoveGroupClient) -> dict[str, Pose]:
    """Where the planning server has objects."""
    scene = client.scene(PlanningSceneComponents.WORLD_OBJECT_GEOMETRY)
    report = Report('Scene')
    return {thing.id: pose_from_message(thing.pose, report) for thing in scene.world.collision_objects}


def are_near(found: dict[str, Pose], wanted: dict[str, Pose]) -> bool:
    return all(name in found and math.dist(found[name].position, pose.position) < NEAR for name, pose in wanted.items())


def test_shown_in_a_headset_planned_and_run(chromium: Browser, tmp_path: Path) -> None:
    with running_vr_graph(tmp_path) as graph, VrPage.opened(chromium, graph.address, headset=True) as page:
        client = MoveGroupClient(graph.domain)
        try:
            page.until_ready()
            page.until_demonstrator()
            began = {name: page.pose(name) for name in commanded()}
            page.enter_vr()
            demonstrate(page, Controller(page), commanded())
            page.press('tab:run')
            page.press('plan')
            page.until('lfd.state.plan !== null', timeout=PLANNED)
            assert page.state('plan')['ok'], page.state('plan')['message']
            page.picture('headset_planned')
            page.leave_vr()  # a headset that nobody looks at need not be drawn 60 times a second
            assert are_near(world_of(client), began), 'planned from where the boxes were before they were shown'
            page.press('run')
            page.until('lfd.state.executed !== null', timeout=EXECUTED)
            assert page.state('executed')['ok'], page.state('executed')['message']
            eventually(lambda: are_near(world_of(client), commanded()), 'the boxes where they were put')
            eventually(lambda: are_near({name: page.pose(name) for name in began}, commanded()), 'the same on the page')
            page.picture('after_the_run')
            assert page.faults == []
        finally:
            client.peer.close()
