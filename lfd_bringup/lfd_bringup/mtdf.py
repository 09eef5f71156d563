"""`./lfd mtdf`: check, repair, convert, show and compare task files.

What was asked for goes to stdout; problems and what was done go to stderr.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from lfd_description.files import write_atomically
from lfd_description.scenes import Scene
from lfd_planner.mtdf import (
    Document,
    MtdfError,
    Problem,
    Report,
    differences,
    dump_task,
    errors,
    load_report,
    load_task,
    repair_file,
    resolve_task,
    told,
)
from lfd_planner.mtdf.describe import task_in_words
from lfd_planner.mtdf.writer import format_of

from .home.console import complain, say
from .home.faults import Fault
from .inputs import scene_of


def check(arguments: argparse.Namespace) -> int:
    """Say all that is wrong with task files; returns 1 if one cannot be used.

    Uses `files` (paths), `scene` (a name, a file or None) and `json` (whether a program reads the answer).
    """
    scene = _scene(arguments.scene)
    found = {str(file): _checked(file, scene) for file in arguments.files}
    if arguments.json:
        print(json.dumps({file: [asdict(problem) for problem in report.problems] for file, report in found.items()}))
    else:
        for file, report in found.items():
            _tell(file, report)
    return 1 if any(errors(report.problems) for report in found.values()) else 0


def repair(arguments: argparse.Namespace) -> int:
    """Mend a task file, and say what was done; returns 1 if it cannot be mended.

    Uses `file`, `axes` ('unity' or None), `out` (a path; None: stdout) and `in_place` (write over the file).
    """
    if arguments.in_place and arguments.out is not None:
        raise Fault('--in-place and --out exclude each other.', 'leave one of them out')
    out: Path | None = arguments.file if arguments.in_place else arguments.out
    _refuse_folder(out)
    try:
        repaired = repair_file(arguments.file, arguments.axes)
    except MtdfError as error:
        complain(f'{error}')
        return 1
    for line in told(repaired.warnings, str(arguments.file)):
        say(line)
    for done in repaired.repairs:
        say(f'{arguments.file}, {done}')
    if arguments.in_place and not repaired.repairs:
        say(f'{arguments.file}: nothing to repair; it is left as it is.')
        return 0
    say(f'{arguments.file}: {_counted(len(repaired.repairs), "repair")}; all else is as it was.')
    document = Document(repaired.text)
    file_format = None if out is None or arguments.in_place else format_of(out)
    _write(_written(arguments.file, document, file_format), out)
    return 0


def convert(arguments: argparse.Namespace) -> int:
    """Write a task in another format, version or axes; returns 1 if that cannot be done.

    A file that keeps its format keeps its comments and its layout. Uses `file`, `out` (a path; None: stdout), `format`
    ('yaml', 'json' or None: as the name of `out` says, else the file's own), `version` (1 or 2) and `axes` ('ros' or
    'unity').
    """
    out: Path | None = arguments.out
    _refuse_folder(out)
    try:
        document = Document.load(arguments.file)
        converted = document.converted(arguments.version, arguments.axes)
    except MtdfError as error:
        complain(str(error))
        return 1
    for line in told(document.report.problems, str(arguments.file)):
        say(line)
    _write(_written(arguments.file, converted, arguments.format or (format_of(out) if out is not None else None)), out)
    return 0


def show(arguments: argparse.Namespace) -> int:
    """Print a task in words, and which objects of a scene it means; returns 1 if it cannot be used.

    Uses `file` and `scene` (a name, a file or None).
    """
    scene = _scene(arguments.scene)
    report = _checked(arguments.file, scene)
    if report.task is None:
        _tell(str(arguments.file), report)
        return 1
    print(f'{arguments.file}: version {report.version}, {report.axes} axes')
    print(*task_in_words(report.task), sep='\n')
    if scene is not None:
        print(*resolve_task(report.task, scene).resolutions, sep='\n')
    if report.problems:
        _tell(str(arguments.file), report)
    return 1 if errors(report.problems) else 0


def diff(arguments: argparse.Namespace) -> int:
    """Print what differs between two tasks; returns 1 if one cannot be read, or if they differ and that was asked.

    Uses `before` and `after` (paths) and `exit_code` (whether a difference is a failure).
    """
    try:
        found = differences(load_task(arguments.before), load_task(arguments.after))
    except MtdfError as error:
        complain(str(error))
        return 1
    print(*found or ('The tasks are the same.',), sep='\n')
    return 1 if found and arguments.exit_code else 0


def _scene(name: str | None) -> Scene | None:
    """A scene of the suite by its name, or that of a file."""
    return None if name is None else scene_of(name)


def _checked(file: Path, scene: Scene | None) -> Report:
    """What is in a file, and what a scene makes of it."""
    try:
        report = load_report(file)
    except MtdfError as error:
        return Report(None, error.problems)
    if report.task is None or scene is None:
        return report
    resolved = resolve_task(report.task, scene, spots=report.spots[0])
    return Report(report.task, (*report.problems, *resolved.problems), report.version, report.axes)


def _tell(file: str, report: Report) -> None:
    wrong: tuple[Problem, ...] = errors(report.problems)
    for line in told(report.problems, file):
        say(line)
    if wrong:
        complain(f'{file} is refused: {_counted(len(wrong), "problem")}.')
    elif report.task is not None:
        objects, keyframes = len(report.task.descriptors), len(report.task.keyframes)
        counts = f'{_counted(objects, "object")}, {_counted(keyframes, "keyframe")}'
        print(f'{file} is fine: version {report.version}, {report.axes} axes, {counts}.')


def _written(file: Path, document: Document, file_format: str | None) -> str:
    """The text of a document in a format, or in its own; what the format cannot hold is told."""
    if file_format in (None, document.file_format):
        return document.text
    if document.has_comments:
        say(f'{file}: warning: its comments are dropped, for JSON has none; keep the YAML file if they matter.')
    report = document.report
    return dump_task(document.task, file_format=file_format or 'yaml', version=report.version, axes=report.axes)


def _refuse_folder(out: Path | None) -> None:
    """Refuse what no file can be written to, before anything is done."""
    if out is None:
        return
    if out.is_dir():
        raise Fault(f'--out {out} is a folder.', f'name a file in it, such as {out / "task.mtdf.yaml"}')
    if not out.parent.is_dir():
        raise Fault(f'There is no folder {out.parent} to write {out.name} into.', 'make it, or name another')


def _write(text: str, out: Path | None) -> None:
    if out is None:
        sys.stdout.write(text)
        return
    try:
        write_atomically(out, text)
    except OSError as error:
        raise Fault(f'{out} cannot be written: {error.strerror or error}.', 'choose another file') from None
    say(f'{out} is written.')


def _counted(count: int, what: str) -> str:
    return f'{count} {what}{"" if count == 1 else "s"}'
