"""`./lfd robots`: which arms there are."""

from __future__ import annotations

import argparse

from lfd_description.robots import find_robot, robot_names


def main(_: argparse.Namespace) -> int:
    """Print a table of the robots."""
    print(f'{"name":10} {"arm":28} {"joints":>6} {"reach":>8} {"payload":>8}')
    for robot in map(find_robot, robot_names()):
        arm = f'{robot.vendor} {robot.title}' if robot.vendor not in robot.title else robot.title
        print(f'{robot.name:10} {arm:28} {len(robot.joints):6} {robot.reach:6.3f} m {robot.payload:5.1f} kg')
    return 0
