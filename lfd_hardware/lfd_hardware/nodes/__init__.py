"""The executables: ``ros2_control_node`` and ``spawner``."""
