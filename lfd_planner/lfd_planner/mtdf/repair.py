"""Mends what a print or a careless recorder did to a task file, on request, and says what it did.

Three things are mended, each only where there is one way to do it: commas that are missing between the entries of a
flow mapping, exponents that parts of a quaternion lost, and a byte order mark. That the poses are in Unity's axes
nothing in a file shows for sure; they are converted if whoever asks for the repair says so. All else stays a problem,
and all that is not mended keeps every character, comments included.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from lfd_description.scenes.values import shortened
from lfd_description.scenes.yaml_nodes import Items, Keys, Node, Scalar, TextProblem

from .checks import UNITY_SUSPICION
from .commas import insertions, missing_commas
from .document import Document
from .kinds import Wrong
from .layout import peek, peek_text
from .nodes import BOM, read_nodes
from .problems import MtdfError, Problem
from .quaternions import LOST_EXPONENT, lost_exponents
from .reader import Report, placed_back, problem_of, read_text, report_of
from .splices import Insertion, WayBack, inserted
from .task import Task
from .values import read_number, written

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

    text: str
    """As it was but for the repairs."""
    task: Task
    """In ROS axes."""
    repairs: tuple[Repair, ...]
    """In the order of the text; none if nothing was wrong."""
    warnings: tuple[Problem, ...]
    """What may still not be meant."""


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
        MtdfError: there is more wrong than can be mended; it has what is left, at its place in the text as it was.
    """
    mending = _Mending(text)
    mending.remove_byte_order_mark()
    mending.add_commas()
    mending.add_exponents()
    report = mending.report()
    document = Document(mending.text)
    if axes == 'unity':
        document = mending.from_unity(document, report)
    warnings = tuple(problem for problem in report.problems if axes is None or problem.message != UNITY_SUSPICION)
    repairs = sorted(mending.repairs, key=lambda repair: (repair.line, repair.column))
    return Repaired(document.text, document.task, tuple(repairs), warnings)


class _Mending:
    """A text while it is mended, what was done to it, and where things stood in the text as it was."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.repairs: list[Repair] = []
        self._ways_back: list[WayBack] = []
        self._read: Node | None = None
        """The tree of the text as it is now, if it was read already."""

    def remove_byte_order_mark(self) -> None:
        if self.text.startswith(BOM):
            self.repairs.append(Repair(1, 1, 'removed the byte order mark'))
            self.text = self.text.removeprefix(BOM)

    def add_commas(self) -> None:
        try:
            self._read = read_nodes(self.text)
            return
        except TextProblem as problem:
            commas = missing_commas(self.text) if problem.lacks_comma else ()
            if not commas:
                raise MtdfError([self._placed(problem_of(problem))]) from None
        for comma in commas:
            self._note(comma.line, comma.column, f"added a comma before '{shortened(comma.before)}'")
        self._insert(insertions(commas))

    def add_exponents(self) -> None:
        found = []
        for node, where in _orientations(self._tree()):
            for scalar, part in _lost(node):
                change = f'{scalar.text} became {scalar.text}{LOST_EXPONENT}'
                what = f'{where}{part} of the orientation, {change}, with which the quaternion has the length 1'
                self._note(scalar.line, scalar.column, what)
                end = scalar.column + len(scalar.text)
                found.append(Insertion(scalar.end, scalar.line, end, LOST_EXPONENT))
        self._insert(found)

    def report(self) -> Report:
        """What is in the text now, at the places that it had.

        Raises:
            MtdfError: it still cannot be used.
        """
        report = report_of(self._tree())
        report = replace(report, problems=tuple(self._placed(problem) for problem in report.problems))
        report.checked()
        return report

    def from_unity(self, document: Document, report: Report) -> Document:
        """The document with its numbers in ROS axes, or as it is if it says that they are Unity's."""
        declared = peek(report.root, 'axes')
        if declared is not None and report.axes == 'ros':
            message, fix = 'the file says that its axes are those of ROS', 'correct the file, or leave --axes out'
            raise MtdfError([self._placed(Problem(declared.line, declared.column, None, None, message, fix))])
        if declared is not None:
            return document
        what = "converted all poses from Unity's axes to those of ROS: position (z, -x, y), quaternion (z, -x, y, -w)"
        self.repairs.append(Repair(1, 1, f'{what}; the file says so by version and axes'))
        return document.meant_in_unity()

    def _tree(self) -> Node | None:
        if self._read is None:
            try:
                self._read = read_nodes(self.text)
            except TextProblem as problem:
                raise MtdfError([self._placed(problem_of(problem))]) from None
        return self._read

    def _insert(self, found: list[Insertion]) -> None:
        if not found:
            return
        self.text, self._read = inserted(self.text, found), None
        self._ways_back.append(WayBack(found))

    def _note(self, line: int, column: int, what: str) -> None:
        self.repairs.append(Repair(*self._back(line, column), what))

    def _placed(self, problem: Problem) -> Problem:
        return placed_back(problem, self._back)

    def _back(self, line: int, column: int) -> tuple[int, int]:
        for way_back in reversed(self._ways_back):
            line, column = way_back(line, column)
        return line, column


def _lost(node: Items) -> list[tuple[Scalar, str]]:
    """The parts of a quaternion that lost an exponent, and what they are called."""
    parts = written(node)
    if not all(map(_is_number, parts)):
        return []
    return [(parts[n], _PARTS[n]) for n in lost_exponents([part.text for part in parts])]


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
                if key.text == 'orientation' and isinstance(value, Items) and len(written(value)) == 4:
                    yield value
                else:
                    yield from _below(value)
        case Items(values=values):
            for value in values:
                yield from _below(value)


def _is_number(scalar: Scalar) -> bool:
    try:
        read_number(scalar)
    except Wrong:
        return False
    return True
