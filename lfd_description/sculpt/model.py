"""What the sculptor needs of an arm's `model.yaml`: where its links are, what they weigh, and published inertias."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from .slices import Array


@dataclass(frozen=True)
class Inertia:
    """A tensor about the centre of mass, in axes parallel to the link's: (3, 3) [kg m^2]."""

    tensor: Array


@dataclass(frozen=True)
class LinkModel:
    """A link and the joint that carries it."""

    name: str
    xyz: tuple[float, float, float]
    """Of its frame in the parent's [m]."""
    mass: float | None
    """[kg]"""
    centre: tuple[float, float, float] | None
    """Its published centre of mass in its own frame [m]."""
    inertia: Inertia | None
    """Its published inertia."""


class _Loader(yaml.SafeLoader):
    """YAML with xacro's !degrees."""


def _degrees(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float:
    return math.radians(float(str(loader.construct_scalar(node))))


_Loader.add_constructor('!degrees', _degrees)


def read_model(folder: Path) -> dict[str, LinkModel]:
    """The links of the arm in a folder by name, from base to tool, without the root link."""
    data = yaml.load((folder / 'model.yaml').read_text(encoding='utf-8'), _Loader)
    return {step['child']: _link(step) for step in data['chain']}


def _link(step: dict[str, Any]) -> LinkModel:
    centre = step.get('centre_of_mass')
    inertia = step.get('inertia')
    return LinkModel(
        name=step['child'],
        xyz=tuple(step['xyz']),
        mass=step.get('mass'),
        centre=tuple(centre) if centre else None,
        inertia=_inertia(inertia) if inertia else None,
    )


def _inertia(data: dict[str, Any]) -> Inertia:
    xx, xy, xz, yy, yz, zz = (float(data[key]) for key in ('xx', 'xy', 'xz', 'yy', 'yz', 'zz'))
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    roll, pitch, yaw = data.get('rpy', (0.0, 0.0, 0.0))
    if pitch or yaw:
        raise ValueError('Only a roll is expected between published inertias and the link; extend sculpt/model.py.')
    turn = np.array([[1, 0, 0], [0, math.cos(roll), -math.sin(roll)], [0, math.sin(roll), math.cos(roll)]])
    return Inertia(turn @ tensor @ turn.T)
