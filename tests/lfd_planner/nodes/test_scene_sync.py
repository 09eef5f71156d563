"""Scene sync as a process, planning servers and a twin of the test's own, over DDS."""

from __future__ import annotations

import math
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import Point
from moveit_msgs.msg import CollisionObject
from moveit_msgs.msg import PlanningScene as SceneMessage
from moveit_msgs.srv import GetPlanningScene
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_srvs.srv import Trigger
from support import scene_server
from support.peer import Peer
from support.process import Process
from support.scene_edits import TETRAHEDRON
from support.scene_server import SceneServer

import lfd_planner.nodes.scene_sync
from lfd_bringup import tether
from lfd_description.scenes import find_scene, save_scene
from lfd_description.shapes import Box, Capsule, Cylinder
from lfd_planner.messages import diff_to_message, scene_to_message
from lfd_planner.nodes.scene_sync_client import SceneSyncClient, SceneUpToDate
from lfd_planner.nodes.scene_sync_link import some
from lfd_planner.nodes.scene_sync_messages import MOST_REFUSED, updated_twin, wrong_kind
from lfd_planner.scene import Body, Part, PlanningScene, Pose, WorldObject, from_scene
from lfd_planner.sync import unmarked
from lfd_planner.sync.twin_file import TwinState

LATCHED = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
RELIABLE = QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE)


def program(domain: int, file: str | None, *arguments: str) -> Process:
    assert file is not None
    command = [sys.executable, '-u', tether.__file__, str(os.getpid()), file, *arguments]
    return Process(command, {**os.environ, 'ROS_DOMAIN_ID': str(domain)})


class Twin:
    """Publishes as a twin does."""

    def __init__(self, peer: Peer, session: str = 'first', answers: bool = True) -> None:
        self.scene = PlanningScene('world')
        self.session, self.number = session, 0
        self.asked = 0
        self._whole = peer.node.create_publisher(SceneMessage, 'twin_scene', LATCHED)
        self._updates = peer.node.create_publisher(SceneMessage, 'twin_scene_updates', RELIABLE)
        if answers:
            peer.node.create_service(Trigger, 'publish_twin_scene', self._on_asked)

    @property
    def has_listener(self) -> bool:
        return bool(self._updates.get_subscription_count() and self._whole.get_subscription_count())

    def whole(self, scene: PlanningScene | None = None) -> None:
        self.scene = self.scene if scene is None else scene
        self.send_whole(scene_to_message(self.scene))

    def send_whole(self, message: SceneMessage) -> None:
        message.name = f'{self.session}/{self.number}'
        self._whole.publish(message)

    def update(self, scene: PlanningScene, lost: bool = False) -> None:
        message = diff_to_message(self.scene, scene)
        self.scene = scene
        self.send_update(message, lost)

    def send_update(self, message: SceneMessage, lost: bool = False) -> None:
        self.number += 1
        message.name = f'{self.session}/{self.number}'
        if not lost:
            self._updates.publish(message)

    def _on_asked(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.asked += 1
        self.whole()
        response.success = True
        return response


class Rig:
    """A test's processes and nodes."""

    def __init__(self, domain: int, peer: Peer) -> None:
        self.domain, self.peer = domain, peer
        self.processes: list[Process] = []
        self.servers: list[SceneServer] = []
        self._synchronize = peer.node.create_client(Trigger, 'synchronize_scene')

    def sync(self, *arguments: str) -> Process:
        """Start scene sync with parameters such as 'rate:=10.0'."""
        extra = [text for argument in arguments for text in ('-p', argument)]
        process = program(self.domain, lfd_planner.nodes.scene_sync.__file__, '--ros-args', *extra)
        self.processes.append(process)
        return process

    def server(self, namespace: str = '', frame: str = 'world') -> SceneServer:
        self.servers.append(SceneServer(self.domain, namespace, frame))
        return self.servers[-1]

    def twin(self, session: str = 'first', answers: bool = True) -> Twin:
        return Twin(self.peer, session, answers)

    def synchronize(self) -> Trigger.Response:
        self.peer.eventually(self._synchronize.service_is_ready, 'synchronize_scene')
        return self.peer.result(self._synchronize.call_async(Trigger.Request()), 60.0)

    def synchronized(self) -> str:
        answer = self.synchronize()
        assert answer.success, answer.message
        return str(answer.message)

    def eventually(self, condition: Callable[[], Any], what: str = 'the condition') -> Any:
        return self.peer.eventually(condition, what)

    def close(self) -> None:
        for process in self.processes:
            process.stop()
        for server in self.servers:
            server.close()


@pytest.fixture
def rig(ros_domain: int, make_peer: Callable[[str], Peer]) -> Iterator[Rig]:
    made = Rig(ros_domain, make_peer('test'))
    yield made
    made.close()


def thing(id: str, x: float = 0.0, *tags: str) -> WorldObject:
    return WorldObject(id, Body((Part(Box((0.1, 0.1, 0.1))),), tags=tags), Pose((x, 0.0, 0.0)))


def cell() -> PlanningScene:
    mesh = WorldObject('mesh', Body((Part(TETRAHEDRON),), tags=('graspable',), movable=True), Pose((1.0, 0.0, 0.0)))
    capsule = WorldObject('capsule', Body((Part(Capsule(0.1, 0.5)),)), Pose((2.0, 0.0, 0.0)))
    return PlanningScene('world').add(
        thing('table', 0.0, 'fixed'), mesh, capsule, colours={'mesh': (1.0, 0.0, 0.0, 1.0)}
    )


def assert_same(server: SceneServer, twin: PlanningScene) -> None:
    found = unmarked(server.scene)
    assert set(found.objects) == set(twin.objects)
    for id, expected in twin.objects.items():
        assert found.objects[id].body == expected.body
        assert found.objects[id].pose.position == pytest.approx(expected.pose.position, abs=1e-9)
        assert found.objects[id].pose.orientation == pytest.approx(expected.pose.orientation, abs=1e-9)
    assert dict(found.colours) == dict(twin.colours)


def geometry(requests: Sequence[SceneMessage]) -> list[str]:
    found = [thing for request in requests for thing in request.world.collision_objects]
    return [thing.id for thing in found if thing.operation == CollisionObject.ADD]


def test_the_twins_objects_come_to_the_server_as_they_are(rig: Rig) -> None:
    server, twin = rig.server(), rig.twin()
    rig.sync()
    twin.whole(cell())

    message = rig.synchronized()

    assert_same(server, twin.scene)
    assert "Planning server '/' has 3 objects" in message
    assert '3 added' in message
    assert 'bytes' in message


def test_a_moved_object_is_a_small_request(rig: Rig) -> None:
    server, twin = rig.server(), rig.twin()
    rig.sync()
    twin.whole(cell())
    rig.synchronized()
    server.requests.clear()

    twin.update(twin.scene.move('capsule', Pose((2.0, 0.5, 0.0))).remove('table'))
    rig.eventually(lambda: 'table' not in server.scene.objects, 'the update')

    rig.synchronized()
    assert_same(server, twin.scene)
    assert geometry(server.requests) == []
    assert sum(server.bytes) < 1000


def test_hundreds_of_updates_in_a_moment_become_few_requests(rig: Rig) -> None:
    server, twin = rig.server(), rig.twin()
    rig.sync('rate:=10.0')
    twin.whole(cell())
    rig.synchronized()
    server.requests.clear()

    for n in range(300):
        twin.update(twin.scene.move('mesh', Pose((0.001 * n, 0.0, 0.0))))
    rig.eventually(lambda: server.scene.objects['mesh'].pose == twin.scene.objects['mesh'].pose, 'the last update')

    assert len(server.requests) < 100
    assert geometry(server.requests) == []


def test_lost_updates_are_noticed_and_the_whole_scene_is_asked_for(rig: Rig) -> None:
    server, twin = rig.server(), rig.twin()
    rig.sync()
    twin.whole(cell())
    rig.synchronized()
    asked = twin.asked

    twin.update(twin.scene.move('mesh', Pose((5.0, 0.0, 0.0))), lost=True)
    twin.update(twin.scene.move('capsule', Pose((6.0, 0.0, 0.0))))
    rig.eventually(lambda: twin.asked > asked, 'the twin to be asked')

    rig.eventually(lambda: server.scene.objects['capsule'].pose.position == (6.0, 0.0, 0.0), 'the whole scene')
    assert server.scene.objects['mesh'].pose.position == (5.0, 0.0, 0.0)


def test_a_twin_that_cannot_be_asked_is_waited_for_and_that_is_told(rig: Rig) -> None:
    rig.server()
    twin = rig.twin(answers=False)
    rig.sync('synchronize_timeout:=0.5')
    twin.whole(cell())
    rig.eventually(lambda: rig.synchronize().success, 'the first scene')
    twin.update(twin.scene.move('mesh', Pose((5.0, 0.0, 0.0))), lost=True)
    twin.update(twin.scene.move('mesh', Pose((6.0, 0.0, 0.0))))
    rig.eventually(lambda: 'Updates 1 to 1 of the twin are missing.' in rig.synchronize().message, 'the gap')

    twin.whole()

    rig.eventually(lambda: rig.synchronize().success, 'the whole scene')


def test_without_a_twin_there_is_nothing_to_do(rig: Rig) -> None:
    rig.server()
    rig.sync()

    answer = rig.synchronize()

    assert answer.success
    assert "Nobody publishes 'twin_scene'" in answer.message


def test_an_expected_twin_is_waited_for_and_missed(rig: Rig) -> None:
    rig.server()
    rig.sync('expect_twin:=true', 'synchronize_timeout:=1.0')
    answer = rig.synchronize()
    assert not answer.success
    assert "The twin has not published its whole scene on 'twin_scene' yet." in answer.message
    rig.twin().whole(PlanningScene('world').add(thing('part')))
    rig.synchronized()


def test_a_twin_that_says_nothing_is_not_up_to_date(rig: Rig) -> None:
    rig.server()
    twin = rig.twin(answers=False)
    rig.sync('synchronize_timeout:=0.5')
    rig.eventually(lambda: twin.has_listener, 'the twin to be heard')

    answer = rig.synchronize()

    assert not answer.success
    assert "The twin has not published its whole scene on 'twin_scene' yet." in answer.message


def test_a_restarted_twin_is_followed(rig: Rig, make_peer: Callable[[str], Peer]) -> None:
    server, first = rig.server(), rig.twin()
    rig.sync()
    first.whole(cell())
    first.update(first.scene.move('mesh', Pose((5.0, 0.0, 0.0))))
    rig.synchronized()

    second = rig.twin('second', answers=False)
    rig.eventually(lambda: second.has_listener, 'the second twin to be heard')
    second.whole(PlanningScene('world').add(thing('lamp')))
    second.update(second.scene.move('lamp', Pose((0.0, 1.0, 0.0))))

    rig.eventually(lambda: set(server.scene.objects) == {'lamp'}, 'the scene of the second twin')
    rig.eventually(lambda: server.scene.objects['lamp'].pose.position == (0.0, 1.0, 0.0), 'its update')


def test_a_restarted_server_gets_everything_again(rig: Rig) -> None:
    server, twin = rig.server(), rig.twin()
    rig.sync('check_period:=0.0')
    twin.whole(cell())
    rig.synchronized()
    server.close()
    rig.servers.remove(server)

    twin.update(twin.scene.move('mesh', Pose((5.0, 0.0, 0.0))))
    restarted = rig.server()
    rig.eventually(lambda: len(restarted.scene.objects) == 3, 'the objects')

    rig.synchronized()
    assert_same(restarted, twin.scene)


def test_a_killed_server_that_comes_back_at_once_gets_everything_again(rig: Rig) -> None:
    twin = rig.twin()
    first = program(rig.domain, scene_server.__file__)
    rig.processes.append(first)
    rig.sync('request_timeout:=1.0')
    twin.whole(cell())
    rig.synchronized()

    first.end(signal.SIGKILL)
    second = rig.server()

    rig.eventually(lambda: len(second.scene.objects) == 3, 'the objects')
    rig.eventually(lambda: rig.synchronize().success, 'success')
    assert_same(second, twin.scene)


def test_after_its_own_restart_it_takes_over_what_the_server_has(rig: Rig) -> None:
    server, twin = rig.server(), rig.twin()
    before = rig.sync()
    twin.whole(cell())
    rig.synchronized()
    server.edit(lambda scene: scene.add(thing('theirs')))
    before.end()
    server.requests.clear()

    twin.update(twin.scene.remove('table').move('mesh', Pose((5.0, 0.0, 0.0))))
    rig.sync()
    rig.eventually(lambda: 'table' not in server.scene.objects, 'the removal')
    rig.synchronized()

    assert geometry(server.requests) == []
    assert set(server.scene.objects) == {'mesh', 'capsule', 'theirs'}


def test_what_others_change_is_restored_and_what_they_add_stays(rig: Rig) -> None:
    server, twin = rig.server(), rig.twin()
    rig.sync('check_period:=0.0')
    twin.whole(cell())
    rig.synchronized()

    server.edit(lambda scene: scene.add(thing('theirs')).move('mesh', Pose((9.0, 0.0, 0.0))).remove('table'))

    rig.eventually(lambda: 'table' in server.scene.objects, 'the table')
    rig.eventually(lambda: server.scene.objects['mesh'].pose == twin.scene.objects['mesh'].pose, 'the mesh')
    assert 'theirs' in server.scene.objects


def test_what_a_robot_holds_is_left_and_told(rig: Rig) -> None:
    server, twin = rig.server(), rig.twin()
    rig.sync()
    twin.whole(cell())
    rig.synchronized()

    server.attach('mesh')
    twin.update(twin.scene.move('mesh', Pose((5.0, 0.0, 0.0))).move('table', Pose((0.0, 1.0, 0.0))))
    rig.eventually(lambda: server.scene.objects['table'].pose.position == (0.0, 1.0, 0.0), 'the table')

    assert "'mesh' left as link 'hand' holds it" in rig.synchronized()
    assert set(server.scene.attached) == {'mesh'}
    server.detach('mesh')
    rig.eventually(lambda: server.scene.objects['mesh'].pose.position == (5.0, 0.0, 0.0), "the twin's news")


def test_bad_objects_are_refused_one_by_one(rig: Rig) -> None:
    server, twin = rig.server(), rig.twin(answers=False)
    rig.sync()
    message = scene_to_message(PlanningScene('world').add(*(thing(f'box_{n}') for n in range(6))))
    bad = message.world.collision_objects
    bad[1].pose.position.x = math.nan
    bad[2].primitives, bad[2].primitive_poses = [], []
    bad[3].header.frame_id = 'moon'
    bad[4].id = 'box_0'
    twin.send_whole(message)

    answer = rig.synchronize()

    assert not answer.success
    for sentence in (
        "Object 'box_1': the pose's position has nan",
        "Object 'box_2': there is no shape",
        "The frame 'moon' is not known",
        "Object 'box_0' is twice in the whole scene",
    ):
        assert sentence in answer.message
    assert set(server.scene.objects) == {'box_0', 'box_5'}
    twin.send_update(diff_to_message(PlanningScene('world'), PlanningScene('world').add(thing('box_1', 4.0))))
    rig.eventually(lambda: 'box_1' in server.scene.objects, 'the mended object')


def test_what_a_robot_holds_from_the_start_is_left_and_the_others_go_on(rig: Rig) -> None:
    server, twin = rig.server(), rig.twin()
    rig.sync()
    server.edit(lambda scene: scene.add(thing('box_3')))
    server.attach('box_3')
    twin.whole(PlanningScene('world').add(*(thing(f'box_{n}') for n in range(8))))

    assert "'box_3' left as link 'hand' holds it" in rig.synchronized()
    assert len(server.scene.objects) == 7


def test_a_server_that_fails_is_tried_again_and_told(rig: Rig) -> None:
    server, twin = rig.server(), rig.twin()
    rig.sync('synchronize_timeout:=3.0')
    server.failing = True
    twin.whole(PlanningScene('world').add(thing('box')))

    answer = rig.synchronize()
    assert not answer.success
    assert "lacks 1 of 1 objects: 'box': the planning server refused 'box'" in answer.message

    server.failing = False
    rig.eventually(lambda: 'box' in server.scene.objects, 'the object')


def test_answers_that_get_lost_lose_nothing(rig: Rig) -> None:
    server, twin = rig.server(), rig.twin()
    rig.sync('request_timeout:=0.3')
    server.silent = True
    twin.whole(cell())
    rig.eventually(lambda: len(server.requests) >= 1, 'a request')

    server.silent = False

    rig.eventually(lambda: rig.synchronize().success, 'success')
    assert_same(server, twin.scene)


def test_a_server_that_hangs_does_not_stop_the_others(rig: Rig) -> None:
    left, right, twin = rig.server('left'), rig.server('right'), rig.twin()
    rig.sync("targets:=['left','right']", 'synchronize_timeout:=1.0')
    left.answering.clear()
    twin.whole(cell())

    rig.eventually(lambda: len(right.scene.objects) == 3, 'the objects')
    answer = rig.synchronize()
    assert not answer.success
    assert "Planning server 'right' has 3 objects" in answer.message

    left.answering.set()
    rig.eventually(lambda: len(left.scene.objects) == 3, 'the objects')


def test_each_server_has_its_own_selection_and_frame(rig: Rig) -> None:
    left, right, twin = rig.server('left', 'left_base'), rig.server('right'), rig.twin()
    rig.sync(
        "targets:=['left','right']",
        "left.include_tags:=['graspable']",
        'left.base_frame:=left_base',
        'left.origin:=[0.0,0.0,1.0,0.0,0.0,1.5707963267948966]',
        "right.exclude_tags:=['fixed']",
    )
    twin.whole(cell())

    rig.synchronized()

    assert set(left.scene.objects) == {'mesh'}
    assert left.scene.objects['mesh'].pose.position == pytest.approx((0.0, 1.0, 1.0))
    assert set(right.scene.objects) == {'mesh', 'capsule'}


def test_unitys_axes_become_those_of_ros(rig: Rig) -> None:
    server, twin = rig.server(), rig.twin(answers=False)
    rig.sync('axes:=unity')
    box = Body((Part(Box((0.1, 0.2, 0.3))), Part(Cylinder(0.05, 0.4)), Part(TETRAHEDRON)))
    turn = (math.sin(0.2), 0.0, 0.0, math.cos(0.2))
    unity = PlanningScene('world').add(WorldObject('box', box, Pose((1.0, 2.0, 3.0), turn)), thing('straight', 4.0))
    twin.send_whole(scene_to_message(unity))

    rig.synchronized()

    found = server.scene.objects['box']
    assert found.pose.position == (3.0, -1.0, 2.0)
    assert found.pose.orientation == pytest.approx((0.0, math.sin(0.2), 0.0, math.cos(0.2)))
    sizes, cylinder, mesh = (part.shape for part in found.body.parts)
    assert sizes == Box((0.3, 0.1, 0.2))
    assert cylinder == Cylinder(0.05, 0.4)
    assert mesh.vertices[1].tolist() == [0.0, -0.1, 0.0]
    assert mesh.triangles[0].tolist() == [0, 1, 2]
    assert server.scene.objects['straight'].pose == Pose((0.0, -4.0, 0.0))


def test_a_scene_file_is_a_twin_and_is_read_again_when_it_has_changed(rig: Rig, tmp_path: Path) -> None:
    server, file = rig.server(frame='base_link'), tmp_path / 'cell.yaml'
    scene = find_scene('seed_cell')
    save_scene(scene, file)
    rig.sync(f'scene:={file}')
    rig.synchronized()
    assert_same(server, from_scene(scene))

    save_scene(type(scene)(scene.frame, scene.objects[1:]), file)
    rig.synchronized()
    assert set(server.scene.objects) == {thing.name for thing in scene.objects[1:]}

    file.write_text('frame: [')
    answer = rig.synchronize()
    assert not answer.success
    assert f'{file}, line ' in answer.message
    assert set(server.scene.objects) == {thing.name for thing in scene.objects[1:]}


def test_a_bundled_scene_comes_to_the_server_and_back_over_the_wire(rig: Rig) -> None:
    rig.server(frame='base_link')
    rig.sync('scene:=kitchen')
    rig.synchronized()

    client = rig.peer.node.create_client(GetPlanningScene, 'get_planning_scene')
    rig.eventually(client.service_is_ready)
    answer = rig.peer.result(client.call_async(GetPlanningScene.Request()))

    expected = from_scene(find_scene('kitchen'))
    assert {thing.id for thing in answer.scene.world.collision_objects} == set(expected.objects)


def test_it_reports_objects_bytes_and_latency(rig: Rig) -> None:
    rig.server()
    twin = rig.twin()
    found: list[DiagnosticArray] = []
    rig.sync()
    rig.peer.node.create_subscription(DiagnosticArray, 'scene_sync/statistics', found.append, LATCHED)
    twin.whole(cell())
    rig.synchronized()

    def reported() -> DiagnosticStatus | None:
        statuses = {status.hardware_id: status for message in found[-1:] for status in message.status}
        status = statuses.get('/')
        values = {entry.key: entry.value for entry in status.values} if status else {}
        return status if values.get('objects added') == '3' and status.level == DiagnosticStatus.OK else None

    status = rig.eventually(reported, 'a report')
    values = {entry.key: entry.value for entry in status.values}
    assert values['objects'] == '3'
    assert int(values['last: bytes sent']) > 500
    assert float(values['last: latency [ms]']) >= 0.0


def test_a_planner_can_have_the_scene_brought_up_to_date(rig: Rig) -> None:
    server, twin = rig.server(), rig.twin()
    client = SceneSyncClient(rig.peer.node)
    nobody = rig.peer.result(client.synchronize())
    assert nobody == SceneUpToDate(False, "Nobody serves '/synchronize_scene'; start scene_sync.")

    rig.sync()
    twin.whole(cell())
    rig.eventually(lambda: client.is_there, 'scene sync')
    outcome = rig.peer.result(client.synchronize())

    assert outcome.success, outcome.message
    assert_same(server, twin.scene)


def test_a_planner_does_not_wait_for_ever(rig: Rig) -> None:
    rig.server()
    rig.twin(answers=False)
    rig.sync('synchronize_timeout:=600.0')
    client = SceneSyncClient(rig.peer.node, timeout=0.2)
    rig.eventually(lambda: client.is_there, 'scene sync')

    outcome = rig.peer.result(client.synchronize())

    assert not outcome.success
    assert "'/synchronize_scene' did not answer in 0.2 s" in outcome.message


def ghost() -> SceneMessage:
    message = SceneMessage(is_diff=True)
    message.world.collision_objects = [CollisionObject(id='ghost', operation=CollisionObject.MOVE)]
    return message


def test_an_update_that_moves_an_unknown_object_makes_it_ask_for_the_whole_scene(rig: Rig) -> None:
    rig.server()
    twin = rig.twin()
    rig.sync()
    twin.whole(cell())
    rig.synchronized()
    asked = twin.asked

    twin.send_update(ghost())
    rig.eventually(lambda: twin.asked > asked, 'the twin to be asked')

    rig.synchronized()


def test_a_twin_that_moves_an_unknown_object_and_cannot_be_asked_blocks_nothing(rig: Rig) -> None:
    rig.server()
    twin = rig.twin(answers=False)
    process = rig.sync()
    twin.whole(cell())
    rig.synchronized()

    twin.send_update(ghost())
    rig.eventually(lambda: "The twin moved 'ghost', of which it has not told." in process.output, 'a warning')

    rig.synchronized()


def test_the_twin_is_asked_before_anybody_is_told_that_all_is_up_to_date(rig: Rig) -> None:
    server, twin = rig.server(), rig.twin()
    rig.sync()
    twin.whole(cell())
    rig.synchronized()

    twin.update(twin.scene.move('mesh', Pose((5.0, 0.0, 0.0))), lost=True)  # and nothing follows that would tell
    rig.synchronized()

    assert_same(server, twin.scene)


def test_a_message_of_the_wrong_kind_changes_nothing_and_is_told(rig: Rig) -> None:
    server, twin = rig.server(), rig.twin(answers=False)
    rig.sync('synchronize_timeout:=0.5')
    twin.whole(cell())
    rig.eventually(lambda: rig.synchronize().success, 'the scene')

    twin.send_whole(diff_to_message(PlanningScene('world'), PlanningScene('world').add(thing('lamp'))))
    rig.eventually(lambda: "The message on 'twin_scene' is a diff" in rig.synchronize().message, 'the sentence')
    assert_same(server, twin.scene)

    twin.whole()
    rig.eventually(lambda: rig.synchronize().success, 'success')


def test_what_someone_else_moved_back_a_moment_later_is_found_by_a_check(rig: Rig) -> None:
    server, twin = rig.server(), rig.twin()
    rig.sync('check_period:=0.0')
    twin.whole(cell())
    rig.synchronized()
    twin.update(twin.scene.move('mesh', Pose((5.0, 0.0, 0.0))))
    rig.synchronized()

    server.edit(lambda scene: scene.move('mesh', Pose((1.0, 0.0, 0.0))))
    rig.eventually(lambda: rig.synchronize().success and server.scene.objects['mesh'].pose.position[0] == 5.0, 'it')


def test_a_server_that_tells_poses_in_another_frame_is_put_right_too(rig: Rig) -> None:
    server, twin = rig.server(), rig.twin()
    rig.sync('base_frame:=hand')
    twin.whole(cell())
    rig.synchronized()

    server.edit(lambda scene: scene.move('mesh', Pose((9.0, 9.0, 9.0))))
    rig.eventually(lambda: rig.synchronize().success and server.scene.objects['mesh'].pose.position[0] == 1.0, 'it')


def test_an_object_that_was_held_when_the_server_went_is_told(rig: Rig) -> None:
    server, twin = rig.server(), rig.twin()
    rig.sync()
    twin.whole(cell())
    rig.synchronized()
    server.attach('mesh')
    rig.eventually(lambda: "'mesh' left as link 'hand' holds it" in rig.synchronize().message, 'the grasp')
    server.close()
    rig.servers.remove(server)

    restarted = rig.server()
    rig.eventually(lambda: "A robot held 'mesh' when planning server '/' went" in rig.synchronize().message, 'it')
    twin.update(twin.scene.move('mesh', Pose((5.0, 0.0, 0.0))))

    rig.eventually(lambda: rig.synchronize().success, 'success')
    assert_same(restarted, twin.scene)


@pytest.mark.parametrize(
    ('argument', 'sentence'),
    [
        ('axes:=blender', "The parameter axes is 'blender'; set it to ros or unity."),
        ('origin:=[1.0,2.0]', 'set x, y, z [m], roll, pitch, yaw [rad].'),
        ('scene:=kitschen', "There is no scene 'kitschen' (did you mean 'kitchen'?)"),
        ('scene:=/nowhere/cell.yaml', '/nowhere/cell.yaml cannot be read'),
        ("targets:=['a','a/']", 'names a planning server twice'),
        ("targets:=['left arm']", "The parameter targets has 'left arm'"),
        ('rate:=-1.0', 'rate'),
        ("mark:=''", 'The parameter mark is empty'),
    ],
)
def test_a_wrong_parameter_ends_it_with_one_sentence(rig: Rig, argument: str, sentence: str) -> None:
    process = rig.sync(argument)

    assert process.wait() == 2
    assert sentence in process.output
    assert 'Traceback' not in process.output


def test_it_ends_at_once_when_told(rig: Rig) -> None:
    rig.server()
    process = rig.sync('scene:=seed_cell')
    rig.synchronize()

    assert process.end(signal.SIGTERM) == 0
    assert 'Traceback' not in process.output


def test_what_is_remembered_and_told_of_bad_objects_has_an_end() -> None:
    twin = TwinState(PlanningScene('world'), {})
    message = SceneMessage(is_diff=True)
    message.world.collision_objects = [CollisionObject(id=f'{n}' * 1000) for n in range(3 * MOST_REFUSED)]
    refused = updated_twin(twin, message).refused

    assert len(refused) <= MOST_REFUSED + 1
    assert max(map(len, refused)) <= 200
    assert len('\n'.join(some(refused.values()))) < 20_000
    assert some(refused.values())[-1].endswith('more')


def test_a_whole_scene_that_removes_something_is_of_the_wrong_kind() -> None:
    message = SceneMessage()
    message.world.collision_objects = [CollisionObject(id='a', operation=CollisionObject.REMOVE)]

    assert (
        wrong_kind(message, whole=True) == "Object 'a' on 'twin_scene' is not to be added; a whole scene has ADD only."
    )
    assert 'is no diff' in wrong_kind(message, whole=False)


def test_a_hostile_mesh_is_refused_and_told(rig: Rig) -> None:
    server, twin = rig.server(), rig.twin(answers=False)
    rig.sync()
    message = scene_to_message(cell())
    for object in message.world.collision_objects:
        if object.id == 'mesh':
            object.meshes[0].vertices = [Point(x=1e300)]
    twin.send_whole(message)

    answer = rig.synchronize()

    assert not answer.success
    assert "Object 'mesh'" in answer.message
    assert set(server.scene.objects) == {'table', 'capsule'}
