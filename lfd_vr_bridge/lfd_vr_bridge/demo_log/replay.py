"""Shows a logged demonstration to the recorder again."""

from __future__ import annotations

import tempfile
from pathlib import Path

from lfd_planner.mtdf import Task
from lfd_planner.scene import PlanningScene

from ..studio import events
from ..studio.replaying import replay as replay_into
from ..studio.studio import Studio
from ..studio.values import Refusal
from .log_file import Log, LogError


def replayed(log: Log) -> tuple[str, Task]:
    """The name and the task that the recorder makes of a log.

    Raises:
        LogError: the log cannot be shown again, or there is no task in it.
    """
    began = log.events[0]
    assert isinstance(began, events.Began)
    with tempfile.TemporaryDirectory(prefix='lfd-replay-') as folder:
        studio = Studio(PlanningScene(began.scene.frame), Path(folder))
        try:
            replay_into(studio, log.events)
            return studio.recording.name, studio.task()
        except Refusal as refusal:
            raise LogError(f'The demonstration cannot be shown again: {refusal}') from None
        finally:
            studio.close()
