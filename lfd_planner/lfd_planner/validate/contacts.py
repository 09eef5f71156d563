"""Which contacts a solution may have: those that a task cannot be done without, and no others.

| who | with whom | when | how deep |
|---|---|---|---|
| links that the SRDF or the scene lets touch | each other | always | not checked |
| the gripper's touch links | what they hold, close on, or open around | held, or the arm stands | `PRESS` |
| a suction cup | the object that it goes to or leaves | also on the way, if declared | the cup's way and `PRESS` |
| a held object | what it stood on, or will stand on | within `NEAR` of that; declared, or the arm stands | `REST` |
| objects held by the same link | each other | always | not checked |
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lfd_description.grasp_data import SuctionGraspData
from lfd_description.model.model import RobotModel
from lfd_description.urdf import Matrix
from lfd_planner.scene import PlanningScene

from .replay import Held, Stretch

PRESS = 0.0005  # [m], that pads may be pressed into what they hold
REST = 0.0015  # [m], that an object may be in what it stands on: recorded places are not exact
NEAR = 0.005  # [m], from where it stood or will stand, within which it may touch what it stands on

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Permission:
    """How deep two may be in each other at some samples of a stretch."""

    depth: float
    """[m]; infinite: they are not checked."""
    where: Mask | None = None
    """(N,); None: at all samples."""


FREE = Permission(np.inf)


class Contacts:
    """Decides who may touch whom."""

    def __init__(self, model: RobotModel, scene: PlanningScene, stretches: Sequence[Stretch]) -> None:
        self._model = model
        self._scene = scene
        self._stretches = stretches
        self._apart = {frozenset((pair.link1, pair.link2)) for pair in model.collision_matrix.disabled}
        gripper = model.gripper
        self._pads = None if gripper is None else frozenset(f'{model.prefix}{link}' for link in gripper.touch_links)
        data = gripper.grasp_data if gripper is not None else None
        self._cup = data.grasp_max_depth if isinstance(data, SuctionGraspData) else 0.0

    def links(self, a: str, b: str) -> bool:
        """Whether two links may touch."""
        return a == b or frozenset((a, b)) in self._apart or self._scene.allowed.allows(a, b)

    def link_and_object(self, stretch: Stretch, link: str, name: str) -> Permission | None:
        """How a link may touch an object, held or not; None: not at all."""
        if self._scene.allowed.allows(link, name):
            return FREE
        if self._may_hold(stretch, link, name):
            return Permission(self._cup + PRESS)
        return None

    def objects(self, stretch: Stretch, held: Held, other: str, poses: Matrix) -> Permission | None:
        """How a held object may touch another; `poses` are the 4x4 transforms scene -> held object, (N, 4, 4)."""
        if self._scene.allowed.allows(held.object, other):
            return FREE
        if other in stretch.held and stretch.held[other].attachment.link == held.attachment.link:
            return FREE
        if stretch.arm_moves and not declared(stretch, held.object, other):
            return None
        return Permission(REST, near_rest(held, poses))

    def _may_hold(self, stretch: Stretch, link: str, name: str) -> bool:
        if name in stretch.held:
            return self._touches(link, stretch.held[name])
        # A cup touches before the vacuum is on and after it is off; fingers only when the arm stands.
        on_the_way = self._cup > 0.0 and declared(stretch, link, name)
        if stretch.arm_moves and not on_the_way:
            return False
        reach = 2 if on_the_way else 1
        around = self._stretches[max(stretch.index - reach, 0) : stretch.index + reach + 1]
        return any(self._touches(link, near.held[name]) for near in around if name in near.held)

    def _touches(self, link: str, held: Held) -> bool:
        if self._pads is not None:
            return link in self._pads
        return link == held.attachment.link or link in held.attachment.touch_links


def declared(stretch: Stretch, a: str, b: str) -> bool:
    """Whether a segment says that two may touch."""
    return (a, b) in stretch.segment.contacts or (b, a) in stretch.segment.contacts


def near_rest(held: Held, poses: Matrix) -> Mask:
    """Where an object is near to where it stood or will stand, for its transforms scene -> object, (N, 4, 4)."""
    near = np.zeros(len(poses), dtype=np.bool_)
    for rest in (held.picked, held.released):
        if rest is not None:
            near |= np.linalg.norm(poses[:, :3, 3] - rest[:3, 3], axis=1) <= NEAR
    return near
