"""How fast, how surely and how well tasks are planned: `./lfd bench planner`.

Ours and a peer of stock parts (`support.stock_peer`: OMPL, pinocchio, coal, TOPP-RA) get the same robots, scenes, tasks
and grasps in one run. Every motion of ours goes through the independent validator.

========  ==============================================================================================================
stack     the recorded demonstration, eight keyframes: time to the first solution, split by stage
random    tabletop tasks, two to six objects among clutter: solved, times, and what the peer solves and ours does not
scaling   4 to 64 pick and place pairs: time for each pair, and memory
quality   how long and how far the arms move, against the peer and against the least time that the same path allows
hopeless  tasks that nobody can do: how soon they are refused, against similar ones that can be done
========  ==============================================================================================================

Times are of one thread's CPU, because machines are shared; trust the ratios.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median

# The benchmark is run as a program; what it shares with the tests lies beside its folder.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from benchmarks import planner_plots
from benchmarks.planner_hopeless import hopeless_row
from benchmarks.planner_measure import Budget, Record, Run, random_record, record, run_ours, run_peer
from benchmarks.planner_tasks import REACH, long_task, seed_stack

from lfd_description.files import write_atomically
from lfd_planner.warm_up import warm_up

PARTS = ('stack', 'random', 'scaling', 'quality', 'hopeless')
SEED = 20261116
TASKS = 100
PEER_TASKS = 20
ROUNDS = 5
PAIRS = (4, 8, 16, 32, 64)
LONG_ROUNDS = 3
QUALITY_TASKS = 4
EXPECTED_RATIO = 20.0  # to the peer, first solution of the stack
EXPECTED_FLAT = 1.25  # slowest pair to fastest pair, over all numbers of pairs
EXPECTED_MEMORY = 1.10  # largest peak to smallest
EXPECTED_REFUSAL = 2.0  # times as long as a similar task that can be done
EXAMPLE = 'example: ./lfd bench planner --part random --arms ur5e --tasks 10 --peer-tasks 5 --out /tmp/bench'

Data = dict[str, object]
Shortfalls = list[str]
Job = tuple[str, int, Budget, bool]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, write, and give 1 if something that is expected does not hold."""
    options = _arguments(argv)
    out = Path(options.out or tempfile.mkdtemp(prefix='lfd-bench-'))
    out.mkdir(parents=True, exist_ok=True)
    warm_up()
    bench = Bench(options)
    shortfalls: Shortfalls = []
    for part in options.part or PARTS:
        print(f'\n{part}', flush=True)
        data, missing = bench.parts[part]()
        shortfalls += missing
        file = out / f'planner_{part}.json'
        write_atomically(file, json.dumps({'part': part, 'seed': options.seed, **data}, indent=1) + '\n')
        print(f'  written to {file}')
        if options.plots:
            print(f'  drawn to {planner_plots.draw(part, data, Path(options.plots))}')
    print('\n' + ('\n'.join(shortfalls) if shortfalls else 'All that is expected holds.'))
    return 1 if shortfalls else 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog='lfd bench planner', description='Task planning, ours and a peer of stock parts.', epilog=EXAMPLE
    )
    add = parser.add_argument
    add('--part', nargs='+', choices=PARTS, help='what to measure (default: all parts)')
    add('--arms', nargs='+', choices=tuple(REACH), default=list(REACH), help='(default: all three)')
    add('--tasks', type=int, default=TASKS, help=f'random tasks, and crowds, for each arm (default {TASKS})')
    add(
        '--peer-tasks',
        type=int,
        default=PEER_TASKS,
        help=f'tasks that the peer gets at least (default {PEER_TASKS})',
    )
    add('--peer-budget', type=float, default=Budget.seconds, help='of the peer for one task [s] (default 20)')
    add(
        '--peer-step',
        type=float,
        default=Budget.step,
        help=f'[rad] between states the peer checks (default {Budget.step})',
    )
    add('--rounds', type=int, default=ROUNDS, help=f'repetitions of the stack (default {ROUNDS})')
    add('--pairs', type=int, nargs='+', default=list(PAIRS), help='numbers of pairs (default 4 8 16 32 64)')
    add('--seed', type=int, default=SEED, help=f'of the first random task; the others follow (default {SEED})')
    add('--jobs', type=int, default=min(2, os.cpu_count() or 1), help='processes for random tasks (default 2)')
    add('--out', metavar='DIR', help='where the JSON files go (default: a new temporary folder)')
    add('--plots', metavar='DIR', help='where figures go (default: none are drawn)')
    options = parser.parse_args(argv)
    for name in ('tasks', 'rounds', 'jobs', 'seed'):
        if getattr(options, name) < 1:
            parser.error(f'--{name} must be at least 1')
    if options.peer_tasks < 0 or min(options.pairs) < 1 or min(options.peer_budget, options.peer_step) <= 0.0:
        parser.error('--peer-tasks must not be negative; --pairs, --peer-budget and --peer-step must be positive')
    return options


class Bench:
    """The parts of the benchmark; what one has measured another may use."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.arms: list[str] = options.arms
        self.budget = Budget(options.peer_budget, options.peer_step)
        self.records: list[Record] = []
        self.parts: dict[str, Callable[[], tuple[Data, Shortfalls]]] = {
            'stack': self.stack,
            'random': self.random,
            'scaling': self.scaling,
            'quality': self.quality,
            'hopeless': self.hopeless,
        }

    def stack(self) -> tuple[Data, Shortfalls]:
        """The recorded demonstration."""
        rows, shortfalls = [], []
        for robot in self.arms:
            ours, peer = self._stack_runs(robot)
            fast, slow = median(run.seconds for run in ours), median(run.seconds for run in peer)
            ratio = slow / fast
            rows.append(
                {
                    'robot': robot,
                    'ours': fast,
                    'peer': slow,
                    'ratio': ratio,
                    'runs': [run.seconds for run in ours],
                    'peer_runs': [run.seconds for run in peer],
                    'split': _median_split(ours),
                    'peer_split': _median_split(peer),
                    'solved': all(run.solved for run in ours),
                    'peer_solved': all(run.solved for run in peer),
                    'valid': not any(run.faults for run in ours),
                }
            )
            print(f'  {robot:8} ours {1e3 * fast:6.0f} ms   peer {1e3 * slow:6.0f} ms   {ratio:5.1f}x', flush=True)
            if ratio < EXPECTED_RATIO:
                shortfalls.append(f'stack, {robot}: {ratio:.1f}x the peer, {EXPECTED_RATIO:.0f}x is expected.')
            shortfalls += _bad_runs(f'stack, {robot}', ours)
        _print_splits(rows)
        return {'rows': rows, 'step': self.budget.step}, shortfalls

    def _stack_runs(self, robot: str) -> tuple[list[Run], list[Run]]:
        """Ours and the peer turn by turn; ours with a planner and grasps that it has not seen before."""
        task, ours, peer = seed_stack(), [], []
        run_ours(robot, task, judge=False)  # compiled code is loaded
        for number in range(1, self.options.rounds + 1):
            ours.append(run_ours(robot, task, seed=number, fresh=True))
            if number <= max(1, self.options.rounds // 2):
                peer.append(run_peer(robot, task, self.budget))
        return ours, peer

    def random(self) -> tuple[Data, Shortfalls]:
        """Tabletop tasks."""
        seeds = range(self.options.seed, self.options.seed + self.options.tasks)
        with_peer = min(self.options.peer_tasks, len(seeds))
        print(f'  {len(seeds)} tasks for each arm, seeds {seeds[0]} to {seeds[-1]}')
        print(f'  the peer gets the first {with_peer}, and all that ours does not solve', flush=True)
        jobs = [
            (robot, seed, self.budget, number < with_peer) for number, seed in enumerate(seeds) for robot in self.arms
        ]
        self.records = list(self._measured(jobs))
        rows = [_random_row([one for one in self.records if one.robot == robot]) for robot in self.arms]
        _print_random(rows)
        missed = [f'{one.task}: {one.ours.why}' for one in self.records if one.missed]
        failed = [f'{one.task}: {one.ours.why}' for one in self.records if not one.ours.solved]
        shortfalls = [f'random, the peer solves it and ours does not: {text}' for text in missed]
        for one in self.records:
            shortfalls += _bad_runs(f'random, {one.task}', [one.ours], solved=False)
        data = {'rows': rows, 'missed': missed, 'failed': failed, 'records': [one.data() for one in self.records]}
        return data, shortfalls

    def _measured(self, jobs: list[Job]) -> Iterator[Record]:
        """Records of random tasks; a line now and then says how far it is."""
        for number, one in enumerate(self._records(jobs), 1):
            if not one.ours.solved:
                print(f'  {one.task}: {one.ours.why}', flush=True)
            if number % 10 == 0:
                print(f'  {number} of {len(jobs)} tasks', file=sys.stderr, flush=True)
            yield one

    def _records(self, jobs: list[Job]) -> Iterator[Record]:
        """The records one by one, made by several processes if that was asked for."""
        if self.options.jobs == 1:
            yield from map(_apply, jobs)
            return
        context = multiprocessing.get_context('spawn')
        with ProcessPoolExecutor(self.options.jobs, context, initializer=warm_up) as pool:
            yield from pool.map(_apply, jobs)

    def scaling(self) -> tuple[Data, Shortfalls]:
        """Long tasks."""
        rows, shortfalls = [], []
        for robot in self.arms:
            run_ours(robot, long_task(min(self.options.pairs)), judge=False)  # compiled code is loaded
            found = _long_runs(robot, self.options.pairs)
            times, peaks = [row['per_pair'] for row in found], [row['peak'] for row in found]
            flat, memory = max(times) / min(times), max(peaks) / min(peaks)
            rows.append({'robot': robot, 'rows': found, 'flat': flat, 'memory': memory})
            told = '  '.join(f'{row["pairs"]}: {1e3 * row["per_pair"]:.1f} ms' for row in found)
            print(f'  {robot:8} {told}   slowest / fastest {flat:.2f}, memory {memory:.2f}', flush=True)
            if not all(row['solved'] for row in found):
                shortfalls.append(f'scaling, {robot}: not all are solved.')
            if flat > EXPECTED_FLAT:
                shortfalls.append(f'scaling, {robot}: {flat:.2f} slowest to fastest, {EXPECTED_FLAT} is expected.')
            if memory > EXPECTED_MEMORY:
                shortfalls.append(f'scaling, {robot}: {memory:.2f} in memory, {EXPECTED_MEMORY} is expected.')
        return {'rows': rows}, shortfalls

    def quality(self) -> tuple[Data, Shortfalls]:
        """How well the arms move."""
        rows, shortfalls = [], []
        for robot in self.arms:
            both = [one for one in self.records if one.robot == robot and _both(one)]
            if not both:
                seeds = range(self.options.seed, self.options.seed + min(QUALITY_TASKS, self.options.tasks))
                both = [one for one in (random_record(robot, seed, self.budget) for seed in seeds) if _both(one)]
            both.insert(0, record(robot, seed_stack(), self.budget))
            row = _quality_row(robot, [one for one in both if _both(one)])
            rows.append(row)
            print(
                f'  {robot:8} {row["tasks"]:3} tasks   cycle time {row["cycle"]:.2f} of the peer   joint path '
                f'{row["length"]:.2f} of the peer   {row["bound"]:.3f} of the least time of the same path',
                flush=True,
            )
            if row['cycle'] > 1.0:
                shortfalls.append(f'quality, {robot}: motions take {row["cycle"]:.2f} of the time of the peer.')
        return {'rows': rows}, shortfalls

    def hopeless(self) -> tuple[Data, Shortfalls]:
        """What cannot be done."""
        rows, shortfalls = [], []
        seeds = range(self.options.seed, self.options.seed + self.options.tasks)
        for robot in self.arms:
            row = hopeless_row(robot, seeds)
            rows.append(row)
            print(
                f'  {robot:8} {len(row["named"])} named cases: {row["worst_named"]:.2f} of a similar task at most   '
                f'{len(row["refused"])} of {len(seeds)} crowds refused: {row["median_refused"]:.2f} of a solved one, '
                f'{row["worst_refused"]:.2f} at most',
                flush=True,
            )
            shortfalls += _bad_refusals(robot, row)
        return {'rows': rows}, shortfalls


def _bad_refusals(robot: str, row: dict) -> Shortfalls:
    found = []
    for refusal in (*row['named'], *row['refused']):
        what = f'hopeless, {robot}, {refusal["name"]}'
        if not refusal['why']:
            found.append(f'{what}: it is not refused.')
        if refusal['similar_why']:
            found.append(f'{what}: the similar one fails, {refusal["similar_why"]}')
        if refusal['ratio'] > EXPECTED_REFUSAL:
            found.append(f'{what}: {refusal["ratio"]:.2f} of a similar task, {EXPECTED_REFUSAL} is expected.')
    return found


def _apply(job: Job) -> Record:
    return random_record(*job)


def _bad_runs(what: str, runs: Sequence[Run], *, solved: bool = True) -> Shortfalls:
    found = [f'{what}: not solved, {run.why}' for run in runs if solved and not run.solved]
    return found + [f'{what}: the validator refuses it: {run.faults[0]}' for run in runs if run.faults]


def _median_split(runs: Sequence[Run]) -> dict[str, float]:
    names = dict.fromkeys(name for run in runs for name in run.split)
    return {name: median(run.split.get(name, 0.0) for run in runs) for name in names}


def _print_splits(rows: Sequence[dict]) -> None:
    for who, key in (('ours', 'split'), ('peer', 'peer_split')):
        names = sorted({name for row in rows for name in row[key]}, key=lambda name: -rows[0][key].get(name, 0.0))
        print(f'  {who + " [ms]":16}' + ''.join(f'{row["robot"]:>10}' for row in rows))
        for name in names:
            print(f'    {name:14}' + ''.join(f'{1e3 * row[key].get(name, 0.0):10.1f}' for row in rows))


def _random_row(records: Sequence[Record]) -> dict:
    """One arm's random tasks in figures; cycle times are of the tasks that both solve."""
    solved = [one for one in records if one.ours.solved]
    peers = [one for one in records if one.peer is not None and one.sampled]
    shared = [one for one in peers if _both(one)]
    return {
        'robot': records[0].robot,
        'tasks': len(records),
        'solved': len(solved),
        'valid': sum(not one.ours.faults for one in solved),
        'median': _percentile([one.ours.seconds for one in records], 50),
        'p95': _percentile([one.ours.seconds for one in records], 95),
        'per_pair': _percentile([one.ours.seconds / max(one.pairs, 1) for one in solved], 50),
        'cycle': _percentile([one.ours.cycle for one in shared], 50),
        'peer_tasks': len(peers),
        'peer_solved': sum(one.peer.solved for one in peers),
        'peer_free': sum(one.peer.solved and not one.peer.faults for one in peers),
        'ours_of_peers': sum(one.ours.solved for one in peers),
        'peer_median': _percentile([one.peer.seconds for one in peers], 50),
        'peer_p95': _percentile([one.peer.seconds for one in peers], 95),
        'peer_cycle': _percentile([one.peer.cycle for one in shared], 50),
        'ratio': _percentile([one.peer.seconds / one.ours.seconds for one in shared], 50),
    }


def _print_random(rows: Sequence[dict]) -> None:
    print('                    tasks  solved   valid   median      p95    cycle')
    for row in rows:
        print(
            f'  {row["robot"]:8} ours   {row["tasks"]:6} {row["solved"]:7} {row["valid"]:7} '
            f'{1e3 * row["median"]:6.0f} ms {1e3 * row["p95"]:5.0f} ms {row["cycle"]:6.1f} s   '
            f'{1e3 * row["per_pair"]:.0f} ms for each pair'
        )
        print(
            f'  {"":8} peer   {row["peer_tasks"]:6} {row["peer_solved"]:7} {row["peer_free"]:7} '
            f'{1e3 * row["peer_median"]:6.0f} ms {1e3 * row["peer_p95"]:5.0f} ms {row["peer_cycle"]:6.1f} s   '
            f'{row["ratio"]:.0f}x the time of ours; ours solves {row["ours_of_peers"]} of these'
        )


def _percentile(values: Sequence[float], share: float) -> float:
    return float(np.percentile(values, share)) if values else 0.0


def _both(one: Record) -> bool:
    return one.ours.solved and one.peer is not None and one.peer.solved


def _quality_row(robot: str, records: Sequence[Record]) -> dict:
    def middle(ratios: Iterable[float]) -> float:
        return _percentile(list(ratios), 50)

    return {
        'robot': robot,
        'tasks': len(records),
        'cycle': middle(one.ours.cycle / one.peer.cycle for one in records),
        'length': middle(one.ours.length / one.peer.length for one in records),
        'bound': middle(one.ours.cycle / one.ours.bound for one in records),
        'peer_bound': middle(one.peer.cycle / one.peer.bound for one in records),
        'cycles': [[one.ours.bound, one.ours.cycle, one.peer.cycle] for one in records],
        'lengths': [[one.ours.length, one.peer.length] for one in records],
        'names': [one.task for one in records],
    }


def _long_runs(robot: str, sizes: Sequence[int]) -> list[dict]:
    """All sizes turn by turn, so that a busy moment of the machine hits all of them; the fastest of each counts.

    The process's largest memory [MB] is read after each size of the first round, the smallest first.
    """
    runs: dict[int, list[Run]] = {pairs: [] for pairs in sorted(sizes)}
    peaks: dict[int, float] = {}
    for _ in range(LONG_ROUNDS):
        for pairs, found in runs.items():
            found.append(run_ours(robot, long_task(pairs), judge=False))
            peaks.setdefault(pairs, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0)
    return [
        {
            'pairs': pairs,
            'per_pair': min(run.seconds for run in found) / pairs,
            'peak': peaks[pairs],
            'solved': all(run.solved for run in found),
        }
        for pairs, found in runs.items()
    ]


if __name__ == '__main__':
    sys.exit(main())
