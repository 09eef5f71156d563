"""`python -m sculpt.grippers [--check]`: make the looks of the grippers, or say whether they are up to date.

Each body is built in its link's frame [m] and stays inside the collision solids of the gripper's xacro file.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from .files import collada
from .forms import Point, Profile, cover, hose, screw, turned
from .parts import Mesh, Paint, Part
from .slices import Array

GRIPPERS = Path(__file__).resolve().parents[1] / 'grippers'

SIDES = 40  # of turned parts
CORNER = 4  # steps of a rounded corner
FINE = 0.003  # [m]: edges that are rounded by less get two steps, others as many as corners

ORIGIN = (0.0, 0.0, 0.0)
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)

BODY = Paint('charcoal', (0.13, 0.14, 0.15), 0.35)
PANEL = Paint('graphite', (0.24, 0.25, 0.27), 0.3)
ALUMINIUM = Paint('aluminium', (0.78, 0.79, 0.81), 0.7)
STEEL = Paint('steel', (0.50, 0.51, 0.53), 0.8)
RUBBER = Paint('rubber', (0.06, 0.06, 0.065), 0.05)
ACCENT = Paint('accent', (0.02, 0.50, 0.78), 0.3)
SILICONE = Paint('silicone', (0.13, 0.40, 0.68), 0.2)


def gripper_files() -> dict[Path, bytes]:
    """The mesh files of all grippers, by their place."""
    bodies: dict[str, Callable[[], list[Part]]] = {
        'two_finger/meshes/hand_base.dae': parallel_hand,
        'two_finger/meshes/finger.dae': finger,
        'suction/meshes/hand_base.dae': suction_hand,
        'suction/meshes/suction_cup.dae': suction_cup,
    }
    return {GRIPPERS / name: collada(body()) for name, body in bodies.items()}


def parallel_hand() -> list[Part]:
    """Plate, body, side covers and guide rail of the two-finger gripper; frame hand_base."""
    return [
        *mounting_plate(),
        Part(box((-0.020, -0.043, 0.014), (0.020, 0.043, 0.066), 0.006), BODY),
        *side_cover(1.0),
        *side_cover(-1.0),
        Part(box((-0.012, -0.041, 0.064), (0.012, 0.041, 0.068), 0.001), BODY),
        Part(box((-0.0118, -0.040, 0.066), (-0.006, 0.040, 0.070), 0.0008), STEEL),
        Part(box((0.006, -0.040, 0.066), (0.0118, 0.040, 0.070), 0.0008), STEEL),
    ]


def mounting_plate() -> list[Part]:
    """The round plate on the flange, of ISO 9409-1-50's diameter, a ring that shows the state, and the neck."""
    return [
        Part(turned(disc_profile(0.0315, 0.0, 0.009, 0.001), ORIGIN, Z, SIDES), ALUMINIUM),
        Part(turned(disc_profile(0.0285, 0.009, 0.0112, 0.0), ORIGIN, Z, SIDES), ACCENT),
        Part(turned(disc_profile(0.0275, 0.0112, 0.014, 0.0), ORIGIN, Z, SIDES), BODY),
    ]


def side_cover(side: float) -> list[Part]:
    """The cover on the side of +x or -x, with four screws and a lamp."""
    lid = cover(rounded_rectangle((0.0, 0.040), (0.031, 0.018), 0.004), 0, side * 0.0182, side * 0.0204, 0.0006)
    lamp = cover(rounded_rectangle((0.0, 0.0285), (0.010, 0.001), 0.0009), 0, side * 0.0192, side * 0.0209, 0.0004)
    places: list[Point] = [(side * 0.0204, y, z) for y in (-0.027, 0.027) for z in (0.026, 0.054)]
    screws = [screw(place, (side, 0.0, 0.0), 0.0022, 0.0005) for place in places]
    return [Part(lid, PANEL), Part(lamp, ACCENT), *(Part(one, STEEL) for one in screws)]


def finger() -> list[Part]:
    """A finger of the two-finger gripper: jaw on the rail, shank and pad; frame at the tip of the pad, y outwards."""
    screws = [screw((x, 0.0165, -0.044), Y, 0.0024, 0.0005) for x in (-0.006, 0.006)]
    return [
        Part(box((-0.011, -0.002, -0.0495), (0.011, 0.0165, -0.0385), 0.0015), ALUMINIUM),
        *(Part(one, STEEL) for one in screws),
        Part(shank(), ALUMINIUM),
        Part(box((-0.003, 0.0, -0.013), (0.003, 0.0018, 0.0), 0.0), RUBBER),
    ]


def shank() -> Mesh:
    """From the jaw to the tip: as wide as the pad at the end, bevelled outside."""
    half_x = [0.0065, 0.0065, 0.0060, 0.0045, 0.0032, 0.0030, 0.0030, 0.0030]
    outer_y = [0.0115, 0.0115, 0.0110, 0.0100, 0.0092, 0.0090, 0.0088, 0.0055]
    height = [-0.0390, -0.0290, -0.0260, -0.0210, -0.0160, -0.0145, -0.0060, -0.0002]
    rings = [
        _ring(rounded_rectangle((0.0, 0.5 * (0.0016 + y)), (x, 0.5 * (y - 0.0016)), 0.001), z)
        for x, y, z in zip(half_x, outer_y, height, strict=True)
    ]
    return loft(rings)


def suction_hand() -> list[Part]:
    """Plate, ejector with hose fitting, and the spring-loaded tube of the suction gripper; frame hand_base."""
    groove = [(0.0230, 0.022), (0.0220, 0.023), (0.0220, 0.024), (0.0230, 0.025)]
    shoulder = [(0.0230, 0.052), (0.0222, 0.0550), (0.0200, 0.0570), (0.0180, 0.058), (0.0, 0.058)]
    ejector = [(0.0, 0.014), (0.0215, 0.014), *groove, *shoulder]
    collet = [(0.0055, 0.0), (0.0055, 0.0055), (0.0045, 0.0065), (0.0030, 0.0065), (0.0030, 0.0040), (0.0, 0.0040)]
    return [
        *mounting_plate(),
        Part(turned(ejector, ORIGIN, Z, SIDES), BODY),
        Part(turned(disc_profile(0.0072, 0.018, 0.031, 0.0008), (0.0, 0.0, 0.044), X, 6), STEEL),
        Part(turned(collet, (0.0303, 0.0, 0.044), X, 24), ACCENT),
        Part(turned(disc_profile(0.0110, 0.057, 0.064, 0.001), ORIGIN, Z, SIDES), PANEL),
        Part(turned(disc_profile(0.0060, 0.060, 0.092, 0.0), ORIGIN, Z, 24), STEEL),
        Part(spring(0.0085, 0.0009, 0.0645, 0.0870, 5), STEEL),
        Part(turned(disc_profile(0.0108, 0.0870, 0.093, 0.001), ORIGIN, Z, SIDES), ALUMINIUM),
    ]


def suction_cup() -> list[Part]:
    """The bellows cup and its fitting; frame at the lip, z out."""
    fold = [(0.0072, -0.0220), (0.0080, -0.0210), (0.0104, -0.0185), (0.0117, -0.0160), (0.0118, -0.0150)]
    waist = [(0.0112, -0.0140), (0.0090, -0.0116), (0.0084, -0.0104), (0.0088, -0.0090), (0.0105, -0.0050)]
    lip = [(0.0124, -0.0010), (0.0125, -0.0004), (0.0121, 0.0), (0.0116, -0.0002)]
    hollow = [(0.0100, -0.0030), (0.0080, -0.0050), (0.0040, -0.0055), (0.0, -0.0055)]
    return [
        Part(turned([(0.0, -0.0220), *fold, *waist, *lip, *hollow], ORIGIN, Z, SIDES), SILICONE),
        Part(turned(disc_profile(0.0079, -0.0270, -0.0215, 0.0006), ORIGIN, Z, 6), ALUMINIUM),
    ]


def spring(radius: float, wire: float, low: float, high: float, turns: int) -> Mesh:
    """A coil about z from height `low` to `high`: `radius` of the coil, to the wire's middle, and of the `wire` [m]."""
    angles = np.linspace(0.0, 2.0 * math.pi * turns, 15 * turns + 1)
    heights = np.linspace(low + wire, high - wire, len(angles))
    path = np.column_stack([radius * np.cos(angles), radius * np.sin(angles), heights])
    return hose([(float(x), float(y), float(z)) for x, y, z in path], wire, 5)


def disc_profile(radius: float, low: float, high: float, edge: float) -> Profile:
    """A disc from height `low` to `high` [m] whose rims are rounded by `edge` [m]."""
    rim = [(radius + reach, height) for reach, height in rounded_rims(low, high, edge)]
    return [(0.0, low), *rim, (0.0, high)]


def rounded_rims(low: float, high: float, edge: float) -> list[tuple[float, float]]:
    """From a body's lower rim to its upper one: its reach beyond that of the middle (negative), and the height [m]."""
    if edge == 0.0:
        return [(0.0, low), (0.0, high)]
    steps = 2 if edge < FINE else CORNER
    angles = [0.5 * math.pi * i / steps for i in range(steps + 1)]
    rim = [(-edge * (1.0 - math.sin(angle)), edge * (1.0 - math.cos(angle))) for angle in angles]
    return [(reach, low + height) for reach, height in rim] + [(reach, high - height) for reach, height in rim[::-1]]


def box(lower: Point, upper: Point, edge: float) -> Mesh:
    """A box between two corners whose edges are rounded by `edge` [m]."""
    centre = 0.5 * (lower[0] + upper[0]), 0.5 * (lower[1] + upper[1])
    half = 0.5 * (upper[0] - lower[0]), 0.5 * (upper[1] - lower[1])
    rings = []
    for reach, height in rounded_rims(lower[2], upper[2], edge):
        # A corner that is a little round keeps all rings at the same number of different points.
        outline = rounded_rectangle(centre, (half[0] + reach, half[1] + reach), max(edge + reach, 0.1 * edge))
        rings.append(_ring(outline, height))
    return loft(rings)


def rounded_rectangle(centre: tuple[float, float], half: tuple[float, float], corner: float) -> Array:
    """The outline (n, 2) [m] of a rectangle with rounded corners, counter-clockwise."""
    angles = np.arange(CORNER + 1 if corner > 0.0 else 1) * (0.5 * math.pi / CORNER)
    cos, sin = corner * np.cos(angles), corner * np.sin(angles)
    x, y = half[0] - corner, half[1] - corner
    arcs = [(x + cos, y + sin), (-x - sin, y + cos), (-x - cos, -y - sin), (x + sin, -y - cos)]
    outline: Array = np.concatenate([np.column_stack(arc) for arc in arcs]) + centre
    return outline


def loft(rings: Sequence[Array]) -> Mesh:
    """A skin over closed rings (n, 3) [m], each counter-clockwise seen from where the next ones lie, with flat ends."""
    count = len(rings[0])
    here = np.arange(count)
    after = np.roll(here, -1)
    top = (len(rings) - 1) * count
    first, last = np.full(count, top + count), np.full(count, top + count + 1)
    faces = [np.column_stack([first, after, here]), np.column_stack([last, top + here, top + after])]
    for low in range(0, top, count):
        high = low + count
        faces.append(np.column_stack([low + here, low + after, high + after]))
        faces.append(np.column_stack([low + here, high + after, high + here]))
    ends = [rings[0].mean(axis=0), rings[-1].mean(axis=0)]
    return Mesh(np.concatenate([*rings, ends]), np.concatenate(faces))


def _ring(outline: Array, height: float) -> Array:
    return np.column_stack([outline, np.full(len(outline), height)])
