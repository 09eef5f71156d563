"""What fingers, palm or cup would meet on the surface of an object, for many poses of the tcp at once."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from lfd_description.compiled import compiled

from .grasp import Floats
from .pauses import pause

# Columns of what a probe finds; lengths [m] in the tcp's frame, lean as a tangent.
LEFT, RIGHT = 0, 1  # lowest and highest y of what is between the fingers
TOP = 2  # lowest z before the palm: how far the object comes near to it
STRIP_TOP = 3  # lowest z between the fingers
BACK, FRONT = 4, 5  # lowest and highest x between the pads
LEFT_LEAN, RIGHT_LEAN = 6, 7  # the least lean of what each pad touches
COLUMNS = 8

TOUCH = 0.0003  # [m], how near to a pad counts as touching
FLARE = 0.4  # how much wider fingers are taken to be for each metre above their pads
MOST_AT_ONCE = 1_000_000  # poses times points between two pauses


def _slices(tcp: Floats, points: int) -> Iterator[Floats]:
    """The poses some at a time, with a pause before each."""
    step = max(1, MOST_AT_ONCE // max(points, 1))
    for start in range(0, len(tcp), step):
        pause()
        yield np.ascontiguousarray(tcp[start : start + step])


def probe(
    tcp: Floats, points: Floats, normals: Floats, half_finger: float, depth: float, palm: float, spacing: float
) -> Floats:
    """What is between fingers at each pose, (N, COLUMNS); infinite where nothing is.

    Fingers are `half_finger` to each side of x = 0 and reach from z = 0 to the palm; pads reach `depth` up from z = 0;
    what is beyond twice `palm` along y is outside of the hand. Between points that are `spacing` apart a surface may
    bulge, so that fingers count as half of that larger.
    """
    found = [_probe(part, points, normals, half_finger, depth, palm, spacing) for part in _slices(tcp, len(points))]
    return np.concatenate([np.empty((0, COLUMNS)), *found])


@compiled
def _probe(
    tcp: Floats, points: Floats, normals: Floats, half_finger: float, depth: float, palm: float, spacing: float
) -> Floats:
    found = np.empty((tcp.shape[0], COLUMNS))
    for i in range(tcp.shape[0]):
        t = tcp[i]
        left, right, top, strip_top, back, front = math.inf, -math.inf, math.inf, math.inf, math.inf, -math.inf
        for j in range(points.shape[0]):
            a, b, c = points[j, 0] - t[0, 3], points[j, 1] - t[1, 3], points[j, 2] - t[2, 3]
            x = a * t[0, 0] + b * t[1, 0] + c * t[2, 0]
            if abs(x) > 1.5 * palm:
                continue
            z = a * t[0, 2] + b * t[1, 2] + c * t[2, 2]
            if z > 0.5 * spacing:
                continue
            y = a * t[0, 1] + b * t[1, 1] + c * t[2, 1]
            if abs(y) > 2.0 * palm:
                continue
            if abs(x) <= palm or z < -3.0 * palm:  # the flange behind the palm is wider
                top = min(top, z)
            if abs(x) <= half_finger + 0.5 * spacing + FLARE * max(-z - depth, 0.0):
                left, right, strip_top = min(left, y), max(right, y), min(strip_top, z)
            if abs(x) <= half_finger + spacing and -depth - 1e-9 <= z <= 1e-9:
                back, front = min(back, x), max(front, x)
        left_lean, right_lean = math.inf, math.inf
        for j in range(points.shape[0]):
            a, b, c = points[j, 0] - t[0, 3], points[j, 1] - t[1, 3], points[j, 2] - t[2, 3]
            y = a * t[0, 1] + b * t[1, 1] + c * t[2, 1]
            if left + TOUCH < y < right - TOUCH:
                continue
            x = a * t[0, 0] + b * t[1, 0] + c * t[2, 0]
            z = a * t[0, 2] + b * t[1, 2] + c * t[2, 2]
            if abs(x) > half_finger + 0.5 * spacing or z > 0.5 * spacing or z < -depth - 1e-9 or y < left or y > right:
                continue
            along = normals[j, 0] * t[0, 1] + normals[j, 1] * t[1, 1] + normals[j, 2] * t[2, 1]
            lean = math.sqrt(max(1.0 - along * along, 0.0)) / max(abs(along), 1e-9)
            if y <= left + TOUCH and along < 0.0:
                left_lean = min(left_lean, lean)
            if y >= right - TOUCH and along > 0.0:
                right_lean = min(right_lean, lean)
        found[i, LEFT], found[i, RIGHT], found[i, TOP], found[i, STRIP_TOP] = left, right, top, strip_top
        found[i, BACK], found[i, FRONT], found[i, LEFT_LEAN], found[i, RIGHT_LEAN] = back, front, left_lean, right_lean
    return found


def thickness(tcp: Floats, points: Floats, normals: Floats, half_finger: float, depth: float, least: float) -> Floats:
    """How thick the object is behind the pad of a finger whose pad is at y = 0, (N,) [m]; infinite where it goes on.

    A wall thinner than `least` counts only where the object does not go on behind it.
    """
    found = [_thickness(part, points, normals, half_finger, depth, least) for part in _slices(tcp, len(points))]
    return np.concatenate([np.empty(0), *found])


@compiled
def _thickness(tcp: Floats, points: Floats, normals: Floats, half_finger: float, depth: float, least: float) -> Floats:
    found = np.empty(tcp.shape[0])
    for i in range(tcp.shape[0]):
        t = tcp[i]
        nearest, thin = math.inf, -math.inf
        for j in range(points.shape[0]):
            a, b, c = points[j, 0] - t[0, 3], points[j, 1] - t[1, 3], points[j, 2] - t[2, 3]
            x = a * t[0, 0] + b * t[1, 0] + c * t[2, 0]
            z = a * t[0, 2] + b * t[1, 2] + c * t[2, 2]
            if abs(x) > half_finger or z > 1e-9 or z < -depth - 1e-9:
                continue
            y = a * t[0, 1] + b * t[1, 1] + c * t[2, 1]
            along = normals[j, 0] * t[0, 1] + normals[j, 1] * t[1, 1] + normals[j, 2] * t[2, 1]
            if y >= 0.0 or along > -0.5:
                continue
            if -y >= least:
                nearest = min(nearest, -y)
            else:
                thin = max(thin, -y)
        found[i] = nearest if nearest < math.inf or thin < 0.0 else thin
    return found


def protrusion(tcp: Floats, points: Floats, radius: float) -> Floats:
    """How far the points within `radius` of the tcp's z axis come towards the palm, (N,) [m]; -inf without any."""
    found = [_protrusion(part, points, radius) for part in _slices(tcp, len(points))]
    return np.concatenate([np.empty(0), *found])


@compiled
def _protrusion(tcp: Floats, points: Floats, radius: float) -> Floats:
    found = np.empty(tcp.shape[0])
    for i in range(tcp.shape[0]):
        t = tcp[i]
        most = -math.inf
        for j in range(points.shape[0]):
            a, b, c = points[j, 0] - t[0, 3], points[j, 1] - t[1, 3], points[j, 2] - t[2, 3]
            x = a * t[0, 0] + b * t[1, 0] + c * t[2, 0]
            y = a * t[0, 1] + b * t[1, 1] + c * t[2, 1]
            if x * x + y * y <= radius * radius:
                most = max(most, -(a * t[0, 2] + b * t[1, 2] + c * t[2, 2]))
        found[i] = most
    return found
