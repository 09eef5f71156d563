import subprocess
import sys
from pathlib import Path

import numpy as np

from lfd_description.robots import find_robot, robot_description
from lfd_description.urdf import parse_urdf
from lfd_planner.robot import kinematics
from lfd_description.kinematics import Chain
from lfd_planner.warm_up import warm_up


def test_after_warming_up_nothing_is_left_to_compile() -> None:
    warm_up()
    loops = [kinematics._tip_poses, kinematics._link_poses]
    compiled = [list(loop.signatures) for loop in loops]

    chain = Chain(parse_urdf(robot_description(find_robot('ur5e'))), 'base_link', 'tool0')
    chain.poses(np.zeros((3, 6)))
    chain.link_poses(np.asfortranarray(np.zeros((3, 6))))

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
