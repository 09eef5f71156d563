"""Topics both ways between Unity scenes and nodes of ROS, over real sockets and DDS."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import Image, JointState
from std_msgs.msg import Bool, Empty, String
from support.peer import Peer
from support.unity_client import HEADER, UnityClient, command, frame, text_message

LATCHED = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
BEST_EFFORT = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
MakeUnity = Callable[..., UnityClient]


def listening(peer: Peer, kind: type, topic: str, qos: Any = 10) -> list[Any]:
    """What will be heard on a topic."""
    heard: list[Any] = []
    peer.node.create_subscription(kind, topic, heard.append, qos)
    return heard


def listeners(peer: Peer, topic: str) -> int:
    return peer.node.count_subscribers(topic)


def test_the_endpoint_speaks_first_and_says_its_version(make_unity: MakeUnity) -> None:
    unity = make_unity()
    unity.wait(lambda: unity.heard.handshake, 'the handshake')
    assert unity.heard.frames[0][0] == '__handshake'
    assert unity.heard.handshake['version'].startswith('v0.7.')
    assert json.loads(unity.heard.handshake['metadata']) == {'protocol': 'ROS2'}


def test_ros_hears_what_unity_publishes(make_unity: MakeUnity, peer: Peer) -> None:
    heard, unity = listening(peer, String, 'spoken'), make_unity()
    unity.advertise('spoken', 'std_msgs/String')
    unity.synchronise()
    peer.eventually(lambda: heard, doing=lambda: unity.publish('spoken', text_message('héllo')))
    assert heard[0].data == 'héllo'


def test_a_message_without_fields_comes_through_both_ways(make_unity: MakeUnity, peer: Peer) -> None:
    heard, unity = listening(peer, Empty, 'nothing'), make_unity()
    unity.advertise('nothing', 'std_msgs/Empty')
    unity.subscribe('nothing', 'std_msgs/Empty')
    unity.synchronise()
    peer.eventually(lambda: heard, doing=lambda: unity.publish('nothing', HEADER))
    unity.wait(lambda: unity.heard.messages.get('nothing'), 'its own message')


def test_all_clients_hear_what_ros_publishes(make_unity: MakeUnity, peer: Peer) -> None:
    first, second = make_unity(), make_unity()
    first.subscribe('/news', 'std_msgs/String')
    second.subscribe('news', 'std_msgs/String')
    publisher = peer.node.create_publisher(String, 'news', 10)
    peer.eventually(
        lambda: first.texts('/news') and second.texts('news'), doing=lambda: publisher.publish(String(data='all'))
    )
    assert listeners(peer, '/news') == 1


def test_the_subscription_ends_with_its_last_client_and_the_connection_stays(make_unity: MakeUnity, peer: Peer) -> None:
    first, second = make_unity(), make_unity()
    for unity in (first, second):
        unity.subscribe('ended', 'std_msgs/String')
        unity.synchronise()
    peer.eventually(lambda: listeners(peer, '/ended') == 1)
    publisher = peer.node.create_publisher(String, 'ended', 10)
    first.remove('subscriber', 'ended')
    first.synchronise()
    peer.eventually(lambda: second.texts('ended'), doing=lambda: publisher.publish(String(data='second only')))
    assert not first.texts('ended')
    second.disconnect()
    peer.eventually(lambda: listeners(peer, '/ended') == 0)
    first.subscribe('ended', 'std_msgs/String')
    peer.eventually(lambda: first.texts('ended'), doing=lambda: publisher.publish(String(data='again')))


def test_a_client_that_comes_back_has_all_it_had(make_unity: MakeUnity, peer: Peer) -> None:
    heard, unity = listening(peer, String, 'up'), make_unity()
    unity.advertise('up', 'std_msgs/String')
    unity.subscribe('down', 'std_msgs/String')
    unity.synchronise()
    unity.disconnect()
    unity.connect()
    publisher = peer.node.create_publisher(String, 'down', 10)
    peer.eventually(lambda: heard, doing=lambda: unity.publish('up', text_message('back')))
    peer.eventually(lambda: unity.texts('down'), doing=lambda: publisher.publish(String(data='back')))


def test_unity_hears_a_publisher_that_is_not_reliable(make_unity: MakeUnity, peer: Peer) -> None:
    unity = make_unity()
    unity.subscribe('shaky', 'sensor_msgs/JointState')
    unity.synchronise()
    publisher = peer.node.create_publisher(JointState, 'shaky', BEST_EFFORT)
    peer.eventually(
        lambda: unity.heard.messages.get('shaky'), doing=lambda: publisher.publish(JointState(name=['a'], position=[1]))
    )
    assert deserialize_message(unity.heard.messages['shaky'][0], JointState).name == ['a']


def test_every_client_gets_what_is_latched_also_if_it_was_there_first(make_unity: MakeUnity, peer: Peer) -> None:
    early = make_unity()
    early.subscribe('map', 'std_msgs/String')
    early.synchronise()
    publishers = [peer.node.create_publisher(String, 'map', LATCHED) for _ in range(2)]
    for number, publisher in enumerate(publishers):
        publisher.publish(String(data=f'of publisher {number}'))
    both = {'of publisher 0', 'of publisher 1'}
    early.wait(lambda: set(early.texts('map')) == both, 'what is latched')
    late = make_unity()
    late.subscribe('map', 'std_msgs/String')
    late.wait(lambda: set(late.texts('map')) == both, 'what is latched')


def test_what_unity_latches_is_there_for_who_comes_later(make_unity: MakeUnity, peer: Peer) -> None:
    unity = make_unity()
    unity.advertise('kept', 'std_msgs/String', latch=True)
    unity.publish('kept', text_message('old'))
    unity.publish('kept', text_message('new'))
    unity.synchronise()
    heard = listening(peer, String, 'kept', LATCHED)
    peer.eventually(lambda: heard)
    assert [message.data for message in heard] == ['new']


@pytest.mark.parametrize('is_there_first', [True, False])
def test_who_wants_only_latched_topics_hears_unity_all_the_same(
    make_unity: MakeUnity, peer: Peer, is_there_first: bool
) -> None:
    topic, unity = f'wanted_latched_{is_there_first}', make_unity()
    heard = listening(peer, String, topic, LATCHED) if is_there_first else []
    unity.advertise(topic, 'std_msgs/String', latch=False)
    unity.synchronise()
    heard = heard if is_there_first else listening(peer, String, topic, LATCHED)
    peer.eventually(lambda: heard, doing=lambda: unity.publish(topic, text_message('heard')))


def test_a_client_may_hear_what_it_publishes(make_unity: MakeUnity, peer: Peer) -> None:
    unity = make_unity()
    unity.advertise('echo', 'std_msgs/String')
    unity.subscribe('echo', 'std_msgs/String')
    unity.synchronise()
    peer.eventually(lambda: unity.texts('echo'), doing=lambda: unity.publish('echo', text_message('me')))


def test_registering_twice_changes_nothing_and_another_way_replaces(make_unity: MakeUnity, peer: Peer) -> None:
    unity = make_unity()
    for _ in range(3):
        unity.advertise('twice', 'std_msgs/String')
    unity.synchronise()
    peer.eventually(lambda: peer.node.count_publishers('/twice') == 1)
    unity.advertise('twice', 'std_msgs/Bool')
    unity.synchronise()
    heard = listening(peer, Bool, 'twice')
    peer.eventually(lambda: heard, doing=lambda: unity.publish('twice', HEADER + b'\1'))
    assert peer.node.count_publishers('/twice') == 1


def test_removed_publishers_are_gone_from_ros(make_unity: MakeUnity, peer: Peer) -> None:
    unity = make_unity()
    unity.advertise('brief', 'std_msgs/String')
    peer.eventually(lambda: peer.node.count_publishers('/brief') == 1)
    unity.remove('publisher', 'brief')
    peer.eventually(lambda: peer.node.count_publishers('/brief') == 0)
    unity.remove('publisher', 'brief')
    unity.wait(lambda: unity.heard.notes['warn'], 'a warning')
    assert unity.heard.notes['warn'] == ["There was no publisher 'brief' to remove."]


def test_the_topic_list_has_names_and_types(make_unity: MakeUnity, peer: Peer) -> None:
    unity = make_unity()
    unity.advertise('listed', 'sensor_msgs/JointState')
    unity.synchronise()
    unity.send(command('topic_list'))
    unity.wait(lambda: unity.heard.topics, 'the topic list')
    assert unity.heard.topics['/listed'] == 'sensor_msgs/JointState'


def test_pings_come_back_as_they_are(make_unity: MakeUnity) -> None:
    unity = make_unity()
    for time in ('12:30:01.5', 3, 2.5):
        unity.send(command('ping', request_time=time))
    unity.wait(lambda: len(unity.heard.pings) == 3, 'three answers')
    assert unity.heard.pings == ['12:30:01.5', 3, 2.5]


def test_big_messages_come_through_unchanged(make_unity: MakeUnity, peer: Peer) -> None:
    picture = Image(height=1000, width=1500, encoding='rgb8', step=4500, data=bytes(range(250)) * 18000)
    payload = serialize_message(picture)
    heard, unity = listening(peer, Image, 'picture'), make_unity()
    unity.advertise('picture', 'sensor_msgs/Image', queue_size=1)
    unity.subscribe('picture', 'sensor_msgs/Image')
    unity.synchronise()
    peer.eventually(lambda: peer.node.count_publishers('/picture') and listeners(peer, '/picture') == 2)
    unity.publish('picture', payload)
    peer.eventually(lambda: heard and unity.heard.messages.get('picture'))
    assert heard[0] == picture
    assert unity.heard.messages['picture'][0] == payload


def test_a_scene_that_hangs_gets_the_newest_and_no_backlog(make_unity: MakeUnity, peer: Peer) -> None:
    slow, quick = make_unity(receive_buffer=4096), make_unity()
    for unity in (slow, quick):
        unity.subscribe('stream', 'std_msgs/String')
        unity.synchronise()
    publisher = peer.node.create_publisher(String, 'stream', 10)
    peer.eventually(lambda: publisher.get_subscription_count() == 1)
    slow.pause()
    filler = 'x' * 200_000
    for number in range(300):
        publisher.publish(String(data=f'{number} {filler}'))
        peer.eventually(lambda n=number: quick.texts('stream')[-1:] and quick.texts('stream')[-1].startswith(f'{n} '))
    slow.go_on()
    slow.wait(lambda: slow.texts('stream') and slow.texts('stream')[-1].startswith('299 '), 'the newest message')
    assert len(quick.texts('stream')) == 300
    assert len(slow.texts('stream')) < 150


def test_mistakes_of_a_scene_are_one_sentence_each_and_nothing_ends(make_unity: MakeUnity, peer: Peer) -> None:
    unity = make_unity()
    taken = listening(peer, Bool, 'of_bool')
    unity.subscribe('a', 'std_msg/String')
    unity.subscribe('b', 'no type')
    unity.subscribe('bad name', 'std_msgs/String')
    unity.advertise('of_bool', 'std_msgs/String')
    unity.publish('stranger', text_message('?'))
    unity.publish('stranger', text_message('?'))
    unity.send(frame('__fly', b'{}'))
    unity.send(frame('__subscribe', b'[1, 2'))
    unity.send(frame('__subscribe', b'[1, 2]'))
    unity.send(command('request', srv_id='x'))
    unity.send(command('publish', topic='t', message_name='std_msgs/String', latch='yes'))
    unity.synchronise()
    errors, warnings = unity.heard.notes['error'], unity.heard.notes['warn']
    for text in (
        "no message type 'std_msg/String' in this ROS installation; the nearest is std_msgs/String",
        'message_name of __subscribe',
        "'bad name' cannot be the name of a topic",
        "'stranger', which was not registered",
        "no command '__fly'",
        'is no JSON (',
        'is no JSON object',
        'srv_id of __request',
        'latch of __publish',
    ):
        assert sum(text in error for error in errors) == 1, (text, errors)
    assert len(errors) == 9
    assert ['std_msgs/msg/Bool' in warning for warning in warnings] == [True]
    assert not taken


def test_bytes_that_are_no_message_do_not_reach_ros(make_unity: MakeUnity, peer: Peer) -> None:
    heard, unity = listening(peer, String, 'only_texts'), make_unity()
    unity.advertise('only_texts', 'std_msgs/String')
    unity.synchronise()
    peer.eventually(lambda: peer.node.count_publishers('/only_texts'))
    for payload in (b'', b'\0', b'junk' * 5, HEADER, HEADER + b'\xff' * 8, text_message('a') + bytes(100)):
        unity.publish('only_texts', payload)
    peer.eventually(lambda: heard, doing=lambda: unity.publish('only_texts', text_message('good')))
    assert {message.data for message in heard} == {'good'}
    peer.eventually(lambda: len(unity.heard.notes['error']) >= 3)


def test_two_clients_must_agree_on_a_type(make_unity: MakeUnity) -> None:
    first, second = make_unity(), make_unity()
    first.subscribe('agreed', 'std_msgs/String')
    first.synchronise()
    second.subscribe('agreed', 'std_msgs/Bool')
    second.synchronise()
    assert ['Another Unity client subscribed' in error for error in second.heard.notes['error']] == [True]
    assert not first.heard.notes['error']
