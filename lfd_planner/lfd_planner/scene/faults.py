"""What can be wrong with a request to a scene, with the codes that MoveIt's clients know."""

from collections.abc import Collection
from enum import IntEnum
from itertools import islice

from lfd_description.scenes.values import shortened


class Code(IntEnum):
    """The values of moveit_msgs/MoveItErrorCodes that requests to a scene can end with."""

    FAILURE = 99999
    INVALID_ROBOT_STATE = -17
    INVALID_LINK_NAME = -18
    INVALID_OBJECT_NAME = -19
    FRAME_TRANSFORM_FAILURE = -21


class SceneFault(ValueError):
    """A request that a scene refuses: `problems` holds one sentence each, the message is all of them, one a line."""

    def __init__(self, code: Code, *problems: str) -> None:
        super().__init__('\n'.join(problems))
        self.code = code
        self.problems = problems


def quoted(name: str) -> str:
    """A stranger's name in quotes, fit for a message."""
    return f"'{shortened(name)}'"


def names(found: Collection[str], most: int = 20) -> str:
    """Names for a message, and how many more there are."""
    if not found:
        return 'none'
    more = f' and {len(found) - most} more' if len(found) > most else ''
    return ', '.join(shortened(name) for name in islice(found, most)) + more
