"""Mass, centre and inertia of links: the published ones, else those of a homogeneous body of the link's solids."""

from dataclasses import dataclass

import numpy as np

from .model import LinkModel
from .slices import Array
from .solids import Solid


@dataclass(frozen=True)
class Inertial:
    """What URDF calls an inertial, in axes parallel to the link's."""

    mass: float
    """[kg]"""
    centre: Array
    """(3,) in the link's frame [m]."""
    tensor: Array
    """(3, 3) about the centre [kg m^2]."""


def inertial(model: LinkModel, solids: tuple[Solid, ...]) -> Inertial | None:
    """The inertial of a link; None for a link whose mass is not known."""
    if model.mass is None:
        return None
    body = homogeneous(solids, model.mass)
    centre = body.centre if model.centre is None else np.array(model.centre, dtype=np.float64)
    tensor = body.tensor if model.inertia is None else model.inertia.tensor
    return Inertial(model.mass, centre, tensor)


def homogeneous(solids: tuple[Solid, ...], mass: float) -> Inertial:
    """The inertial of solids of one density that weigh `mass` [kg] together."""
    moments = [_moments(solid) for solid in solids]
    volume = sum(part[0] for part in moments)
    centre = sum((part[1] for part in moments), start=np.zeros(3)) / volume
    spread = sum((part[2] for part in moments), start=np.zeros((3, 3))) / volume - np.outer(centre, centre)
    return Inertial(mass, centre, mass * (np.trace(spread) * np.eye(3) - spread))


def _moments(solid: Solid) -> tuple[float, Array, Array]:
    """Integrals over a solid of 1, x and x x^T, summed over its tetrahedra with the origin."""
    corners = solid.vertices[solid.faces]
    volumes = np.linalg.det(corners) / 6.0
    sums = corners.sum(axis=1)
    first = volumes @ sums / 4.0
    pairs = np.einsum('nki,nkj->nij', corners, corners) + np.einsum('ni,nj->nij', sums, sums)
    second = np.einsum('n,nij->ij', volumes, pairs) / 20.0
    return float(volumes.sum()), first, second
