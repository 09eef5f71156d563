"""The embedded backend: compiled collision checks, closed-form inverse kinematics, RRT-Connect, fastest motions."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lfd_description.urdf import Matrix
from lfd_planner.cartesian import FollowResult, JumpGuard, Reason, follow, interpolate
from lfd_planner.collision import CollisionWorld, RobotGeometry
from lfd_planner.error_codes import Code
from lfd_planner.robot.planning_robot import PlanningGroup, PlanningRobot
from lfd_planner.scene import Contact, PlanningScene
from lfd_planner.search.constraint_checker import ConstraintChecker
from lfd_planner.search.constraints import NO_CONSTRAINTS, PathConstraints
from lfd_planner.search.plan_path import plan_path
from lfd_planner.search.results import Found, NotFound
from lfd_planner.search.shortcut import path_length
from lfd_planner.timing import Trajectory, path_samples, time_path

from .backend import (
    Failure,
    LinearOptions,
    LinearPath,
    Path,
    PlanningBackend,
    SearchOptions,
    SpeedScaling,
)

PADDING = 0.002  # [m] kept while searching, so that what lies between two checked samples is free too
STEP = 0.02  # [rad or m] between two samples that the search checks
EXECUTED_STEP = 0.01  # [rad or m] between two checked samples of the motion as executed
BLENDS = (0.1, 0.02, 0.004, 0.0)  # [rad or m] that corners are cut by; the largest that stays free is taken
LARGEST_TURN = 0.05  # [rad] between two poses of a straight line
MOST_WORLDS = 16  # kept for requests that come again
_CODES = {
    'start in collision': Code.START_STATE_IN_COLLISION,
    'start outside limits': Code.START_STATE_INVALID,
    'start breaks constraints': Code.START_STATE_VIOLATES_PATH_CONSTRAINTS,
    'goal in collision': Code.GOAL_IN_COLLISION,
    'goal outside limits': Code.GOAL_STATE_INVALID,
    'goal breaks constraints': Code.GOAL_VIOLATES_PATH_CONSTRAINTS,
    'timeout': Code.TIMED_OUT,
    'stopped': Code.PREEMPTED,
}


@dataclass(frozen=True)
class _Key:
    """What a collision world depends on: parts of scenes are the same if they are the same object."""

    parts: tuple[int, ...]
    others: tuple[float, ...]
    joints: tuple[str, ...]
    padding: float


class EmbeddedBackend(PlanningBackend):
    """Computes in this process; safe to use from several threads, which do not wait for each other."""

    def __init__(self, robot: PlanningRobot) -> None:
        super().__init__(robot)
        self._geometry = RobotGeometry(robot.tree, robot.bodies, robot.frame)
        self._worlds: OrderedDict[_Key, tuple[PlanningScene, CollisionWorld]] = OrderedDict()
        self._lock = threading.Lock()

    def ik(
        self,
        scene: PlanningScene,
        group: PlanningGroup,
        link: str,
        pose: Matrix,
        seed: Matrix | None = None,
        *,
        avoid_collisions: bool = True,
    ) -> Matrix:
        """All positions, (k, dof), within limits that bring a link to a pose, the nearest to the seed first."""
        ik = group.solver_for(link)
        base = self.robot.frames.link_poses(scene.joints)[group.base]
        found = ik.solver.solve(ik.to_tip(np.linalg.inv(base) @ pose), seed)
        inside = ((found >= group.bounds[0]) & (found <= group.bounds[1])).all(axis=1)
        found = np.ascontiguousarray(found[inside])
        if avoid_collisions and len(found):
            found = np.ascontiguousarray(found[self.free(scene, group, found)])
        return found

    def contacts(self, scene: PlanningScene, group: PlanningGroup, q: Matrix) -> tuple[Contact, ...]:
        """What touches and may not, at one row of positions, (dof,)."""
        return self._world(scene, group.joints).contacts(q)

    def state_contacts(self, scene: PlanningScene) -> tuple[Contact, ...]:
        """What touches and may not, with all joints where the scene has them."""
        q = np.array([scene.joints.get(name, 0.0) for name in self.robot.joints])
        return self._world(scene, self.robot.joints).contacts(q)

    def free(self, scene: PlanningScene, group: PlanningGroup, q: Matrix) -> npt.NDArray[np.bool_]:
        """Which rows of positions, (N, dof), are free of collisions: (N,) of bool."""
        return ~self._world(scene, group.joints).collide(q)

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
        deadline = time.monotonic() + options.budget
        world = self._roomy_world(scene, group, start, goals)
        constraints = self._checker(scene, group, options.constraints)
        best: Found | None = None
        missed = NotFound('timeout')
        for attempt in range(options.attempts):
            left = deadline - time.monotonic()
            if left <= 0.0 or (best is not None and options.should_stop()):
                break
            found = plan_path(
                world.data,
                group.bounds,
                start,
                goals,
                constraints=constraints,
                step=STEP,
                seed=options.seed + attempt,
                budget_s=left,
                should_stop=options.should_stop,
            )
            if isinstance(found, NotFound):
                missed = found
            elif best is None or path_length(found.path) < path_length(best.path):
                best = found
        if best is None:
            return Failure(_CODES.get(missed.reason, Code.PLANNING_FAILED), missed.message)
        return Path(best.path)

    def plan_linear(
        self,
        scene: PlanningScene,
        group: PlanningGroup,
        start: Matrix,
        link: str,
        waypoints: Matrix,
        options: LinearOptions | None = None,
    ) -> LinearPath:
        """A straight way of a link through poses, (N, 4, 4), as far as it goes."""
        options = options or LinearOptions()
        ik = group.solver_for(link)
        to_base = np.linalg.inv(self.robot.frames.link_poses(scene.joints)[group.base])
        link_in_tip = np.linalg.inv(ik.offset)
        here = ik.solver.chain.pose(start) @ link_in_tip
        poses = interpolate(
            here, to_base @ waypoints, options.max_step, LARGEST_TURN, fewest=10 if options.jump_factor else 1
        )
        guard = JumpGuard(
            options.largest_turn or JumpGuard.revolute,
            options.largest_slide or JumpGuard.prismatic,
            options.jump_factor,
        )
        found = follow(
            ik.solver,
            poses,
            start,
            tip_to_link=link_in_tip,
            jump=guard,
            is_free=lambda q: self._allowed(scene, group, q, options),
        )
        return LinearPath(found.q, found.fraction, _why(link, found))

    def _allowed(
        self, scene: PlanningScene, group: PlanningGroup, q: Matrix, options: LinearOptions
    ) -> npt.NDArray[np.bool_]:
        """Which rows are within limits, keep to the constraints, and are free if they must be."""
        allowed: npt.NDArray[np.bool_] = ((q >= group.bounds[0]) & (q <= group.bounds[1])).all(axis=1)
        checker = self._checker(scene, group, options.constraints)
        if checker is not None:
            allowed &= np.array([checker.satisfied(row) for row in q], dtype=np.bool_)
        if options.avoid_collisions:
            allowed &= self.free(scene, group, q)
        return allowed

    def time(
        self,
        scene: PlanningScene,
        group: PlanningGroup,
        path: Path,
        scaling: SpeedScaling | None = None,
        *,
        constraints: PathConstraints = NO_CONSTRAINTS,
        avoid_collisions: bool = True,
    ) -> Trajectory | Failure:
        """The fastest motion along a path within the limits; as executed it keeps to the constraints and is free."""
        scaling = scaling or SpeedScaling()
        checker = self._checker(scene, group, constraints)
        why = ''
        for blend in BLENDS:
            trajectory = time_path(
                path.q,
                group.velocities,
                group.accelerations,
                velocity_scaling=scaling.velocity,
                acceleration_scaling=scaling.acceleration,
                blend=blend,
            )
            samples = path_samples(trajectory, EXECUTED_STEP)
            why = self._fault(scene, group, samples, checker, avoid_collisions)
            if not why:
                return trajectory
        return Failure(Code.INVALID_MOTION_PLAN, f'The motion along the path is not allowed: {why}')

    def _fault(
        self,
        scene: PlanningScene,
        group: PlanningGroup,
        samples: Matrix,
        checker: ConstraintChecker | None,
        avoid_collisions: bool,
    ) -> str:
        """What is wrong with positions along a motion, if anything is."""
        if avoid_collisions:
            free = self.free(scene, group, samples)
            if not free.all():
                contacts = self.contacts(scene, group, samples[int(np.argmin(free))])
                return f'{", ".join(map(str, contacts[:3]))}.'
        if checker is not None:
            for q in samples:
                if broken := checker.violations(q):
                    return broken[0]
        return ''

    def _checker(
        self, scene: PlanningScene, group: PlanningGroup, constraints: PathConstraints
    ) -> ConstraintChecker | None:
        if not constraints:
            return None
        return ConstraintChecker(self.robot.tree, self.robot.frame, group.joints, constraints, scene.joints)

    def _roomy_world(self, scene: PlanningScene, group: PlanningGroup, start: Matrix, goals: Matrix) -> CollisionWorld:
        """The world with padding, unless start or goals are allowed but nearer to something than that."""
        padded = self._world(scene, group.joints, PADDING)
        if padded.collides(start) or padded.collide(goals).all():
            return self._world(scene, group.joints)
        return padded

    def _world(self, scene: PlanningScene, joints: tuple[str, ...], padding: float = 0.0) -> CollisionWorld:
        parts = (scene.objects, scene.attached, scene.allowed, scene.link_padding, scene.link_scale)
        others = tuple(scene.joints.get(name, 0.0) for name in self.robot.joints if name not in joints)
        key = _Key(tuple(map(id, parts)), others, joints, padding)
        with self._lock:
            if key in self._worlds:
                self._worlds.move_to_end(key)
                return self._worlds[key][1]
        world = CollisionWorld(self._geometry, scene, joints, padding=padding)
        with self._lock:
            self._worlds[key] = (scene, world)  # the scene is kept, so that no other part can have its identity
            while len(self._worlds) > MOST_WORLDS:
                self._worlds.popitem(last=False)
        return world


def _why(link: str, found: FollowResult) -> Failure | None:
    """Why a line was not followed to its end."""
    if found.reason is None:
        return None
    reasons = {
        Reason.UNREACHABLE: (Code.NO_IK_SOLUTION, 'the next pose is out of reach'),
        Reason.JOINT_LIMIT: (Code.NO_IK_SOLUTION, 'a joint is at its limit'),
        Reason.JUMP: (Code.PLANNING_FAILED, 'a joint would have to jump'),
        Reason.COLLISION: (Code.PLANNING_FAILED, 'the next position is in collision or breaks a constraint'),
    }
    code, why = reasons[found.reason]
    return Failure(code, f"Link '{link}' follows {found.fraction:.1%} of the path; then {why}.")
