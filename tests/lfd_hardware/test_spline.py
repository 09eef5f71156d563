import itertools

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from lfd_hardware.spline import Spline, first_excess
from lfd_hardware.trajectory import RawPoint, read_waypoints

SEEDS = range(20)


def random_points(seed, joints, kind, count=6):
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.05, 1.0, count))
    values = rng.normal(size=(3, count, joints))
    values[1, -1] = 0.0
    return [
        RawPoint(
            times[i],
            values[0, i].tolist(),
            values[1, i].tolist() if kind != 'linear' else (),
            values[2, i].tolist() if kind == 'quintic' else (),
        )
        for i in range(count)
    ]


def spline_of(points):
    names = [f'j{i}' for i in range(len(points[0].positions))]
    return Spline.through(read_waypoints(names, names, points))


def reference(kind, p0, p1):
    """The polynomial of the textbook's boundary conditions, solved as a linear system, of the time from ``p0`` on."""
    orders = {'linear': 1, 'cubic': 2, 'quintic': 3}[kind]
    span = p1.time - p0.time
    rows, values = [], []
    for at, point in ((0.0, p0), (span, p1)):
        fields = (point.positions, point.velocities, point.accelerations)
        for order in range(orders):
            rows.append([Polynomial.basis(k).deriv(order)(at) if order else at**k for k in range(2 * orders)])
            values.append(fields[order])
    return np.linalg.solve(np.array(rows, dtype=float), np.array(values, dtype=float))


@pytest.mark.parametrize('kind', ['linear', 'cubic', 'quintic'])
@pytest.mark.parametrize('seed', SEEDS)
def test_follows_the_polynomial_of_the_boundary_conditions(kind, seed):
    points = random_points(seed, 3, kind)
    spline = spline_of(points)
    for before, after in itertools.pairwise(points):
        coefficients = reference(kind, before, after)
        elapsed = np.linspace(0.0, after.time - before.time, 17)[:-1]
        sample = spline.sample(before.time + elapsed)
        for joint in range(3):
            polynomial = Polynomial(coefficients[:, joint])
            np.testing.assert_allclose(sample.positions[:, joint], polynomial(elapsed), atol=1e-7)
            np.testing.assert_allclose(sample.velocities[:, joint], polynomial.deriv()(elapsed), atol=1e-6)
            np.testing.assert_allclose(sample.accelerations[:, joint], polynomial.deriv(2)(elapsed), atol=1e-4)


@pytest.mark.parametrize('kind', ['linear', 'cubic', 'quintic'])
@pytest.mark.parametrize('seed', SEEDS)
def test_meets_every_waypoint_and_is_continuous(kind, seed):
    points = random_points(seed, 2, kind)
    spline = spline_of(points)
    for point in points:
        before, at = spline.sample(point.time - 1e-9), spline.sample(point.time)
        np.testing.assert_allclose(at.positions, point.positions, atol=1e-12)
        np.testing.assert_allclose(before.positions, point.positions, atol=1e-6)
        if kind != 'linear':
            np.testing.assert_allclose(at.velocities, point.velocities, atol=1e-9)
        if kind == 'quintic':
            np.testing.assert_allclose(at.accelerations, point.accelerations, atol=1e-7)


def test_a_segment_is_only_as_smooth_as_its_poorer_end():
    points = [RawPoint(0.0, [0.0], [0.0]), RawPoint(1.0, [1.0]), RawPoint(2.0, [1.0], [0.0])]
    assert spline_of(points).sample(0.25).positions == pytest.approx(0.25)


def test_stands_still_outside_of_its_time():
    spline = spline_of(random_points(7, 2, 'quintic'))
    sample = spline.sample([spline.times[0] - 1.0, spline.duration + 1.0])
    np.testing.assert_allclose(sample.positions, [spline.control[0, 0], spline.control[-1, -1]], atol=1e-12)
    assert not sample.velocities.any()
    assert not sample.accelerations.any()


def test_one_time_and_many_times_agree():
    spline = spline_of(random_points(3, 2, 'quintic'))
    times = np.linspace(spline.times[0], spline.duration, 50)
    many = spline.sample(times)
    assert many.positions.shape == (50, 2)
    np.testing.assert_array_equal(many.velocities, [spline.sample(t).velocities for t in times])


@pytest.mark.parametrize('seed', SEEDS)
def test_excess_is_found_exactly_when_the_curve_leaves_the_range(seed):
    spline = spline_of(random_points(seed, 1, 'quintic', count=2))
    values = spline.sample(np.linspace(spline.times[0], spline.duration, 20001)).positions
    low, high = values.min(axis=0), values.max(axis=0)
    assert first_excess(spline.control, low - 1e-6, high + 1e-6) is None
    assert first_excess(spline.control, low + 1e-6, high + 1e-6) == (0, 0)
    assert first_excess(spline.control, low - 1e-6, high - 1e-6) == (0, 0)


@pytest.mark.parametrize('point', range(6))
def test_what_is_not_a_number_is_an_excess(point):
    control = np.zeros((3, 6, 2))
    control[1, point, 1] = np.nan
    assert first_excess(control, np.full(2, -1.0), np.full(2, 1.0)) == (1, 1)
