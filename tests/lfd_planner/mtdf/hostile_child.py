"""Reads task files in a process that may take little memory and time, and prints what came of each, as JSON lines."""

import contextlib
import json
import resource
import sys
from pathlib import Path

from lfd_planner.mtdf import MtdfError, load_report, repair_file

MEMORY = 400_000_000  # [B], besides what the interpreter and its libraries take
CPU = 200  # [s], for all files


def virtual_memory() -> int:
    pages = int(Path('/proc/self/statm').read_text().split()[0])
    return pages * resource.getpagesize()


def outcome(file: Path) -> list[str]:
    try:
        report = load_report(file)
        problems = [str(problem) for problem in report.problems if problem.is_error]
    except MtdfError as error:
        return [str(problem) for problem in error.problems]
    with contextlib.suppress(MtdfError):
        repair_file(file)
    return problems


def main() -> None:
    limit = virtual_memory() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))
    for name in sys.argv[1:]:
        print(json.dumps({'file': Path(name).name, 'problems': outcome(Path(name))[:3]}), flush=True)


if __name__ == '__main__':
    main()
