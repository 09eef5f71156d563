"""Universal Robots: grey tubes between round joints with lids at their ends; one design, sized by the slices."""

from dataclasses import dataclass

from ..fields import Point, tube, union
from ..forms import band, bolts, brick, disc, hose, rounded, turned
from ..parts import Paint, Part
from ..slices import LinkShape
from .clay import BLACK, DARK, STEEL, cast

GREY = Paint('grey', (0.74, 0.75, 0.76), 0.5)
TUBE = Paint('tube', (0.66, 0.67, 0.69), 0.6)
SEAL = Paint('seal', (0.10, 0.10, 0.11), 0.15)

X: Point = (1.0, 0.0, 0.0)
Y: Point = (0.0, 1.0, 0.0)
Z: Point = (0.0, 0.0, 1.0)
NECK = 0.94  # radius of the dark neck in a joint, over the joint's


@dataclass(frozen=True)
class Style:
    """What differs between generations."""

    lid: Paint
    cable: bool
    """Whether a cable leaves the foot."""


E_SERIES = Style(Paint('lid', (0.36, 0.50, 0.62), 0.4), cable=False)
CB_SERIES = Style(Paint('lid', (0.27, 0.50, 0.69), 0.4), cable=True)


def e_series(links: dict[str, LinkShape]) -> dict[str, list[Part]]:
    """The parts of every link of a UR3e, UR5e or UR10e."""
    return _looks(links, E_SERIES)


def cb_series(links: dict[str, LinkShape]) -> dict[str, list[Part]]:
    """The parts of every link of a UR3."""
    return _looks(links, CB_SERIES)


def _looks(links: dict[str, LinkShape], style: Style) -> dict[str, list[Part]]:
    makers = {
        'base_link_inertia': lambda: _foot(links, style),
        'shoulder_link': lambda: _shoulder(links, style),
        'upper_arm_link': lambda: _upper_arm(links, style),
        'forearm_link': lambda: _forearm(links, style),
        'wrist_1_link': lambda: _wrist(links['wrist_1_link'], style, lid=1.0),
        'wrist_2_link': lambda: _wrist(links['wrist_2_link'], style, lid=-1.0),
        'wrist_3_link': lambda: _flange(links['wrist_3_link']),
    }
    return {name: makers[name]() for name in links}


def _lid(centre: Point, axis: Point, radius: float, height: float, paint: Paint) -> list[Part]:
    """A joint's lid: its foot at `centre`, its top `height` further along the axis, with a seam below it."""
    r = radius
    rim = rounded([(0.985 * r, -0.001), (0.985 * r, 0.45 * height), (0.82 * r, height), (0.62 * r, height)], 0.2 * r, 2)
    groove = [(0.605 * r, height - 0.001), (0.59 * r, height), (0.0, height)]
    return [
        Part(turned([*rim, *groove], centre, axis), paint),
        Part(band(centre, axis, r, 0.0026, rise=0.0004), SEAL),
    ]


def _neck(start: Point, axis: Point, radius: float, length: float) -> Part:
    """The dark ring that is seen between two links of a joint."""
    return Part(disc(start, axis, NECK * radius, length), SEAL)


def _foot(links: dict[str, LinkShape], style: Style) -> list[Part]:
    link, above = links['base_link_inertia'], links['shoulder_link']
    foot, top = link.upper[0], link.upper[2]
    r = above.upper[0]
    thick = 0.13 * top
    profile = [(0.0, 0.0), (foot, 0.0), (foot, thick), (0.93 * foot, thick + 0.0015)]
    rise = [
        (1.04 * r, thick + 0.005),
        (1.0 * r, thick + 0.016),
        (1.0 * r, top - 0.0055),
        (0.985 * r, top - 0.004),
        (0.0, top - 0.004),
    ]
    parts = [
        Part(turned([*rounded(profile, 0.002), *rise], (0.0, 0.0, 0.0), Z, 48), GREY),
        Part(band((0.0, 0.0, 0.34 * top), Z, r, 0.002, rise=0.0003, sides=48), SEAL),
        _neck((0.0, 0.0, top - 0.006), Z, r, 0.007),
        Part(bolts((0.0, 0.0, thick), Z, 0.5 * (foot + 1.04 * r), 4, 0.0042, 0.003, first=0.785), STEEL),
        Part(bolts((0.0, 0.0, thick), Z, 0.5 * (foot + 1.04 * r), 2, 0.0028, 0.0012, first=0.35), DARK),
    ]
    if style.cable:
        end = link.upper[1]
        path = [(-0.0059, y, 0.0065) for y in (0.8 * r, foot, 0.5 * (foot + end), end)]
        parts += [
            Part(hose(path, 0.0055), BLACK),
            Part(brick((-0.017, 0.8 * r, 0.0005), (0.0052, foot + 0.009, 0.0118), 0.0025), DARK),
        ]
    else:
        parts += [
            Part(brick((-0.24 * r, 0.93 * r, 0.36 * top), (0.24 * r, 1.12 * r, 0.62 * top), 0.002), DARK),
            Part(disc((0.0, 1.1 * r, 0.49 * top), Y, 0.14 * r, 0.0035, 0.001, 20), BLACK),
        ]
    return parts


def _shoulder(links: dict[str, LinkShape], style: Style) -> list[Part]:
    link, arm = links['shoulder_link'], links['upper_arm_link']
    r, bottom, top = link.upper[0], link.lower[2], link.upper[2]
    near = _end(arm, 0.0)
    face = -0.5 * (max(near[0], arm.lower[2]) - link.lower[1])
    lid = 0.20 * r
    body = union(
        tube((0.0, 0.0, bottom), (0.0, 0.0, top - lid), link.slices[0].half[0], tip=r),
        tube((0.0, 0.0, 0.0), (0.0, face + 0.0015, 0.0), 0.985 * r),
        blend=0.35 * r,
    )
    return [
        cast(link, body, GREY, 1100),
        *_lid((0.0, 0.0, top - lid), Z, r, lid, style.lid),
        _neck((0.0, face + 0.004, 0.0), (0.0, -1.0, 0.0), r, 0.005 + face - link.lower[1]),
        Part(band((0.0, 0.0, bottom + 0.16 * r), Z, link.slices[0].half[0], 0.002, rise=0.0006), SEAL),
    ]


def _end(link: LinkShape, x: float) -> tuple[float, float]:
    """From where to where along z a link that lies along x reaches at its end near `x` [m]."""
    one = min(link.slices, key=lambda one: abs(0.5 * (one.start + one.end) - x))
    return one.centre[1] - one.half[1], one.centre[1] + one.half[1]


def _upper_arm(links: dict[str, LinkShape], style: Style) -> list[Part]:
    link, fore, below = links['upper_arm_link'], links['forearm_link'], links['shoulder_link']
    r = min(link.upper[1], link.upper[0])
    r2 = min(link.slices[0].half[0], link.slices[1].half[0])
    x = link.lower[0] + r2
    (low, high), (low2, high2) = _end(link, 0.0), _end(link, x)
    face = 0.5 * (max(low, link.lower[2]) - below.lower[1])
    face2 = 0.5 * (low2 + _end(fore, 0.0)[1])
    return _arm(link, style, (r, face, high), (x, r2, face2, high2), 1.0, min(low, face), min(low2, face2))


def _forearm(links: dict[str, LinkShape], style: Style) -> list[Part]:
    link, arm = links['forearm_link'], links['upper_arm_link']
    r = min(link.upper[1], link.upper[0])
    r2 = min(link.slices[0].half[0], link.slices[1].half[0])
    x = link.lower[0] + r2
    (low, high), (low2, high2) = _end(link, 0.0), _end(link, x)
    elbow = 0.5 * (high + _end(arm, arm.lower[0])[0])
    return _arm(link, style, (r, elbow, low), (x, r2, high2 - 0.0005, low2), -1.0, max(high, elbow), high2)


def _arm(
    link: LinkShape,
    style: Style,
    first: tuple[float, float, float],
    second: tuple[float, float, float, float],
    side: float,
    end: float,
    end2: float,
) -> list[Part]:
    """A tube between two joints about z, whose lids look along `side` of z.

    `first` at x = 0: radius, face, top; `second`: x, radius, face, top. `end` and `end2` are where the necks end.
    """
    r, face, top = first
    x, r2, face2, top2 = second
    axis = (0.0, 0.0, side)
    lid, lid2 = 0.20 * r, 0.20 * r2
    first_has_lid = side > 0.0
    top_of_body = top - side * lid if first_has_lid else top
    waist = link.slices[2:4]
    height = 0.5 * sum(one.centre[1] for one in waist)
    bore = min(0.86 * min(r2, 0.95 * r), *(one.radius - 0.0003 for one in waist))
    collar, collar2 = -(r + 0.16 * r), x + r2 + 0.16 * r2
    shells = union(
        tube((0.0, 0.0, face + side * 0.0015), (0.0, 0.0, top_of_body), r, edge=0.0 if first_has_lid else 0.3 * r),
        tube((0.0, 0.0, height), (collar, 0.0, height), 0.98 * bore, tip=1.06 * bore),
        blend=0.45 * r,
    )
    shells2 = union(
        tube((x, 0.0, face2 + side * 0.0015), (x, 0.0, top2 - side * lid2), r2),
        tube((x, 0.0, height), (collar2, 0.0, height), 0.98 * bore, tip=1.06 * bore),
        blend=0.40 * r2,
    )
    middle = turned([(bore, collar2 - 0.004), (bore, collar + 0.004)], (0.0, 0.0, height), X, 40)
    parts = [
        cast(link, union(shells, shells2), GREY, 900),
        Part(middle, TUBE),
        Part(band((collar + 0.001, 0.0, height), X, 1.06 * bore, 0.0028, rise=0.0006), SEAL),
        Part(band((collar2 - 0.001, 0.0, height), X, 1.06 * bore, 0.0028, rise=0.0006), SEAL),
        _neck((0.0, 0.0, face + side * 0.004), (0.0, 0.0, -side), r, 0.004 + abs(face - end) + 0.0006),
        _neck((x, 0.0, face2 + side * 0.004), (0.0, 0.0, -side), r2, 0.004 + abs(face2 - end2) + 0.0006),
        *_lid((x, 0.0, top2 - side * lid2), axis, r2, lid2, style.lid),
    ]
    if first_has_lid:
        parts += _lid((0.0, 0.0, top_of_body), axis, r, lid, style.lid)
    return parts


def _wrist(link: LinkShape, style: Style, lid: float) -> list[Part]:
    """A joint about y, `lid` telling on which side its lid is, with a stub down along z."""
    r = min(link.upper[0], link.upper[2])
    bottom = link.lower[2]
    far, near = (link.upper[1], link.lower[1]) if lid > 0.0 else (link.lower[1], link.upper[1])
    height = 0.22 * r
    last = link.slices[-1] if lid > 0.0 else link.slices[0]
    tip = min(r, last.centre[1] + last.half[1], last.half[0]) if link.axis == 1 else r
    body = union(
        tube((0.0, near + lid * 0.0015, 0.0), (0.0, far - lid * height, 0.0), r, tip=tip),
        tube((0.0, 0.0, bottom + 0.0015), (0.0, 0.0, 0.0), 0.955 * r, tip=0.97 * r),
        blend=0.35 * r,
    )
    return [
        cast(link, body, GREY, 1100),
        *_lid((0.0, far - lid * height, 0.0), (0.0, lid, 0.0), tip, height, style.lid),
        _neck((0.0, near + lid * 0.005, 0.0), (0.0, -lid, 0.0), r, 0.0055),
        _neck((0.0, 0.0, bottom + 0.005), (0.0, 0.0, -1.0), r, 0.0055),
        Part(band((0.0, near + lid * 0.26 * r, 0.0), Y, r, 0.0018, rise=0.0003), SEAL),
    ]


def _flange(link: LinkShape) -> list[Part]:
    r, bottom, top = link.upper[0], link.lower[2], link.upper[2]
    plate = 0.83 * r
    body = [
        (0.0, bottom + 0.0015),
        (0.93 * r, bottom + 0.0015),
        (r, bottom + 0.004),
        (r, top - 0.0165),
        (0.0, top - 0.0165),
    ]
    ring = [
        (r - 0.004, top - 0.017),
        (0.995 * r, top - 0.016),
        (0.995 * r, top - 0.008),
        (0.93 * r, top - 0.0065),
        (0.0, top - 0.0065),
    ]
    face = [
        (plate, top - 0.008),
        (plate, top - 0.001),
        (plate - 0.001, top),
        (0.5 * plate, top),
        (0.49 * plate, top - 0.003),
        (0.0, top - 0.003),
    ]
    middle = bottom + 0.45 * (top - bottom)
    connector = link.lower[1]
    return [
        Part(turned(rounded(body, 0.002), (0.0, 0.0, 0.0), Z), GREY),
        Part(turned(rounded(ring, 0.001), (0.0, 0.0, 0.0), Z), BLACK),
        Part(turned(face, (0.0, 0.0, 0.0), Z), STEEL),
        Part(bolts((0.0, 0.0, top - 0.0004), Z, 0.78 * plate, 4, 0.0036, 0.0004, first=0.785), DARK),
        _neck((0.0, 0.0, bottom + 0.004), (0.0, 0.0, -1.0), r, 0.0043),
        Part(disc((0.0, -0.8 * r, middle), (0.0, -1.0, 0.0), 0.27 * r, -connector - 0.8 * r, 0.0015, 24), DARK),
        Part(disc((0.0, connector + 0.002, middle), (0.0, -1.0, 0.0), 0.17 * r, 0.0022, 0.0008, 16), BLACK),
    ]
