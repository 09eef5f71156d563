"""Poses of the tcp from its axes, many at once; all in the object's frame, in metres."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .grasp import Floats

AXES = np.eye(3)


def frames(y: npt.ArrayLike, z: npt.ArrayLike, origin: npt.ArrayLike) -> Floats:
    """4x4 transforms object -> tcp of unit axes y and z and origins, each (N, 3) or (3,) for all."""
    rows = np.broadcast_arrays(np.asarray(y, float), np.asarray(z, float), np.atleast_2d(np.asarray(origin, float)))
    ys, zs, origins = rows
    tcp = np.zeros((len(origins), 4, 4))
    tcp[:, 0, 0] = ys[:, 1] * zs[:, 2] - ys[:, 2] * zs[:, 1]
    tcp[:, 1, 0] = ys[:, 2] * zs[:, 0] - ys[:, 0] * zs[:, 2]
    tcp[:, 2, 0] = ys[:, 0] * zs[:, 1] - ys[:, 1] * zs[:, 0]
    tcp[:, :3, 1] = ys
    tcp[:, :3, 2] = zs
    tcp[:, :3, 3] = origins
    tcp[:, 3, 3] = 1.0
    return tcp


def flipped(tcp: Floats) -> Floats:
    """The same grasps with the fingers swapped: half a turn about z."""
    other = tcp.copy()
    other[:, :3, :2] *= -1.0
    return other


def across(axis: Floats, axes: Floats = AXES) -> Floats:
    """Unit vectors across unit vectors, (N, 3), each as near as can be to one of three axes, the object's own."""
    nearest = axes[np.argmin(np.abs(axis @ axes.T), axis=1)]
    side = nearest - np.sum(nearest * axis, axis=1)[:, None] * axis
    return np.asarray(side / np.linalg.norm(side, axis=1)[:, None])
