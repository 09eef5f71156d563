"""Brings up the ur3e arm: ros2 launch lfd_bringup ur3e.launch.py."""

from lfd_bringup.ros_launch import launch_description


def generate_launch_description():
    return launch_description('ur3e')
