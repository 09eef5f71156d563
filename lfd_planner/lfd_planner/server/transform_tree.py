"""Frames that somebody else publishes, such as a camera's or the world's: the newest transform of each to its parent.

A transform is used both ways: what hangs below a link or the scene's frame is known, and so is what these hang from,
with all that hangs beside them.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping

from lfd_planner.scene import IDENTITY, LinkPoses, Pose

MOST_FRAMES = 10_000


class TransformTree:
    """Frames below frames; `links` are the robot's own, whose poses come from its joints and not from here.

    The robot hangs from elsewhere by `root`, its root link, or by the scene's `frame`; of no other link do others tell
    where it is.
    """

    def __init__(self, frame: str, links: Collection[str], root: str | None = None) -> None:
        self._own = {frame, *links}
        self._hooks = {frame, root}
        self._frame = frame
        self._parents: dict[str, tuple[str, Pose]] = {}
        self._lock = threading.Lock()

    def __bool__(self) -> bool:
        """Whether there is any frame."""
        return bool(self._parents)

    def set(self, parent: str, child: str, pose: Pose) -> None:
        """Take over where a frame is in its parent; how the robot's own are in each other is left alone."""
        if not child or not parent or child == parent:
            return
        if child in self._own and (parent in self._own or child not in self._hooks):
            return
        with self._lock:
            if child in self._parents or len(self._parents) < MOST_FRAMES:
                self._parents[child] = (parent, pose)

    def poses(self, link_poses: LinkPoses) -> Mapping[str, Pose]:
        """The poses in the scene's frame of all frames that are joined to it or to a link, however far away."""
        with self._lock:
            parents = dict(self._parents)
        found = {name: Pose.of(link_poses[name]) for name in _named(parents) if name in link_poses}
        found[self._frame] = IDENTITY
        around = _neighbours(parents)
        # Nearer frames come first, so that each is found by its shortest way and circles end.
        frames = list(found)
        for frame in frames:
            for neighbour, pose in around.get(frame, ()):
                if neighbour not in found and neighbour not in self._own:
                    found[neighbour] = found[frame] @ pose
                    frames.append(neighbour)
        return {name: pose for name, pose in found.items() if name not in self._own}


def _named(parents: Mapping[str, tuple[str, Pose]]) -> dict[str, None]:
    """All frames that transforms name, in their order."""
    return dict.fromkeys(name for child, (parent, _) in parents.items() for name in (parent, child))


def _neighbours(parents: Mapping[str, tuple[str, Pose]]) -> dict[str, list[tuple[str, Pose]]]:
    """For each frame those that it is joined to, and their poses in it."""
    around: dict[str, list[tuple[str, Pose]]] = {}
    for child, (parent, pose) in parents.items():
        around.setdefault(parent, []).append((child, pose))
        around.setdefault(child, []).append((parent, pose.inverse))
    return around
