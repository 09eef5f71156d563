"""What a person sees of the demo: joints moving in the terminal, and pictures of the motion as it was judged."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lfd_description.meshes import shape_mesh
from lfd_description.model.builder import mesh_finder
from lfd_description.model.model import RobotModel
from lfd_description.pictures.contact_sheet import Captioned, contact_sheet
from lfd_description.pictures.robot_picture import corners_of, drawn_robot, slider_range
from lfd_description.pictures.scene_picture import Camera, Item, aspect_of, render
from lfd_description.pictures.studio import Image
from lfd_description.shapes import Plane
from lfd_planner.validate.replay import Stage, Story, Stretch

from .job import Job

BAR_WIDTH = 40
FRAME = (720, 640)  # [px]
COLUMNS = 3
SPACE = 0.08  # [m] that is seen around what is moved
AZIMUTH, ELEVATION = float(np.radians(32.0)), float(np.radians(20.0))


class LiveView:
    """Joint positions as marks between their limits, redrawn in place."""

    def __init__(self, model: RobotModel) -> None:
        self._joints = model.group.joints
        self._ranges = [slider_range(model.tree.joint[name]) for name in self._joints]
        self._width = max(map(len, self._joints))
        self._is_drawn = False

    def __call__(self, positions: list[float]) -> None:
        """Draw joint positions [rad]."""
        if self._is_drawn:
            sys.stdout.write(f'\x1b[{len(self._joints)}A')
        self._is_drawn = True
        for name, value, (lower, upper) in zip(self._joints, positions, self._ranges, strict=True):
            mark = round((value - lower) / (upper - lower) * (BAR_WIDTH - 1))
            bar = ''.join('●' if cell == mark else '·' for cell in range(BAR_WIDTH))
            sys.stdout.write(f'\x1b[2K    {name:{self._width}} {bar} {np.degrees(value):7.1f}°\n')
        sys.stdout.flush()

    def clear(self) -> None:
        """Take it off the terminal."""
        if self._is_drawn:
            sys.stdout.write(f'\x1b[{len(self._joints)}A\x1b[J')
            self._is_drawn = False


@dataclass(frozen=True, eq=False)
class Moment:
    """A moment of the motion: a sample of one of its stretches, and what is to be said of it."""

    title: str
    stretch: Stretch
    row: int

    @property
    def time(self) -> float:
        """Since the motion began [s]."""
        return float(self.stretch.times[self.row])


class Photographer:
    """Takes pictures of a robot at work in a scene, all from one place from which all its moments are seen."""

    def __init__(self, job: Job, model: RobotModel, stage: Stage, story: Story) -> None:
        self._job = job
        self._stage = stage
        self._robot = drawn_robot(model.urdf, mesh_finder(model.robot))
        self._meshes = {
            thing.name: (shape_mesh(thing.shape), thing.colour)
            for thing in job.scene.objects
            if not isinstance(thing.shape, Plane)
        }
        self.moments = moments(story)
        self._camera = self._aimed()

    def picture(self, moment: Moment) -> Captioned:
        """The robot and all objects at a moment."""
        image = render([*self._arm(moment), *self._objects(moment)], self._camera, FRAME, floor=self._floor())
        return Captioned(image, moment.title, f'{moment.time:.1f} s')

    def _aimed(self) -> Camera:
        """A camera that has the arm at all moments, and all that it moves with some space around, in its picture."""
        movable = {thing.name for thing in self._job.scene.objects if thing.movable}
        arm = corners_of(tuple(item for moment in self.moments for item in self._arm(moment)))
        moved = corners_of(tuple(item for moment in self.moments for item in self._objects(moment, movable)))
        around = [moved + np.array([x, y, -SPACE]) for x in (-SPACE, SPACE) for y in (-SPACE, SPACE)]
        return Camera.around(np.concatenate([arm, *around]), AZIMUTH, ELEVATION, aspect=aspect_of(FRAME), margin=0.05)

    def _arm(self, moment: Moment) -> list[Item]:
        poses = self._link_poses(moment)
        links = self._stage.links
        return [
            Item(item.mesh, poses[links[link]] @ item.pose, item.colour)
            for link, items in self._robot.items.items()
            for item in items
        ]

    def _objects(self, moment: Moment, names: set[str] | None = None) -> list[Item]:
        poses = dict(moment.stretch.standing)
        links = self._link_poses(moment)
        for name, held in moment.stretch.held.items():
            poses[name] = links[self._stage.links[held.attachment.link]] @ held.grip
        chosen = [name for name in self._meshes if names is None or name in names]
        return [Item(self._meshes[name][0], poses[name], self._meshes[name][1]) for name in chosen]

    def _link_poses(self, moment: Moment) -> npt.NDArray[np.float64]:
        found: npt.NDArray[np.float64] = self._stage.link_poses(moment.stretch.q[moment.row][np.newaxis])[0]
        return found

    def _floor(self) -> float | None:
        """The height [m] of the scene's floor, if it has one."""
        planes = [thing.position[2] for thing in self._job.scene.objects if isinstance(thing.shape, Plane)]
        return min(planes, default=None)


def moments(story: Story) -> tuple[Moment, ...]:
    """What is worth a picture: the start, each object when the hand has left it, and the last one on its way."""
    chosen = [Moment('start', story.stretches[0], 0)]
    releases = [stretch for stretch in story.stretches if stretch.segment.detach is not None]
    for release in releases:
        name = release.segment.detach.object if release.segment.detach else ''
        if release is releases[-1]:
            chosen.append(_carried(story, name))
        left = story.stretches[min(release.index + 1, len(story.stretches) - 1)]
        chosen.append(Moment(f'{_spoken(name)} placed', left, len(left.times) - 1))
    return tuple(chosen)


def sheet(shots: Sequence[Captioned]) -> Image:
    """Several pictures on one."""
    return contact_sheet(shots, min(len(shots), COLUMNS))


def _carried(story: Story, name: str) -> Moment:
    """The middle of the longest stretch on which an object is carried."""
    carrying = [stretch for stretch in story.stretches if name in stretch.held]
    longest = max(carrying, key=lambda stretch: float(np.ptp(stretch.times)))
    middle = int(np.searchsorted(longest.times, longest.times.mean()))
    return Moment(f'{_spoken(name)} on its way', longest, min(middle, len(longest.times) - 1))


def _spoken(name: str) -> str:
    return name.replace('_', ' ')
