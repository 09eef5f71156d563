"""The sweep decides every sample, though it measures few."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import trimesh
from support.pick_and_place import Case, pick_and_place

from lfd_description.shapes import Box, Cylinder, Sphere
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, Part, TriangleMesh, WorldObject
from lfd_planner.validate.collisions import CollisionCheck
from lfd_planner.validate.contacts import Contacts
from lfd_planner.validate.replay import STEP, TRAVEL, Stage, replay
from lfd_planner.validate.solids import Place, distance, object_solids

SEEDS = range(6)


def cluttered(case: Case, seed: int) -> Case:
    """The case with things in the way at random."""
    numbers = np.random.default_rng(seed)
    scene = case.scene
    for number in range(4):
        shape = [Box((0.04, 0.06, 0.1)), Sphere(0.04), Cylinder(0.03, 0.1), _ring()][number]
        x, y, z = numbers.uniform((0.2, -0.3, -0.1), (0.6, 0.3, 0.5)).tolist()
        scene = scene.add(WorldObject(f'thing{number}', Body((Part(shape),)), Pose((x, y, z))))
    return replace(case, scene=scene)


def _ring() -> TriangleMesh:
    """Something that is not convex."""
    return TriangleMesh.of(trimesh.creation.annulus(0.03, 0.05, 0.06, sections=12))


@pytest.mark.parametrize('seed', SEEDS)
def test_finds_what_measuring_every_sample_finds(seed: int) -> None:
    case = cluttered(pick_and_place(), seed)
    stage = Stage(case.model, case.scene)
    stretch = replay(stage, case.scene, case.solution).stretches[0]
    check = CollisionCheck(stage, Contacts(case.model, case.scene, (stretch,)))
    found = {frozenset(finding.subjects): finding.amount for finding in check.check(stretch)}

    poses = stage.link_poses(stretch.q)
    things = [solid for name, solids in stage.object_solids.items() if name.startswith('thing') for solid in solids]
    smallest = np.inf
    for link in stage.link_solids:
        way = poses[:, stage.links[link.owner]] @ link.origin
        for thing in things:
            at = Place.of(stretch.standing[thing.owner] @ thing.origin)
            apart = min(distance(link, Place.of(pose), thing, at) for pose in way[::5])
            smallest = min(smallest, apart)
            if apart < -1e-4:
                assert found[frozenset({link.owner, thing.owner})] >= -apart - 1e-9
    named = [pair for pair in found if any(name.startswith('thing') for name in pair)]
    assert bool(named) == (smallest < 0.0)
    assert check.clearance is not None
    if smallest > 0.0:
        assert check.clearance.distance <= smallest + 1e-9


def test_samples_are_dense() -> None:
    case = pick_and_place()
    stage = Stage(case.model, case.scene)
    for stretch in replay(stage, case.scene, case.solution).stretches:
        steps = np.abs(np.diff(stretch.q, axis=0))
        assert steps.max(initial=0.0) <= STEP
        if stretch.arm_moves:
            assert stage.travel(stretch.q, stretch.held).max() <= TRAVEL
        assert stretch.times[0] == case.solution.trajectory.times[stretch.segment.first]
        assert stretch.end == case.solution.trajectory.times[stretch.segment.last]


def test_a_mesh_is_solid_to_whoever_crosses_its_surface() -> None:
    ring = object_solids('ring', Body((Part(_ring()),)))[0]
    ball = object_solids('ball', Body((Part(Sphere(0.01)),)))[0]
    at = Place.of(np.eye(4))
    assert distance(ring, at, ball, at) == pytest.approx(0.02, abs=2e-3)  # in the hole
    assert distance(ring, at, ball, Place.of(Pose((0.04, 0.0, 0.0)).matrix)) < -1e-6
    assert distance(ring, at, ball, Place.of(Pose((0.04, 0.0, 0.0395)).matrix)) < -1e-6
    assert distance(ring, at, ball, Place.of(Pose((0.5, 0.0, 0.0)).matrix)) == pytest.approx(0.44, abs=1e-6)
