"""Where released objects come to rest; coal judges that they are not in each other."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import trimesh
from support.task_cells import box, seed_cell, seed_origin, seed_task

from lfd_description.shapes import Box, Capsule, Cone, Cylinder, Plane, Sphere, Vector
from lfd_planner.mtdf import Place
from lfd_planner.pose import Pose
from lfd_planner.reachability import falls
from lfd_planner.scene import Body, Part, PlanningScene, SceneShape, TriangleMesh, WorldObject
from lfd_planner.validate.solids import Place as At
from lfd_planner.validate.solids import distance, object_solids
from lfd_vr_bridge.studio import Settings, Settled, settle
from lfd_vr_bridge.studio.recorder import angle

TABLE = PlanningScene('base_link').add(
    WorldObject('floor', Body.of(Plane()), Pose((0.0, 0.0, -0.9))),
    box('table', (1.0, 1.0, 0.04), (0.0, 0.0, -0.02), movable=False),
)
SHAPES: tuple[SceneShape, ...] = (
    Box((0.06, 0.04, 0.05)),
    Sphere(0.03),
    Cylinder(0.02, 0.07),
    Cone(0.03, 0.06),
    Capsule(0.02, 0.09),
    TriangleMesh(
        np.array([[0, 0, 0], [0.05, 0, 0], [0, 0.05, 0], [0, 0, 0.05]]),
        np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]),
    ),
)
FALLING, BOTH, SNAPPING, NEITHER = Settings(snap=False), Settings(), Settings(gravity=False), Settings(False, False)


def thing(shape: SceneShape, *pose: float, name: str = 'thing') -> WorldObject:
    return WorldObject(name, replace(Body.of(shape), movable=True), Pose.of_numbers(pose))


def gap(a: WorldObject, b: WorldObject) -> float:
    """The distance of two objects by coal [m]; below zero: how deep they are in each other."""
    return min(
        distance(one, At.of(a.pose.matrix @ one.origin), other, At.of(b.pose.matrix @ other.origin))
        for one in object_solids(a.id, a.body)
        for other in object_solids(b.id, b.body)
    )


def at_rest(settled: Settled, one: WorldObject) -> WorldObject:
    assert settled.pose is not None, settled.warnings
    return replace(one, pose=settled.pose)


@pytest.mark.parametrize('shape', SHAPES, ids=lambda shape: type(shape).__name__)
@pytest.mark.parametrize('settings', [FALLING, BOTH], ids=['gravity', 'gravity and snap'])
def test_objects_fall_onto_the_table_and_do_not_enter_it(shape: SceneShape, settings: Settings) -> None:
    random = np.random.default_rng(7)
    for _ in range(8):
        dropped = thing(shape, *random.uniform(-0.3, 0.3, 2), random.uniform(0.1, 0.4), *random.uniform(-3.1, 3.1, 3))
        rests = at_rest(settle(TABLE, dropped, settings), dropped)
        assert abs(gap(rests, TABLE.objects['table'])) <= 1e-6
        assert rests.pose.position[:2] == dropped.pose.position[:2]
        again = settle(TABLE, rests, settings)
        assert again.pose == rests.pose


def test_objects_among_others_end_free_and_stay_when_they_are_let_go_of_again() -> None:
    random = np.random.default_rng(11)
    for _ in range(12):
        scene = TABLE
        for number in range(6):
            shape = SHAPES[random.integers(len(SHAPES))]
            numbers = (*random.uniform(-0.08, 0.08, 2), random.uniform(0.02, 0.3), *random.uniform(-3.1, 3.1, 3))
            dropped = thing(shape, *numbers, name=f'thing_{number}')
            found = settle(scene, dropped, BOTH)
            if found.pose is None:
                continue
            rests = at_rest(found, dropped)
            for other in scene.objects.values():
                assert gap(rests, other) >= -1e-6, (number, other.id, numbers)
            assert settle(scene, rests, BOTH).pose == rests.pose
            scene = scene.add(rests)


def test_the_places_of_the_recorded_demonstration_stay_as_they_are() -> None:
    scene, origin = seed_cell(), seed_origin()
    for keyframe in seed_task().keyframes:
        if isinstance(keyframe, Place):
            pose = origin @ keyframe.pose
            placed = replace(scene.objects[keyframe.object], pose=pose)
            found = settle(scene.remove(placed.id), placed, BOTH)
            assert found.pose == pose
            assert found.warnings == falls(scene, placed) == ()
            scene = scene.add(placed)


def test_what_stands_in_the_cell_stays_as_it_is() -> None:
    scene = seed_cell()
    for one in scene.objects.values():
        if one.body.movable:
            assert settle(scene.remove(one.id), one, BOTH) == Settled(one.pose, ('template',))


def test_a_box_that_is_nearly_level_is_laid_flat_and_keeps_its_direction() -> None:
    tilted = thing(Box((0.06, 0.04, 0.05)), 0.1, 0.2, 0.08, math.radians(8.0), math.radians(-5.0), 0.7)
    rests = at_rest(settle(TABLE, tilted, BOTH), tilted)
    assert rests.pose.position == pytest.approx((0.1, 0.2, 0.025), abs=1e-6)
    assert rests.pose.matrix[2, 2] == pytest.approx(1.0, abs=1e-12)
    assert math.atan2(rests.pose.matrix[1, 0], rests.pose.matrix[0, 0]) == pytest.approx(0.7, abs=0.02)
    free = at_rest(settle(TABLE, tilted, FALLING), tilted)
    assert free.pose.orientation == tilted.pose.orientation


def test_a_box_is_laid_flat_on_a_ramp() -> None:
    slope = math.radians(20.0)
    ramp = WorldObject('ramp', Body.of(Box((0.4, 0.4, 0.02))), Pose.of_numbers((0.0, 0.0, 0.2, slope, 0.0, 0.0)))
    tilted = thing(Box((0.06, 0.04, 0.05)), 0.0, 0.0, 0.3, math.radians(15.0), 0.0, 0.0)
    rests = at_rest(settle(TABLE.add(ramp), tilted, BOTH), tilted)
    assert angle(rests.pose, ramp.pose) < 1e-6
    assert abs(gap(rests, ramp)) <= 1e-6


@pytest.mark.parametrize('height', [0.004, -0.004])
@pytest.mark.parametrize('settings', [BOTH, SNAPPING], ids=['gravity', 'no gravity'])
def test_a_box_that_is_a_little_off_is_put_onto_the_table(height: float, settings: Settings) -> None:
    off = thing(Box((0.06, 0.04, 0.05)), 0.1, 0.2, 0.025 + height, 0.0, 0.0, 0.3)
    rests = at_rest(settle(TABLE, off, settings), off)
    assert rests.pose.position == pytest.approx((0.1, 0.2, 0.025), abs=1e-6)


def test_without_gravity_objects_stay_in_the_air_and_without_both_anywhere() -> None:
    above = thing(Box((0.06, 0.04, 0.05)), 0.1, 0.2, 0.2, 0.1, 0.0, 0.3)
    assert settle(TABLE, above, SNAPPING) == Settled(above.pose)
    inside = thing(Box((0.06, 0.04, 0.05)), 0.1, 0.2, -0.02, 0.1, 0.0, 0.3)
    assert settle(TABLE, inside, NEITHER) == Settled(inside.pose)


def test_a_box_beside_another_is_pushed_aside_and_not_put_on_top() -> None:
    scene = TABLE.add(box('other', (0.05, 0.05, 0.05), (0.0, 0.0, 0.025)))
    near = thing(Box((0.05, 0.05, 0.05)), 0.047, 0.0, 0.027, 0.0, 0.0, 0.0)
    rests = at_rest(settle(scene, near, BOTH), near)
    assert rests.pose.position == pytest.approx((0.05, 0.0, 0.025), abs=2e-6)


def test_a_box_that_is_let_go_of_inside_of_another_is_put_on_top_and_told() -> None:
    scene = TABLE.add(box('other', (0.1, 0.1, 0.1), (0.0, 0.0, 0.05)))
    inside = thing(Box((0.05, 0.05, 0.05)), 0.0, 0.0, 0.05, 0.0, 0.0, 0.0)
    found = settle(scene, inside, BOTH)
    assert found.pose is not None
    assert found.pose.position == pytest.approx((0.0, 0.0, 0.125), abs=1e-6)
    assert found.warnings == ("'thing' was let go of inside of 'other'; it was put on top.",)


def test_where_there_is_no_room_the_object_goes_back() -> None:
    block = box('block', (2.0, 2.0, 2.0), (0.0, 0.0, 0.0), movable=False)
    inside = thing(Box((0.05, 0.05, 0.05)), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    found = settle(PlanningScene('base_link').add(block), inside, BOTH)
    assert found.pose is None
    assert 'no room' in found.warnings[0]


def test_with_nothing_below_an_object_stays_in_the_air_and_that_is_told() -> None:
    above = thing(Box((0.05, 0.05, 0.05)), 0.0, 0.0, 0.5, 0.1, 0.0, 0.0)
    found = settle(PlanningScene('base_link'), above, BOTH)
    assert found.pose == above.pose
    assert 'nothing below' in found.warnings[0]


@pytest.mark.parametrize(('x', 'stays'), [(0.52, True), (0.535, False)])
def test_what_will_tip_over_the_edge_is_told(x: float, stays: bool) -> None:
    scene = TABLE.add(box('other', (0.06, 0.04, 0.05), (-0.2, 0.0, 0.025)))
    over = thing(Box((0.06, 0.04, 0.05)), x - 0.03, 0.0, 0.1, 0.0, 0.0, 0.0)
    found = settle(scene, over, BOTH)
    assert found.pose is not None
    told = falls(scene, replace(over, pose=found.pose))
    assert (told == ()) is stays, told
    assert stays or 'tip over' in told[0]


def test_what_tips_the_box_below_is_told() -> None:
    scene = TABLE.add(box('low', (0.05, 0.05, 0.02), (0.0, 0.0, 0.01)))
    plank = thing(Box((0.05, 0.04, 0.2)), 0.02, 0.0, 0.12, 0.0, 0.0, 0.0)
    assert falls(scene, plank) == ()
    high = scene.add(box('high', (0.05, 0.05, 0.02), (0.02, 0.0, 0.03)))
    over = replace(plank, pose=Pose((0.042, 0.0, 0.14)))
    assert "'high' will tip over" in falls(high, over)[0]


def test_what_hangs_in_the_air_is_told() -> None:
    above = thing(Box((0.05, 0.04, 0.2)), 0.0, 0.0, 0.5, 0.0, 0.0, 0.0)
    assert falls(TABLE, above) == ("'thing' will not stay: nothing carries it",)


def test_a_body_of_several_parts_stands_on_its_lowest_one() -> None:
    parts = (Part(Box((0.1, 0.1, 0.01)), Pose((0.0, 0.0, 0.05))), Part(Cylinder(0.03, 0.1)))
    lamp = WorldObject('lamp', Body(parts, movable=True), Pose.of_numbers((0.0, 0.0, 0.3, 0.05, 0.0, 0.0)))
    rests = at_rest(settle(TABLE, lamp, BOTH), lamp)
    assert rests.pose.position[2] == pytest.approx(0.05, abs=1e-5)
    assert gap(rests, TABLE.objects['table']) >= -1e-6


@cache
def bin_of_planks() -> TriangleMesh:
    """A box without a lid, 0.2 m wide and 0.1 m high, as one mesh that is not convex."""
    planks: list[tuple[Vector, Vector]] = [((0.2, 0.2, 0.01), (0.0, 0.0, 0.005))]
    planks += [((0.01, 0.2, 0.1), (x, 0.0, 0.05)) for x in (-0.1, 0.1)]
    planks += [((0.2, 0.01, 0.1), (0.0, y, 0.05)) for y in (-0.1, 0.1)]
    made = [trimesh.creation.box(size, trimesh.transformations.translation_matrix(at)) for size, at in planks]
    return TriangleMesh.of(trimesh.util.concatenate(made))


def test_a_box_falls_into_a_bin_and_not_onto_its_hull() -> None:
    scene = TABLE.add(WorldObject('bin', Body.of(bin_of_planks()), Pose((0.2, 0.0, 0.0))))
    dropped = thing(Box((0.05, 0.05, 0.05)), 0.2, 0.0, 0.3, 0.0, 0.0, 0.4)
    rests = at_rest(settle(scene, dropped, BOTH), dropped)
    assert rests.pose.position == pytest.approx((0.2, 0.0, 0.035), abs=1e-5)
