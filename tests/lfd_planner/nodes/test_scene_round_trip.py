"""The demonstration cell and its task on their whole way: file, scene sync, planning server, and back."""

from __future__ import annotations

import math
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from std_srvs.srv import Trigger
from support.cell import Cell, running_cell
from support.move_group_client import MoveGroupClient

from lfd_description.grippers import find_gripper
from lfd_description.robots import find_robot, robot_description
from lfd_description.scenes import Scene, find_scene
from lfd_description.urdf import parse_urdf
from lfd_planner.messages import apply_planning_scene
from lfd_planner.mtdf import read_report, repair_text, resolve_task
from lfd_planner.scene import PlanningScene, RobotFrames, to_scene
from lfd_planner.sync import unmarked

PRINTED = Path(__file__).resolve().parents[1] / 'mtdf' / 'printed_recording.txt'
SAME = 1e-9  # [m] and of a quaternion's parts


@pytest.fixture(scope='module')
def cell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cell]:
    with running_cell('ur5e', tmp_path_factory.mktemp('cell'), 'seed_cell') as cell:
        yield cell


@pytest.fixture
def client(cell: Cell) -> Iterator[MoveGroupClient]:
    client = MoveGroupClient(cell.domain)
    yield client
    client.peer.close()


def synchronize(client: MoveGroupClient) -> str:
    """Have the scene brought up to date; what scene sync says of it."""
    service = client.peer.node.create_client(Trigger, 'synchronize_scene')
    client.peer.eventually(service.service_is_ready, 'synchronize_scene')

    def answer() -> str | None:
        told = client.peer.ask(service, Trigger.Request())
        return told.message if told.success else None

    return client.peer.eventually(answer, 'the scenes in step')


def scene_of_server(client: MoveGroupClient) -> Scene:
    frames = RobotFrames(
        parse_urdf(robot_description(find_robot('ur5e'), gripper=find_gripper('two_finger'))), 'base_link'
    )
    applied = apply_planning_scene(PlanningScene('base_link'), client.scene(), frames)
    assert not applied.faults
    return to_scene(unmarked(applied.scene))


def assert_same(found: Scene, wanted: Scene) -> None:
    assert found.frame == wanted.frame
    things = {thing.name: thing for thing in found.objects}
    assert things.keys() == {thing.name for thing in wanted.objects}
    for thing in wanted.objects:
        other = things[thing.name]
        assert math.dist(other.position, thing.position) <= SAME
        assert math.dist(other.orientation, thing.orientation) <= SAME
        assert (other.shape, other.tags, other.movable) == (thing.shape, thing.tags, thing.movable)
        assert math.dist(other.colour, thing.colour) <= 1e-6  # messages have colours in single precision


def test_the_cell_comes_back_as_it_is_in_its_file(client):
    synchronize(client)
    assert_same(scene_of_server(client), find_scene('seed_cell'))


def test_the_printed_recording_is_refused_repaired_and_means_the_same_objects_there_and_here(client):
    printed = PRINTED.read_text()
    assert read_report(printed).task is None
    task = repair_text(printed, axes='unity').task
    assert task is not None
    synchronize(client)
    there, here = (resolve_task(task, scene) for scene in (scene_of_server(client), find_scene('seed_cell')))
    assert there.objects == here.objects
    assert set(here.objects.values()) == {'blue_box', 'yellow_box', 'red_box', 'green_box'}


@pytest.mark.parametrize('how', [signal.SIGKILL, signal.SIGTERM])
def test_a_planning_server_that_is_restarted_has_everything_again(client, cell, how):
    synchronize(client)
    cell.processes['move_group'].end(how)
    cell.start('move_group')
    client.wait_until_ready()
    synchronize(client)
    assert_same(scene_of_server(client), find_scene('seed_cell'))


def test_a_scene_sync_that_is_restarted_sends_no_geometry_again(client, cell):
    synchronize(client)
    cell.processes['scene_sync'].end(signal.SIGKILL)
    cell.start('scene_sync')
    told = synchronize(client)
    assert_same(scene_of_server(client), find_scene('seed_cell'))
    assert 'last:' not in told, told
