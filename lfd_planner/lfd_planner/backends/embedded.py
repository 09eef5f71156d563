"""The embedded backend: compiled collision checks, closed-form inverse kinematics, RRT-Connect, fastest motions."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lfd_description.urdf import Matrix
from lfd_planner.collision import CollisionWorld, RobotGeometry
from lfd_planner.error_codes import Code
from lfd_planner.robot.planning_robot import PlanningGroup, PlanningRobot
from lfd_planner.scene import Contact, PlanningScene
from lfd_planner.search.plan_path import plan_path
from lfd_planner.search.results import Found, NotFound
from lfd_planner.search.shortcut import path_length

from .backend import Failure, Path, SearchOptions
from .kinematic_backend import HAIR, PADDING, KinematicBackend
from .made_scenes import MadeScenes

STEP = 0.03  # [rad or m] between two samples that the search checks
FINER = 3  # times, that a motion is looked at more closely where it is near to something
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
class _Tight:
    """Who is nearer to something than the padding."""

    outside: tuple[tuple[str, float], ...]
    """Links and attached objects that are near to the world, and the room that they still have [m]."""
    inside: bool
    """Whether some of the robot is near to some other of it."""


class EmbeddedBackend(KinematicBackend):
    """Computes in this process; safe to use from several threads, which wait only while one makes a scene ready."""

    def __init__(self, robot: PlanningRobot) -> None:
        super().__init__(robot)
        self._geometry = RobotGeometry(robot.tree, robot.bodies, robot.frame)
        self._worlds: MadeScenes[CollisionWorld] = MadeScenes()

    def contacts(self, scene: PlanningScene, group: PlanningGroup, q: Matrix) -> tuple[Contact, ...]:
        """What touches and may not, at one row of positions, (dof,)."""
        return self._world(scene, group.joints).contacts(q)

    def first_contact(self, scene: PlanningScene, group: PlanningGroup, q: Matrix) -> Contact | None:
        """One contact of the first two that touch and may not, at one row of positions, (dof,), if any do."""
        return self._world(scene, group.joints).first_contact(q)

    def state_contacts(self, scene: PlanningScene) -> tuple[Contact, ...]:
        """What touches and may not, with all joints where the scene has them."""
        q = np.array([scene.joints.get(name, 0.0) for name in self.robot.joints])
        return self._world(scene, self.robot.joints, whole=True).contacts(q)

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
                iterations=options.iterations,
                should_stop=options.should_stop,
            )
            if isinstance(found, NotFound):
                missed = found
            elif best is None or path_length(found.path) < path_length(best.path):
                best = found
        if best is None:
            return Failure(_CODES.get(missed.reason, Code.PLANNING_FAILED), missed.message)
        return Path(best.path)

    def _has_room(self, scene: PlanningScene, group: PlanningGroup, samples: Matrix, room: float) -> bool:
        """Whether a motion keeps away from things, but for what is nearer to them at an end of the motion.

        Where it has less than twice that room, it is looked at more closely.
        """
        close = self._close(scene, group, samples, 2.0 * room)
        if not close.any():
            return True
        padded = self._world(scene, group.joints, room)
        closer = close.copy()
        closer[close] = padded.collide(samples[close])
        if _between_ends(closer):
            return False
        rows = _closer(samples, close)
        bad = padded.collide(rows)
        if not bad.any():
            return True
        if _between_ends(bad) or (bad[0] and not close[0]) or (bad[-1] and not close[-1]):
            return False
        tight = self._tight(scene, group, [samples[0], samples[-1]], room)
        return not self._world(scene, group.joints, room, but=tight.outside).collide(rows[bad]).any()

    def _close(self, scene: PlanningScene, group: PlanningGroup, samples: Matrix, room: float) -> npt.NDArray[np.bool_]:
        """Which of the samples have less room than that [m], (N,).

        One that has twice as much, to itself as well, has enough on both sides; so every other one is looked at first.
        """
        close = np.ones(len(samples), dtype=np.bool_)
        close[::2] = self._world(scene, group.joints, 2.0 * room, room).collide(samples[::2])
        close[1:-1:2] = close[:-2:2] | close[2::2]
        close[close] = self._world(scene, group.joints, room).collide(samples[close])
        return close

    def _roomy_world(self, scene: PlanningScene, group: PlanningGroup, start: Matrix, goals: Matrix) -> CollisionWorld:
        """The world with as much padding as start and goals leave room for.

        An object that stands on a table, or fingers around it, are nearer to their neighbours than any padding; the
        rest of the robot is still kept apart.
        """
        exact = self._world(scene, group.joints)
        if exact.collides(start) or exact.collide(goals).all():
            return exact
        padded = self._world(scene, group.joints, PADDING, PADDING)
        if not padded.collides(start) and not padded.collide(goals).all():
            return padded
        tight = self._tight(scene, group, [start, *goals], PADDING)
        return self._world(scene, group.joints, PADDING, 0.0 if tight.inside else PADDING, but=tight.outside)

    def _tight(self, scene: PlanningScene, group: PlanningGroup, ends: Sequence[Matrix], room: float) -> _Tight:
        """Who has less room than that [m] at positions, (dof,) each, and whether little is left to them, or nothing."""
        outside: dict[str, float] = {}
        inside = False
        for least, left in ((room, HAIR if room > HAIR else 0.0), (HAIR, 0.0)):
            world = self._world(scene, group.joints, least, least)
            for who, _, kind in (touching for q in ends for touching in world.touching(q)):
                if kind == 'object':
                    outside[who] = left
                else:
                    inside = True
        return _Tight(tuple(outside.items()), inside)

    def _world(
        self,
        scene: PlanningScene,
        joints: tuple[str, ...],
        padding: float = 0.0,
        self_padding: float = 0.0,
        *,
        but: tuple[tuple[str, float], ...] = (),
        whole: bool = False,
    ) -> CollisionWorld:
        """The scene made ready; unless the `whole` robot counts, only what the joints move; `but`: other paddings."""
        others = tuple(scene.joints.get(name, 0.0) for name in self.robot.joints if name not in joints)
        bare = self._worlds.get(
            scene,
            (others, joints, whole),
            lambda: CollisionWorld(self._geometry, scene, joints, moving_only=not whole),
        )
        if not (padding or self_padding):
            return bare
        key = (others, joints, whole, padding, self_padding, but)
        return self._worlds.get(scene, key, lambda: bare.padded(padding, self_padding, dict(but)))


def _run(close: npt.NDArray[np.bool_]) -> int:
    """How many are true in a row from the first on."""
    return len(close) if close.all() else int(np.argmin(close))


def _between_ends(found: npt.NDArray[np.bool_]) -> bool:
    """Whether there is something that does not hang together with the first or the last."""
    return bool(found[_run(found) : len(found) - _run(found[::-1])].any())


def _closer(samples: Matrix, close: npt.NDArray[np.bool_]) -> Matrix:
    """Positions along the stretches of a motion that are close, several for each sample."""
    shares = np.arange(FINER) / FINER
    first = np.flatnonzero(close[:-1] | close[1:])
    steps = samples[first + 1] - samples[first]
    between = samples[first, np.newaxis] + shares[:, np.newaxis] * steps[:, np.newaxis]
    last = samples[-1:] if close[-1] else samples[:0]
    return np.vstack([between.reshape(-1, samples.shape[1]), last])
