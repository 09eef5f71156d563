#!/usr/bin/env python
"""A task of your own, without a demonstration: the arm points at one box after the other, and knocks.

`Knock` is a stage of your own; all others are lfd's. What comes out is a motion like any other: it is judged here, and
could be executed, exported or shown. Run it with `./lfd run python docs/examples/own_task.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from lfd_description.grippers import find_gripper
from lfd_description.model.builder import build_model
from lfd_description.robots import find_robot
from lfd_description.scenes import find_scene
from lfd_planner.planner import TaskPlanner
from lfd_planner.pose import Pose
from lfd_planner.scene import from_scene
from lfd_planner.solution import Motion
from lfd_planner.stages.arm import Arm
from lfd_planner.stages.compute_ik import ComputeIk
from lfd_planner.stages.connect import Connect
from lfd_planner.stages.current_state import CurrentState
from lfd_planner.stages.straight import along_tcp, straight
from lfd_planner.task import Context, Forward, Rejection, Serial, Stage, State, Step, TaskConstructor
from lfd_planner.validate import validate

ABOVE = 0.12  # [m] over a box, from its middle to the finger tips
DEPTH = 0.04  # [m] of a knock


class Knock(Forward):
    """Leads the hand straight on along its fingers, and back."""

    def __init__(self, arm: Arm, depth: float, *, keyframe: int, name: str) -> None:
        super().__init__(name, keyframe=keyframe)
        self.arm, self.depth = arm, depth

    def forward(self, context: Context, start: State) -> Iterable[Step | Rejection]:
        """There and back again; where there is no room, the reason."""
        q = self.arm.q(start)
        way = along_tcp(self.arm, q, self.depth)
        there = straight(self.arm, start.scene, q, way, self.depth)
        back = straight(self.arm, start.scene, q, way, self.depth, backwards=True)
        if isinstance(there, Rejection) or isinstance(back, Rejection):
            yield there if isinstance(there, Rejection) else back
            return
        knock = Motion('knock', there.trajectory, self.keyframe)
        away = Motion('back', back.trajectory, self.keyframe)
        yield Step.moving(start, start, knock, away)


def looking_down(position: tuple[float, float, float], turned: float) -> Pose:
    """A pose of the finger tips above a place, turned about the vertical [rad]; they point along z."""
    x, y, z = position
    return Pose((x, y, z + ABOVE), (math.cos(turned / 2.0), math.sin(turned / 2.0), 0.0, 0.0))


def main() -> int:
    """Plan, judge and tell; 0 if all is well."""
    model = build_model(find_robot('ur5e'), gripper=find_gripper('two_finger'))
    planner = TaskPlanner(model)
    arm, scene = planner.arm(), planner.start_scene(from_scene(find_scene('seed_cell')))

    stages: list[Stage] = [CurrentState(arm, scene)]
    for number, box in enumerate(('blue_box', 'yellow_box', 'green_box')):
        poses = [looking_down(scene.objects[box].pose.position, turned) for turned in (0.0, math.pi / 2.0)]
        stages += [
            Connect(arm, keyframe=number),
            ComputeIk(arm, poses, keyframe=number, name=f'above {box}'),
            Knock(arm, DEPTH, keyframe=number, name=f'knock on {box}'),
        ]
    task = TaskConstructor(Serial('knock on boxes', *stages))

    found = next(iter(task.plan(most=1)), None)
    if found is None:
        print(task.explain_failure())
        return 1
    solution = planner.solution(found)
    report = validate(solution, model, scene)
    print(f'{len(solution.segments)} segments, {solution.trajectory.duration:.1f} s of motion')
    print(report.text)
    return 0 if report.ok else 1


if __name__ == '__main__':
    raise SystemExit(main())
