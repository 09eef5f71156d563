"""Frames by name: the scene's own, links, objects, subframes of objects, fixed ones; and where a robot's links are."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

import numpy as np

from lfd_description.kinematics import Tree
from lfd_description.urdf import RobotTree
from lfd_planner.pose import IDENTITY, Pose

from .faults import Code, SceneFault, names, quoted
from .objects import Body
from .planning_scene import LinkPoses, PlanningScene, link_pose

MAX_FRAME = 2001
"""Characters of a frame's name: an id and a subframe of 1000 each, with a slash between."""


class RobotFrames:
    """A robot as a scene sees it: which links and joints it has, and where its links are in the scene's frame.

    `frame` is the scene's frame. If that is a link, the robot hangs from it; any other name means the root link.
    """

    def __init__(self, tree: RobotTree, frame: str) -> None:
        self.name = tree.name
        self.links = frozenset(tree.links)
        self.joints = frozenset(joint.name for joint in tree.joints if joint.moves)
        self._tree = Tree(tree)
        self._frame = frame if frame in self.links and frame != tree.root else None

    def link_poses(self, positions: Mapping[str, float]) -> LinkPoses:
        """The 4x4 transforms scene frame -> link [m], by link, for joint positions by name [rad or m]."""
        poses = self._tree.poses_at(positions)
        if self._frame is None:
            return poses
        to_frame = np.linalg.inv(poses[self._frame])
        return {link: to_frame @ pose for link, pose in poses.items()}


def frame_pose(scene: PlanningScene, frame: str, link_poses: LinkPoses) -> Pose:
    """The pose of a known frame in the scene's frame; a slash before its name is not counted.

    Raises:
        SceneFault: the frame is not known.
    """
    name = frame.removeprefix('/')
    if name == scene.frame:
        return IDENTITY
    if name in link_poses:
        return link_pose(name, link_poses)
    found = _object_pose(scene, name, link_poses)
    if found is not None:
        return found
    # An id may hold slashes itself, so that every one of them may be where the subframe begins.
    for slash in re.finditer('/', name if len(name) <= MAX_FRAME else ''):
        body, pose = _object(scene, name[: slash.start()], link_poses)
        if body is not None and name[slash.end() :] in body.subframe:
            return pose @ body.subframe[name[slash.end() :]]
    if name in scene.fixed_frames:
        return scene.fixed_frames[name]
    raise SceneFault(
        Code.FRAME_TRANSFORM_FAILURE,
        f'The frame {quoted(frame)} is not known; use {quoted(scene.frame)}, a link ({names(link_poses)}), an object, '
        f"or a subframe as 'object/subframe'.",
    )


def anchor(scene: PlanningScene, name: str, links: Collection[str]) -> tuple[str, Pose]:
    """The link that carries what is named, a link itself or something attached, and where that is in the link's frame.

    Raises:
        SceneFault: it is neither a link nor attached to one.
    """
    if name in links:
        return name, IDENTITY
    for id, held in scene.attached.items():
        if name == id:
            return held.link, held.pose
        subframe = name.removeprefix(f'{id}/')
        if subframe != name and subframe in held.body.subframe:
            return held.link, held.pose @ held.body.subframe[subframe]
    raise SceneFault(
        Code.INVALID_LINK_NAME,
        f'{quoted(name)} is neither a link nor attached to one; the links are {names(sorted(links), 100)}.',
    )


def _object(scene: PlanningScene, id: str, link_poses: LinkPoses) -> tuple[Body | None, Pose]:
    if id in scene.attached:
        held = scene.attached[id]
        return held.body, link_pose(held.link, link_poses) @ held.pose
    if id in scene.objects:
        return scene.objects[id].body, scene.objects[id].pose
    return None, IDENTITY


def _object_pose(scene: PlanningScene, id: str, link_poses: LinkPoses) -> Pose | None:
    body, pose = _object(scene, id, link_poses)
    return pose if body is not None else None
