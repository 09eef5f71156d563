"""The collision matrix against pinocchio, which nobody here wrote, and against arms whose answer is plain to see."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import coal
import numpy as np
import pinocchio
import pytest
import trimesh
from ament_index_python.packages import get_package_share_directory
from scipy.spatial import cKDTree
from support.urdfs import ball, joint, link, robot, serial_arm

from lfd_description.bodies import collision_bodies, visual_bodies
from lfd_description.grippers import find_gripper, gripper_names
from lfd_description.meshes import shape_mesh
from lfd_description.model.builder import build_model, matrix_file, matrix_inputs, mesh_finder
from lfd_description.model.collision_matrix import (
    CollisionMatrix,
    Reason,
    least_contact_position,
    sample_collision_matrix,
)
from lfd_description.model.collision_matrix_file import matrix_text, read_matrix
from lfd_description.model.model import RobotModel
from lfd_description.robots import find_robot, robot_names
from lfd_description.urdf import parse_urdf

SAMPLES = 1000
SEED = 20261116  # other configurations than the builder's


def matrix_of(xml: str, home: dict[str, float] | None = None, **options: int) -> CollisionMatrix:
    return sample_collision_matrix(parse_urdf(xml), collision_bodies(xml), home or {}, **options)


def reasons(matrix: CollisionMatrix) -> dict[tuple[str, str], Reason | None]:
    return {(pair.link1, pair.link2): pair.reason for pair in matrix.pairs}


def test_neighbours_are_adjacent_also_across_a_link_without_a_body() -> None:
    xml = robot(
        link('a', ball(0.12)),
        link('b'),
        link('c', ball()),
        link('d', ball(0.12)),
        joint('j', 'a', 'b', kind='fixed', xyz='0 0 0'),
        joint('k', 'b', 'c', xyz='0 0 0.2'),
        joint('l', 'c', 'd', xyz='0 0 0.2'),
    )

    found = reasons(matrix_of(xml))
    assert found[('a', 'c')] is Reason.ADJACENT
    assert found[('c', 'd')] is Reason.ADJACENT
    assert found[('a', 'd')] is None  # folded by 2 rad, the last ball reaches the first


def test_links_that_two_joints_move_are_no_neighbours() -> None:
    xml = serial_arm(3, tip='pen').replace('<link name="base_link"></link>', link('base_link', ball()))
    xml = xml.replace('<link name="link_3"></link>', link('link_3', ball()))

    assert reasons(matrix_of(xml)) == {('base_link', 'link_3'): None}


@pytest.mark.parametrize(
    ('reach', 'reason'),
    [(0.30, Reason.NEVER), (0.05, Reason.ALWAYS)],
)
def test_links_that_never_or_always_touch(reach: float, reason: Reason) -> None:
    """Two balls at the ends of two levers whose joint turns by 2 rad at most."""
    xml = robot(
        link('a', ball()),
        link('b', ball(0.01)),
        link('c', ball()),
        joint('j', 'a', 'b', xyz='0 0 0.3' if reason is Reason.NEVER else '0 0 0.02'),
        joint('k', 'b', 'c', xyz=f'0 0 {reach if reason is Reason.NEVER else 0.02}'),
    ).replace('lower="-2" upper="2"', 'lower="-0.5" upper="0.5"')

    matrix = matrix_of(xml)
    (pair,) = (pair for pair in matrix.pairs if (pair.link1, pair.link2) == ('a', 'c'))
    assert pair.reason is reason
    assert pair.collisions == (0 if reason is Reason.NEVER else pair.samples)
    assert pair.samples > 100


def test_a_contact_that_samples_miss_is_found_by_going_towards_it() -> None:
    """A thin pin at the end of four links meets a thin pin on the base in a corner of the joints' ranges only."""
    pin = '<collision><geometry><cylinder radius="0.002" length="0.02"/></geometry></collision>'
    xml = serial_arm(4, tip='pen').replace('<link name="base_link"></link>', link('base_link', pin))
    xml = xml.replace('<link name="link_4"></link>', link('link_4', pin))

    matrix = matrix_of(xml)
    assert reasons(matrix)[('base_link', 'link_4')] is None


def test_what_touches_at_home_is_let_pass() -> None:
    xml = serial_arm(3, body=ball())
    home = {'joint_1': 2.0, 'joint_2': 2.0}

    assert reasons(matrix_of(xml))[('base_link', 'link_3')] is None
    assert reasons(matrix_of(xml, home))[('base_link', 'link_3')] is Reason.DEFAULT


def test_links_without_a_joint_between_them_are_looked_at_once() -> None:
    xml = robot(
        link('a'),
        link('b', ball()),
        link('c', ball()),
        link('d', ball()),
        joint('j', 'a', 'b', kind='fixed', xyz='0 0 0'),
        joint('k', 'a', 'c', kind='fixed', xyz='0 0 0.05'),
        joint('l', 'a', 'd', kind='fixed', xyz='0 0 0.5'),
    )

    found = {(pair.link1, pair.link2): pair for pair in matrix_of(xml).pairs}
    assert (found[('b', 'c')].reason, found[('b', 'c')].samples) == (Reason.ALWAYS, 1)
    assert (found[('b', 'd')].reason, found[('b', 'd')].samples) == (Reason.NEVER, 1)


def test_the_same_seed_gives_the_same_matrix() -> None:
    xml = serial_arm(4, body=ball(0.1))

    assert matrix_of(xml, samples=500) == matrix_of(xml, samples=500)


def test_the_position_with_the_fewest_contacts() -> None:
    xml = serial_arm(3, body=ball(0.12))
    candidates = [{'joint_1': 1.9, 'joint_2': 1.9}, {}, {'joint_1': 0.1}]

    number, contacts = least_contact_position(
        parse_urdf(xml), collision_bodies(xml), ('joint_1', 'joint_2', 'joint_3'), candidates
    )
    assert (number, contacts) == (1, 0)


def test_a_matrix_is_kept_in_a_file_until_the_robot_changes(tmp_path) -> None:
    given = matrix_inputs(find_robot('ur5e'), None)
    digest = given.digest()
    matrix = sample_collision_matrix(given.tree, given.bodies, given.home, visuals=given.visuals, samples=200)
    file = tmp_path / 'matrix.yaml'
    file.write_text(matrix_text(matrix, digest, 'UR5e'))

    assert read_matrix(file, digest) == matrix
    assert read_matrix(file, replace(given, bodies=given.bodies[1:]).digest()) is None
    assert read_matrix(file, replace(given, home={**given.home, 'elbow_joint': 0.5}).digest()) is None
    file.write_text(file.read_text()[:-30])
    assert read_matrix(file, digest) is None
    assert read_matrix(tmp_path / 'none.yaml', digest) is None


class Peer:
    """The model as pinocchio sees it: which links collide in a configuration."""

    def __init__(self, model: RobotModel) -> None:
        self.model = pinocchio.buildModelFromXML(model.urdf, mimic=True)
        self.geometry = pinocchio.buildGeomFromUrdfString(
            self.model,
            model.urdf,
            pinocchio.GeometryType.COLLISION,
            package_dirs=[str(get_package_share_directory('lfd_description')) + '/..'],
        )
        objects = self.geometry.geometryObjects
        self.link = [self.model.frames[item.parentFrame].name for item in objects]
        for i, j in combinations(range(len(objects)), 2):
            if self.link[i] != self.link[j]:
                self.geometry.addCollisionPair(pinocchio.CollisionPair(i, j))
        self.data = self.model.createData()
        self.collision_data = self.geometry.createData()
        for request in self.collision_data.collisionRequests:
            request.gjk_initial_guess = coal.GJKInitialGuess.DefaultGuess  # a cached guess misses collisions

    def counts(self, samples: int) -> dict[frozenset[str], int]:
        """In how many of some random configurations each pair of links collides."""
        random = np.random.default_rng(SEED)
        low, high = self.model.lowerPositionLimit, self.model.upperPositionLimit
        counts: dict[frozenset[str], int] = {}
        for _ in range(samples):
            q = random.uniform(low, high)
            pinocchio.computeCollisions(self.model, self.data, self.geometry, self.collision_data, q, False)
            hit = {
                frozenset((self.link[pair.first], self.link[pair.second]))
                for pair, result in zip(self.geometry.collisionPairs, self.collision_data.collisionResults, strict=True)
                if result.isCollision()
            }
            for pair in hit:
                counts[pair] = counts.get(pair, 0) + 1
        return counts


@pytest.mark.parametrize('gripper', [None, *gripper_names()])
@pytest.mark.parametrize('name', robot_names())
def test_pinocchio_agrees(name: str, gripper: str | None) -> None:
    robot = find_robot(name)
    if gripper and robot.own_gripper:
        gripper = None
    model = build_model(robot, gripper=find_gripper(gripper) if gripper else None)

    counts = Peer(model).counts(SAMPLES)
    for pair in model.collision_matrix.pairs:
        if pair.by_visual:
            continue  # see the next test
        hits = counts.get(frozenset((pair.link1, pair.link2)), 0)
        if pair.reason is Reason.NEVER:
            assert hits == 0, pair
        if pair.reason is Reason.ALWAYS:
            assert hits == SAMPLES, pair


@pytest.mark.parametrize('name', robot_names())
def test_links_that_never_touch_by_their_visuals_are_apart(name: str) -> None:
    """The distance between points all over the two links' surfaces; pinocchio says where the links are.

    Its own reader of COLLADA mixes up files of several colours, so that it cannot be asked for the collisions.
    """
    model = build_model(find_robot(name))
    points = {
        body.link: trimesh.sample.sample_surface(shape_mesh(body.shape), 4000, seed=SEED)[0]
        for body in visual_bodies(model.urdf, mesh_finder(model.robot))
    }
    peer = pinocchio.buildModelFromXML(model.urdf)
    data = peer.createData()
    random = np.random.default_rng(SEED)
    for pair in (pair for pair in model.collision_matrix.pairs if pair.by_visual):
        for _ in range(60):
            q = random.uniform(peer.lowerPositionLimit, peer.upperPositionLimit)
            pinocchio.framesForwardKinematics(peer, data, q)
            one, other = (
                points[link] @ pose.rotation.T + pose.translation
                for link in (pair.link1, pair.link2)
                for pose in [data.oMf[peer.getFrameId(link, pinocchio.FrameType.BODY)]]
            )
            assert cKDTree(one).query(other)[0].min() > 0.003, pair


@pytest.mark.parametrize('gripper', [None, *gripper_names()])
@pytest.mark.parametrize('name', robot_names())
def test_the_matrix_in_the_folder_is_of_this_very_robot(name: str, gripper: str | None) -> None:
    """If not: ./lfd robots build."""
    robot = find_robot(name)
    if gripper and robot.own_gripper:
        return
    found = find_gripper(gripper) if gripper else None

    assert read_matrix(matrix_file(robot, found), matrix_inputs(robot, found).digest()) is not None
