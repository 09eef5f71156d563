"""Native programs: a solution in the language of a robot's own controller, for cells without ROS.

made = export(solution, model, Options(name='stack', signals=Asked(gripper='3')))
for file in made.files:
    ...  # write file.text to file.name
"""

from lfd_planner.programs.native import (
    ENDINGS,
    FORMAT_OF,
    INFORM,
    MOVES,
    RAPID,
    SERVO,
    URSCRIPT,
    Exported,
    Options,
    ProgramFile,
    export,
    format_of,
)
from lfd_planner.programs.texts import ExportError
from lfd_planner.programs.thinning import TOLERANCE
from lfd_planner.programs.wiring import Asked

__all__ = [
    'ENDINGS',
    'FORMAT_OF',
    'INFORM',
    'MOVES',
    'RAPID',
    'SERVO',
    'TOLERANCE',
    'URSCRIPT',
    'Asked',
    'ExportError',
    'Exported',
    'Options',
    'ProgramFile',
    'export',
    'format_of',
]
