"""ABB IRB 1600: heavy orange castings, the lower arm at the right side, black motors, a round forearm."""

from ..fields import Point, around, block, cut, plate, sheared, tube, union
from ..forms import band, bolts, brick, cover, disc, hose, turned
from ..parts import Paint, Part
from ..slices import LinkShape
from .clay import BLACK, DARK, STEEL, cast

ORANGE = Paint('orange', (0.90, 0.33, 0.03), 0.4)
PLATE = Paint('plate', (0.80, 0.28, 0.03), 0.35)
MOTOR = Paint('motor', (0.13, 0.13, 0.14), 0.3)
GREY = Paint('grey', (0.55, 0.56, 0.57), 0.4)

X: Point = (1.0, 0.0, 0.0)
Y: Point = (0.0, 1.0, 0.0)
Z: Point = (0.0, 0.0, 1.0)
RIGHT: Point = (0.0, -1.0, 0.0)
BACK: Point = (-1.0, 0.0, 0.0)


def irb1600(links: dict[str, LinkShape]) -> dict[str, list[Part]]:
    """The parts of every link."""
    return {
        'base_link': _base(links['base_link']),
        'link_1': _shoulder(links['link_1']),
        'link_2': _lower_arm(links['link_2']),
        'link_3': _elbow(links['link_3']),
        'link_4': _forearm(links['link_4']),
        'link_5': _wrist(links['link_5']),
        'link_6': _flange(),
    }


def _motor(start: Point, axis: Point, radius: float, length: float) -> list[Part]:
    """A motor: a body with a waist and a cap, its flange at `start`."""
    r = radius
    profile = [(0.0, 0.0), (r, 0.0), (r, 0.12 * length), (0.93 * r, 0.14 * length), (0.93 * r, 0.62 * length)]
    cap = [(r, 0.64 * length), (r, 0.94 * length), (0.9 * r, length), (0.0, length)]
    return [Part(turned([*profile, *cap], start, axis, 24), MOTOR)]


def _base(link: LinkShape) -> list[Part]:
    lugs = [(x, side * y) for x, y in ((-0.345, 0.205), (0.110, 0.205), (0.240, 0.145)) for side in (1.0, -1.0)]
    body = union(
        block((-0.3780, -0.2350, 0.0075), (0.1500, 0.2350, 0.036), 0.010),
        block((0.05, -0.1780, 0.0075), (0.2725, 0.1780, 0.036), 0.010),
        tube((0.0, 0.0, 0.02), (0.0, 0.0, 0.126), 0.185, tip=0.165, edge=0.010),
        block((-0.372, -0.125, 0.012), (-0.14, 0.125, 0.140), 0.018),
        block((0.176, -0.050, 0.015), (0.266, 0.050, 0.070), 0.015),
        blend=0.028,
    )
    return [
        cast(link, body, ORANGE, 1700),
        Part(disc((0.0, 0.0, 0.118), Z, 0.150, 0.012), BLACK),
        *(Part(bolts((x, y, 0.0358), Z, 0.0, 1, 0.016, 0.008), STEEL) for x, y in lugs),
        Part(brick((-0.3805, -0.100, 0.028), (-0.365, 0.100, 0.130), 0.005), DARK),
        *(Part(disc((-0.378, y, 0.088), BACK, 0.024, 0.004, 0.001, 24), GREY) for y in (-0.055, 0.01)),
        *(Part(disc((-0.3805, y, 0.088), BACK, 0.016, 0.0017, 0.0005, 20), BLACK) for y in (-0.055, 0.01)),
        Part(disc((-0.378, 0.066, 0.070), BACK, 0.014, 0.004, 0.001, 20), STEEL),
        Part(brick((0.238, -0.028, 0.040), (0.274, 0.028, 0.168), 0.006), DARK),
    ]


def _shoulder(link: LinkShape) -> list[Part]:
    x, z = 0.15, 0.4865
    body = union(
        tube((0.0, 0.0, 0.1445), (0.0, 0.0, 0.215), 0.148, edge=0.012),
        plate(around([(-0.080, 0.255, 0.085), (0.065, 0.255, 0.090), (x, z, 0.135)]), 1, -0.090, 0.105, 0.030),
        tube((x, -0.118, z), (x, 0.122, z), 0.160, edge=0.018),
        tube((-0.185, 0.020, 0.160), (-0.185, 0.020, 0.300), 0.072, edge=0.020),
        blend=0.050,
    )
    cap = around([(0.15, 0.4865, 0.118)], 32)
    return [
        cast(link, body, ORANGE, 1450),
        Part(disc((x, -0.110, z), RIGHT, 0.112, 0.030, 0.004, 40), GREY),
        Part(disc((x, -0.138, z), RIGHT, 0.076, 0.018), BLACK),
        *_motor((-0.185, 0.020, 0.296), Z, 0.062, 0.224),
        *_motor((x, 0.118, z), Y, 0.066, 0.072),
        Part(cover(cap, 1, 0.118, 0.126, 0.004), PLATE),
        Part(bolts((x, 0.126, z), Y, 0.104, 8, 0.0055, 0.002), STEEL),
        Part(
            hose(
                [
                    (-0.185, 0.085, 0.44),
                    (-0.150, 0.125, 0.46),
                    (-0.060, 0.140, 0.44),
                    (0.000, 0.140, 0.40),
                    (0.010, 0.120, 0.33),
                    (-0.010, 0.080, 0.27),
                ],
                0.010,
            ),
            BLACK,
        ),
        Part(disc((0.0, 0.0, 0.150), (0.0, 0.0, -1.0), 0.117, 0.0250, 0.0, 40), BLACK),
    ]


def _lower_arm(link: LinkShape) -> list[Part]:
    top = 0.475
    lean = 0.10
    outline = around([(0.0, 0.0, 0.078), (0.0, top, 0.062)], 56)
    pocket = around([(0.0, 0.150, 0.040), (0.0, top - 0.125, 0.030)], 40)
    waist = [tube((side * 0.652, -0.5, 0.30), (side * 0.652, 0.5, 0.30), 0.60) for side in (1.0, -1.0)]
    blade = cut(
        sheared(plate(outline, 1, -0.2315, -0.1640, 0.010), 1, 2, lean),
        *waist,
        sheared(plate(pocket, 1, -0.30, -0.2225, 0.0), 1, 2, lean),
        blend=0.008,
    )
    body = union(
        blade,
        tube((0.0, -0.2505, 0.0), (0.0, -0.1440, 0.0), 0.0865, edge=0.008),
        tube((0.0, -0.2125, top), (0.0, -0.1200, top), 0.0692, edge=0.008),
        blend=0.016,
    )
    return [
        cast(link, body, ORANGE, 2000),
        Part(disc((0.0, -0.2500, 0.0), RIGHT, 0.062, 0.0023, 0.001), PLATE),
        Part(bolts((0.0, -0.2518, 0.0), RIGHT, 0.053, 8, 0.0045, 0.0008), STEEL),
        Part(disc((0.0, -0.2120, top), RIGHT, 0.050, 0.0022, 0.001), PLATE),
        Part(bolts((0.0, -0.2137, top), RIGHT, 0.042, 8, 0.0038, 0.0008), STEEL),
        Part(disc((0.0, -0.1480, 0.0), Y, 0.053, 0.0095), BLACK),
        Part(disc((0.0, -0.1230, top), Y, 0.058, 0.0120), BLACK),
    ]


def _elbow(link: LinkShape) -> list[Part]:
    body = union(
        tube((0.0, -0.109, 0.0), (0.0, 0.118, 0.0), 0.1000, edge=0.012),
        block((-0.110, -0.090, -0.127), (0.065, 0.120, 0.095), 0.030),
        tube((0.0, 0.006, -0.014), (0.305, 0.0, -0.004), 0.104, tip=0.064, edge=0.008),
        blend=0.032,
    )
    return [
        cast(link, body, ORANGE, 1400),
        Part(disc((0.0, -0.104, 0.0), RIGHT, 0.064, 0.0145), BLACK),
        *_motor((-0.102, 0.078, 0.036), BACK, 0.052, 0.071),
        *_motor((-0.102, 0.078, -0.074), BACK, 0.050, 0.071),
        *_motor((-0.102, -0.042, -0.020), BACK, 0.052, 0.071),
        *_motor((0.0, 0.112, -0.020), Y, 0.058, 0.045),
        Part(disc((0.300, 0.0, -0.001), X, 0.052, 0.0138), BLACK),
        Part(band((0.285, 0.001, -0.0045), X, 0.0675, 0.003, rise=0.0002), BLACK),
        Part(brick((-0.070, -0.050, 0.088), (0.025, 0.080, 0.1020), 0.004), PLATE),
    ]


def _forearm(link: LinkShape) -> list[Part]:
    body = union(
        tube((0.0195, 0.0, 0.0), (0.17, 0.0, 0.0), 0.0520, tip=0.0505, edge=0.003),
        block((0.133, -0.0585, -0.0520), (0.255, 0.0585, 0.0520), 0.034),
        plate(around([(0.230, 0.0, 0.0485), (0.304, 0.0, 0.0485)]), 1, -0.0600, 0.0600, 0.010),
        blend=0.008,
    )
    slot = block((0.250, -0.0255, -0.2), (0.6, 0.0255, 0.2), 0.004)
    parts = [
        cast(link, cut(body, slot, blend=0.003), ORANGE, 1700),
        Part(disc((0.0225, 0.0, 0.0), BACK, 0.0490, 0.0083), BLACK),
    ]
    for side in (1.0, -1.0):
        face: Point = (0.0, side, 0.0)
        parts += [
            Part(disc((0.3, side * 0.0585, 0.0), face, 0.034, 0.0028, 0.001), PLATE),
            Part(bolts((0.3, side * 0.0611, 0.0), face, 0.028, 6, 0.0026, 0.0006), STEEL),
        ]
    return parts


def _wrist(link: LinkShape) -> list[Part]:
    barrel = tube((0.0, -0.0228, 0.0), (0.0, 0.0228, 0.0), 0.0405, edge=0.0095)
    return [
        cast(link, barrel, ORANGE, 900),
        Part(disc((0.0365, 0.0, 0.0), X, 0.0150, 0.0050, 0.001, 24), BLACK),
    ]


def _flange() -> list[Part]:
    shaft = [(0.0, -0.0648), (0.0084, -0.0648), (0.0084, -0.0222)]
    flare = [(0.0170, -0.0208), (0.0172, -0.0110), (0.0242, -0.0100), (0.0248, -0.0090), (0.0248, -0.0008)]
    face = [(0.0240, 0.0), (0.0125, 0.0), (0.0120, -0.0025), (0.0, -0.0025)]
    return [
        Part(turned([*shaft, *flare, *face], (0.0, 0.0, 0.0), X), STEEL),
        Part(bolts((-0.0003, 0.0, 0.0), X, 0.0182, 4, 0.0024, 0.0003, first=0.785), DARK),
    ]
