"""`./lfd demo`: a recorded demonstration is played on several arms over real ROS 2, and what they did is measured.

For each robot the demo brings up its graph in a ROS domain of its own, has the graph's task planner plan the task,
judges the motion with `lfd_planner.validate`, and has the graph's task executor execute it::

    job ─► plan_task ─► solution ─► judge ─► execute_task ─► arm and gripper controllers ─► joint_states ─► tf
            (ROS)          │          │          (ROS)                                           │           │
                           │          │            ├─► planning scene ─► where every box ended   └─► Recording
                           │          └─► pictures └─► cycle time, joint errors, progress               │
                           └─────────────────────────────► measure ◄────────────────────────────────────┘ ─► report.json

Arm and gripper move, on simulated controllers. A box is where the planning scene has it: it moves with the hand from
where the hand closed to where it opened, by the measured joints. How boxes slip, tip or fall is not simulated.
"""
