"""An object that is in the hand before anything moves, such as after an execution that was stopped on its way."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from lfd_description.grasp_data import FingerGraspData
from lfd_planner.grasps.grasp import Batch, Grasp, GraspSet, Source
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene
from lfd_planner.scene.planning_scene import link_pose
from lfd_planner.solution import Attachment
from lfd_planner.task import Context, Forward, Motion, Rejection, State, Step
from lfd_planner.timing import Trajectory

from .arm import Arm
from .grasping import HOLD, Hold
from .loose_object import LooseObject


class AlreadyHeld(Forward):
    """Goes on with an object in the hand as if it had just been picked; nothing moves."""

    def __init__(self, arm: Arm, object: str, *, keyframe: int = -1, name: str = 'hold') -> None:
        super().__init__(name, keyframe=keyframe)
        self.arm, self.object = arm, object

    def forward(self, context: Context, start: State) -> Iterable[Step | Rejection]:
        """The grasp is what the hand and the object are to each other now."""
        if self.object not in start.scene.attached:
            yield Rejection('nothing_held', (self.object,), detail=f"'{self.object}' is not in the hand.")
            return
        comment = f'{self.object} is in the hand already'
        for hold in current_holds(self.arm, start.scene, self.object):
            motion = Motion(self.name, Trajectory.at(self.arm.q(start)), self.keyframe)
            yield Step.moving(start, start.knowing(HOLD, hold), motion, comment=comment)


def current_holds(arm: Arm, scene: PlanningScene, object: str) -> Iterator[Hold]:
    """How an attached object is held now, as grasps: the hand opens no farther than it needs to, or as far as it can.

    The second is for fingers that are not where they seem to be.
    """
    held = scene.attached[object]
    link_poses = arm.backend.robot.frames.link_poses(scene.joints)
    tcp = (link_pose(held.link, link_poses) @ held.pose).inverse @ link_pose(arm.tcp, link_poses)
    attachment = Attachment(object, held.link, tuple(sorted(held.touch_links)))
    stands_on = supports(arm, scene, object)
    for width, closed, opened in _hands(arm, scene):
        grasp = Grasp(tcp, width, closed, opened, 0.0, 1.0, Source.HINT, 'as it is held now')
        yield Hold(object, grasp, attachment, stands_on)


def held_as_grasps(arm: Arm, scene: PlanningScene, object: str) -> GraspSet:
    """How an attached object is held now, as the only grasp of its body.

    Raises:
        ValueError: the arm has no gripper.
    """
    if arm.gripper is None:
        raise ValueError('A robot without a gripper holds nothing.')
    hold = next(current_holds(arm, scene, object))
    width = math.nan if hold.grasp.width is None else hold.grasp.width
    tcp = hold.grasp.tcp.matrix[np.newaxis]
    return GraspSet(arm.gripper.grasp_data, Batch.of(tcp, width, np.zeros(1), Source.HINT))


def _hands(arm: Arm, scene: PlanningScene) -> Iterator[tuple[float | None, Mapping[str, float], Mapping[str, float]]]:
    """How far the fingers are apart [m], where their joints are, and ways in which they let go [rad or m]."""
    data = arm.gripper.grasp_data if arm.gripper else None
    if not isinstance(data, FingerGraspData):
        yield None, {}, {}
        return
    joints = arm.backend.robot.with_followers(scene.joints)
    closed = [joints.get(f'{arm.prefix}{name}', 0.0) for name in data.joints]
    width = min(max(data.width(closed), data.min_finger_width), data.max_finger_width)
    enough = data.posture(min(width + 2.0 * data.grasp_padding_on_approach, data.max_finger_width))
    for opened in (enough, data.pregrasp_posture):
        yield width, dict(zip(data.joints, closed, strict=True)), dict(zip(data.joints, opened, strict=True))


def supports(arm: Arm, scene: PlanningScene, object: str) -> tuple[str, ...]:
    """What a held object touches where it is: it may not have been lifted yet, or have been put down already."""
    held = scene.attached[object]
    pose: Pose = link_pose(held.link, arm.backend.robot.frames.link_poses(scene.joints)) @ held.pose
    return LooseObject(scene.drop(object), object, held.body).touching(pose).supports


def lying(arm: Arm, scene: PlanningScene) -> PlanningScene:
    """The scene in which all that is held may touch what it stands on."""
    for name in scene.attached:
        scene = scene.allow(name, *supports(arm, scene, name))
    return scene
