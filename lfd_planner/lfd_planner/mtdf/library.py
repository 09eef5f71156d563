"""The tasks that come with the suite: the files of `tasks/`, found by listing."""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory

from lfd_description.hints import nearest

from .problems import MtdfError, Problem
from .reader import load_task
from .task import Task

ENDING = '.mtdf.yaml'


def task_names() -> tuple[str, ...]:
    """The names of all tasks, in alphabetical order."""
    return tuple(sorted(file.name.removesuffix(ENDING) for file in _folder().glob(f'*{ENDING}')))


def task_file(name: str) -> Path:
    """The file of the task of that name.

    Raises:
        MtdfError: there is none; the message names those there are.
    """
    names = task_names()
    if name not in names:
        meant = nearest(name, names)
        fix = f"did you mean '{meant}'?" if meant else f'choose one of {", ".join(names)}'
        raise MtdfError([Problem(0, 0, None, None, f"there is no task '{name}'", fix)])
    return _folder() / f'{name}{ENDING}'


def find_task(name: str) -> Task:
    """The task of that name.

    Raises:
        MtdfError: there is none, or its file is wrong.
    """
    return load_task(task_file(name))


def _folder() -> Path:
    return Path(get_package_share_directory('lfd_planner')) / 'tasks'
