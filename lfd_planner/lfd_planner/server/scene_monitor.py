"""The scene that all clients of a server see.

Edits come one after the other; whoever reads takes a snapshot, which nothing changes any more. So requests run in
parallel, each against one consistent scene.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from lfd_planner.robot.planning_robot import PlanningRobot
from lfd_planner.scene import LinkPoses, PlanningScene, Pose

from .transform_tree import TransformTree


@dataclass(frozen=True)
class Version:
    """Which state of the monitored scene: how many edits it has seen, and how many joint states."""

    edits: int = 0
    states: int = 0


class SceneMonitor:
    """The current scene; safe to use from any thread."""

    def __init__(self, robot: PlanningRobot) -> None:
        self.robot = robot
        self.transforms = TransformTree(robot.frame, robot.tree.links)
        self._scene = robot.empty_scene()
        self._version = Version()
        self._seen_joints: set[str] = set()
        self._changed = threading.Condition()
        self._closed = False

    @property
    def scene(self) -> PlanningScene:
        """The scene as it is now, with the frames that others publish."""
        return self.snapshot()[0]

    def snapshot(self) -> tuple[PlanningScene, Version]:
        """The scene as it is now, and which version that is."""
        with self._changed:
            scene, version = self._scene, self._version
        return self._with_frames(scene), version

    def link_poses(self, scene: PlanningScene) -> LinkPoses:
        """The 4x4 transforms scene frame -> link [m], by link, in a scene."""
        return self.robot.frames.link_poses(scene.joints)

    def edit(self, change: Callable[[PlanningScene], PlanningScene]) -> PlanningScene:
        """Make the scene what `change` makes of it, and return that; if it raises, the scene stays as it is."""
        with self._changed:
            new = change(self._with_frames(self._scene))
            if new is not self._scene:
                self._scene = new
                self._version = replace(self._version, edits=self._version.edits + 1)
                self._changed.notify_all()
            return new

    def set_joints(self, positions: Mapping[str, float]) -> None:
        """Take over positions of joints [rad or m]; the robot's only, and those that are new."""
        with self._changed:
            own = {name: value for name, value in positions.items() if name in self.robot.frames.joints}
            self._seen_joints |= own.keys()
            new = {name: value for name, value in own.items() if self._scene.joints.get(name) != value}
            if new:
                self._scene = self._scene.with_joints(new)
            self._version = replace(self._version, states=self._version.states + 1)
            self._changed.notify_all()

    @property
    def missing_joints(self) -> tuple[str, ...]:
        """The joints whose position nobody has told yet; the scene has them at their home position."""
        with self._changed:
            return tuple(name for name in self.robot.joints if name not in self._seen_joints)

    def wait_for_edit(self, known: int, timeout: float) -> Version:
        """Wait until there is an edit after the `known` one, at most `timeout` seconds; return the version then."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._version.edits != known, timeout)
            return self._version

    def wait_for_change(self, known: Version, timeout: float) -> Version:
        """Wait until edits or joint states came after the `known` version, at most `timeout` seconds."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._version != known, timeout)
            return self._version

    def close(self) -> None:
        """Let all that wait go on."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def is_closed(self) -> bool:
        """Whether the server is ending."""
        return self._closed

    def _with_frames(self, scene: PlanningScene) -> PlanningScene:
        if not self.transforms:
            return scene
        frames: Mapping[str, Pose] = self.transforms.poses(self.link_poses(scene))
        new = {name: pose for name, pose in frames.items() if scene.fixed_frames.get(name) != pose}
        return replace(scene, fixed_frames=scene.fixed_frames.edit(new.items())) if new else scene
