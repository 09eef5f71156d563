"""The embedded stand-in for ros2_control: controller manager, controllers and drivers."""
