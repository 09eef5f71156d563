import signal

import pytest

# The lark parser that rclpy loads with the first message type still uses these modules.
pytestmark = pytest.mark.filterwarnings("ignore:module 'sre_:DeprecationWarning")


def test_tells_every_step_and_can_be_repeated(arm):
    again = arm.spawn('joint_state_broadcaster', 'arm_controller', '--ros-args', '-r', 'x:=y')
    assert again.splitlines() == [
        "[spawner] 'joint_state_broadcaster' is active already.",
        "[spawner] 'arm_controller' is active already.",
    ]


@pytest.mark.parametrize(
    ('controller', 'words'),
    [
        ('nobody', "did not load 'nobody'"),
        ('odd_controller', "did not load 'odd_controller'"),
        ('stray_controller', "did not configure 'stray_controller'"),
        ('rival_controller', "which 'arm_controller' has claimed"),
    ],
)
def test_failure_is_one_sentence(arm, controller, words):
    spawner = arm.spawner(controller)
    assert spawner.wait() == 1
    assert words in spawner.output.splitlines()[-1]
    assert 'Traceback' not in spawner.output


def test_no_manager_in_time(graph):
    spawner = graph.spawner('arm_controller', '-c', 'other_manager', '--controller-manager-timeout', '0.5')
    assert spawner.wait() == 1
    assert "No services of 'other_manager' after 0.5 s" in spawner.output
    assert 'Traceback' not in spawner.output


def test_wrong_usage(graph):
    assert graph.spawner().wait() == 2


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        (['a b'], "'a b'"),
        (['x', 'ä'], "'ä'"),
        (['x', '--ros-args', '--params-file', '/nope'], '/nope'),
        (['x', '--ros-args', '-r', 'nonsense'], 'nonsense'),
    ],
)
def test_what_ros_does_not_take_is_one_line(graph, arguments, words):
    spawner = graph.spawner(*arguments)
    assert spawner.wait() == 2
    (line,) = spawner.output.splitlines()
    assert words in line


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signal_while_waiting_ends_it(graph, number):
    spawner = graph.spawner('arm_controller')
    graph.eventually(
        lambda: any(name.startswith('spawner') for name in graph.node.get_node_names()), 'the start of the spawner'
    )
    assert spawner.end(number) == 0
    assert 'Traceback' not in spawner.output
