"""Open the hand and leave the object where it is."""

from __future__ import annotations

from collections.abc import Iterable

from lfd_planner.task import Context, Forward, Motion, Rejection, State, Step

from .arm import Arm
from .grasping import GOAL, HOLD


class OpenHand(Forward):
    """Opens the fingers as far as they were open before the grasp, or switches the vacuum off."""

    def __init__(self, arm: Arm, *, keyframe: int = -1, name: str = 'open') -> None:
        super().__init__(name, keyframe=keyframe)
        self.arm = arm

    def forward(self, context: Context, start: State) -> Iterable[Step | Rejection]:
        """The arm stands still meanwhile."""
        arm, hold, goal = self.arm, start.get(HOLD), start.get(GOAL)
        if hold is None or goal is None or arm.gripper is None:
            yield Rejection('nothing_held', detail='There is nothing in the hand to let go of.')
            return
        opened = arm.hand(hold.grasp.open_posture)
        scene = start.scene.detach(hold.object, arm.backend.robot.frames.link_poses(start.scene.joints))
        scene = scene.move(hold.object, goal.pose).with_joints(opened)  # without the rounding of the kinematics
        duration = arm.hand_time(arm.hand_of(start.scene), opened, arm.gripper.grasp_data.pregrasp_time_from_start)
        motion = Motion(
            self.name,
            arm.standing(arm.q(start), duration),
            self.keyframe,
            detach=hold.attachment,
            gripper=opened,
            contacts=(
                *((link, hold.object) for link in arm.touch_links),
                *((hold.object, support) for support in goal.supports),
            ),
            outputs={f'{arm.prefix}{arm.gripper.gpio}': False} if arm.gripper.gpio else {},
        )
        yield Step.moving(start, start.with_scene(scene), motion)
