"""Brings up any robot by name: ros2 launch lfd_bringup robot.launch.py robot:=my_arm."""

from lfd_bringup.ros_launch import launch_description


def generate_launch_description():
    return launch_description()
