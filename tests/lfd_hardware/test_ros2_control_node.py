import math
import signal

import pytest
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from controller_manager_msgs.srv import (
    ConfigureController,
    ListControllerTypes,
    ListHardwareComponents,
    ListHardwareInterfaces,
    LoadController,
    SwitchController,
    UnloadController,
)
from trajectory_msgs.msg import JointTrajectoryPoint

from lfd_hardware.controllers import CONTROLLERS
from lfd_hardware.drivers import DriverError

# The lark parser that rclpy loads with the first message type still uses these modules.
pytestmark = pytest.mark.filterwarnings("ignore:module 'sre_:DeprecationWarning")

STRICT = SwitchController.Request.STRICT


def switch(graph, **lists):
    return graph.call(SwitchController, 'switch_controller', strictness=STRICT, **lists)


def goal(seconds, *positions):
    """A goal of one point [rad], straight on and at an even speed."""
    message = FollowJointTrajectory.Goal()
    message.trajectory.joint_names = ['shoulder', 'elbow']
    message.trajectory.points = [JointTrajectoryPoint(positions=positions)]
    message.trajectory.points[0].time_from_start.sec = seconds
    return message


def test_lists_what_it_runs(arm):
    controllers = arm.controllers()
    assert {name: each.state for name, each in controllers.items()} == {
        'joint_state_broadcaster': 'active',
        'arm_controller': 'active',
    }
    assert list(controllers['arm_controller'].claimed_interfaces) == ['shoulder/position', 'elbow/position']
    assert controllers['arm_controller'].type == 'joint_trajectory_controller/JointTrajectoryController'
    types = arm.call(ListControllerTypes, 'list_controller_types').types
    assert 'joint_state_broadcaster/JointStateBroadcaster' in types
    (component,) = arm.call(ListHardwareComponents, 'list_hardware_components').component
    assert (component.name, component.plugin_name) == ('arm_hardware', 'mock_components/GenericSystem')
    assert component.state.label == 'active'
    interfaces = arm.call(ListHardwareInterfaces, 'list_hardware_interfaces')
    assert [(i.name, i.is_claimed) for i in interfaces.command_interfaces] == [
        ('shoulder/position', True),
        ('elbow/position', True),
    ]
    assert len(interfaces.state_interfaces) == 4


def test_second_claim_is_refused_until_the_first_one_is_released(arm):
    arm.spawn('--inactive', 'rival_controller')
    assert arm.controllers()['rival_controller'].state == 'inactive'
    answer = switch(arm, activate_controllers=['rival_controller'])
    assert not answer.ok
    assert "'elbow/position', which 'arm_controller' has claimed" in answer.message
    assert arm.controllers()['rival_controller'].state == 'inactive'
    assert switch(arm, activate_controllers=['rival_controller'], deactivate_controllers=['arm_controller']).ok
    assert list(arm.controllers()['rival_controller'].claimed_interfaces) == ['elbow/position']
    assert switch(arm, activate_controllers=['arm_controller'], deactivate_controllers=['rival_controller']).ok
    assert arm.call(UnloadController, 'unload_controller', name='rival_controller').ok
    assert 'rival_controller' not in arm.controllers()


def test_refused_switch_leaves_everything_as_it_was(arm):
    arm.spawn('--inactive', 'rival_controller')
    answer = switch(arm, deactivate_controllers=['joint_state_broadcaster'], activate_controllers=['rival_controller'])
    assert not answer.ok
    assert arm.controllers()['joint_state_broadcaster'].state == 'active'
    assert arm.call(UnloadController, 'unload_controller', name='rival_controller').ok


def test_a_controller_named_twice_runs_once(arm):
    assert switch(arm, deactivate_controllers=['arm_controller', 'arm_controller']).ok
    assert switch(arm, activate_controllers=['arm_controller', 'arm_controller']).ok
    arm.states.clear()
    start = arm.position()[0]
    answer = arm.finish(arm.send(goal(1, start + 0.5, arm.position()[1])))
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    assert max(state.velocity[0] for state in arm.states) == pytest.approx(0.5, rel=1e-3)


def test_a_controller_to_be_deactivated_and_activated_is_restarted(arm):
    running = arm.send(goal(20, *arm.position()))
    assert switch(arm, deactivate_controllers=['arm_controller'], activate_controllers=['arm_controller']).ok
    assert arm.finish(running).status == GoalStatus.STATUS_ABORTED
    assert arm.controllers()['arm_controller'].state == 'active'


def test_steps_out_of_order_are_refused(arm):
    assert not arm.call(LoadController, 'load_controller', name='arm_controller').ok
    assert not arm.call(ConfigureController, 'configure_controller', name='arm_controller').ok
    assert not arm.call(UnloadController, 'unload_controller', name='arm_controller').ok
    assert not arm.call(ConfigureController, 'configure_controller', name='nobody').ok
    assert 'load it first' in switch(arm, activate_controllers=['nobody']).message
    assert arm.controllers()['arm_controller'].state == 'active'


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_signal_ends_it_cleanly_also_during_a_motion(graph, urdf, number):
    graph.describe(urdf())
    manager = graph.manager()
    graph.spawn('joint_state_broadcaster', 'arm_controller')
    result = graph.send(goal(20, 1.0, 1.0)).get_result_async()
    graph.eventually(lambda: graph.position()[0] > 0.11, 'some motion')
    assert manager.end(number) == 0, manager.output
    answer = graph.result(result)
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert answer.result.error_code == FollowJointTrajectory.Result.INVALID_GOAL
    assert "'arm_controller' was deactivated: ros2_control_node is ending." in answer.result.error_string
    assert 'Traceback' not in manager.output
    assert 'never retrieved' not in manager.output


def test_restart_and_spawn_again(graph, urdf):
    graph.describe(urdf())
    first = graph.manager()
    graph.spawn('joint_state_broadcaster', 'arm_controller')
    assert graph.position() == pytest.approx([0.1, -0.2])
    assert first.end() == 0
    graph.eventually(lambda: not graph.node.get_publishers_info_by_topic('/joint_states'), 'the end of joint_states')
    graph.manager()
    graph.spawn('joint_state_broadcaster', 'arm_controller')
    assert graph.position() == pytest.approx([0.1, -0.2])


def test_waits_for_a_usable_description(graph, urdf):
    manager = graph.manager()
    graph.eventually(lambda: 'Waiting for the URDF' in manager.output, 'the first line')
    graph.describe('<robot name="bare"><link name="base"/></robot>')
    graph.eventually(lambda: 'no <ros2_control> tag' in manager.output, 'a word about the tag')
    graph.describe(urdf(plugin='vendor/Unknown'))
    graph.eventually(lambda: 'vendor/Unknown' in manager.output, 'a word about the plugin')
    graph.describe(urdf())
    graph.spawn('joint_state_broadcaster')
    assert manager.end() == 0
    assert 'Traceback' not in manager.output


def test_signal_while_waiting_ends_it(graph):
    manager = graph.manager()
    graph.eventually(lambda: 'Waiting for the URDF' in manager.output, 'the first line')
    assert manager.end() == 0


def test_bad_parameter_file_is_one_sentence(graph):
    graph.parameters.write_text('controller_manager:\n  ros__parameters:\n    update_rate: fast\n')
    manager = graph.manager()
    assert manager.wait() == 2
    assert 'update_rate' in manager.output
    assert 'Traceback' not in manager.output


def test_best_effort_does_what_it_can(arm):
    arm.spawn('--inactive', 'rival_controller')
    answer = arm.call(
        SwitchController,
        'switch_controller',
        strictness=SwitchController.Request.BEST_EFFORT,
        deactivate_controllers=['joint_state_broadcaster'],
        activate_controllers=['rival_controller'],
    )
    assert answer.ok
    assert arm.controllers()['joint_state_broadcaster'].state == 'inactive'
    assert arm.controllers()['rival_controller'].state == 'inactive'
    assert arm.call(UnloadController, 'unload_controller', name='rival_controller').ok
    arm.spawn('joint_state_broadcaster')


def test_a_new_name_for_the_process_is_the_managers_alone(graph, urdf):
    graph.describe(urdf())
    graph.manager('-r', '__node:=controller_manager')
    graph.spawn('joint_state_broadcaster', 'arm_controller')
    expected = {'arm_controller', 'arm_test', 'controller_manager', 'joint_state_broadcaster'}
    # A spawner that has ended is known for as long as its lease runs.
    graph.eventually(lambda: set(graph.node.get_node_names()) == expected, 'only nodes of these names', 90.0)


def test_parameters_that_a_controller_does_not_know_are_named(graph, urdf):
    text = graph.parameters.read_text()
    graph.parameters.write_text(text.replace('constraints:', 'cmd_timeout: 1.0\n    constraints:'))
    graph.describe(urdf())
    manager = graph.manager()
    graph.spawn('joint_state_broadcaster', 'arm_controller')
    graph.eventually(lambda: 'ignores them' in manager.output, 'a warning')
    (line,) = [line for line in manager.output.splitlines() if 'ignores them' in line]
    assert line.endswith("'arm_controller' does not know these parameters and ignores them: cmd_timeout.")


def test_a_device_that_fails_takes_only_its_own_controllers_with_it(graph, urdf, faulty):
    graph.describe(urdf('test/Faulty', devices=('left', 'right')))
    graph.manager_inside()
    graph.spawn('joint_state_broadcaster', 'shoulder_controller', 'rival_controller')
    faulty['right'].fault = DriverError('The cable is cut.')
    graph.eventually(lambda: graph.controllers()['rival_controller'].state == 'inactive', 'the deactivation')
    assert graph.controllers()['joint_state_broadcaster'].state == 'inactive'
    assert graph.controllers()['shoulder_controller'].state == 'active'
    seen = len(faulty['left'].told)
    graph.eventually(lambda: len(faulty['left'].told) > seen, 'commands for the device that works')
    for controller in ('rival_controller', 'joint_state_broadcaster'):
        answer = switch(graph, activate_controllers=[controller])
        assert not answer.ok
        assert "hardware 'right' failed" in answer.message
        assert 'The cable is cut.' in answer.message
    components = graph.call(ListHardwareComponents, 'list_hardware_components').component
    assert {each.name: each.state.label for each in components} == {'left': 'active', 'right': 'unconfigured'}
    interfaces = graph.call(ListHardwareInterfaces, 'list_hardware_interfaces')
    for listed in (interfaces.command_interfaces, interfaces.state_interfaces):
        assert {each.name.split('/')[0]: each.is_available for each in listed} == {'shoulder': True, 'elbow': False}


def broken(_):
    raise ZeroDivisionError


ENDS = {
    'a switch': (lambda graph, **_: switch(graph, deactivate_controllers=['arm_controller']), 'a switch'),
    'a failure of another device': (
        lambda faulty, **_: setattr(faulty['right'], 'fault', DriverError('The cable is cut.')),
        "hardware 'right' failed",
    ),
    'a failure of the controller': (
        lambda monkeypatch, **_: monkeypatch.setattr(
            CONTROLLERS['joint_trajectory_controller/JointTrajectoryController'], 'update', broken
        ),
        'its update failed',
    ),
    'the end of the node': (lambda manager, **_: manager.close(), 'ros2_control_node is ending'),
}


@pytest.mark.parametrize('way', ENDS)
def test_the_hardware_hears_the_last_command_of_a_controller_that_ends(graph, urdf, faulty, monkeypatch, way):
    text = graph.parameters.read_text()
    graph.parameters.write_text(
        text.replace('command_interfaces: [position]', 'command_interfaces: [position, velocity]')
    )
    graph.describe(urdf('test/Faulty', devices=('left', 'right'), commands=('position', 'velocity')))
    manager = graph.manager_inside()
    graph.spawn('arm_controller')
    result = graph.send(goal(20, 1.0, 1.0)).get_result_async()
    told = faulty['left'].told
    graph.eventually(lambda: told[-1]['shoulder/velocity'] > 0.01, 'some motion')
    end, reason = ENDS[way]
    end(graph=graph, manager=manager, faulty=faulty, monkeypatch=monkeypatch)
    answer = graph.result(result)
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert f'was deactivated: {reason}' in answer.result.error_string
    graph.eventually(lambda: told[-1]['shoulder/velocity'] == 0.0, 'the order to stand still')


def test_a_controller_does_not_begin_before_the_hardware_has_a_position(graph, urdf, faulty):
    graph.describe(urdf('test/Faulty'))
    graph.manager_inside()
    graph.spawn('joint_state_broadcaster')
    graph.spawn('--inactive', 'arm_controller')
    faulty['arm_hardware'].reports['elbow/position'] = math.nan
    graph.eventually(lambda: graph.states and math.isnan(graph.states[-1].position[1]), 'the loss of the position')
    answer = switch(graph, deactivate_controllers=['joint_state_broadcaster'], activate_controllers=['arm_controller'])
    assert not answer.ok
    assert "'elbow/position', which is nan" in answer.message
    assert graph.controllers()['arm_controller'].state == 'inactive'
    assert graph.controllers()['joint_state_broadcaster'].state == 'active'
    assert faulty['arm_hardware'].told == []
    faulty['arm_hardware'].reports.clear()
    graph.eventually(lambda: switch(graph, activate_controllers=['arm_controller']).ok, 'the activation')
