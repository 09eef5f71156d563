"""How far a link leaves the lines between poses while the joints move evenly from one to the next."""

import math

import numpy as np
import numpy.typing as npt

from lfd_description.compiled import compiled
from lfd_description.urdf import Matrix


@compiled
def leaves_line(halfway: Matrix, poses: Matrix, way: float, turn: float) -> npt.NDArray[np.bool_]:
    """Whether the poses at half the joints' way, (N, 4, 4), are further from the lines than `way` [m] or `turn` [rad].

    Line n runs from row n to row n + 1 of `poses`, (N + 1, 4, 4). Half-way between two rotations that are close is
    their mean; where they are not, this asks for poses in between, which never hurts.
    """
    leaves = np.zeros(halfway.shape[0], dtype=np.bool_)
    for n in range(halfway.shape[0]):
        off, turned = 0.0, 0.0
        for i in range(3):
            off += (halfway[n, i, 3] - 0.5 * (poses[n, i, 3] + poses[n + 1, i, 3])) ** 2
            for j in range(3):
                turned += (halfway[n, i, j] - 0.5 * (poses[n, i, j] + poses[n + 1, i, j])) ** 2
        leaves[n] = math.sqrt(off) > way or math.sqrt(0.5 * turned) > turn
    return leaves
