from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import trimesh

from lfd_description.grasp_data import FingerGraspData, SuctionGraspData
from lfd_description.grippers import find_gripper
from lfd_description.meshes import MeshError
from lfd_description.shapes import Box, Capsule, Cone, Cylinder, MeshFile, Plane, Shape, Sphere
from lfd_planner.grasps import GraspSet, Reason, Source, generate, generate_grasps, probe, surface, warm_up
from lfd_planner.mtdf import GraspHint
from lfd_planner.scene import IDENTITY, Body, Part, Pose, TriangleMesh

GREEN_BOX = Body.of(Box((0.0518, 0.036, 0.040)))
HAND_IN_TCP = GraspHint(IDENTITY).tcp.inverse


@pytest.fixture
def fingers() -> FingerGraspData:
    data = find_gripper('two_finger').grasp_data
    assert isinstance(data, FingerGraspData)
    return data


@pytest.fixture
def cup() -> SuctionGraspData:
    data = find_gripper('suction').grasp_data
    assert isinstance(data, SuctionGraspData)
    return data


def detail(found: GraspSet, reason: Reason) -> str:
    return {rejection.reason: rejection.detail for rejection in found.rejections}[reason]


def hint_at(tcp: Pose) -> GraspHint:
    return GraspHint(tcp @ HAND_IN_TCP)


def turn(axis: tuple[float, float, float], degrees: float) -> Pose:
    half = math.radians(degrees) / 2.0
    x, y, z = (math.sin(half) * part for part in axis)
    return Pose(orientation=(x, y, z, math.cos(half)))


def test_a_box_is_held_at_all_faces_between_two_others(fingers: FingerGraspData) -> None:
    found = generate_grasps(GREEN_BOX, fingers)

    ways = Counter((*grasp.tcp.matrix[:3, 2].round(6).tolist(), round(grasp.width, 6)) for grasp in found)
    # 36 mm wide along y: from +-x and +-z; 40 mm along z: from +-x and +-y; each with the fingers both ways.
    assert ways == {
        (x + 0.0, y + 0.0, z + 0.0, width): 2
        for width, free in ((0.036, (0, 2)), (0.040, (0, 1)))
        for axis in free
        for sign in (1.0, -1.0)
        for x, y, z in [(sign * np.eye(3)[axis]).tolist()]
    }
    for grasp in found:
        inward = grasp.tcp.matrix[:3, 2]
        to_face = float(np.abs(inward) @ (0.0259, 0.018, 0.020))
        np.testing.assert_allclose(grasp.tcp.position, -(to_face - 0.006) * inward, atol=1e-9)
        assert (grasp.depth, grasp.source) == (0.006, Source.FACE)


def test_fingers_close_along_y_on_the_sides_that_are_so_far_apart(fingers: FingerGraspData) -> None:
    for grasp in generate_grasps(GREEN_BOX, fingers):
        closing = np.abs(grasp.tcp.matrix[:3, 1])
        assert closing @ (0.0518, 0.036, 0.040) == pytest.approx(grasp.width)


@pytest.mark.parametrize(
    'shape', [Box((0.04, 0.04, 0.04)), Cylinder(0.02, 0.05), Sphere(0.02), Capsule(0.02, 0.1), Cone(0.018, 0.05)]
)
def test_each_grasp_is_there_with_the_fingers_swapped(shape: Shape, fingers: FingerGraspData) -> None:
    tcp = generate_grasps(Body.of(shape), fingers).tcp_matrices
    swapped = tcp @ np.diag([-1.0, -1.0, 1.0, 1.0])

    apart = np.abs(tcp[:, None] - swapped[None]).max(axis=(2, 3))

    assert len(tcp)
    assert (apart.min(axis=0) < 1e-9).all()
    assert np.sort(np.abs(tcp[:, None] - tcp[None]).max(axis=(2, 3)), axis=1)[:, 1].min() > 1e-6  # none twice


def test_postures_close_on_the_object_and_leave_its_padding_on_the_way(fingers: FingerGraspData) -> None:
    for grasp in generate_grasps(GREEN_BOX, fingers):
        closed = [grasp.posture[joint] for joint in fingers.joints]
        opened = [grasp.open_posture[joint] for joint in fingers.joints]
        assert fingers.width(closed) == pytest.approx(grasp.width)
        assert fingers.width(opened) == pytest.approx(grasp.width + 2 * 0.003)
    widest = generate_grasps(Body.of(Box((0.1, 0.044, 0.1))), fingers)[0]
    assert [widest.open_posture[joint] for joint in fingers.joints] == list(fingers.pregrasp_posture)


def test_places_and_depths_are_as_far_apart_as_configured(fingers: FingerGraspData) -> None:
    data = replace(fingers, grasp_resolution=0.01, grasp_depth_resolution=0.001)
    found = generate_grasps(Body.of(Box((0.106, 0.04, 0.1))), data)
    from_top = found.tcp_matrices[found.tcp_matrices[:, 2, 2] < -0.9]

    assert sorted(set(from_top[:, 0, 3].round(6).tolist())) == pytest.approx(np.linspace(-0.05, 0.05, 11))
    assert sorted(set(from_top[:, 2, 3].round(6).tolist())) == pytest.approx([0.044, 0.045, 0.046, 0.047])


def test_tilted_grasps_come_over_edges_and_corners_at_the_configured_angle(fingers: FingerGraspData) -> None:
    found = generate_grasps(
        Body.of(Box((0.1, 0.04, 0.1))), replace(fingers, angle_resolution=45, grasp_resolution=0.01)
    )
    tilted = [grasp for grasp in found if grasp.source in (Source.EDGE, Source.CORNER)]

    assert {grasp.source for grasp in tilted} == {Source.EDGE, Source.CORNER}
    for grasp in tilted:
        assert np.abs(grasp.tcp.matrix[:3, 2]).tolist() == pytest.approx([math.sqrt(0.5), 0.0, math.sqrt(0.5)])
    assert min(grasp.score for grasp in found if grasp.source == Source.FACE) > 0.0
    assert found[0].source == Source.FACE


@pytest.mark.parametrize(
    ('shape', 'reason', 'text', 'miss'),
    [
        (Box((0.1, 0.061, 0.2)), Reason.TOO_WIDE, 'box is 61 mm wide, gripper opens 44 mm', 0.017),
        (Box((0.02, 0.01, 0.0164)), Reason.TOO_NARROW, 'box is 20 mm wide, gripper closes to 30 mm', 0.010),
        (Sphere(0.035), Reason.TOO_WIDE, 'ball is 70 mm wide, gripper opens 44 mm', 0.026),
        (Cylinder(0.02, 0.004), Reason.TOO_THIN_FOR_FINGER, 'cylinder is 4 mm across, a finger 6 mm', 0.002),
        (Box((0.2, 0.04, 0.002)), Reason.TOO_SHALLOW, 'box is 2 mm deep there, pads need 3 mm', 0.001),
        (Cone(0.02, 0.02), Reason.SLIPS, "the cone's side leans by 45 degrees, pads hold up to 27", None),
        (Cone(0.02, 0.0), Reason.SLIPS, "the cone's side leans by 90 degrees, pads hold up to 27", None),
        (Cone(0.0, 0.05), Reason.TOO_NARROW, 'cone is 0 mm wide, gripper closes to 30 mm', 0.030),
        (Plane(), Reason.ENDLESS, 'a plane has no end to hold', None),
        (Box((0.0, 0.0, 0.0)), Reason.TOO_NARROW, 'box is 0 mm wide, gripper closes to 30 mm', 0.030),
    ],
)
def test_fingers_say_why_not(
    shape: Shape, reason: Reason, text: str, miss: float | None, fingers: FingerGraspData
) -> None:
    found = generate_grasps(Body.of(shape), fingers)
    rejection = {rejection.reason: rejection for rejection in found.rejections}[reason]

    assert rejection.detail == text
    assert rejection.count > 0
    assert rejection.miss == (None if miss is None else pytest.approx(miss))
    if not len(found):
        assert found.explain().startswith('no grasp: ')
        assert text in found.explain()


@pytest.mark.parametrize(
    ('shape', 'reason', 'text'),
    [
        (Sphere(0.1), Reason.NO_FLAT_FACE, 'sphere has no flat face for the cup of 25 x 25 mm'),
        (Box((0.02, 0.3, 0.02)), Reason.FACE_TOO_SMALL, 'flat face is 300 x 20 mm, the cup takes 25 x 25 mm'),
        (Cylinder(0.01, 0.1), Reason.FACE_TOO_SMALL, 'flat face is 20 mm across, the cup takes 25 x 25 mm'),
        (Cone(0.012, 0.1), Reason.FACE_TOO_SMALL, 'flat face is 24 mm across, the cup takes 25 x 25 mm'),
    ],
)
def test_suction_says_why_not(shape: Shape, reason: Reason, text: str, cup: SuctionGraspData) -> None:
    found = generate_grasps(Body.of(shape), cup)

    assert len(found) == 0
    assert detail(found, reason) == text


@pytest.mark.parametrize('shape', [Sphere(0.009), Capsule(0.009, 0.019), Cone(0.009, 0.05)])
def test_what_is_narrower_than_a_finger_is_not_held_across_it(shape: Shape, fingers: FingerGraspData) -> None:
    wide = replace(fingers, gripper_finger_width=0.02, min_finger_width=0.005)
    found = generate_grasps(Body.of(shape), wide)
    word = 'ball' if isinstance(shape, Sphere) else type(shape).__name__.lower()

    assert detail(found, Reason.TOO_THIN_FOR_FINGER).startswith(f'{word} is ')
    for grasp in found:  # across its length, a finger fits
        assert abs(grasp.tcp.matrix[2, 2]) < 0.9


def test_a_hand_is_raised_beside_a_cone_as_far_as_it_does_not_slip(fingers: FingerGraspData) -> None:
    found = generate_grasps(Body.of(Cone(0.02, 0.08)), fingers)

    raised = np.degrees(np.arcsin(-found.tcp_matrices[:, 2, 2])).round()
    assert {0.0, -90.0} < set(raised.tolist())
    assert 30.0 < raised.max() < 60.0
    assert found.widths.min() < 0.031  # also where the gripper just closes, away from what the cone stands on
    assert detail(found, Reason.TOO_SHALLOW) == "from the cone's tip, only the finger tips would touch it"


@pytest.mark.parametrize('corners', [[], [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.2, 0.0, 0.0]]], ids=['empty', 'line'])
def test_a_mesh_without_a_surface_has_no_grasps(
    corners: list[list[float]], fingers: FingerGraspData, cup: SuctionGraspData
) -> None:
    mesh = TriangleMesh(np.array(corners).reshape(-1, 3), np.arange(len(corners)).reshape(-1, 3))
    for data in (fingers, cup):
        found = generate_grasps(Body.of(mesh), data, hint=hint_at(Pose()))
        assert (len(found), detail(found, Reason.NO_SHAPE)) == (0, 'a mesh of the object has no surface')
        assert len(generate_grasps(Body((Part(mesh), GREEN_BOX.parts[0])), data)) == len(
            generate_grasps(GREEN_BOX, data)
        )


@pytest.mark.parametrize('divisions', [3, 4, 6])
def test_a_mesh_is_seen_the_same_however_fine_it_is(divisions: int, fingers: FingerGraspData) -> None:
    mesh = TriangleMesh.of(trimesh.creation.icosphere(subdivisions=divisions, radius=0.02))
    seen = surface.surface_of((Part(mesh),))
    assert len(seen.points) < 2 * surface.MOST_POINTS
    assert seen.spacing < 0.002
    assert np.linalg.norm(seen.points, axis=1) == pytest.approx(0.02, abs=2e-4)

    found = generate_grasps(Body.of(mesh), fingers)

    assert found[0].width == pytest.approx(0.04, abs=3e-4)
    assert 'no two opposite sides' in detail(found, Reason.SLIPS)


def test_a_cup_goes_to_the_same_places_of_a_finer_mesh(cup: SuctionGraspData) -> None:
    coarse = trimesh.creation.box((0.1, 0.06, 0.02))
    coarse, fine = (TriangleMesh.of(mesh) for mesh in (coarse, coarse.subdivide_to_size(0.003)))

    ways = [generate_grasps(Body.of(mesh), cup).tcp_matrices[:, :3, 2:].round(6) + 0.0 for mesh in (coarse, fine)]

    one, two = (sorted(way.reshape(len(way), -1).tolist()) for way in ways)
    assert len(one) > 10
    np.testing.assert_allclose(one, two, atol=2e-6)


def test_a_cup_is_not_put_over_a_hole(cup: SuctionGraspData) -> None:
    ring = Body.of(TriangleMesh.of(trimesh.creation.annulus(0.02, 0.06, 0.02, sections=64)))

    found = generate_grasps(ring, cup)

    assert len(found)
    away = np.hypot(found.tcp_matrices[:, 0, 3], found.tcp_matrices[:, 1, 3])
    assert away.min() >= 0.02 + 0.0125 - 2e-4
    assert away.max() <= 0.06 - 0.0125 + 2e-4


def test_a_cup_goes_on_each_face_that_is_large_enough(cup: SuctionGraspData) -> None:
    found = generate_grasps(Body.of(Box((0.08, 0.04, 0.0164))), cup)

    assert {tuple(tcp[:3, 2].round(6) + 0.0) for tcp in found.tcp_matrices} == {(0, 0, 1), (0, 0, -1)}
    for grasp in found:
        assert abs(grasp.tcp.position[2]) == pytest.approx(0.0082 - 0.004)
        assert abs(grasp.tcp.position[0]) <= 0.04 - 0.0125 + 1e-9
        assert abs(grasp.tcp.position[1]) <= 0.02 - 0.0125 + 1e-9
        assert (grasp.width, grasp.posture, grasp.source) == (None, {}, Source.SUCTION)
    assert np.isnan(found.widths).all()


def test_an_area_of_several_cups_needs_its_corners_on_the_face(cup: SuctionGraspData) -> None:
    several = replace(cup, suction_rows_count=2, suction_cols_count=2)
    disc = Body.of(Cylinder(0.014, 0.05))

    assert len(generate_grasps(disc, cup))
    assert len(generate_grasps(disc, several)) == 0


def test_an_object_without_a_shape_has_no_grasps(fingers: FingerGraspData, cup: SuctionGraspData) -> None:
    for data in (fingers, cup):
        found = generate_grasps(Body(()), data)
        assert (len(found), found.grasps, found.tcp_matrices.shape) == (0, (), (0, 4, 4))
        assert detail(found, Reason.NO_SHAPE) == 'the object has no shape'


def test_the_finest_resolutions_end(fingers: FingerGraspData, cup: SuctionGraspData) -> None:
    fine = {'grasp_resolution': 1e-9, 'angle_resolution': 1, 'grasp_depth_resolution': 1e-9}
    for shape in (
        Box((0.3, 0.04, 0.3)),
        Sphere(0.02),
        Cylinder(0.02, 1.0),
        TriangleMesh.of(trimesh.creation.box((0.3, 0.04, 0.3))),
    ):
        for data in (fingers, cup):
            found = generate_grasps(Body.of(shape), replace(data, **fine))
            assert len(found) <= generate.MOST_GRASPS


def test_arrays_and_values_are_the_same_grasps_best_first(fingers: FingerGraspData) -> None:
    found = generate_grasps(Body.of(Box((0.2, 0.04, 0.1))), fingers)

    assert len(found) == len(found.grasps) == len(found.tcp_matrices)
    for index, grasp in enumerate(found):
        np.testing.assert_allclose(grasp.tcp.matrix, found.tcp_matrices[index], atol=1e-12)
        assert (grasp.width, grasp.score) == (found.widths[index], found.scores[index])
        assert grasp == found[index]
    assert (np.diff(found.scores) <= 0.0).all()
    assert found[-1] == found.grasps[-1]
    assert found[0].reason == 'straight at a face, 0 mm beside the centre of mass, 6 mm deep, fingers 40 mm apart'
    with pytest.raises(IndexError):
        found[len(found)]


def test_grasps_near_the_centre_of_mass_come_first(fingers: FingerGraspData) -> None:
    heavy_end = Part(Box((0.1, 0.1, 0.1)), Pose((0.25, 0.0, 0.0)))
    found = generate_grasps(Body((Part(Box((0.4, 0.036, 0.036))), heavy_end)), fingers)

    places = found.tcp_matrices[:, 0, 3]
    from_above = found.tcp_matrices[:, 2, 2] < -0.9
    assert places[from_above][0] == places[from_above].max()


def test_the_same_seed_gives_the_same_grasps_of_a_mesh(fingers: FingerGraspData) -> None:
    body = Body.of(TriangleMesh.of(trimesh.creation.icosphere(subdivisions=3, radius=0.02)))

    def fresh(seed: int) -> npt.NDArray[np.float64]:
        generate._all.cache_clear()
        return generate_grasps(body, fingers, seed=seed).tcp_matrices

    np.testing.assert_array_equal(fresh(7), fresh(7))
    assert not np.array_equal(fresh(7), fresh(8))


def test_the_same_question_is_answered_from_memory_whatever_it_is_called(fingers: FingerGraspData) -> None:
    body = Body((Part(Box((0.04, 0.05, 0.06))),), tags=('a',))

    assert generate_grasps(body, fingers) is generate_grasps(replace(body, tags=('b',), movable=True), fingers)


def test_a_mesh_file_that_changes_is_read_again(tmp_path: Path, fingers: FingerGraspData) -> None:
    file = tmp_path / 'thing.stl'
    body = Body.of(MeshFile(file))
    with pytest.raises(MeshError):
        generate_grasps(body, fingers)
    trimesh.creation.box((0.04, 0.08, 0.08)).export(file)
    assert generate_grasps(body, fingers)[0].width == pytest.approx(0.04, abs=1e-6)
    trimesh.creation.box((0.0345, 0.0845, 0.0845)).apply_translation((1.0, 0.0, 0.0)).export(file)
    assert generate_grasps(body, fingers)[0].width == pytest.approx(0.0345, abs=1e-6)


def test_parts_are_held_where_they_are(fingers: FingerGraspData) -> None:
    place = Pose((1.0, 2.0, 3.0), (0.5, 0.5, 0.5, 0.5))
    alone = generate_grasps(GREEN_BOX, fingers)
    moved = generate_grasps(Body((Part(GREEN_BOX.parts[0].shape, place),)), fingers)

    np.testing.assert_allclose(moved.tcp_matrices, place.matrix @ alone.tcp_matrices, atol=1e-12)


class TestHint:
    """What was shown is tried first."""

    def test_a_feasible_hand_is_kept_as_it_is(self, fingers: FingerGraspData) -> None:
        # From above, 9 mm beside the middle: between the places of the configured resolution.
        shown = Pose((0.009, 0.0, 0.0145), (1.0, 0.0, 0.0, 0.0))

        found = generate_grasps(GREEN_BOX, fingers, hint=hint_at(shown))

        np.testing.assert_allclose(found[0].tcp.matrix, shown.matrix, atol=1e-9)
        assert found[0].source == Source.HINT
        assert found[0].reason.startswith('as it was shown, ')
        np.testing.assert_allclose(found[1].tcp.matrix, shown.matrix @ np.diag([-1.0, -1.0, 1.0, 1.0]), atol=1e-9)
        assert found[1].reason.startswith('as it was shown, fingers swapped')
        assert found[0].width == pytest.approx(0.036, abs=1e-6)
        assert (np.diff(found.scores) <= 0.0).all()

    @pytest.mark.parametrize('seed', range(20))
    def test_a_hand_that_is_slightly_off_is_moved_to_a_grasp(self, seed: int, fingers: FingerGraspData) -> None:
        random = np.random.default_rng([20261116, seed])
        axis = random.normal(size=3)
        x, y, z = (axis / np.linalg.norm(axis)).tolist()
        px, py, pz = random.uniform(-0.006, 0.006, 3).tolist()
        good = generate_grasps(GREEN_BOX, fingers)[seed % 8].tcp
        shown = good @ Pose((px, py, pz)) @ turn((x, y, z), random.uniform(0.0, 10.0))

        found = generate_grasps(GREEN_BOX, fingers, hint=hint_at(shown))

        assert found[0].source == Source.HINT
        assert found[0].reason.startswith('as it was shown')
        moved = np.linalg.inv(shown.matrix) @ found[0].tcp.matrix
        assert np.linalg.norm(moved[:3, 3]) < 0.0125
        assert math.acos(min(1.0, 0.5 * (np.trace(moved[:3, :3]) - 1.0))) < math.radians(10.5)
        closing = np.abs(found[0].tcp.matrix[:3, 1])
        assert closing.max() == pytest.approx(1.0, abs=1e-6)

    def test_a_tilted_hand_stays_tilted(self, fingers: FingerGraspData) -> None:
        shown = Pose((0.0, 0.0, 0.014), (1.0, 0.0, 0.0, 0.0)) @ turn((0.0, 1.0, 0.0), 15.0)

        found = generate_grasps(GREEN_BOX, fingers, hint=hint_at(shown))

        np.testing.assert_allclose(found[0].tcp.matrix[:3, :3], shown.matrix[:3, :3], atol=1e-6)

    def test_a_hand_that_is_far_off_is_told_and_the_rest_is_there(self, fingers: FingerGraspData) -> None:
        shown = Pose((0.0, 0.3, 0.0))

        found = generate_grasps(GREEN_BOX, fingers, hint=hint_at(shown))

        assert len(found) == len(generate_grasps(GREEN_BOX, fingers))
        assert 'from the nearest grasp' in detail(found, Reason.HINT_TOO_FAR)
        assert Source.HINT not in {grasp.source for grasp in found}

    def test_grasps_from_the_side_that_was_shown_come_before_others(self, fingers: FingerGraspData) -> None:
        shown = Pose((0.0, -0.012, 0.0)) @ turn((1.0, 0.0, 0.0), -90.0)  # from -y, closing along z

        found = generate_grasps(GREEN_BOX, fingers, hint=hint_at(shown))

        assert found[0].source == Source.HINT
        np.testing.assert_allclose(found.tcp_matrices[:2, :3, 2], [[0.0, 1.0, 0.0]] * 2, atol=1e-9)

    def test_how_far_the_fingers_were_apart_decides_between_two_sides(self, fingers: FingerGraspData) -> None:
        between = Pose((0.0, 0.0, 0.0145), (1.0, 0.0, 0.0, 0.0)) @ turn((0.0, 0.0, 1.0), 45.0)
        box = Body.of(Box((0.03, 0.04, 0.06)))

        for width in (0.03, 0.04):
            hint = replace(hint_at(between), width=width)
            found = generate_grasps(box, fingers, hint=hint)
            rest = [grasp.width for grasp in found if grasp.source != Source.HINT]
            assert rest[0] == pytest.approx(width, abs=1e-6)

    def test_a_round_body_and_a_mesh_take_hints_too(self, fingers: FingerGraspData) -> None:
        can = Cylinder(0.02, 0.1)
        for body in (Body.of(can), Body.of(TriangleMesh.of(trimesh.creation.cylinder(0.02, 0.1, sections=64)))):
            shown = Pose((0.0, 0.002, 0.03)) @ turn((1.0, 0.0, 0.0), 97.0) @ turn((0.0, 0.0, 1.0), 90.0)
            found = generate_grasps(body, fingers, hint=hint_at(shown))
            assert found[0].source == Source.HINT
            assert found[0].tcp.position[2] == pytest.approx(0.03, abs=0.003)
            assert found[0].width == pytest.approx(0.04, abs=0.0005)

    def test_a_cup_goes_to_the_nearest_place(self, cup: SuctionGraspData) -> None:
        body = Body.of(Box((0.2, 0.1, 0.05)))
        shown = Pose((0.052, 0.021, 0.03), (1.0, 0.0, 0.0, 0.0))

        found = generate_grasps(body, cup, hint=hint_at(shown))

        assert found[0].source == Source.HINT
        assert found[0].tcp.position == pytest.approx((0.05, 0.02, 0.021), abs=0.004)

    def test_no_grasp_stays_no_grasp(self, fingers: FingerGraspData) -> None:
        found = generate_grasps(Body.of(Sphere(0.1)), fingers, hint=hint_at(Pose()))

        assert len(found) == 0
        assert detail(found, Reason.TOO_WIDE) == 'ball is 200 mm wide, gripper opens 44 mm'


def test_after_warming_up_nothing_is_left_to_compile(fingers: FingerGraspData, cup: SuctionGraspData) -> None:
    warm_up()
    loops = [probe._probe, probe._thickness, probe._protrusion]
    compiled = [list(loop.signatures) for loop in loops]

    mesh = Body.of(TriangleMesh.of(trimesh.creation.box((0.041, 0.08, 0.08))))
    for data in (fingers, cup):
        generate_grasps(mesh, data)
        generate_grasps(replace(mesh, parts=(*mesh.parts, Part(Box((0.03, 0.01, 0.2))))), data, hint=hint_at(Pose()))

    assert [list(loop.signatures) for loop in loops] == compiled
    assert all(len(signatures) == 1 for signatures in compiled)
