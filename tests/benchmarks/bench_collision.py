"""How fast states and edges are checked for collisions: `./lfd bench collision`.

The same robot in the same scene, the same states and the same pairs, in one run and turn by turn: our compiled checks,
pinocchio's `computeCollisions` (coal, every pair) and its broad-phase manager (coal, a tree of boxes). All three must
give the same answers. Times are of one core; trust the ratios.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter, thread_time

import numpy as np
import numpy.typing as npt
import pinocchio as pin

# The benchmark is run as a program; what it shares with the tests lies beside its folder.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.coal_judge import PinocchioWorld

from lfd_description.bodies import collision_bodies
from lfd_description.grippers import find_gripper
from lfd_description.model.builder import build_model, mesh_finder
from lfd_description.robots import find_robot, robot_names
from lfd_description.scenes import find_scene, scene_names
from lfd_description.shapes import Box
from lfd_planner.collision import CollisionWorld, RobotGeometry
from lfd_planner.scene import AllowedCollisions, Body, PlanningScene, Pose, WorldObject, from_scene
from lfd_planner.warm_up import warm_up

Array = npt.NDArray[np.float64]

SEED = 20261116
STATES = 300
ROUNDS = 10
EDGE = 100  # states
EXPECTED_RATIO = 10.0  # to pinocchio's computeCollisions


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, and give 1 if what is expected does not hold."""
    options = _arguments(argv)
    warm_up()
    model = build_model(find_robot(options.robot), gripper=find_gripper(options.gripper))
    bodies = collision_bodies(model.urdf, mesh_finder(model.robot))
    scene = from_scene(find_scene(options.scene))
    allowed = AllowedCollisions.of((pair.link1, pair.link2) for pair in model.collision_matrix.disabled)
    scene = replace(scene, allowed=allowed).allow(bodies[0].link, *scene.objects)
    robot, joints = RobotGeometry(model.tree, bodies, scene.frame), model.group.joints
    ours, judge = CollisionWorld(robot, scene, joints), PinocchioWorld(model.urdf, bodies, scene, joints)
    limits = [model.limits[joint] for joint in joints]
    low, high = [limit.lower for limit in limits], [limit.upper for limit in limits]
    q = np.random.default_rng(SEED).uniform(low, high, (STATES, len(joints)))
    free = np.ascontiguousarray(q[~ours.collide(q)])
    print(f'{options.robot} with {options.gripper} in {options.scene}, {STATES} states, {len(free)} of them free')
    wrong = int((ours.collide(q) != judge.collide(q)).sum())
    ratio = _states(ours, judge, free)
    _edges(ours, judge, free)
    _thousand(robot, scene, joints, free)
    print(f'{wrong} different answers; {ratio:.1f}x computeCollisions, {EXPECTED_RATIO:.0f}x is expected.')
    return 1 if wrong or ratio < EXPECTED_RATIO else 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog='lfd bench collision', description='Collision checks, ours and others.')
    parser.add_argument('--robot', choices=robot_names(), default='gp8', help='the arm (default gp8)')
    parser.add_argument('--gripper', default='two_finger', help='what it carries (default two_finger)')
    parser.add_argument('--scene', choices=scene_names(), default='seed_cell', help='the scene (default seed_cell)')
    return parser.parse_args(argv)


def _states(ours: CollisionWorld, judge: PinocchioWorld, q: Array) -> float:
    """Print the times of a free state; gives how many times as fast as pinocchio ours is."""
    manager = pin.BroadPhaseManager_DynamicAABBTreeCollisionManager(judge.model, judge.geometry, judge.contacts)
    full = [judge.positions(row) for row in q]
    model, data, geometry, contacts = judge.model, judge.data, judge.geometry, judge.contacts
    times = _in_turn(
        {
            'ours, compiled loop': lambda: ours.collide(q),
            'ours, one call a state': lambda: [ours.collides(row) for row in q],
            'pinocchio computeCollisions': lambda: [
                pin.computeCollisions(model, data, geometry, contacts, row, True) for row in full
            ],
            'pinocchio broad phase': lambda: [pin.computeCollisions(model, data, manager, row, True) for row in full],
        }
    )
    fastest = times['ours, compiled loop']
    for name, seconds in times.items():
        print(f'  a free state, {name:30} {1e6 * seconds / len(q):8.2f} us {seconds / fastest:8.1f}x')
    return times['pinocchio computeCollisions'] / fastest


def _edges(ours: CollisionWorld, judge: PinocchioWorld, q: Array) -> None:
    """Print the times of an edge whose states are all looked at."""
    starts = q[:20]
    step = 0.2 / EDGE  # [rad]
    ends = starts + 0.2
    ways = [(a, b) for a, b in zip(starts, ends, strict=True) if ours.edge_free(a, b, step)]
    shares = np.linspace(0.0, 1.0, EDGE + 1)[:, np.newaxis]
    full = [judge.positions(row) for a, b in ways for row in a + shares * (b - a)]
    arguments = judge.model, judge.data, judge.geometry, judge.contacts
    times = _in_turn(
        {
            'ours': lambda: [ours.edge_free(a, b, step) for a, b in ways],
            'pinocchio computeCollisions': lambda: [pin.computeCollisions(*arguments, row, True) for row in full],
        }
    )
    for name, seconds in times.items():
        print(
            f'  a free edge of {EDGE} states, {name:30} {1e6 * seconds / max(len(ways), 1):8.0f} us'
            f' {seconds / times["ours"]:8.1f}x'
        )


def _thousand(robot: RobotGeometry, scene: PlanningScene, joints: Sequence[str], q: Array) -> None:
    """Print what a thousand objects more cost."""
    places = np.random.default_rng(SEED).uniform((-3.0, -3.0, -1.0), (3.0, 3.0, 2.0), (1000, 3)).tolist()
    crate = Body.of(Box((0.05, 0.05, 0.05)))
    many = scene.add(*(WorldObject(f'crate {n}', crate, Pose((x, y, z))) for n, (x, y, z) in enumerate(places)))
    for title, there in (('without', scene), ('with 1000 objects more', many)):
        start = perf_counter()
        CollisionWorld(robot, there, joints)
        first = perf_counter() - start
        name = next(iter(there.objects))
        start = perf_counter()
        world = CollisionWorld(robot, there.move(name, there.objects[name].pose @ Pose((1e-3, 0.0, 0.0))), joints)
        again = perf_counter() - start
        free = np.ascontiguousarray(q[~world.collide(q)])
        seconds = _in_turn({'ours': lambda world=world, free=free: world.collide(free)})['ours']
        print(
            f'  {title:24} made in {1e3 * first:6.2f} ms, after a move in {1e3 * again:6.2f} ms, '
            f'a free state {1e6 * seconds / len(free):6.2f} us'
        )


def _in_turn(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least time [s] of each call; they take turns, so that a busy moment of the machine hits all of them."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = thread_time()
            call()
            times[name].append(thread_time() - start)
    return {name: min(found) for name, found in times.items()}


if __name__ == '__main__':
    sys.exit(main())
