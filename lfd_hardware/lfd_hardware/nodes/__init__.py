"""The executables: ``ros2_control_node``, ``spawner`` and ``twin``."""
