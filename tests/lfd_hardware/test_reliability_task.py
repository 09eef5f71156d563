"""A task on a real arm: the whole graph of `./lfd up --hardware ur`, and a task that is resumed after a fault."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest
from controller_manager_msgs.srv import SetHardwareComponentState, SwitchController
from lifecycle_msgs.msg import State
from moveit_msgs.msg import MoveItErrorCodes
from support.cell import running_cell
from support.peer import Peer
from support.rigs import URRig
from support.task_executor_client import TaskExecutorClient, carry

from lfd_bringup.graph import Graph, describe, embedded

PATIENT = {'joint_states_within': 1.5, 'duration_margin': 60.0}


def real_graph(rig: URRig) -> Graph:
    """The graph of the arm, with an executor that has patience with a busy machine."""
    parameters = {name: str(value) for name, value in rig.parameters.items()}
    graph = embedded(
        describe(
            'ur5e', hardware='ur', hand='mock', robot_ip='127.0.0.1', hardware_parameters=parameters, scene='seed_cell'
        )
    )
    nodes = (
        dataclasses.replace(node, parameters={**node.parameters, **PATIENT}) if node.name == 'task_executor' else node
        for node in graph.nodes
    )
    return dataclasses.replace(graph, nodes=tuple(nodes))


@pytest.fixture
def rig() -> Iterator[URRig]:
    rig = URRig()
    yield rig
    rig.lose_power()


@pytest.fixture
def client(rig: URRig, tmp_path: Path) -> Iterator[TaskExecutorClient]:
    with running_cell('ur5e', tmp_path, 'seed_cell', lambda _: real_graph(rig)) as cell:
        client = TaskExecutorClient(cell.domain)
        yield client
        client.close()


def bring_up(peer: Peer) -> None:
    """What a user does when the fault is mended."""
    hardware = peer.node.create_client(SetHardwareComponentState, 'controller_manager/set_hardware_component_state')
    controllers = peer.node.create_client(SwitchController, 'controller_manager/switch_controller')
    request = SetHardwareComponentState.Request(name='ur5e', target_state=State(label='active'))
    peer.eventually(lambda: peer.ask(hardware, request).ok, 'the hardware')  # the driver may still be busy letting go
    names = ['joint_state_broadcaster', 'ur5e_controller']
    answer = peer.ask(controllers, SwitchController.Request(activate_controllers=names, strictness=1))
    assert answer.ok, answer.message


def test_a_task_is_resumed_from_its_keyframe_after_an_emergency_stop(rig: URRig, client: TaskExecutorClient):
    text = carry(client, 'blue_box')
    running = client.send(text, speed=0.15)
    client.reach(running, 'transfer')
    rig.emergency_stop()
    result = client.result(running).result
    assert result.error_code.val == MoveItErrorCodes.CONTROL_FAILED
    assert 'emergency stop' in result.message
    assert result.next_keyframe == 1
    client.peer.eventually(lambda: rig.is_still, 'rest')
    assert not rig.has_jumped
    rig.release()
    rig.forget()
    bring_up(client.peer)
    result = client.run(text, first_keyframe=1)
    assert result.error_code.val == MoveItErrorCodes.SUCCESS, result.message
    assert not rig.has_jumped
