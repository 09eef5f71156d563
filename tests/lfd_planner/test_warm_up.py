import subprocess
import sys
from pathlib import Path

import numpy as np
from support.arms import example_arm, shipped_arm

from lfd_description import kinematics
from lfd_description.kinematics import Chain, Tree
from lfd_planner import kernels
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


PLAN = """
import gc
import numpy as np
from numba.core.dispatcher import Dispatcher
from support.planning import ur5e_in_seed_cell
from lfd_planner.backends import Path, SearchOptions
from lfd_planner.scene import Pose
from lfd_planner.search import JointConstraint, OrientationConstraint, PathConstraints
from lfd_planner.server.motion_planner import Motion, MotionRequest, plan_motion

backend, scene, group, states = ur5e_in_seed_cell()
joints = PathConstraints(joints=tuple(JointConstraint(*goal, 0.01, 0.01) for goal in zip(group.joints, states['left'])))
here = backend.robot.frames.link_poses(scene.joints)['tool0']
turned = OrientationConstraint('tool0', Pose.of(here).orientation, (3.2, 3.2, 3.2))
options = SearchOptions(budget=60.0, constraints=PathConstraints(orientations=(turned,)))
for asked in (MotionRequest(group, (joints,)), MotionRequest(group, (joints,), options=options)):
    assert isinstance(plan_motion(backend, scene, asked), Motion)
below = here.copy()
below[2, 3] -= 0.1
line = backend.plan_linear(scene, group, group.positions(scene.joints), 'tool0', below[np.newaxis])
backend.time(scene, group, Path(line.q))
backend.state_contacts(scene)
loops = [loop for loop in gc.get_objects() if isinstance(loop, Dispatcher)]
loops = [loop for loop in loops if loop.py_func.__module__.startswith('lfd_')]
assert loops
print([loop.py_func.__name__ for loop in loops if sum(loop.stats.cache_misses.values())])
"""


def test_no_plan_has_to_wait_for_the_compiler() -> None:
    """In a new process, after the warm-up of another: plans of every kind find all their loops on disk."""
    warm_up()
    result = subprocess.run(
        [sys.executable, '-c', PLAN],
        cwd=Path(__file__).resolve().parents[1],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (result.stdout.strip(), result.returncode) == ('[]', 0), result.stderr


def test_it_can_be_run_at_installation(tmp_path: Path) -> None:
    result = subprocess.run(
        [sys.executable, '-m', 'lfd_planner.warm_up'],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert result.returncode == 0, result.stderr
    assert 'ready' in result.stdout


def test_a_node_loads_its_loops_beside_its_other_work() -> None:
    loading = kernels.load_beside()
    loading.join(timeout=300.0)

    assert not loading.is_alive()
    assert numeric._solve_many.signatures
    assert analytic._solve_many.signatures
