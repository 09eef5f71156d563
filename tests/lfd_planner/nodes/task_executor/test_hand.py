"""The executor's hand where the gripper has a driver of its own: it presses, and feels whether it holds anything."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import rclpy
from moveit_msgs.msg import MoveItErrorCodes
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support.cell import Cell, running_cell
from support.gripper_server import GripperServer
from support.peer import Peer, eventually
from support.task_executor_client import FINGER, TaskExecutorClient, carry

from lfd_bringup.graph import describe, embedded
from lfd_description.grippers import find_gripper
from lfd_description.model.builder import build_model
from lfd_description.nodes.executor import BackgroundExecutor
from lfd_description.robots import find_robot
from lfd_planner.backends import Failure
from lfd_planner.error_codes import Code
from lfd_planner.execution import ExecutionRules
from lfd_planner.nodes.capabilities import controllers
from lfd_planner.nodes.capabilities.controllers import ControllerClients
from lfd_planner.nodes.task_executor_devices import RosSignals, controllers_of
from lfd_planner.nodes.task_executor_hand import RosHand, ToldFingers, fingers_of

CODES = MoveItErrorCodes
GRIPPER = 'gripper_controller'
WIDTH = 0.02  # [m] of the joint, at which the fingers touch the object
RULES = ExecutionRules()


@dataclass
class Rig:
    """A hand of an executor."""

    hand: RosHand
    node: Node
    clients: ControllerClients


@pytest.fixture
def ros(ros_domain: int) -> Iterator[Node]:
    rclpy.init(domain_id=ros_domain, signal_handler_options=SignalHandlerOptions.NO)
    node = Node('executor_hand')
    errors: list[Exception] = []
    executor = BackgroundExecutor(2, errors.append)
    executor.add_node(node)
    yield node
    executor.close(2.0)
    node.destroy_node()
    rclpy.shutdown()
    assert errors == []


@pytest.fixture(params=['external'])
def rig(request: pytest.FixtureRequest, ros: Node) -> Iterator[Rig]:
    model = build_model(find_robot('ur5e'), gripper=find_gripper('two_finger'), hand=request.param)
    clients = ControllerClients(controllers_of(model, {}))
    fingers = fingers_of(model)
    told = ToldFingers(ros).tell if fingers else lambda _: None
    yield Rig(RosHand(clients, RULES, fingers, told), ros, clients)
    clients.close()


@pytest.fixture
def driver(ros_domain: int) -> Iterator[GripperServer]:
    server = GripperServer(ros_domain, GRIPPER)
    yield server
    server.close()


def grip(rig: Rig, width: float = WIDTH) -> Failure | None:
    return rig.hand.grip({FINGER: width}, lambda: None)


def test_it_presses_on_what_it_holds(rig: Rig, driver: GripperServer):
    driver.behaviour.stall_at = WIDTH + 0.0005
    assert grip(rig) is None
    assert driver.behaviour.goals == [pytest.approx(WIDTH - RULES.grip_squeeze)]
    assert rig.hand.move({FINGER: 0.04}, lambda: None) is None
    assert driver.behaviour.goals[-1] == pytest.approx(0.04)


def test_fingers_that_close_on_nothing_hold_nothing(rig: Rig, driver: GripperServer):
    failed = grip(rig)
    assert failed is not None
    assert failed.code is Code.CONTROL_FAILED
    assert 'met nothing at 0.0200' in failed.message


def test_fingers_that_something_keeps_open_hold_something_else(rig: Rig, driver: GripperServer):
    driver.behaviour.stall_at = WIDTH + 0.01
    failed = grip(rig)
    assert failed is not None
    assert 'stalled at 0.0300 instead of 0.0200' in failed.message


def test_the_narrowest_object_is_felt_by_a_stall_alone(rig: Rig, driver: GripperServer):
    """There is no room to press any further."""
    failed = grip(rig, 0.0005)
    assert failed is not None
    assert 'met nothing' in failed.message
    driver.behaviour.stall_at = 0.0005
    assert grip(rig, 0.0005) is None


@pytest.mark.parametrize('rig', ['mock'], indirect=True)
def test_a_simulated_hand_is_sent_where_it_was_planned(rig: Rig, driver: GripperServer):
    assert grip(rig) is None
    assert driver.behaviour.goals == [pytest.approx(WIDTH)]


def test_a_hand_without_a_driver_is_missed_in_one_sentence(rig: Rig, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(controllers, 'CONNECT_WITHIN', 0.2)
    missing = rig.hand.missing()
    assert missing is not None
    assert missing.message == (
        f"Nobody serves '{GRIPPER}/gripper_cmd', and the hand is to move; start the hand's driver, or have the hand "
        'simulated with --hand mock.'
    )


def test_fingers_of_which_nobody_tells_are_published_until_somebody_does(rig: Rig, driver: GripperServer, make_peer):
    peer: Peer = make_peer('listener')
    heard: list[JointState] = []
    peer.node.create_subscription(JointState, 'joint_states', heard.append, qos_profile_sensor_data)
    assert rig.hand.move({FINGER: 0.03}, lambda: None) is None
    peer.eventually(lambda: len(heard) > 2, 'joint states of the fingers')
    assert {tuple(message.name) for message in heard} == {(FINGER,)}
    assert heard[-1].position[0] == pytest.approx(0.03)
    out = peer.node.create_publisher(JointState, 'joint_states', 10)
    theirs = JointState(name=[FINGER], position=[0.0299])

    def are_theirs() -> bool:
        heard.clear()
        out.publish(theirs)
        peer.eventually(lambda: heard, 'joint states')
        return all(message.header.frame_id == '' for message in heard)

    peer.eventually(lambda: all(are_theirs() for _ in range(5)), 'the own driver alone')


def test_a_vacuum_without_a_driver_is_missed_although_others_listen_to_the_cell(ros: Node, make_peer):
    model = build_model(find_robot('ur5e'), gripper=find_gripper('suction'), hand='external')
    signals = RosSignals(ros, model, True)
    missing = signals.unheard({'vacuum': True})
    assert missing is not None
    assert "Nobody listens to 'vacuum_controller/commands'" in missing.message
    peer: Peer = make_peer('valve')
    peer.node.create_subscription(Float64MultiArray, 'vacuum_controller/commands', lambda _: None, 10)
    peer.eventually(lambda: signals.unheard({'vacuum': True}) is None, 'the valve')


# The whole graph


@pytest.fixture(scope='module')
def cell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cell]:
    folder: Path = tmp_path_factory.mktemp('cell')
    described = embedded(describe('ur5e', scene='seed_cell', hand='external'))
    with running_cell('ur5e', folder, change=lambda _: described) as cell:
        yield cell


def test_a_task_is_refused_until_the_hands_driver_runs_and_done_without_joint_states_of_the_fingers(cell: Cell):
    client = TaskExecutorClient(cell.domain)
    try:
        text = carry(client, 'blue_box')
        before = client.joints
        refused = client.run(text)
        assert refused.error_code.val == CODES.CONTROL_FAILED
        assert refused.message.startswith(f"Nothing was moved. Nobody serves '{GRIPPER}/gripper_cmd'")
        assert client.joints == pytest.approx(before, abs=1e-4)
        driver = GripperServer(cell.domain, GRIPPER)
        try:
            empty = client.run(text)
            assert empty.error_code.val == CODES.CONTROL_FAILED
            assert 'met nothing' in empty.message
            assert 'The hand was opened again.' in empty.message
            assert 'blue_box' in client.scene().objects
            eventually(lambda: client.joints[FINGER] > 0.03, 'the planning server knows that the hand is open')
            driver.behaviour.stall_at = min(driver.behaviour.goals) + RULES.grip_squeeze
            done = client.run(text)
            assert done.error_code.val == CODES.SUCCESS, done.message
        finally:
            driver.close()
    finally:
        client.close()
