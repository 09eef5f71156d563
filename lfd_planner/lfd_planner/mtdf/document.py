"""A task file that is edited in place: what an edit does not touch keeps every character, comments included.

Each edit gives a new document. It is made on the text, then read again and compared with the same edit made on the
task, so that an edit does what it says or is refused.
"""

import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from lfd_description.files import write_atomically

from .axes import unity_pose_from_ros
from .layout import peek
from .nodes import Items, Keys, Node, Scalar
from .problems import MtdfError, Problem
from .quaternions import unit
from .reader import Report, read_report, read_text
from .rules import AllOf, AnyOf, Nearest, Not, Rule
from .splices import Splice, spliced
from .task import Descriptor, Keyframe, Pick, Place, Pose, Task, Trajectory
from .writer import numbers_in_yaml, text_in_yaml


@dataclass(frozen=True)
class Document:
    """A readable task file as it was written."""

    text: str

    def __post_init__(self) -> None:
        self.task  # noqa: B018 - refuses what cannot be read

    @classmethod
    def load(cls, file: Path) -> 'Document':
        """The document of a file.

        Raises:
            MtdfError: the file is missing or wrong.
        """
        try:
            return cls(read_text(file))
        except MtdfError as error:
            raise MtdfError(error.problems, str(file)) from None

    def save(self, file: Path) -> None:
        """Write it, all of it or nothing.

        Raises:
            OSError: the file cannot be written.
        """
        write_atomically(file, self.text)

    @cached_property
    def report(self) -> Report:
        """What was read."""
        return read_report(self.text)

    @cached_property
    def task(self) -> Task:
        """The task, in ROS axes."""
        return self.report.checked()

    def rename_object(self, old: str, new: str) -> 'Document':
        """The same task with another name for an object.

        Raises:
            MtdfError: there is no such descriptor, or there is one of the new name.
        """
        names = [descriptor.name for descriptor in self.task.descriptors]
        if old not in names:
            raise _refused(f"there is no descriptor '{old}'", f'use {", ".join(names)}')
        if new in names:
            raise _refused(f"there is a descriptor '{new}' already", 'choose another name')
        by_name = self.task.descriptors[names.index(old)].rule is None
        scalars = [*self._names_of(old), *(self._nearest(old) if by_name else ())]
        splices = [Splice(scalar.start, scalar.end, self._written(new)) for scalar in scalars]
        expected = replace(
            self.task,
            descriptors=tuple(_renamed_descriptor(part, old, new, by_name) for part in self.task.descriptors),
            keyframes=tuple(_renamed(keyframe, old, new) for keyframe in self.task.keyframes),
        )
        return self._edited(splices, expected)

    def remove_keyframes(self, first: int, last: int | None = None) -> 'Document':
        """The task without keyframes `first` to `last`, both included, from 0; without `last` only the first.

        Comments on their lines and right above them go with them.

        Raises:
            MtdfError: there are no such keyframes, or the task makes no sense without them.
        """
        last = first if last is None else last
        count = len(self.task.keyframes)
        if not 0 <= first <= last < count:
            raise _refused(f'there are no keyframes[{first}] to [{last}]', f'the task has {count}, counted from 0')
        items = peek(self.report.root, 'keyframes')
        assert isinstance(items, Items)
        kept = self.task.keyframes[:first] + self.task.keyframes[last + 1 :]
        cut = self._flow_cut(items, first, last) if items.flow else self._block_cut(items, first, last)
        return self._edited([cut], replace(self.task, keyframes=kept))

    def move_place(self, keyframe: int, pose: Pose) -> 'Document':
        """The task with another pose (ROS axes, task's frame) for a place keyframe.

        Raises:
            MtdfError: the keyframe is no place, or the pose is none.
        """
        old = self.task.keyframes[keyframe] if 0 <= keyframe < len(self.task.keyframes) else None
        items = peek(self.report.root, 'keyframes')
        if not isinstance(old, Place) or not isinstance(items, Items):
            raise _refused(f'keyframes[{keyframe}] is no place', 'choose one that is')
        node = peek(items.values[keyframe], 'place_pose')
        assert isinstance(node, Keys)
        written = unity_pose_from_ros(pose) if self.report.axes == 'unity' else pose
        numbers = {'position': written.position, 'orientation': written.orientation}
        splices = [
            # A list below its key, each number after a dash, may be as far left as the key; one in brackets may not.
            Splice(part.start, part.end, f'{"" if part.flow else "  "}{numbers_in_yaml(numbers[key])}')
            for key in numbers
            if isinstance(part := peek(node, key), Items)
        ]
        keyframes = list(self.task.keyframes)
        keyframes[keyframe] = replace(old, pose=replace(pose, orientation=unit(pose.orientation) or pose.orientation))
        return self._edited(splices, replace(self.task, keyframes=tuple(keyframes)))

    def _edited(self, splices: list[Splice], expected: Task) -> 'Document':
        edited = Document(spliced(self.text, splices))
        if edited.task != expected:
            raise _refused('the edit would change more than it should', 'write the file anew with ./lfd mtdf convert')
        return edited

    def _written(self, name: str) -> str:
        is_json = self.text.lstrip()[:1] == '{'
        return json.dumps(name, ensure_ascii=False) if is_json else text_in_yaml(name)

    def _names_of(self, name: str) -> list[Scalar]:
        """Where a descriptor's name stands."""
        descriptors, keyframes = (peek(self.report.root, key) for key in ('object_descriptors', 'keyframes'))
        nodes: list[Node | None] = []
        if isinstance(descriptors, Items):
            nodes += [item if isinstance(item, Scalar) else peek(item, 'name') for item in descriptors.values]
        if isinstance(keyframes, Items):
            nodes += [peek(item, 'object_descriptor') for item in keyframes.values]
        return [node for node in nodes if isinstance(node, Scalar) and node.text == name]

    def _nearest(self, name: str) -> list[Scalar]:
        """Where rules speak of the object of that name."""
        descriptors = peek(self.report.root, 'object_descriptors')
        rules = [peek(item, 'rule') for item in descriptors.values] if isinstance(descriptors, Items) else []
        return [found for rule in rules if rule is not None for found in _nearest_below(rule, name)]

    def _flow_cut(self, items: Items, first: int, last: int) -> Splice:
        """What to cut out of a list in brackets: items and the commas after them, or those before the last."""
        nodes = items.values
        if last - first + 1 == len(nodes):
            return Splice(items.start, items.end, '[]')
        if last + 1 < len(nodes):
            return Splice(nodes[first].start, nodes[last + 1].start, '')
        return Splice(nodes[first - 1].end, nodes[last].end, '')

    def _block_cut(self, items: Items, first: int, last: int) -> Splice:
        """What to cut out of items that stand below each other: their lines, and the comments right above."""
        nodes = items.values
        if last - first + 1 == len(nodes):
            return Splice(items.start, items.end, '  []')
        before = nodes[first - 1].end if first else self._end_of_key('keyframes')
        dash = self.text.rindex('-', before, nodes[first].start) if first else items.start
        start = self._with_comments_above(self.text.rfind('\n', 0, dash) + 1, before)
        end = self.text.find('\n', nodes[last].end)
        return Splice(start, len(self.text) if end < 0 else end + 1, '')

    def _end_of_key(self, name: str) -> int:
        root = self.report.root
        return next((key.end for key, _ in root.entries if key.text == name), 0) if isinstance(root, Keys) else 0

    def _with_comments_above(self, start: int, least: int) -> int:
        """The start of the comment lines that end where a line starts."""
        while True:
            above = self.text.rfind('\n', 0, max(start - 1, 0)) + 1
            if above <= least or above == start or not self.text[above:start].lstrip(' \t').startswith('#'):
                return start
            start = above


def _nearest_below(node: Node, name: str) -> list[Scalar]:
    found: list[Scalar] = []
    match node:
        case Keys(entries=entries):
            for key, value in entries:
                if key.text == 'nearest' and isinstance(value, Scalar) and value.text == name:
                    found.append(value)
                found += _nearest_below(value, name)
        case Items(values=values):
            found += [scalar for value in values for scalar in _nearest_below(value, name)]
    return found


def _renamed(keyframe: Keyframe, old: str, new: str) -> Keyframe:
    if isinstance(keyframe, Pick | Place | Trajectory) and keyframe.object == old:
        return replace(keyframe, object=new)
    return keyframe


def _renamed_descriptor(descriptor: Descriptor, old: str, new: str, by_name: bool) -> Descriptor:
    rule = _renamed_rule(descriptor.rule, old, new) if by_name and descriptor.rule is not None else descriptor.rule
    return Descriptor(new if descriptor.name == old else descriptor.name, rule)


def _renamed_rule(rule: Rule, old: str, new: str) -> Rule:
    match rule:
        case Nearest(to) if to == old:
            return Nearest(new)
        case AllOf(rules):
            return AllOf(tuple(_renamed_rule(part, old, new) for part in rules))
        case AnyOf(rules):
            return AnyOf(tuple(_renamed_rule(part, old, new) for part in rules))
        case Not(part):
            return Not(_renamed_rule(part, old, new))
        case _:
            return rule


def _refused(message: str, fix: str) -> MtdfError:
    return MtdfError([Problem(0, 0, None, None, message, fix)])
