"""Brings up the ur3 arm: ros2 launch lfd_bringup ur3.launch.py."""

from lfd_bringup.ros_launch import launch_description


def generate_launch_description():
    return launch_description('ur3')
