"""Brings up the ur5e arm: ros2 launch lfd_bringup ur5e.launch.py."""

from lfd_bringup.ros_launch import launch_description


def generate_launch_description():
    return launch_description('ur5e')
