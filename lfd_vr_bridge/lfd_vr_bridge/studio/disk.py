"""What the studio asks of a disk: that what was written stays, and a sentence where it does not."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from .values import Refusal

Result = TypeVar('Result')


def on_disk(done: str, work: Callable[[], Result]) -> Result:
    """Do what a full or forbidden disk can refuse.

    Raises:
        Refusal: it did; `done` is what could not be done, such as saved.
    """
    try:
        return work()
    except (OSError, UnicodeError) as error:
        why = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        raise Refusal(
            'disk', f'That could not be {done}: {why}; look at the disk of the computer that runs lfd.'
        ) from None


def sync_folder(folder: Path) -> None:
    """See to it that the names in a folder are on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
