import signal

import pytest
from controller_manager_msgs.srv import (
    ConfigureController,
    ListControllerTypes,
    ListHardwareComponents,
    ListHardwareInterfaces,
    LoadController,
    SwitchController,
    UnloadController,
)

# The lark parser that rclpy loads with the first message type still uses these modules.
pytestmark = pytest.mark.filterwarnings("ignore:module 'sre_:DeprecationWarning")

STRICT = SwitchController.Request.STRICT


def switch(graph, **lists):
    return graph.call(SwitchController, 'switch_controller', strictness=STRICT, **lists)


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
    from control_msgs.action import FollowJointTrajectory
    from trajectory_msgs.msg import JointTrajectoryPoint

    goal = FollowJointTrajectory.Goal()
    goal.trajectory.joint_names = ['shoulder', 'elbow']
    goal.trajectory.points = [JointTrajectoryPoint(positions=[1.0, 1.0])]
    goal.trajectory.points[0].time_from_start.sec = 20
    assert graph.send(goal).accepted
    assert manager.end(number) == 0, manager.output
    assert 'Traceback' not in manager.output


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
    graph.describe(urdf(plugin='abb_hardware_interface/ABBSystemHardware'))
    graph.eventually(lambda: 'mock_components/GenericSystem only for now' in manager.output, 'a word about the plugin')
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
    assert manager.wait() == 1
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
