"""What every robot of the demo is asked to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lfd_description.scenes import Scene, find_scene
from lfd_planner.mtdf import Place, Task, find_task, resolve_task
from lfd_planner.mtdf.library import task_file
from lfd_planner.pose import Pose

TASK, SCENE = 'stack_boxes', 'seed_cell'


@dataclass(frozen=True)
class Job:
    """A task in a scene, both by their names in the suite and opened."""

    task_name: str
    scene_name: str
    text: str
    """The MTDF text."""
    task: Task
    scene: Scene
    origin: Pose
    """Of the task's frame in the scene's."""

    @property
    def objects(self) -> Mapping[str, str]:
        """The scene's objects by the task's descriptors."""
        return resolve_task(self.task, self.scene, self.origin).objects

    @property
    def wanted(self) -> Mapping[str, Pose]:
        """Where objects are to be in the end, by name, in the scene's frame."""
        objects = self.objects
        places = [keyframe for keyframe in self.task.keyframes if isinstance(keyframe, Place)]
        return {objects.get(place.object, place.object): self.origin @ place.pose for place in places}


def bundled_job() -> Job:
    """The demonstration that comes with the suite, where it recommends itself."""
    task = find_task(TASK)
    origin = task.origin.pose if task.origin is not None else Pose()
    return Job(TASK, SCENE, task_file(TASK).read_text(encoding='utf-8'), task, find_scene(SCENE), origin)
