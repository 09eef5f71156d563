"""The node as its users see it: a process of its own, talked to over DDS."""

import math
import signal
from collections.abc import Callable

import numpy as np
import pytest
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from rclpy.time import Time
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from lfd_description.kinematics import Chain
from lfd_description.nodes.robot_state_publisher import LATCHED_QOS, TF_QOS
from lfd_description.robots import find_robot, robot_description
from lfd_description.urdf import parse_urdf

# The lark parser that rclpy loads with the first message type still uses these modules.
pytestmark = pytest.mark.filterwarnings("ignore:module 'sre_:DeprecationWarning")

GRIPPER = """
<robot name="gripper">
  <link name="palm"/> <link name="left"/> <link name="right"/> <link name="camera"/>
  <joint name="left_joint" type="prismatic">
    <parent link="palm"/> <child link="left"/> <origin rpy="0 0 1.5707963267948966" xyz="0 0 0.1"/> <axis xyz="1 0 0"/>
    <limit lower="0" upper="0.05" velocity="0.1" effort="10"/>
  </joint>
  <joint name="right_joint" type="prismatic">
    <parent link="palm"/> <child link="right"/> <axis xyz="0 1 0"/>
    <limit lower="-0.05" upper="0.05" velocity="0.1" effort="10"/>
    <mimic joint="left_joint" multiplier="-1" offset="0.001"/>
  </joint>
  <joint name="camera_joint" type="fixed"> <parent link="palm"/> <child link="camera"/> </joint>
</robot>
"""


class Watch:
    """All that was heard on the node's topics since the watch was set."""

    def __init__(self, graph) -> None:
        self.descriptions: list[str] = []
        self.static: list[TFMessage] = []
        self.moving: list[TFMessage] = []
        node = graph.node
        node.create_subscription(
            String, 'robot_description', lambda message: self.descriptions.append(message.data), LATCHED_QOS
        )
        node.create_subscription(TFMessage, 'tf_static', self.static.append, LATCHED_QOS)
        node.create_subscription(TFMessage, 'tf', self.moving.append, TF_QOS)
        self._graph = graph
        self._publisher = node.create_publisher(JointState, 'joint_states', 10)

    def send(self, names: list[str], positions: list[float], stamp: Time | None = None) -> JointState:
        state = JointState(name=names, position=positions)
        state.header.stamp = (stamp or self._graph.node.get_clock().now()).to_msg()
        self._publisher.publish(state)
        return state

    def wait_until_connected(self) -> None:
        self._graph.eventually(
            lambda: self.static and self.descriptions and self._publisher.get_subscription_count() > 0
        )
        self._graph.eventually(lambda: self._graph.node.count_publishers('/tf') > 0)


@pytest.fixture
def watch(graph) -> Watch:
    return Watch(graph)


def matrix(transform: object) -> np.ndarray:
    """The 4x4 transform of a geometry_msgs Transform, by rotating the unit vectors."""
    q = transform.rotation
    vector, w = np.array([q.x, q.y, q.z]), q.w
    result = np.eye(4)
    for column, unit in enumerate(np.eye(3)):
        result[:3, column] = unit + 2 * np.cross(vector, np.cross(vector, unit) + w * unit)
    result[:3, 3] = transform.translation.x, transform.translation.y, transform.translation.z
    return result


def compose(messages: list[TFMessage], base: str, tip: str) -> np.ndarray:
    """What a tf listener would answer: the pose base -> tip from the last transforms heard."""
    carrying = {transform.child_frame_id: transform for message in messages for transform in message.transforms}
    pose = np.eye(4)
    while tip != base:
        pose = matrix(carrying[tip].transform) @ pose
        tip = carrying[tip].header.frame_id
    return pose


def frames(messages: list[TFMessage]) -> set[tuple[str, str]]:
    return {(t.header.frame_id, t.child_frame_id) for message in messages for t in message.transforms}


def test_a_late_joiner_hears_the_description_and_the_fixed_frames(graph, start) -> None:
    xml = robot_description(find_robot('gp8'))
    start(robot_description=xml)
    Watch(graph).wait_until_connected()

    late = Watch(graph)

    graph.eventually(lambda: late.descriptions and late.static)
    assert late.descriptions == [xml]
    assert frames(late.static) == {('base_link', 'base'), ('link_6_t', 'flange'), ('flange', 'tool0')}
    assert not late.moving


def test_offers_the_topics_of_the_official_node(graph, start, watch) -> None:
    start(robot_description=GRIPPER)
    watch.wait_until_connected()

    def qos(info: Callable[[str], list], topic: str) -> list[tuple[ReliabilityPolicy, DurabilityPolicy]]:
        ends = [end.qos_profile for end in info(topic) if end.node_name == 'robot_state_publisher']
        return [(end.reliability, end.durability) for end in ends]

    publishers, subscriptions = graph.node.get_publishers_info_by_topic, graph.node.get_subscriptions_info_by_topic
    latched = (ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL)
    graph.eventually(lambda: qos(publishers, '/robot_description') == [latched])
    graph.eventually(lambda: qos(publishers, '/tf_static') == [latched])
    graph.eventually(lambda: qos(publishers, '/tf') == [(ReliabilityPolicy.RELIABLE, DurabilityPolicy.VOLATILE)])
    best_effort = (ReliabilityPolicy.BEST_EFFORT, DurabilityPolicy.VOLATILE)
    graph.eventually(lambda: qos(subscriptions, '/joint_states') == [best_effort])


@pytest.mark.parametrize('name', ['gp8', 'ur5e'])
def test_tf_agrees_with_forward_kinematics(graph, start, watch, name: str) -> None:
    robot = find_robot(name)
    xml = robot_description(robot)
    start(robot_description=xml)
    watch.wait_until_connected()
    q = [0.3, -0.4, 0.5, -0.6, 0.7, -0.8]
    sent: list[JointState] = []

    graph.eventually(lambda: watch.moving, doing=lambda: sent.append(watch.send(list(robot.joints), q)))

    expected = Chain(parse_urdf(xml), 'base_link', 'tool0').pose(q)
    np.testing.assert_allclose(compose(watch.moving + watch.static, 'base_link', 'tool0'), expected, atol=1e-9)
    stamps = [state.header.stamp for state in sent]
    assert all(transform.header.stamp in stamps for message in watch.moving for transform in message.transforms)


def test_mimic_joints_follow_and_strangers_are_passed_over(graph, start, watch) -> None:
    start(robot_description=GRIPPER)
    watch.wait_until_connected()

    graph.eventually(lambda: watch.moving, doing=lambda: watch.send(['wheel', 'left_joint'], [3.0, 0.02]))

    assert frames(watch.moving) == {('palm', 'left'), ('palm', 'right')}
    # Its origin is turned a quarter about z, so that its x axis is the palm's y axis.
    np.testing.assert_allclose(compose(watch.moving, 'palm', 'left')[:3, 3], [0.0, 0.02, 0.1], atol=1e-12)
    np.testing.assert_allclose(compose(watch.moving, 'palm', 'right')[:3, 3], [0.0, -0.019, 0.0], atol=1e-12)


@pytest.mark.parametrize(
    ('names', 'positions', 'complaint'),
    [
        (['left_joint', 'right_joint'], [0.03], '2 names but 1 positions'),
        (['left_joint'], [], '1 names but 0 positions'),
        (['left_joint'], [math.nan], 'not finite'),
    ],
)
def test_survives_invalid_joint_states(
    graph, start, watch, names: list[str], positions: list[float], complaint: str
) -> None:
    node = start(robot_description=GRIPPER)
    watch.wait_until_connected()

    graph.eventually(lambda: complaint in node.output, doing=lambda: watch.send(names, positions))
    assert not watch.moving
    graph.eventually(lambda: watch.moving, doing=lambda: watch.send(['left_joint'], [0.01]))

    assert node.output.count('Ignored') == 1


def test_older_joint_states_are_ignored(graph, start, watch) -> None:
    start(robot_description=GRIPPER)
    watch.wait_until_connected()
    graph.eventually(lambda: watch.moving, doing=lambda: watch.send(['left_joint'], [0.01]))

    watch.send(['left_joint'], [0.05], stamp=Time(seconds=1))
    heard = len(watch.moving)
    graph.eventually(lambda: len(watch.moving) > heard, doing=lambda: watch.send(['left_joint'], [0.02]))

    heights = [t.transform.translation.y for m in watch.moving for t in m.transforms if t.child_frame_id == 'left']
    assert set(np.round(heights, 6)) == {0.01, 0.02}


def test_ignore_timestamp_takes_them_all(graph, start, watch) -> None:
    start(robot_description=GRIPPER, ignore_timestamp=True)
    watch.wait_until_connected()

    graph.eventually(lambda: watch.moving, doing=lambda: watch.send(['left_joint'], [0.01], stamp=Time(seconds=0)))


def test_an_unstamped_joint_state_is_named_as_the_reason(graph, start, watch) -> None:
    node = start(robot_description=GRIPPER)
    watch.wait_until_connected()

    graph.eventually(
        lambda: 'without a time stamp' in node.output,
        doing=lambda: watch.send(['left_joint'], [0.01], stamp=Time(seconds=0)),
    )
    assert not watch.moving


def test_frame_prefix_goes_before_every_frame(graph, start, watch) -> None:
    start(robot_description=GRIPPER, frame_prefix='left/')
    watch.wait_until_connected()

    graph.eventually(lambda: watch.moving, doing=lambda: watch.send(['left_joint'], [0.01]))

    assert frames(watch.static) == {('left/palm', 'left/camera')}
    assert frames(watch.moving) == {('left/palm', 'left/left'), ('left/palm', 'left/right')}


def test_the_description_can_be_replaced_while_running(graph, start, watch) -> None:
    start(robot_description=robot_description(find_robot('ur3e')))
    watch.wait_until_connected()
    parameters = AsyncParameterClient(graph.node, 'robot_state_publisher')
    graph.eventually(parameters.services_are_ready)

    (result,) = graph.result(parameters.set_parameters([Parameter('robot_description', value=GRIPPER)])).results

    assert result.successful
    graph.eventually(lambda: watch.descriptions[-1] == GRIPPER and ('palm', 'camera') in frames(watch.static[-1:]))
    graph.eventually(lambda: watch.moving, doing=lambda: watch.send(['left_joint'], [0.01]))
    assert ('palm', 'left') in frames(watch.moving)


@pytest.mark.parametrize(
    ('name', 'value', 'reason'),
    [
        ('robot_description', '', 'is empty'),
        ('robot_description', '<robot', 'not well-formed XML'),
        ('publish_frequency', 0.0, 'above 0'),
        ('publish_frequency', 1001.0, '1000'),
    ],
)
def test_a_bad_parameter_is_refused_with_a_reason(graph, start, watch, name: str, value: object, reason: str) -> None:
    node = start(robot_description=GRIPPER)
    watch.wait_until_connected()
    parameters = AsyncParameterClient(graph.node, 'robot_state_publisher')
    graph.eventually(parameters.services_are_ready)

    (result,) = graph.result(parameters.set_parameters([Parameter(name, value=value)])).results

    assert not result.successful
    assert reason in result.reason
    graph.eventually(lambda: watch.moving, doing=lambda: watch.send(['left_joint'], [0.01]))
    assert watch.descriptions == [GRIPPER]
    assert node.is_running


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_leaves_quietly_on_a_signal(graph, start, watch, number: signal.Signals) -> None:
    node = start(robot_description=GRIPPER)
    watch.wait_until_connected()

    node.send(number)

    assert node.wait() == 0
    assert 'Traceback' not in node.output


@pytest.mark.parametrize(
    ('parameters', 'complaint'),
    [
        ({}, 'robot_description is empty'),
        ({'robot_description': 'arm.urdf'}, 'not well-formed XML'),
        ({'robot_description': GRIPPER, 'publish_frequency': 0.0}, 'publish_frequency is 0.0'),
        ({'robot_description': GRIPPER, 'publish_frequency': 2000.0}, 'publish_frequency'),
        ({'robot_description': GRIPPER, 'publish_frequency': 'often'}, 'publish_frequency'),
    ],
)
def test_says_in_one_sentence_why_it_cannot_start(start, parameters: dict[str, object], complaint: str) -> None:
    node = start(**parameters)

    assert node.wait() == 2
    (line,) = node.output.splitlines()
    assert line.startswith('robot_state_publisher: ')
    assert complaint in line
