import math
import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from lfd_description.grasp_data import (
    FingerGraspData,
    GraspDataError,
    SuctionGraspData,
    grasp_data_yaml,
    load_grasp_data,
)

FINGER: Mapping[str, Any] = {
    'end_effector_name': 'hand',
    'end_effector_type': 'finger',
    'max_finger_width': 0.049,
    'min_finger_width': 0.030,
    'max_grasp_width': 0.044,
    'gripper_finger_width': 0.006,
    'joints': ['joint_left_finger', 'joint_right_finger'],
    'pregrasp_posture': [0.04, -0.04],
    'grasp_posture': [0.0, 0.0],
    'tcp_to_eef_mount_transform': [0, 0, 0, 0, 0, 0],
    'grasp_resolution': 0.05,
    'angle_resolution': 90,
    'grasp_max_depth': 0.006,
    'grasp_min_depth': 0.003,
    'grasp_depth_resolution': 1.0,
    'approach_distance_desired': 0.05,
    'retreat_distance_desired': 0.05,
    'lift_distance_desired': 0.01,
    'grasp_padding_on_approach': 0.003,
    'pregrasp_time_from_start': 0.0,
    'grasp_time_from_start': 0.0,
}
ONLY_FINGER = ('max_finger_width', 'min_finger_width', 'max_grasp_width', 'gripper_finger_width')
SUCTION: Mapping[str, Any] = {
    **{key: value for key, value in FINGER.items() if key not in ONLY_FINGER},
    'end_effector_type': 'suction',
    'joints': [],
    'pregrasp_posture': [],
    'grasp_posture': [],
    'active_suction_range_x': 0.22,
    'active_suction_range_y': 0.12,
    'suction_rows_count': 2,
    'suction_cols_count': 3,
}


def write(folder: Path, hand: object, **others: object) -> Path:
    file = folder / 'grasp_data.yaml'
    file.write_text(yaml.safe_dump({'base_link': 'world', 'hand': hand, **others}))
    return file


def problems(file: Path) -> list[str]:
    with pytest.raises(GraspDataError) as error:
        load_grasp_data(file)
    lines = str(error.value).splitlines()
    assert all(line.startswith(f'{file} ') and line.endswith('.') for line in lines)
    return [line.removeprefix(f'{file} ') for line in lines]


@pytest.fixture
def finger(tmp_path: Path) -> FingerGraspData:
    data = load_grasp_data(write(tmp_path, dict(FINGER)))
    assert isinstance(data, FingerGraspData)
    return data


def test_a_finger_gripper_is_read(finger: FingerGraspData) -> None:
    assert finger.base_link == 'world'
    for key, value in FINGER.items():
        assert getattr(finger, key) == (tuple(value) if isinstance(value, list) else value)


def test_a_suction_gripper_is_read(tmp_path: Path) -> None:
    data = load_grasp_data(write(tmp_path, dict(SUCTION)))

    assert isinstance(data, SuctionGraspData)
    assert data.end_effector_type == 'suction'
    assert (data.active_suction_range_x, data.active_suction_range_y) == (0.22, 0.12)
    assert (data.suction_rows_count, data.suction_cols_count) == (2, 3)
    assert data.joints == ()


def test_a_suction_gripper_has_one_region_unless_it_says_otherwise(tmp_path: Path) -> None:
    hand = {key: value for key, value in SUCTION.items() if not key.endswith('_count')}

    data = load_grasp_data(write(tmp_path, hand))

    assert isinstance(data, SuctionGraspData)
    assert (data.suction_rows_count, data.suction_cols_count) == (1, 1)


def test_the_width_follows_the_posture(finger: FingerGraspData) -> None:
    assert finger.width((0.04, -0.04)) == pytest.approx(0.049)
    assert finger.width((0.02, -0.02)) == pytest.approx(0.0395)
    assert finger.width((0.0, 0.0)) == pytest.approx(0.030)


def test_the_posture_follows_the_width(finger: FingerGraspData) -> None:
    assert finger.posture(0.049) == pytest.approx((0.04, -0.04))
    assert finger.posture(0.0395) == pytest.approx((0.02, -0.02))
    assert finger.posture(0.030) == (0.0, 0.0)


def test_width_and_posture_are_inverse(finger: FingerGraspData) -> None:
    generator = random.Random(20261116)
    for _ in range(100):
        width = generator.uniform(finger.min_finger_width, finger.max_finger_width)
        assert finger.width(finger.posture(width)) == pytest.approx(width, abs=1e-15)


def test_rounding_does_not_push_the_joints_beyond_their_limits(finger: FingerGraspData) -> None:
    assert finger.posture(0.049 + 1e-10) == (0.04, -0.04)
    assert finger.posture(0.030 - 1e-10) == (0.0, 0.0)


@pytest.mark.parametrize('width', [0.0499, 0.029, -0.03, math.nan])
def test_a_width_beyond_the_fingers_is_refused(finger: FingerGraspData, width: float) -> None:
    with pytest.raises(ValueError, match=r'^The fingers open from 0\.03 m to 0\.049 m, not to '):
        finger.posture(width)


def test_a_posture_of_other_joints_is_refused(finger: FingerGraspData) -> None:
    with pytest.raises(ValueError, match='has 2 positions'):
        finger.width((0.02,))


@pytest.mark.parametrize('hand', [FINGER, SUCTION], ids=['finger', 'suction'])
def test_what_is_written_is_read_back(tmp_path: Path, hand: Mapping[str, Any]) -> None:
    data = load_grasp_data(write(tmp_path, {**hand, 'grasp_resolution': 1e-5}))
    file = tmp_path / 'written.yaml'
    file.write_text(grasp_data_yaml(data, base_link='base_link', end_effector_name='left_hand', prefix='left_'))

    expected = replace(
        data,
        base_link='base_link',
        end_effector_name='left_hand',
        joints=tuple(f'left_{joint}' for joint in data.joints),
    )
    assert load_grasp_data(file) == expected


@pytest.mark.parametrize('name', ['yes', '5', 'a: b', '# no', "it's", 'ä', ''.join(['long_name_'] * 20)])
def test_names_that_yaml_reads_otherwise_are_quoted(finger: FingerGraspData, tmp_path: Path, name: str) -> None:
    file = tmp_path / 'written.yaml'
    file.write_text(grasp_data_yaml(finger, base_link=name, end_effector_name=name), encoding='utf-8')

    data = load_grasp_data(file)

    assert (data.base_link, data.end_effector_name) == (name, name)


@pytest.mark.parametrize('hand', [FINGER, SUCTION], ids=['finger', 'suction'])
def test_a_missing_key_is_named(tmp_path: Path, hand: Mapping[str, Any]) -> None:
    for missing in set(hand) - {'suction_rows_count', 'suction_cols_count'}:
        file = write(tmp_path, {key: value for key, value in hand.items() if key != missing})
        assert f"lacks the key 'hand.{missing}'." in problems(file)


@pytest.mark.parametrize('value', ['wide', None, True, math.nan, math.inf, [0.01], -0.01])
@pytest.mark.parametrize(
    'key', ['max_finger_width', 'grasp_resolution', 'angle_resolution', 'grasp_min_depth', 'lift_distance_desired']
)
def test_what_is_no_number_is_named(tmp_path: Path, key: str, value: object) -> None:
    file = write(tmp_path, {**FINGER, key: value})

    (line,) = [line for line in problems(file) if f"'hand.{key}'" in line]
    assert line.startswith(f"has {value!r} for the key 'hand.{key}', which must be a number ")


@pytest.mark.parametrize(
    ('key', 'value', 'wanted'),
    [
        ('end_effector_name', 5, 'a text'),
        ('end_effector_type', 'magnet', 'one of finger, suction'),
        ('max_finger_width', 49, 'in metres, and at most 1'),
        ('min_finger_width', 0.06, 'at most max_finger_width, which is 0.049'),
        ('min_finger_width', 0.045, 'at most max_grasp_width, which is 0.044'),
        ('min_finger_width', 0.049, 'at most max_grasp_width, which is 0.044'),
        ('max_grasp_width', 0.05, 'at most max_finger_width, which is 0.049'),
        ('gripper_finger_width', 0, 'a number above zero'),
        ('joints', [], 'a list of different names'),
        ('joints', ['a', 'a'], 'a list of different names'),
        ('joints', 'a', 'a list of different names'),
        ('pregrasp_posture', [0.04], 'a list of 2 positions, one for each of joints'),
        ('grasp_posture', [0.0, 0.0, 0.0], 'a list of 2 positions, one for each of joints'),
        ('grasp_posture', [0.0, math.nan], 'a list of 2 positions, one for each of joints'),
        ('pregrasp_posture', [0.04, 0.0], 'different from grasp_posture, [0.0, 0.0], in every joint'),
        ('tcp_to_eef_mount_transform', [0, 0, 0], 'a list of 6 numbers: x, y, z [m], roll, pitch, yaw [rad]'),
        ('angle_resolution', 0, 'a number above zero'),
        ('angle_resolution', 50, 'a part of a full turn [deg], such as 90, 45 or 30'),
        ('angle_resolution', 720, 'a part of a full turn [deg], such as 90, 45 or 30'),
        ('angle_resolution', 0.001, 'a part of a full turn [deg], such as 90, 45 or 30'),
        ('grasp_min_depth', 0.007, 'at most grasp_max_depth, which is 0.006'),
        ('grasp_depth_resolution', 0, 'a number above zero'),
        ('approach_distance_desired', -0.05, 'a number of at least zero'),
        ('grasp_padding_on_approach', -0.001, 'a number of at least zero'),
        ('grasp_time_from_start', -1, 'a number of at least zero'),
    ],
)
def test_a_wrong_value_is_named_with_what_it_must_be(tmp_path: Path, key: str, value: object, wanted: str) -> None:
    file = write(tmp_path, {**FINGER, key: value})

    assert f"has {value!r} for the key 'hand.{key}', which must be {wanted}." in problems(file)


def test_a_number_without_end_is_not_printed(tmp_path: Path) -> None:
    (line,) = problems(write(tmp_path, {**FINGER, 'grasp_resolution': 10**400}))

    assert line.endswith("for the key 'hand.grasp_resolution', which must be a number above zero.")
    assert len(line) < 200


def test_a_file_that_blows_itself_up_is_refused_in_a_short_sentence(tmp_path: Path) -> None:
    bomb = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]']
    bomb += [f'a{i}: &a{i} [{", ".join([f"*a{i - 1}"] * 10)}]' for i in range(1, 10)]
    file = tmp_path / 'grasp_data.yaml'
    file.write_text('base_link: world\nhand:\n  joints: [' + '[' * 5000 + ']' * 5000 + ']\n')
    assert problems(file)[0].startswith('cannot be read: ')
    file.write_text('\n'.join(['hand: {grasp_resolution: 1}', *bomb, 'base_link: *a9']))
    assert sum(map(len, problems(file))) < 2000


@pytest.mark.parametrize(
    ('key', 'value', 'wanted'),
    [
        ('active_suction_range_x', 0, 'a number above zero'),
        ('active_suction_range_y', 120, 'in metres, and at most 1'),
        ('pregrasp_posture', 5, 'a list of 0 positions, one for each of joints'),
        ('grasp_posture', [0.0], 'a list of 0 positions, one for each of joints'),
        ('suction_rows_count', 0, 'a whole number above zero'),
        ('suction_cols_count', 1.5, 'a whole number above zero'),
        ('suction_cols_count', True, 'a whole number above zero'),
    ],
)
def test_a_wrong_value_of_a_suction_gripper_is_named(tmp_path: Path, key: str, value: object, wanted: str) -> None:
    file = write(tmp_path, {**SUCTION, key: value})

    assert problems(file) == [f"has {value!r} for the key 'hand.{key}', which must be {wanted}."]


@pytest.mark.parametrize('angle', [360, 180, 120, 90, 45, 40, 30, 22.5, 7.2, 1])
def test_a_part_of_a_full_turn_is_an_angle_resolution(tmp_path: Path, angle: float) -> None:
    assert load_grasp_data(write(tmp_path, {**FINGER, 'angle_resolution': angle})).angle_resolution == angle


def test_unknown_keys_are_named_with_the_nearest_known_one(tmp_path: Path) -> None:
    file = write(tmp_path, {**FINGER, 'max_finger_widht': 0.05, 'active_suction_range_x': 0.2, 5: 5})

    assert problems(file) == [
        "has the unknown key 'hand.max_finger_widht' (did you mean 'max_finger_width'?); remove it.",
        "has the unknown key 'hand.active_suction_range_x'; remove it.",
        "has the unknown key 'hand.5'; remove it.",
    ]


def test_all_problems_are_reported_at_once(tmp_path: Path) -> None:
    hand = {**FINGER, 'colour': 'red', 'grasp_resolution': 0, 'grasp_min_depth': 0.01, 'max_grasp_width': 0.05}
    del hand['lift_distance_desired']
    file = write(tmp_path, hand, base_link=5)

    assert problems(file) == [
        "has 5 for the key 'base_link', which must be a text.",
        "has the unknown key 'hand.colour'; remove it.",
        "has 0 for the key 'hand.grasp_resolution', which must be a number above zero.",
        "lacks the key 'hand.lift_distance_desired'.",
        "has 0.05 for the key 'hand.max_grasp_width', which must be at most max_finger_width, which is 0.049.",
        "has 0.01 for the key 'hand.grasp_min_depth', which must be at most grasp_max_depth, which is 0.006.",
    ]


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('', 'must hold keys and values, such as base_link: world.'),
        ('base_link: world', "has nothing beside base_link; describe one end effector there, as 'hand'."),
        ('{base_link: world, a: {}, b: {}}', 'has the keys a, b beside base_link; '),
        ('{base_link: world, 5: {}}', 'has the keys 5 beside base_link; '),
        ('{base_link: world, hand: 5}', "has 5 for the key 'hand', which must be keys and values."),
        ('base_link: [', 'cannot be read: '),
        ('base_link: 2026-13-45', 'cannot be read: '),
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / 'grasp_data.yaml'
    file.write_text(text)

    (line,) = problems(file)
    assert line.startswith(words)
