"""Whether committed bodies are those that the generator makes, but for the last digits of a machine's arithmetic."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import yaml

from lfd_description.meshes import coloured_meshes

DESCRIPTION = Path(__file__).resolve().parents[2] / 'lfd_description'
sys.path.insert(0, str(DESCRIPTION))  # the generator is not installed

from sculpt.arms import ROBOTS, body_files  # noqa: E402
from sculpt.grippers import gripper_files  # noqa: E402


def arm_files(name: str) -> Mapping[Path, bytes]:
    return {ROBOTS / name / file: data for file, data in body_files(name).items()}


def assert_made(wanted: Mapping[Path, bytes], scratch: Path) -> None:
    """Every file is there, with the same shape and colours as the generator gives it."""
    for file, data in wanted.items():
        made = scratch / file.name
        made.write_bytes(data)
        if file.suffix == '.yaml':
            assert_close(yaml.safe_load(file.read_text()), yaml.safe_load(data))
            continue
        own, new = coloured_meshes(file), coloured_meshes(made)
        assert {colour for _, colour in own} == {colour for _, colour in new}, file
        for (mesh, colour), (other, other_colour) in zip(sorted_by_colour(own), sorted_by_colour(new), strict=True):
            assert colour == other_colour
            np.testing.assert_allclose(mesh.bounds, other.bounds, atol=5e-4, err_msg=str(file))
            assert mesh.area == pytest.approx(other.area, rel=0.02), file


def sorted_by_colour(meshes: list) -> list:
    return sorted(meshes, key=lambda item: item[1])


def assert_close(one: object, other: object) -> None:
    if isinstance(one, dict) and isinstance(other, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_close(one[key], other[key])
    elif isinstance(one, list) and isinstance(other, list):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_close(a, b)
    elif isinstance(one, float) or isinstance(other, float):
        assert one == pytest.approx(other, rel=1e-3, abs=1e-6)
    else:
        assert one == other


__all__ = ['arm_files', 'assert_made', 'gripper_files']
