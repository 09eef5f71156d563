import pytest
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

# The lark parser that rclpy loads with the first message type still uses these modules.
pytestmark = pytest.mark.filterwarnings("ignore:module 'sre_:DeprecationWarning")


def test_joint_states_flow_stamped_and_in_the_hardwares_order(arm):
    arm.states.clear()
    arm.eventually(lambda: len(arm.states) > 20, 'joint states')
    states = arm.states[:20]
    assert all(list(state.name) == ['shoulder', 'elbow'] for state in states)
    assert list(states[-1].position) == pytest.approx([0.1, -0.2])
    assert list(states[-1].velocity) == [0.0, 0.0]
    assert list(states[-1].effort) == []
    stamps = [state.header.stamp.sec + state.header.stamp.nanosec * 1e-9 for state in states]
    assert stamps == sorted(stamps)
    assert abs(stamps[-1] - arm.node.get_clock().now().nanoseconds * 1e-9) < 10.0


def test_dynamic_joint_states_hold_every_interface(arm):
    arm.dynamic_states.clear()
    arm.eventually(lambda: arm.dynamic_states, 'a dynamic joint state')
    state = arm.dynamic_states[-1]
    assert list(state.joint_names) == ['shoulder', 'elbow']
    assert list(state.interface_values[1].interface_names) == ['position', 'velocity']
    assert list(state.interface_values[1].values) == pytest.approx([-0.2, 0.0])


def test_publishes_reliable_and_transient_local(arm):
    (publisher,) = arm.node.get_publishers_info_by_topic('/joint_states')
    assert publisher.qos_profile.reliability == ReliabilityPolicy.RELIABLE
    assert publisher.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
