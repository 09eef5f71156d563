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


def scene_path(name: str) -> Path | None:
    """The file that a user means by a text: a path has an ending or folders; None for the name of a bundled scene."""
    path = Path(name)
    return path if path.suffix or len(path.parts) > 1 else None


def open_scene(name: str) -> Scene:
    """The scene of a file, or the bundled one of that name.

    Raises:
        UnknownScene: it is a name, and there is no such scene.
        SceneError: the file is missing or wrong.
    """
    path = scene_path(name)
    return find_scene(name) if path is None else load_scene(path)


def _folder() -> Path:
    return Path(get_package_share_directory('lfd_description')) / 'scenes'
