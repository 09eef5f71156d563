"""Rows that are equal, found column by column: quicker than row by row, and with pauses."""

from __future__ import annotations

import numpy as np

from .grasp import Floats, Integers
from .pauses import pause


def alike(rows: Floats) -> Integers:
    """A number for each of some rows, (N, k), that all have that are equal; they are in the order of the rows."""
    number = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        pause()
        _, here = np.unique(column, return_inverse=True)
        _, number = np.unique(number * (here.max(initial=0) + 1) + here, return_inverse=True)
    return number
