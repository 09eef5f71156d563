"""Allowed collisions and moveit_msgs/AllowedCollisionMatrix."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from moveit_msgs.msg import AllowedCollisionEntry, AllowedCollisionMatrix

from lfd_planner.scene import AllowedCollisions
from lfd_planner.scene.allowed_collisions import from_matrix
from lfd_planner.scene.faults import quoted

from .checks import Report


def allowed_to_message(allowed: AllowedCollisions, also: Iterable[str] = ()) -> AllowedCollisionMatrix:
    """The square matrix of all names that have an entry or a default, sorted, and of the names `also`.

    A message cannot tell a forbidden pair from one that nothing is said of; both are False.
    """
    names = sorted({*allowed.names, *also})
    number = {name: at for at, name in enumerate(names)}
    base = [[False] * len(names) for _ in names]
    for name in allowed.defaults:  # the defaults decide only about pairs of which one name is theirs
        for other in names:
            base[number[name]][number[other]] = base[number[other]][number[name]] = allowed.allows(name, other)
    for a, b, value in allowed.pairs():
        base[number[a]][number[b]] = base[number[b]][number[a]] = value
    return AllowedCollisionMatrix(
        entry_names=names,
        entry_values=[AllowedCollisionEntry(enabled=row) for row in base],
        default_entry_names=list(allowed.defaults),
        default_entry_values=list(allowed.defaults.values()),
    )


def allowed_from_message(message: AllowedCollisionMatrix) -> AllowedCollisions:
    """The allowed collisions of a matrix; entries that the defaults imply are not kept.

    Raises:
        SceneFault: the matrix is not square, or has a name twice.
    """
    report = Report('Allowed collision matrix')
    names, rows = list(message.entry_names), message.entry_values
    if len(rows) != len(names):
        report.problem(f'there are {len(names)} names and {len(rows)} rows; send one row for each name.')
    if len(set(names)) != len(names):
        report.problem('a name is there twice; send each once.')
    if len(message.default_entry_names) != len(message.default_entry_values):
        report.problem('there are not as many defaults as names for them; send one for each.')
    for name, row in zip(names, rows, strict=False):
        if len(row.enabled) != len(names):
            report.problem(
                f'the row of {quoted(name)} has {len(row.enabled)} entries; send one for each of {len(names)} names.'
            )
    report.finish()
    defaults = dict(zip(message.default_entry_names, message.default_entry_values, strict=True))
    matrix = np.array([row.enabled for row in rows], dtype=np.bool_).reshape(len(names), len(names))
    return from_matrix(names, matrix, defaults)
