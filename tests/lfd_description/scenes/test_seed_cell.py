"""The cell of the recorded demonstration: its boxes fit the recorded stack, the gripper and all arms."""

import re
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from eaik.IK_HP import HPRobot
from scipy.spatial.transform import Rotation

from lfd_description.grasp_data import FingerGraspData
from lfd_description.grippers import find_gripper
from lfd_description.kinematics import Chain
from lfd_description.robots import find_robot, robot_description, robot_names
from lfd_description.scenes import Scene, SceneObject, find_scene
from lfd_description.shapes import Box
from lfd_description.urdf import parse_urdf

# The demonstration as it was published: position and orientation (x, y, z, w) in the axes of Unity (x right, y up,
# z forward). The exponents of blue's orientation, which the print lost, are put back.
RECORDED = {
    'blue_box': ((0.534, 0.0237, 0.321), (1.4756e-05, -0.2618, -6.0335e-05, 0.9651)),
    'yellow_box': ((0.5332, 0.069, 0.3241), (0.0007, 0.5797, -0.0007, 0.8149)),
    'red_box': ((0.5345, 0.0988, 0.3279), (0.0005, 0.9934, 0.0004, 0.1143)),
    'green_box': ((0.5360, 0.1329, 0.3290), (-0.651, -0.275, -0.2767, 0.6511)),
}
ORDER = tuple(RECORDED)
DEPTH = 0.004  # [m], how far the finger tips reach over the edge of a box
BACK, UP = 0.05, 0.01  # [m], approach or retreat, and lift

each_box = pytest.mark.parametrize('name', ORDER)
each_robot = pytest.mark.parametrize('robot', robot_names())


@pytest.fixture
def cell() -> Scene:
    return find_scene('seed_cell')


@pytest.fixture
def origin(checkout: Path) -> np.ndarray:
    """The task origin that the file recommends, 4x4, base_link -> task."""
    text = (checkout / 'lfd_description' / 'scenes' / 'seed_cell.yaml').read_text()
    match = re.search(r'--origin ([-\d. ]+)\)', text)
    assert match
    x, y, z, roll, pitch, yaw = map(float, match[1].split())
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_euler('ZYX', [yaw, pitch, roll]).as_matrix()
    pose[:3, 3] = x, y, z
    return pose


def recorded(name: str) -> np.ndarray:
    """Where the box was put, 4x4, task -> box, in ROS's axes."""
    (right, up, forward), (x, y, z, w) = RECORDED[name]
    pose = np.eye(4)
    pose[:3, :3] = Rotation.from_quat([z, -x, y, -w]).as_matrix()
    pose[:3, 3] = forward, -right, up
    return pose


def size(box: SceneObject) -> np.ndarray:
    assert isinstance(box.shape, Box)
    return np.array(box.shape.size)


def half_height(box: SceneObject, pose: np.ndarray) -> float:
    """Half the vertical extent [m] of a box whose edges are level or upright, give or take a recorded wobble."""
    upright = int(np.argmax(np.abs(pose[2, :3])))
    assert abs(pose[2, upright]) > 0.9999
    return float(size(box)[upright]) / 2


def footprint(box: SceneObject, pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two level edges of a box as directions (2, 2), and their half lengths (2,) [m]."""
    level = [axis for axis in range(3) if abs(pose[2, axis]) < 0.5]
    return pose[:2, level].T, size(box)[level] / 2


def test_heights_add_up_to_the_recorded_stack(cell: Scene):
    top = 0.0
    for name in ORDER:
        pose, box = recorded(name), cell.object[name]
        assert pose[2, 3] - half_height(box, pose) == pytest.approx(top, abs=0.5e-3)
        top = pose[2, 3] + half_height(box, pose)


def test_green_is_tipped_and_the_others_are_not(cell: Scene):
    for name in ORDER:
        start = cell.object[name].pose
        tip = np.degrees(np.arccos(np.clip(start[:3, 2] @ recorded(name)[:3, 2], -1.0, 1.0)))
        assert tip == pytest.approx(90.0 if name == 'green_box' else 0.0, abs=0.2)


def test_stack_is_steady(cell: Scene):
    """The centre of mass of all that is above each joint is well inside both faces that meet there."""
    for below, above in pairwise(ORDER):
        upper = ORDER[ORDER.index(above) :]
        masses = np.array([size(cell.object[name]).prod() for name in upper])
        centre = masses @ np.array([recorded(name)[:2, 3] for name in upper]) / masses.sum()
        for name in (below, above):
            edges, half = footprint(cell.object[name], recorded(name))
            margin = half - np.abs(edges @ (centre - recorded(name)[:2, 3]))
            assert margin.min() > 0.010


@each_box
def test_gripper_holds_the_same_faces_at_pick_and_place(name: str, cell: Scene):
    grasp = find_gripper('two_finger').grasp_data
    assert isinstance(grasp, FingerGraspData)
    box = cell.object[name]
    held = [
        axis
        for axis in range(3)
        if grasp.min_finger_width <= size(box)[axis] <= grasp.max_grasp_width
        and abs(box.pose[2, axis]) < 0.01
        and abs(recorded(name)[2, axis]) < 0.01
    ]
    assert held


@each_box
def test_box_stands_on_the_template_and_inside_its_border(name: str, cell: Scene):
    template, box = cell.object['template'], cell.object[name]
    assert box.position[2] - size(box)[2] / 2 == pytest.approx(template.position[2] + size(template)[2] / 2, abs=1e-9)
    room = size(template)[:2] / 2 - np.abs(np.subtract(box.position, template.position)[:2])
    assert (room > size(box)[:2] / 2).all()


def test_template_is_a4_and_lies_on_the_table(cell: Scene):
    template, table = cell.object['template'], cell.object['table']
    assert size(template)[:2] == pytest.approx((0.210, 0.297))
    assert template.position[2] - size(template)[2] / 2 == pytest.approx(table.position[2] + size(table)[2] / 2)


def test_stack_goes_on_the_template_beside_the_boxes(
    cell: Scene, origin: np.ndarray, overlaps: Callable[[Scene], list[tuple[str, str]]]
):
    template = cell.object['template']
    level = template.position[2] + size(template)[2] / 2
    for name in ORDER:
        pose, box = origin @ recorded(name), cell.object[name]
        edges, half = footprint(box, pose)
        reach = np.abs(edges).T @ half
        assert (np.abs(pose[:2, 3] - template.position[:2]) + reach < size(template)[:2] / 2).all()
        stacked = SceneObject('stacked', box.shape, tuple(pose[:3, 3] + (0, 0, 1e-3)), _quaternion(pose))
        assert overlaps(Scene('base_link', (*cell.objects, stacked))) == []
    assert (origin @ recorded('blue_box'))[2, 3] - half_height(cell.object['blue_box'], recorded('blue_box')) == (
        pytest.approx(level, abs=1e-6)
    )


def _quaternion(pose: np.ndarray) -> tuple[float, float, float, float]:
    x, y, z, w = Rotation.from_matrix(pose[:3, :3]).as_quat()
    return x, y, z, w


class Arm:
    """An arm's inverse kinematics by a library that knows nothing of ours but the joint axes."""

    def __init__(self, name: str) -> None:
        tree = parse_urdf(robot_description(find_robot(name)))
        self.chain = Chain(tree, 'base_link', 'tool0')
        joints = [tree.joint[joint] for joint in self.chain.joints]
        limits = [joint.limits for joint in joints if joint.limits is not None]
        self.lower, self.upper = (np.array([getattr(limit, end) for limit in limits]) for end in ('lower', 'upper'))
        frames = self.chain.link_poses(np.zeros((1, len(joints))))[0]
        axes = np.array([frame[:3, :3] @ joint.axis for frame, joint in zip(frames, joints, strict=False)])
        self.turn = frames[-1][:3, :3]
        self.solver = HPRobot(axes, np.diff(np.vstack([np.zeros(3), frames[:, :3, 3]]), axis=0))

    def reaches(self, pose: np.ndarray, above: float) -> bool:
        """Whether some joint positions within the limits put tool0 at a pose with all joints `above` a height [m]."""
        target = pose.copy()
        target[:3, :3] = pose[:3, :3] @ self.turn.T
        q = np.array(self.solver.IK(target).Q).reshape(-1, len(self.lower))
        q = np.where(q < self.lower, q + 2 * np.pi, np.where(q > self.upper, q - 2 * np.pi, q))
        q = q[((q >= self.lower) & (q <= self.upper)).all(axis=1)]
        frames = self.chain.link_poses(q)
        there = np.abs(frames[:, -1] - pose).max(axis=(1, 2), initial=0.0) < 1e-5
        return bool((there & (frames[:, :, 2, 3].min(axis=1, initial=np.inf) > above)).any())


@lru_cache
def arm(name: str) -> Arm:
    return Arm(name)


def flange_poses(box: SceneObject, pose: np.ndarray, tcp: float) -> list[np.ndarray]:
    """Where tool0 is when the box is held by its y faces from its upper side, and before and after."""
    grasp = np.eye(4)
    grasp[:3, :3] = np.array([[1, 0, 0], [0, -1, 0], [0, 0, -1]])
    grasp[2, 3] = size(box)[2] / 2 - DEPTH + tcp
    held = pose @ grasp
    back, up = np.eye(4), np.eye(4)
    back[2, 3], up[2, 3] = -BACK, UP
    return [held, held @ back, up @ held]


@each_robot
@each_box
def test_arm_reaches_pick_and_place_with_one_grasp(robot: str, name: str, cell: Scene, origin: np.ndarray):
    box = cell.object[name]
    tcp = find_gripper('two_finger').tcp[2]
    flipped = np.diag([-1.0, -1.0, 1.0, 1.0])
    poses = [*flange_poses(box, box.pose, tcp), *flange_poses(box, origin @ recorded(name), tcp)]
    clear = cell.object['template'].position[2] + 0.05
    assert any(all(arm(robot).reaches(pose @ turn, clear) for pose in poses) for turn in (np.eye(4), flipped))


@each_robot
def test_boxes_and_stack_are_clear_of_the_base_and_within_reach(robot: str, cell: Scene, origin: np.ndarray):
    places = [np.array(cell.object[name].position) for name in ORDER]
    places += [(origin @ recorded(name))[:3, 3] for name in ORDER]
    distances = np.linalg.norm(np.array(places)[:, :2], axis=1)
    assert distances.min() > 0.28 + 0.05  # the widest base ends at 0.28 m
    assert distances.max() < find_robot(robot).reach
