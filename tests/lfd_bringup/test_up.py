"""`./lfd up` as a user meets it: real nodes over DDS, killed and brought back, and nothing left behind."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from support.peer import Peer, eventually
from support.process import Process
from tf2_msgs.msg import TFMessage

from lfd_bringup.commands import HIGHEST_DOMAIN
from lfd_bringup.domain import claim
from lfd_bringup.graph import describe
from lfd_bringup.home.faults import Fault
from lfd_description.grippers import find_gripper
from lfd_description.robots import find_robot

ROBOT = 'gp8'
PERSISTENT = {'robot_state_publisher', 'ros2_control_node'}


def children_of(pid: int) -> dict[str, int]:
    """Process ids of the running nodes by executable."""
    found = {}
    for entry in Path('/proc').glob('[0-9]*'):
        try:
            parent = int(entry.joinpath('stat').read_text().rpartition(')')[2].split()[1])
            words = entry.joinpath('cmdline').read_text().split('\0')
        except (OSError, ValueError):
            continue
        if parent == pid and len(words) > 4:
            found[Path(words[4]).name] = int(entry.name)
    return found


def is_running(pid: int) -> bool:
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] != 'Z'
    except OSError:
        return False


@pytest.fixture
def ros_domain() -> int:
    """A free domain, not claimed by the test: ./lfd up claims it, and the test's nodes listen in it.

    Other tests take the first free one; so that none of them is quicker, this is the last.
    """
    for number in range(HIGHEST_DOMAIN, 0, -1):
        with contextlib.suppress(Fault), claim(number):
            return number
    raise AssertionError('all ROS domains of this machine are taken')


@pytest.fixture
def up(checkout: Path, ros_domain: int, user_environment: dict[str, str]) -> Iterator[Process]:
    command = [str(checkout / 'lfd'), 'up', '--robot', ROBOT, '--domain-id', str(ros_domain)]
    running = Process(command, user_environment)
    eventually(lambda: f'{ROBOT} is ready' in running.output or not running.is_running, 'the graph is ready', 60.0)
    assert running.is_running, running.output
    yield running
    running.stop()


def test_nodes_topics_and_action_of_the_contract(up: Process, make_peer: Callable[[str], Peer]):
    peer = make_peer('test')
    expected = {spec.name for spec in describe(ROBOT).nodes if not spec.is_one_shot} | {f'{ROBOT}_controller'}
    peer.eventually(lambda: expected <= set(peer.node.get_node_names()), f'nodes {expected}')
    states: list[JointState] = []
    transforms: list[TFMessage] = []
    peer.node.create_subscription(JointState, 'joint_states', states.append, qos_profile_sensor_data)
    peer.node.create_subscription(TFMessage, 'tf', transforms.append, 10)
    peer.eventually(lambda: states and transforms, 'joint states and transforms')
    assert states[0].name == [*find_robot(ROBOT).joints, find_gripper('two_finger').joint]
    client = ActionClient(peer.node, FollowJointTrajectory, f'{ROBOT}_controller/follow_joint_trajectory')
    peer.eventually(client.server_is_ready, 'the action server')
    client.destroy()


@pytest.mark.parametrize('victim', sorted(PERSISTENT))
def test_a_killed_node_comes_back_and_works_again(victim: str, up: Process, make_peer: Callable[[str], Peer]):
    """Transforms need both nodes, and the controllers spawned again."""
    peer = make_peer('test')
    transforms: list[TFMessage] = []
    peer.node.create_subscription(TFMessage, 'tf', transforms.append, 10)
    peer.eventually(lambda: transforms, 'transforms')
    old = children_of(up.pid)[victim]
    os.kill(old, signal.SIGKILL)
    peer.eventually(lambda: children_of(up.pid).get(victim, old) != old, 'the node is started again')
    assert 'was ended by SIGKILL; starting it again in' in up.output
    peer.eventually(lambda: not is_running(old), 'the old process is gone')
    transforms.clear()
    peer.eventually(lambda: len(transforms) > 5, 'transforms flow again')


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_everything_cleanly(number: signal.Signals, up: Process):
    children = children_of(up.pid)
    assert set(children) >= PERSISTENT
    assert up.end(number) == 0
    assert not [name for name, pid in children.items() if is_running(pid)]
    assert up.output.rstrip().endswith('All nodes have ended.')
    assert 'Traceback' not in up.output


def test_killing_the_supervisor_leaves_no_orphan(up: Process):
    children = children_of(up.pid)
    assert set(children) >= PERSISTENT
    up.end(signal.SIGKILL)
    eventually(lambda: not any(map(is_running, children.values())), 'all nodes have ended')


def test_a_taken_domain_is_refused_in_one_sentence(up: Process, ros_domain: int, lfd):
    second = lfd('up', '--robot', 'ur5e', '--domain-id', ros_domain)
    assert second.returncode == 1
    assert f'ROS domain {ros_domain} is taken: port' in second.stderr
    assert 'Fix: stop that one, or choose another domain with --domain-id' in second.stderr
    assert 'Traceback' not in second.stderr
