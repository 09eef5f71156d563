"""The scenes that come with the suite: the YAML files of `scenes/`, found by listing."""

import difflib
from pathlib import Path

from ament_index_python.packages import get_package_share_directory

from .scene import Scene, SceneError
from .scene_file import load_scene


class UnknownScene(SceneError):
    """There is no scene of that name."""


def scene_names() -> tuple[str, ...]:
    """The names of all scenes, in alphabetical order."""
    return tuple(sorted(file.stem for file in _folder().glob('*.yaml')))


def find_scene(name: str) -> Scene:
    """The scene of that name.

    Raises:
        UnknownScene: there is none; the message names those there are.
        SceneError: its file is wrong; the message names the file and the line.
    """
    names = scene_names()
    if name not in names:
        nearest = difflib.get_close_matches(name.lower(), names, n=1)
        hint = f" (did you mean '{nearest[0]}'?)" if nearest else ''
        raise UnknownScene(f"There is no scene '{name}'{hint}; choose one of {', '.join(names)}.")
    return load_scene(_folder() / f'{name}.yaml')


def _folder() -> Path:
    return Path(get_package_share_directory('lfd_description')) / 'scenes'
