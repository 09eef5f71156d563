"""Single stages with a real arm: what a user composes tasks of."""

from __future__ import annotations

import numpy as np
import pytest
from support.task_cells import box, planner, seed_cell

from lfd_planner.grasps import generate_grasps
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene
from lfd_planner.stages.approach import Approach
from lfd_planner.stages.arm import Arm
from lfd_planner.stages.close_hand import CloseHand
from lfd_planner.stages.compute_ik import ComputeIk
from lfd_planner.stages.connect import Connect
from lfd_planner.stages.current_state import CurrentState
from lfd_planner.stages.generate_grasps import GenerateGrasps, Purpose
from lfd_planner.stages.grasping import HOLD
from lfd_planner.stages.lift import Lift
from lfd_planner.stages.move_to import MoveTo
from lfd_planner.task import Context, Serial, Stage, State, Step, TaskConstructor

BLUE = 'blue_box'


@pytest.fixture
def arm() -> Arm:
    return Arm.of(planner().model, planner().backend)


@pytest.fixture
def scene() -> PlanningScene:
    return planner().start_scene(seed_cell())


def first(arm: Arm, scene: PlanningScene, *stages: Stage) -> Step:
    (found,) = TaskConstructor(Serial('task', CurrentState(arm, scene), *stages)).plan(most=1)
    return found


def grasps(arm: Arm, scene: PlanningScene, *purposes: Purpose) -> GenerateGrasps:
    assert arm.gripper is not None
    return GenerateGrasps(arm, BLUE, generate_grasps(scene.objects[BLUE].body, arm.gripper.grasp_data), purposes)


def test_a_task_of_ones_own_is_a_few_stages(arm: Arm, scene: PlanningScene) -> None:
    found = first(
        arm,
        scene,
        Connect(arm, name='transit'),
        Approach(arm, 0.05, 0.02),
        grasps(arm, scene),
        CloseHand(arm),
        Lift(arm, 0.05, 0.02),
    )
    assert [motion.name for motion in found.all_motions()] == ['open', 'transit', 'approach', 'close', 'lift']
    assert list(found.end.scene.attached) == [BLUE]


def test_the_lift_is_straight_up(arm: Arm, scene: PlanningScene) -> None:
    found = first(
        arm, scene, Connect(arm), Approach(arm, 0.05, 0.02), grasps(arm, scene), CloseHand(arm), Lift(arm, 0.04, 0.02)
    )
    lift = found.all_motions()[-1].trajectory
    poses = np.array([arm.pose(q) for q in lift.sample(np.linspace(0.0, lift.duration, 20)).q])
    assert poses[-1, 2, 3] - poses[0, 2, 3] == pytest.approx(0.04, abs=1e-5)
    assert np.ptp(poses[:, :2, 3], axis=0) == pytest.approx([0.0, 0.0], abs=1e-3)


def test_a_grasp_serves_its_purpose(arm: Arm, scene: PlanningScene) -> None:
    """Tipped by 90 degrees and high enough for the hand to come from the side."""
    tipped = Pose((0.42, 0.1, 0.1), (0.0, 0.7071067811865476, 0.0, 0.7071067811865476))
    before = State(scene)
    any_grasp, serving = grasps(arm, scene), grasps(arm, scene, Purpose(tipped, 1, put_down=False))
    found = list(serving.run(Context(), None, None, before))
    assert 0 < len(found) <= len(list(any_grasp.run(Context(), None, None, before)))
    hold = found[0].end.get(HOLD)
    assert hold is not None
    tcp = tipped.matrix @ hold.grasp.tcp.matrix
    assert len(arm.backend.ik(scene, arm.group, arm.tcp, tcp, arm.q(before), avoid_collisions=False))


def test_grasps_come_open_handed_and_free(arm: Arm, scene: PlanningScene) -> None:
    for step in grasps(arm, scene).run(Context(), None, None, State(scene)):
        assert arm.backend.state_contacts(step.end.scene) == ()


def test_an_arm_in_collision_does_not_begin(arm: Arm, scene: PlanningScene) -> None:
    blocked = scene.add(box('wall', (0.3, 0.3, 0.3), (0.2, 0.0, 0.3), movable=False))
    task = TaskConstructor(Serial('task', CurrentState(arm, blocked)))
    assert task.plan() == ()
    assert 'start_in_collision' in task.explain_failure()


def test_move_to_ends_where_it_was_told(arm: Arm, scene: PlanningScene) -> None:
    goal = np.array(planner().model.poses['left'])
    found = first(arm, scene, MoveTo(arm, goal))
    assert arm.q(found.end) == pytest.approx(goal)


def test_the_hand_is_brought_to_a_pose_the_soonest_way_first(arm: Arm, scene: PlanningScene) -> None:
    here = Pose.of(arm.pose(arm.q(State(scene))))
    pose = Pose((here.position[0], here.position[1] + 0.1, here.position[2]), here.orientation)
    found = [step.end for step in ComputeIk(arm, [pose]).run(Context(), None, None, State(scene))]
    assert len(found) > 1
    for state in found:
        assert arm.pose(arm.q(state)) == pytest.approx(pose.matrix, abs=1e-5)
    away = [float((np.abs(arm.q(state) - arm.q(State(scene))) / arm.group.velocities).max()) for state in found]
    assert away == sorted(away)


def test_a_pose_out_of_reach_is_rejected_by_name(arm: Arm, scene: PlanningScene) -> None:
    context = Context()
    assert list(ComputeIk(arm, [Pose((5.0, 0.0, 0.0))]).run(context, None, None, State(scene))) == []
    assert [count.reason for count in context.journal.counts] == ['unreachable']
