"""The one way in which the suite compiles its hot loops."""

from collections.abc import Callable
from typing import TypeVar, cast

import numba

Function = TypeVar('Function', bound=Callable[..., object])


def compiled(function: Function) -> Function:
    """Compile to machine code at the first call, kept on disk for later processes; releases the GIL while it runs.

    Call such functions with C-ordered float64 arrays only: every other layout is compiled anew.
    """
    return cast('Function', numba.njit(cache=True, nogil=True)(function))
