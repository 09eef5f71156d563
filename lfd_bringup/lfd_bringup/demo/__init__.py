"""`./lfd demo`: arms move on simulated controllers over real ROS 2, and what they did is measured and reported.

For each robot the demo brings up its graph in a ROS domain of its own, sends one motion through its named poses to the
trajectory controller, listens to `joint_states` and `tf` meanwhile, and compares what it heard with what it asked for::

    poses ─► Motion ─► follow_joint_trajectory ─► controller ─► joint_states ─► state publisher ─► tf
                │                                                    └──────── Recording ─────────┘
                └──────────────────────────► measure ◄───────────────────────────┘ ─► report.json, pictures
"""
