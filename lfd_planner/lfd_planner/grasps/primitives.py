"""Two-finger grasps of boxes, cylinders, capsules, cones and balls, in the frame of the shape; exact, without sampling.

Only one of the two ways to swap the fingers is made here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from lfd_description.shapes import Box, Capsule, Cone, Cylinder, Sphere
from lfd_planner.scene import Part

from .fit import clear_of_palm
from .frames import AXES, frames
from .grasp import Batch, Floats, Reason, Source, Tally
from .limits import EXACT, FRICTION, FingerLimits, half_turn, spread
from .outlines import Disc, Outline, Rectangle
from .surface import surface_of

Primitive = Box | Sphere | Cylinder | Capsule | Cone

_COARSEST_ON_BALL = 12  # angles of a full turn; a ball has directions to come from times turns about them
# How far to raise a hand beside a cone, as shares of what does not slip: straight from the side, one that stands on a
# table is out of reach, and from its tip there is nothing for pads to lie on.
_CONE_TILTS = (0.0, 0.35, -0.35, 0.7, -0.7, 1.0)
_Row = tuple[float, float, float, float, Source]  # angle [rad], place across, place towards the palm, depth [m]


def primitive_grasps(shape: Primitive, limits: FingerLimits, tally: Tally) -> Batch:
    """All grasps of a primitive, in its own frame."""
    match shape:
        case Box(size):
            return _box(size, limits, tally)
        case Cylinder(radius, height):
            return _cylinder(radius, height, limits, tally)
        case Capsule(radius, height):
            return _capsule(radius, height, limits, tally)
        case Cone(radius, height):
            return _cone(radius, height, limits, tally)
        case Sphere(radius):
            return _ball(radius, limits, tally)


def _box(size: tuple[float, float, float], limits: FingerLimits, tally: Tally) -> Batch:
    batches = []
    for closing in range(3):
        a, b = (closing + 1) % 3, (closing + 2) % 3
        if limits.accepts_width(size[closing], 'box', tally, 2 * len(limits.angles)):
            rows = list(_outline_rows(Rectangle(0.5 * size[a], 0.5 * size[b]), limits, 'box', tally))
            batches.append(_in_plane(rows, closing, size[closing]))
    return Batch.join(batches)


def _cylinder(radius: float, height: float, limits: FingerLimits, tally: Tally) -> Batch:
    batches = []
    turns = len(limits.angles)
    if limits.accepts_width(2.0 * radius, 'cylinder', tally, 4 * turns):
        if limits.accepts_length(height, 'cylinder', tally, 2 * turns):
            batches += _sides(radius, spread(height - limits.finger, limits.step), 'cylinder', limits, tally)
        if limits.accepts_length(2.0 * radius, 'cylinder', tally, 2 * turns):
            batches += _ends(radius, 0.5 * height, 0.0, height, 'cylinder', limits, tally)
    if limits.accepts_width(height, 'cylinder, end to end,', tally, 2 * turns):
        rows = [(*row[:4], Source.SIDE) for row in _outline_rows(Disc(radius), limits, 'cylinder', tally)]
        batches.append(_in_plane(rows, 2, height))
    return Batch.join(batches)


def _capsule(radius: float, height: float, limits: FingerLimits, tally: Tally) -> Batch:
    batches = []
    turns = len(limits.angles)
    if limits.accepts_width(2.0 * radius, 'capsule', tally, 4 * turns):
        if limits.accepts_length(height, 'capsule', tally, 2 * turns):
            places = spread(height - 2.0 * radius - limits.finger, limits.step)
            batches += _sides(radius, places, 'capsule', limits, tally)
        if limits.accepts_length(2.0 * radius, 'capsule', tally, 2 * turns):
            batches += _ends(radius, 0.5 * height - radius, radius, height - radius, 'capsule', limits, tally)
    return Batch.join(batches)


def _cone(radius: float, height: float, limits: FingerLimits, tally: Tally) -> Batch:
    turns = len(limits.angles)
    if radius > FRICTION * height:
        lean, most = (round(math.degrees(angle)) for angle in (math.atan2(radius, height), math.atan(FRICTION)))
        detail = f"the cone's side leans by {lean} degrees, pads hold up to {most}"
        tally.add(Reason.SLIPS, detail, count=4 * turns)
        return Batch.join([])
    batches = []
    widest = min(2.0 * radius, limits.widest)
    long = limits.accepts_length(height, 'cone', tally, 2 * turns)
    if long and limits.accepts_width(widest, 'cone', tally, 2 * turns):
        steepest = _steepest(radius / height)
        for tilt in dict.fromkeys(round(share * steepest, 2) + 0.0 for share in _CONE_TILTS):
            batches += _raised(Cone(radius, height), tilt, limits, tally)
    # From its tip, a cone becomes wider behind the pads.
    tally.add(Reason.TOO_SHALLOW, "from the cone's tip, only the finger tips would touch it", count=turns)
    wide = limits.accepts_width(2.0 * radius, 'cone', tally, turns)
    if wide and limits.accepts_length(2.0 * radius, 'cone', tally, turns):
        batches += _end(-1.0, radius, 0.5 * height, 0.0, height, 'cone', limits, tally)
    return Batch.join(batches)


def _raised(cone: Cone, tilt: float, limits: FingerLimits, tally: Tally) -> list[Batch]:
    """Grasps of a cone from the side, with the hand raised by an angle [rad] towards the tip, or below zero the base.

    In the plane of the axis and the hand, u is the way across the axis and h that along it. The pads touch with the
    edges of the fingers that are nearer to the base, where these edges pass the axis most closely.
    """
    slope, turns = cone.radius / cone.height, len(limits.angles)
    turned, cos, sin = slope * math.tan(tilt), math.cos(tilt), math.sin(tilt)
    share = math.sqrt(1.0 - turned * turned)  # of the radius where the pads touch, half of their gap
    lean = math.acos(min(1.0, math.cos(math.atan(slope)) * share))
    rims = np.array(_rims(cone, tilt, share, limits, tally))
    out = np.repeat(_around(limits.angles), len(rims), axis=0)
    z = -cos * out - sin * AXES[2]
    # Fingers are about as long as they open wide; whether the tip meets this very palm, collision checks will see.
    longer = replace(limits, reach=limits.widest + limits.depths[0])
    surface = surface_of((Part(cone),))
    batches = []
    for depth in limits.depths:
        u = np.tile(turned * rims + depth * cos + 0.5 * limits.finger * sin, turns)[:, None]
        h = np.tile(0.5 * cone.height - rims / slope - depth * sin + 0.5 * limits.finger * cos, turns)[:, None]
        tcp = frames(np.cross(z, AXES[2]) / cos, z, h * AXES[2] - u * out)
        batch = Batch.of(tcp, np.tile(2.0 * share * rims, turns), np.full(len(tcp), depth), Source.SIDE)
        batch = replace(batch, penalty=np.full(len(tcp), 0.5 * math.tan(lean)))
        batches.append(clear_of_palm(batch, surface, longer, tally))
    return batches


def _rims(cone: Cone, tilt: float, share: float, limits: FingerLimits, tally: Tally) -> list[float]:
    """The radii of a cone at which the pads of a raised hand may touch it [m], the largest first."""
    slope, count = cone.radius / cone.height, 2 * len(limits.angles)
    widest = min(cone.radius, 0.5 * limits.widest / share)
    if not limits.accepts_width(2.0 * share * widest, 'cone', tally, count):
        return []
    # Where the edge of a finger that is nearer to the tip is still on the cone.
    least = limits.finger * (abs(math.sin(tilt)) + slope * math.cos(tilt)) / (1.0 - slope * abs(math.tan(tilt)))
    if not limits.accepts_length(limits.finger * widest / least, 'cone', tally, count):
        return []
    narrowest = min(widest, max(0.5 * limits.narrowest / share, least))
    return _between(widest, narrowest, limits.step * slope)


def _steepest(slope: float) -> float:
    """The most that a hand can be raised beside a cone of a slope [rad] before what the pads touch leans too much."""
    upright = math.cos(math.atan(FRICTION)) / math.cos(math.atan(slope))
    return math.atan(math.sqrt(max(1.0 - upright * upright, 0.0)) / slope)


def _ball(radius: float, limits: FingerLimits, tally: Tally) -> Batch:
    count = min(len(limits.angles), _COARSEST_ON_BALL)
    approaches = _directions(count)
    turns = half_turn(tuple(2.0 * math.pi * number / count for number in range(count)))
    total = 2 * len(approaches) * len(turns)
    wide = limits.accepts_width(2.0 * radius, 'ball', tally, total)
    if not wide or not limits.accepts_length(2.0 * radius, 'ball', tally, total):
        return Batch.join([])
    batches = []
    for depth in limits.depths_within(radius, radius, 'ball', tally, total):
        side, up = _sideways(approaches)
        for turn in turns:
            y = math.cos(turn) * side + math.sin(turn) * up
            tcp = frames(y, approaches, depth * approaches)
            batches.append(Batch.of(tcp, 2.0 * radius, np.full(len(tcp), depth), Source.SIDE))
    return Batch.join(batches)


def _outline_rows(outline: Outline, limits: FingerLimits, what: str, tally: Tally) -> Iterator[_Row]:
    """The grasps between two parallel faces, with the hand anywhere around their outline."""
    for angle in sorted({round(angle, 9) for angle in (*outline.angles, *limits.angles)}):
        length = outline.across(angle)
        if not limits.accepts_length(length, what, tally, 2):
            continue
        straight = outline.is_straight(angle)
        corner = outline.corner(angle)
        if straight:
            places = spread(length - limits.finger, limits.step) if isinstance(outline, Rectangle) else [0.0]
        else:
            places = [corner + place for place in spread(length, limits.step)]
        for place in places:
            source = Source.FACE if straight else Source.CORNER if place == corner else Source.EDGE
            for level, depth in _levels(outline, angle, place, limits, what, tally):
                yield angle, place, level, depth, source


def _levels(
    outline: Outline, angle: float, place: float, limits: FingerLimits, what: str, tally: Tally
) -> Iterator[tuple[float, float]]:
    """Where the tcp is towards the palm, and how deep that is [m], for a hand at a place across the fingers."""
    half = 0.0 if outline.is_level(angle) else 0.5 * limits.finger - EXACT
    left = outline.span(angle, place - half)
    right = outline.span(angle, place + half) if half else left
    if left is None or right is None:
        limits.accepts_length(0.0, what, tally, 2)
        return
    # Depth counts from where the whole width of a finger is on the object.
    bottom, top = max(left[0], right[0]), min(left[1], right[1])
    beyond = _before_palm(outline, angle, place, limits) - top if half else 0.0
    for depth in limits.depths_within(top - bottom, max(beyond, 0.0), what, tally, 2):
        yield top - depth, depth


def _before_palm(outline: Outline, angle: float, place: float, limits: FingerLimits) -> float:
    """How far the outline reaches towards the palm of a hand at a place across the fingers [m]."""
    nearest = min(max(outline.corner(angle), place - limits.palm), place + limits.palm)
    spans = (outline.span(angle, v) for v in (place, nearest))
    return max(span[1] for span in spans if span is not None)


def _in_plane(rows: list[_Row], closing: int, width: float) -> Batch:
    """Rows of an outline as grasps that close along an axis of the shape."""
    if not rows:
        return Batch.join([])
    angle, v, u, depth = np.array([row[:4] for row in rows]).T
    out = np.zeros((len(rows), 3))
    a, b = (closing + 1) % 3, (closing + 2) % 3
    out[:, a], out[:, b] = np.cos(angle), np.sin(angle)
    out[np.abs(out) < 1e-9] = 0.0
    side = np.zeros_like(out)
    side[:, a], side[:, b] = out[:, b], -out[:, a]
    tcp = frames(AXES[closing], -out, v[:, None] * side + u[:, None] * out)
    return Batch.of(tcp, width, depth, [row[4] for row in rows])


def _sides(radius: float, places: list[float], what: str, limits: FingerLimits, tally: Tally) -> list[Batch]:
    """Grasps across the axis z at places along it [m]."""
    out = _around(limits.angles)
    batches = []
    count = 2 * len(out) * len(places)
    for depth in limits.depths_within(radius, radius, what, tally, count):
        origin = np.concatenate([[0.0, 0.0, place] - depth * out for place in places])
        z = np.tile(-out, (len(places), 1))
        tcp = frames(np.cross(z, AXES[2]), z, origin)
        batches.append(Batch.of(tcp, 2.0 * radius, np.full(len(tcp), depth), Source.SIDE))
    return batches


def _ends(
    radius: float, begins: float, beyond: float, room: float, what: str, limits: FingerLimits, tally: Tally
) -> list[Batch]:
    """Grasps along the axis z from both ends; the pads' contact begins at `begins` of the middle [m]."""
    return [batch for sign in (1.0, -1.0) for batch in _end(sign, radius, begins, beyond, room, what, limits, tally)]


def _end(
    sign: float, radius: float, begins: float, beyond: float, room: float, what: str, limits: FingerLimits, tally: Tally
) -> list[Batch]:
    y = _around(tuple(half_turn(limits.angles)))
    batches = []
    for depth in limits.depths_within(room, beyond, what, tally, 2 * len(y)):
        tcp = frames(y, -sign * AXES[2], np.tile(sign * (begins - depth) * AXES[2], (len(y), 1)))
        source = Source.TOP if sign > 0.0 else Source.BOTTOM
        batches.append(Batch.of(tcp, 2.0 * radius, np.full(len(tcp), depth), source))
    return batches


def _around(angles: tuple[float, ...]) -> Floats:
    """Unit vectors about z, (N, 3)."""
    vectors = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(len(angles))])
    vectors[np.abs(vectors) < 1e-9] = 0.0
    return np.asarray(vectors)


def _between(high: float, low: float, step: float) -> list[float]:
    """Numbers from `high` down to `low`, both of them, about `step` apart."""
    count = min(max(int((high - low) / step), 1), 6)
    return [high - (high - low) * number / count for number in range(count + 1)] if high - low > EXACT else [high]


def _directions(count: int) -> Floats:
    """Unit vectors all over a ball, about a full turn's `count` part apart, (N, 3)."""
    rings = max(round(count / 2), 2)
    vectors: list[tuple[float, float, float]] = [(0.0, 0.0, -1.0), (0.0, 0.0, 1.0)]
    for ring in range(1, rings):
        tilt = math.pi * ring / rings
        for number in range(count):
            turn = 2.0 * math.pi * number / count
            vectors.append((math.sin(tilt) * math.cos(turn), math.sin(tilt) * math.sin(turn), -math.cos(tilt)))
    found = np.array(vectors)
    found[np.abs(found) < 1e-9] = 0.0
    return found


def _sideways(z: Floats) -> tuple[Floats, Floats]:
    """Two unit vectors across each other and across unit vectors z, (N, 3) each; the first one is level."""
    level = np.cross(AXES[2], z)
    length = np.linalg.norm(level, axis=1)
    level = np.where(length[:, None] < 1e-9, AXES[1], level / np.maximum(length, 1e-12)[:, None])
    return level, np.cross(z, level)
