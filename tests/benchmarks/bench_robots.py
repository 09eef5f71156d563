"""How fast and how surely robots are made ready and solved: `./lfd bench robots`.

For each arm, in one run and turn by turn: our inverse kinematics (all solutions for arms with a closed form, one for
the others), called for one pose and for many at once on one core, and the same poses given to other solvers. A pose
counts as unsolved if no answer reaches it; all poses are reachable, for they come from random joint positions.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import numpy.typing as npt

# The benchmark is run as a program; what it shares with the tests lies beside its folder.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.ik_peers import PEERS, Peer
from support.arms import EXAMPLES, TestArm, example_arm, pose_errors, shipped_arm

from lfd_description.grippers import find_gripper
from lfd_description.model.builder import build_model
from lfd_description.robots import find_robot, robot_names
from lfd_planner.robot.ik import IkSolver, NumericOptions, make_solver
from lfd_planner.warm_up import warm_up

Array = npt.NDArray[np.float64]
Solve = Callable[[Array], Array]

SEED = 20240117
POSES = 2000
OTHERS = ('panda', 'pr2 right', 'pr2 left', 'tiago')
_TURN = 50  # Poses that a solver gets before it is the next one's turn.
REACHED = 1e-4
"""[m, rad]: what all peers are set to reach, with a margin."""
EXPECTED_RATE = 200_000.0  # poses/s, batched, one core
EXPECTED_RATIO = 10.0  # to a peer that iterates, single call
EXPECTED_UNSOLVED = 1e-3  # of arms without a closed form


@dataclass(frozen=True)
class Measured:
    """One solver on one arm."""

    rate: float
    """Single calls per second: one over the median time of a call."""
    unsolved: float
    """Share of the poses."""


@dataclass(frozen=True)
class Row:
    """One arm."""

    robot: str
    family: str
    build: float | None
    """Time to build the model [s], where it was measured."""
    ours: Measured
    batched: float
    """Poses per second of one core."""
    peers: dict[str, Measured] = field(default_factory=dict)

    def ratio(self, peer: str) -> float:
        """How many times as fast as the peer a single call of ours is."""
        return self.ours.rate / self.peers[peer].rate


def model_build_time(robot: str) -> float:
    """How long the model builder takes for a robot of ours with a gripper, collision matrix sampled anew [s]."""
    arm = find_robot(robot)
    gripper = None if arm.own_gripper else find_gripper('two_finger')
    start = perf_counter()
    build_model(arm, gripper=gripper, resample=True)
    return perf_counter() - start


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; return 1 if something that is expected of our arms does not hold."""
    options = _arguments(argv)
    print(f'{options.poses} reachable poses for each arm, random seed {options.seed}, one core.', flush=True)
    if hasattr(os, 'sched_setaffinity'):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    peers = [peer for peer in PEERS if peer.available()]
    for peer in PEERS:
        print(f'  {peer.name}: {peer.__doc__ if peer in peers else f"absent; to have it: {peer.install}"}')
    warm_up()
    rows = []
    for name in options.robots or (*robot_names(), *OTHERS):
        rows.append(measure(name, peers, options.poses, options.seed))
        print(f'  measured {name}', file=sys.stderr, flush=True)
    print(table(rows, [peer.name for peer in peers]))
    shortfalls = [text for row in rows for text in _shortfalls(row)]
    print('\n'.join(shortfalls) if shortfalls else 'All that is expected holds.')
    return 1 if shortfalls else 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog='lfd bench robots', description='Inverse kinematics, ours and others.')
    parser.add_argument('--poses', type=int, default=POSES, help=f'poses for each arm (default {POSES})')
    parser.add_argument('--seed', type=int, default=SEED, help=f'random seed (default {SEED})')
    parser.add_argument(
        'robots', nargs='*', metavar='ROBOT', help=f'arms to measure: {", ".join((*robot_names(), *EXAMPLES))}'
    )
    options = parser.parse_args(argv)
    if options.poses < 1:
        parser.error('--poses must be at least 1')
    for name in options.robots:
        if name not in robot_names() and name not in EXAMPLES:
            parser.error(f"there is no arm '{name}'")
    return options


def measure(name: str, peers: Sequence[type[Peer]], number: int, seed: int) -> Row:
    """One arm, all solvers, some poses each in turn so that a busy moment of the machine hits all of them."""
    arm = shipped_arm(name) if name in robot_names() else example_arm(name)
    solver = make_solver(arm.tree, arm.base, arm.tip, numeric=NumericOptions(solutions=1))
    poses = solver.chain.poses(_random_positions(solver, number, seed))
    solvers: dict[str, Solve] = {'ours': solver.solve, **_peer_solvers(peers, arm, solver)}
    measured = _measure_in_turn(solvers, poses, solver)
    return Row(
        robot=name,
        family=solver.family.name,
        build=model_build_time(name) if name in robot_names() else None,
        ours=measured.pop('ours'),
        batched=_batched_rate(solver, poses),
        peers=measured,
    )


def _peer_solvers(peers: Sequence[type[Peer]], arm: TestArm, solver: IkSolver) -> dict[str, Solve]:
    made = {peer.name: peer.make(arm, solver) for peer in peers}
    return {name: solve for name, solve in made.items() if solve is not None}


def _random_positions(solver: IkSolver, number: int, seed: int) -> Array:
    lower = np.where(np.isfinite(solver.lower), solver.lower, -math.pi)
    upper = np.where(np.isfinite(solver.upper), solver.upper, math.pi)
    return np.random.default_rng(seed).uniform(lower, upper, (number, len(solver.joints)))


def _measure_in_turn(solvers: dict[str, Solve], poses: Array, solver: IkSolver) -> dict[str, Measured]:
    times: dict[str, list[float]] = {name: [] for name in solvers}
    unsolved = dict.fromkeys(solvers, 0)
    for start in range(0, len(poses), _TURN):
        block = poses[start : start + _TURN]
        for name, solve in solvers.items():
            answers = _timed(solve, block, times[name])
            unsolved[name] += sum(not _reaches(q, pose, solver) for q, pose in zip(answers, block, strict=True))
    return {name: Measured(1.0 / float(np.median(times[name])), unsolved[name] / len(poses)) for name in solvers}


def _timed(solve: Solve, poses: Array, times: list[float]) -> list[Array]:
    """The answers for some poses, one call for each; appends the calls' times [s]."""
    answers = []
    for pose in poses:
        start = perf_counter()
        answers.append(solve(pose))
        times.append(perf_counter() - start)
    return answers


def _reaches(q: Array, pose: Array, solver: IkSolver) -> bool:
    q = q[np.isfinite(q).all(axis=1)]
    if not len(q):
        return False
    way, turn = pose_errors(solver.chain.poses(q), np.tile(pose, (len(q), 1, 1)))
    return bool(((way < REACHED) & (turn < REACHED)).any())


def _batched_rate(solver: IkSolver, poses: Array) -> float:
    """Poses per second of one core's time, the median of a few batches of at least a tenth of a second's work."""
    many = np.tile(poses, (max(1, 20_000 // len(poses)), 1, 1)) if solver.family.analytic else poses
    times = []
    for _ in range(5):
        start = process_time()
        solver.solve_batch(many)
        times.append(process_time() - start)
    return len(many) / float(np.median(times))


def table(rows: Sequence[Row], peers: Sequence[str]) -> str:
    """The rows as text, columns under their titles."""
    titles = ['robot', 'family', 'build', 'single/s', 'batched/s', 'unsolved']
    for peer in peers:
        titles += [f'{peer}/s', 'ratio', 'unsolved']
    lines = [titles] + [_cells(row, peers) for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(titles))]
    return '\n'.join('  '.join(_aligned(line, widths)) for line in lines)


def _aligned(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    """Names to the left, numbers to the right."""
    return [
        cell.ljust(width) if i < 2 else cell.rjust(width)
        for i, (cell, width) in enumerate(zip(line, widths, strict=True))
    ]


def _cells(row: Row, peers: Sequence[str]) -> list[str]:
    cells = [row.robot, row.family, '-' if row.build is None else f'{row.build:.2f} s']
    cells += [f'{row.ours.rate:,.0f}', f'{row.batched:,.0f}', f'{row.ours.unsolved:.2%}']
    for peer in peers:
        if peer in row.peers:
            measured = row.peers[peer]
            cells += [f'{measured.rate:,.0f}', f'{row.ratio(peer):.1f}x', f'{measured.unsolved:.2%}']
        else:
            cells += ['-', '-', '-']
    return cells


def _shortfalls(row: Row) -> list[str]:
    analytic = row.family != 'numeric'
    allowed = 0.0 if analytic else EXPECTED_UNSOLVED
    found = []
    if row.ours.unsolved > allowed:
        found.append(f'{row.robot}: {row.ours.unsolved:.2%} of the poses are unsolved, {allowed:.2%} are allowed.')
    if analytic and row.batched < EXPECTED_RATE:
        found.append(f'{row.robot}: {row.batched:,.0f} batched poses/s, {EXPECTED_RATE:,.0f} are expected.')
    for peer in ('TRAC-IK', 'KDL'):
        if analytic and peer in row.peers and row.ratio(peer) < EXPECTED_RATIO:
            found.append(f'{row.robot}: {row.ratio(peer):.1f}x {peer}, {EXPECTED_RATIO:.0f}x is expected.')
    return found


if __name__ == '__main__':
    sys.exit(main())
