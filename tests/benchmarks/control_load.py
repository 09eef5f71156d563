"""A planner that is never done: plans the recorded stack again and again, a line for each plan, until it is killed."""

from __future__ import annotations

from itertools import count

from benchmarks.planner_tasks import seed_stack

from lfd_description.grippers import find_gripper
from lfd_description.model.builder import build_model
from lfd_description.robots import find_robot
from lfd_planner.planner import PlanOptions, TaskPlanner
from lfd_planner.warm_up import warm_up


def main() -> None:
    warm_up()
    model = build_model(find_robot('ur5e'), gripper=find_gripper('two_finger'))
    stack = seed_stack()
    for number in count():
        # A new planner knows the robot and nothing else, so that no plan is remembered.
        TaskPlanner(model).plan(stack.task, stack.scene, stack.origin, PlanOptions(seed=number, suggest=False))
        print('planned', flush=True)


if __name__ == '__main__':
    main()
