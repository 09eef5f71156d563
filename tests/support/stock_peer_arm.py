"""An arm as stock libraries know it: pinocchio's kinematics, numeric IK with random restarts, coal's collision checks.

Poses are 4x4 transforms of the frame `tcp` in the scene's frame [m]; q are positions of the arm's joints [rad].
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pinocchio as pin

from lfd_description.bodies import collision_bodies
from lfd_description.grippers import TCP_LINK
from lfd_description.model.builder import mesh_finder
from lfd_description.model.model import RobotModel
from lfd_planner.scene import PlanningScene

from .coal_judge import PinocchioWorld

Array = npt.NDArray[np.float64]

REACHED = 1e-6  # [m, rad]
ITERATIONS = 60  # of one descent
DAMPING = 1e-6
LONGEST_STEP = 0.5  # [rad] of any joint in one iteration
LINE_STEP = 0.005  # [m] between two poses of a straight move
LARGEST_JUMP = 0.2  # [rad] of any joint between two poses of a straight move


class StockArm:
    """Kinematics of a robot model, and worlds to check it in."""

    def __init__(self, model: RobotModel, seed: int = 0) -> None:
        self.robot = model
        self.joints = model.group.joints
        self.model = pin.buildModelFromXML(model.urdf, True)  # fingers that follow others do so
        self.data = self.model.createData()
        self.columns = [self.model.joints[self.model.getJointId(name)].idx_q for name in self.joints]
        self.tcp = f'{model.prefix}{TCP_LINK}'
        limits = [model.limits[name] for name in self.joints]
        self.lower = np.array([limit.lower for limit in limits])
        self.upper = np.array([limit.upper for limit in limits])
        self.velocities = np.array([limit.velocity for limit in limits])
        self.accelerations = np.array([limit.acceleration for limit in limits])
        self.random = np.random.default_rng(seed)
        self._frame = self.model.getFrameId(self.tcp)
        self._full = np.array(pin.neutral(self.model))

    @cached_property
    def bodies(self) -> tuple:
        """What the robot consists of, for collisions."""
        return tuple(collision_bodies(self.robot.urdf, mesh_finder(self.robot.robot)))

    def world(self, scene: PlanningScene) -> PinocchioWorld:
        """The scene made ready for collision checks."""
        return PinocchioWorld(self.robot.urdf, self.bodies, scene, self.joints, model=self.model, moving_only=True)

    def pose(self, q: Array) -> Array:
        """Where the tcp is."""
        self._full[self.columns] = q
        pin.forwardKinematics(self.model, self.data, self._full)
        return np.array(pin.updateFramePlacement(self.model, self.data, self._frame).homogeneous)

    def ik(self, pose: Array, seed: Array) -> Array | None:
        """Positions within limits that reach a pose, by damped least squares from a seed; None if not found."""
        goal, q = pin.SE3(pose), np.array(seed)
        for _ in range(ITERATIONS):
            self._full[self.columns] = q
            pin.computeJointJacobians(self.model, self.data, self._full)
            here = pin.updateFramePlacement(self.model, self.data, self._frame)
            error = pin.log6(here.actInv(goal)).vector
            if error @ error < REACHED * REACHED:
                return q
            arm = pin.getFrameJacobian(self.model, self.data, self._frame, pin.LOCAL)[:, self.columns]
            step = arm.T @ np.linalg.solve(arm @ arm.T + DAMPING * np.eye(6), error)
            step *= min(1.0, LONGEST_STEP / max(float(np.abs(step).max()), 1e-12))
            q = np.clip(q + step, self.lower, self.upper)
        return None

    def solutions(self, pose: Array, seed: Array, tries: int) -> Iterator[Array]:
        """Different positions that reach a pose: from the seed first, then from random places."""
        found: list[Array] = []
        for number in range(tries):
            start = seed if number == 0 else self.random.uniform(self.lower, self.upper)
            q = self.ik(pose, start)
            if q is not None and all(np.abs(q - other).max() > 1e-2 for other in found):
                found.append(q)
                yield q

    def line(self, world: PinocchioWorld, q: Array, way: Array, least: float) -> Array | None:
        """A path, (N, dof), that leads the tcp straight on by `way` [m], or by `least` [m] of it; None if it cannot."""
        goal, length = self.pose(q), float(np.linalg.norm(way))
        start = goal[:3, 3].copy()
        rows, steps = [q], int(np.ceil(length / LINE_STEP))
        for step in range(1, steps + 1):
            goal[:3, 3] = start + way * step / steps
            after = self.ik(goal, rows[-1])
            if after is None or np.abs(after - rows[-1]).max() > LARGEST_JUMP or world.collides(after):
                return np.array(rows) if (step - 1) / steps * length >= least else None
            rows.append(after)
        return np.array(rows)
