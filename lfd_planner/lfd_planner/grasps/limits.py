"""What a gripper's grasp data means for the search of grasps: steps to try, and limits that every grasp keeps."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lfd_description.grasp_data import FingerGraspData, GraspData

from .grasp import Reason, Tally, millimetres

EXACT = 1e-9  # [m], of rounding
FRICTION = 0.5
"""Of pads on what they hold: the tangent of the steepest lean that does not slide off."""

# However fine the resolutions are, a generator ends; finer steps than these make grasps that are all alike.
MOST_ANGLES = 72
MOST_PLACES = 21
MOST_DEPTHS = 7


@dataclass(frozen=True)
class FingerLimits:
    """Of a gripper with two fingers; all lengths in [m], all angles in [rad]."""

    narrowest: float
    widest: float
    finger: float
    """Of a finger across."""
    depths: tuple[float, ...]
    """To try, the greatest first."""
    least_depth: float
    reach: float
    """How far an object may extend from the tcp towards the palm.

    Grasp data do not tell how long the fingers are. They are taken to be long enough for the widest ball, held at its
    middle with the greatest depth; what needs more is rejected.
    """
    palm: float
    """Half of the palm across and from finger to finger; whatever is in its way within this is looked at."""
    step: float
    """Between neighbouring places."""
    angles: tuple[float, ...]
    """About an axis, of a full turn."""

    @staticmethod
    def of(data: FingerGraspData) -> FingerLimits:
        """Read the limits off the grasp data."""
        return FingerLimits(
            narrowest=data.min_finger_width,
            widest=data.max_grasp_width,
            finger=data.gripper_finger_width,
            depths=depths_of(data),
            least_depth=data.grasp_min_depth,
            reach=0.5 * data.max_grasp_width + data.grasp_max_depth,
            palm=0.5 * data.max_finger_width,
            step=data.grasp_resolution,
            angles=angles_of(data),
        )

    def accepts_width(self, width: float, what: str, tally: Tally, count: int = 1) -> bool:
        """Whether the pads open and close so far; if not, that many grasps are counted as rejected."""
        if width > self.widest + EXACT:
            detail = f'{what} is {millimetres(width)} wide, gripper opens {millimetres(self.widest)}'
            tally.add(Reason.TOO_WIDE, detail, width - self.widest, count)
        elif width < self.narrowest - EXACT:
            detail = f'{what} is {millimetres(width)} wide, gripper closes to {millimetres(self.narrowest)}'
            tally.add(Reason.TOO_NARROW, detail, self.narrowest - width, count)
        else:
            return True
        return False

    def accepts_length(self, length: float, what: str, tally: Tally, count: int = 1) -> bool:
        """Whether a finger fits on a length across it; if not, that many grasps are counted as rejected."""
        if length >= self.finger - EXACT:
            return True
        detail = f'{what} is {millimetres(length)} across, a finger {millimetres(self.finger)}'
        tally.add(Reason.TOO_THIN_FOR_FINGER, detail, self.finger - length, count)
        return False

    def depths_within(self, room: float, beyond: float, what: str, tally: Tally, count: int = 1) -> list[float]:
        """The depths to try where the object goes on for `room` behind the beginning of the pads' contact.

        `beyond` is how far it extends from there towards the palm. None: that many grasps are counted as rejected.
        """
        if room < self.least_depth - EXACT:
            detail = f'{what} is {millimetres(room)} deep there, pads need {millimetres(self.least_depth)}'
            tally.add(Reason.TOO_SHALLOW, detail, self.least_depth - room, count)
            return []
        # Finger tips that stick out behind an object would hit what it stands on.
        tried = list(dict.fromkeys(min(depth, room) for depth in self.depths))
        kept = [depth for depth in tried if beyond + depth <= self.reach + EXACT]
        if not kept:
            needed = beyond + min(tried)
            detail = f'{what} reaches {millimetres(needed)} between the fingers, there is room for '
            detail += millimetres(self.reach)
            tally.add(Reason.PALM_HITS_OBJECT, detail, needed - self.reach, count)
        return kept


def depths_of(data: GraspData) -> tuple[float, ...]:
    """The depths to try [m], the greatest first."""
    low, high = data.grasp_min_depth, data.grasp_max_depth
    steps = min(math.floor((high - low) / data.grasp_depth_resolution + EXACT), MOST_DEPTHS - 1)
    step = max(data.grasp_depth_resolution, (high - low) / (MOST_DEPTHS - 1))
    return tuple(high - number * step for number in range(steps + 1))


def angles_of(data: GraspData) -> tuple[float, ...]:
    """The angles of a full turn [rad]."""
    count = min(round(360.0 / data.angle_resolution), MOST_ANGLES)
    return tuple(2.0 * math.pi * number / count for number in range(count))


def half_turn(angles: tuple[float, ...]) -> list[float]:
    """The angles [rad] without those that are half a turn from another one."""
    return sorted({round(angle % math.pi, 9) % round(math.pi, 9) for angle in angles})


def spread(room: float, step: float) -> list[float]:
    """Places about 0 within `room` that are about `step` apart [m], the middle first."""
    steps = min(round(0.5 * max(room, 0.0) / step), MOST_PLACES // 2)
    if steps == 0:
        return [0.0]
    apart = min(step, 0.5 * room / steps) if steps < MOST_PLACES // 2 else 0.5 * room / steps
    return [0.0, *(sign * number * apart for number in range(1, steps + 1) for sign in (1.0, -1.0))]
