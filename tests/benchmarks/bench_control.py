"""How evenly, how soon and how cheaply arms are controlled: `./lfd bench control`.

Every arm is a real ros2_control_node process with the controllers of its robot, and robot_state_publisher hears its
joint states. UR, ABB and Motoman arms are simulated controllers in other processes that speak the vendors' protocols.

=======  ===============================================================================================================
period   time from one cycle of the update loop to the next, at 125, 250 and 500 Hz, idle and while a planner works
latency  from the goal that an action client sends over DDS to the first set-point that differs, at the controller
cpu      what ros2_control_node takes of a core for one arm, which holds still and which moves
three    three controller managers at once
=======  ===============================================================================================================

Two peers in the same run: a bare loop in Python that only sleeps on the same grid (floor), and the control loop of
ur-rtde, a client in C++ without trajectories, limits or ROS. Machines are shared; trust the ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import count
from pathlib import Path

# The benchmark is run as a program; what it shares with the tests lies beside its folder.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from benchmarks import control_plots
from benchmarks.control_cell import ARMS, Arm, Array, PeerLoop, Planners, RunningArm, Window, first_changes
from benchmarks.control_robot import PATIENCE
from support.peer import Peer

from lfd_bringup.domain import claim_free
from lfd_description.files import write_atomically

PARTS = ('period', 'latency', 'cpu', 'three')
RATES = (125, 250, 500)  # [Hz]
SECONDS = 3.0
GOALS = 16
PLANNERS = 1
SEED = 20261116
LOADS = ('idle', 'planner')
FASTEST = 500  # [Hz] at which ur-rtde servos
SETTLE = 0.3  # [s] after a start or a change of load
PAUSE = (0.02, 0.06)  # [s] between two goals, so that they come at any time of a cycle
EXPECTED_MEDIAN = 0.02  # of the period, by which its median may differ
EXPECTED_MISSED = {'idle': 0.02, 'planner': 0.05}  # of all cycles, more than the floor
# [s] median, idle. A Motoman gets a point for every 0.04 s, and the first one when the commands for it have come.
EXPECTED_LATENCY = {'ur': 0.020, 'abb': 0.020, 'ur-rtde': 0.020, 'motoman': 0.100}
EXPECTED_CPU = 0.5  # of a core, for one arm
EXPECTED_THREE = 1.25  # CPU of three arms to three times that of one
EXAMPLE = 'example: ./lfd bench control --part period --rates 500 --seconds 10 --out /tmp/bench'

Data = dict[str, object]
Shortfalls = list[str]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, write, and give 1 if something that is expected does not hold."""
    options = _arguments(argv)
    out = Path(options.out or tempfile.mkdtemp(prefix='lfd-bench-'))
    out.mkdir(parents=True, exist_ok=True)
    print(f'{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start; planners as load: {options.planners}')
    print(f'state_limit, robot_receive_timeout and the like are {PATIENCE:g} s: a busy machine must end no measurement')
    shortfalls: Shortfalls = []
    with ExitStack() as stack:
        bench = Bench(options, stack)
        for part in options.part or PARTS:
            print(f'\n{part}', flush=True)
            data, missing = bench.parts[part]()
            shortfalls += missing
            file = out / f'control_{part}.json'
            write_atomically(file, json.dumps({'part': part, 'cores': os.cpu_count(), **data}, indent=1) + '\n')
            print(f'  written to {file}')
            if options.plots:
                print(f'  drawn to {control_plots.draw(part, data, Path(options.plots))}')
    print('\n' + ('\n'.join(shortfalls) if shortfalls else 'All that is expected holds.'))
    return 1 if shortfalls else 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog='lfd bench control', description='The control of arms, ours and two peers.', epilog=EXAMPLE
    )
    add = parser.add_argument
    add('--part', nargs='+', choices=PARTS, help='what to measure (default: all parts)')
    add('--rates', nargs='+', type=int, default=list(RATES), metavar='HZ', help='of the loop (default 125 250 500)')
    add('--arms', nargs='+', choices=tuple(ARMS), default=list(ARMS), help='for latency and cpu (default: all)')
    add('--seconds', type=float, default=SECONDS, help=f'of each measurement [s] (default {SECONDS:g})')
    add('--goals', type=int, default=GOALS, help=f'for each latency (default {GOALS})')
    add('--planners', type=int, default=PLANNERS, help=f'processes that plan as load (default {PLANNERS})')
    add('--seed', type=int, default=SEED, help=f'of the pauses between goals (default {SEED})')
    add('--out', metavar='DIR', help='where the JSON files go (default: a new temporary folder)')
    add('--plots', metavar='DIR', help='where figures go (default: none are drawn)')
    options = parser.parse_args(argv)
    if min(options.goals, options.planners) < 1:
        parser.error('--goals and --planners must be at least 1')
    if not all(1 <= rate <= 1000 for rate in options.rates):
        parser.error('--rates must be from 1 to 1000 Hz')
    if not 0.5 <= options.seconds <= 600.0:
        parser.error('--seconds must be from 0.5 to 600')
    return options


class Bench:
    """The parts of the benchmark; the planners that are the load are shared."""

    def __init__(self, options: argparse.Namespace, stack: ExitStack) -> None:
        self.options = options
        self.random = random.Random(options.seed)
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix='lfd-bench-control-')))
        self.peer = Peer('bench_control', stack.enter_context(claim_free()).number)
        stack.callback(self.peer.close)
        self.planners = Planners(options.planners)
        stack.callback(self.planners.stop)
        self.parts: dict[str, Callable[[], tuple[Data, Shortfalls]]] = {
            'period': self.period,
            'latency': self.latency,
            'cpu': self.cpu,
            'three': self.three,
        }

    # The period of the loop

    def period(self) -> tuple[Data, Shortfalls]:
        """Ours on mock hardware, and at the highest rate ur-rtde; the floor runs beside each, in the same seconds."""
        rows = []
        print('                             p50      p99      max [ms]   missed   p99, max to the floor   busy cores')
        for rate in self.options.rates:
            for who in ('lfd', 'ur-rtde') if rate == FASTEST else ('lfd',):
                found = self._periods(who, rate)
                _print_periods(found)
                rows += found
        return {'rows': rows, 'seconds': self.options.seconds}, _period_shortfalls(rows)

    def _periods(self, who: str, rate: int) -> list[dict]:
        floor = PeerLoop('floor', rate, self.folder)
        try:
            ours = who == 'lfd'
            loop = self._arm(replace(ARMS['mock'], rate=rate)) if ours else PeerLoop('rtde', rate, self.folder)
            try:
                windows = self._windows(loop.pid, floor.pid)
                stamps = loop.end()[0]
            finally:
                loop.stop()
            floors = floor.end()[0]
        finally:
            floor.stop()
        rows = []
        for load, window in windows.items():
            common = {'rate': rate, 'load': load, 'beside': who}
            durations = _durations(window, stamps) if ours else {}
            rows.append({**common, 'who': who, **_spread(window, stamps, rate), **durations})
            rows.append({**common, 'who': 'floor', **_spread(replace(window, cpu=window.cpu[1:]), floors, rate)})
        return rows

    def _windows(self, *pids: int) -> dict[str, Window]:
        """A measurement for each load."""
        windows = {}
        for load in LOADS:
            with self.planners.working(load != 'idle'):
                time.sleep(SETTLE)
                windows[load] = self.planners.watch(self.options.seconds, pids)
        return windows

    # Command latency

    def latency(self) -> tuple[Data, Shortfalls]:
        """Goals at any time of a cycle; those of the peer are calls of its library, without DDS and trajectory."""
        rows = []
        print(f'  {self.options.goals} goals each     p50      p99      max [ms]   goal accepted p50')
        for name in ('ur', 'abb', 'motoman'):
            if name in self.options.arms:
                rows += self._our_latencies(name)
        if 'ur' in self.options.arms:
            rows += self._peer_latencies()
        peers = {row['load']: row['p50'] for row in rows if row['who'] == 'ur-rtde'}
        for row in rows:
            row['ratio'] = row['p50'] / peers[row['load']] if row['who'] == 'ur' else None
            told = '' if row['accepted'] is None else f'   {1e3 * row["accepted"]:8.1f}'
            ratio = '' if row['ratio'] is None else f'   {row["ratio"]:.1f}x ur-rtde'
            print(f'  {row["who"]:8} {row["load"]:8}{_three_times(row)}{told}{ratio}')
        shortfalls = [
            f'latency, {row["who"]}: {1e3 * row["p50"]:.1f} ms at p50, {1e3 * EXPECTED_LATENCY[row["who"]]:.0f} are '
            'expected.'
            for row in rows
            if row['load'] == 'idle' and row['p50'] > EXPECTED_LATENCY[row['who']]
        ]
        shortfalls += [
            f'latency, {row["who"]}, {row["load"]}: {row["lost"]} goals moved nothing.' for row in rows if row['lost']
        ]
        return {'rows': rows}, shortfalls

    def _our_latencies(self, name: str) -> list[dict]:
        arm = self._arm(ARMS[name])
        try:
            times, numbers = {}, count()  # every other motion goes back
            for load in LOADS:
                with self.planners.working(load != 'idle'):
                    time.sleep(SETTLE)
                    times[load] = [self._nudge(arm, next(numbers)) for _ in range(self.options.goals)]
            _, told = arm.end()
        finally:
            arm.stop()
        assert told is not None
        return [_latency_row(name, load, told, times[load]) for load in LOADS]

    def _nudge(self, arm: RunningArm, number: int) -> tuple[float, float]:
        sent, accepted, _ = arm.nudge(number)
        time.sleep(self.random.uniform(*PAUSE))
        return sent, accepted

    def _peer_latencies(self) -> list[dict]:
        loop = PeerLoop('rtde', FASTEST, self.folder)
        spans: dict[str, tuple[float, float]] = {}
        try:
            for load in LOADS:
                with self.planners.working(load != 'idle'):
                    time.sleep(SETTLE)
                    begin = time.monotonic()
                    for _ in range(self.options.goals):
                        loop.ask()
                        time.sleep(0.05 + self.random.uniform(*PAUSE))
                    spans[load] = begin, time.monotonic()
            _, calls, told = loop.end()
        finally:
            loop.stop()
        return [
            _latency_row('ur-rtde', load, told, [(at, None) for at in calls if begin <= at <= end])
            for load, (begin, end) in spans.items()
        ]

    # CPU

    def cpu(self) -> tuple[Data, Shortfalls]:
        """Each arm alone at the rate of its controller, then the loop of ur-rtde."""
        rows = []
        print('                      hold      move  of a core   for a cycle   busy cores')
        for name in self.options.arms:
            rows.append(self._our_cpu(name, ARMS[name]))
            _print_cpu(rows[-1])
        if 'ur' in self.options.arms:
            rows.append(self._peer_cpu())
            _print_cpu(rows[-1])
            ours = next(row for row in rows if row['who'] == 'ur')
            print(f'  for a cycle, ur / ur-rtde {ours["per_cycle"] / rows[-1]["per_cycle"]:.2f}x')
        shortfalls = [
            f'cpu, {row["who"]}: {row["move"]:.2f} of a core while it moves, {EXPECTED_CPU} is expected.'
            for row in rows
            if row['who'] != 'ur-rtde' and row['move'] > EXPECTED_CPU
        ]
        return {'rows': rows}, shortfalls

    def _our_cpu(self, name: str, kind: Arm) -> dict:
        arm = self._arm(kind)
        try:
            hold, move = self._hold_and_move([arm])
            cycles, _ = arm.end()
        finally:
            arm.stop()
        return _cpu_row(name, kind.rate, hold, move, cycles[:, 0])

    def _peer_cpu(self) -> dict:
        loop = PeerLoop('rtde', FASTEST, self.folder)
        try:
            time.sleep(SETTLE)
            window = self.planners.watch(self.options.seconds, [loop.pid])
            stamps, _, _ = loop.end()
        finally:
            loop.stop()
        return _cpu_row('ur-rtde', FASTEST, window, window, stamps)

    def _hold_and_move(self, arms: Sequence[RunningArm]) -> tuple[Window, Window]:
        pids = [arm.pid for arm in arms]
        time.sleep(SETTLE)
        hold = self.planners.watch(self.options.seconds, pids)
        motions = [arm.swing(self.options.seconds + 2.0 * SETTLE) for arm in arms]
        time.sleep(SETTLE)
        move = self.planners.watch(self.options.seconds, pids)
        for arm, motion in zip(arms, motions, strict=True):
            arm.finish(motion)
        return hold, move

    # Three at once

    def three(self) -> tuple[Data, Shortfalls]:
        """One arm on mock hardware, then three; and the three makers' arms with their simulated controllers."""
        sets = {
            'one': [ARMS['mock']],
            'three': [ARMS['mock']] * 3,
            'three makers': [ARMS['ur'], ARMS['abb'], ARMS['motoman']],
        }
        rows = []
        print('  all move                   p50      p99      max [ms]   missed   of a core   for a cycle   busy cores')
        for title, kinds in sets.items():
            for row in self._at_once(kinds):
                rows.append({'set': title, **row})
                print(
                    f'  {title:13} {row["driver"]:8} {row["rate"]}{_three_times(row)}   {100 * row["missed"]:6.1f}%'
                    f'   {row["cpu"]:6.2f}         {1e6 * row["per_cycle"]:6.0f} us   {row["busy"]:6.1f}',
                    flush=True,
                )
        one = next(row['per_cycle'] for row in rows if row['set'] == 'one')
        ratio = sum(row['per_cycle'] for row in rows if row['set'] == 'three' and row['driver'] == 'mock') / (3.0 * one)
        print(f'  for a cycle, three arms take {ratio:.2f} of three times the CPU of one')
        floors = {row['set']: row for row in rows if row['driver'] == 'floor'}
        shortfalls: Shortfalls = []
        for row in rows:
            if row['driver'] != 'floor':
                what = f'three, {row["set"]}, {row["driver"]}'
                shortfalls += _even_shortfalls(what, row, floors[row['set']], EXPECTED_MISSED['planner'])
        if ratio > EXPECTED_THREE:
            shortfalls.append(f'three: {ratio:.2f} of three times the CPU of one, {EXPECTED_THREE} is expected.')
        return {'rows': rows, 'ratio': ratio}, shortfalls

    def _at_once(self, kinds: Sequence[Arm]) -> list[dict]:
        """The arms, and the floor beside them."""
        arms: list[RunningArm] = []
        floor = PeerLoop('floor', FASTEST, self.folder)
        try:
            for number, kind in enumerate(kinds):
                arms.append(RunningArm(kind, self.peer, self.folder, f'/arm_{number}'))
            for arm in arms:
                arm.wait()
            motions = [arm.swing(self.options.seconds + 2.0 * SETTLE) for arm in arms]
            time.sleep(SETTLE)
            window = self.planners.watch(self.options.seconds, [*(arm.pid for arm in arms), floor.pid])
            for arm, motion in zip(arms, motions, strict=True):
                arm.finish(motion)
            cycles = [arm.end()[0] for arm in arms]
            floors = floor.end()[0]
        finally:
            for loop in (*arms, floor):
                loop.stop()
        rows = [
            {'driver': kind.driver, 'rate': kind.rate, **_spread(replace(window, cpu=(cpu,)), each, kind.rate)}
            for kind, each, cpu in zip(kinds, cycles, window.cpu, strict=False)
        ]
        last = replace(window, cpu=window.cpu[-1:])
        return [*rows, {'driver': 'floor', 'rate': FASTEST, **_spread(last, floors, FASTEST)}]

    def _arm(self, kind: Arm) -> RunningArm:
        arm = RunningArm(kind, self.peer, self.folder)
        try:
            return arm.wait()
        except BaseException:
            arm.stop()
            raise


def _spread(window: Window, stamps: Array, rate: int) -> dict:
    """How periods [s] are spread, the share of cycles that did not run, and all periods as 401 quantiles."""
    starts = window.of(stamps if stamps.ndim == 1 else stamps[:, 0])
    periods = np.diff(starts)
    p50, p99, longest = np.percentile(periods, (50, 99, 100))
    wanted = (starts[-1] - starts[0]) * rate
    return {
        'p50': float(p50),
        'p99': float(p99),
        'max': float(longest),
        'cycles': len(periods),
        'missed': max(0.0, 1.0 - len(periods) / wanted),
        'cpu': window.cpu[0],
        'per_cycle': window.cpu[0] * window.seconds / len(periods),
        'plans': window.plans / window.seconds,
        'busy': window.busy,
        'quantiles': [float(each) for each in np.percentile(periods, np.linspace(0.0, 100.0, 401))],
    }


def _durations(window: Window, cycles: Array) -> dict:
    """How long cycles take [s]."""
    rows = window.of(cycles)
    p50, p99, longest = np.percentile(rows[:, 1] - rows[:, 0], (50, 99, 100))
    return {'cycle_p50': float(p50), 'cycle_p99': float(p99), 'cycle_max': float(longest)}


def _print_periods(rows: Sequence[dict]) -> None:
    """Rows come in pairs: a loop, and the floor beside it."""
    for row, floor in zip(rows[::2], rows[1::2], strict=True):
        ratio = f'{row["p99"] / floor["p99"]:6.2f}x {row["max"] / floor["max"]:6.2f}x'
        plans = f'   {row["plans"]:.1f} plans a second' if row['load'] != 'idle' else ''
        print(f'{_period_line(row)}   {ratio}          {row["busy"]:.1f}{plans}')
        print(_period_line(floor), flush=True)


def _period_line(row: dict) -> str:
    what = f'{row["rate"]:3} Hz {row["load"]:8} {row["who"]:8}'
    return f'  {what}{_three_times(row)}   {100 * row["missed"]:6.1f}%'


def _three_times(row: dict) -> str:
    return ''.join(f'{1e3 * row[name]:9.2f}' for name in ('p50', 'p99', 'max'))


def _period_shortfalls(rows: Sequence[dict]) -> Shortfalls:
    found: Shortfalls = []
    for row, floor in zip(rows[::2], rows[1::2], strict=True):
        if row['who'] == 'lfd':
            what = f'period, {row["rate"]} Hz, {row["load"]}'
            found += _even_shortfalls(what, row, floor, EXPECTED_MISSED[row['load']])
    return found


def _even_shortfalls(what: str, row: dict, floor: dict, expected: float) -> Shortfalls:
    """What is uneven about a loop; `expected` is the share of cycles that it may miss more than the floor beside it."""
    found = []
    off, more = abs(row['p50'] * row['rate'] - 1.0), row['missed'] - floor['missed']
    if off > EXPECTED_MEDIAN:
        found.append(f'median period off by {100 * off:.1f} %, {100 * EXPECTED_MEDIAN:.0f} % is expected')
    if more > expected:
        found.append(f'misses {100 * more:.1f} % of cycles more than the floor, {100 * expected:.0f} % is expected')
    return [f'{what}: {each} ({row["busy"]:.1f} of {os.cpu_count()} cores were busy).' for each in found]


def _latency_row(who: str, load: str, told: Array, times: Sequence[tuple[float, float | None]]) -> dict:
    found = first_changes(told, [sent for sent, _ in times])
    answers = [accepted - sent for sent, accepted in times if accepted is not None]
    p50, p99, longest = np.percentile(found, (50, 99, 100)) if found else (np.inf, np.inf, np.inf)
    return {
        'who': who,
        'load': load,
        'p50': float(p50),
        'p99': float(p99),
        'max': float(longest),
        'lost': len(times) - len(found),
        'accepted': float(np.median(answers)) if answers else None,
        'latencies': sorted(found),
    }


def _cpu_row(who: str, rate: int, hold: Window, move: Window, stamps: Array) -> dict:
    return {
        'who': who,
        'rate': rate,
        'hold': hold.cpu[0],
        'move': move.cpu[0],
        'per_cycle': move.cpu[0] * move.seconds / max(len(move.of(stamps)), 1),
        'busy': move.busy,
    }


def _print_cpu(row: dict) -> None:
    print(
        f'  {row["who"]:8} {row["rate"]:3} Hz {row["hold"]:9.2f} {row["move"]:9.2f}           '
        f'{1e6 * row["per_cycle"]:6.0f} us   {row["busy"]:6.1f}',
        flush=True,
    )


if __name__ == '__main__':
    sys.exit(main())
