"""From keyframes to stages: a pick, what is carried, and its place become one container each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from lfd_description.grasp_data import AnyGraspData
from lfd_planner.grasps import GraspSet, generate_grasps
from lfd_planner.mtdf import AwaitInput, GraspHint, Keyframe, Pick, Place, SetOutput, Trajectory, Wait
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, PlanningScene
from lfd_planner.solution import Awaited
from lfd_planner.stages.already_held import AlreadyHeld, held_as_grasps, supports
from lfd_planner.stages.approach import Approach
from lfd_planner.stages.arm import Arm
from lfd_planner.stages.close_hand import CloseHand
from lfd_planner.stages.connect import Connect
from lfd_planner.stages.current_state import CurrentState
from lfd_planner.stages.follow_trajectory import FollowTrajectory
from lfd_planner.stages.generate_grasps import GenerateGrasps, Purpose
from lfd_planner.stages.generate_place_pose import GeneratePlacePose
from lfd_planner.stages.held_at import HeldAt
from lfd_planner.stages.lift import Lift
from lfd_planner.stages.lower import Lower
from lfd_planner.stages.move_to import MoveTo
from lfd_planner.stages.open_hand import OpenHand
from lfd_planner.stages.retreat import Retreat
from lfd_planner.stages.switch_output import AwaitSignal, SwitchOutput
from lfd_planner.stages.wait import Pause
from lfd_planner.stopping import ShouldStop
from lfd_planner.task import Serial, Stage

from .pick_and_place import PickAndPlace
from .regrasp import Regrasp

MOST_GRASPS = 24  # grasps of one pick that are tried with all their motions
MOST_PLACES = 8  # arm positions at a place that are tried for one grasp
BEAM = 4  # solutions of one pick and place that the next may choose from
MOST_BACKUPS = 24  # choices of earlier picks and places that a task goes back to
CLEARANCE = 0.03  # [m] that is lifted and lowered, unless the gripper asks for more
AWAY = 0.01  # [m] beyond the depth of a grasp, by which approach and retreat must be free at least
MOST_TRIES = 40  # other choices within one pick and place, before it counts as impossible
MOST_FAILURES = 16  # times that a stage of a pick and place finds nothing at all, before it counts as impossible
MOST_UNCONNECTED = 4  # the same for a search


@dataclass(frozen=True, eq=False)
class Composition:
    """What keyframes are composed with."""

    arm: Arm
    scene: PlanningScene
    """At the start, with the robot."""
    objects: Mapping[str, str]
    """The scene's objects by descriptor."""
    origin: Pose
    """Of the task's poses, in the scene's frame."""
    seed: int = 0
    regrasp: bool = True
    reach: float = 1.0
    """How far the arm reaches from its base [m]."""
    known: dict[tuple[str, GraspHint | None], GraspSet] = field(default_factory=dict)
    """Grasps that were generated, by object and hint."""

    def stages(self, keyframes: Sequence[Keyframe], end: tuple[str, np.ndarray] | None = None) -> Serial:
        """All keyframes as stages, one after the other; at the end the arm goes to a pose, if one is named."""
        parts: list[Stage] = [CurrentState(self.arm, self.scene)]
        number = 0
        while number < len(keyframes):
            count = carried(keyframes, number)
            parts.append(self._part(keyframes, number, count))
            number += count
        if end is not None:
            parts.append(MoveTo(self.arm, end[1], name=f'move to {end[0]}', keyframe=len(keyframes) - 1))
        return Serial('task', *parts, most_backups=MOST_BACKUPS)

    def _part(self, keyframes: Sequence[Keyframe], number: int, count: int) -> Stage:
        keyframe = keyframes[number]
        if not isinstance(keyframe, Pick):
            return self._still(keyframe, number)
        together, in_hand = keyframes[number : number + count], self.in_hand(keyframes, number)
        ways: list[Stage] = [self.carry(together, number, in_hand=in_hand)]
        if self.regrasp and self.purposes(together, number):
            ways.append(Regrasp(self, together, number, in_hand=in_hand))
        return PickAndPlace('pick and place', *ways, keyframe=number, most=BEAM)

    def in_hand(self, keyframes: Sequence[Keyframe], number: int) -> bool:
        """Whether a pick is done already: its object is in the hand at the start, and it is the first pick."""
        pick = keyframes[number]
        first = not any(isinstance(before, Pick) for before in keyframes[:number])
        return isinstance(pick, Pick) and first and self.objects[pick.object] in self.scene.attached

    def _still(self, keyframe: Keyframe, number: int) -> Stage:
        """What is done without moving the arm."""
        if isinstance(keyframe, Wait):
            return Pause(self.arm, keyframe.duration, keyframe=number)
        if isinstance(keyframe, SetOutput):
            return SwitchOutput(self.arm, keyframe.signal, keyframe.value, keyframe=number)
        if isinstance(keyframe, AwaitInput):
            awaited = Awaited(keyframe.signal, keyframe.value, keyframe.timeout)
            return AwaitSignal(self.arm, awaited, keyframe=number)
        raise ValueError(f'keyframes[{number}] moves an object that is not in the hand; pick it before.')

    def carry(self, keyframes: Sequence[Keyframe], first: int, *, in_hand: bool = False) -> Serial:
        """A pick and all that follows until its object is put down, or until the end, as one container.

        The pick of what is in the hand already moves nothing.
        """
        pick = keyframes[0]
        if not isinstance(pick, Pick):
            raise ValueError(f'keyframes[{first}] is no pick.')
        stages = self.held(pick, first) if in_hand else self.pick(pick, self.purposes(keyframes, first), first)
        return Serial(
            'pick and place',
            *stages,
            *self.after_pick(keyframes, first),
            keyframe=first,
            most=BEAM,
            most_backups=MOST_TRIES,
            most_failures=MOST_FAILURES,
            most_unconnected=MOST_UNCONNECTED,
        )

    def after_pick(self, keyframes: Sequence[Keyframe], first: int) -> list[Stage]:
        """What is done with an object that was picked, until it is put down."""
        stages: list[Stage] = []
        for number, keyframe in enumerate(keyframes[1:], first + 1):
            if isinstance(keyframe, Place):
                stages += self.place(self.origin @ keyframe.pose, number)
            elif isinstance(keyframe, Trajectory):
                stages += self._led(keyframe, number)
            else:
                stages.append(self._still(keyframe, number))
        return stages

    def purposes(self, keyframes: Sequence[Keyframe], first: int) -> list[Purpose]:
        """Where the object of a pick goes until it is put down."""
        found: list[Purpose] = []
        for number, keyframe in enumerate(keyframes, first):
            if isinstance(keyframe, Place):
                found.append(Purpose(self.origin @ keyframe.pose, number))
            elif isinstance(keyframe, Trajectory):
                found += [Purpose(self.origin @ pose, number, put_down=False) for pose in keyframe.poses]
        return found

    def grasps(self, pick: Pick, purposes: Sequence[Purpose], number: int) -> GenerateGrasps:
        """Grasps of an object that serve its pick and its purposes; they are made when they are needed."""
        data, object = self._data(), self.objects[pick.object]
        key = object, pick.grasp

        def made(should_stop: ShouldStop) -> GraspSet:
            if key not in self.known:
                self.known[key] = generate_grasps(
                    self._body(object), data, hint=pick.grasp, seed=self.seed, should_stop=should_stop
                )
            return self.known[key]

        return GenerateGrasps(
            self.arm,
            object,
            self.known.get(key, made),
            purposes,
            rise=data.lift_distance_desired,
            keyframe=number,
            most=MOST_GRASPS,
        )

    def held_grasp(self, pick: Pick, purposes: Sequence[Purpose], number: int) -> GenerateGrasps:
        """How an object is held that is in the hand at the start, as the only grasp of it."""
        object = self.objects[pick.object]
        return GenerateGrasps(
            self.arm, object, held_as_grasps(self.arm, self.scene, object), purposes, keyframe=number, most=MOST_GRASPS
        )

    def pick(self, pick: Pick, purposes: Sequence[Purpose], number: int) -> list[Stage]:
        """To the object, and up with it."""
        arm, data = self.arm, self._data()
        approach = data.approach_distance_desired + data.grasp_max_depth
        lift = max(data.lift_distance_desired, CLEARANCE)
        return [
            Connect(arm, keyframe=number, name='transit'),
            Approach(arm, approach, data.grasp_max_depth + AWAY, keyframe=number),
            self.grasps(pick, purposes, number),
            CloseHand(arm, keyframe=number),
            Lift(arm, lift, data.lift_distance_desired, keyframe=number),
        ]

    def held(self, pick: Pick, number: int) -> list[Stage]:
        """Go on with what is in the hand; up with it first, if it has not left what it stands on."""
        arm, data, object = self.arm, self._data(), self.objects[pick.object]
        stages: list[Stage] = [AlreadyHeld(arm, object, keyframe=number)]
        if supports(arm, self.scene, object):
            lift = max(data.lift_distance_desired, CLEARANCE)
            stages.append(Lift(arm, lift, data.lift_distance_desired, keyframe=number))
        return stages

    def place(self, pose: Pose, number: int) -> list[Stage]:
        """From wherever the object is held to its place, and away from it."""
        arm, data = self.arm, self._data()
        lower = max(data.lift_distance_desired, CLEARANCE)
        retreat = data.retreat_distance_desired + data.grasp_max_depth
        return [
            Connect(arm, keyframe=number, name='transfer'),
            Lower(arm, lower, data.lift_distance_desired, keyframe=number),
            GeneratePlacePose(arm, pose, rise=data.lift_distance_desired, keyframe=number, most=MOST_PLACES),
            OpenHand(arm, keyframe=number),
            Retreat(arm, retreat, data.grasp_max_depth + AWAY, keyframe=number),
        ]

    def _led(self, keyframe: Trajectory, number: int) -> list[Stage]:
        poses = [self.origin @ pose for pose in keyframe.poses]
        return [
            Connect(self.arm, keyframe=number, name='transfer'),
            HeldAt(self.arm, poses[0], keyframe=number, most=MOST_PLACES),
            FollowTrajectory(self.arm, poses, keyframe.times, keyframe.speed, keyframe=number),
        ]

    def _data(self) -> AnyGraspData:
        if self.arm.gripper is None:
            raise ValueError('A robot without a gripper picks and places nothing.')
        return self.arm.gripper.grasp_data

    def _body(self, object: str) -> Body:
        found = self.scene.body(object)
        if found is None:
            raise ValueError(f"There is no object '{object}' in the scene.")
        return found


def carried(keyframes: Sequence[Keyframe], number: int) -> int:
    """How many keyframes belong together: a pick and all until its place, or one."""
    if not isinstance(keyframes[number], Pick):
        return 1
    for count, keyframe in enumerate(keyframes[number + 1 :], 2):
        if isinstance(keyframe, Place):
            return count
    return len(keyframes) - number
