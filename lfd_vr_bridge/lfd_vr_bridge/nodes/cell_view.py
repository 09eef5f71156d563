"""What the studio is told of the robot and the planning scene, and what the planning scene is told of the studio.

```
planning scene ──► CellView ──► Studio: what the robot took, carries and put down, and what others added
Studio ──► CellView ──► twin_scene: all but the way of what the robot carries, which the planning scene knows better
                   └──► collision_object: that an object of others shall be gone
```

Nothing goes round in circles: what the robot carries stays, for scene sync, where it was taken from; where it was put
down is told to scene sync as the planning server said it, to the last digit. All of it happens in the event loop's
thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene, RobotFrames, WorldObject

from ..studio.studio import Studio
from ..studio.values import Change, ObjectsChanged, OtherUnwanted, RecordingState
from .scene_watch import Holding, Seen


class CellView:
    """Keeps studio and planning scene of one mind.

    Args:
        studio: whose twin it is.
        frames: of the robot, in the twin's frame.
        publish: tells the world of the twin.
        remove: takes an object that is none of the twin's out of the planning scene.
    """

    def __init__(
        self,
        studio: Studio,
        frames: RobotFrames,
        publish: Callable[[PlanningScene], None],
        remove: Callable[[str], None],
    ) -> None:
        self._studio, self._frames, self._publish, self._remove = studio, frames, publish, remove
        self._is_open = False
        self._revision = studio.twin.revision
        self._held: dict[str, Holding] = {}
        self._taken: dict[str, WorldObject] = {}  # what the robot holds, as it stood before
        self._joints: dict[str, float] = {}
        studio.listen(self._on_change)

    def open(self) -> None:
        """Publish the twin from now on, whether or not a planning server has told anything."""
        if not self._is_open:
            self._is_open = True
            self._publish(self._told())

    def seen(self, seen: Seen) -> None:
        """Take over what the planning server has."""
        if not self._is_open:
            self._adopt(seen)
        self._take(seen)
        self._studio.set_others(seen.others, seen.scene.colours)
        self.open()

    def joints(self, positions: Mapping[str, float]) -> None:
        """Move what the robot holds along; positions by joint [rad or m]."""
        self._joints.update(positions)
        if not self._held:
            return
        links = self._frames.link_poses(self._joints)
        for name, held in self._held.items():
            if held.link in links:
                self._studio.robot_moved(name, Pose.of(links[held.link]) @ held.pose)

    def _adopt(self, seen: Seen) -> None:
        """Begin with what an earlier run of this node left on the planning server, unless somebody was quicker."""
        studio, found = self._studio, seen.twin
        is_untouched = studio.twin.revision == self._revision and studio.recording.state is RecordingState.IDLE
        if not found.objects or not is_untouched:
            return
        for name, (before, after) in found.objects.changes_from(studio.twin.scene.objects).items():
            if after is None:
                if name not in seen.scene.attached:
                    studio.remove_object(name)
            elif before is not None:  # of whatever make: a planning server has no capsules
                studio.place_object(name, after.pose)
            else:
                studio.add_object(after, found.colours.get(name))

    def _take(self, seen: Seen) -> None:
        held = seen.held
        for name, holding in held.items():
            thing = self._studio.twin.scene.objects.get(name)
            if thing is not None:
                self._held[name] = holding
                if name not in self._taken:
                    self._taken[name] = thing
                    self._studio.robot_took(name)
        for name in [name for name in self._held if name not in held]:
            stands = seen.scene.objects.get(name)
            if stands is not None:  # one that is gone comes back with a planning server that was restarted
                del self._held[name]
                del self._taken[name]
                self._studio.robot_put(name, stands.pose)
        self.joints({})

    def _on_change(self, change: Change) -> None:
        if isinstance(change, ObjectsChanged) and self._is_open:
            self._publish(self._told())
        elif isinstance(change, OtherUnwanted):
            self._remove(change.object)

    def _told(self) -> PlanningScene:
        """The twin as scene sync is to know it."""
        scene = self._studio.twin.scene
        here = [(name, thing) for name, thing in self._taken.items() if name in scene.objects]
        still = (replace(scene.objects[name], pose=thing.pose) for name, thing in here)
        return scene.add(*still) if here else scene
