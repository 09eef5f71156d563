"""`./lfd export`: write a solution in the language of the robot's own controller, for cells without ROS."""

from __future__ import annotations

import argparse
from datetime import datetime
from pathlib import Path

from lfd_description.files import write_atomically
from lfd_planner.programs import Asked, Exported, ExportError, Options, ProgramFile, export
from lfd_planner.solution_file import PlanningError, SolutionFile, SolutionFileError, read_solution

from .home.console import complain, say
from .home.faults import Fault
from .inputs import model_of


def main(arguments: argparse.Namespace) -> int:
    """Write the native program of a solution file; returns 1 if there is none to write.

    Uses `file`, `format` and `mode` (or None), `out` (a path or None), `name` (or None: the file's), `tolerance` [rad],
    `tool` (or None), `pulses_per_degree` (six numbers or None), `gripper_output` (a port or None), `outputs` and
    `inputs` (pairs of signal and port).
    """
    found = _read(arguments.file)
    if isinstance(found.outcome, PlanningError):
        complain(f'{arguments.file} holds no motion: {found.outcome.message}')
        return 1
    model = model_of(found.robot, found.gripper)
    try:
        made = export(found.outcome, model, _options(arguments))
    except ExportError as error:
        raise Fault(str(error)) from None
    for file in _placed(made, arguments.out):
        _write(Path(file.name), file.text)
    for note in made.notes:
        say(f'  {note}')
    return 0


def _read(file: Path) -> SolutionFile:
    try:
        return read_solution(file)
    except SolutionFileError as error:
        raise Fault(str(error)) from None


def _options(arguments: argparse.Namespace) -> Options:
    pulses = arguments.pulses_per_degree
    return Options(
        format=arguments.format,
        name=arguments.name or (arguments.out or arguments.file).stem,
        mode=arguments.mode,
        tolerance=arguments.tolerance,
        tool=arguments.tool,
        pulses_per_degree=tuple(pulses) if pulses else None,
        signals=Asked(
            arguments.gripper_output, _once('--output', arguments.outputs), _once('--input', arguments.inputs)
        ),
        made=datetime.now(),
    )


def _once(option: str, pairs: list[tuple[str, str]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for signal, port in pairs:
        if signal in found:
            raise Fault(f"{option} names '{signal}' twice.", 'name each signal once')
        found[signal] = port
    return found


def _placed(made: Exported, out: Path | None) -> list[ProgramFile]:
    """The files with their paths: the first is --out, the others lie beside it."""
    if out is None:
        return list(made.files)
    if out.is_dir():
        raise Fault(f'--out {out} is a folder.', f'name a file in it, such as {out / made.files[0].name}')
    if not out.parent.is_dir():
        raise Fault(f'There is no folder {out.parent} to write {out.name} into.', 'make it, or name another')
    first, *others = made.files
    return [ProgramFile(str(out), first.text), *(ProgramFile(str(out.parent / o.name), o.text) for o in others)]


def _write(file: Path, text: str) -> None:
    try:
        write_atomically(file, text)
    except OSError as error:
        raise Fault(f'{file} cannot be written: {error.strerror or error}.', 'choose another file with --out') from None
    say(f'{file} is written.')
