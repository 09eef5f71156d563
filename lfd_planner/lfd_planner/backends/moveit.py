"""The MoveIt backend: MoveIt 2 in this process, through moveit_py, behind the interface that all backends have.

::

    scene ──► moveit_msgs/PlanningScene ──► planning scene monitor ──► a copy of its scene
                                                                        │
              contacts, free ◄── check_collision ◄──────────────────────┤
              plan_joint     ◄── PlanningComponent.plan ◄───────────────┘

MoveIt judges collisions and searches. moveit_py has no call for all solutions of the inverse kinematics and none for
straight lines, and MoveIt's timed points are no cubics that keep the limits; these three are computed as in every home.

moveit_py is imported when a backend is made, so that everything else works without it.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import count, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from lfd_description.urdf import Matrix
from lfd_planner.error_codes import Code
from lfd_planner.messages import constraints_to_message, scene_to_message
from lfd_planner.robot.planning_robot import PlanningGroup, PlanningRobot
from lfd_planner.scene import BodyKind, Contact, PersistentMap, PlanningScene
from lfd_planner.search.constraints import JointConstraint, PathConstraints
from lfd_planner.stopping import never

from .backend import Failure, Path, SearchOptions
from .kinematic_backend import PADDING, KinematicBackend
from .made_scenes import MadeScenes

NODE = 'lfd_moveit_backend'
PIPELINE, PLANNER = 'ompl', 'RRTConnectkConfigDefault'
STEP = 0.01  # [rad or m] between two samples of a path that is checked again
TOLERANCE = 1e-4  # [rad or m] within which MoveIt is to reach a goal; the path then ends exactly there
SAMPLE = 0.002  # [s] that stand for one iteration, which moveit_py cannot count
BEYOND = 1e-6  # [rad or m] that starts and goals may be beyond a limit
SHORT, SHORT_TRIES = 0.05, 10  # [s] of one try if somebody may want to stop; later tries are longer and longer
_UNKNOWN = (math.nan, math.nan, math.nan)
_AGAIN = (Code.PLANNING_FAILED, Code.TIMED_OUT, Code.INVALID_MOTION_PLAN, Code.FAILURE)
_START_FAULTS = (
    (Code.START_STATE_INVALID, 'The start is outside the joint limits.'),
    (Code.START_STATE_VIOLATES_PATH_CONSTRAINTS, 'The start breaks the path constraints.'),
    (Code.START_STATE_IN_COLLISION, 'The start is in collision.'),
)
_GOAL_FAULTS = (
    (Code.GOAL_STATE_INVALID, 'All goals are outside the joint limits.'),
    (Code.GOAL_VIOLATES_PATH_CONSTRAINTS, 'No goal keeps to the path constraints.'),
    (Code.GOAL_IN_COLLISION, 'No goal is free of collisions.'),
)

# moveit_py has no type information.
Scene = Any
"""moveit.core.planning_scene.PlanningScene"""
State = Any
"""moveit.core.robot_state.RobotState"""


class MoveItMissing(RuntimeError):
    """There is no moveit_py on this machine; the message says what to do."""


class MoveItBackend(KinematicBackend):
    """Computes with MoveIt in this process.

    moveit_py has no way to seed a search, to count its iterations, or to interrupt it: time alone ends one, the budget
    or what the iterations stand for, and with a `should_stop` searches are cut into short tries. It does not say where
    two touch: positions, normals and depths of contacts are NaN.

    Args:
        robot: whom to plan for.
        moveit: a MoveItPy that was started for the same URDF and SRDF, whose planning scene nobody else needs; without
            one, one is started.

    Raises:
        MoveItMissing: moveit_py is not installed.
        ValueError: the MoveItPy is for another robot.
    """

    repeatable = False

    def __init__(self, robot: PlanningRobot, moveit: Any = None) -> None:
        super().__init__(robot)
        self._planning, self._collision = _import('moveit.planning'), _import('moveit.core.collision_detection')
        if moveit is None:
            moveit = self._planning.MoveItPy(
                node_name=NODE, config_dict=moveit_parameters(robot), provide_planning_service=False
            )
        self._moveit = moveit
        self._monitor = moveit.get_planning_scene_monitor()
        self._links = tuple(dict.fromkeys(body.link for body in robot.bodies))
        self._scenes: MadeScenes[Scene] = MadeScenes()
        model = moveit.get_robot_model()
        for group in robot.groups:
            if not model.has_joint_model_group(joint_model_group_name=group):
                raise ValueError(f"MoveIt's robot has no group '{group}'; start MoveItPy for robot '{robot.name}'.")

    def close(self) -> None:
        """End MoveIt."""
        self._moveit.shutdown()

    def contacts(self, scene: PlanningScene, group: PlanningGroup, q: Matrix) -> tuple[Contact, ...]:
        """What touches and may not, at one row of positions, (dof,)."""
        return self._contacts(scene.with_joints(group.by_name(np.asarray(q))))

    def state_contacts(self, scene: PlanningScene) -> tuple[Contact, ...]:
        """What touches and may not, with all joints where the scene has them."""
        return self._contacts(scene)

    def free(self, scene: PlanningScene, group: PlanningGroup, q: Matrix) -> npt.NDArray[np.bool_]:
        """Which rows of positions, (N, dof), are free of collisions: (N,) of bool."""
        return self._free(self._scene(scene), scene, group, q)

    def plan_joint(
        self,
        scene: PlanningScene,
        group: PlanningGroup,
        start: Matrix,
        goals: Matrix,
        options: SearchOptions | None = None,
    ) -> Path | Failure:
        """A way from one row of positions to one of several goals, (k, dof)."""
        options = options or SearchOptions()
        deadline = time.monotonic() + min(options.budget, options.iterations * SAMPLE)
        begin = self._good(scene, group, np.atleast_2d(start), options.constraints, _START_FAULTS)
        if isinstance(begin, Failure):
            return begin
        end = self._good(scene, group, np.atleast_2d(goals), options.constraints, _GOAL_FAULTS)
        if isinstance(end, Failure):
            return end
        room, end = self._search_scene(scene, group, begin, end)
        return self._search(scene, room, group, begin[0], end, options, deadline)

    # Scenes and states

    def _scene(self, scene: PlanningScene, padding: float = 0.0) -> Scene:
        """MoveIt's scene, its links larger by a padding [m]; where its joints stand counts for nothing."""
        return self._scenes.get(scene, padding, lambda: self._converted(scene, padding))

    def _converted(self, scene: PlanningScene, padding: float) -> Scene:
        # A link that is left out of a message keeps the padding of the scene before.
        told = replace(
            scene,
            link_padding=PersistentMap(
                {link: max(scene.link_padding.get(link, 0.0) + padding, 0.0) for link in self._links}
            ),
            link_scale=PersistentMap({link: scene.link_scale.get(link, 1.0) for link in self._links}),
        )
        if self._monitor.new_planning_scene_message(scene=scene_to_message(told)) is False:
            raise ValueError('MoveIt refused the scene; its log says why. Start it with the same URDF and SRDF.')
        with self._monitor.read_only() as current:
            return copy.deepcopy(current)

    def _state(self, here: Scene, scene: PlanningScene) -> State:
        """A robot state of one's own, with all that is attached."""
        state = copy.deepcopy(here.current_state)
        _move(state, {name: scene.joints.get(name, 0.0) for name in self.robot.joints})
        return state

    # Collisions

    def _free(self, here: Scene, scene: PlanningScene, group: PlanningGroup, q: Matrix) -> npt.NDArray[np.bool_]:
        state, free = self._state(here, scene), np.empty(len(q), dtype=np.bool_)
        for n, row in enumerate(q):
            _move(state, group.by_name(row))
            free[n] = not self._collides(here, state)
        return free

    def _collides(self, here: Scene, state: State, acm: Any = None) -> bool:
        request, result = self._collision.CollisionRequest(), self._collision.CollisionResult()
        if acm is None:
            here.check_collision(collision_request=request, collision_result=result, state=state)
        else:
            here.check_collision(collision_request=request, collision_result=result, state=state, acm=acm)
        return bool(result.collision)

    def _contacts(self, scene: PlanningScene) -> tuple[Contact, ...]:
        """Who touches whom; moveit_py cannot tell contacts, so that MoveIt is asked about one after the other."""
        here = self._scene(scene)
        state = self._state(here, scene)
        if not self._collides(here, state):
            return ()
        robot = (*self._links, *scene.attached)
        every = (*robot, *scene.objects)
        found: list[Contact] = []
        for n, a in enumerate(robot):
            others = [b for b in every[n + 1 :] if not scene.may_touch(a, b)]
            if others and self._collides(here, state, self._only(every, a, others)):
                touched = (b for b in others if self._collides(here, state, self._only(every, a, (b,))))
                found += (_contact(scene, a, b) for b in touched)
        return tuple(found)

    def _only(self, every: Sequence[str], a: str, others: Sequence[str]) -> Any:
        """The collision matrix that allows everything but that one touches some others."""
        acm = self._collision.AllowedCollisionMatrix(names=list(every), default_entry=True)
        for b in others:
            acm.set_entry(name1=a, name2=b, allowed=False)
        return acm

    # The search

    def _good(
        self,
        scene: PlanningScene,
        group: PlanningGroup,
        q: Matrix,
        constraints: PathConstraints,
        faults: Sequence[tuple[Code, str]],
    ) -> Matrix | Failure:
        """The rows that a path can start or end with, or the fault that the best of them have."""
        lower, upper = group.bounds
        checker = self._checker(scene, group, constraints)
        worst = 0
        q = q[((q >= lower - BEYOND) & (q <= upper + BEYOND)).all(axis=1)]
        if len(q) and checker is not None:
            worst, q = 1, q[[checker.satisfied(row) for row in q]]
        if len(q):
            worst, q = 2, q[self.free(scene, group, q)]
        return q if len(q) else Failure(*faults[worst])

    def _search_scene(
        self, scene: PlanningScene, group: PlanningGroup, start: Matrix, goals: Matrix
    ) -> tuple[Scene, Matrix]:
        """The scene with padding, unless start or goals are free but nearer to something; and the goals in it."""
        padded = self._scene(scene, PADDING)
        free = self._free(padded, scene, group, goals)
        if free.any() and self._free(padded, scene, group, start).all():
            return padded, goals[free]
        return self._scene(scene), goals

    def _search(
        self,
        scene: PlanningScene,
        room: Scene,
        group: PlanningGroup,
        start: Matrix,
        goals: Matrix,
        options: SearchOptions,
        deadline: float,
    ) -> Path | Failure:
        component = self._component(scene, room, group, start, goals, options.constraints)
        checker = self._checker(scene, group, options.constraints)
        parameters = self._planning.PlanRequestParameters(self._moveit, '')
        parameters.planning_attempts = options.attempts
        for span in _tries(options, deadline):
            parameters.planning_time = span
            # A copy, because planning moves the robot in it to the start.
            response = component.plan(single_plan_parameters=parameters, planning_scene=copy.deepcopy(room))
            if response:
                q = _positions(response.trajectory, group, start, goals)
                if q is not None and not self._fault(scene, group, _dense(q), checker, True):
                    return Path(q)
            elif (code := _code(response)) not in _AGAIN:
                return Failure(code, f"MoveIt does not plan for group '{group.name}': {code.name}; its log says why.")
        if options.should_stop():
            return Failure(Code.PREEMPTED, 'The search was stopped.')
        return Failure(
            Code.TIMED_OUT, f'MoveIt found no path in {min(options.budget, options.iterations * SAMPLE):g} s.'
        )

    def _component(
        self,
        scene: PlanningScene,
        room: Scene,
        group: PlanningGroup,
        start: Matrix,
        goals: Matrix,
        constraints: PathConstraints,
    ) -> Any:
        """What plans one request: it has its own start, goals and path constraints."""
        component = self._moveit.get_planning_component(planning_component_name=group.name)
        component.set_start_state(robot_state=self._state(room, scene.with_joints(group.by_name(start))))
        component.set_goal_state(motion_plan_constraints=[_goal_message(group, goal, scene.frame) for goal in goals])
        if constraints:
            component.set_path_constraints(path_constraints=constraints_to_message(constraints, scene.frame))
        return component


def moveit_parameters(robot: PlanningRobot) -> dict[str, Any]:
    """The parameters with which MoveItPy is started for a robot, nested as in its YAML files.

    Its planning scene is a tool of this process alone: its topics are its own, and nobody moves the robot in it.
    """
    topics = ('joint_state', 'attached_collision_object', 'publish_planning_scene', 'monitored_planning_scene')
    limits = {
        name: {
            'has_velocity_limits': True,
            'max_velocity': limit.velocity,
            'has_acceleration_limits': True,
            'max_acceleration': limit.acceleration,
            'has_position_limits': math.isfinite(limit.lower),
            **({'min_position': limit.lower, 'max_position': limit.upper} if math.isfinite(limit.lower) else {}),
        }
        for name, limit in robot.limits.items()
    }
    groups = {
        name: {
            'default_planner_config': PLANNER,
            'planner_configs': [PLANNER],
            'longest_valid_segment_fraction': 0.005,
        }
        for name in robot.groups
    }
    return {
        'robot_description': robot.urdf,
        'robot_description_semantic': robot.srdf,
        'robot_description_planning': {'joint_limits': limits},
        'planning_scene_monitor_options': {
            'name': 'planning_scene_monitor',
            'robot_description': 'robot_description',
            'wait_for_initial_state_timeout': 0.0,
            **{f'{topic}_topic': f'{NODE}/{topic}' for topic in topics},
        },
        'planning_pipelines': {'pipeline_names': [PIPELINE]},
        PIPELINE: {
            'planning_plugins': ['ompl_interface/OMPLPlanner'],
            'request_adapters': ['default_planning_request_adapters/ResolveConstraintFrames'],
            'response_adapters': ['default_planning_response_adapters/ValidateSolution'],
            'planner_configs': {PLANNER: {'type': 'geometric::RRTConnect', 'range': 0.0}},
            **groups,
        },
        'plan_request_params': {
            'planning_pipeline': PIPELINE,
            'planner_id': PLANNER,
            'planning_attempts': 1,
            'planning_time': 5.0,
            'max_velocity_scaling_factor': 1.0,
            'max_acceleration_scaling_factor': 1.0,
        },
    }


def _import(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MoveItMissing(
            'moveit_py is not installed; source a ROS 2 installation with MoveIt 2, or use backend embedded.'
        ) from error


def _move(state: State, positions: Mapping[str, float]) -> None:
    state.joint_positions = dict(positions)
    state.update()


def _contact(scene: PlanningScene, a: str, b: str) -> Contact:
    return Contact(a, b, _kind(scene, a), _kind(scene, b), position=_UNKNOWN, normal=_UNKNOWN, depth=math.nan)


def _kind(scene: PlanningScene, name: str) -> BodyKind:
    if name in scene.attached:
        return 'attached'
    return 'object' if name in scene.objects else 'link'


def _tries(options: SearchOptions, deadline: float) -> Iterator[float]:
    """How long to search [s] each time, until it is time to end."""
    for number in count():
        left = deadline - time.monotonic()
        if left <= 0.0 or options.should_stop():
            return
        yield left if options.should_stop is never else min(left, SHORT * 2.0 ** max(number - SHORT_TRIES, 0))


def _goal_message(group: PlanningGroup, q: Matrix, frame: str) -> Any:
    joints = (JointConstraint(name, value, TOLERANCE, TOLERANCE) for name, value in group.by_name(q).items())
    return constraints_to_message(PathConstraints(joints=tuple(joints)), frame)


def _code(response: Any) -> Code:
    value = int(response.error_code.val)
    return Code(value) if value in set(Code) else Code.FAILURE


def _positions(trajectory: Any, group: PlanningGroup, start: Matrix, goals: Matrix) -> Matrix | None:
    """The rows of MoveIt's path, from exactly the start to exactly a goal; None if it does not lead there."""
    message = trajectory.get_robot_trajectory_msg().joint_trajectory
    columns = [list(message.joint_names).index(name) for name in group.joints]
    q: Matrix = np.array([list(point.positions) for point in message.points], dtype=np.float64)[:, columns]
    goal = goals[int(np.abs(goals - q[-1]).max(axis=1).argmin())]
    if max(np.abs(q[0] - start).max(), np.abs(q[-1] - goal).max()) > 2.0 * TOLERANCE:
        return None
    return np.vstack([start, q[1:-1], goal])


def _dense(path: Matrix) -> Matrix:
    """Positions along a path, between which no joint moves more than a step."""
    pieces = [path[:1]]
    for a, b in pairwise(path):
        parts = max(math.ceil(np.abs(b - a).max() / STEP), 1)
        pieces.append(a + np.linspace(0.0, 1.0, parts + 1)[1:, np.newaxis] * (b - a))
    return np.concatenate(pieces)
