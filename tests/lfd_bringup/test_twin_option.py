"""`--twin-of`: which node stands for the controllers, and what it is told."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from support.process import node_process

from lfd_bringup import commands, graph
from lfd_bringup.supervisor import command_of
from lfd_description.robots import robot_names


@pytest.mark.parametrize(('text', 'namespace'), [('/real', '/real'), ('real', '/real'), ('/hall_2/gp8', '/hall_2/gp8')])
def test_a_namespace_is_taken(text: str, namespace: str):
    assert commands.parse(['up', '--robot', 'gp8', '--twin-of', text]).twin_of == namespace


@pytest.mark.parametrize('text', ['', '/', '/real/', '//real', '/2nd', 'a b', '/a__b', '~/real', 'réal', '/real\n'])
def test_another_is_refused_in_one_sentence(text: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as refused:
        commands.parse(['graph', '--robot', 'gp8', '--twin-of', text])
    assert refused.value.code == 2
    assert f'{text!r} is no namespace of a real robot; write one such as /real' in capsys.readouterr().err


@pytest.mark.parametrize('robot', robot_names())
def test_the_twin_knows_the_robots_joints_and_controllers(robot: str):
    described = graph.described(commands.parse(['up', '--robot', robot, '--twin-of', '/real']))
    (twin,) = [spec for spec in described.nodes if spec.name == 'twin']
    assert (twin.package, twin.executable) == ('lfd_hardware', 'twin')
    assert not {'controller_manager', 'spawner'} & {spec.name for spec in described.nodes}
    told = twin.parameters
    arm = [joint for joint in told['joints'] if joint in told['arm_joints']]
    assert arm == told['arm_joints']
    assert told['trajectory_controller'] == f'{robot}_controller'
    assert told['twin_of'] == '/real'


def test_the_usual_gripper_is_mirrored_too():
    told = graph.describe('gp8', twin_of='/real').nodes[1].parameters
    assert told['gripper_controller'] == 'gripper_controller'
    assert len(told['joints']) > len(told['arm_joints'])


def test_a_suction_cup_is_switched_at_the_real_robot():
    told = graph.describe('gp8', gripper='suction', twin_of='/real').nodes[1].parameters
    assert told['valve_controllers'] == ['vacuum_controller']
    assert told['gripper_controller'] == ''


def test_the_node_takes_what_it_is_told(tmp_path: Path, make_peer, ros_domain: int):
    spec = graph.embedded(graph.describe('gp8', twin_of='/real')).nodes[1]
    words = command_of(spec, tmp_path)
    (file,) = [word for word in words if word.endswith('twin.yaml')]
    assert yaml.safe_load(Path(file).read_text())['/**']['ros__parameters'] == dict(spec.parameters)
    twin = node_process(ros_domain, spec.package, spec.executable, '--ros-args', '--params-file', file)
    try:
        peer = make_peer('watcher')
        actions = ('gp8_controller/follow_joint_trajectory', 'gripper_controller/gripper_cmd')
        expected = {f'/{name}/_action/status' for name in actions}
        peer.eventually(lambda: expected <= {name for name, _ in peer.node.get_topic_names_and_types()}, 'its actions')
        peer.eventually(lambda: 'Waiting for it.' in twin.output, 'a word about the silence')
        assert "No joint states of 'joint_1_s' come on '/real/joint_states'. Waiting for it." in twin.output
        assert twin.end() == 0, twin.output
    finally:
        twin.stop()
