"""One box that is picked and placed, planned for a UR5e, and devices that a test leads by the hand."""

from __future__ import annotations

import pytest
from support.execution_devices import Bench
from support.task_cells import planner, seed_cell, seed_origin, seed_task

from lfd_planner.mtdf import Task
from lfd_planner.planner import TaskFailure
from lfd_planner.scene import PlanningScene
from lfd_planner.solution import Solution


@pytest.fixture(scope='session')
def task() -> Task:
    """The first box of the recorded task: pick and place."""
    whole = seed_task()
    return Task(whole.descriptors, whole.keyframes[:2], whole.origin)


@pytest.fixture(scope='session')
def scene() -> PlanningScene:
    """Where the planned motion starts."""
    return planner().start_scene(seed_cell())


@pytest.fixture(scope='session')
def solution(task: Task, scene: PlanningScene) -> Solution:
    found = planner().plan(task, scene, seed_origin())
    assert not isinstance(found, TaskFailure), found.message
    return found[0].solution


@pytest.fixture
def bench(scene: PlanningScene, solution: Solution) -> Bench:
    return Bench(scene, solution.joints)
