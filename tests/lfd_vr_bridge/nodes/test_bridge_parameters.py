"""The bridge alone: what it is told wrongly ends it with one sentence, and it needs nobody else to serve the page."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from moveit_msgs.msg import PlanningScene as SceneMessage
from rclpy.qos import DurabilityPolicy, QoSProfile
from support.peer import Peer, eventually
from support.process import Process, node_process

from lfd_description.scenes import find_scene
from lfd_vr_bridge.console import PageLine
from lfd_vr_bridge.nodes.bridge_parameters import data_folder

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
Start = Callable[..., Process]


@pytest.fixture
def start(ros_domain: int, tmp_path: Path) -> Iterator[Start]:
    """Starts bridges with parameters such as 'port:=8765'."""
    processes: list[Process] = []

    def begin(*told: str) -> Process:
        all_told = (f'folder:={tmp_path / "data"}', 'robot:=ur5e', *told)
        words = [word for parameter in all_told for word in ('-p', parameter)]
        processes.append(node_process(ros_domain, 'lfd_vr_bridge', 'vr_bridge', '--ros-args', *words))
        return processes[-1]

    yield begin
    for process in processes:
        process.stop()


def page_of(process: Process) -> PageLine:
    def lines() -> list[PageLine]:
        assert process.is_running, process.output
        return [found for line in process.output.splitlines() if (found := PageLine.read(line))]

    return eventually(lines, "the page's address", 60.0)[-1]


@pytest.mark.parametrize(
    ('told', 'sentence'),
    [
        ("robot:=''", 'The parameter robot is empty'),
        ('robot:=gp9', "'gp9'"),
        ('gripper:=claw', "'claw'"),
        ('scene:=kitschen', "There is no scene 'kitschen' (did you mean 'kitchen'?)"),
        ('port:=70000', 'port'),
        ('port:=eight', 'port'),
        ('task_origin:=[.nan,0.0,0.0,0.0,0.0,0.0]', 'set x, y, z [m], roll, pitch, yaw [rad].'),
        ('folder:=/proc/none', 'The folder /proc/none cannot be used'),
    ],
)
def test_a_wrong_parameter_ends_it_with_one_sentence(start: Start, told: str, sentence: str) -> None:
    process = start(told)
    assert process.wait(60.0) == 2
    assert sentence in process.output
    assert 'Traceback' not in process.output


def test_the_page_and_the_twin_are_there_without_a_planning_server(
    start: Start, make_peer: Callable[[str], Peer], tmp_path: Path
) -> None:
    peer, heard = make_peer('scene_sync'), list[SceneMessage]()
    peer.node.create_subscription(SceneMessage, 'twin_scene', heard.append, LATCHED)
    first = start('scene:=seed_cell')
    page = page_of(first)
    with urlopen(page.address, timeout=30.0) as answer:
        assert answer.status == 200
    peer.eventually(lambda: heard, 'the twin', 60.0)
    assert len(heard[0].world.collision_objects) == len(find_scene('seed_cell').objects)

    same = start()
    assert same.wait(60.0) == 2
    assert f'Another bridge keeps its tasks in {tmp_path / "data"}' in same.output

    second = start(f'folder:={tmp_path / "other"}')
    assert page_of(second).address != page.address
    port = int(page.address.rstrip('/').rpartition(':')[2])
    third = start(f'folder:={tmp_path / "third"}', f'port:={port}')
    assert third.wait(60.0) == 2
    assert f'Port {port} is taken' in third.output
    for process in (first, second):
        assert process.end() == 0
        assert 'Traceback' not in process.output


def test_a_free_port_that_is_told_is_taken(start: Start) -> None:
    with socket.socket() as found:
        found.bind(('127.0.0.1', 0))
        port = found.getsockname()[1]
    assert page_of(start(f'port:={port}')).address == f'http://127.0.0.1:{port}/'


def test_the_address_is_read_back() -> None:
    for line in (PageLine('http://127.0.0.1:8765/', '012345'), PageLine('http://127.0.0.1:1/', '1', ('https://a:2/',))):
        read = PageLine.read(f'  {line}\n')
        assert read is not None
        assert (read.address, read.code) == (line.address, line.code)
    assert PageLine.read('The page: nowhere, code 1') is None


def test_a_users_data_are_where_they_belong(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path))
    assert data_folder() == tmp_path / 'lfd'
    monkeypatch.setenv('XDG_DATA_HOME', 'not/absolute')
    assert data_folder() == Path.home() / '.local' / 'share' / 'lfd'
