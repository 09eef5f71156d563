import subprocess
import sys
from pathlib import Path

import numpy as np
from support.arms import example_arm, shipped_arm

from lfd_description import kinematics
from lfd_description.kinematics import Chain, Tree
from lfd_planner.robot.ik import analytic, make_solver, numeric
from lfd_planner.warm_up import warm_up


def test_after_warming_up_nothing_is_left_to_compile() -> None:
    warm_up()
    loops = [
        kinematics._tip_poses,
        kinematics._link_poses,
        kinematics._tree_poses,
        analytic._solve_many,
        numeric._solve_many,
    ]
    compiled = [list(loop.signatures) for loop in loops]

    ur5e, panda = shipped_arm('ur5e'), example_arm('panda')
    chain = Chain(ur5e.tree, ur5e.base, ur5e.tip)
    chain.link_poses(np.asfortranarray(np.zeros((3, 6))))
    Tree(ur5e.tree).link_poses(np.zeros((3, 6)))
    poses = chain.poses(np.full((3, 6), 0.3))
    for arm in (ur5e, panda):
        solver = make_solver(arm.tree, arm.base, arm.tip)
        solver.solve_batch(np.asfortranarray(poses), seed=[0.1] * len(solver.joints))
        solver.solve(poses[0].tolist())

    assert [list(loop.signatures) for loop in loops] == compiled
    assert all(len(signatures) == 1 for signatures in compiled)


def test_it_can_be_run_at_installation(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, '-m', 'lfd_planner.warm_up'],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert result.returncode == 0, result.stderr
    assert 'ready' in result.stdout
