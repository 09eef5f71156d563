"""Brings up the irb1600 arm: ros2 launch lfd_bringup irb1600.launch.py."""

from lfd_bringup.ros_launch import launch_description


def generate_launch_description():
    return launch_description('irb1600')
