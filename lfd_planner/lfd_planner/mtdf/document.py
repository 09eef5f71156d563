"""A task file that is edited in place: what an edit does not touch keeps every character, comments included.

Each edit gives a new document. It is made on the text, then read again and compared with the same edit made on the
task, so that an edit does what it says or is refused.
"""

import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from lfd_description.files import write_atomically
from lfd_description.scenes.yaml_nodes import Items, Keys, Node, Scalar
from lfd_planner.pose import Pose

from .axes import ros_task_from_unity, unity_pose_from_ros
from .differences import differences
from .edits import has_comments, replaced, turned, with_head, without_items, without_key
from .layout import peek
from .problems import MtdfError, Problem
from .quaternions import unit
from .reader import Report, read_report, read_text
from .rules import AllOf, AnyOf, Nearest, Not, Rule
from .splices import Splice, spliced
from .task import Descriptor, Keyframe, Pick, Place, Task, Trajectory
from .values import written as written_numbers
from .writer import number_in_yaml, refuse_in_version_1, text_in_yaml


@dataclass(frozen=True)
class Document:
    """A readable task file as it was written."""

    text: str

    def __post_init__(self) -> None:
        _ = self.task  # refuses what cannot be read

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
        splices = [splice for scalar in scalars for splice in replaced(self.text, scalar, self._written(new))]
        expected = replace(
            self.task,
            descriptors=tuple(_renamed_descriptor(part, old, new, by_name) for part in self.task.descriptors),
            keyframes=tuple(_renamed(keyframe, old, new) for keyframe in self.task.keyframes),
        )
        return self._edited(splices, expected)

    def remove_keyframes(self, first: int, last: int | None = None) -> 'Document':
        """The task without keyframes `first` to `last`, both included, from 0; without `last` only the first.

        Comments that are about them go with them, those about others stay.

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
        splices = without_items(self.text, items, self._end_of_key('keyframes'), first, last)
        return self._edited(splices, replace(self.task, keyframes=kept))

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
        meant = unity_pose_from_ros(pose) if self.report.axes == 'unity' else pose
        numbers = {'position': meant.position, 'orientation': meant.orientation}
        splices = [
            Splice(place.start, place.end, number_in_yaml(number))
            for key, parts in numbers.items()
            for place, number in zip(written_numbers(peek(node, key) or node), parts, strict=True)
        ]
        keyframes = list(self.task.keyframes)
        keyframes[keyframe] = replace(old, pose=replace(pose, orientation=unit(pose.orientation) or pose.orientation))
        return self._edited(splices, replace(self.task, keyframes=tuple(keyframes)))

    def converted(self, version: int = 2, axes: str = 'ros') -> 'Document':
        """The same task in another version of the format, or with its numbers in other axes.

        Raises:
            MtdfError: the version cannot say what the task says.
        """
        root = self.report.root
        assert isinstance(root, Keys)
        if version == 1:
            refuse_in_version_1(self.task, axes)
        if (version, axes) == (self.report.version, self.report.axes):
            return self
        # Version 2 is told with its axes; version 1 has none to tell.
        splices = turned(self.text, root, axes) if axes != self.report.axes else []
        if version == 1:
            splices += with_head(self.text, root, {'version': '1'} if peek(root, 'version') is not None else {})
            splices += without_key(self.text, root, 'axes')
        else:
            splices += with_head(self.text, root, {'version': str(version), 'axes': axes})
        return self._edited(splices, self.task)

    def meant_in_unity(self) -> 'Document':
        """The task whose numbers were meant in Unity's axes although the file says nothing: converted to those of ROS.

        Version and axes are declared, so that nobody converts them again.
        """
        root = self.report.root
        assert isinstance(root, Keys)
        splices = [*turned(self.text, root, 'ros'), *with_head(self.text, root, {'version': '2', 'axes': 'ros'})]
        return self._edited(splices, ros_task_from_unity(self.task))

    @property
    def file_format(self) -> str:
        """How it is written: json, or yaml."""
        try:
            json.loads(self.text)
        except ValueError:
            return 'yaml'
        return 'json'

    @property
    def has_comments(self) -> bool:
        """Whether it holds what JSON cannot."""
        return has_comments(self.text, self.report.root)

    def _edited(self, splices: list[Splice], expected: Task) -> 'Document':
        edited = Document(spliced(self.text, splices))
        if edited.task != expected and differences(edited.task, expected):
            raise _refused('the edit would change more than it should', 'edit the file by hand')
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

    def _end_of_key(self, name: str) -> int:
        root = self.report.root
        return next((key.end for key, _ in root.entries if key.text == name), 0) if isinstance(root, Keys) else 0


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
