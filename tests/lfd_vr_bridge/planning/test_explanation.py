"""What people are told of a plan that failed, for a UR5e in the demonstration cell and the planner's real failures."""

from __future__ import annotations

import re

import pytest
from support.task_cells import box, moving, planner, seed_cell

from lfd_description.shapes import Vector
from lfd_planner.mtdf import Keyframe, Pick, Place
from lfd_planner.planner import TaskFailure
from lfd_planner.pose import Pose
from lfd_planner.reachability import PoseOracle
from lfd_planner.scene import PlanningScene
from lfd_vr_bridge.planning.explanation import Asked, explained
from lfd_vr_bridge.planning.results import failure
from lfd_vr_bridge.planning.sentences import why_not
from lfd_vr_bridge.studio.values import PlanResult

SPOT = Pose((0.42, 0.1, -0.1263))
OBJECTS = frozenset({'blue_box', 'table', 'wall'})


@pytest.fixture(scope='module')
def oracle() -> PoseOracle:
    return PoseOracle(planner().model, planner().backend)


def told(oracle: PoseOracle, scene: PlanningScene, *keyframes: Keyframe) -> PlanResult:
    """What a person is told of a task that cannot be planned."""
    task = moving(*keyframes)
    found = planner().plan(task, scene, Pose())
    assert isinstance(found, TaskFailure)
    result = explained(failure('ur5e', found, task), Asked(task, Pose(), scene), lambda: oracle)
    for text in (result.message, result.suggestion):
        assert not re.search(r'keyframe|stage|origin|base_link| x |_limit|mm away', text), text
    return result


def put(oracle: PoseOracle, position: Vector, name: str = 'blue_box') -> tuple[str, str]:
    result = told(oracle, seed_cell(), Pick(name), Place(name, Pose(position)))
    return result.message, result.suggestion


def test_a_place_beside_the_table_is_told_with_how_much_nearer(oracle: PoseOracle) -> None:
    assert put(oracle, (1.1, 0.0, -0.1263)) == (
        "The place is out of the robot's reach.",
        'Put it 26 cm nearer to the robot.',
    )


def test_a_place_on_the_floor_far_away_is_told_with_the_table(oracle: PoseOracle) -> None:
    assert put(oracle, (1.3, 0.2, -0.8763)) == (
        "The place is out of the robot's reach.",
        "Put it 48 cm nearer to the robot, on 'table'.",
    )


def test_a_place_in_the_air_is_told_with_what_is_below(oracle: PoseOracle) -> None:
    message, suggestion = put(oracle, (0.42, 0.1, 0.1))
    assert message.startswith("Nothing carries 'blue_box' there; it would fall onto '")
    assert suggestion == "Put it on 'template'."


def test_a_place_inside_of_something_is_told_with_how_much_higher(oracle: PoseOracle) -> None:
    message, suggestion = put(oracle, (0.42, 0.1, -0.2))
    assert message == "'table' is where 'blue_box' should go."
    assert re.fullmatch(r'Put it \d+ mm higher\.', suggestion)


def test_an_object_out_of_reach_is_to_be_moved_first(oracle: PoseOracle) -> None:
    far = seed_cell().move('blue_box', Pose((0.95, 0.1, -0.1263)))
    result = told(oracle, far, Pick('blue_box'), Place('blue_box', SPOT))
    assert re.fullmatch(
        r"No grasp reaches 'blue_box': \d+ are out of reach, \d+ collides? with 'table'\.", result.message
    ), result.message
    assert re.fullmatch(r'Move it \d+ cm nearer to the robot first\.', result.suggestion)


def test_an_object_that_is_too_large_is_told_with_its_size(oracle: PoseOracle) -> None:
    large = seed_cell().add(box('large', (0.061, 0.2, 0.3), (0.5, 0.0, 0.0)))
    result = told(oracle, large, Pick('large'), Place('large', Pose((0.5, 0.1, 0.0))))
    assert result.message.startswith("The hand cannot hold 'large': ")
    assert '61 mm' in result.message


def test_the_second_step_is_judged_with_the_first_one_done(oracle: PoseOracle) -> None:
    keyframes = (Pick('blue_box'), Place('blue_box', SPOT), Pick('yellow_box'), Place('yellow_box', SPOT))
    result = told(oracle, seed_cell(), *keyframes)
    assert (result.keyframe, result.object) == (3, 'yellow_box')
    assert result.message == "'blue_box' is where 'yellow_box' should go."
    assert result.suggestion


@pytest.mark.parametrize(
    ('stage', 'reasons', 'sentence'),
    [
        ('place', [('unreachable', (), 12), ('collision', ('forearm_link', 'table'), 4)],
         "No grasp reaches the place: 12 are out of reach, 4 collide with 'table'."),
        ('place', [('collision', ('wrist_1_link', 'upper_arm_link'), 1), ('joint_limit', ('elbow_joint',), 2)],
         'No grasp reaches the place: 2 need a joint to turn too far, 1 makes the robot touch itself.'),
        ('transfer', [('no_path', ('blue_box', 'wall'), 3)],
         "The robot cannot carry 'blue_box' there: 'blue_box' would touch 'wall'."),
        ('approach', [('collision', ('left_finger', 'wall'), 3)],
         "The robot cannot bring its hand to 'blue_box': 'wall' is in the way."),
        ('lift', [('joint_jump', (), 3)],
         "The robot cannot lift 'blue_box': the arm would have to turn over on the way."),
        ('place', [('covered', ('wall', 'blue_box'), 1)], "'wall' lies on 'blue_box'; it must be moved first."),
        ('current state', [('start_in_collision', ('wrist_1_link', 'table'), 1)],
         "The robot touches 'table' before anything moves."),
        ('task', [('contradiction', (), 1)], 'Step 2: something.'),
        ('', [], 'Step 2: something.'),
    ],
)  # fmt: skip
def test_reasons_become_sentences(stage: str, reasons: list[tuple[str, tuple[str, ...], int]], sentence: str) -> None:
    assert why_not(Place('blue_box', SPOT), stage, reasons, OBJECTS, 'keyframes[1]: something.') == sentence
