"""INFORM, the language of Yaskawa's controllers, as job files (.JBI).

Positions are pulses of the motors, whose count for a degree differs from model to model; the user reads it off the
controller. INFORM knows speeds but no times: VJ is the share [%] of full speed that the joint which needs longest moves
at, so that the pace is the planned one but for the controller's own acceleration.

Facts: a job's name has at most 32 characters (8 on NX100 and older), a comment 32; every position is used by exactly
one move; VJ goes from 0.01 to 100.00, T of TIMER and WAIT to 655.35; WAIT goes on when its time is over; PL=0 is a stop
at the point, PL=1 the smallest corner that is cut.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from lfd_planner.timing.cubics import Matrix

from .program import Await, Move, Note, Part, Pause, Program, Switch, cut, say
from .texts import ExportError, identifier, number, plain, wrapped
from .wiring import Kind, Wiring, signal_title

LONGEST_NAME = 32
LONGEST_COMMENT = 32
LONGEST_TIME = 655.35  # [s], of TIMER and WAIT
MOST_POSITIONS = 900
"""In one job: the step number has three digits on older controllers."""
START_SPEED = 2.0  # [%]
FULL_SPEED = 100.0  # [%]
SLOWEST = 0.01  # [%]
_PERCENT_OFF = 0.005  # [%] what rounding makes of a speed is not worth a word
_HIGHEST = {Kind.OUTPUT: 4096, Kind.INPUT: 4096, Kind.LEVEL: 40}
_MOST_VOLTS = 14.0
_MOST_PULSES = 2**31 - 1


class InformPorts:
    """General outputs OT#(n) and inputs IN#(n), 1 to 4096, analogue outputs AO#(n), 1 to 40; written as numbers."""

    def default(self, kind: Kind, signal: str, taken: Collection[str]) -> str:
        """The lowest one that is left."""
        for index in range(1, _HIGHEST[kind] + 1):
            if str(index) not in taken:
                return str(index)
        raise ExportError(f'The controller has no {kind.value} left; wire fewer signals.')

    def checked(self, kind: Kind, port: str) -> str:
        """The plain number."""
        if not (port.isascii() and port.isdigit() and len(port) < 6 and 1 <= int(port) <= _HIGHEST[kind]):
            raise ExportError(
                f"'{plain(port)}' is no {kind.value} of the controller; write a number from 1 to {_HIGHEST[kind]}."
            )
        return str(int(port))


@dataclass(frozen=True)
class Arm:
    """What of the arm stands in its jobs."""

    pulses_per_degree: tuple[float, ...]
    """S, L, U, R, B, T; negative: the motor counts the other way."""
    speeds: tuple[float, ...]
    """Full speed of each joint [rad/s]."""
    tool: int = 0


@dataclass
class _Job:
    """The lines of a job so far."""

    wiring: Wiring
    arm: Arm
    positions: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    too_fast: int = 0
    """Moves that were to be faster than the motors are."""
    too_slow: int = 0
    """Moves that were to be slower than the controller knows."""

    def comment(self, text: str) -> None:
        self.lines += [f"'{line}" for line in wrapped(plain(text, 400), LONGEST_COMMENT)]

    def note(self, step: Note) -> None:
        self.comment(step.text)

    def pause(self, step: Pause) -> None:
        self.lines += [f'TIMER T={seconds}' for seconds in _timers(step.duration)]

    def position(self, q: Sequence[float] | Matrix) -> str:
        name = f'C{len(self.positions):05d}'
        self.positions.append(f'{name}={",".join(str(count) for count in pulses(q, self.arm))}')
        return name

    def move(self, step: Move) -> None:
        motion = step.motion
        shares = np.abs(np.diff(motion.q, axis=0)) / np.asarray(self.arm.speeds)
        percents = 100.0 * shares.max(axis=1) / np.diff(motion.times)
        for q, percent, rests in zip(motion.q[1:], percents, step.rests[1:], strict=True):
            self.too_fast += bool(percent > FULL_SPEED + _PERCENT_OFF)
            self.too_slow += bool(percent < SLOWEST - _PERCENT_OFF)
            speed = number(min(max(percent, SLOWEST), FULL_SPEED), 2)
            self.lines.append(f'MOVJ {self.position(q)} VJ={speed} PL={0 if rests else 1}')

    def switch(self, step: Switch) -> None:
        if isinstance(step.value, bool):
            port = self.wiring.outputs[step.signal]
            self.lines.append(f'DOUT OT#({port}) {"ON" if step.value else "OFF"}')
            return
        if abs(step.value) > _MOST_VOLTS:
            raise ExportError(
                f'{signal_title(step.signal)} is set to {step.value:g}; analogue outputs take -14 to 14 volts.'
            )
        self.lines.append(f'AOUT AO#({self.wiring.levels[step.signal]}) {number(step.value, 2)}')

    def wait(self, step: Await) -> None:
        port = self.wiring.inputs[step.signal]
        wanted, other = ('ON', 'OFF') if step.value else ('OFF', 'ON')
        self.comment(f'waits for {step.signal}')
        if step.timeout is None:
            self.lines.append(f'WAIT IN#({port})={wanted}')
            return
        if step.timeout > LONGEST_TIME:
            raise ExportError(
                f'{signal_title(step.signal)} is waited for up to {step.timeout:g} s; '
                f'INFORM waits {LONGEST_TIME} s at most, or for ever.'
            )
        self.lines += [f'WAIT IN#({port})={wanted} T={number(step.timeout, 2)}', f'ABORT IF IN#({port})={other}']


def write_inform(
    program: Program, wiring: Wiring, name: str, header: Sequence[str], arm: Arm, made: datetime
) -> list[tuple[str, str]]:
    """Names and texts of the jobs; the first one is to be started."""
    groups = cut(program.parts, MOST_POSITIONS - 1)
    main = _Job(wiring, arm)
    for line in header:
        main.comment(line)
    main.comment(
        f'BEWARE: begins with an unchecked MOVJ at {START_SPEED:g} % to the first point, from wherever the arm is. '
        'Jog it there first.'
    )
    header_end = len(main.lines)
    main.lines.append(f'MOVJ {main.position(program.start)} VJ={number(START_SPEED, 2)} PL=0')
    if len(groups) == 1:
        _parts(main, groups[0])
        _tell_speeds(main, header_end, [main])
        return [(name, _job_text(name, main, made))]
    jobs = [(name, main)]
    for index, group in enumerate(groups, 1):
        job = _Job(wiring, arm)
        _parts(job, group)
        jobs.append((_numbered(name, index), job))
        main.lines.append(f'CALL JOB:{jobs[-1][0]}')
    _tell_speeds(main, header_end, [job for _, job in jobs])
    return [(each, _job_text(each, job, made)) for each, job in jobs]


def _tell_speeds(main: _Job, at: int, jobs: Sequence[_Job]) -> None:
    """Say in a job's header, which ends at a line, what is not as fast as planned."""
    notes = _Job(main.wiring, main.arm)
    if fast := sum(job.too_fast for job in jobs):
        notes.comment(f'{fast} moves are slower than planned: VJ is {FULL_SPEED:g} % at most.')
    if slow := sum(job.too_slow for job in jobs):
        notes.comment(f'{slow} moves are faster than planned: VJ is {SLOWEST:g} % at least.')
    main.lines[at:at] = notes.lines


def inform_name(text: str) -> str:
    """A job's name: upper case, so that every controller takes it."""
    return identifier(text, LONGEST_NAME).upper()


def pulses(q: Sequence[float] | Matrix, arm: Arm) -> list[int]:
    """The motors' counts at positions q [rad].

    Raises:
        ExportError: a count is larger than the controller's.
    """
    counts = [round(math.degrees(float(value)) * each) for value, each in zip(q, arm.pulses_per_degree, strict=True)]
    if max(map(abs, counts)) > _MOST_PULSES:
        raise ExportError(f'A position has {max(map(abs, counts))} pulses; check --pulses-per-degree.')
    return counts


def _numbered(name: str, index: int) -> str:
    """The name of a part of a job; as short as the job's where 8 characters are kept to."""
    longest = 8 if len(name) <= 8 else LONGEST_NAME
    suffix = f'{index:02d}'
    return f'{name[: longest - len(suffix)]}{suffix}'


def _timers(duration: float) -> list[str]:
    """Times for TIMER that sum up to a duration [s], rounded up to its unit."""
    left = max(math.ceil(duration * 100.0 - 1e-6), 1)
    most = round(LONGEST_TIME * 100.0)
    times = [most] * (left // most) + ([left % most] if left % most else [])
    return [number(each / 100.0, 2) for each in times]


def _parts(job: _Job, parts: Sequence[Part]) -> None:
    for part in parts:
        job.comment(part.title)
        for step in part.steps:
            say(step, job)


def _job_text(name: str, job: _Job, made: datetime) -> str:
    position_lines = [f'///TOOL {job.arm.tool}', '///POSTYPE PULSE', '///PULSE', *job.positions]
    lines = [
        '/JOB',
        f'//NAME {name}',
        '//POS',
        f'///NPOS {len(job.positions)},0,0,0,0,0',
        *(position_lines if job.positions else []),
        '//INST',
        f'///DATE {made:%Y/%m/%d %H:%M}',
        '///ATTR SC,RW',
        '///GROUP1 RB1',
        'NOP',
        *job.lines,
        'END',
    ]
    return '\r\n'.join([*lines, ''])
