"""Frames that somebody else publishes, such as a camera's: the newest transform of each to its parent."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping

from lfd_planner.scene import IDENTITY, LinkPoses, Pose

MOST_FRAMES = 10_000
LONGEST_WAY = 100  # transforms from a frame to one that is known; more, and it turns in a circle


class TransformTree:
    """Frames below frames; `links` are the robot's own, whose poses come from its joints and not from here."""

    def __init__(self, frame: str, links: Collection[str]) -> None:
        self._own = {frame, *links}
        self._frame = frame
        self._parents: dict[str, tuple[str, Pose]] = {}
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        """Whether there is any frame."""
        return bool(self._parents)

    def set(self, parent: str, child: str, pose: Pose) -> None:
        """Take over where a frame is in its parent; one of the robot's own is left alone."""
        if child in self._own or not child or not parent:
            return
        with self._lock:
            if child in self._parents or len(self._parents) < MOST_FRAMES:
                self._parents[child] = (parent, pose)

    def poses(self, link_poses: LinkPoses) -> Mapping[str, Pose]:
        """The poses in the scene's frame of all frames that hang from it or from a link."""
        with self._lock:
            parents = dict(self._parents)
        found: dict[str, Pose | None] = {}
        for frame in parents:
            _resolve(frame, parents, self._frame, link_poses, found)
        return {frame: pose for frame, pose in found.items() if pose is not None and frame in parents}


def _resolve(
    frame: str,
    parents: Mapping[str, tuple[str, Pose]],
    root: str,
    link_poses: LinkPoses,
    found: dict[str, Pose | None],
) -> None:
    """Add the pose of a frame to `found`, and of those above it; None for what hangs from nothing known."""
    way: list[str] = []
    while frame not in found and frame in parents and len(way) < LONGEST_WAY:
        way.append(frame)
        frame = parents[frame][0]
    if frame == root:
        pose: Pose | None = IDENTITY
    elif frame in link_poses:
        pose = Pose.of(link_poses[frame])
    else:
        pose = found.get(frame)
    for name in reversed(way):
        pose = None if pose is None else pose @ parents[name][1]
        found[name] = pose
