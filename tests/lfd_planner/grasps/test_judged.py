"""Grasps on the gripper's real bodies: pads touch, fingers do not dig in, the palm is clear, the way is free."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import trimesh

from lfd_description.scenes import find_scene, random_scene, scene_names
from lfd_description.shapes import Box, Capsule, Cone, Cylinder, MeshFile, Shape, Sphere
from lfd_planner.grasps import GraspSet, Source, generate_grasps
from lfd_planner.mtdf import GraspHint
from lfd_planner.scene import IDENTITY, Body, Part, Pose, TriangleMesh, from_scene

SEED = 20261116
HAND_IN_TCP = GraspHint(IDENTITY).tcp.inverse
FINE = {'angle_resolution': 30, 'grasp_resolution': 0.012, 'grasp_depth_resolution': 0.001}


def random_shape(random: np.random.Generator) -> Shape:
    """Of about the size that a gripper can hold, and sometimes not."""
    width = random.uniform(0.026, 0.048)
    height = random.uniform(0.004, 0.12)
    match random.integers(5):
        case 0:
            size = random.permutation([width, random.uniform(0.004, 0.12), height])
            return Box((size[0], size[1], size[2]))
        case 1:
            return Cylinder(0.5 * width, height)
        case 2:
            return Capsule(0.5 * width, width + height)
        case 3:
            return Cone(0.5 * width, random.uniform(0.02, 0.12))
        case _:
            return Sphere(0.5 * width)


def judge_all(judge, choose, body: Body, found: GraspSet, count: int = 10) -> None:
    for grasp in choose(found.grasps, count):
        assert judge.faults(body, grasp) == [], f'{body.parts}: {grasp}'


def objects() -> list[tuple[str, Body]]:
    things = [
        (f'{name}/{thing.id}', thing.body)
        for name in scene_names()
        for thing in from_scene(find_scene(name)).objects.values()
        if thing.body.movable
    ]
    return things


each_object = pytest.mark.parametrize(('name', 'body'), objects(), ids=[name for name, _ in objects()])


@each_object
def test_fingers_hold_every_object_of_the_bundled_scenes_or_say_why_not(name, body, fingers, choose) -> None:
    found = generate_grasps(body, fingers.gripper.grasp_data)

    judge_all(fingers, choose, body, found)
    assert len(found) or found.rejections
    if 'graspable' in body.tags and not name.startswith('kitchen'):  # the kitchen is for larger hands
        assert len(found)


@each_object
def test_a_cup_holds_every_object_of_the_bundled_scenes_or_says_why_not(name, body, cup, choose) -> None:
    found = generate_grasps(body, cup.gripper.grasp_data)

    judge_all(cup, choose, body, found)
    assert len(found) or found.rejections


@pytest.mark.parametrize('part', range(4))
def test_random_shapes_are_held(part: int, fingers, choose) -> None:
    random = np.random.default_rng([SEED, part])
    held = 0
    for _ in range(40):
        body = Body.of(random_shape(random))
        found = generate_grasps(body, fingers.gripper.grasp_data)
        judge_all(fingers, choose, body, found, 6)
        held += len(found) > 0
        assert len(found) or found.rejections
    assert held >= 20


@pytest.mark.parametrize('part', range(3))
def test_random_shapes_are_held_at_fine_resolutions(part: int, fingers, choose) -> None:
    random = np.random.default_rng([SEED, 10 + part])
    data = replace(fingers.gripper.grasp_data, **FINE)
    sources = set()
    for _ in range(20):
        body = Body.of(random_shape(random))
        found = generate_grasps(body, data)
        judge_all(fingers, choose, body, found, 16)
        sources |= {grasp.source for grasp in found}
    assert {Source.FACE, Source.EDGE, Source.CORNER, Source.SIDE, Source.TOP} <= sources


@pytest.mark.parametrize('part', range(2))
def test_random_cones_are_held_with_the_hand_raised(part: int, fingers, choose) -> None:
    random = np.random.default_rng([SEED, 40 + part])
    raised = 0
    for _ in range(20):
        body = Body.of(Cone(random.uniform(0.013, 0.03), random.uniform(0.03, 0.14)))
        found = generate_grasps(body, fingers.gripper.grasp_data)
        judge_all(fingers, choose, body, found, 16)
        assert len(found) or found.rejections
        raised += bool((found.tcp_matrices[:, 2, 2] < -0.2).any())
    assert raised >= 10


def test_things_of_random_scenes_are_held(fingers, choose) -> None:
    scene = from_scene(random_scene('clutter', SEED, count=8))
    things = [thing for thing in scene.objects.values() if 'graspable' in thing.body.tags]
    assert things
    for thing in things:
        found = generate_grasps(thing.body, fingers.gripper.grasp_data)
        judge_all(fingers, choose, thing.body, found, 6)
        assert len(found)


@pytest.mark.parametrize('part', range(3))
def test_what_was_shown_is_held_after_it_was_moved(part: int, fingers) -> None:
    random = np.random.default_rng([SEED, 30 + part])
    data, first = fingers.gripper.grasp_data, 0
    for _ in range(15):
        body = Body.of(random_shape(random))
        grasps = generate_grasps(body, data).grasps
        if not grasps:
            continue
        turn = np.array([0.0, 0.0, 0.0, 1.0]) + 0.05 * random.normal(size=4)
        x, y, z, w = (turn / np.linalg.norm(turn)).tolist()
        px, py, pz = (0.004 * random.normal(size=3)).tolist()
        shown = grasps[random.integers(len(grasps))].tcp @ Pose((px, py, pz), (x, y, z, w))
        found = generate_grasps(body, data, hint=GraspHint(shown @ HAND_IN_TCP))
        assert found[0].source == Source.HINT
        for grasp in found.grasps[:2]:
            assert fingers.faults(body, grasp) == [], f'{body.parts}: {grasp}'
        first += 1
    assert first >= 7


def mesh_of(shape: trimesh.Trimesh) -> TriangleMesh:
    return TriangleMesh.of(shape)


def pieces() -> dict[str, TriangleMesh]:
    tilted = trimesh.creation.box((0.09, 0.036, 0.05))
    tilted.apply_transform(trimesh.transformations.random_rotation_matrix(rand=np.array([0.2, 0.7, 0.4])))
    bar = trimesh.creation.box((0.12, 0.035, 0.035))
    post = trimesh.creation.box((0.035, 0.035, 0.08))
    post.apply_translation((0.0425, 0.0, 0.0575))
    return {
        'brick': mesh_of(tilted),
        'can': mesh_of(trimesh.creation.cylinder(0.02, 0.07, sections=48)),
        'ball': mesh_of(trimesh.creation.icosphere(subdivisions=3, radius=0.018)),
        'fine ball': mesh_of(trimesh.creation.icosphere(subdivisions=5, radius=0.018)),
        'fine brick': mesh_of(tilted.copy().subdivide_to_size(0.002)),
        'angle': mesh_of(trimesh.util.concatenate([bar, post])),
        'ring': mesh_of(trimesh.creation.annulus(0.012, 0.021, 0.03)),
        'lens': mesh_of(trimesh.creation.icosphere(subdivisions=3, radius=1.0).apply_scale((0.06, 0.02, 0.04))),
    }


@pytest.mark.parametrize('name', pieces())
def test_meshes_are_held_on_opposite_places(name: str, fingers, choose) -> None:
    body = Body.of(pieces()[name])

    found = generate_grasps(body, fingers.gripper.grasp_data, seed=SEED)

    assert len(found)
    assert {grasp.source for grasp in found} == {Source.ANTIPODAL}
    judge_all(fingers, choose, body, found, 24)


def test_a_small_cup_of_a_mesh_file_is_held(fingers, choose) -> None:
    (file,) = [
        thing.shape.file
        for thing in find_scene('kitchen').objects
        if isinstance(thing.shape, MeshFile) and thing.name == 'cup'
    ]
    body = Body.of(MeshFile(file, (0.5, 0.5, 0.5)))

    found = generate_grasps(body, fingers.gripper.grasp_data, seed=SEED)

    assert len(found)
    judge_all(fingers, choose, body, found, 24)


@pytest.mark.parametrize('seed', range(6))
def test_objects_of_several_shapes_are_held_clear_of_all_of_them(seed: int, fingers, choose) -> None:
    random = np.random.default_rng([SEED, 20, seed])
    data = replace(fingers.gripper.grasp_data, angle_resolution=45, grasp_resolution=0.02)
    for _ in range(4):
        parts = [Part(random_shape(random))]
        for _ in range(random.integers(1, 3)):
            turn = random.normal(size=4)
            x, y, z, w = (turn / np.linalg.norm(turn)).tolist()
            px, py, pz = random.uniform(-0.05, 0.05, 3).tolist()
            parts.append(Part(random_shape(random), Pose((px, py, pz), (x, y, z, w))))
        body = Body(tuple(parts))
        found = generate_grasps(body, data)
        judge_all(fingers, choose, body, found, 12)


def test_a_hammer_is_held_at_its_handle_and_not_through_its_head(fingers, choose) -> None:
    quarter = math.sqrt(0.5)
    head = Part(Box((0.09, 0.09, 0.05)), Pose((0.0, 0.0, 0.08)))
    handle = Part(Cylinder(0.016, 0.11))
    body = Body((handle, head, Part(Cylinder(0.016, 0.09), Pose((0.05, 0.0, 0.02), (0.0, quarter, 0.0, quarter)))))

    found = generate_grasps(body, fingers.gripper.grasp_data)

    assert len(found)
    assert 'finger_hits_object' in {rejection.reason for rejection in found.rejections}
    judge_all(fingers, choose, body, found, 40)


def test_a_cup_is_put_where_no_other_part_is(cup, choose) -> None:
    knob = Part(Cylinder(0.01, 0.03), Pose((0.0, 0.0, 0.035)))
    body = Body((Part(Box((0.12, 0.08, 0.04))), knob))

    found = generate_grasps(body, cup.gripper.grasp_data)

    assert 'face_covered' in {rejection.reason for rejection in found.rejections}
    judge_all(cup, choose, body, found, 200)
    on_top = found.tcp_matrices[found.tcp_matrices[:, 2, 2] < -0.9]
    assert len(on_top)
    assert np.hypot(on_top[:, 0, 3], on_top[:, 1, 3]).min() > 0.01 + 0.0125
