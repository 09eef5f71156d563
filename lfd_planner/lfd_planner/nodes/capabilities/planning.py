"""plan_kinematic_path and compute_cartesian_path, and how a motion request becomes a motion."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from moveit_msgs.msg import DisplayTrajectory, MotionPlanRequest, MoveItErrorCodes, PlannerInterfaceDescription
from moveit_msgs.srv import (
    GetCartesianPath,
    GetMotionPlan,
    GetPlannerParams,
    QueryPlannerInterfaces,
    SetPlannerParams,
)

from lfd_description.nodes.qos import LATCHED_QOS
from lfd_planner.backends import Failure, LinearOptions, Path, SearchOptions, SpeedScaling
from lfd_planner.error_codes import Code
from lfd_planner.messages import constraints_from_message, trajectory_to_message
from lfd_planner.messages.checks import Report
from lfd_planner.messages.poses import pose_from_message
from lfd_planner.robot.planning_robot import NoKinematics, NoSuchGroup, PlanningRobot
from lfd_planner.scene import PlanningScene, SceneFault, anchor, frame_pose
from lfd_planner.search.constraints import PathConstraints
from lfd_planner.server.motion_planner import Motion, MotionRequest, plan_motion, within_limits
from lfd_planner.stopping import never
from lfd_planner.timing import requested_scaling

from .server import SUCCESS, Server, error_code

PIPELINE = 'ompl'  # what clients of MoveIt's default set-up ask for
PLANNER = 'RRTConnectkConfigDefault'
DEFAULT_BUDGET = 1.0  # [s], MoveIt's own for requests that tell none
LARGEST_BUDGET = 600.0  # [s]
MOST_ATTEMPTS = 100
SMALLEST_STEP = 1e-4  # [m] between two poses of a Cartesian path
MOST_WAYPOINTS = 100_000


@dataclass(frozen=True, eq=False)
class Planned:
    """A motion, and the scene that it starts from."""

    scene: PlanningScene
    motion: Motion


def needed_joints(robot: PlanningRobot, group: str) -> tuple[str, ...]:
    """The joints whose position must be known to plan for a group; none for a group that is not there."""
    return robot.groups[group].joints if group in robot.groups else ()


class PlanningCapability:
    """Plans motions for services, and for the actions that execute them."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._display = server.node.create_publisher(DisplayTrajectory, 'display_planned_path', LATCHED_QOS)
        for kind, name, callback in (
            (GetMotionPlan, 'plan_kinematic_path', self._on_plan),
            (GetCartesianPath, 'compute_cartesian_path', self._on_cartesian),
            (QueryPlannerInterfaces, 'query_planner_interface', self._on_query),
            (GetPlannerParams, 'get_planner_params', lambda _, answer: answer),
            (SetPlannerParams, 'set_planner_params', lambda _, answer: answer),
        ):
            server.serve(kind, name, callback)

    def plan(
        self, request: MotionPlanRequest, scene: PlanningScene, should_stop: Callable[[], bool] = never
    ) -> Planned | Failure:
        """The motion that a request asks for in a scene, or why there is none; the start state is applied already."""
        try:
            asked = self._request(request, scene, should_stop)
            with self._server.planning(asked.options.budget) as left:
                asked = replace(asked, options=replace(asked.options, budget=left))
                found = plan_motion(self._server.backend, scene, asked)
        except SceneFault as fault:
            return Failure(fault.code, str(fault))
        except NoSuchGroup as error:
            return Failure(Code.INVALID_GROUP_NAME, str(error))
        except Exception as error:
            return self._broken(error)
        if isinstance(found, Failure):
            return found
        self.display(scene, found)
        return Planned(scene, found)

    def display(self, scene: PlanningScene, motion: Motion) -> None:
        """Show a motion in RViz."""
        self._display.publish(
            DisplayTrajectory(
                model_id=self._server.backend.robot.name,
                trajectory=[trajectory_to_message(motion.trajectory, motion.group.joints, scene.frame)],
                trajectory_start=self._server.state(scene),
            )
        )

    def _request(
        self, request: MotionPlanRequest, scene: PlanningScene, should_stop: Callable[[], bool]
    ) -> MotionRequest:
        """The request in our own words.

        Raises:
            SceneFault: it is wrong.
            NoSuchGroup: there is no such group.
        """
        robot = self._server.backend.robot
        group = robot.group(request.group_name)
        link_poses = self._server.link_poses(scene)
        goals = tuple(
            constraints_from_message(goal, scene, robot.frames, link_poses) for goal in request.goal_constraints
        )
        goals = tuple(goal for goal in goals if goal)
        if not goals:
            raise SceneFault(Code.INVALID_GOAL_CONSTRAINTS, 'The request has no goal; send goal_constraints.')
        if len(request.trajectory_constraints.constraints):
            raise SceneFault(
                Code.INVALID_GOAL_CONSTRAINTS, 'Trajectory constraints are not supported; use path_constraints.'
            )
        return MotionRequest(
            group=group,
            goals=goals,
            scaling=self.scaling(request),
            options=SearchOptions(
                budget=_budget(request.allowed_planning_time),
                attempts=min(max(request.num_planning_attempts, 1), MOST_ATTEMPTS),
                constraints=constraints_from_message(request.path_constraints, scene, robot.frames, link_poses),
                should_stop=lambda: should_stop() or self._server.ending.is_set(),
            ),
        )

    def scaling(self, request: MotionPlanRequest | GetCartesianPath.Request) -> SpeedScaling:
        """The speeds that a request asks for.

        Raises:
            SceneFault: a factor is not above 0 and up to 1.
        """
        factors = []
        for name in ('max_velocity_scaling_factor', 'max_acceleration_scaling_factor'):
            try:
                factors.append(requested_scaling(getattr(request, name), name).factor)
            except ValueError as error:
                raise SceneFault(Code.INVALID_MOTION_PLAN, str(error)) from None
        return SpeedScaling(*factors)

    # Services

    def _on_plan(self, request: GetMotionPlan.Request, answer: GetMotionPlan.Response) -> object:
        began = time.monotonic()
        response = answer.motion_plan_response
        response.group_name = request.motion_plan_request.group_name
        try:
            asked = request.motion_plan_request
            needed = needed_joints(self._server.backend.robot, asked.group_name)
            scene = self._server.snapshot(asked.start_state, needed)
        except SceneFault as fault:
            response.error_code = error_code(fault.code, str(fault))
            return answer
        found = self.plan(request.motion_plan_request, scene)
        response.trajectory_start = self._server.state(scene)
        response.planning_time = time.monotonic() - began
        response.error_code = self.outcome('plan_kinematic_path', found)
        if isinstance(found, Planned):
            motion = found.motion
            response.trajectory = trajectory_to_message(motion.trajectory, motion.group.joints, scene.frame)
        return answer

    def _broken(self, error: Exception) -> Failure:
        """What becomes of a mistake of ours: the client is told, and the log has the whole of it."""
        self._server.log.error(f'Planning failed: {error!r}\n{traceback.format_exc()}')
        return Failure(Code.FAILURE, f'Planning failed here: {error!r}; see the log of move_group.')

    def outcome(self, name: str, found: Planned | Failure) -> MoveItErrorCodes:
        """How planning ended, as a message; a failure is logged."""
        if isinstance(found, Planned):
            return SUCCESS
        self._server.log.warning(f'{name}: {found.code.name}: {found.message}')
        return error_code(found.code, found.message)

    def _on_cartesian(self, request: GetCartesianPath.Request, answer: GetCartesianPath.Response) -> object:
        try:
            needed = needed_joints(self._server.backend.robot, request.group_name)
            scene = self._server.snapshot(request.start_state, needed)
            answer.start_state = self._server.state(scene)
            with self._server.planning():
                self._cartesian(request, scene, answer)
        except SceneFault as fault:
            answer.error_code = error_code(fault.code, str(fault))
        except NoSuchGroup as error:
            answer.error_code = error_code(Code.INVALID_GROUP_NAME, str(error))
        except NoKinematics as error:
            answer.error_code = error_code(Code.INVALID_LINK_NAME, str(error))
        if answer.error_code.val != int(Code.SUCCESS):
            self._server.log.warning(f'compute_cartesian_path: {answer.error_code.message}')
        return answer

    def _cartesian(
        self, request: GetCartesianPath.Request, scene: PlanningScene, answer: GetCartesianPath.Response
    ) -> None:
        backend = self._server.backend
        group = backend.robot.group(request.group_name)
        link, held = anchor(scene, request.link_name or group.tip, backend.robot.tree.links)
        options = self._linear_options(request, scene)
        waypoints = self._waypoints(request, scene) @ held.inverse.matrix
        start = within_limits(group, group.positions(scene.joints))
        if isinstance(start, Failure):
            raise SceneFault(start.code, start.message)
        if not len(waypoints):
            answer.error_code = SUCCESS
            return
        try:
            found = backend.plan_linear(scene, group, start, link, waypoints, options)
        except ValueError as error:
            raise SceneFault(Code.FAILURE, str(error)) from None
        # As in MoveIt, a line may lead out of a collision; then its executed form cannot be free from the start.
        is_free = bool(backend.free(scene, group, start[np.newaxis])[0])
        timed = backend.time(
            scene,
            group,
            Path(found.q),
            self.scaling(request),
            constraints=options.constraints,
            avoid_collisions=options.avoid_collisions and is_free,
        )
        if isinstance(timed, Failure):
            raise SceneFault(timed.code, timed.message)
        answer.fraction = found.fraction
        answer.solution = trajectory_to_message(timed, group.joints, scene.frame)
        self.display(scene, Motion(group, timed, 0.0))
        # As in MoveIt, a path that ends early is a success; the fraction tells, and here the message why.
        answer.error_code = error_code(Code.SUCCESS, found.failure.message if found.failure else '')

    def _linear_options(self, request: GetCartesianPath.Request, scene: PlanningScene) -> LinearOptions:
        robot = self._server.backend.robot
        thresholds = (request.jump_threshold, request.prismatic_jump_threshold, request.revolute_jump_threshold)
        if not SMALLEST_STEP <= request.max_step < np.inf:
            raise SceneFault(
                Code.FAILURE, f'max_step is {request.max_step:g}; send metres, {SMALLEST_STEP:g} at least.'
            )
        if not all(0.0 <= value < np.inf for value in thresholds):
            raise SceneFault(Code.FAILURE, 'A jump threshold is negative or no number; send 0 to switch it off.')
        asked: PathConstraints = constraints_from_message(
            request.path_constraints, scene, robot.frames, self._server.link_poses(scene)
        )
        return LinearOptions(
            max_step=request.max_step,
            avoid_collisions=request.avoid_collisions,
            constraints=asked,
            jump_factor=request.jump_threshold,
            largest_turn=request.revolute_jump_threshold,
            largest_slide=request.prismatic_jump_threshold,
        )

    def _waypoints(self, request: GetCartesianPath.Request, scene: PlanningScene) -> np.ndarray:
        """The waypoints in the scene's frame, (N, 4, 4) [m].

        As in MoveIt, each of those in the frame of the link itself is relative to the one before.
        """
        if len(request.waypoints) > MOST_WAYPOINTS:
            raise SceneFault(
                Code.FAILURE, f'There are {len(request.waypoints)} waypoints; send {MOST_WAYPOINTS} at most.'
            )
        frame = frame_pose(scene, request.header.frame_id or scene.frame, self._server.link_poses(scene))
        goes_along = bool(request.link_name) and request.header.frame_id == request.link_name
        report = Report('Waypoints')
        poses = []
        for number, message in enumerate(request.waypoints):
            pose = frame @ pose_from_message(message, report, f'waypoint {number}')
            frame = pose if goes_along else frame
            poses.append(pose.matrix)
        report.finish()
        return np.array(poses).reshape(-1, 4, 4)

    def _on_query(self, _: QueryPlannerInterfaces.Request, answer: QueryPlannerInterfaces.Response) -> object:
        answer.planner_interfaces = [
            PlannerInterfaceDescription(name=PIPELINE, pipeline_id=PIPELINE, planner_ids=[PLANNER])
        ]
        return answer


def _budget(asked: float) -> float:
    if not np.isfinite(asked) or asked <= 0.0:
        return DEFAULT_BUDGET
    return min(float(asked), LARGEST_BUDGET)
