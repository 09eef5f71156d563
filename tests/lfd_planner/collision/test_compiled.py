from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lfd_description.robots import HOME
from lfd_planner.collision import contacts, hierarchies, supports, world
from lfd_planner.warm_up import warm_up

if TYPE_CHECKING:
    from .conftest import Arm

LOOPS = (
    *(world.collides, world.collide_many, world.edge_free, world.is_stuck),
    *(contacts.find_contacts, contacts.find_nearest, hierarchies.build, supports.guide),
)

# Checks a state in a new process, and tells how many loops had to be compiled for that.
CHILD = """
import numpy as np
from lfd_planner.collision import contacts, hierarchies, supports, world
from lfd_planner.warm_up import warm_up

warm_up()
loops = (world.collides, world.collide_many, world.edge_free, world.is_stuck,
         contacts.find_contacts, contacts.find_nearest, hierarchies.build, supports.guide)
print(sum(sum(loop.stats.cache_misses.values()) for loop in loops))
"""


def test_after_warming_up_nothing_is_left_to_compile(gp8: Arm) -> None:
    warm_up()
    compiled = [list(loop.signatures) for loop in LOOPS]
    assert all(len(signatures) == 1 for signatures in compiled)

    there = gp8.world(gp8.scene('kitchen'), padding=0.001)
    home = gp8.model.poses[HOME]
    there.collides(home)
    there.collide(np.asfortranarray([home, home]))
    there.contacts(list(home))
    there.clearance(home)
    there.edge_free(home, np.zeros(6), 0.1)

    assert [list(loop.signatures) for loop in LOOPS] == compiled


def test_another_process_finds_all_loops_compiled(tmp_path: Path) -> None:
    warm_up()

    child = subprocess.run(
        [sys.executable, '-c', CHILD], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )

    assert child.returncode == 0, child.stderr
    assert child.stdout.strip() == '0'
