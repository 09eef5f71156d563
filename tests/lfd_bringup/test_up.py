"""`./lfd up` as a user meets it: real nodes over DDS, killed and brought back, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from lfd_bringup.graph import describe

ROBOT = 'gp8'


class Up:
    """A running `./lfd up`, its output in a file."""

    def __init__(self, command: list[str], environment: dict[str, str], output: Path) -> None:
        self._output = output
        with output.open('w') as file:
            self.process = subprocess.Popen(command, env=environment, stdout=file, stderr=subprocess.STDOUT)

    @property
    def output(self) -> str:
        return self._output.read_text()

    def children(self) -> dict[str, int]:
        """Process ids of the running nodes by executable."""
        found = {}
        for entry in Path('/proc').glob('[0-9]*'):
            try:
                parent = int(entry.joinpath('stat').read_text().rpartition(')')[2].split()[1])
                words = entry.joinpath('cmdline').read_text().split('\0')
            except (OSError, ValueError):
                continue
            if parent == self.process.pid and len(words) > 4:
                found[Path(words[4]).name] = int(entry.name)
        return found


def is_running(pid: int) -> bool:
    try:
        return Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()[0] != 'Z'
    except OSError:
        return False


@pytest.fixture
def free_domain() -> int:
    """A domain that nobody has claimed, for ./lfd up to claim."""
    from lfd_bringup.domain import claim_free

    with claim_free() as domain:
        return domain.number


@pytest.fixture
def ros_domain(free_domain: int) -> int:
    """The test's own nodes listen in the graph's domain."""
    return free_domain


@pytest.fixture
def up(
    checkout: Path, free_domain: int, user_environment: dict[str, str], tmp_path: Path, wait_until: Callable[..., None]
) -> Iterator[Up]:
    command = [str(checkout / 'lfd'), 'up', '--robot', ROBOT, '--domain-id', str(free_domain)]
    running = Up(command, user_environment, tmp_path / 'output.txt')
    wait_until(
        lambda: f'{ROBOT} is ready' in running.output or running.process.poll() is not None, 'the graph is ready'
    )
    assert running.process.poll() is None, running.output
    yield running
    running.process.kill()
    running.process.wait()


def test_nodes_topics_and_action_of_the_contract(up: Up, make_node, wait_until):
    node = make_node('test')
    expected = {spec.name for spec in describe(ROBOT).nodes if not spec.is_one_shot} | {f'{ROBOT}_controller'}
    wait_until(lambda: expected <= set(node.get_node_names()), f'nodes {expected}')
    states: list[JointState] = []
    transforms: list[TFMessage] = []
    node.create_subscription(JointState, 'joint_states', states.append, qos_profile_sensor_data)
    node.create_subscription(TFMessage, 'tf', transforms.append, 10)
    wait_until(lambda: states and transforms, 'joint states and transforms')
    assert len(states[0].name) == 6
    client = ActionClient(node, FollowJointTrajectory, f'{ROBOT}_controller/follow_joint_trajectory')
    assert client.wait_for_server(timeout_sec=30.0)
    client.destroy()


@pytest.mark.parametrize('victim', ['robot_state_publisher', 'ros2_control_node'])
def test_a_killed_node_comes_back_and_works_again(victim: str, up: Up, make_node, wait_until):
    """Joint states need the controllers to be spawned again; transforms need both nodes."""
    node = make_node('test')
    transforms: list[TFMessage] = []
    node.create_subscription(TFMessage, 'tf', transforms.append, 10)
    wait_until(lambda: transforms, 'transforms')
    old = up.children()[victim]
    os.kill(old, signal.SIGKILL)
    wait_until(lambda: not is_running(old), 'the node is dead')
    wait_until(lambda: up.children().get(victim, old) != old, 'the node is started again')
    transforms.clear()
    wait_until(lambda: len(transforms) > 5, 'transforms flow again')
    assert 'was ended by SIGKILL; starting it again in' in up.output


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_stops_everything_cleanly(number: signal.Signals, up: Up, wait_until):
    children = up.children()
    assert set(children) >= {'robot_state_publisher', 'ros2_control_node'}
    up.process.send_signal(number)
    assert up.process.wait(30.0) == 0
    assert not [name for name, pid in children.items() if is_running(pid)]
    assert up.output.rstrip().endswith('All nodes have ended.')
    assert 'Traceback' not in up.output


def test_killing_the_supervisor_leaves_no_orphan(up: Up, wait_until):
    children = up.children()
    up.process.kill()
    up.process.wait()
    wait_until(lambda: not any(map(is_running, children.values())), 'all nodes have ended')


def test_a_taken_domain_is_refused_in_one_sentence(up: Up, free_domain: int, lfd):
    second = lfd('up', '--robot', 'ur5e', '--domain-id', free_domain)
    assert second.returncode == 1
    assert f'ROS domain {free_domain} is taken: port' in second.stderr
    assert 'Fix: stop that one, or choose another domain with --domain-id' in second.stderr
    assert 'Traceback' not in second.stderr
