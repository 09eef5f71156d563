"""What `execute_task` tells of an execution: how far it is, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lfd_msgs.action import ExecuteTask

from lfd_planner.error_codes import Code
from lfd_planner.mtdf import AwaitInput, Keyframe, SetOutput, Wait
from lfd_planner.solution_file import Json

SPOKEN = {'Pick': 'pick', 'Place': 'place', 'Trajectory': 'lead'}


@dataclass(frozen=True)
class Progress:
    """How far an execution is."""

    keyframe: int
    segment: str
    share: float
    """Of the whole motion, 0 to 1."""
    state: str
    """Such as checking, moving and gripping."""

    @property
    def is_under_way(self) -> bool:
        """Whether the robot has begun."""
        return self.state not in ('checking', 'planning')


@dataclass(frozen=True)
class Execution:
    """How an execution ended, as the graph's task executor says."""

    code: int
    """Of moveit_msgs/MoveItErrorCodes."""
    message: str
    next_keyframe: int
    """From which to resume; the number of keyframes when all is done."""
    cycle_time: float
    """[s] from the first motion to the end of the last, gripping and waiting included"""
    joint_errors: Mapping[str, float]
    """[rad or m] largest distance of each joint of the arm from where it was commanded to be at that moment"""

    @property
    def ok(self) -> bool:
        """Whether all was done."""
        return self.code == Code.SUCCESS

    @property
    def name(self) -> str:
        """Of the code."""
        return Code(self.code).name if self.code in list(Code) else 'unknown code'

    @property
    def problem(self) -> str:
        """Why not all was done, for the user; empty: all was."""
        return '' if self.ok else f'{self.name} ({self.code}): {self.message}'

    def data(self) -> Json:
        """For JSON."""
        return {
            'ok': self.ok,
            'code': self.code,
            'code_name': self.name,
            'message': self.message,
            'next_keyframe': self.next_keyframe,
            'cycle_time': self.cycle_time,
        }


def progress_of(told: ExecuteTask.Feedback) -> Progress:
    """What a message of feedback says."""
    return Progress(told.keyframe, told.segment, told.progress, told.state)


def execution_of(result: ExecuteTask.Result) -> Execution:
    """What a result says."""
    errors = dict(zip(result.joint_names, result.tracking_errors, strict=True))
    return Execution(result.error_code.val, result.message, result.next_keyframe, result.duration, errors)


def spoken(keyframe: Keyframe) -> str:
    """What a keyframe asks for, in a few words."""
    match keyframe:
        case Wait(duration=duration):
            return f'wait {duration:g} s'
        case SetOutput(signal=signal, value=value):
            return f'set {signal} to {value}'
        case AwaitInput(signal=signal, value=value):
            return f'wait until {signal} is {value}'
        case _:
            return f'{SPOKEN[type(keyframe).__name__]} {keyframe.object}'
