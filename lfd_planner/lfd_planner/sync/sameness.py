"""Whether a server has what it was sent: servers compute with poses, so that they come back rounded."""

from __future__ import annotations

import math

from lfd_planner.scene import Body, Part, Pose

NEAR = 1e-9
"""How much poses may differ and still be the same: [m], and parts of a quaternion."""


def near(a: Pose, b: Pose) -> bool:
    """Whether two poses are the same but for rounding; a quaternion and its negative are the same turn."""
    if a is b or a == b:
        return True
    if not all(abs(x - y) <= NEAR for x, y in zip(a.position, b.position, strict=True)):
        return False
    sign = math.copysign(1.0, sum(x * y for x, y in zip(a.orientation, b.orientation, strict=True)))
    return all(abs(x - sign * y) <= NEAR for x, y in zip(a.orientation, b.orientation, strict=True))


def same_body(a: Body, b: Body) -> bool:
    """Whether two bodies are the same but for rounding of poses within them."""
    if a is b or a == b:
        return True
    if (a.type, frozenset(a.tags), a.movable) != (b.type, frozenset(b.tags), b.movable):
        return False
    subframes = zip(a.subframes, b.subframes, strict=False)
    return (
        len(a.parts) == len(b.parts)
        and all(_same_part(x, y) for x, y in zip(a.parts, b.parts, strict=True))
        and [name for name, _ in a.subframes] == [name for name, _ in b.subframes]
        and all(near(x, y) for (_, x), (_, y) in subframes)
    )


def _same_part(a: Part, b: Part) -> bool:
    return a.shape == b.shape and near(a.pose, b.pose)
