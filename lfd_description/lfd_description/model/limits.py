"""The limits that a planner keeps to: the URDF's, and accelerations, which a URDF cannot say."""

from collections.abc import Mapping
from dataclasses import dataclass

from lfd_description.robots import Robot
from lfd_description.urdf import RobotTree

from .findings import Finding
from .group import Group

# Where nobody published an acceleration, a joint takes this time [s] to reach its full speed: gentle for an arm of this
# kind, and the motions are still quick.
TIME_TO_FULL_SPEED = 0.4


@dataclass(frozen=True)
class JointLimits:
    """Positions in rad or m, the others per s, s^2 and as N m or N; an endless joint has infinite positions."""

    lower: float
    upper: float
    velocity: float
    acceleration: float
    effort: float


def joint_limits(tree: RobotTree, group: Group, robot: Robot) -> tuple[Mapping[str, JointLimits], Finding]:
    """The limits of a group's joints by name, and where the accelerations come from."""
    known = robot.accelerations
    limits = {}
    for i, name in enumerate(group.joints):
        joint = tree.joint[name].limits
        if joint is None:
            raise AssertionError(f'{name} has no limits, which find_group refuses')
        acceleration = known[i] if known else joint.velocity / TIME_TO_FULL_SPEED
        limits[name] = JointLimits(joint.lower, joint.upper, joint.velocity, acceleration, joint.effort)
    values = ', '.join(f'{limit.acceleration:.3g}' for limit in limits.values())
    why = 'robot.yaml' if known else f'full speed after {TIME_TO_FULL_SPEED:g} s; write accelerations into robot.yaml'
    return limits, Finding('accelerations', f'{values} rad/s^2 (m/s^2 of sliding joints)', why)
