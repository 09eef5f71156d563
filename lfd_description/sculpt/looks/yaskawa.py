"""Yaskawa Motoman GP8: blue castings, a lower arm of two curved cheeks, a slim forearm with a fork for the wrist."""

import numpy as np

from ..fields import Point, around, block, common, cut, plate, tube, union
from ..forms import band, bolts, brick, cover, disc, rounded, turned
from ..parts import Paint, Part
from ..slices import LinkShape
from .clay import BLACK, DARK, STEEL, cast

BLUE = Paint('blue', (0.03, 0.23, 0.56), 0.4)
DEEP = Paint('deep_blue', (0.02, 0.16, 0.42), 0.35)
LIGHT = Paint('light', (0.82, 0.84, 0.86), 0.3)

X: Point = (1.0, 0.0, 0.0)
Y: Point = (0.0, 1.0, 0.0)
Z: Point = (0.0, 0.0, 1.0)
SIDES = (1.0, -1.0)


def gp8(links: dict[str, LinkShape]) -> dict[str, list[Part]]:
    """The parts of every link."""
    return {
        'base_link': _base(links['base_link']),
        'link_1_s': _swing(links['link_1_s']),
        'link_2_l': _lower_arm(links['link_2_l']),
        'link_3_u': _elbow(links['link_3_u']),
        'link_4_r': _forearm(links['link_4_r']),
        'link_5_b': _wrist(links['link_5_b']),
        'link_6_t': _flange(),
    }


def _base(link: LinkShape) -> list[Part]:
    body = union(
        block((-0.098, -0.0970, 0.0005), (0.098, 0.0970, 0.020), 0.006),
        tube((0.0, 0.0, 0.008), (0.0, 0.0, 0.190), 0.090, tip=0.085),
        block((-0.131, -0.076, 0.004), (-0.02, 0.076, 0.150), 0.014),
        blend=0.022,
    )
    corners = [(x, y, 0.0195) for x in (-0.084, 0.084) for y in (-0.084, 0.084)]
    return [
        cast(link, body, BLUE, 1500),
        Part(disc((0.0, 0.0, 0.186), Z, 0.081, 0.0125), BLACK),
        *(Part(bolts(corner, Z, 0.0, 1, 0.0075, 0.005), STEEL) for corner in corners),
        Part(brick((-0.1365, -0.062, 0.022), (-0.128, 0.062, 0.132), 0.004), DARK),
        *(Part(disc((-0.1335, y, 0.077), (-1.0, 0.0, 0.0), 0.020, 0.0035, 0.001, 24), BLACK) for y in (-0.03, 0.03)),
        *(Part(disc((-0.136, y, 0.077), (-1.0, 0.0, 0.0), 0.012, 0.0012, 0.0004, 20), STEEL) for y in (-0.03, 0.03)),
        Part(disc((-0.1335, 0.0, 0.115), (-1.0, 0.0, 0.0), 0.007, 0.0035, 0.001, 16), STEEL),
    ]


def _swing(link: LinkShape) -> list[Part]:
    body = union(
        common(
            tube((0.001, 0.0, -0.1345), (0.001, 0.0, -0.100), 0.0960, edge=0.010),
            block((-0.2, -0.0815, -0.2), (0.2, 0.0815, 0.2), 0.01),
            blend=0.01,
        ),
        plate(around([(-0.004, -0.095, 0.078), (0.040, 0.0, 0.058)]), 1, -0.066, 0.066, 0.016),
        tube((0.040, -0.0715, 0.0), (0.040, 0.0715, 0.0), 0.0595, edge=0.004),
        blend=0.024,
    )
    return [
        cast(link, body, BLUE, 1500),
        Part(band((0.001, 0.0, -0.1335), Z, 0.0805, 0.006), BLACK),
    ]


def _lower_arm(link: LinkShape) -> list[Part]:
    outline = around([(0.0, 0.0, 0.0632), (-0.036, 0.175, 0.0545), (0.0, 0.345, 0.0522)], 64)
    curve = tube((0.337, -0.3, 0.172), (0.337, 0.3, 0.172), 0.302)
    cheeks = [
        cut(plate(outline, 1, min(a, b), max(a, b), 0.010), curve, blend=0.02)
        for a, b in ((0.0792, 0.1115), (-0.0792, -0.1115))
    ]
    web = block((-0.083, -0.095, 0.092), (-0.024, 0.095, 0.232), 0.020)
    body = union(union(*cheeks), web, blend=0.024)
    parts = [cast(link, body, BLUE, 1250)]
    panel = around([(-0.016, 0.092, 0.026), (-0.032, 0.172, 0.027), (-0.018, 0.248, 0.024)], 16)
    for side in SIDES:
        face: Point = (0.0, side, 0.0)
        for height, radius, inner in ((0.0, 0.0450, 0.0735), (0.345, 0.0400, 0.0710)):
            parts += [
                Part(disc((0.0, side * 0.1060, height), face, radius, 0.0085, 0.0075, 28), DEEP),
                Part(band((0.0, side * 0.1112, height), Y, radius + 0.0005, 0.0016, sides=24), BLACK),
                Part(bolts((0.0, side * 0.1138, height), face, 0.66 * radius, 4, 0.0030, 0.0010), STEEL),
                Part(disc((0.0, side * 0.0800, height), (0.0, -side, 0.0), 0.047, 0.0800 - inner, 0.0, 24), BLACK),
            ]
        parts.append(Part(cover(panel, 1, side * 0.110, side * 0.1135, 0.002), DARK))
    return parts


def _elbow(link: LinkShape) -> list[Part]:
    body = union(
        tube((0.0, -0.0725, 0.0), (0.0, 0.0695, 0.0), 0.0535, edge=0.005),
        tube((-0.070, 0.0, 0.040), (0.0655, 0.0, 0.040), 0.0625, edge=0.006),
        block((-0.0985, -0.0625, -0.048), (-0.01, 0.0615, 0.080), 0.020),
        blend=0.022,
    )
    return [
        cast(link, body, BLUE, 1400),
        Part(disc((0.060, 0.0, 0.040), X, 0.0500, 0.0108), BLACK),
        Part(brick((-0.1045, -0.047, -0.032), (-0.095, 0.046, 0.064), 0.004), DARK),
        *(
            Part(bolts((-0.1042, y, z), (-1.0, 0.0, 0.0), 0.0, 1, 0.003, 0.0008), STEEL)
            for y in (-0.039, 0.038)
            for z in (-0.024, 0.056)
        ),
        Part(band((0.046, 0.0, 0.040), X, 0.0625, 0.002, rise=0.0003), BLACK),
    ]


def _forearm(link: LinkShape) -> list[Part]:
    sleeve = block((-0.2635, -0.0520, -0.0485), (-0.085, 0.0520, 0.0500), 0.036)
    fork = plate(around([(-0.110, 0.0, 0.041), (0.0, 0.0, 0.0355)]), 1, -0.0535, 0.0535, 0.010)
    slot = block((-0.0475, -0.0345, -0.2), (0.2, 0.0345, 0.2), 0.004)
    body = cut(union(sleeve, fork, blend=0.020), slot, blend=0.003)
    stripe = around([(-0.236, 0.0, 0.009), (-0.172, 0.0, 0.009)], 20)
    parts = [
        cast(link, body, BLUE, 1700),
        Part(disc((-0.2600, 0.0, 0.0), (-1.0, 0.0, 0.0), 0.0465, 0.0095), BLACK),
    ]
    for side in SIDES:
        face: Point = (0.0, side, 0.0)
        parts += [
            Part(disc((0.0, side * 0.0530, 0.0), face, 0.0250, 0.0018, 0.0008), DEEP),
            Part(bolts((0.0, side * 0.0546, 0.0), face, 0.0200, 6, 0.0018, 0.0005), STEEL),
            Part(cover(stripe, 1, side * 0.0500, side * 0.0535, 0.001), LIGHT),
        ]
    return parts


def _wrist(link: LinkShape) -> list[Part]:
    body = union(
        tube((0.0, -0.0318, 0.0), (0.0, 0.0318, 0.0), 0.0376, edge=0.004),
        tube((0.0, 0.0, 0.0), (0.0675, 0.0, 0.0), 0.0330, tip=0.0325, edge=0.003),
        blend=0.012,
    )
    return [
        cast(link, body, BLUE, 1100),
        Part(band((0.0600, 0.0, 0.0), X, 0.0325, 0.002, rise=0.0003), BLACK),
        Part(disc((0.0650, 0.0, 0.0), X, 0.0270, 0.0050), BLACK),
    ]


def _flange() -> list[Part]:
    edge = [(0.0, 0.0680), (0.0300, 0.0680), (0.0300, 0.0790), (0.0290, 0.0800), (0.0160, 0.0800)]
    profile = [*edge, (0.0155, 0.0775), (0.0, 0.0775)]
    return [
        Part(turned(rounded(profile[:2], 0.001) + profile[2:], (0.0, 0.0, 0.0), X), STEEL),
        Part(bolts((0.0796, 0.0, 0.0), X, 0.0225, 4, 0.0026, 0.0004, first=np.pi / 4), DARK),
        Part(bolts((0.0796, 0.0, 0.0), X, 0.0225, 1, 0.0020, 0.0004), BLACK),
    ]
