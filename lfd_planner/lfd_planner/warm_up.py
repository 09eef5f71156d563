"""Compiles the planner's hot loops ahead of time, so that no first plan has to wait for the compiler.

Run once after the installation: `python -m lfd_planner.warm_up`. Later processes load the result from disk.
"""

import numpy as np

from lfd_description.urdf import Joint, RobotTree
from lfd_description.kinematics import Chain


def warm_up() -> None:
    """Compile all loops of the planner, or load them if that was done before."""
    arm = RobotTree('arm', ('base', 'tip'), (Joint('joint', 'continuous', 'base', 'tip'),), 'base')
    chain = Chain(arm, 'base', 'tip')
    chain.poses(np.zeros((1, 1)))
    chain.link_poses(np.zeros((1, 1)))


if __name__ == '__main__':
    warm_up()
    print("The planner's compiled loops are ready.")
