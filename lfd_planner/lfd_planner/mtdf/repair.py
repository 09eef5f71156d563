"""Mends what a print or a careless recorder did to a task file, on request, and says what it did.

Three things are mended, each only where there is one way to do it: commas that are missing between the entries of a
flow mapping, exponents that parts of a quaternion lost, and a byte order mark. That the poses are in Unity's axes
nothing in a file shows for sure; they are converted if whoever asks for the repair says so. All else stays a problem.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lfd_description.scenes.values import shortened
from lfd_description.transforms import Quaternion

from .axes import ros_task_from_unity
from .checks import UNITY_SUSPICION
from .commas import missing_commas, with_commas
from .kinds import Wrong
from .layout import peek, peek_text
from .nodes import BOM, Items, Keys, Node, Scalar, TextProblem, read_nodes
from .problems import MtdfError, Problem
from .quaternions import LOST_EXPONENT, lost_exponents
from .reader import Report, problem_of, read_text, report_of
from .splices import Splice, spliced
from .task import Task
from .values import read_number
from .writer import dump_task

_PARTS = 'xyzw'


@dataclass(frozen=True)
class Repair:
    """One thing that was changed."""

    line: int
    """Of the text as it was, from 1."""
    column: int
    what: str

    def __str__(self) -> str:
        return f'line {self.line}, column {self.column}: {self.what}.'


@dataclass(frozen=True)
class Repaired:
    """A task that was mended."""

    task: Task
    """In ROS axes."""
    repairs: tuple[Repair, ...]
    """In the order of the text; none if nothing was wrong."""
    warnings: tuple[Problem, ...]
    """What may still not be meant."""

    @property
    def text(self) -> str:
        """The task as YAML, version 2."""
        return dump_task(self.task)


def repair_file(file: Path, axes: str | None = None) -> Repaired:
    """Mend a file's text; the file itself is left alone.

    Raises:
        MtdfError: there is more wrong than can be mended.
    """
    try:
        return repair_text(read_text(file), axes)
    except MtdfError as error:
        raise MtdfError(error.problems, str(file)) from None


def repair_text(text: str, axes: str | None = None) -> Repaired:
    """Mend a text.

    Args:
        text: YAML or JSON.
        axes: what the poses are known to be in although the file does not say so: 'unity', or 'ros' to be told no
            suspicion; None if it is not known.

    Raises:
        MtdfError: there is more wrong than can be mended; it has what is left.
    """
    repairs: list[Repair] = []
    if text.startswith(BOM):
        repairs.append(Repair(1, 1, 'removed the byte order mark'))
        text = text[1:]
    root = _with_exponents(*_with_commas(text, repairs), repairs)
    report = report_of(root)
    task = report.checked()
    if axes == 'unity':
        task = _from_unity(task, report, repairs)
    warnings = tuple(problem for problem in report.problems if axes is None or problem.message != UNITY_SUSPICION)
    repairs.sort(key=lambda repair: (repair.line, repair.column))
    return Repaired(task, tuple(repairs), warnings)


def _with_commas(text: str, repairs: list[Repair]) -> tuple[str, Node | None]:
    """The text with the commas that it lacks, and its tree."""
    try:
        return text, read_nodes(text)
    except TextProblem as problem:
        commas = missing_commas(text) if problem.lacks_comma else ()
        if not commas:
            raise MtdfError([problem_of(problem)]) from None
    for comma in commas:
        repairs.append(Repair(comma.line, comma.column, f"added a comma before '{shortened(comma.before)}'"))
    text = with_commas(text, commas)
    return text, _tree(text)


def _tree(text: str) -> Node | None:
    try:
        return read_nodes(text)
    except TextProblem as problem:
        raise MtdfError([problem_of(problem)]) from None


def _with_exponents(text: str, root: Node | None, repairs: list[Repair]) -> Node | None:
    """The tree of a text with the exponents that its quaternions lost."""
    lost = [(scalar, part, where) for node, where in _orientations(root) for scalar, part in _lost(node)]
    for scalar, part, where in lost:
        change = f'{scalar.text} became {scalar.text}{LOST_EXPONENT}, with which the quaternion has the length 1'
        repairs.append(Repair(scalar.line, scalar.column, f'{where}{part} of the orientation, {change}'))
    if not lost:
        return root
    return _tree(spliced(text, (Splice(scalar.end, scalar.end, LOST_EXPONENT) for scalar, _, _ in lost)))


def _lost(node: Items) -> list[tuple[Scalar, str]]:
    """The parts of a quaternion that lost an exponent, and what they are called."""
    numbers = _quaternion(node)
    parts = [(node.values[part], _PARTS[part]) for part in (lost_exponents(numbers) if numbers else ())]
    return [(scalar, name) for scalar, name in parts if isinstance(scalar, Scalar)]


def _orientations(root: Node | None) -> Iterator[tuple[Items, str]]:
    """All quaternions of a file, and the beginning of a sentence that says what each belongs to."""
    keyframes = peek(root, 'keyframes')
    if isinstance(keyframes, Items):
        for index, keyframe in enumerate(keyframes.values):
            where = f"keyframes[{index}], object '{shortened(peek_text(keyframe, 'object_descriptor') or '?')}': "
            yield from ((node, where) for node in _below(keyframe))
    origin = peek(root, 'task_origin')
    if origin is not None:
        yield from ((node, 'task_origin: ') for node in _below(origin))


def _below(node: Node) -> Iterator[Items]:
    match node:
        case Keys(entries=entries):
            for key, value in entries:
                if key.text == 'orientation' and isinstance(value, Items) and len(value.values) == 4:
                    yield value
                else:
                    yield from _below(value)
        case Items(values=values):
            for value in values:
                yield from _below(value)


def _quaternion(node: Items) -> Quaternion | None:
    try:
        x, y, z, w = (read_number(value) for value in node.values)
    except Wrong:
        return None
    return x, y, z, w


def _from_unity(task: Task, report: Report, repairs: list[Repair]) -> Task:
    declared = peek(report.root, 'axes')
    if declared is not None:
        if report.axes == 'unity':
            return task  # it said so itself, and was converted when it was read
        message = 'the file says that its axes are those of ROS'
        problem = Problem(declared.line, declared.column, None, None, message, 'correct the file, or leave --axes out')
        raise MtdfError([problem])
    what = "converted all poses from Unity's axes to those of ROS: position (z, -x, y), quaternion (z, -x, y, -w)"
    repairs.append(Repair(1, 1, what))
    return ros_task_from_unity(task)
