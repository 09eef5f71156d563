"""Task files in: text to a checked `Task`, and everything that is wrong with it at once.

Nothing is repaired here. A text that lacks commas is read as if they were there, only to tell what else is wrong, and
is refused all the same.
"""

import os
import stat
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from lfd_description.scenes.values import shortened
from lfd_description.scenes.yaml_nodes import Items, Keys, Node, Scalar, TextProblem

from . import values
from .axes import ros_task_from_unity
from .checks import Listed, Spot, Step, check_steps, unity_suspicion
from .commas import MissingComma, insertions, missing_commas
from .kinds import Notes
from .layout import SINCE, TASK, VERSION, peek, peek_text
from .nodes import MAX_BYTES, read_nodes
from .problems import GIVE_UP, MtdfError, Problem, errors, in_order
from .splices import WayBack, inserted
from .task import Task


@dataclass(frozen=True)
class Report:
    """What was read: a task if nothing is wrong, and all problems, warnings included, in the order of the text."""

    task: Task | None
    """In ROS axes."""
    problems: tuple[Problem, ...]
    version: int = 1
    axes: str = 'ros'
    """As the file declares them."""
    root: Node | None = None
    """What stands where; None if the text cannot be read as it is."""

    @cached_property
    def spots(self) -> tuple[tuple[Spot, ...], tuple[Spot, ...]]:
        """Where each descriptor and each keyframe stands."""
        found = (peek(self.root, key) for key in ('object_descriptors', 'keyframes'))
        descriptors, keyframes = (
            tuple(_spot(item) for item in node.values) if isinstance(node, Items) else () for node in found
        )
        return descriptors, keyframes

    def checked(self, source: str = '') -> Task:
        """The task.

        Raises:
            MtdfError: it cannot be used.
        """
        if self.task is None or errors(self.problems):
            raise MtdfError(errors(self.problems), source)
        return self.task


def parse_task(text: str) -> Task:
    """The task of a YAML or JSON text.

    Raises:
        MtdfError: the text is wrong; it has a problem for each mistake, with line, column, keyframe and object.
    """
    return read_report(text).checked()


def load_task(file: Path) -> Task:
    """The task of a file.

    Raises:
        MtdfError: the file is missing or wrong; the message names the file and each mistake.
    """
    return load_report(file).checked(str(file))


def load_report(file: Path) -> Report:
    """What is in a file, right or wrong.

    Raises:
        MtdfError: it is missing, too big, or no text.
    """
    return read_report(read_text(file))


def read_text(file: Path) -> str:
    """The text of a file, line ends as they are.

    Raises:
        MtdfError: it is missing, too big, or no text.
    """
    try:
        data = _read_bytes(file)
    except OSError as error:
        raise _unreadable(file, f'it cannot be read ({error.strerror or error})', 'name a file that can') from None
    if len(data) > MAX_BYTES:
        raise _unreadable(file, f'it has more than {MAX_BYTES} bytes', 'split the task')
    try:
        return data.decode('utf-8')
    except UnicodeDecodeError as error:
        line = data.count(b'\n', 0, error.start) + 1
        column = error.start - (data.rfind(b'\n', 0, error.start) + 1) + 1
        raise _unreadable(file, 'it is no UTF-8 text', 'save it as such', line, column) from None


def read_report(text: str) -> Report:
    """What is in a text, right or wrong."""
    try:
        return report_of(read_nodes(text))
    except TextProblem as problem:
        commas = missing_commas(text) if problem.lacks_comma else ()
        added = insertions(commas)
        found = problem_of(problem)
        if commas:
            try:
                return _without_commas(report_of(read_nodes(inserted(text, added))), commas)
            except TextProblem as other:  # the commas are not all that is wrong
                found = placed_back(problem_of(other), WayBack(added))
        return Report(None, in_order([found, *(_comma_problem(comma, None, None) for comma in commas[:GIVE_UP])]))


def problem_of(problem: TextProblem) -> Problem:
    """What is wrong with a text, as a problem of the task."""
    return Problem(problem.line, problem.column, None, None, str(problem), problem.fix)


def placed_back(problem: Problem, back: Callable[[int, int], tuple[int, int]]) -> Problem:
    """A problem of a text that was changed, at the place that it has in the text as it was."""
    line, column = back(problem.line, problem.column)
    return replace(problem, line=line, column=column)


def report_of(root: Node | None) -> Report:
    """What is in a tree, right or wrong."""
    if not isinstance(root, Keys):
        line, column = (root.line, root.column) if root is not None else (1, 1)
        message = 'a task holds the keys object_descriptors and keyframes, and this text does not'
        return Report(None, (Problem(line, column, None, None, message, 'add them'),))
    version = _version(root)
    notes = Notes(version or 2)
    if version is None:  # reading on as another version would only bring mistakes that are none
        VERSION.kind.read(peek(root, 'version') or root, notes)
        return Report(None, tuple(notes.problems), root=root)
    task = TASK.read(root, notes)
    axes = peek_text(root, 'axes') or 'ros'
    found = [*notes.problems]
    if not notes.gives_up:
        found += check_steps(_listed(root), _steps(root))
        if task is not None and peek(root, 'axes') is None:
            suspicion = unity_suspicion(task.keyframes, _spot(peek(root, 'keyframes') or root))
            found += [suspicion] if suspicion is not None else []
    if task is not None and axes == 'unity':
        task = ros_task_from_unity(task)
    return Report(None if errors(found) else task, in_order(found), version, axes, root)


def _version(root: Keys) -> int | None:
    """The version of the format; None if it is not known."""
    node = peek(root, 'version')
    return 1 if node is None else VERSION.kind.read(node, Notes(1))


def _listed(root: Keys) -> list[Listed]:
    node = peek(root, 'object_descriptors')
    names = ((item, item if isinstance(item, Scalar) else peek(item, 'name')) for item in _items(node))
    return [Listed(name.text, _spot(item)) for item, name in names if isinstance(name, Scalar)]


def _steps(root: Keys) -> list[Step]:
    """What can be known of the keyframes, be they right or wrong."""
    return [_step(item) for item in _items(peek(root, 'keyframes'))]


def _step(node: Node) -> Step:
    word = peek_text(node, 'type') or ''
    name = peek(node, 'object_descriptor')
    about_object = word in SINCE and word not in ('wait', 'io') and isinstance(name, Scalar)
    time = peek(node, 'time')
    return Step(
        word,
        name.text if about_object and isinstance(name, Scalar) else None,
        None if time is None else values.SECONDS.read(time, Notes(2)),
        _spot(node),
        _spot(name or node),
    )


def _items(node: Node | None) -> tuple[Node, ...]:
    return node.values if isinstance(node, Items) else ()


def _spot(node: Node) -> Spot:
    return Spot(node.line, node.column)


def _without_commas(report: Report, commas: tuple[MissingComma, ...]) -> Report:
    """The report of a text that was read as if it had its commas."""
    back = WayBack(insertions(commas))
    keyframes = _items(peek(report.root, 'keyframes'))
    starts = [keyframe.start for keyframe in keyframes]
    found = [placed_back(problem, back) for problem in report.problems]
    for count, comma in enumerate(commas[:GIVE_UP]):
        at = comma.at + count  # with the commas before it
        index = bisect_right(starts, at) - 1
        inside = index >= 0 and at < keyframes[index].end
        name = peek_text(keyframes[index], 'object_descriptor') if inside else None
        found.append(_comma_problem(comma, index if inside else None, name))
    return replace(report, task=None, problems=in_order(found), root=None)


def _comma_problem(comma: MissingComma, keyframe: int | None, name: str | None) -> Problem:
    message = f"a comma is missing before '{shortened(comma.before)}'"
    return Problem(comma.line, comma.column, keyframe, name, message, 'add it here, or use ./lfd mtdf repair')


def _read_bytes(file: Path) -> bytes:
    # Without O_NONBLOCK opening a pipe waits for its writer.
    handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(handle).st_mode):  # a device may have no end
        os.close(handle)
        raise _unreadable(file, 'it is no file', 'name a YAML or JSON file')
    with os.fdopen(handle, 'rb') as stream:
        return stream.read(MAX_BYTES + 1)


def _unreadable(file: Path, message: str, fix: str, line: int = 0, column: int = 0) -> MtdfError:
    return MtdfError([Problem(line, column, None, None, message, fix)], str(file))
