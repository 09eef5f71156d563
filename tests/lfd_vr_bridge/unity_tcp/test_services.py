"""Services both ways between Unity scenes and nodes of ROS, over real sockets and DDS."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from lfd_msgs.srv import TaskPlanning
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message, serialize_message
from std_srvs.srv import SetBool, Trigger
from support.peer import Peer, eventually
from support.unity_client import HEADER, UnityClient, command, frame

from .conftest import Endpoint

MakeUnity = Callable[..., UnityClient]
MANY = QoSProfile(depth=100)


def triggered(payload: bytes) -> Trigger.Response:
    return deserialize_message(payload, Trigger.Response)


def answering(peer: Peer, kind: Any, name: str, answer: Callable[[Any, Any], Any]) -> None:
    peer.node.create_service(kind, name, answer, qos_profile=MANY)


def praise(_: Any, response: Any) -> Any:
    response.success, response.message = True, 'well done'
    return response


@pytest.fixture
def call(make_unity: MakeUnity, peer: Peer) -> Callable[..., bytes]:
    """Calls a service from a scene of its own, while the peer serves."""

    def call(service: str, type_name: str, payload: bytes, unity: UnityClient | None = None) -> bytes:
        unity = unity or make_unity()
        unity.use_service(service, type_name)
        return unity.call(service, payload, peer.spin_once)

    return call


@pytest.mark.parametrize('payload', [HEADER, HEADER + b'\0'])
def test_unity_calls_a_service_without_arguments(call: Callable[..., bytes], peer: Peer, payload: bytes) -> None:
    answering(peer, Trigger, f'praise_{len(payload)}', praise)
    answer = triggered(call(f'praise_{len(payload)}', 'std_srvs/Trigger', payload))
    assert (answer.success, answer.message) == (True, 'well done')


def test_unity_has_a_task_planned(call: Callable[..., bytes], peer: Peer) -> None:
    asked: list[TaskPlanning.Request] = []

    def plan(request: TaskPlanning.Request, response: TaskPlanning.Response) -> TaskPlanning.Response:
        asked.append(request)
        response.trajectory.joint_names = ['shoulder', 'elbow']
        response.error_code.val, response.message = 1, 'planned'
        return response

    answering(peer, TaskPlanning, 'compute_motion_plan_from_task', plan)
    request = TaskPlanning.Request(task_description='mtdf: 1\n' * 20000)
    request.task_origin.position.x = 0.25
    payload = call('compute_motion_plan_from_task', 'lfd_msgs/TaskPlanning', serialize_message(request))
    answer = deserialize_message(payload, TaskPlanning.Response)
    assert (answer.trajectory.joint_names, answer.error_code.val, answer.message) == (
        ['shoulder', 'elbow'],
        1,
        'planned',
    )
    assert asked == [request]


def test_a_service_that_nobody_serves_is_answered(call: Callable[..., bytes], make_unity: MakeUnity) -> None:
    unity = make_unity()
    answer = triggered(call('nowhere', 'std_srvs/Trigger', HEADER, unity))
    assert (answer.success, answer.message) == (False, "Nobody serves '/nowhere'; start the node that does.")
    assert unity.heard.notes['error'] == [answer.message]


def test_a_service_that_is_silent_is_answered_in_time(make_unity: MakeUnity, endpoint: Endpoint) -> None:
    silent = Peer('silent', endpoint.domain)
    answering(silent, Trigger, 'silent', praise)
    unity = make_unity()
    unity.use_service('silent', 'std_srvs/Trigger')

    def is_in_time() -> bool:  # nobody spins; until the endpoint has seen the service, it says that nobody serves it
        return triggered(unity.call('silent', HEADER)).message == "'/silent' did not answer within 3 s; call again."

    eventually(is_in_time, 'an answer in time')
    silent.close()


def test_a_broken_request_is_answered_with_an_error(call: Callable[..., bytes], peer: Peer) -> None:
    answering(peer, SetBool, 'switch', praise)
    answer = deserialize_message(call('switch', 'std_srvs/SetBool', HEADER), SetBool.Response)
    assert 'std_srvs/SetBool request ends too early' in answer.message


def test_unknown_service_types_name_the_nearest(make_unity: MakeUnity) -> None:
    unity = make_unity()
    unity.use_service('x', 'std_srvs/Triger')
    unity.serve('y', 'std_msgs/String', lambda _: None)
    unity.synchronise()
    first, second = unity.heard.notes['error']
    assert "no service type 'std_srvs/Triger' in this ROS installation; the nearest is std_srvs/Trigger." in first
    assert "no service type 'std_msgs/String'" in second


def test_interleaved_calls_of_several_clients_are_answered_each_to_its_own(make_unity: MakeUnity, peer: Peer) -> None:
    def echo(request: TaskPlanning.Request, response: TaskPlanning.Response) -> TaskPlanning.Response:
        response.message = request.task_description
        return response

    answering(peer, TaskPlanning, 'repeat', echo)
    clients = [make_unity() for _ in range(4)]
    asked: dict[tuple[int, int], str] = {}
    for client in clients:
        client.use_service('repeat', 'lfd_msgs/TaskPlanning')
    for round in range(10):
        for number, client in enumerate(clients):
            text = f'client {number}, call {round}'
            id = client.request('repeat', serialize_message(TaskPlanning.Request(task_description=text)))
            asked[number, id] = text
    peer.eventually(lambda: all(len(client.heard.responses) == 10 for client in clients))
    for (number, id), text in asked.items():
        answer = deserialize_message(clients[number].heard.responses[id], TaskPlanning.Response)
        assert answer.message == text


def test_messages_between_the_parts_of_a_call_do_not_confuse_it(make_unity: MakeUnity, peer: Peer) -> None:
    answering(peer, Trigger, 'amid', praise)
    answering(peer, Trigger, 'amid_too', praise)
    unity = make_unity()
    unity.use_service('amid', 'std_srvs/Trigger')
    unity.use_service('amid_too', 'std_srvs/Trigger')
    unity.advertise('between', 'std_msgs/Empty')
    unity.send(
        command('request', srv_id=201)
        + frame('between', HEADER)
        + bytes(8)
        + command('request', srv_id=202)
        + frame('amid', HEADER)
        + frame('amid_too', HEADER)
    )
    peer.eventually(lambda: set(unity.heard.responses) == {201, 202})
    assert not unity.heard.notes['error']


def test_ros_calls_a_service_of_unity(make_unity: MakeUnity, peer: Peer) -> None:
    unity = make_unity()
    unity.serve(
        'grip',
        'std_srvs/SetBool',
        lambda request: serialize_message(
            SetBool.Response(success=deserialize_message(request, SetBool.Request).data, message='gripped')
        ),
    )
    client = peer.node.create_client(SetBool, 'grip')
    peer.eventually(client.service_is_ready)
    answers = [peer.result(client.call_async(SetBool.Request(data=data))) for data in (True, False)]
    assert [(answer.success, answer.message) for answer in answers] == [(True, 'gripped'), (False, 'gripped')]


def test_many_of_ros_are_answered_out_of_order(make_unity: MakeUnity, peer: Peer) -> None:
    unity = make_unity()
    held: list[bytes] = []
    unity.serve('hold', 'std_srvs/SetBool', lambda request: held.append(request))
    client = peer.node.create_client(SetBool, 'hold')
    peer.eventually(client.service_is_ready)
    calls = [client.call_async(SetBool.Request(data=bool(number % 2))) for number in range(4)]
    peer.eventually(lambda: len(held) == 4)
    ids = [json.loads(payload)['srv_id'] for name, payload in unity.heard.frames if name == '__request']
    for id, request in reversed(list(zip(ids, held, strict=True))):
        answer = SetBool.Response(success=deserialize_message(request, SetBool.Request).data)
        unity.send(command('response', srv_id=id) + frame('hold', serialize_message(answer)))
    assert [peer.result(call).success for call in calls] == [False, True, False, True]


def test_whoever_waits_for_a_scene_that_is_silent_or_leaves_is_answered(make_unity: MakeUnity, peer: Peer) -> None:
    unity = make_unity()
    asked: list[bytes] = []
    unity.serve('mute', 'std_srvs/Trigger', lambda request: asked.append(request))
    client = peer.node.create_client(Trigger, 'mute')
    peer.eventually(client.service_is_ready)
    assert peer.result(client.call_async(Trigger.Request())).message == 'Unity did not answer within 3 s.'
    waiting = client.call_async(Trigger.Request())
    peer.eventually(lambda: len(asked) == 2)
    unity.disconnect()
    answer = peer.result(waiting)
    assert (answer.success, answer.message) == (False, 'Unity disconnected.')
    peer.eventually(lambda: not client.service_is_ready())


def test_a_broken_answer_of_unity_is_told_to_both_sides(make_unity: MakeUnity, peer: Peer) -> None:
    unity = make_unity()
    unity.serve('broken', 'std_srvs/Trigger', lambda _: HEADER + b'\7')
    client = peer.node.create_client(Trigger, 'broken')
    peer.eventually(client.service_is_ready)
    answer = peer.result(client.call_async(Trigger.Request()))
    assert 'has the number 7 for true or false' in answer.message
    unity.wait(lambda: unity.heard.notes['error'] == [answer.message], 'the same sentence')
    unity.send(command('response', srv_id=77) + frame('broken', HEADER))
    unity.wait(lambda: 'nobody waits for' in unity.heard.notes['error'][-1], 'a sentence')


def test_the_newest_scene_answers_and_the_older_one_follows_it(make_unity: MakeUnity, peer: Peer) -> None:
    def named(name: str) -> Callable[[bytes], bytes]:
        return lambda _: serialize_message(Trigger.Response(success=True, message=name))

    older, newer = make_unity(), make_unity()
    for unity, name in ((older, 'older'), (newer, 'newer')):
        unity.serve('who', 'std_srvs/Trigger', named(name))
        unity.synchronise()
    client = peer.node.create_client(Trigger, 'who')
    peer.eventually(client.service_is_ready)
    assert peer.result(client.call_async(Trigger.Request())).message == 'newer'
    newer.remove('unity_service', 'who')
    newer.synchronise()
    assert peer.result(client.call_async(Trigger.Request())).message == 'older'
    older.remove('unity_service', 'who')
    peer.eventually(lambda: not client.service_is_ready())


def test_a_removed_service_is_called_no_more(make_unity: MakeUnity, peer: Peer) -> None:
    answering(peer, Trigger, 'removed', praise)
    unity = make_unity()
    unity.use_service('removed', 'std_srvs/Trigger')
    unity.call('removed', HEADER, peer.spin_once)
    unity.remove('ros_service', 'removed')
    unity.request('removed', HEADER)
    unity.synchronise(peer.spin_once)
    assert ["'removed', which was not registered" in error for error in unity.heard.notes['error']] == [True]


def test_a_server_that_comes_back_is_called_again(make_unity: MakeUnity, endpoint: Endpoint) -> None:
    unity = make_unity()
    unity.use_service('restarted', 'std_srvs/Trigger')
    for _ in range(2):
        server = Peer('restarted_server', endpoint.domain)
        server.node.create_service(Trigger, 'restarted', praise)
        answers: list[bytes] = []

        def ask(server: Peer = server, answers: list[bytes] = answers) -> bool:
            answers.append(unity.call('restarted', HEADER, server.spin_once))
            return triggered(answers[-1]).success

        server.eventually(ask)
        server.close()
