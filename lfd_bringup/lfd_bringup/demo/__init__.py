"""`./lfd demo`: a recorded demonstration is played on several arms over real ROS 2, and what they did is measured.

For each robot the demo brings up its graph in a ROS domain of its own, has the graph's task planner plan the task,
judges the motion with `lfd_planner.validate`, and sends it to the arm's controller::

    job ─► plan_task ─► solution ─► judge ─► follow_joint_trajectory ─► controller ─► joint_states ─► state publisher
            (ROS)          │          │            (ROS)                                   │               └─► tf
                           │          └─► final poses, pictures                            └─► Recording ◄───┘
                           └──────────────────────► measure ◄──────────────────────────────────────┘ ─► report.json

The arm moves, on simulated controllers. The gripper does not, and the boxes are not simulated: where they end is what
the judge's replay of the planned motion says.
"""
