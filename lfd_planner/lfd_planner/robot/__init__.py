"""The robot as the planner sees it."""
