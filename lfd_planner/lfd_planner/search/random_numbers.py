"""Random numbers that depend on a seed alone: the same in every thread and however a search is cut into slices."""

import numpy as np
import numpy.typing as npt

from lfd_description.compiled import compiled

RandomState = npt.NDArray[np.uint64]

# SplitMix64: a counter that goes up by the golden ratio, its bits mixed.
_STRIDE = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 2.0**-53


def random_state(seed: int) -> RandomState:
    """The generator's state for a seed, (1,)."""
    return np.array([seed % 2**64], dtype=np.uint64)


@compiled
def uniform(state: RandomState) -> float:
    """The next number from 0 up to, but not including, 1."""
    state[0] += _STRIDE
    bits = state[0]
    bits = (bits ^ (bits >> _30)) * _MIX_1
    bits = (bits ^ (bits >> _27)) * _MIX_2
    bits = bits ^ (bits >> _31)
    return float(np.float64(bits >> _11) * _UNIT)
