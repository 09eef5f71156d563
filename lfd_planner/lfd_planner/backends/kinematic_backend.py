"""What every home computes alike: inverse kinematics, straight lines and timing.

A home brings its collision checks and its search (`contacts`, `state_contacts`, `free`, `plan_joint`); all else is the
robot's own geometry and is done here, each candidate judged by the home's `free`.
"""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from lfd_description.hints import no_such
from lfd_description.urdf import Matrix
from lfd_planner.cartesian import FollowResult, JumpGuard, Reason, follow, interpolate
from lfd_planner.error_codes import Code
from lfd_planner.robot.planning_robot import LinkSolver, NoKinematics, PlanningGroup, PlanningRobot
from lfd_planner.scene import PlanningScene
from lfd_planner.search.constraint_checker import ConstraintChecker
from lfd_planner.search.constraints import NO_CONSTRAINTS, PathConstraints
from lfd_planner.timing import Trajectory, path_samples, time_path

from .backend import Failure, LinearOptions, LinearPath, Path, PlanningBackend, SpeedScaling

EXECUTED_STEP = 0.01  # [rad or m] between two samples of the motion as executed with full padding
TIGHT_STEP = 0.0025  # [rad or m] the same without any, of a motion that may be near to things
FINEST_STEP = 0.0005  # [rad or m] the same of one that should not be
PADDING = 0.004  # [m] kept while searching, so that what lies between two checked samples is free too
CLOSE, HAIR = 0.002, 0.0005  # [m] kept if there is not that much, but for what is nearer at an end of the motion
BLENDS = (0.1, 0.02, 0.004)  # [rad or m] that corners are cut by; the largest that stays free is taken
TIGHT = tuple((0.0, blend) for blend in (*BLENDS, 0.0))
ROOMY = ((PADDING, BLENDS[0]), *itertools.product((CLOSE, HAIR), BLENDS), *TIGHT)
"""Room [m] and blend, in the order in which they are tried."""
SPARSE = 16  # of so many samples one is looked at first: most motions that are not free are so for longer
LARGEST_TURN = 0.05  # [rad] between two poses of a straight line


class KinematicBackend(PlanningBackend):
    """Computes for one robot whose collisions somebody else checks."""

    def __init__(self, robot: PlanningRobot) -> None:
        super().__init__(robot)
        self._solvers: dict[tuple[PlanningGroup, str], LinkSolver] = {}
        self._fixed_bases: dict[str, Matrix] = {}

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
        ik = self._solver(group, link)
        found = ik.solver.solve(ik.to_tip(self._to_base(scene, group) @ pose), seed)
        found = np.ascontiguousarray(found[_within(group, found)])
        if avoid_collisions and len(found):
            found = np.ascontiguousarray(found[self.free(scene, group, found)])
        return found

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
        ik = self._solver(group, link)
        link_in_tip = np.linalg.inv(ik.offset)
        here = ik.solver.chain.pose(start) @ link_in_tip
        poses = interpolate(
            here,
            self._to_base(scene, group) @ waypoints,
            options.max_step,
            LARGEST_TURN,
            fewest=10 if options.jump_factor else 1,
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

    def time(
        self,
        scene: PlanningScene,
        group: PlanningGroup,
        path: Path,
        scaling: SpeedScaling | None = None,
        *,
        constraints: PathConstraints = NO_CONSTRAINTS,
        avoid_collisions: bool = True,
        keep_away: bool = True,
    ) -> Trajectory | Failure:
        """The fastest motion along a path within the limits; as executed it keeps to the constraints and is free."""
        scaling = scaling or SpeedScaling()
        checker = self._checker(scene, group, constraints)
        why, tight = '', FINEST_STEP if keep_away else TIGHT_STEP
        for room, blend in ROOMY if avoid_collisions and keep_away else TIGHT:
            try:
                trajectory = time_path(
                    path.q,
                    group.velocities,
                    group.accelerations,
                    velocity_scaling=scaling.velocity,
                    acceleration_scaling=scaling.acceleration,
                    blend=blend,
                )
            except (ValueError, ArithmeticError) as error:
                return Failure(Code.INVALID_MOTION_PLAN, str(error))
            samples = path_samples(trajectory, EXECUTED_STEP * room / PADDING or tight)
            why = self._fault(scene, group, samples, checker, avoid_collisions, room)
            if not why:
                return trajectory
        return Failure(Code.INVALID_MOTION_PLAN, f'The motion along the path is not allowed: {why}')

    def _solver(self, group: PlanningGroup, link: str) -> LinkSolver:
        """The group's inverse kinematics for a link; made once."""
        known = self._solvers.get((group, link))
        if known is None:
            if link not in self.robot.frames.links:
                raise NoKinematics(no_such('link', link, self.robot.tree.links))
            known = self._solvers[group, link] = group.solver_for(link)
        return known

    def _to_base(self, scene: PlanningScene, group: PlanningGroup) -> Matrix:
        """The 4x4 transform base of the group's chain -> scene frame [m]; computed once if no joint moves the base."""
        base = group.base
        if base not in self._fixed_bases:
            pose = self.robot.frames.link_poses(scene.joints)[base]
            to_base = np.asarray(np.linalg.inv(pose), dtype=np.float64)
            if any(self._moves(link) for link in (base, self.robot.frame)):
                return to_base
            self._fixed_bases[base] = to_base
        return self._fixed_bases[base]

    def _moves(self, link: str) -> bool:
        """Whether a joint moves a link against the root; what is no link is the root's frame."""
        tree = self.robot.tree
        return link in tree.links and any(joint.moves for joint in tree.chain(tree.root, link))

    def _allowed(
        self, scene: PlanningScene, group: PlanningGroup, q: Matrix, options: LinearOptions
    ) -> npt.NDArray[np.bool_]:
        """Which rows are within limits, keep to the constraints, and are free if they must be."""
        allowed = _within(group, q)
        checker = self._checker(scene, group, options.constraints)
        if checker is not None:
            allowed &= np.array([checker.satisfied(row) for row in q], dtype=np.bool_)
        if options.avoid_collisions:
            allowed &= self.free(scene, group, q)
        return allowed

    def _fault(
        self,
        scene: PlanningScene,
        group: PlanningGroup,
        samples: Matrix,
        checker: ConstraintChecker | None,
        avoid_collisions: bool,
        room: float = 0.0,
    ) -> str:
        """What is wrong with positions along a motion, if anything is; less room than that [m] is wrong, too."""
        if avoid_collisions and room and not self._has_room(scene, group, samples, room):
            return 'There is too little room.'
        for rows in (samples[::SPARSE], samples) if avoid_collisions and not room else ():
            free = self.free(scene, group, np.ascontiguousarray(rows))
            if not free.all():
                contacts = self.contacts(scene, group, rows[int(np.argmin(free))])
                return f'{", ".join(map(str, contacts[:3]))}.'
        if checker is not None:
            for q in samples:
                if broken := checker.violations(q):
                    return broken[0]
        return ''

    def _has_room(self, scene: PlanningScene, group: PlanningGroup, samples: Matrix, room: float) -> bool:
        """Whether a motion keeps away from things [m], so that what lies between its samples is free too."""
        return bool(self.free(scene, group, samples).all())

    def _checker(
        self, scene: PlanningScene, group: PlanningGroup, constraints: PathConstraints
    ) -> ConstraintChecker | None:
        if not constraints:
            return None
        return ConstraintChecker(self.robot.tree, self.robot.frame, group.joints, constraints, scene.joints)


def _within(group: PlanningGroup, q: Matrix) -> npt.NDArray[np.bool_]:
    """Which rows, (N, dof) [rad or m], are within the limits."""
    inside: npt.NDArray[np.bool_] = ((q >= group.bounds[0]) & (q <= group.bounds[1])).all(axis=1)
    return inside


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
