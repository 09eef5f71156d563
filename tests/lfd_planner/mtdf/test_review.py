"""Traps that a reader, a writer and a comparison of tasks once fell into."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

from lfd_planner.mtdf import MtdfError, Task, Wait, differences, dump_task, parse_task
from lfd_planner.mtdf.describe import roll_pitch_yaw
from lfd_planner.mtdf.task import SetOutput
from lfd_planner.scene.persistent_map import PersistentMap


def test_a_name_of_very_many_digits_is_refused_at_once() -> None:
    """Quadratic time would take hours for this one."""
    with pytest.raises(MtdfError, match='is no name'):
        parse_task(f'object_descriptors: [{"1" * 5_000_000}x]\nkeyframes: []\n')


def test_differences_that_words_do_not_show() -> None:
    for a, b in ((1000001, 1000002), (10000.01, 10000.04)):
        old, new = (Task((), (SetOutput('gate', float(value)),)) for value in (a, b))
        assert differences(old, new)


def test_no_escape_reaches_the_terminal() -> None:
    with pytest.raises(MtdfError) as error:
        parse_task('object_descriptors: [a]\nkeyframes:\n- {type: pick, object_descriptor: "\\e[31mEVIL"}\n')
    assert '\x1b' not in str(error.value)


@pytest.mark.parametrize('number', [np.float64(1.5), np.float32(1.5)])
def test_numbers_of_numpy_are_written(number: float) -> None:
    task = Task((), (Wait(number), SetOutput('gate', np.bool_(True))))

    assert parse_task(dump_task(task)).keyframes == (Wait(1.5), SetOutput('gate', True))


@pytest.mark.parametrize('yaw', [-2.0, 0.3, 1.2])
@pytest.mark.parametrize('pitch', [-math.pi / 2, math.pi / 2])
def test_the_yaw_of_a_tipped_object_is_told(pitch: float, yaw: float) -> None:
    s, c, sy, cy = math.sin(pitch / 2), math.cos(pitch / 2), math.sin(yaw / 2), math.cos(yaw / 2)

    roll, told_pitch, told_yaw = roll_pitch_yaw((-sy * s, cy * s, sy * c, cy * c))
    assert roll == 0.0
    assert told_pitch == pytest.approx(pitch, abs=1e-6)
    assert told_yaw == pytest.approx(yaw)


def test_a_map_finds_its_keys_in_another_process() -> None:
    data = pickle.dumps(PersistentMap({f'object_{i}': i for i in range(200)}))
    script = (
        'import pickle, sys; found = pickle.loads(sys.stdin.buffer.read()); '
        'print(sum(found[f"object_{i}"] == i for i in range(200)))'
    )

    result = subprocess.run([sys.executable, '-c', script], input=data, capture_output=True, check=True)
    assert result.stdout.strip() == b'200'
