"""Who starts what: one description of the graph for ros2 launch and for ./lfd up, and the embedded home itself."""
