"""Scenes made at random, for tests and benchmarks: the same kind and seed give the same scene on every machine.

| kind | what |
|---|---|
| `clutter` | things on a table in front of the robot, all within the reach that was asked for |
| `shelf` | a shelf with things in a row on each board |
| `bin` | an open bin of small parts on a table |
| `window` | a wall with a window, and things on a stand behind it that can only be had through the window |

Things stand on what is below them, at least `CLEARANCE` apart, and can be held by a gripper that opens to 44 mm.
Numbers come from PCG64's raw stream, which NumPy keeps for ever, and only from arithmetic that is exact to the last
bit on every machine: no sines.
"""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from ..bodies import Colour
from ..hints import no_such
from ..shapes import Box, Capsule, Cone, Cylinder, Shape, Sphere, Vector
from ..transforms import Quaternion
from .colours import NAMED
from .scene import NO_TURN, Scene, SceneError, SceneObject
from .values import MAX_DISTANCE

Floats = npt.NDArray[np.float64]

CLEARANCE = 0.01  # [m] between things
TABLE_TOP = -0.01  # [m]; the arm's foot does not touch the table it stands on
MAX_COUNT = 1000
MIN_SPAN = 0.2  # [m] between the two ends of the reach
# Discs that are thrown one by one get stuck when they cover about 54 % of the ground; below that they land quickly.
MAX_COVER = 0.45
THROWS = 200  # for one thing, before all are thrown again
ROUNDS = 20  # before the request counts as impossible

PALETTE = ('red', 'green', 'blue', 'yellow', 'orange', 'purple', 'cyan', 'pink', 'beige', 'brown')
HALF_TURN_ROOT = math.sqrt(0.5)
LYING: Quaternion = (0.0, HALF_TURN_ROOT, 0.0, HALF_TURN_ROOT)  # the shape's z axis along the scene's x


def random_scene(
    kind: str,
    seed: int,
    *,
    count: int | None = None,
    reach: tuple[float, float] = (0.35, 0.65),
    frame: str = 'base_link',
) -> Scene:
    """A scene of that kind with `count` things in it (the kind's own number without it).

    All things are within `reach`: the nearest and the farthest distance from the z axis of `frame` [m].

    Raises:
        SceneError: there is no such kind, or so many things do not fit.
    """
    if kind not in KINDS:
        raise SceneError(no_such('kind of random scene', str(kind), KINDS))
    room = KINDS[kind]
    wanted = _whole(room.count if count is None else count, 'number of things', MAX_COUNT)
    _check_reach(*reach)
    return Scene(frame, room.make(_Dice(_whole(seed, 'seed')), wanted, reach))


def _whole(value: int, name: str, most: int | None = None) -> int:
    try:
        number = operator.index(value)  # NumPy's whole numbers are welcome, too
    except TypeError:
        number = -1
    if number < 0 or (most is not None and number > most):
        limit = f' to {most}' if most is not None else ''
        raise SceneError(f'The {name} is {value!r}; use a whole number from 0{limit}.')
    return number


def _check_reach(near: float, far: float) -> None:
    if not (near >= 0.0 and near + MIN_SPAN <= far <= MAX_DISTANCE):
        raise SceneError(
            f'The reach is {near} to {far} m; use two lengths at least {MIN_SPAN} m apart, as 0.35 and 0.65.'
        )


class _Dice:
    """Random numbers that are the same everywhere; lengths come in tenths of a millimetre."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def share(self) -> float:
        """From 0 up to, not including, 1."""
        return (int(self._bits.random_raw()) >> 11) * 2.0**-53

    def length(self, low: float, high: float) -> float:
        """A length between two others [m]."""
        return round(low + self.share() * (high - low), 4)

    def whole(self, low: int, high: int) -> int:
        """Both ends included."""
        return low + int(self.share() * (high - low + 1))

    def pick(self, choices: Sequence[str]) -> str:
        return choices[self.whole(0, len(choices) - 1)]

    def yaw(self) -> Quaternion:
        """A turn about z. From the tangent of a quarter of the angle, because sines differ between machines."""
        t = 2.0 * self.share() - 1.0
        return 0.0, 0.0, 2.0 * t / (1.0 + t * t), (1.0 - t * t) / (1.0 + t * t)


@dataclass(frozen=True)
class _Thing:
    """A thing that lies on something: how high its middle is above that, and the circle that it never leaves [m]."""

    shape: Shape
    lift: float
    footprint: float
    orientation: Quaternion = NO_TURN

    def at(self, number: int, colour: Colour, x: float, y: float, z: float) -> SceneObject:
        """The object with its middle above (x, y), on a surface at height z [m]."""
        name = f'{type(self.shape).__name__.lower()}_{number}'
        place = (x, y, round(z + self.lift, 6))
        return SceneObject(name, self.shape, place, self.orientation, colour, True, ('graspable',))


def _roll_thing(dice: _Dice, tall: float, long: float = 0.08) -> _Thing:
    """A thing up to `tall` high and `long` wide [m], with two sides that are 30 to 44 mm apart."""
    radius = dice.length(0.015, 0.022)
    height = dice.length(0.03, tall)
    match dice.pick(('box', 'box', 'cylinder', 'cylinder', 'sphere', 'cone', 'capsule')):
        case 'box':
            x, y = dice.length(0.03, long), 2.0 * radius
            return _Thing(Box((x, y, height)), 0.5 * height, 0.5 * math.sqrt(x * x + y * y), dice.yaw())
        case 'cylinder':
            return _Thing(Cylinder(radius, height), 0.5 * height, radius)
        case 'sphere':
            return _Thing(Sphere(radius), radius, radius)
        case 'cone':
            return _Thing(Cone(radius, height), 0.5 * height, radius)
        case _:
            length = max(dice.length(0.045, long), 2.0 * radius)
            return _Thing(Capsule(radius, length), radius, 0.5 * length, _turned(dice.yaw(), LYING))


def _turned(yaw: Quaternion, first: Quaternion) -> Quaternion:
    """The turn `first`, then a turn about z."""
    _, _, z, w = yaw
    a, b, c, d = first
    return w * a - z * b, w * b + z * a, w * c + z * d, w * d - z * c


def _roll_colour(dice: _Dice) -> Colour:
    return NAMED[dice.pick(PALETTE)]


@dataclass(frozen=True)
class _Ground:
    """Where things may be thrown: a rectangle [m], and what else their circle must keep to."""

    low: tuple[float, float]
    high: tuple[float, float]
    inside: Callable[[float, float, float], bool]
    """Whether the circle around (x, y) with that radius is on the ground."""
    area: float
    """[m2]"""
    name: str


def _scatter(dice: _Dice, things: Sequence[_Thing], ground: _Ground, z: float) -> list[SceneObject]:
    """The things at random places of the ground at height z [m], none touching another.

    Raises:
        SceneError: there are too many for the ground.
    """
    widest_first = sorted(things, key=lambda thing: -thing.footprint)
    radii = np.array([thing.footprint for thing in widest_first]) + 0.5 * CLEARANCE
    places = None
    if math.pi * float((radii**2).sum()) <= MAX_COVER * ground.area:
        rounds = (_throw(dice, radii, ground) for _ in range(ROUNDS))
        places = next((places for places in rounds if places is not None), None)
    if places is None:
        raise _too_many(len(things), ground.name)
    return [
        thing.at(number, _roll_colour(dice), x, y, z)
        for number, (thing, (x, y)) in enumerate(zip(widest_first, places, strict=True), start=1)
    ]


def _throw(dice: _Dice, radii: Floats, ground: _Ground) -> list[tuple[float, float]] | None:
    """A place for each disc on the ground, apart from all before it; None if one finds none."""
    places = np.empty((len(radii), 2))
    for disc, radius in enumerate(radii):
        for _ in range(THROWS):
            x, y = (dice.length(low, high) for low, high in zip(ground.low, ground.high, strict=True))
            apart = ((places[:disc] - (x, y)) ** 2).sum(axis=1) >= (radii[:disc] + radius) ** 2
            if ground.inside(x, y, float(radius)) and apart.all():
                break
        else:
            return None
        places[disc] = x, y
    return [(float(x), float(y)) for x, y in places]


def _too_many(count: int, place: str) -> SceneError:
    return SceneError(f'{count} things do not fit {place}; ask for fewer, or for more reach.')


def _fixed(name: str, size: Vector, middle: Vector, colour: str, *tags: str) -> SceneObject:
    """A box that stays where it is."""
    x, y, z = middle
    place = (round(x, 6), round(y, 6), round(z, 6))
    return SceneObject(name, Box(size), place, colour=NAMED[colour], tags=(*tags, 'fixed'))


def _table(reach: tuple[float, float]) -> SceneObject:
    """A table top that the arm stands on, with a margin around its reach."""
    far = round(reach[1] + 0.1, 4)
    size = (round(far + 0.4, 4), 2.0 * far, 0.03)
    return _fixed('table', size, (0.5 * far - 0.2, 0.0, TABLE_TOP - 0.015), 'wood', 'support')


def _clutter(dice: _Dice, count: int, reach: tuple[float, float]) -> tuple[SceneObject, ...]:
    near, far = reach

    def inside(x: float, y: float, radius: float) -> bool:
        distance = math.sqrt(x * x + y * y)
        return x >= radius and distance - radius >= near and distance + radius <= far

    area = 0.5 * math.pi * (far * far - near * near)
    ground = _Ground((0.0, -far), (far, far), inside, area, f'on the table between {near:g} and {far:g} m')
    things = [_roll_thing(dice, 0.15) for _ in range(count)]
    return (_table(reach), *_scatter(dice, things, ground, TABLE_TOP))


def _rectangle(low: tuple[float, float], high: tuple[float, float], name: str) -> _Ground:
    def inside(x: float, y: float, radius: float) -> bool:
        return bool(low[0] + radius <= x <= high[0] - radius and low[1] + radius <= y <= high[1] - radius)

    return _Ground(low, high, inside, (high[0] - low[0]) * (high[1] - low[1]), name)


def _largest_box(reach: tuple[float, float], depth: float) -> tuple[float, float]:
    """Where a rectangle of that depth along x begins, and its half width, so that it is within reach [m]."""
    near, far = reach
    front = round(near + 0.02, 4)
    back = front + depth
    return front, round(math.sqrt(far * far - back * back), 4)


def _bin(dice: _Dice, count: int, reach: tuple[float, float]) -> tuple[SceneObject, ...]:
    wall = 0.006
    depth = round(dice.length(0.8, 1.0) * min(0.8 * (reach[1] - reach[0]), 0.35), 4)
    front, half = _largest_box(reach, depth)
    back, half = round(front + depth, 4), min(half, dice.length(0.17, 0.22))
    tall = dice.length(0.06, 0.12)
    things = [_roll_thing(dice, 0.06, 0.05) for _ in range(count)]
    ground = _rectangle((front, -half), (back, half), f'into the bin of {back - front:.2f} x {2 * half:.2f} m')
    floor = TABLE_TOP + wall
    parts = _scatter(dice, things, ground, floor)
    return (_table(reach), *_bin_walls(front, back, half, tall, wall), *parts)


def _bin_walls(front: float, back: float, half: float, tall: float, wall: float) -> tuple[SceneObject, ...]:
    middle, depth = 0.5 * (front + back), round(back - front, 4)
    z = TABLE_TOP + wall + 0.5 * tall
    outer = round(2.0 * (half + wall), 4)
    floor_size = (round(depth + 2.0 * wall, 4), outer, wall)
    return (
        _fixed('bin_floor', floor_size, (middle, 0.0, TABLE_TOP + 0.5 * wall), 'grey', 'support'),
        _fixed('bin_front', (wall, outer, tall), (front - 0.5 * wall, 0.0, z), 'grey'),
        _fixed('bin_back', (wall, outer, tall), (back + 0.5 * wall, 0.0, z), 'grey'),
        _fixed('bin_left', (depth, wall, tall), (middle, half + 0.5 * wall, z), 'grey'),
        _fixed('bin_right', (depth, wall, tall), (middle, -half - 0.5 * wall, z), 'grey'),
    )


def _shelf(dice: _Dice, count: int, reach: tuple[float, float]) -> tuple[SceneObject, ...]:
    board = 0.02
    depth = min(dice.length(0.16, 0.24), round(0.6 * (reach[1] - reach[0]), 4))
    front, half = _largest_box(reach, depth)
    half = min(half, dice.length(0.28, 0.40))
    gap, levels = dice.length(0.20, 0.28), dice.whole(2, 4)
    tops = [round(TABLE_TOP + board + level * (gap + board), 4) for level in range(levels)]
    things = [_roll_thing(dice, 0.8 * gap) for _ in range(count)]
    placed = []
    for level, top in enumerate(tops):
        row = list(enumerate(things, start=1))[level::levels]
        placed += _row(dice, row, (front, front + depth), half, top)
    high = round(tops[-1] + gap + board, 4)
    return (*_shelf_boards(front, depth, half, board, tops, high), *placed)


def _row(
    dice: _Dice, things: Sequence[tuple[int, _Thing]], deep: tuple[float, float], half: float, top: float
) -> list[SceneObject]:
    """Things in a row along y, the free width shared out at random between them."""
    widths = [2.0 * thing.footprint + CLEARANCE for _, thing in things]
    free = 2.0 * half - CLEARANCE - sum(widths)
    narrow = any(width + CLEARANCE > deep[1] - deep[0] for width in widths)
    if free < 0.0 or narrow:
        raise _too_many(len(things), f'on a board of {2 * half:.2f} m')
    shares = [dice.share() for _ in range(len(things) + 1)]
    gaps = [free * share / sum(shares) for share in shares]
    y, objects = -half + 0.5 * CLEARANCE, []
    for (number, thing), width, gap in zip(things, widths, gaps, strict=False):
        y += gap + 0.5 * width
        margin = thing.footprint + 0.5 * CLEARANCE
        x = dice.length(deep[0] + margin, deep[1] - margin)
        objects.append(thing.at(number, _roll_colour(dice), x, round(y, 4), top))
        y += 0.5 * width
    return objects


def _shelf_boards(
    front: float, depth: float, half: float, board: float, tops: Sequence[float], high: float
) -> tuple[SceneObject, ...]:
    middle = front + 0.5 * depth
    size = (depth, round(2.0 * half, 4), board)
    boards = [
        _fixed(f'board_{number}', size, (middle, 0.0, top - 0.5 * board), 'wood', 'support')
        for number, top in enumerate([*tops, high], start=1)
    ]
    tall = round(high - TABLE_TOP, 4)
    z = TABLE_TOP + 0.5 * tall
    upright = (depth, board, tall)
    return (
        *boards,
        _fixed('left_side', upright, (middle, half + 0.5 * board, z), 'wood'),
        _fixed('right_side', upright, (middle, -half - 0.5 * board, z), 'wood'),
        _fixed('back', (board, size[1] + 2.0 * board, tall), (front + depth + 0.5 * board, 0.0, z), 'beige'),
    )


def _window(dice: _Dice, count: int, reach: tuple[float, float]) -> tuple[SceneObject, ...]:
    near, far = reach
    wall = 0.02
    face = dice.length(near, near + 0.15 * (far - near))
    width, tall = dice.length(0.22, 0.32), dice.length(0.22, 0.32)
    middle, sill = dice.length(-0.05, 0.05), dice.length(0.10, 0.30)
    low, high = round(middle - 0.5 * width, 4), round(middle + 0.5 * width, 4)
    back = round(face + wall + 0.02, 4)
    farthest = math.sqrt(max(far * far - max(low * low, high * high), 0.0))
    deep = round(0.9 * (farthest - back), 4)
    if deep <= 0.0:
        raise SceneError(f'There is no room behind a wall at {face} m within {far} m; ask for more reach.')
    ground = _rectangle((back, low), (round(back + deep, 4), high), f'on the stand of {deep:.2f} x {width:.2f} m')
    things = _scatter(dice, [_roll_thing(dice, 0.10, 0.05) for _ in range(count)], ground, sill)
    stand_tall = round(sill - TABLE_TOP, 4)
    stand_middle = (back + 0.5 * deep, 0.5 * (low + high), TABLE_TOP + 0.5 * stand_tall)
    stand = _fixed('stand', (deep, round(high - low, 4), stand_tall), stand_middle, 'wood', 'support')
    return (_table(reach), *_wall(face, wall, far, (low, high), (sill, round(sill + tall, 4))), stand, *things)


def _wall(
    face: float, thick: float, far: float, hole_y: tuple[float, float], hole_z: tuple[float, float]
) -> tuple[SceneObject, ...]:
    """A wall around a hole whose ends are given [m], so wide that an arm of that reach does not get round it."""
    half, top = round(far + 0.1, 4), 1.2
    x = face + 0.5 * thick

    def panel(name: str, y: tuple[float, float], z: tuple[float, float]) -> SceneObject:
        size = (thick, round(y[1] - y[0], 4), round(z[1] - z[0], 4))
        return _fixed(f'wall_{name}', size, (x, 0.5 * (y[0] + y[1]), 0.5 * (z[0] + z[1])), 'white')

    return (
        panel('right', (-half, hole_y[0]), (TABLE_TOP, top)),
        panel('left', (hole_y[1], half), (TABLE_TOP, top)),
        panel('below', hole_y, (TABLE_TOP, hole_z[0])),
        panel('above', hole_y, (hole_z[1], top)),
    )


@dataclass(frozen=True)
class _Kind:
    make: Callable[[_Dice, int, tuple[float, float]], tuple[SceneObject, ...]]
    count: int
    """How many things there are unless the caller says."""


KINDS: Mapping[str, _Kind] = MappingProxyType(
    {
        'clutter': _Kind(_clutter, 12),
        'shelf': _Kind(_shelf, 10),
        'bin': _Kind(_bin, 6),
        'window': _Kind(_window, 2),
    }
)
