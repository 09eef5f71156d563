"""Brings up the gp8 arm: ros2 launch lfd_bringup gp8.launch.py."""

from lfd_bringup.ros_launch import launch_description


def generate_launch_description():
    return launch_description('gp8')
