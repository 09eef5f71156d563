"""MTDF: a manipulation task as motions of objects, free of any robot. The format is described in docs/mtdf.md.

    text or file ──► Report (problems with line, column, keyframe, object) ──► Task ──► resolve_task(task, scene)
                                                                                 └───► dump_task, save_task

`load_task` and `parse_task` give a checked `Task` or raise `MtdfError` with all that is wrong. `load_report` and
`read_report` give both, warnings included. `Document` edits a file and keeps its comments. `repair_text` mends what is
known to go wrong, on request only. Whatever axes a file has, a `Task` is in those of ROS.
"""

from lfd_planner.pose import Pose

from .checks import Spot, check_task
from .differences import differences
from .document import Document
from .library import find_task, task_file, task_names
from .problems import MtdfError, Problem, errors, told
from .reader import Report, load_report, load_task, parse_task, read_report
from .repair import Repair, Repaired, repair_file, repair_text
from .resolve import Reason, Resolution, Resolved, resolve, resolve_task
from .task import (
    AwaitInput,
    Descriptor,
    GraspHint,
    Io,
    Keyframe,
    Origin,
    Pick,
    Place,
    Recorder,
    SetOutput,
    Task,
    Trajectory,
    Wait,
    kind_of,
)
from .writer import dump_task, save_task

__all__ = [
    'AwaitInput',
    'Descriptor',
    'Document',
    'GraspHint',
    'Io',
    'Keyframe',
    'MtdfError',
    'Origin',
    'Pick',
    'Place',
    'Pose',
    'Problem',
    'Reason',
    'Recorder',
    'Repair',
    'Repaired',
    'Report',
    'Resolution',
    'Resolved',
    'SetOutput',
    'Spot',
    'Task',
    'Trajectory',
    'Wait',
    'check_task',
    'differences',
    'dump_task',
    'errors',
    'find_task',
    'kind_of',
    'load_report',
    'load_task',
    'parse_task',
    'read_report',
    'repair_file',
    'repair_text',
    'resolve',
    'resolve_task',
    'save_task',
    'task_file',
    'task_names',
    'told',
]
