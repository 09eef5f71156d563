"""The model builder: from a URDF and a gripper to everything that a planner needs."""
