"""Solution files: what is written is read again, and what is wrong is refused at its place."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lfd_description.scenes import Scene, SceneObject, find_scene
from lfd_description.shapes import MeshFile
from lfd_planner.error_codes import Code
from lfd_planner.pose import Pose
from lfd_planner.solution import Attachment, Awaited, Segment, Solution
from lfd_planner.solution_file import (
    PlanningError,
    Rejection,
    Request,
    SolutionFileError,
    dump_error,
    dump_solution,
    load_solution,
    read_solution,
    save_solution,
    scene_digest,
)
from lfd_planner.timing import Trajectory

HELD = Attachment('box', 'tcp', ('left_finger', 'right_finger'))
REQUEST = Request(
    scene='seed_cell',
    scene_digest='abc',
    task='keyframes: []',
    origin=Pose((0.1, -0.2, 1e-9), (0.0, 0.0, 0.6, 0.8)),
    start={'a': 0.1, 'b': -0.1, 'joint_left_finger': 0.04},
)


def solution() -> Solution:
    numbers = np.random.default_rng(3)
    times = np.cumsum(numbers.uniform(0.01, 0.1, 5)) - 0.0
    times[0] = 0.0
    motion = Trajectory(times, numbers.normal(size=(5, 2)), numbers.normal(size=(5, 2)))
    segments = (
        Segment('transit', 0, 0, 2),
        Segment('close', 0, 2, 3, attach=HELD, gripper={'joint_left_finger': 0.01}, outputs={'lamp': True}),
        Segment('lift', 1, 3, 4, detach=HELD, contacts=(('box', 'table'),), outputs={'level': 1.0}),
        Segment('await', 1, 4, 4, awaits=Awaited('door', True, 2.5)),
    )
    return Solution('ur5e', 'two_finger', ('a', 'b'), motion, segments, 1.25, 0.031, 7)


def data() -> dict[str, object]:
    return json.loads(dump_solution(solution(), REQUEST))


def refused(changed: object) -> str:
    with pytest.raises(SolutionFileError) as error:
        load_solution(json.dumps(changed))
    message = str(error.value)
    assert message.endswith('.')
    assert '\n' not in message
    return message


def test_everything_comes_back_bit_by_bit() -> None:
    made = solution()
    found = load_solution(dump_solution(made, REQUEST))
    assert (found.robot, found.gripper, found.request) == ('ur5e', 'two_finger', REQUEST)
    read = found.outcome
    assert isinstance(read, Solution)
    for name in ('times', 'q', 'v'):
        np.testing.assert_array_equal(getattr(read.trajectory, name), getattr(made.trajectory, name))
    assert replace(read, trajectory=made.trajectory).__dict__ == made.__dict__
    assert read.segments[1].outputs['lamp'] is True


def test_the_contract_of_scripts() -> None:
    found = data()
    assert found['robot'] == 'ur5e'
    assert found['joint_names'] == ['a', 'b']
    assert set(found['points'][0]) == {'t', 'q', 'v'}
    close = found['segments'][1]
    assert {'name', 'keyframe', 'first', 'last', 'attach', 'detach'} <= set(close)
    assert (close['attach']['object'], close['attach']['link'], close['detach']) == ('box', 'tcp', None)
    assert found['planning_time'] == 0.031


def test_what_is_needed_is_little() -> None:
    found = data()
    for key in ('gripper', 'cost', 'seed', 'scene', 'scene_digest', 'task', 'origin', 'start'):
        del found[key]
    for segment in found['segments']:
        for key in ('attach', 'detach', 'gripper', 'contacts', 'outputs', 'awaits'):
            del segment[key]
    read = load_solution(json.dumps(found))
    assert read.request == Request()
    assert isinstance(read.outcome, Solution)


def test_errors_come_back() -> None:
    error = PlanningError(
        Code.NO_IK_SOLUTION,
        'It is too far away.',
        3,
        (Rejection('collision', ('arm', 'table'), 12, 'By 3 mm.'),),
        'grasp',
        'nearer',
    )
    found = load_solution(dump_error('gp8', error, REQUEST, gripper='suction', planning_time=0.2, seed=4))
    assert (found.robot, found.gripper, found.outcome, found.request) == ('gp8', 'suction', error, REQUEST)
    assert json.loads(dump_error('gp8', error))['error']['reasons'] == [
        {'reason': 'collision', 'subjects': ['arm', 'table'], 'count': 12, 'detail': 'By 3 mm.'}
    ]


def test_a_reason_needs_no_detail() -> None:
    made = json.loads(dump_error('gp8', PlanningError(Code.FAILURE, 'No.', reasons=(Rejection('no_path'),))))
    del made['error']['reasons'][0]['detail']
    found = load_solution(json.dumps(made)).outcome
    assert isinstance(found, PlanningError)
    assert found.reasons == (Rejection('no_path'),)


def test_files_are_written_whole(tmp_path: Path) -> None:
    file = tmp_path / 'out.json'
    save_solution(file, solution(), REQUEST)
    assert read_solution(file).robot == 'ur5e'
    assert [path.name for path in tmp_path.iterdir()] == ['out.json']


@pytest.mark.parametrize(
    ('content', 'message'),
    [
        (None, 'cannot be read'),
        (b'', 'no JSON'),
        (b'{"robot": ', 'line 1'),
        (b'\xff\xfe', 'UTF-8'),
        (b'{"robot": "a", "robot": "b"}', "'robot' is there twice"),
        (b'{"robot": NaN}', 'NaN is no finite number'),
        (b'[' * 100_000, 'nested too deeply'),
        (b'{"robot": ' + b'1' * 10_000 + b'}', 'too many digits'),
        (b'[]', 'the file is a list'),
        (b'{}', 'robot is missing'),
    ],
)
def test_files_that_are_none(tmp_path: Path, content: bytes | None, message: str) -> None:
    file = tmp_path / 'out.json'
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SolutionFileError, match=message) as error:
        read_solution(file)
    assert str(file) in str(error.value)


@pytest.mark.parametrize(
    ('key', 'value', 'message'),
    [
        ('robot', 3, 'robot is 3'),
        ('robot', '', 'robot is ""'),
        ('robot', 'a\nb', 'robot is'),
        ('gripper', ['x'], 'gripper is a list of 1'),
        ('joint_names', ['a', 'a'], 'each name once'),
        ('joint_names', ['a'], 'points[0].q has 2 numbers; write 1'),
        ('points', [], 'at least one point'),
        ('points', {}, 'points is an object'),
        ('points', [{'t': 1.0, 'q': [0, 0], 'v': [0, 0]}], 'points[0].t is 1.0'),
        ('points', [{'t': 0, 'q': [0, True], 'v': [0, 0]}], 'points[0].q[1] is true'),
        ('points', [{'t': 0, 'q': [0, 10**400], 'v': [0, 0]}], 'points[0].q[1] is'),
        ('points', [{'t': 0, 'q': [0, 0], 'v': [0, 0], 'a': [0, 0]}], "unknown key 'a'"),
        ('points', [{'t': 0, 'q': [0, 0], 'v': [0, 0]}] * 2, 'points[1].t is 0'),
        ('segments', None, 'segments is null'),
        ('segments', [{'name': 'x', 'keyframe': 0, 'first': 0, 'last': 5}], 'segments[0].last is 5'),
        ('segments', [{'name': 'x', 'keyframe': 0, 'first': 3, 'last': 2}], 'segments[0].last is 2'),
        ('segments', [{'name': 'x', 'keyframe': -1, 'first': 0, 'last': 2}], 'segments[0].keyframe is -1'),
        ('segments', [{'name': 'x', 'keyframe': 0, 'first': 0}], 'segments[0].last is missing'),
        ('segments', [{'nam': 'x'}], "unknown key 'nam' (did you mean 'name'?)"),
        ('planning_time', -1, 'planning_time is -1'),
        ('seed', 0.5, 'seed is 0.5'),
        ('origin', {'position': [0, 0, 0], 'orientation': [0, 0, 0, 2]}, 'origin.orientation is a list of 4'),
        ('origin', {'position': [0, 0], 'orientation': [0, 0, 0, 1]}, 'origin.position has 2 numbers'),
        ('start', {'a': 'b'}, "start['a'] is"),
        ('error', {'code': 1, 'message': ''}, 'unknown key'),
        ('nonsense', 1, "unknown key 'nonsense'"),
    ],
)
def test_the_place_of_what_is_wrong_is_told(key: str, value: object, message: str) -> None:
    assert message in refused({**data(), key: value})


@pytest.mark.parametrize(
    ('change', 'message'),
    [
        ({'attach': {'object': 'box'}}, 'segments[1].attach.link is missing'),
        ({'attach': 'box'}, 'segments[1].attach is "box"'),
        ({'gripper': {'finger': None}}, "segments[1].gripper['finger'] is null"),
        ({'contacts': [['a']]}, 'segments[1].contacts[0] is a list of 1'),
        ({'contacts': [['a', 'b', 'c']]}, 'segments[1].contacts[0] has 3 entries'),
        ({'outputs': {'lamp': 'on'}}, "segments[1].outputs['lamp'] is"),
        ({'awaits': {'signal': 'door'}}, 'segments[1].awaits.value is missing'),
        ({'awaits': {'signal': 'door', 'value': True, 'timeout': -1}}, 'segments[1].awaits.timeout is'),
    ],
)
def test_the_place_in_a_segment_is_told(change: dict[str, object], message: str) -> None:
    found = data()
    found['segments'][1].update(change)
    assert message in refused(found)


def test_a_success_is_no_error() -> None:
    found = {'robot': 'gp8', 'error': {'code': 1, 'message': 'fine'}}
    assert 'error.code is 1' in refused(found)


def test_numbers_that_json_cannot_hold_are_not_written() -> None:
    with pytest.raises(ValueError, match='not JSON compliant'):
        dump_solution(replace(solution(), cost=float('nan')))


def test_the_digest_of_a_scene_is_of_its_content(tmp_path: Path) -> None:
    seed = find_scene('seed_cell')
    assert scene_digest(seed) == scene_digest(replace(seed, objects=tuple(reversed(seed.objects))))
    moved = replace(seed.objects[-1], position=(0.0, 0.0, 0.0))
    assert scene_digest(seed) != scene_digest(replace(seed, objects=(*seed.objects[:-1], moved)))
    digests = []
    for folder, content in (('a', b'1'), ('b', b'1'), ('c', b'2')):
        file = tmp_path / folder / 'mesh.stl'
        file.parent.mkdir()
        file.write_bytes(content)
        digests.append(scene_digest(Scene('base', (SceneObject('thing', MeshFile(file)),))))
    assert digests[0] == digests[1] != digests[2]
