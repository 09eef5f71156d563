"""The endpoint as a process: hostile clients, restarts, and a scene that goes all the way to a planning server."""

from __future__ import annotations

import os
import random
import signal
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from geometry_msgs.msg import Point, Pose
from moveit_msgs.msg import CollisionObject, PlanningScene
from rclpy.serialization import serialize_message
from shape_msgs.msg import SolidPrimitive
from std_msgs.msg import String
from support.peer import Peer, eventually
from support.process import node_process
from support.scene_server import SceneServer
from support.unity_client import HEADER, UnityClient, command, frame, text_message

from .conftest import Endpoint

MakeUnity = Callable[..., UnityClient]
SEED = 20261116


@pytest.fixture
def raw(endpoint: Endpoint) -> Iterator[socket.socket]:
    with socket.create_connection(('127.0.0.1', endpoint.port), timeout=30.0) as connection:
        yield connection


def all_until_end(connection: socket.socket) -> bytes:
    data = bytearray()
    try:
        while part := connection.recv(2**16):
            data += part
    except ConnectionError:
        pass
    return bytes(data)


def resident(pid: int) -> int:
    """How much memory a process has [bytes]."""
    return int(Path(f'/proc/{pid}/statm').read_text().split()[1]) * os.sysconf('SC_PAGE_SIZE')


@pytest.mark.parametrize(
    ('data', 'sentence'),
    [
        (struct.pack('<I', 2**32 - 1), b"A frame's destination claims 4294967295 bytes"),
        (b'GET / HTTP/1.1\r\nHost: x\r\n\r\n', b"A frame's destination claims"),
        (struct.pack('<I', 2) + b'x\0' + struct.pack('<I', 2**31), b"A frame's payload claims 2147483648 bytes"),
        (struct.pack('<I', 2) + b'\xff\xfe' + struct.pack('<I', 0), b"A frame's destination is"),
        (struct.pack('<II', 0, 3) + b'abc', b"A frame's destination is"),
    ],
)
def test_what_is_no_frame_gets_one_sentence_and_the_end(
    raw: socket.socket, make_unity: MakeUnity, data: bytes, sentence: bytes
) -> None:
    witness = make_unity()
    raw.sendall(data)
    answer = all_until_end(raw)
    assert answer.count(b'__error') == 1
    assert sentence in answer
    witness.synchronise()


def test_frames_may_come_byte_by_byte_and_end_in_the_middle(raw: socket.socket, make_unity: MakeUnity) -> None:
    for byte in command('ping', request_time='slow') + bytes(8) + frame('x', bytes(100))[:40]:
        raw.sendall(bytes([byte]))
    data = bytearray()
    while b'"request_time": "slow"' not in data:
        data += raw.recv(2**16)
    raw.close()
    make_unity().synchronise()


def test_random_bytes_end_nothing_but_their_own_connection(endpoint: Endpoint, make_unity: MakeUnity) -> None:
    random_bytes = random.Random(SEED)
    witness = make_unity()
    for _ in range(30):
        with socket.create_connection(('127.0.0.1', endpoint.port), timeout=30.0) as connection:
            good = command('subscribe', topic='t', message_name='std_msgs/String')
            spoilt = bytearray(good)
            for _ in range(3):
                spoilt[random_bytes.randrange(len(spoilt))] = random_bytes.randrange(256)
            connection.sendall(spoilt + random_bytes.randbytes(random_bytes.randrange(200)))
            connection.shutdown(socket.SHUT_WR)
            all_until_end(connection)
    witness.synchronise()


def test_floods_do_not_fill_the_memory(endpoint: Endpoint, make_unity: MakeUnity) -> None:
    flooding, reading = make_unity(receive_buffer=4096), make_unity()
    flooding.advertise('flood', 'std_msgs/String')
    reading.subscribe('flood', 'std_msgs/String')
    flooding.subscribe('flood', 'std_msgs/String')
    for unity in (flooding, reading):
        unity.synchronise()
    reading.wait(
        lambda: reading.texts('flood'), 'a message', lambda: flooding.publish('flood', text_message('x' * 100_000))
    )
    before = resident(endpoint.process.pid)
    flooding.pause()
    for _ in range(2000):
        flooding.publish('flood', text_message('x' * 100_000))
        flooding.send(frame('nobody', bytes(1000)) + frame('__nothing', b'{'))
    reading.synchronise()
    assert resident(endpoint.process.pid) - before < 80 * 2**20
    flooding.go_on()
    flooding.synchronise()
    assert len(flooding.heard.notes['error']) <= 3


def test_who_never_reads_the_answers_is_dropped(make_unity: MakeUnity, endpoint: Endpoint) -> None:
    witness = make_unity()
    with socket.create_connection(('127.0.0.1', endpoint.port), timeout=30.0) as connection:
        pings = b''.join(command('ping', request_time='x' * 250) for _ in range(100_000))
        with pytest.raises(ConnectionError):
            connection.sendall(pings * 10)
    witness.synchronise()


def test_the_endpoint_comes_back_and_so_do_its_clients(ros_domain: int, make_peer: Callable[[str], Peer]) -> None:
    peer = make_peer('peer')
    heard: list[String] = []
    peer.node.create_subscription(String, 'up', heard.append, 10)
    endpoint = Endpoint(ros_domain)
    unity = UnityClient(endpoint.port)
    try:
        unity.advertise('up', 'std_msgs/String')
        unity.synchronise()
        endpoint.process.end(signal.SIGKILL)
        unity.disconnect()
        endpoint = Endpoint(ros_domain, unity.port)
        unity.connect()
        unity.synchronise()
        peer.eventually(lambda: heard, doing=lambda: unity.publish('up', text_message('back')))
        second = node_process(
            ros_domain, 'lfd_vr_bridge', 'unity_endpoint', '--ros-args', '-p', f'port:={endpoint.port}'
        )
        assert second.wait() == 2
        assert 'Address already in use' in second.output
        assert 'set the parameters host and port' in second.output
        unity.synchronise()
        assert endpoint.process.end(signal.SIGTERM) == 0, endpoint.process.output
        unity.wait(lambda: not unity.is_connected, 'the end of the connection')
    finally:
        endpoint.process.stop()
        unity.disconnect()


@pytest.mark.parametrize(
    ('setting', 'sentence'), [('port:=70000', 'port'), ('port:=ten', 'port'), ('host:=no.such.host.', 'host')]
)
def test_settings_that_cannot_be_are_refused_in_a_sentence(ros_domain: int, setting: str, sentence: str) -> None:
    process = node_process(ros_domain, 'lfd_vr_bridge', 'unity_endpoint', '--ros-args', '-p', setting)
    assert process.wait() == 2
    assert sentence in process.output
    assert 'Traceback' not in process.output


def test_a_host_that_others_reach_is_warned_of(ros_domain: int) -> None:
    endpoint = Endpoint(ros_domain, host='0.0.0.0')
    eventually(lambda: 'no password and no encryption' in endpoint.process.output, 'a warning')
    assert endpoint.process.end() == 0


def test_more_clients_than_allowed_are_turned_away_in_a_sentence(ros_domain: int) -> None:
    endpoint = Endpoint(ros_domain, most_clients=1)
    first = UnityClient(endpoint.port)
    try:
        first.synchronise()
        with socket.create_connection(('127.0.0.1', endpoint.port), timeout=30.0) as second:
            assert b'1 Unity clients are connected already' in all_until_end(second)
        first.synchronise()
    finally:
        first.disconnect()
        assert endpoint.process.end() == 0


def unity_box(id: str, position: tuple[float, float, float], sizes: tuple[float, float, float]) -> CollisionObject:
    """A box in Unity's axes [m]: x right, y up, z forward."""
    x, y, z = position
    made = CollisionObject(id=id, operation=CollisionObject.ADD, pose=Pose(position=Point(x=x, y=y, z=z)))
    made.header.frame_id = 'world'
    made.primitives = [SolidPrimitive(type=SolidPrimitive.BOX, dimensions=list(sizes))]
    made.primitive_poses = [Pose()]
    return made


def test_a_scene_in_unitys_axes_stands_on_the_planning_server_in_those_of_ros(
    endpoint: Endpoint, make_unity: MakeUnity
) -> None:
    server = SceneServer(endpoint.domain)
    sync = node_process(endpoint.domain, 'lfd_planner', 'scene_sync', '--ros-args', '-p', 'axes:=unity')
    unity = make_unity()
    try:
        scene = PlanningScene(name='unity/0')
        scene.world.collision_objects = [unity_box('crate', (0.1, 0.2, 0.5), (0.3, 0.4, 0.6))]
        unity.advertise('twin_scene', 'moveit_msgs/PlanningScene')
        unity.wait(
            lambda: 'crate' in server.scene.objects,
            'the crate on the planning server',
            lambda: (unity.publish('twin_scene', serialize_message(scene)), unity.synchronise()),
        )
        crate: Any = server.scene.objects['crate']
        assert crate.pose.position == pytest.approx((0.5, -0.1, 0.2))
        assert crate.body.parts[0].shape.size == pytest.approx((0.6, 0.3, 0.4))
        unity.use_service('synchronize_scene', 'std_srvs/Trigger')
        assert unity.call('synchronize_scene', HEADER)[4] == 1
    finally:
        assert sync.end() == 0, sync.output
        server.close()
