"""The MoveIt backend where there is no MoveIt: what it says then, and what it asks MoveIt for, by name."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys

import numpy as np
import pytest
import yaml
from moveit_msgs.msg import MoveItErrorCodes
from support import moveit_stand_in
from support.moveit_stand_in import MotionPlanResponse, MoveItPy, PlanningComponent, RobotTrajectory
from support.planning_cells import dense, planning_cell

from lfd_planner.backends import Failure, SearchOptions
from lfd_planner.backends import moveit as moveit_module
from lfd_planner.backends.moveit import MoveItBackend, MoveItMissing, moveit_parameters
from lfd_planner.error_codes import Code

MOVEIT_PY = """
CollisionRequest: __init__(); joint_model_group_name; distance; contacts; max_contacts; max_contacts_per_pair; verbose
CollisionResult: __init__(); collision; distance; contact_count; contacts
AllowedCollisionMatrix: __init__(names, [default_entry]); set_entry(name1, name2, allowed)
MotionPlanResponse: trajectory; error_code; __bool__()
PlanningScene: current_state; __deepcopy__(); check_collision(collision_request, collision_result, state, acm)
RobotModel: has_joint_model_group(joint_model_group_name)
RobotState: __deepcopy__(); robot_model; joint_positions; update([force], [type])
RobotTrajectory: get_robot_trajectory_msg([joint_filter])
MoveItPy: get_planning_component(planning_component_name); shutdown(); get_planning_scene_monitor(); get_robot_model()
PlanRequestParameters: planner_id; planning_pipeline; planning_attempts; planning_time; max_velocity_scaling_factor; \
max_acceleration_scaling_factor
PlanningComponent: __init__(joint_model_group_name, moveit_py_instance); \
set_start_state([configuration_name], [robot_state]); \
set_goal_state([configuration_name], [robot_state], [pose_stamped_msg], [pose_link], [motion_plan_constraints]); \
plan([single_plan_parameters], [multi_plan_parameters], [planning_scene], [solution_selection_function], \
[stopping_criterion_callback]); set_path_constraints(path_constraints)
PlanningSceneMonitor: new_planning_scene_message(scene); read_only
"""
"""Members and arguments of moveit_py in MoveIt 2.12, as far as they are used; those in brackets have defaults."""


@pytest.fixture
def cell():
    return planning_cell('ur5e')


@pytest.fixture
def backend(cell):
    with moveit_stand_in.installed():
        return MoveItBackend(cell.robot)


def test_without_moveit_the_error_says_what_to_do(cell, monkeypatch):
    monkeypatch.setitem(sys.modules, 'moveit', None)
    with pytest.raises(MoveItMissing, match='source a ROS 2 installation with MoveIt 2, or use backend embedded'):
        MoveItBackend(cell.robot)


def test_the_other_backends_work_without_moveit():
    code = (
        'import sys; sys.modules["moveit"] = None; '
        'import lfd_planner.backends.embedded, lfd_planner.backends.moveit; print("done")'
    )
    assert subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True).stdout == 'done\n'


def test_the_stand_in_has_the_names_and_arguments_of_moveit_py():
    for line in MOVEIT_PY.strip().splitlines():
        name, _, members = line.partition(': ')
        known = {
            member.partition('(')[0]: tuple(re.findall(r'\w+', member.partition('(')[2]))
            for member in members.split('; ')
        }
        kind = getattr(moveit_stand_in, name)
        for public in (member for member in vars(kind) if not member.startswith('_')):
            assert public in known, f'{name} has no {public}'
            member = inspect.getattr_static(kind, public)
            if inspect.isfunction(member):
                assert tuple(inspect.signature(member).parameters)[1:] == known[public]


def test_moveit_is_started_for_the_robot_with_a_scene_of_its_own(cell, backend):
    parameters = moveit_parameters(cell.robot)
    text = yaml.safe_dump(parameters)
    assert yaml.safe_load(text) == parameters
    assert not re.search(r'[&*]id\d', text), 'the reader of ROS 2 parameters refuses aliases'
    topics = [value for key, value in parameters['planning_scene_monitor_options'].items() if key.endswith('_topic')]
    assert len(topics) == 4
    assert all(topic.startswith('lfd_moveit_backend/') for topic in topics)
    limits = parameters['robot_description_planning']['joint_limits']
    assert set(limits) == set(cell.robot.limits)
    assert backend._moveit._config == parameters


def test_an_own_moveit_is_used_and_one_for_another_robot_refused(cell):
    with moveit_stand_in.installed():
        own = MoveItPy(config_dict=moveit_parameters(cell.robot))
        backend = MoveItBackend(cell.robot, own)
        assert backend.contacts(cell.scene, cell.group, cell.home) == ()
        with pytest.raises(ValueError, match="has no group 'arm'"):
            MoveItBackend(planning_cell('panda').robot, own)
        backend.close()
        assert not own._is_running


def planning_gives(monkeypatch, *responses: MotionPlanResponse) -> list[float]:
    """Let the stand-in answer so; gives the planning times that it was asked for."""
    left, spans = list(responses), []

    def plan(self, single_plan_parameters=None, **_):
        spans.append(single_plan_parameters.planning_time)
        return left.pop(0) if len(left) > 1 else left[0]

    monkeypatch.setattr(PlanningComponent, 'plan', plan)
    return spans


def test_what_moveit_cannot_do_is_told_by_its_code_at_once(cell, backend, monkeypatch):
    spans = planning_gives(monkeypatch, MotionPlanResponse(MoveItErrorCodes.INVALID_GROUP_NAME))
    goal = cell.free_states(1, 1)
    found = backend.plan_joint(cell.scene, cell.group, cell.home, goal, SearchOptions(budget=600.0))
    assert isinstance(found, Failure)
    assert found.code == Code.INVALID_GROUP_NAME
    assert len(spans) == 1


def test_paths_that_collide_or_end_elsewhere_are_not_taken(cell, backend, monkeypatch):
    judge = cell.judge()
    straight = (np.linspace(cell.home, goal, 3) for goal in cell.free_states(50, 1))
    good = next(path for path in straight if not judge.collide(dense(path, 0.005)).any())
    goal = good[-1]
    blocked = next(q for q in cell.random_states(500, 1) if judge.collides(q))
    paths = [np.array([cell.home, blocked, goal]), np.array([cell.home, goal + 0.01]), good]
    through, elsewhere, free = (
        MotionPlanResponse(MoveItErrorCodes.SUCCESS, RobotTrajectory(cell.group.joints, path)) for path in paths
    )
    failed = MotionPlanResponse(MoveItErrorCodes.PLANNING_FAILED)
    spans = planning_gives(monkeypatch, through, elsewhere, failed, free)
    found = backend.plan_joint(cell.scene, cell.group, cell.home, goal[np.newaxis], SearchOptions(budget=60.0))
    assert not isinstance(found, Failure)
    assert found.q == pytest.approx(good)
    assert len(spans) == 4


def test_tries_are_short_only_if_somebody_may_stop_them(cell, backend, monkeypatch):
    goal = cell.free_states(1, 1)
    answers = [MotionPlanResponse(MoveItErrorCodes.TIMED_OUT)] * 14
    answers.append(MotionPlanResponse(MoveItErrorCodes.INVALID_GROUP_NAME))
    spans = planning_gives(monkeypatch, *answers)
    backend.plan_joint(cell.scene, cell.group, cell.home, goal, SearchOptions(600.0, should_stop=lambda: False))
    assert max(spans[:11]) < 0.1
    assert spans[11:] == sorted(spans[11:])
    assert spans[-1] > 0.5
    spans = planning_gives(monkeypatch, answers[-1])
    backend.plan_joint(cell.scene, cell.group, cell.home, goal, SearchOptions(600.0))
    assert spans[0] > 500.0


def test_the_search_keeps_off_everything_where_there_is_room(cell, backend, monkeypatch):
    """And does without padding where start or goal are too close to something."""
    paddings = []
    scene_of = MoveItBackend._scene

    def scene(self, scene, padding=0.0):
        paddings.append(padding)
        return scene_of(self, scene, padding)

    monkeypatch.setattr(MoveItBackend, '_scene', scene)
    planning_gives(monkeypatch, MotionPlanResponse(MoveItErrorCodes.INVALID_GROUP_NAME))
    goal = cell.free_states(1, 1)
    backend.plan_joint(cell.scene, cell.group, cell.home, goal)
    assert paddings[-1] == moveit_module.PADDING
    near = cell.scene.add(cell.at_tcp('near', (0.05, 0.05, 0.01), below=_gap_below(cell) + 0.005 + 0.002))
    backend.plan_joint(near, cell.group, cell.home, goal)
    assert paddings[-1] == 0.0


def _gap_below(cell) -> float:
    """How far below the TCP the hand reaches at home [m], to a tenth of a millimetre."""
    empty = cell.with_joints(cell.robot.empty_scene(), cell.home)
    for depth in np.arange(0.05, -0.05, -1e-4):
        if cell.judge(empty.add(cell.at_tcp('probe', (0.05, 0.05, 1e-5), below=float(depth)))).collides(cell.home):
            return float(depth)
    raise AssertionError('there is no hand')
