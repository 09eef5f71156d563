"""Devices that fail, hang and come back under a running manager, and what the manager tells about itself."""

import math

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from controller_manager_msgs.msg import ControllerManagerActivity
from controller_manager_msgs.srv import ListHardwareComponents, SetHardwareComponentState, SwitchController
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from lifecycle_msgs.msg import State
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from lfd_hardware import device as device_module
from lfd_hardware import manager as manager_module
from lfd_hardware.drivers import DRIVERS, DriverError
from lfd_hardware.nodes import hardware_services, ros2_control_node

# The lark parser that rclpy loads with the first message type still uses these modules.
pytestmark = pytest.mark.filterwarnings("ignore:module 'sre_:DeprecationWarning")

STRICT = SwitchController.Request.STRICT
PERIOD = 1.0 / 125  # [s]
BRAKING = np.array([2.0, 1.0]) / 0.4  # [rad/s2]


def goal(seconds, *positions):
    """A goal of one point [rad] with rest at its end."""
    message = FollowJointTrajectory.Goal()
    message.trajectory = path(seconds, *positions)
    return message


def path(seconds, *positions):
    message = JointTrajectory(joint_names=['shoulder', 'elbow'])
    message.points = [JointTrajectoryPoint(positions=positions, velocities=[0.0, 0.0])]
    message.points[0].time_from_start.sec = seconds
    return message


def switch(graph, **lists):
    return graph.call(SwitchController, 'switch_controller', strictness=STRICT, **lists)


def set_state(graph, name, label):
    request = {'name': name, 'target_state': State(label=label)}
    return graph.call(SetHardwareComponentState, 'set_hardware_component_state', **request)


def states_of(graph):
    components = graph.call(ListHardwareComponents, 'list_hardware_components').component
    return {each.name: each.state.label for each in components}


def told(driver, joint):
    return np.array([each[f'{joint}/position'] for each in driver.told if f'{joint}/position' in each])


def assert_smooth(positions, velocity, braking):
    """No command jumps, and none of the stops is harder than a joint may brake [rad, rad/s, rad/s2]."""
    assert np.abs(np.diff(positions)).max() <= velocity * PERIOD * (1 + 1e-3)
    slower = np.diff(np.abs(np.diff(positions))) / PERIOD**2
    assert slower.min() >= -braking * 1.05


def test_a_device_that_failed_comes_back_where_the_arm_is(graph, urdf, faulty):
    graph.describe(urdf('test/Faulty', devices=('left', 'right')))
    graph.manager_inside()
    graph.spawn('arm_controller')
    left, right = faulty['left'], faulty['right']
    result = graph.send(goal(3, 1.5, -1.0)).get_result_async()
    graph.eventually(lambda: left.told and left.told[-1]['shoulder/position'] > 0.5, 'some motion')
    right.fault = DriverError('The cable is cut.')
    answer = graph.result(result)
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert "'arm_controller' was deactivated: hardware 'right' failed: The cable is cut." in answer.result.error_string
    graph.eventually(lambda: not graph.controllers()['arm_controller'].claimed_interfaces, 'rest')
    assert_smooth(told(left, 'shoulder'), 2.0, BRAKING[0])
    assert states_of(graph) == {'left': 'active', 'right': 'unconfigured'}
    graph.eventually(lambda: right.steps[-1] == 'close', 'the end of the connection')
    right.fault = None
    right.told.clear()
    right.reports['elbow/position'] = 0.7  # where somebody moved it
    answer = set_state(graph, 'right', 'active')
    assert (answer.ok, answer.state.label) == (True, 'active')
    graph.eventually(lambda: switch(graph, activate_controllers=['arm_controller']).ok, 'the activation')
    graph.eventually(lambda: len(right.told) > 5, 'commands')
    first = told(right, 'elbow')[0]
    assert first == 0.7
    assert np.ptp(told(right, 'elbow')) == 0.0


def test_set_hardware_component_state_stops_what_moves_first(graph, urdf, faulty):
    graph.describe(urdf('test/Faulty'))
    graph.manager_inside()
    graph.spawn('joint_state_broadcaster', 'arm_controller')
    driver = faulty['arm_hardware']
    result = graph.send(goal(3, 1.5, -1.0)).get_result_async()
    graph.eventually(lambda: graph.position()[0] > 0.5, 'some motion')
    assert set_state(graph, 'arm_hardware', 'inactive').ok
    assert "hardware 'arm_hardware' becomes inactive" in graph.result(result).result.error_string
    assert driver.steps == ['configure', 'activate', 'deactivate']
    assert_smooth(told(driver, 'shoulder'), 2.0, BRAKING[0])
    assert np.ptp(told(driver, 'shoulder')[-2:]) < 2.0 * PERIOD**2 * BRAKING[0]
    states = {name: each.state for name, each in graph.controllers().items()}
    assert states == {'joint_state_broadcaster': 'active', 'arm_controller': 'inactive'}
    writes = driver.writes
    graph.position()
    assert driver.writes == writes
    answer = switch(graph, activate_controllers=['arm_controller'])
    assert not answer.ok
    assert "hardware 'arm_hardware' is inactive" in answer.message
    assert set_state(graph, 'arm_hardware', 'unconfigured').ok
    assert graph.controllers()['joint_state_broadcaster'].state == 'inactive'
    assert set_state(graph, 'arm_hardware', 'active').ok
    assert switch(graph, activate_controllers=['joint_state_broadcaster', 'arm_controller']).ok
    assert not set_state(graph, 'arm_hardware', 'finalized').ok
    assert not set_state(graph, 'nobody', 'active').ok
    assert states_of(graph) == {'arm_hardware': 'active'}


def test_a_step_that_fails_is_told_and_can_be_tried_again(graph, urdf, faulty):
    graph.describe(urdf('test/Faulty'))
    graph.manager_inside()
    graph.spawn('--inactive', 'arm_controller')
    assert set_state(graph, 'arm_hardware', 'unconfigured').ok
    faulty['arm_hardware'].broken_steps.add('activate')
    answer = set_state(graph, 'arm_hardware', 'active')
    assert (answer.ok, answer.state.label) == (False, 'unconfigured')
    assert 'failed: No activate.' in switch(graph, activate_controllers=['arm_controller']).message
    faulty['arm_hardware'].broken_steps.clear()
    assert set_state(graph, 'arm_hardware', 'active').ok
    assert switch(graph, activate_controllers=['arm_controller']).ok


def test_a_device_that_hangs_keeps_neither_the_others_nor_the_end_waiting(graph, urdf, faulty, monkeypatch):
    monkeypatch.setattr(ros2_control_node, 'UP_WITHIN', 1.0)
    monkeypatch.setattr(ros2_control_node, 'CLOSE_WITHIN', 0.3)
    monkeypatch.setattr(hardware_services, 'CHANGE_WITHIN', 0.3)
    hangs = []
    make = faulty_hook(monkeypatch, faulty, lambda driver: hangs.append(driver.hang('configure')))
    graph.describe(urdf('test/Hanging', devices=('left', 'right')))
    manager = graph.manager_inside()
    graph.spawn('shoulder_controller')
    graph.spawn('--inactive', 'rival_controller')
    assert make['right'].steps == ['configure']
    assert states_of(graph) == {'left': 'active', 'right': 'unconfigured'}
    assert (
        "hardware 'right' is busy with 'configure'" in switch(graph, activate_controllers=['rival_controller']).message
    )
    assert not set_state(graph, 'right', 'active').ok
    assert len(make['left'].told) > 0
    manager.close()
    assert make['left'].steps == ['configure', 'activate', 'deactivate', 'close']
    hangs[0].release.set()


def test_a_driver_that_hangs_in_the_loop_does_not_keep_the_node_from_ending(graph, urdf, faulty, monkeypatch):
    monkeypatch.setattr(manager_module, 'LOCK_WITHIN', 0.3)
    monkeypatch.setattr(device_module, 'LOCK_WITHIN', 0.3)
    monkeypatch.setattr(ros2_control_node, 'CLOSE_WITHIN', 0.3)
    arrays = []
    graph.node.create_subscription(DiagnosticArray, '/diagnostics', arrays.append, 10)
    graph.describe(urdf('test/Faulty'))
    manager = graph.manager_inside()
    graph.spawn('arm_controller')
    result = graph.send(goal(20, 1.0, 1.0)).get_result_async()
    driver = faulty['arm_hardware']
    graph.eventually(lambda: driver.told, 'some commands')
    hang = driver.hang('read')
    assert hang.begun.wait(30.0)
    hangs = "the update loop hangs in 'arm_hardware'"
    graph.eventually(lambda: arrays and arrays[-1].status[2].message == hangs, 'the hang in the diagnostics')
    assert not switch(graph, deactivate_controllers=['arm_controller']).ok
    manager.close()
    assert 'ros2_control_node is ending' in graph.result(result).result.error_string
    assert driver.steps[-1] == 'close'
    hang.release.set()


def test_devices_may_begin_in_another_state(graph, urdf, faulty):
    text = graph.parameters.read_text()
    states = '{unconfigured: [left], inactive: [right]}'
    graph.parameters.write_text(
        text.replace('update_rate:', f'hardware_components_initial_state: {states}\n    update_rate:')
    )
    graph.describe(urdf('test/Faulty', devices=('left', 'right')))
    graph.manager_inside()
    assert states_of(graph) == {'left': 'unconfigured', 'right': 'inactive'}
    assert (faulty['left'].steps, faulty['right'].steps) == ([], ['configure'])


def test_an_arm_that_stopped_by_itself_does_not_leave_its_path_before_it_says_why(graph, urdf, faulty):
    graph.describe(urdf('test/Faulty'))
    manager = graph.manager_inside()
    graph.spawn('arm_controller')
    driver = faulty['arm_hardware']
    request = goal(2, 1.0, -0.8)
    request.path_tolerance = [JointTolerance(name='shoulder', position=0.05)]
    result = graph.send(request).get_result_async()
    graph.eventually(lambda: driver.told and driver.told[-1]['shoulder/position'] > 0.4, 'some motion')
    driver.stopped = True
    begin = manager.node._loop.cycles
    graph.eventually(lambda: manager.node._loop.cycles > begin + 50, 'time in which it would be left far behind')
    assert not result.done()
    driver.fault = DriverError('Somebody pressed the button.')
    answer = graph.result(result)
    assert answer.status == GoalStatus.STATUS_ABORTED
    assert 'Somebody pressed the button' in answer.result.error_string
    assert 'Left the path' not in answer.result.error_string


def test_a_controller_that_still_brakes_does_not_command_a_device_that_is_back(graph, urdf, faulty):
    graph.describe(urdf('test/Faulty'))
    graph.manager_inside()
    graph.spawn('arm_controller')
    driver = faulty['arm_hardware']
    result = graph.send(goal(2, 1.5, -1.0)).get_result_async()
    graph.eventually(lambda: driver.told and driver.told[-1]['shoulder/position'] > 0.5, 'some motion')
    driver.fault = DriverError('The cable is cut.')
    graph.eventually(lambda: states_of(graph) == {'arm_hardware': 'unconfigured'}, 'the end of the device')
    driver.fault, count = None, len(driver.told)
    assert set_state(graph, 'arm_hardware', 'active').ok
    assert graph.controllers()['arm_controller'].state == 'inactive'
    assert len(driver.told) == count
    assert graph.result(result).status == GoalStatus.STATUS_ABORTED


def test_stop_motion_is_no_success_while_something_moves(graph, urdf, faulty, monkeypatch):
    monkeypatch.setattr(manager_module, 'REST_WITHIN', 0.0)
    graph.describe(urdf('test/Faulty'))
    graph.manager_inside()
    graph.spawn('arm_controller')
    driver = faulty['arm_hardware']
    graph.send(goal(2, 1.5, -1.0))
    graph.eventually(lambda: driver.told and driver.told[-1]['shoulder/position'] > 0.5, 'some motion')
    answer = graph.call(Trigger, '/stop_motion')
    assert not answer.success
    assert answer.message.startswith('arm_controller did not come to rest within')


def test_jumps_of_the_clock_do_nothing(graph, urdf, faulty):
    text = graph.parameters.read_text()
    for line in ('update_rate:', 'joints: [shoulder, elbow]'):
        text = text.replace(line, f'use_sim_time: true\n    {line}')
    graph.parameters.write_text(text)
    graph.describe(urdf('test/Faulty'))
    graph.manager_inside()
    graph.spawn('arm_controller')
    clock = graph.node.create_publisher(Clock, '/clock', 10)
    graph.eventually(lambda: clock.get_subscription_count() > 0, 'the subscription')
    rng = np.random.default_rng(7)
    result = graph.send(goal(2, 1.0, -0.8)).get_result_async()
    graph.eventually(
        result.done,
        'the end of the motion',
        doing=lambda: clock.publish(Clock(clock=Time(sec=int(rng.integers(0, 10**9))))),
    )
    assert result.result().status == GoalStatus.STATUS_SUCCEEDED
    positions = told(faulty['arm_hardware'], 'shoulder')
    assert_smooth(positions, 2.0, BRAKING[0])
    moving = np.flatnonzero(np.diff(positions))
    assert np.ptp(moving) * PERIOD == pytest.approx(2.0, abs=0.05)


def faulty_hook(monkeypatch, faulty, prepare):
    """Drivers of the plugin 'test/Hanging', of which the one named 'right' is prepared by the test."""
    plain = DRIVERS['test/Faulty']

    def make(component):
        driver = plain(component)
        if component.name == 'right':
            prepare(driver)
        return driver

    monkeypatch.setitem(DRIVERS, 'test/Hanging', make)
    return faulty


def test_the_end_of_the_node_is_a_smooth_stop_before_the_hardware_is_let_go_of(graph, urdf, faulty):
    graph.describe(urdf('test/Faulty'))
    manager = graph.manager_inside()
    graph.spawn('arm_controller')
    driver = faulty['arm_hardware']
    result = graph.send(goal(3, 1.5, -1.0)).get_result_async()
    graph.eventually(lambda: driver.told[-1]['shoulder/position'] > 0.6, 'some motion')
    manager.close()
    assert 'ros2_control_node is ending' in graph.result(result).result.error_string
    positions = told(driver, 'shoulder')
    assert_smooth(positions, 2.0, BRAKING[0])
    assert np.ptp(positions[-2:]) < 2.0 * PERIOD**2 * BRAKING[0]
    assert driver.steps == ['configure', 'activate', 'deactivate', 'close']


def test_a_controller_that_would_make_the_arm_jump_is_ended_and_the_arm_hears_nothing(graph, urdf, faulty):
    graph.describe(urdf('test/Faulty'))
    graph.manager_inside()
    graph.spawn('forward_controller', 'shoulder_controller')
    driver = faulty['arm_hardware']
    publisher = graph.node.create_publisher(Float64MultiArray, 'forward_controller/commands', 10)
    graph.eventually(lambda: publisher.get_subscription_count() == 1, 'the subscription')
    publisher.publish(Float64MultiArray(data=[0.5]))
    graph.eventually(lambda: graph.controllers()['forward_controller'].state == 'inactive', 'the end of the controller')
    assert (told(driver, 'elbow') == -0.2).all()
    assert states_of(graph) == {'arm_hardware': 'active'}


def test_stop_motion_stops_smoothly_and_says_what(graph, urdf, faulty):
    graph.describe(urdf('test/Faulty'))
    graph.manager_inside()
    graph.spawn('joint_state_broadcaster', 'arm_controller')
    driver = faulty['arm_hardware']
    assert graph.call(Trigger, '/stop_motion').message == 'Nothing was moving.'
    result = graph.send(goal(3, 1.5, -1.0)).get_result_async()
    graph.eventually(lambda: driver.told[-1]['shoulder/position'] > 0.5, 'some motion')
    answer = graph.call(Trigger, '/stop_motion')
    assert (answer.success, answer.message) == (True, 'Stopped arm_controller.')
    rest = driver.told[-1]['shoulder/position']
    stopped = graph.result(result)
    assert (stopped.status, stopped.result.error_string) == (GoalStatus.STATUS_ABORTED, 'Stopped by stop_motion.')
    assert_smooth(told(driver, 'shoulder'), 2.0, BRAKING[0])
    assert graph.controllers()['arm_controller'].state == 'active'
    assert graph.finish(graph.send(goal(2, 0.0, 0.0))).status == GoalStatus.STATUS_SUCCEEDED
    assert rest < 1.4


def test_joint_path_command_moves_the_one_arm_there_is(graph, urdf):
    graph.describe(urdf())
    graph.manager()
    graph.spawn('joint_state_broadcaster', 'arm_controller')
    publisher = graph.node.create_publisher(JointTrajectory, 'joint_path_command', 10)
    graph.eventually(lambda: publisher.get_subscription_count() == 1, 'the subscription')
    publisher.publish(path(1, 0.4, 0.3))
    graph.comes_to(0.4, 0.3)
    assert switch(graph, deactivate_controllers=['arm_controller']).ok
    publisher.publish(path(1, 0.0, 0.0))
    graph.eventually(lambda: 'Ignored a trajectory on joint_path_command' in graph._processes[0].output, 'a refusal')
    assert graph.position() == pytest.approx([0.4, 0.3], abs=1e-6)


def test_tells_how_the_loop_the_hardware_and_the_controllers_are(graph, urdf, faulty):
    text = graph.parameters.read_text()
    graph.parameters.write_text(text.replace('    update_rate: 125\n', ''))
    arrays, activities = [], []
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    graph.node.create_subscription(DiagnosticArray, '/diagnostics', arrays.append, 10)
    graph.node.create_subscription(
        ControllerManagerActivity, '/controller_manager/activity', activities.append, latched
    )
    graph.describe(urdf('test/Faulty', devices=('left', 'right')))
    graph.manager_inside()
    graph.spawn('joint_state_broadcaster')
    (component, _) = graph.call(ListHardwareComponents, 'list_hardware_components').component
    assert component.rw_rate == 500
    arrays.clear()
    graph.eventually(lambda: len(arrays) > 1, 'diagnostics')
    controllers, hardware, loop = arrays[-1].status
    assert [each.name for each in arrays[-1].status] == [
        'controller_manager: Controllers Activity',
        'controller_manager: Hardware Components Activity',
        'controller_manager: Controller Manager Activity',
    ]
    assert {pair.key: pair.value for pair in controllers.values} == {'joint_state_broadcaster': 'active'}
    assert hardware.level == DiagnosticStatus.OK
    figures = {pair.key: float(pair.value) for pair in loop.values}
    assert figures['update rate [Hz]'] == 500
    assert figures['cycles'] > 100
    assert 0.0 < figures['cycle duration p50 [us]'] <= figures['cycle duration p99 [us]']
    assert figures['period p50 [us]'] <= figures['period p99 [us]'] <= figures['period max [us]']
    assert {each.name: each.state.label for each in activities[-1].hardware_components} == {
        'left': 'active',
        'right': 'active',
    }
    faulty['right'].fault = DriverError('The cable is cut.')
    graph.eventually(lambda: arrays[-1].status[1].level == DiagnosticStatus.ERROR, 'the failure in the diagnostics')
    assert arrays[-1].status[1].message == 'right failed'
    graph.eventually(
        lambda: [each.state.label for each in activities[-1].hardware_components] == ['active', 'unconfigured'],
        'the failure in the activity',
    )


def test_states_of_a_device_that_failed_are_not_published_as_if_it_lived(graph, urdf, faulty):
    graph.describe(urdf('test/Faulty'))
    graph.manager_inside()
    graph.spawn('joint_state_broadcaster')
    graph.eventually(lambda: graph.states, 'states')
    faulty['arm_hardware'].fault = DriverError('The cable is cut.')
    graph.eventually(
        lambda: graph.controllers()['joint_state_broadcaster'].state == 'inactive', 'the end of the states'
    )
    assert not any(math.isnan(value) for state in graph.states for value in state.position)
