"""A stand-in for moveit_py: what is used of MoveIt 2.12, by its names and argument names, with our own parts inside.

It shows that the MoveIt backend calls what there is, by the names it has, and that scenes survive their way through
moveit_msgs. It is stricter than MoveIt: attributes that are not there cannot be set either. What it shares with
MoveIt's traps: a link that a scene message leaves out keeps its padding, planning moves the robot in the scene it is
given, and contacts cannot be read.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from moveit_msgs.msg import Constraints, MoveItErrorCodes
from moveit_msgs.msg import PlanningScene as SceneMessage
from moveit_msgs.msg import RobotTrajectory as TrajectoryMessage
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from lfd_planner.backends.backend import Failure, SearchOptions
from lfd_planner.backends.embedded import EmbeddedBackend
from lfd_planner.collision import CollisionWorld, RobotGeometry
from lfd_planner.messages import apply_planning_scene, constraints_from_message
from lfd_planner.robot.planning_robot import LimitsOverride, PlanningRobot
from lfd_planner.scene import PersistentMap
from lfd_planner.scene import PlanningScene as SceneValue
from lfd_planner.search.constraints import PathConstraints

MODULES = {
    'moveit.core.collision_detection': ('CollisionRequest', 'CollisionResult', 'AllowedCollisionMatrix'),
    'moveit.planning': ('MoveItPy', 'PlanRequestParameters'),
}
"""What is imported, and from where."""


class RobotModel:
    """moveit.core.robot_model.RobotModel"""

    __slots__ = ('_geometry', '_robot')

    def __init__(self, robot: PlanningRobot) -> None:
        self._robot = robot
        self._geometry = RobotGeometry(robot.tree, robot.bodies, robot.frame)

    def has_joint_model_group(self, joint_model_group_name: str) -> bool:
        return joint_model_group_name in self._robot.groups


class RobotState:
    """moveit.core.robot_state.RobotState"""

    __slots__ = ('_is_dirty', '_positions', 'robot_model')

    def __init__(self, robot_model: RobotModel, positions: Mapping[str, float]) -> None:
        self.robot_model = robot_model
        self._positions = dict(positions)
        self._is_dirty = True

    def __deepcopy__(self, memo: dict[int, object]) -> RobotState:
        return RobotState(self.robot_model, self._positions)

    @property
    def joint_positions(self) -> dict[str, float]:
        return dict(self._positions)

    @joint_positions.setter
    def joint_positions(self, positions: dict[str, float]) -> None:
        assert isinstance(positions, dict)
        assert all(type(value) is float for value in positions.values())
        assert set(positions) <= set(self.robot_model._robot.frames.joints)
        self._positions |= positions
        self._is_dirty = True

    def update(self, force: bool = False, type: str = 'all') -> None:
        self._is_dirty = False


class CollisionRequest:
    """moveit.core.collision_detection.CollisionRequest"""

    __slots__ = ('contacts', 'distance', 'joint_model_group_name', 'max_contacts', 'max_contacts_per_pair', 'verbose')

    def __init__(self) -> None:
        self.joint_model_group_name = ''
        self.contacts = self.distance = self.verbose = False


class CollisionResult:
    """moveit.core.collision_detection.CollisionResult"""

    __slots__ = ('collision', 'contact_count', 'distance')

    def __init__(self) -> None:
        self.collision = False

    @property
    def contacts(self) -> None:
        raise TypeError('Unable to convert function return value to a Python type!')


class AllowedCollisionMatrix:
    """moveit.core.collision_detection.AllowedCollisionMatrix"""

    __slots__ = ('_checked', '_names')

    def __init__(self, names: list[str], default_entry: bool = False) -> None:
        assert default_entry, 'the stand-in knows matrices that allow everything only'
        self._names = frozenset(names)
        self._checked: set[frozenset[str]] = set()

    def set_entry(self, name1: str, name2: str, allowed: bool) -> None:
        assert not allowed
        self._checked.add(frozenset((name1, name2)))

    def _rows(self, scene: SceneValue, robot: PlanningRobot) -> SceneValue:
        everybody = {*robot.tree.links, *scene.objects, *scene.attached}
        allowed = scene.allowed
        for name in everybody & self._names:
            allowed = allowed.with_default(name, True)
        edits = []
        for a in everybody:
            for b in everybody:
                if a < b:
                    edits.append((a, b, frozenset((a, b)) not in self._checked))
        return replace(scene, allowed=allowed.edited(edits))


class PlanningScene:
    """moveit.core.planning_scene.PlanningScene"""

    __slots__ = ('_model', '_value', 'current_state')

    def __init__(self, robot_model: RobotModel, value: SceneValue) -> None:
        self._model, self._value = robot_model, value
        self.current_state = RobotState(robot_model, value.joints)

    def __deepcopy__(self, memo: dict[int, object]) -> PlanningScene:
        return PlanningScene(self._model, self._value.with_joints(self.current_state.joint_positions))

    def check_collision(
        self,
        collision_request: CollisionRequest,
        collision_result: CollisionResult,
        state: RobotState | None = None,
        acm: AllowedCollisionMatrix | None = None,
    ) -> None:
        assert state is not None
        assert not state._is_dirty, 'a state must be updated before it is checked'
        assert collision_request.joint_model_group_name == ''
        robot = self._model._robot
        value = self._value if acm is None else acm._rows(self._value, robot)
        world = CollisionWorld(self._model._geometry, value, robot.joints)
        collision_result.collision = world.collides([state.joint_positions[name] for name in robot.joints])

    def _value_at(self, state: RobotState) -> SceneValue:
        return self._value.with_joints(state.joint_positions)


class PlanningSceneMonitor:
    """moveit.planning's monitor."""

    __slots__ = ('_model', '_padding', '_scene')

    def __init__(self, model: RobotModel) -> None:
        self._model, self._scene = model, model._robot.empty_scene()
        self._padding: dict[str, float] = {}

    def new_planning_scene_message(self, scene: SceneMessage) -> bool:
        assert isinstance(scene, SceneMessage)
        assert not scene.is_diff
        applied = apply_planning_scene(self._model._robot.empty_scene(), scene, self._model._robot.frames)
        assert not applied.faults, applied.faults
        self._padding |= {link.link_name: link.padding for link in scene.link_padding}
        self._scene = replace(applied.scene, link_padding=PersistentMap(self._padding))
        return True

    @contextmanager
    def _locked(self) -> Iterator[PlanningScene]:
        yield PlanningScene(self._model, self._scene)

    def read_only(self) -> Any:
        return self._locked()


class PlanRequestParameters:
    """moveit.planning.PlanRequestParameters"""

    __slots__ = (
        'max_acceleration_scaling_factor',
        'max_velocity_scaling_factor',
        'planner_id',
        'planning_attempts',
        'planning_pipeline',
        'planning_time',
    )

    def __init__(self, moveit_cpp: MoveItPy, ns: str, /) -> None:
        told = moveit_cpp._config['plan_request_params']
        for name in self.__slots__:
            setattr(self, name, told[name])


class MotionPlanResponse:
    """moveit.core.planning_interface.MotionPlanResponse"""

    __slots__ = ('error_code', 'trajectory')

    def __init__(self, code: int, trajectory: RobotTrajectory | None = None) -> None:
        self.error_code, self.trajectory = MoveItErrorCodes(val=code), trajectory

    def __bool__(self) -> bool:
        return self.error_code.val == MoveItErrorCodes.SUCCESS


class RobotTrajectory:
    """moveit.core.robot_trajectory.RobotTrajectory; MoveIt's order of joints need not be ours."""

    __slots__ = ('_joints', '_q')

    def __init__(self, joints: tuple[str, ...], q: np.ndarray) -> None:
        self._joints, self._q = joints, q

    def get_robot_trajectory_msg(self, joint_filter: list[str] | None = None) -> TrajectoryMessage:
        message = JointTrajectory(joint_names=list(reversed(self._joints)))
        message.points = [JointTrajectoryPoint(positions=row[::-1].tolist()) for row in self._q]
        return TrajectoryMessage(joint_trajectory=message)


class PlanningComponent:
    """moveit.planning.PlanningComponent"""

    __slots__ = ('_constraints', '_goals', '_moveit', '_name', '_start')

    def __init__(self, joint_model_group_name: str, moveit_py_instance: MoveItPy) -> None:
        self._name, self._moveit = joint_model_group_name, moveit_py_instance
        self._start: RobotState | None = None
        self._goals: list[Constraints] = []
        self._constraints = Constraints()

    def set_start_state(self, configuration_name: str | None = None, robot_state: RobotState | None = None) -> bool:
        assert configuration_name is None
        self._start = robot_state
        return True

    def set_goal_state(
        self,
        configuration_name: str | None = None,
        robot_state: RobotState | None = None,
        pose_stamped_msg: object = None,
        pose_link: str | None = None,
        motion_plan_constraints: list[Constraints] | None = None,
    ) -> bool:
        assert motion_plan_constraints
        self._goals = motion_plan_constraints
        return True

    def set_path_constraints(self, path_constraints: Constraints) -> bool:
        self._constraints = path_constraints
        return True

    def plan(
        self,
        single_plan_parameters: PlanRequestParameters | None = None,
        multi_plan_parameters: object = None,
        planning_scene: PlanningScene | None = None,
        solution_selection_function: object = None,
        stopping_criterion_callback: object = None,
    ) -> MotionPlanResponse:
        assert single_plan_parameters is not None, 'a scene without parameters is refused by moveit_py'
        assert planning_scene is not None
        assert self._start is not None
        robot, backend = self._moveit._model._robot, self._moveit._backend
        scene = planning_scene._value_at(self._start)
        planning_scene.current_state = self._start
        group, poses = robot.group(self._name), robot.frames.link_poses(scene.joints)
        goals = [constraints_from_message(goal, scene, robot.frames, poses) for goal in self._goals]
        kept = constraints_from_message(self._constraints, scene, robot.frames, poses)
        found = backend.plan_joint(
            scene,
            group,
            group.positions(scene.joints),
            np.array([_position(goal, group.joints) for goal in goals]),
            SearchOptions(single_plan_parameters.planning_time, constraints=kept),
        )
        if isinstance(found, Failure):
            return MotionPlanResponse(int(found.code))
        return MotionPlanResponse(MoveItErrorCodes.SUCCESS, RobotTrajectory(group.joints, found.q))


def _position(goal: PathConstraints, joints: tuple[str, ...]) -> list[float]:
    wanted = {joint.joint: joint.position for joint in goal.joints}
    return [wanted[name] for name in joints]


class MoveItPy:
    """moveit.planning.MoveItPy"""

    def __init__(
        self,
        node_name: str = 'moveit_py',
        name_space: str = '',
        launch_params_filepaths: list[str] | None = None,
        config_dict: dict[str, Any] | None = None,
        provide_planning_service: bool = True,
    ) -> None:
        assert config_dict is not None
        self._config = config_dict
        limits = config_dict['robot_description_planning']['joint_limits']
        overrides = {
            name: LimitsOverride(
                limit.get('min_position'), limit.get('max_position'), limit['max_velocity'], limit['max_acceleration']
            )
            for name, limit in limits.items()
        }
        robot = PlanningRobot.of(config_dict['robot_description'], config_dict['robot_description_semantic'], overrides)
        self._model = RobotModel(robot)
        self._backend = EmbeddedBackend(robot)
        self._is_running = True
        self._monitor = PlanningSceneMonitor(self._model)

    def get_planning_component(self, planning_component_name: str) -> PlanningComponent:
        return PlanningComponent(planning_component_name, self)

    def get_planning_scene_monitor(self) -> PlanningSceneMonitor:
        return self._monitor

    def get_robot_model(self) -> RobotModel:
        return self._model

    def shutdown(self) -> None:
        self._is_running = False


@contextmanager
def installed() -> Iterator[None]:
    """While this lasts, `import moveit` gives the stand-in."""
    kept = {name: module for name, module in sys.modules.items() if name.partition('.')[0] == 'moveit'}
    for name in kept:
        del sys.modules[name]
    for name in ('moveit', 'moveit.core', *MODULES):
        module = types.ModuleType(name)
        for member in MODULES.get(name, ()):
            setattr(module, member, globals()[member])
        sys.modules[name] = module
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.partition('.')[0] == 'moveit']:
            del sys.modules[name]
        sys.modules.update(kept)
