"""The scene that all clients of a server see.

Edits come one after the other; whoever reads takes a snapshot, which nothing changes any more. So requests run in
parallel, each against one consistent scene. Neither they nor joint states wait for an edit, which may have a large mesh
to convert: the scene is locked only while it is exchanged.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from lfd_planner.robot.planning_robot import PlanningRobot
from lfd_planner.scene import LinkPoses, PlanningScene, Pose

from .transform_tree import TransformTree


@dataclass(frozen=True)
class Version:
    """Which state of the monitored scene; versions between which nothing changed are equal."""

    edits: int = 0
    """How many edits it has seen."""
    states: int = 0
    """How many joint states that told something new."""


class SceneMonitor:
    """The current scene; safe to use from any thread."""

    def __init__(self, robot: PlanningRobot) -> None:
        self.robot = robot
        self.transforms = TransformTree(robot.frame, robot.tree.links, robot.tree.root)
        self._joints = frozenset(robot.joints)
        self._scene = robot.empty_scene()
        self._version = Version()
        self._heard: set[str] = set()  # the joints of which joint states have told
        self._editing = threading.RLock()
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
        """Make the scene what `change` makes of it, and return that; if it raises, the scene stays as it is.

        Joint states that come meanwhile are kept.
        """
        with self._editing:
            before = self.scene
            new = change(before)
            if new is before:
                return new
            with self._changed:
                if self._scene.joints is not before.joints:
                    new = replace(new, joints=new.joints.edit(self._scene.joints.edits_from(before.joints)))
                self._scene = new
                self._version = replace(self._version, edits=self._version.edits + 1)
                self._changed.notify_all()
            return new

    def set_joints(self, positions: Mapping[str, float]) -> None:
        """Take over positions of joints [rad or m]: of the robot's own, but not of those that follow another."""
        own = {name: value for name, value in positions.items() if name in self._joints}
        if not own:
            return
        with self._changed:
            news = {name: value for name, value in own.items() if self._scene.joints.get(name) != value}
            if news:
                self._scene = self._scene.with_joints(news)
            is_new = bool(news) or not own.keys() <= self._heard
            self._version = replace(self._version, states=self._version.states + is_new)
            self._heard.update(own)
            self._changed.notify_all()

    @property
    def missing_joints(self) -> tuple[str, ...]:
        """The joints whose position nobody has told yet; the scene has them at their home position."""
        return self.missing(self.robot.joints)

    def missing(self, joints: Iterable[str]) -> tuple[str, ...]:
        """Those among `joints` whose position nobody has told yet; joints that follow another need not be told."""
        with self._changed:
            return tuple(name for name in joints if name in self._joints and name not in self._heard)

    def wait_for_change(self, known: Version, timeout: float) -> Version:
        """Wait until something changed after the `known` version, at most `timeout` seconds; return the version then.

        Joint states of a robot that stands still are no change, but the first that tell of a joint are one.
        """
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
