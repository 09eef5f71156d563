"""How long reading and checking a long task takes, and how much memory: a part of `./lfd bench scene`.

Each reading is done in a process of its own, so that the memory is its own. The peer is PyYAML's fastest loader on the
same text in the same way: it only builds lists and dictionaries, without places, checks or values.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import yaml

from lfd_planner.mtdf import Descriptor, GraspHint, Pick, Place, Pose, Task, dump_task, load_task

KEYFRAMES = 10_000
RUNS = 3


@dataclass(frozen=True)
class Reading:
    """One way to read one text."""

    seconds: float
    """Best of all runs."""
    megabytes: float
    """By which the process grew."""


@dataclass(frozen=True)
class MtdfNumbers:
    """What was measured."""

    keyframes: int
    characters: int
    ours: Reading
    """Parse and check, YAML."""
    ours_json: Reading
    peer: Reading
    """PyYAML's C loader."""

    def lines(self) -> list[str]:
        """A table for people."""
        rows = (('lfd, YAML', self.ours), ('lfd, JSON', self.ours_json), ('PyYAML (no checks)', self.peer))
        head = f'MTDF, {self.keyframes} keyframes, {self.characters / 1e6:.1f} MB of YAML: parse and check'
        return [head, *(f'  {name:20} {row.seconds:6.2f} s {row.megabytes:7.0f} MB' for name, row in rows)]


def measure_mtdf(keyframes: int = KEYFRAMES) -> MtdfNumbers:
    """Read a task with that many keyframes, half of them places, in both formats and by the peer."""
    task = long_task(keyframes)
    with tempfile.TemporaryDirectory() as folder:
        yaml_file, json_file = Path(folder) / 'task.mtdf.yaml', Path(folder) / 'task.mtdf.json'
        yaml_file.write_text(dump_task(task))
        json_file.write_text(dump_task(task, file_format='json'))
        return MtdfNumbers(
            keyframes,
            yaml_file.stat().st_size,
            _reading('ours', yaml_file),
            _reading('ours', json_file),
            _reading('peer', yaml_file),
        )


def long_task(keyframes: int) -> Task:
    """Picks with a grasp and places with all digits, timed."""
    turn = (0.0, 0.0, 0.6, 0.8)
    steps: list[Pick | Place] = []
    for n in range(keyframes // 2):
        grasp = GraspHint(Pose((0.0, 0.0, n / 3e5), turn), 0.04) if n % 2 else None
        steps.append(Pick(f'box_{n % 10}', grasp, n / 3))
        steps.append(Place(f'box_{n % 10}', Pose((n / 3e4, -n / 7e4, 0.1), turn), n / 3 + 0.1))
    return Task(tuple(Descriptor(f'box_{n}') for n in range(10)), tuple(steps))


def _reading(who: str, file: Path) -> Reading:
    command = [sys.executable, __file__, who, str(file)]
    answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=300).stdout)
    return Reading(answer['seconds'], answer['megabytes'])


def _read(who: str, file: Path) -> None:
    """The process that reads: its best time, and by how much its peak memory grew in the first run."""
    before = _peak()
    best, grown = float('inf'), 0.0
    for run in range(RUNS):
        start = perf_counter()
        result = load_task(file) if who == 'ours' else yaml.load(file.read_text(), Loader=yaml.CSafeLoader)
        best = min(best, perf_counter() - start)
        del result
        if run == 0:
            grown = _peak() - before
    print(json.dumps({'seconds': best, 'megabytes': grown}))


def _peak() -> float:
    """The most memory that this process ever had [MB]; getrusage would count what its parent had."""
    found = re.search(r'VmHWM:\s+(\d+) kB', Path('/proc/self/status').read_text())
    return int(found[1]) / 1024 if found else float('nan')


if __name__ == '__main__':
    if len(sys.argv) == 3:
        _read(sys.argv[1], Path(sys.argv[2]))
    else:
        print(*measure_mtdf().lines(), sep='\n')
