"""Compiles all hot loops ahead of time, so that no first plan or picture has to wait for the compiler.

Run once after the installation: `python -m lfd_planner.warm_up`. Later processes load the result from disk.
"""

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from lfd_description.pictures import studio
from lfd_planner import kernels

PARTS = (*kernels.PARTS, studio.warm_up)


def warm_up() -> None:
    """Compile all loops, or load them if that was done before."""
    for part in PARTS:
        part()


def warm_up_at_once() -> None:
    """The same, each part in a process of its own: what has to be compiled takes as long as the longest of them."""
    with ProcessPoolExecutor(min(len(PARTS), os.cpu_count() or 1), get_context('spawn')) as processes:
        for done in [processes.submit(part) for part in PARTS]:
            done.result()


if __name__ == '__main__':
    warm_up_at_once()
    print('The compiled loops are ready.')
