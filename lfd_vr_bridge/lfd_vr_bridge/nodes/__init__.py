"""The package's ROS nodes."""
