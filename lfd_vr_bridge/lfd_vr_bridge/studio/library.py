"""Tasks in a folder, each with all its versions; nothing that was saved is ever overwritten.

    FOLDER/NAME/0001.mtdf.yaml   the first version, 0002 the second ...
    FOLDER/.trash/NAME.N/        what was deleted; moving it back brings it back

The tasks that come with the suite are there, too, as version 0, and cannot be changed. Files that others put into the
folder, change or take away are seen the next time somebody asks.
"""

from __future__ import annotations

import os
import re
import tempfile
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from lfd_description.hints import did_you_mean
from lfd_description.scenes.values import shortened
from lfd_planner.mtdf import MtdfError, Task, dump_task, load_report, task_file, task_names
from lfd_planner.mtdf.task import object_of

from .disk import on_disk, sync_folder
from .values import Refusal, TaskEntry

MOST_CHARACTERS = 80
MOST_BYTES = 240  # a file system's limit is 255, of which the trash needs some
MOST_VERSIONS = 9999
TRASH = '.trash'
ENDING = '.mtdf.yaml'
FORMATS = ('yaml', 'json')
_VERSION = re.compile(r'([0-9]{4})\.mtdf\.yaml')
_FORBIDDEN = frozenset('/\\:*?"<>|')  # some file system takes them for something else


@dataclass(frozen=True)
class _Read:
    """What a file holds."""

    keyframes: int
    objects: tuple[str, ...]
    problem: str


class TaskLibrary:
    """The tasks of a folder, which is made when it is needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[tuple[Path, int, int], _Read] = {}

    def entries(self) -> tuple[TaskEntry, ...]:
        """All tasks, in alphabetical order; those that cannot be used say why."""
        names = {*self._own(), *task_names()}
        found = (self._entry(name) for name in sorted(names))
        return tuple(entry for entry in found if entry is not None)

    def save(self, name: str, task: Task) -> int:
        """Keep a task as a new version; gives its number.

        Raises:
            Refusal: the name or the task cannot be used, or the disk does not take it.
        """
        name = checked_name(name)
        try:
            text = dump_task(task)
        except MtdfError as error:
            raise Refusal('wrong_task', f'The task cannot be saved: {error}') from None
        return on_disk('saved', lambda: self._write_new(name, text))

    def open(self, name: str, version: int | None = None) -> tuple[Task, int]:
        """A task, and which version it is: the newest unless one is asked for.

        Raises:
            Refusal: there is none, or its file is wrong.
        """
        file, version = self._found(name, version)
        try:
            return load_report(file).checked(f'{name}, version {version}'), version
        except MtdfError as error:
            raise Refusal('wrong_task', str(error)) from None

    def export(self, name: str, version: int | None = None, file_format: str = 'yaml') -> str:
        """The text of a task, in YAML as it was saved or in JSON.

        Raises:
            Refusal: there is none, its file is wrong, or there is no such format.
        """
        if file_format not in FORMATS:
            raise Refusal('wrong_format', f"There is no format '{shortened(file_format)}'; ask for yaml or json.")
        if file_format == 'json':
            return dump_task(self.open(name, version)[0], file_format='json')
        file, _ = self._found(name, version)
        return on_disk('read', lambda: file.read_text(encoding='utf-8'))

    def rename(self, name: str, to: str) -> None:
        """Give a task another name, with all its versions.

        Raises:
            Refusal: there is no such task of ours, or the new name cannot be used.
        """
        name, to = self._owned(name), checked_name(to)
        if self._versions(to) or to in task_names():
            raise Refusal('name_taken', f"There is a task '{to}' already; choose another name, or delete that one.")
        on_disk('renamed', lambda: self._place(name).rename(self._place(to)))

    def delete(self, name: str) -> None:
        """Put a task, with all its versions, into the trash.

        Raises:
            Refusal: there is no such task of ours.
        """
        name = self._owned(name)
        on_disk('deleted', lambda: self._to_trash(name))

    def restore(self, name: str) -> None:
        """Bring back what was deleted last under a name.

        Raises:
            Refusal: there is nothing of that name in the trash, or the name is taken again.
        """
        name = checked_name(name)
        found = sorted(self._in_trash(name), key=lambda folder: int(folder.suffix[1:]))
        if not found:
            raise Refusal('no_task', f"There is no task '{name}' in the trash.")
        if self._versions(name):
            raise Refusal('name_taken', f"There is a task '{name}' again; rename that one first.")
        on_disk('restored', lambda: found[-1].rename(self._place(name)))

    def path(self, name: str, version: int) -> Path:
        """Where the file of a version is, or would be; a log of its recording can be kept beside it.

        Raises:
            Refusal: the name cannot be used.
        """
        return self._place(checked_name(name)) / f'{version:04}{ENDING}'

    def _place(self, name: str) -> Path:
        return self.folder / name

    def _own(self) -> Iterator[str]:
        """Names of folders that can be tasks."""
        if not self.folder.is_dir():
            return
        for folder in self.folder.iterdir():
            with suppress(Refusal):
                if checked_name(folder.name) == folder.name and self._versions(folder.name):
                    yield folder.name

    def _versions(self, name: str) -> tuple[int, ...]:
        """The numbers of the versions that were saved, in order."""
        try:
            names = [file.name for file in self._place(name).iterdir()]
        except OSError:
            return ()
        return tuple(sorted(int(found[1]) for file in names if (found := _VERSION.fullmatch(file))))

    def _entry(self, name: str) -> TaskEntry | None:
        versions = self._versions(name)
        bundled = name in task_names()
        versions = (0, *versions) if bundled and 0 not in versions else versions
        if not versions:  # gone in the meantime
            return None
        file = task_file(name) if versions[-1] == 0 else self.path(name, versions[-1])
        try:
            status = file.stat()
        except OSError:
            return None
        key = file, status.st_mtime_ns, status.st_size
        if key not in self._known:
            self._known[key] = _read(file)
        read = self._known[key]
        changed = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec='seconds')
        only_bundled = versions[-1] == 0
        return TaskEntry(
            name, versions[-1], versions, read.keyframes, read.objects, changed, read.problem, only_bundled
        )

    def _found(self, name: str, version: int | None) -> tuple[Path, int]:
        name = checked_name(name)
        versions = self._versions(name)
        versions = (0, *versions) if name in task_names() else versions
        if not versions:
            raise self._missing(name)
        if version is None:
            version = versions[-1]
        if version not in versions:
            listed = ', '.join(map(str, versions[-10:]))
            raise Refusal('no_version', f"Task '{name}' has no version {version}; the newest are {listed}.")
        return task_file(name) if version == 0 else self.path(name, version), version

    def _owned(self, name: str) -> str:
        """The name of a task of ours, as its folder has it."""
        name = checked_name(name)
        if self._versions(name):
            return name
        if name in task_names():
            raise Refusal('read_only', f"'{name}' comes with lfd and stays; save it under another name to change it.")
        raise self._missing(name)

    def _missing(self, name: str) -> Refusal:
        hint = did_you_mean(name, {*self._own(), *task_names()})
        return Refusal('no_task', f"There is no task '{shortened(name)}'{hint}; choose one of the list.")

    def _write_new(self, name: str, text: str) -> int:
        """Write the next version; of two that do so at once, each gets its own number."""
        place = self._place(name)
        place.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=place, prefix='.new.')
        try:
            with os.fdopen(handle, 'w', encoding='utf-8') as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            Path(temporary).chmod(0o644)
            version = max(self._versions(name), default=0) + 1
            while version <= MOST_VERSIONS:
                try:
                    os.link(temporary, self.path(name, version))  # unlike a rename, fails if there is one
                except FileExistsError:
                    version += 1
                    continue
                sync_folder(place)
                sync_folder(self.folder)
                return version
        finally:
            Path(temporary).unlink(missing_ok=True)
        raise Refusal('too_many', f"Task '{name}' has {MOST_VERSIONS} versions; save it under another name.")

    def _to_trash(self, name: str) -> None:
        trash = self.folder / TRASH
        trash.mkdir(exist_ok=True)
        number = max((int(folder.suffix[1:]) for folder in self._in_trash(name)), default=0) + 1
        self._place(name).rename(trash / f'{name}.{number}')

    def _in_trash(self, name: str) -> Iterator[Path]:
        trash = self.folder / TRASH
        for folder in trash.iterdir() if trash.is_dir() else ():
            if folder.stem == name and folder.suffix[1:].isdecimal():
                yield folder


def checked_name(name: str) -> str:
    """A name that can be a task's and a folder's, in Unicode's composed form.

    Raises:
        Refusal: it cannot.
    """
    name = unicodedata.normalize('NFC', name)
    bad = (
        not name
        or name != name.strip()
        or name.startswith('.')
        or name.endswith('.')
        or not name.isprintable()
        or not _FORBIDDEN.isdisjoint(name)
        or len(name) > MOST_CHARACTERS
    )
    if bad or len(name.encode(errors='replace')) > MOST_BYTES:
        raise Refusal(
            'wrong_name',
            f"'{shortened(name)}' is no name for a task; write up to {MOST_CHARACTERS} letters, digits, spaces, '-' "
            f"and '_', and no dot at its ends.",
        )
    return name


def _read(file: Path) -> _Read:
    """What a file holds, or why it cannot be used."""
    try:
        task = load_report(file).checked()
    except MtdfError as error:
        return _Read(0, (), str(error).splitlines()[0])
    names = dict.fromkeys(name for keyframe in task.keyframes if (name := object_of(keyframe)))
    return _Read(len(task.keyframes), tuple(names), '')
