"""Planning backends: one interface, and whoever computes behind it."""

from .backend import (
    Failure,
    LinearOptions,
    LinearPath,
    Path,
    PlanningBackend,
    SearchOptions,
    SpeedScaling,
)

__all__ = [
    'Failure',
    'LinearOptions',
    'LinearPath',
    'Path',
    'PlanningBackend',
    'SearchOptions',
    'SpeedScaling',
]
