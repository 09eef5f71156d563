"""`./lfd execute` and `./lfd recover` in a graph that runs: what they do, what they say, and how they end."""

from __future__ import annotations

import dataclasses
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from controller_manager_msgs.srv import ListControllers, ListHardwareComponents, SetHardwareComponentState
from lifecycle_msgs.msg import State
from support.cell import Cell, running_cell
from support.peer import Peer, eventually
from support.process import Process
from support.task_cells import seed_task

from lfd_bringup import graph
from lfd_bringup.demo.play import PATIENT
from lfd_planner.mtdf import Task, dump_task

MANAGER = 'controller_manager'


@pytest.fixture(scope='module')
def cell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cell]:
    def patient(described: graph.Graph) -> graph.Graph:
        nodes = [
            dataclasses.replace(node, parameters={**node.parameters, **PATIENT})
            if node.name == 'task_executor'
            else node
            for node in described.nodes
        ]
        return dataclasses.replace(described, nodes=tuple(nodes))

    with running_cell('ur5e', tmp_path_factory.mktemp('cell'), 'seed_cell', patient) as cell:
        yield cell


@pytest.fixture(scope='module')
def peer(cell: Cell) -> Iterator[Peer]:
    peer = Peer('test', cell.domain)
    yield peer
    peer.close()


@pytest.fixture(scope='module')
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first two boxes of the recorded task."""
    whole = seed_task()
    file = tmp_path_factory.mktemp('task') / 'two_boxes.mtdf.yaml'
    file.write_text(dump_task(Task(whole.descriptors, whole.keyframes[:4], whole.origin)))
    return file


def hardware(peer: Peer) -> dict[str, str]:
    client = peer.node.create_client(ListHardwareComponents, f'{MANAGER}/list_hardware_components')
    answer = peer.ask(client, ListHardwareComponents.Request())
    return {each.name: each.state.label for each in answer.component}


def controllers(peer: Peer) -> dict[str, str]:
    client = peer.node.create_client(ListControllers, f'{MANAGER}/list_controllers')
    return {each.name: each.state for each in peer.ask(client, ListControllers.Request()).controller}


def test_a_dry_run_moves_nothing_and_says_what_would_be(cell: Cell, lfd, task: Path):
    result = lfd('execute', '--task', task, '--dry-run', '--domain-id', cell.domain)
    assert result.returncode == 0, result.stderr
    assert 'Nothing was moved.' in result.stdout


def test_ctrl_c_stops_the_arm_and_the_rest_is_done_from_the_keyframe_that_was_told(
    cell: Cell, lfd, task: Path, checkout: Path, user_environment: dict[str, str]
):
    words = ['execute', '--task', str(task), '--speed', '0.3', '--domain-id', str(cell.domain)]
    running = Process([str(checkout / 'lfd'), *words], user_environment)
    try:
        eventually(lambda: 'keyframe 1 (of 0 to 3): place' in running.output or not running.is_running, 'motion', 60.0)
        assert running.is_running, running.output
        assert running.end(signal.SIGINT) == 1, running.output
    finally:
        running.stop()
    assert 'Stopping the arm' in running.output
    assert 'PREEMPTED (-7)' in running.output
    assert 'Then resume from keyframe 1.' in running.output
    assert 'Traceback' not in running.output
    result = lfd('execute', '--task', task, '--from-keyframe', 1, '--domain-id', cell.domain)
    assert result.returncode == 0, result.stderr
    assert 'keyframe 3 (of 0 to 3): place' in result.stdout
    assert 'All 4 keyframes are done.' in result.stdout


def test_a_solution_that_begins_elsewhere_is_refused_with_exit_code_1(cell: Cell, lfd, task: Path, tmp_path: Path):
    out = tmp_path / 'out.json'
    assert lfd('plan', '--robot', 'ur5e', '--scene', 'seed_cell', '--task', task, '--json', out).returncode == 0
    result = lfd('execute', '--task', task, '--solution', out, '--domain-id', cell.domain)
    assert result.returncode == 1
    assert 'Nothing was moved.' in result.stderr


def test_what_is_no_task_and_no_solution_is_told_in_a_sentence(lfd, task: Path, tmp_path: Path):
    assert 'nowhere' in lfd('execute', '--task', tmp_path / 'nowhere').stderr
    (tmp_path / 'out.json').write_text('{}')
    result = lfd('execute', '--task', task, '--solution', tmp_path / 'out.json')
    assert result.returncode == 1
    assert 'Traceback' not in result.stderr
    assert lfd('execute', '--task', task, '--speed', '2').returncode == 2
    assert lfd('execute').returncode == 2


def test_nothing_to_recover(cell: Cell, lfd):
    result = lfd('recover', '--domain-id', cell.domain)
    assert result.returncode == 0, result.stderr
    assert result.stdout == 'Nothing to do: all hardware and all controllers are active.\n'


def test_hardware_that_stopped_comes_back_with_its_controllers(cell: Cell, peer: Peer, lfd):
    client = peer.node.create_client(SetHardwareComponentState, f'{MANAGER}/set_hardware_component_state')
    peer.ask(client, SetHardwareComponentState.Request(name='ur5e', target_state=State(label='inactive')))
    assert hardware(peer)['ur5e'] == 'inactive'
    result = lfd('recover', '--domain-id', cell.domain)
    assert result.returncode == 0, result.stderr
    assert 'hardware ur5e: was inactive, is active now' in result.stdout
    assert 'controller ur5e_controller: was inactive, is active now' in result.stdout
    assert set(hardware(peer).values()) == set(controllers(peer).values()) == {'active'}


def test_a_controller_manager_that_was_started_again_waits_for_recover(cell: Cell, peer: Peer, lfd):
    """As that of a real arm does, here with the simulated one."""
    cell.processes[MANAGER].end(signal.SIGKILL)
    real = {spec.name: spec for spec in graph.describe('ur5e', hardware='ur', robot_ip='192.0.2.7').nodes}
    for name in (MANAGER, 'spawner'):
        cell._specs[name] = dataclasses.replace(cell._specs[name], restart=real[name].restart).again
        cell.start(name)
    assert hardware(peer)['ur5e'] == 'inactive'
    assert set(controllers(peer).values()) == {'inactive'}
    result = lfd('recover', '--domain-id', cell.domain)
    assert result.returncode == 0, result.stderr
    assert 'hardware ur5e: was inactive, is active now' in result.stdout
    assert set(hardware(peer).values()) == set(controllers(peer).values()) == {'active'}


def test_where_nothing_runs_the_way_is_told(lfd, ros_domain: int):
    result = lfd('recover', '--domain-id', ros_domain)
    assert result.returncode == 1
    assert f'in vain for {MANAGER}/list_hardware_components in ROS domain {ros_domain}' in result.stderr
    assert 'Fix: bring a robot up with ./lfd up' in result.stderr
