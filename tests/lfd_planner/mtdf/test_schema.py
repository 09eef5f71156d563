"""The published schema says what the reader does: one is made of the other, and they agree on good and bad files."""

import contextlib
import copy
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from lfd_planner.mtdf import MtdfError, Task, dump_task, errors, parse_task, read_report
from lfd_planner.mtdf.schema import json_schema, schema_text
from lfd_planner.mtdf.writer import task_data

POSE = {'position': [0.1, 0.2, 0.3], 'orientation': [0.0, 0.0, 0.0, 1.0]}
PICK = {'type': 'pick', 'object_descriptor': 'a'}
PLACE = {'type': 'place', 'object_descriptor': 'a', 'place_pose': POSE}
OLD = {'object_descriptors': ['a'], 'keyframes': [PICK, PLACE]}
NEW = {'version': 2, **OLD}


@pytest.fixture(scope='module')
def valid() -> Callable[[object], bool]:
    jsonschema.Draft202012Validator.check_schema(json_schema())
    return jsonschema.Draft202012Validator(json_schema()).is_valid


def is_read(data: object) -> bool:
    return not errors(read_report(json.dumps(data)).problems)


def changed(data: dict[str, Any], **keys: object) -> dict[str, Any]:
    return {**data, **keys}


def with_rule(rule: object) -> dict[str, Any]:
    return changed(NEW, object_descriptors=[{'name': 'a', 'rule': rule}])


def with_keyframe(keyframe: object) -> dict[str, Any]:
    return changed(NEW, keyframes=[PICK, keyframe, PLACE])


def test_file_is_made_of_the_code(checkout: Path):
    """If this fails: python -m lfd_planner.mtdf.schema > lfd_planner/schema/mtdf.schema.json."""
    published = checkout / 'lfd_planner' / 'schema' / 'mtdf.schema.json'
    assert published.read_text() == schema_text()


GOOD = [
    OLD,
    changed(OLD, version=1),
    NEW,
    changed(NEW, axes='unity', recorder={'name': 'x', 'version': '1'}, recorded_at='2026-01-01T00:00:00Z'),
    changed(NEW, task_origin={'frame': 'base_link', **POSE}),
    changed(NEW, keyframes=[{**PICK, 'time': 0, 'grasp': {**POSE, 'width': 0.04}}, {**PLACE, 'time': 1.5}]),
    with_keyframe({'type': 'wait', 'duration': 1}),
    with_keyframe({'type': 'io', 'output': 'x', 'value': True}),
    with_keyframe({'type': 'io', 'input': 'x', 'value': 3, 'timeout': 1.5}),
    with_keyframe({'type': 'trajectory', 'object_descriptor': 'a', 'poses': [POSE]}),
    with_keyframe({'type': 'trajectory', 'object_descriptor': 'a', 'poses': [{**POSE, 'time': 1}]}),
    with_keyframe({'type': 'trajectory', 'object_descriptor': 'a', 'poses': [POSE], 'speed': 0.1}),
    with_rule({'shape': 'box', 'color': 'red', 'tag': 'x', 'size': {'longest': [0.1, 0.2]}, 'nearest': 'tray'}),
    with_rule({'any': [{'color': [0, 0, 1]}, {'not': {'all': [{'nearest': [0, 0, 1]}]}}]}),
    with_rule({'region': {'min': [0, 0, 0], 'max': [1, 1, 1]}}),
    with_rule({'region': {'center': [0, 0, 0], 'radius': 1}}),
]
BAD = [
    5,
    [],
    {},
    {'keyframes': []},
    changed(OLD, version=3),
    changed(OLD, version='2'),
    changed(OLD, axes='ros'),
    changed(OLD, object_descriptors=[{'name': 'a', 'rule': {'shape': 'box'}}]),
    changed(OLD, object_descriptors=['']),
    changed(OLD, object_descriptors=[5, 'a']),
    changed(OLD, object_descriptors='a'),
    changed(OLD, keyframes=[{**PICK, 'time': 1}, PLACE]),
    changed(OLD, keyframes=[PICK, {'type': 'wait', 'duration': 1}, PLACE]),
    changed(OLD, keyframes=[PICK, {**PLACE, 'place_pose': {'position': [0, 0, 0]}}]),
    changed(OLD, keyframes=[PICK, {**PLACE, 'place_pose': {**POSE, 'position': [0, 0]}}]),
    changed(OLD, keyframes=[PICK, {**PLACE, 'place_pose': {**POSE, 'position': [0, 0, '0']}}]),
    changed(OLD, keyframes=[PICK, {**PLACE, 'place_pose': {**POSE, 'position': [0, 0, 101]}}]),
    changed(OLD, keyframes=[PICK, {**PLACE, 'place_pose': {**POSE, 'orientation': [0, 0, 0, 2]}}]),
    changed(NEW, axes='up'),
    changed(NEW, colour='red'),
    changed(NEW, recorder='me'),
    changed(NEW, keyframes=None),
    with_keyframe({'type': 'jump'}),
    with_keyframe({}),
    with_keyframe({'type': 'wait', 'duration': 0}),
    with_keyframe({'type': 'wait', 'duration': 1e6}),
    with_keyframe({'type': 'io', 'value': True}),
    with_keyframe({'type': 'io', 'output': 'x', 'input': 'y', 'value': True}),
    with_keyframe({'type': 'io', 'output': 'x', 'value': True, 'timeout': 1}),
    with_keyframe({'type': 'io', 'output': 'x', 'value': 'on'}),
    with_keyframe({'type': 'trajectory', 'object_descriptor': 'a', 'poses': []}),
    with_keyframe({'type': 'trajectory', 'object_descriptor': 'a', 'poses': [POSE], 'speed': 0}),
    with_rule({}),
    with_rule('red'),
    with_rule({'shape': 'plane'}),
    with_rule({'size': {}}),
    with_rule({'size': {'longest': [0.1]}}),
    with_rule({'region': {'min': [0, 0, 0]}}),
    with_rule({'region': {'min': [0, 0, 0], 'radius': 1}}),
    with_rule({'all': []}),
    with_rule({'any': [{'shap': 'box'}]}),
    with_rule({'not': [{'shape': 'box'}]}),
]


@pytest.mark.parametrize('data', GOOD)
def test_good_files(data: object, valid: Callable[[object], bool]):
    assert valid(data)
    assert is_read(data)


@pytest.mark.parametrize('data', BAD)
def test_bad_files(data: object, valid: Callable[[object], bool]):
    assert not valid(data)
    assert not is_read(data)


@pytest.mark.parametrize('seed', range(60))
def test_every_task_that_is_written_is_valid(
    seed: int, random_task: Callable[[int], Task], valid: Callable[[object], bool]
):
    task = random_task(seed)
    assert valid(task_data(task))
    assert valid(json.loads(dump_task(task, file_format='json', axes='unity')))
    with contextlib.suppress(MtdfError):  # most are more than version 1 can say
        assert valid(json.loads(dump_task(task, file_format='json', version=1)))


@pytest.mark.parametrize('seed', range(300))
def test_what_is_read_is_valid(seed: int, random_task: Callable[[int], Task], valid: Callable[[object], bool]):
    """However a file is spoilt: what the reader takes, the schema takes."""
    dice = random.Random(seed)
    data = copy.deepcopy(task_data(random_task(seed)))
    spoil(data, dice)
    if is_read(data):
        assert valid(data)
        assert parse_task(json.dumps(data))


def spoil(data: Any, dice: random.Random) -> None:
    """Change one thing somewhere in a file."""
    places: list[tuple[Any, Any]] = []

    def collect(node: Any) -> None:
        keys = node.keys() if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
        for key in keys:
            places.append((node, key))
            collect(node[key])

    collect(data)
    node, key = dice.choice(places)
    match dice.randrange(4):
        case 0:
            del node[key]
        case 1:
            node[key] = dice.choice((None, True, 0, -1, 1e3, 'x', '', [], {}, [0, 0, 0], ['a']))
        case 2 if isinstance(node, dict):
            node[dice.choice(('x', 'time', 'speed', 'rule', 'name', 'all'))] = dice.choice((1, 'a', {'shape': 'box'}))
        case _:
            other, at = dice.choice(places)
            node[key] = copy.deepcopy(other[at])
