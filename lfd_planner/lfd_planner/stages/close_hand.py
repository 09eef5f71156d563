"""Close the hand on an object and take it."""

from __future__ import annotations

from collections.abc import Iterable

from lfd_planner.scene import AttachedObject
from lfd_planner.task import Context, Forward, Motion, Rejection, State, Step

from .arm import Arm
from .grasping import HOLD


class CloseHand(Forward):
    """Closes the fingers to the grasp's width, or switches the vacuum on; then the object moves with the hand."""

    def __init__(self, arm: Arm, *, keyframe: int = -1, name: str = 'close') -> None:
        super().__init__(name, keyframe=keyframe)
        self.arm = arm

    def forward(self, context: Context, start: State) -> Iterable[Step | Rejection]:
        """The arm stands still meanwhile."""
        arm, hold = self.arm, start.get(HOLD)
        if hold is None or arm.gripper is None:
            yield Rejection('no_grasp', detail='There is no grasp to close the hand for.')
            return
        closed = arm.hand(hold.grasp.posture)
        thing = start.scene.objects[hold.object]
        held = AttachedObject(
            hold.object, thing.body, hold.attachment.link, hold.object_in_tcp, frozenset(hold.attachment.touch_links)
        )
        scene = start.scene.with_joints(closed)
        scene = scene.attach_new(held, arm.backend.robot.frames.link_poses(scene.joints))
        duration = arm.hand_time(arm.hand_of(start.scene), closed, arm.gripper.grasp_data.grasp_time_from_start)
        motion = Motion(
            self.name,
            arm.standing(arm.q(start), duration),
            self.keyframe,
            attach=hold.attachment,
            gripper=closed,
            contacts=tuple((link, hold.object) for link in arm.touch_links),
            outputs={f'{arm.prefix}{arm.gripper.gpio}': True} if arm.gripper.gpio else {},
        )
        yield Step.moving(start, start.with_scene(scene), motion)
