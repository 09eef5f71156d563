"""What it costs to mirror a twin into a planning server, and to read a long task: `./lfd bench scene`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

# The benchmark is run as a program; what it shares with the tests lies beside its folder.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.mtdf_numbers import KEYFRAMES, measure_mtdf
from benchmarks.scene_numbers import COUNTS, MOVES, SceneNumbers, measure_scene

EXPECTED_FEWER_BYTES = 50.0
EXPECTED_LESS_TIME = 10.0
ALLOWED_GROWTH = 8  # bytes: the alignment of a longer name


def main(argv: Sequence[str] | None = None) -> int:
    """Print the numbers; return 1 if something that is expected does not hold."""
    options = _arguments(argv)
    numbers = measure_scene(tuple(options.objects), options.moves, options.server)
    print(*numbers.lines(), sep='\n', flush=True)
    if options.keyframes:
        print(*measure_mtdf(options.keyframes).lines(), sep='\n', flush=True)
    shortfalls = _shortfalls(numbers)
    print('\n'.join(shortfalls) if shortfalls else 'All that is expected holds.')
    return 1 if shortfalls else 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog='lfd bench scene', description='Scene sync, and reading MTDF.')
    parser.add_argument('--objects', type=int, nargs='+', default=COUNTS, help='sizes of scenes (default 1 100 1000)')
    parser.add_argument('--moves', type=int, default=MOVES, help=f'moves of one object (default {MOVES})')
    parser.add_argument('--keyframes', type=int, default=KEYFRAMES, help='of the MTDF task; 0 leaves it out')
    parser.add_argument(
        '--server', choices=('move_group', 'small'), default='move_group', help='the planning server to mirror to'
    )
    options = parser.parse_args(argv)
    if min(*options.objects, options.moves) < 1 or options.keyframes < 0:
        parser.error('numbers must be at least 1')
    return options


def _shortfalls(numbers: SceneNumbers) -> list[str]:
    found = []
    sizes = [cost.bytes for cost in numbers.moved.values()]
    if max(sizes) - min(sizes) > ALLOWED_GROWTH:
        found.append(f'A move takes {min(sizes)} to {max(sizes)} bytes; it must not grow with the scene.')
    if numbers.fewer_bytes < EXPECTED_FEWER_BYTES:
        found.append(f'The peer sends {numbers.fewer_bytes:.0f}x the bytes; {EXPECTED_FEWER_BYTES:.0f}x is expected.')
    if numbers.less_time < EXPECTED_LESS_TIME:
        found.append(f'The peer takes {numbers.less_time:.1f}x the time; {EXPECTED_LESS_TIME:.0f}x is expected.')
    return found


if __name__ == '__main__':
    sys.exit(main())
