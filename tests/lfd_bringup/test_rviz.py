"""RViz's configuration shows what the graph publishes: topics, frames and groups have the same names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from lfd_bringup.graph import describe
from lfd_description.model.builder import build_model
from lfd_description.robots import find_robot, robot_names
from lfd_planner.messages import task_markers
from lfd_planner.nodes import task_introspection, task_planner

FILE = Path(__file__).resolve().parents[2] / 'lfd_bringup' / 'rviz' / 'lfd.rviz'
# Which node publishes what RViz listens to.
PUBLISHED = {
    'robot_description': 'robot_state_publisher',
    'monitored_planning_scene': 'move_group',
    'display_planned_path': 'task_planner',
    'task_markers': 'task_planner',
    'solution': 'task_planner',
}


def read() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(FILE.read_text())
    return found


def displays() -> dict[str, dict[str, Any]]:
    return {display['Class']: display for display in read()['Visualization Manager']['Displays']}


def topics(data: Any, key: str = '') -> Iterator[str]:
    """All topics in the file, wherever they are."""
    if isinstance(data, dict):
        for name, value in data.items():
            if name.endswith('Topic') or (name == 'Value' and key.endswith('Topic')):
                yield from [value] if isinstance(value, str) else topics(value, name)
            else:
                yield from topics(value, name)
    elif isinstance(data, list):
        for value in data:
            yield from topics(value)


def test_every_topic_is_published_by_a_node_of_the_graph():
    nodes = {node.name for node in describe('ur5e').nodes}
    assert set(topics(read())) == set(PUBLISHED)
    assert set(PUBLISHED.values()) <= nodes
    for topic in ('display_planned_path', 'task_markers'):
        assert f"'{topic}'" in Path(task_planner.__file__).read_text()
    assert "'solution'" in Path(task_introspection.__file__).read_text()


def test_it_has_a_display_for_everything():
    assert {
        'moveit_rviz_plugin/MotionPlanning',
        'rviz_default_plugins/RobotModel',
        'rviz_default_plugins/MarkerArray',
        'moveit_task_constructor/Motion Planning Tasks',
        'rviz_default_plugins/TF',
    } <= set(displays())
    assert 'moveit_task_constructor/Motion Planning Tasks' in [panel['Class'] for panel in read()['Panels']]


def test_its_markers_are_those_of_the_planner():
    shown = displays()['rviz_default_plugins/MarkerArray']['Namespaces']
    assert set(shown) == {task_markers.PATH, task_markers.GRASP, task_markers.TEXT, task_markers.FAILURE}


@pytest.mark.parametrize('robot', robot_names())
def test_its_frame_and_group_are_those_of_every_robot(robot: str):
    model = build_model(find_robot(robot))
    assert read()['Visualization Manager']['Global Options']['Fixed Frame'] == model.robot.base
    request = displays()['moveit_rviz_plugin/MotionPlanning']['Planning Request']
    assert request['Planning Group'] == model.group.name


def test_rviz_is_started_with_it_and_with_what_its_displays_ask_for():
    (rviz,) = [node for node in describe('ur5e', rviz=True).nodes if node.package == 'rviz2']
    assert rviz.arguments[0] == '-d'
    assert Path(rviz.arguments[1]).read_text() == FILE.read_text()
    assert set(rviz.parameters) == {
        'robot_description',
        'robot_description_semantic',
        'robot_description_kinematics',
    }
    assert rviz.is_one_shot
