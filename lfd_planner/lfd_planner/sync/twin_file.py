"""A scene file as the twin: read at the start, and again on request if it has changed."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lfd_description.meshes import MeshError
from lfd_description.scenes import Scene, SceneError, open_scene, scene_path
from lfd_description.shapes import MeshFile
from lfd_planner.scene import PlanningScene, from_scene, triangles_of


@dataclass(frozen=True)
class TwinState:
    """The twin's objects, and those of it that cannot be used."""

    scene: PlanningScene
    refused: dict[str, str]
    """A sentence for each object that was left out, or left as it was, by id."""
    unknown: tuple[str, ...] = ()
    """Objects that an update moved and nobody has told of, the first of them: something is missing."""


class TwinFile:
    """The objects of a scene file.

    Raises:
        SceneError: the file is missing or wrong.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._version = self._stat()
        self.state = _checked(open_scene(name))

    def refresh(self) -> str:
        """Read the file again if it has changed; returns why that was in vain, and the last good state stays."""
        version = self._stat()
        if version == self._version:
            return ''
        try:
            state = _checked(open_scene(self._name))
        except SceneError as error:
            return ' '.join(str(error).splitlines())
        if state.scene.frame != self.state.scene.frame:
            return (
                f"{self._name} is now in the frame '{state.scene.frame}' and was in '{self.state.scene.frame}'; "
                f'restart scene sync.'
            )
        self._version, self.state = version, state
        return ''

    def _stat(self) -> tuple[int, int, int] | None:
        path = scene_path(self._name)  # a bundled scene does not change
        try:
            status = None if path is None else path.stat()
        except OSError:
            return None
        return None if status is None else (status.st_mtime_ns, status.st_size, status.st_ino)


def _checked(scene: Scene) -> TwinState:
    """The scene without objects whose mesh file cannot be used."""
    refused: dict[str, str] = {}
    for thing in scene.objects:
        if isinstance(thing.shape, MeshFile):
            try:
                triangles_of(thing.shape)
            except MeshError as error:
                refused[thing.name] = f"Object '{thing.name}': {error}"
    usable = tuple(thing for thing in scene.objects if thing.name not in refused)
    return TwinState(from_scene(replace(scene, objects=usable)), refused)
