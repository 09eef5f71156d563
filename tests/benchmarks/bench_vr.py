"""How soon, how smoothly and how cheaply a person is followed: `./lfd bench vr`.

======  ================================================================================================================
hands   from a hand pose that a headset sends at 90 Hz to the recorded event, idle and while a planner works
scene   from letting go of an object on the page to the planning server's acknowledgement, in the whole graph
frames  frames a second of the page against the number of objects
bytes   what one page is sent while nothing, the arm and an object moves, in the whole graph
unity   messages, bytes and latency of the endpoint for Unity scenes
======  ================================================================================================================

Each has a peer in the same run: a bare WebSocket that only reads JSON; a client of the planning server itself; a mesh
for each object; every joint state and the whole scene sent again; an endpoint in the plain way. Machines are shared;
trust the ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import cached_property
from pathlib import Path

# The benchmark is run as a program; what it shares with the tests lies beside its folder.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks import unity_numbers, vr_cell, vr_frames, vr_hands, vr_plots
from benchmarks.control_cell import Planners
from support.vr_graph import running_vr_graph

from lfd_description.files import write_atomically

PARTS = ('hands', 'scene', 'frames', 'bytes', 'unity')
SECONDS = 6.0
RELEASES = 16
PLANNERS = 1
SHARES = {'frames': 0.4, 'bytes': 0.5, 'unity': 0.2}  # of --seconds, for each measurement of a part
EXPECTED_HANDS = 5.0  # times the floor's median, idle
EXPECTED_SCENE = 30.0
EXPECTED_FRAMES = 1.0  # times the peer's, in the largest scene
EXPECTED_UNITY = 1.0  # times the peer's messages and bytes
EXPECTED_BYTES = 2.0  # times ours, that the peer sends
EXAMPLE = 'example: ./lfd bench vr --part hands frames --seconds 10 --out /tmp/bench'

Data = dict[str, object]
Shortfalls = list[str]


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, write, and give 1 if something that is expected does not hold."""
    options = _arguments(argv)
    out = Path(options.out or tempfile.mkdtemp(prefix='lfd-bench-'))
    out.mkdir(parents=True, exist_ok=True)
    print(f'{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start; planners as load: {options.planners}')
    shortfalls: Shortfalls = []
    with ExitStack() as stack:
        bench = Bench(options, stack)
        for part in options.part or PARTS:
            print(f'\n{part}', flush=True)
            rows, missing = bench.parts[part]()
            shortfalls += missing
            data: Data = {'part': part, 'cores': os.cpu_count(), 'load': os.getloadavg()[0], 'rows': rows}
            file = out / f'vr_{part}.json'
            write_atomically(file, json.dumps(data, indent=1) + '\n')
            print(f'  written to {file}', flush=True)
            if options.plots:
                print(f'  drawn to {vr_plots.draw(part, data, Path(options.plots))}', flush=True)
    print('\n' + ('\n'.join(shortfalls) if shortfalls else 'All that is expected holds.'))
    return 1 if shortfalls else 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog='lfd bench vr', description='The VR bridge and its peers.', epilog=EXAMPLE)
    add = parser.add_argument
    add('--part', nargs='+', choices=PARTS, help='what to measure (default: all parts)')
    add('--seconds', type=float, default=SECONDS, help=f'of hands in each load, others less [s] (default {SECONDS:g})')
    add('--releases', type=int, default=RELEASES, help=f'of an object in each load (default {RELEASES})')
    add('--objects', nargs='+', type=int, default=list(vr_frames.SIZES), help='in the scenes that are drawn')
    add('--clients', nargs='+', type=int, default=list(unity_numbers.CLIENTS), help='Unity scenes (default 1 8)')
    add('--planners', type=int, default=PLANNERS, help=f'processes that plan as load (default {PLANNERS})')
    add('--out', metavar='DIR', help='where the JSON files go (default: a new temporary folder)')
    add('--plots', metavar='DIR', help='where figures go (default: none are drawn)')
    options = parser.parse_args(argv)
    if min(options.releases, options.planners, *options.objects, *options.clients) < 1:
        parser.error('--releases, --planners, --objects and --clients must be at least 1')
    if not 0.2 <= options.seconds <= 600.0:
        parser.error('--seconds must be from 0.2 to 600')
    return options


class Bench:
    """The parts of the benchmark; they share the planners that are the load, and the graph."""

    def __init__(self, options: argparse.Namespace, stack: ExitStack) -> None:
        self.options = options
        self._stack = stack
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix='lfd-bench-vr-')))
        self.parts: dict[str, Callable[[], tuple[list[dict], Shortfalls]]] = {
            'hands': self.hands,
            'scene': self.scene,
            'frames': self.frames,
            'bytes': self.bytes,
            'unity': self.unity,
        }

    @cached_property
    def cell(self) -> vr_cell.Cell:
        folder = self.folder / 'graph'
        folder.mkdir()
        cell = vr_cell.Cell(self._stack.enter_context(running_vr_graph(folder, vr_cell.ROBOT)))
        self._stack.callback(cell.close)
        return cell

    @cached_property
    def planners(self) -> Planners:
        planners = Planners(self.options.planners)
        self._stack.callback(planners.stop)
        return planners

    def seconds(self, part: str) -> float:
        """Of each measurement of a part."""
        return float(self.options.seconds) * SHARES[part]

    def hands(self) -> tuple[list[dict], Shortfalls]:
        """Hands and a held object."""
        rows = vr_hands.measure_hands(self.planners, self.folder, self.options.seconds)
        print('                            p50      p99      max [ms]   p50, p99 to the floor')
        for row in rows:
            _print_latency(f'{row["frame"]:6}{row["load"]:8}{row["who"]:6}', row)
        shortfalls = [
            f'hands, {row["who"]}, {row["load"]}: {row["lost"]} frames were lost.' for row in rows if row['lost']
        ]
        shortfalls += [
            f'hands, {row["frame"]}: {row["ratio"]:.1f} times the floor at p50, {EXPECTED_HANDS:g} are expected.'
            for row in rows
            if row['load'] == 'idle' and row.get('ratio', 0.0) > EXPECTED_HANDS
        ]
        return rows, shortfalls

    def scene(self) -> tuple[list[dict], Shortfalls]:
        """An object that is let go of."""
        rows = vr_cell.measure_scene(self.cell, self.planners, self.options.releases)
        print(f'  {self.options.releases} releases each        p50      p99      max [ms]   p50, p99 to the floor')
        for row in rows:
            _print_latency(f'{row["load"]:8}{row["who"]:12}', row)
        return rows, [
            f'scene, {row["who"]}: {row["ratio"]:.1f} times the floor at p50, {EXPECTED_SCENE:g} are expected.'
            for row in rows
            if row['load'] == 'idle' and row['ratio'] > EXPECTED_SCENE
        ]

    def frames(self) -> tuple[list[dict], Shortfalls]:
        """The page in a browser."""
        rows = vr_frames.measure_frames(self.folder, self.options.objects, self.seconds('frames'))
        print('  objects   frames a second   of the smallest   draw calls   peer: frames   calls   ours / peer')
        for row in rows:
            print(
                f'  {row["objects"]:7,}{row["rate"]:18.1f}{row["ratio"]:18.2f}{row["calls"]:13}'
                f'{row["peer"]:15.1f}{row["peer_calls"]:8,}{row["to_peer"]:13.2f}x'
            )
        last = rows[-1]
        if last['to_peer'] >= EXPECTED_FRAMES:
            return rows, []
        return rows, [f'frames, {last["objects"]} objects: {last["to_peer"]:.2f} of the frames of the peer.']

    def bytes(self) -> tuple[list[dict], Shortfalls]:
        """What goes over the wire."""
        rows = vr_cell.measure_bytes(self.cell, self.seconds('bytes'))
        print('  moves       kB/s   peer kB/s   peer / ours   joint states/s   changes/s')
        for row in rows:
            print(
                f'  {row["what"]:8}{row["bytes"] / 1e3:8.1f}{row["peer"] / 1e3:12.1f}{row["ratio"]:13.1f}x'
                f'{row["joint_states"]:17.0f}{row["changes"]:12.0f}'
            )
        return rows, [
            f'bytes, {row["what"]}: the peer sends {row["ratio"]:.1f} times as much, {EXPECTED_BYTES:g} are expected.'
            for row in rows
            if row['ratio'] < EXPECTED_BYTES
        ]

    def unity(self) -> tuple[list[dict], Shortfalls]:
        """Unity scenes."""
        numbers = unity_numbers.measure_unity(self.options.clients, self.seconds('unity'))
        unity_numbers.report_unity(numbers)
        return [asdict(each) for each in numbers], [
            f'unity, {ours.clients} clients: fewer {what} than the peer.'
            for ours, peer in unity_numbers.pairs(numbers)
            for what in ('messages', 'megabytes')
            if getattr(ours, f'{what}_per_second') < EXPECTED_UNITY * getattr(peer, f'{what}_per_second')
        ]


def _print_latency(name: str, row: dict) -> None:
    times = ''.join(f'{1e3 * row[key]:9.2f}' for key in ('p50', 'p99', 'max'))
    ratio = f'   {row["ratio"]:6.1f}x {row["ratio_p99"]:6.1f}x' if row.get('ratio', 1.0) != 1.0 else ''
    print(f'  {name:20}{times}   {ratio}')


if __name__ == '__main__':
    sys.exit(main())
