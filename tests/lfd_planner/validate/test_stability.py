"""What stays where it is put, and what does not."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from lfd_description.shapes import Box, Cylinder, Plane, Sphere
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, Part, SceneShape
from lfd_planner.validate.stability import Shapes, Stack
from lfd_planner.validate.surfaces import depth_inside, heights, hull, mass

CUBE = Box((0.1, 0.1, 0.1))
Array = npt.NDArray[np.float64]
Thing = tuple[SceneShape, Pose]


def stack(**things: Thing) -> Stack:
    """Things on a floor at z = 0."""
    bodies = {name: Body((Part(shape),), movable=True) for name, (shape, _) in things.items()}
    standing = {name: pose.matrix for name, (_, pose) in things.items()}
    bodies['floor'], standing['floor'] = Body.of(Plane()), np.eye(4)
    return Stack(Shapes(bodies), standing)


def cube(x: float, z: float, y: float = 0.0) -> Thing:
    return CUBE, Pose((x, y, z))


def falling(found: Stack, name: str) -> list[str]:
    return [fall.object for fall in found.falls(name)]


@pytest.mark.parametrize('shape', [CUBE, Cylinder(0.05, 0.1), Sphere(0.05), Box((0.3, 0.02, 0.1))])
def test_things_stand_on_the_floor(shape: SceneShape) -> None:
    found = stack(thing=(shape, Pose((0.3, 0.2, 0.05))))
    assert falling(found, 'thing') == []
    assert list(found.carriers('thing')) == ['floor']


def test_contact_is_found_within_a_millimetre_and_a_half() -> None:
    for gap, stands in ((0.0, True), (-0.001, True), (0.001, True), (0.002, False)):
        found = stack(thing=cube(0.0, 0.05 + gap))
        assert (falling(found, 'thing') == []) is stands
    (fall,) = stack(thing=cube(0.0, 0.2)).falls('thing')
    assert (fall.outside, fall.on) == (None, ())


@pytest.mark.parametrize(('shift', 'stands'), [(0.0, True), (0.045, True), (0.055, False), (-0.055, False)])
def test_a_cube_over_the_edge_of_another(shift: float, stands: bool) -> None:
    found = stack(low=cube(0.0, 0.05), high=cube(shift, 0.15))
    assert (falling(found, 'high') == []) is stands
    for fall in found.falls('high'):
        assert fall.on == ('low',)
        assert fall.outside == pytest.approx(0.006, abs=0.004)


def test_a_weight_on_top_tips_what_is_below() -> None:
    """Each cube stands on the one below it, but not all of them together."""
    leaning = {f'cube{number}': cube(0.04 * number, 0.05 + 0.1 * number) for number in range(4)}
    found = stack(**leaning)
    assert falling(found, 'cube1') == ['cube1', 'cube0'] or 'cube1' in falling(found, 'cube3')
    two = stack(**{name: leaning[name] for name in ('cube0', 'cube1')})
    assert falling(two, 'cube1') == []


def test_a_counterweight_keeps_a_plank() -> None:
    plank = Box((0.3, 0.05, 0.02)), Pose((0.08, 0.0, 0.11))
    assert falling(stack(low=cube(0.0, 0.05), plank=plank), 'plank') == ['plank']
    weight = cube(-0.02, 0.17)
    assert falling(stack(low=cube(0.0, 0.05), plank=plank, weight=weight), 'plank') == []


def test_a_bridge_stands_on_two() -> None:
    bridge = Box((0.4, 0.05, 0.02)), Pose((0.0, 0.0, 0.11))
    found = stack(left=cube(-0.15, 0.05), right=cube(0.15, 0.05), bridge=bridge)
    assert set(found.carriers('bridge')) == {'left', 'right'}
    assert falling(found, 'bridge') == []
    assert found.above('left') == ('bridge',)


@pytest.mark.parametrize('angle', [0.3, 0.6, np.pi / 4])
def test_a_box_does_not_stand_on_its_edge(angle: float) -> None:
    height = 0.05 * (np.sin(angle) + np.cos(angle))
    tilted = Pose((0.0, 0.0, float(height)), (np.sin(0.5 * angle), 0.0, 0.0, np.cos(0.5 * angle)))
    assert falling(stack(thing=(CUBE, tilted)), 'thing') == ['thing']


def test_volumes_and_centres() -> None:
    two = Body((Part(Box((0.1, 0.1, 0.1))), Part(Box((0.1, 0.1, 0.3)), Pose((0.0, 0.0, 0.2)))))
    found = mass(two)
    assert found.amount == pytest.approx(0.004)
    assert found.centre == pytest.approx((0.0, 0.0, 0.15))
    ball = mass(Body.of(Sphere(0.1)))
    assert ball.amount == pytest.approx(4.0 / 3.0 * np.pi * 1e-3, rel=0.05)


def test_heights_of_a_triangle() -> None:
    triangle = np.array([[[0.0, 0.0, 1.0], [1.0, 0.0, 2.0], [0.0, 1.0, 1.0]]])
    found = heights(triangle, np.array([[0.25, 0.25], [0.9, 0.9], [0.5, 0.0]]))
    np.testing.assert_allclose(found[:, 0], [1.25, np.nan, 1.5])


@pytest.mark.parametrize(
    ('point', 'depth'), [((0.5, 0.5), 0.5), ((0.5, 0.9), 0.1), ((0.5, 1.25), -0.25), ((2.0, 2.0), -np.sqrt(2.0))]
)
def test_depth_inside_of_a_square(point: tuple[float, float], depth: float) -> None:
    square = hull(np.array([[0, 0], [1, 0], [0.5, 0.5], [1, 1], [0, 1], [0.5, 0]], dtype=float))
    assert len(square) == 4
    assert depth_inside(square, np.array(point))[0] == pytest.approx(depth)


def test_depth_inside_of_less_than_an_area() -> None:
    for points in ([[0.0, 0.0]], [[0.0, 0.0], [1.0, 0.0]], [[0.0, 0.0], [0.5, 0.0], [1.0, 0.0]]):
        line = hull(np.array(points))
        assert depth_inside(line, np.array([0.0, 0.0]))[0] <= 0.0
        assert depth_inside(line, np.array([0.0, 2.0]))[0] == pytest.approx(-2.0)


def _room(shifts: Array, row: int) -> float:
    """How far the weight of a cube and all above it is inside of what it shares with the one below [m]."""
    low, high = sorted((shifts[row - 1], shifts[row]))
    return float(0.5 * (0.1 - (high - low)) - abs(shifts[row:].mean() - 0.5 * (low + high)))


def test_a_random_tower_stands_as_long_as_its_parts_do() -> None:
    """A tower of cubes stands where the mean of all above each cube is over it; recorded seed."""
    numbers = np.random.default_rng(5)
    seen = set()
    for _ in range(30):
        shifts = np.cumsum(numbers.uniform(-0.05, 0.05, 4))
        things = {f'cube{row}': cube(float(shift), 0.05 + 0.1 * row) for row, shift in enumerate(shifts)}
        room = min(_room(shifts, row) for row in range(1, 4))
        if abs(room) < 0.005:
            continue  # nobody says which
        stands = not falling(stack(**things), 'cube3')
        assert stands == (room > 0.0), shifts
        seen.add(stands)
    assert seen == {True, False}
