"""The arm that stages move: its backend, its group, its hand, and the few things that all of them ask for.

Poses are 4x4 transforms of the frame `tcp` in the scene's frame [m]; q are positions of the group's joints [rad or m].
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from lfd_description.grippers import TCP_LINK, Gripper
from lfd_description.model.model import RobotModel
from lfd_description.urdf import Matrix
from lfd_planner.backends import Failure, LinearPath, Path, PlanningBackend, SearchOptions, SpeedScaling
from lfd_planner.backends.kinematic_backend import TIGHT_STEP
from lfd_planner.robot.planning_robot import LinkSolver, PlanningGroup
from lfd_planner.scene import PlanningScene
from lfd_planner.task import Context, Rejection, State
from lfd_planner.timing import Trajectory, keep_times, path_samples

HAND_TIME = 0.05  # [s] that a hand takes at least: drivers want a point that is later
LOOK = 0.05  # [rad or m] between two positions on a way that are looked at for an explanation
WITHDRAWN = 0.2  # [m] that a hand gets out of the way at most, before it goes elsewhere
STEEP = 0.97  # cosine between the fingers and the vertical, from which on up and back are the same


@dataclass(frozen=True, eq=False)
class Arm:
    """A robot's arm and hand as stages see them."""

    backend: PlanningBackend
    group: PlanningGroup
    tcp: str
    """The link at the finger tips, or at the lip of the suction cup."""
    gripper: Gripper | None = None
    prefix: str = ''
    """What stands before the names of the gripper's links and joints."""
    scaling: SpeedScaling = field(default_factory=SpeedScaling)
    search: SearchOptions = field(default_factory=SearchOptions)

    @staticmethod
    def of(
        model: RobotModel,
        backend: PlanningBackend,
        scaling: SpeedScaling | None = None,
        search: SearchOptions | None = None,
    ) -> Arm:
        """The arm of a model; without a gripper its tip stands for the hand."""
        group = backend.robot.group(model.group.name)
        tcp = f'{model.prefix}{TCP_LINK}' if model.gripper else group.tip
        return Arm(
            backend, group, tcp, model.gripper, model.prefix, scaling or SpeedScaling(), search or SearchOptions()
        )

    @cached_property
    def solver(self) -> LinkSolver:
        """The inverse kinematics of the frame `tcp`."""
        return self.group.solver_for(self.tcp)

    @cached_property
    def base(self) -> Matrix:
        """The pose of the group's base in the scene's frame; no joint of an arm moves it."""
        return self.backend.robot.frames.link_poses(self.backend.robot.home)[self.group.base]

    @cached_property
    def touch_links(self) -> tuple[str, ...]:
        """The links of the hand that touch what is held."""
        return tuple(f'{self.prefix}{link}' for link in self.gripper.touch_links) if self.gripper else ()

    @property
    def sucks(self) -> bool:
        """Whether the hand holds by vacuum, so that it touches the object before it has closed."""
        return self.gripper is not None and self.gripper.gpio is not None

    def q(self, state: State) -> Matrix:
        """Where the arm is, (dof,)."""
        return self.group.positions(state.scene.joints)

    def travel_times(self, q: Matrix, others: Matrix) -> Matrix:
        """How long the arm takes from q, (dof,), to each of others, (N, dof), at least: (N,) [s]."""
        times: Matrix = (np.abs(others - q) / self.group.velocities).max(axis=1)
        return times

    def moved(self, scene: PlanningScene, q: Matrix) -> PlanningScene:
        """The scene with the arm at q, (dof,)."""
        return scene.with_joints(self.group.by_name(q))

    def pose(self, q: Matrix) -> Matrix:
        """The pose of the tcp for one row of positions, (dof,)."""
        pose: Matrix = self.base @ self.solver.solver.chain.pose(q) @ np.linalg.inv(self.solver.offset)
        return pose

    def hand(self, posture: Mapping[str, float]) -> dict[str, float]:
        """A posture of the gripper as positions of the robot's joints [rad or m], without those that follow others."""
        named = {f'{self.prefix}{joint}': position for joint, position in posture.items()}
        return {joint: position for joint, position in named.items() if joint in self.backend.robot.limits}

    def hand_of(self, scene: PlanningScene) -> dict[str, float]:
        """Where the gripper's joints are [rad or m]."""
        joints = self.gripper.grasp_data.joints if self.gripper else ()
        return {name: scene.joints.get(name, 0.0) for name in self.hand(dict.fromkeys(joints, 0.0))}

    def standing(self, q: Matrix, duration: float) -> Trajectory:
        """No motion of the arm for a while [s]."""
        if duration <= 0.0:
            return Trajectory.at(q)
        return Trajectory(np.array([0.0, duration]), np.array([q, q]), np.zeros((2, len(q))))

    def hand_time(self, before: Mapping[str, float], after: Mapping[str, float], at_least: float = 0.0) -> float:
        """How long the gripper's joints take from one place to the other [s]."""
        limits = self.backend.robot.limits
        times = [abs(after[joint] - before.get(joint, 0.0)) / limits[joint].velocity for joint in after]
        return max([*times, at_least, HAND_TIME])

    def line(self, scene: PlanningScene, q: Matrix, poses: Matrix) -> LinearPath:
        """A straight way of the tcp from q through poses, (N, 4, 4), as far as it goes."""
        return self.backend.plan_linear(scene, self.group, q, self.tcp, poses)

    def timed(self, scene: PlanningScene, path: Matrix, *, keep_away: bool = True) -> Trajectory | Rejection:
        """The fastest motion along a path, (N, dof), that is free as executed; or why there is none."""
        timed = self.backend.time(scene, self.group, Path(path), self.scaling, keep_away=keep_away)
        if isinstance(timed, Failure):
            return self._why_not_timed(scene, path, timed)
        return timed

    def _why_not_timed(self, scene: PlanningScene, path: Matrix, failure: Failure) -> Rejection:
        """Why there is no motion along a path: who touches whom on it, or else that it cannot be timed or rounded."""
        blocked = np.flatnonzero(~self.backend.free(scene, self.group, path))
        contact = self.backend.first_contact(scene, self.group, path[blocked[0]]) if len(blocked) else None
        if contact:
            return Rejection('collision', (contact.a, contact.b), detail=failure.message)
        return Rejection('no_motion', detail=failure.message)

    def timed_at(self, scene: PlanningScene, path: Matrix, times: Matrix) -> Trajectory | Rejection:
        """The motion that is at the rows of a path, (N, dof), at times, (N,) [s], or later; or why there is none."""
        group = self.group
        timed = keep_times(
            path, times, group.velocities * self.scaling.velocity, group.accelerations * self.scaling.acceleration
        )
        samples = path_samples(timed, TIGHT_STEP)
        free = self.backend.free(scene, group, samples)
        if free.all():
            return timed
        contact = self.backend.first_contact(scene, group, samples[int(np.argmin(free))])
        return Rejection('collision', (contact.a, contact.b) if contact else ())

    def free_way(
        self,
        context: Context,
        scene: PlanningScene,
        q0: Matrix,
        q1: Matrix,
        samples: int | None = None,
        *,
        withdrawn: bool = False,
    ) -> Trajectory | Rejection:
        """A motion from q0 to q1, (dof,) each, that a search with so many samples found; or why there is none.

        `withdrawn`: the hand first gets straight out of where it is, and comes straight to where it goes. So it leaves
        bins, frames and shelves, whose narrow ways a search finds late.
        """
        options = replace(
            self.search,
            iterations=self.search.iterations if samples is None else samples,
            seed=self.search.seed + context.seed,
            budget=min(self.search.budget, context.seconds_left),
            should_stop=context.should_stop,
        )
        out, back = (self._withdrawal(scene, q) for q in (q0, q1)) if withdrawn else (q0[np.newaxis], q1[np.newaxis])
        goals = np.ascontiguousarray(back[[0, -1]] if withdrawn else back)
        found = self.backend.plan_joint(scene, self.group, np.ascontiguousarray(out[-1]), goals, options)
        if isinstance(found, Failure):
            return self._no_path(scene, q0, q1, found)
        came = np.array_equal(found.q[-1], q1)
        return self.timed(scene, np.vstack([out[:-1], found.q, back[:0] if came else back[-2::-1]]))

    def _withdrawal(self, scene: PlanningScene, q: Matrix) -> Matrix:
        """The straight way of the hand out of where it is at q, (dof,), back or up, whichever is longer: (N, dof)."""
        here = self.pose(q)
        up, back = np.array([0.0, 0.0, 1.0]), -here[:3, 2]
        ways = []
        for way in (up,) if up @ back > STEEP else (up, back):
            there = here.copy()
            there[:3, 3] += WITHDRAWN * way
            ways.append(self.line(scene, q, there[np.newaxis]))
        return max(ways, key=lambda found: found.fraction).q

    def _no_path(self, scene: PlanningScene, q0: Matrix, q1: Matrix, failure: Failure) -> Rejection:
        """That there is no way, and what is in the way of the shortest one."""
        count = max(math.ceil(float(np.abs(q1 - q0).max()) / LOOK), 1)
        rows = q0 + np.linspace(0.0, 1.0, count + 1)[:, np.newaxis] * (q1 - q0)
        blocked = np.flatnonzero(~self.backend.free(scene, self.group, rows))
        contact = self.backend.first_contact(scene, self.group, rows[blocked[0]]) if len(blocked) else None
        if not contact:
            return Rejection('no_path', tuple(scene.attached), detail=failure.message)
        detail = f'No way was found around this: {contact} on the shortest way.'
        return Rejection('no_path', (contact.a, contact.b), detail=detail)

    def why_line_ends(self, scene: PlanningScene, found: LinearPath, goal: Matrix) -> Rejection:
        """Why a straight way ends before its goal, by name."""
        failure, last = found.failure, found.q[-1]
        detail = failure.message if failure else ''
        step = self.pose(last)
        way = goal[:3, 3] - step[:3, 3]
        step[:3, 3] += way * min(1.0, 0.01 / max(float(np.linalg.norm(way)), 1e-9))
        near = self.backend.ik(scene, self.group, self.tcp, step, last, avoid_collisions=False)
        if not len(near):
            return Rejection('unreachable', detail=detail)
        contact = self.backend.first_contact(scene, self.group, np.ascontiguousarray(near[0]))
        if contact:
            return Rejection('collision', (contact.a, contact.b), detail=detail)
        return Rejection('joint_jump', detail=detail)
