import pytest

from lfd_planner.mtdf import Descriptor, Pick, Place, Pose, Task, Trajectory, Wait, check_task, read_report

POSE = Pose()


def messages(*keyframes, objects: str = 'ab', severity: str = 'error') -> list[tuple[int | None, str]]:
    task = Task(tuple(map(Descriptor, objects)), keyframes)
    return [(found.keyframe, found.message) for found in check_task(task) if found.severity == severity]


def test_a_task_that_makes_sense():
    steps = Pick('a'), Wait(1.0), Trajectory('a', (POSE,)), Place('a', POSE), Pick('b'), Place('b', POSE)
    assert check_task(Task((Descriptor('a'), Descriptor('b')), steps)) == ()


@pytest.mark.parametrize(
    ('keyframes', 'found'),
    [
        ([Place('a', POSE)], [(0, "'a' is placed and nothing is held")]),
        ([Trajectory('a', (POSE,))], [(0, "'a' is led along a trajectory and nothing is held")]),
        ([Pick('a'), Pick('a')], [(1, "'a' is already held since keyframes[0]")]),
        ([Pick('a'), Wait(1.0), Pick('b')], [(2, "'b' is picked while 'a' is held since keyframes[0]")]),
        ([Pick('a'), Place('b', POSE)], [(1, "'b' is placed and 'a' is held since keyframes[0]")]),
        (
            [Pick('a'), Trajectory('b', (POSE,)), Place('a', POSE)],
            [(1, "'b' is led along a trajectory and 'a' is held since keyframes[0]")],
        ),
        ([Pick('c'), Place('c', POSE)], [(n, "'c' is not among the object descriptors") for n in (0, 1)]),
        (
            [Pick('a', time=2.0), Place('a', POSE, 1.0)],
            [(1, 'the time 1 s is before that of an earlier keyframe, 2 s')],
        ),
    ],
)
def test_mistakes(keyframes, found):
    assert messages(*keyframes) == found


def test_a_mistake_is_told_once():
    assert len(messages(Pick('a'), Pick('b'), Place('b', POSE), Pick('a'), Place('a', POSE))) == 1


def test_descriptor_that_is_there_twice():
    assert messages(Pick('a'), Place('a', POSE), objects='aa') == [(None, "the descriptor 'a' is there twice")]


def test_what_is_probably_not_meant_is_a_warning():
    assert messages(Pick('a'), severity='warning') == [
        (None, "no keyframe uses the descriptor 'b'"),
        (0, "the task ends while 'a' is held since keyframes[0]"),
    ]
    assert messages(objects='', severity='warning') == [(None, 'the task has no keyframes')]


def test_a_task_with_warnings_is_read():
    report = read_report('object_descriptors: [a]\nkeyframes:\n- {type: pick, object_descriptor: a}\n')
    assert report.task is not None
    (warning,) = report.problems
    assert str(warning) == (
        "line 3, column 3, keyframes[0], object 'a': warning: the task ends while 'a' is held since keyframes[0]; "
        'place it unless that is meant.'
    )


def test_checks_go_on_although_a_keyframe_cannot_be_read():
    report = read_report(
        'object_descriptors: [a]\nkeyframes:\n- {type: pick, object_descriptor: a}\n'
        '- {type: place, object_descriptor: a, place_pose: 5}\n- {type: place, object_descriptor: a, place_pose: 5}\n'
    )
    assert [(found.line, found.message) for found in report.problems] == [
        (4, "'5' is not a pose"),
        (5, "'a' is placed and nothing is held"),
        (5, "'5' is not a pose"),
    ]


def test_a_stack_along_y_is_suspicious_and_one_along_z_is_not(printed: str):
    mended = printed.replace(' ]\n        o', ' ],\n        o').replace('1.4756,', '0.0,').replace('-6.0335,', '0.0,')
    (warning,) = read_report(mended).problems
    assert warning.severity == 'warning'
    assert 'up in Unity' in warning.message
    assert read_report(f'version: 2\naxes: unity\n{mended}').problems == ()
    assert read_report(f'version: 2\naxes: ros\n{mended}').problems == ()
