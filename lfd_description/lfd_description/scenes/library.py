"""The scenes that come with the suite: the YAML files of `scenes/`, found by listing."""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory

from ..hints import no_such
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
        raise UnknownScene(no_such('scene', name, names))
    return load_scene(_folder() / f'{name}.yaml')


def _folder() -> Path:
    return Path(get_package_share_directory('lfd_description')) / 'scenes'
