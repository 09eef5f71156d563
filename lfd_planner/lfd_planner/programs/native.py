"""Solutions as native programs: which language fits which robot, and what is checked before anything is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

import numpy as np

from lfd_description.kinematics import Chain
from lfd_description.model.model import RobotModel
from lfd_description.robots import MOCK
from lfd_planner.solution import Solution
from lfd_planner.timing import Trajectory, path_times

from .inform import Arm, InformPorts, inform_name, write_inform
from .program import Program, compose
from .rapid import RapidPorts, checked_tool, rapid_name, write_rapid
from .texts import ExportError, number, plain
from .thinning import TOLERANCE, thinned
from .urscript import LOOKAHEAD, UrPorts, urscript_name, write_urscript
from .wiring import Asked, Ports, Wiring, wire

URSCRIPT, RAPID, INFORM = 'urscript', 'rapid', 'inform'
SERVO, MOVES = 'servo', 'moves'
FORMAT_OF = {'ur': URSCRIPT, 'abb': RAPID, 'motoman': INFORM}
"""The language of each kind of controller."""
ENDINGS = {URSCRIPT: '.script', RAPID: '.mod', INFORM: '.JBI'}
_MAKERS = {URSCRIPT: 'Universal Robots', RAPID: 'ABB', INFORM: 'Yaskawa'}
_AXES = 6
_ROUNDING = 1e-6  # [rad], by which a limit may be passed
_INFORM_NOTES = ('Corners are cut as PL=1 says.', 'Speeds as planned; INFORM has no times.')
_FASTER = 1.001  # times a speed limit that a motion may take


@dataclass(frozen=True)
class Options:
    """How a program is written."""

    format: str | None = None
    """One of `FORMAT_OF`; None: the robot's own."""
    name: str = 'program'
    mode: str | None = None
    """`servo` or `moves`; None: the one that is nearest to the plan."""
    tolerance: float = TOLERANCE
    """How far lines between points may leave the planned path [rad]."""
    tool: str | None = None
    """RAPID: tool data, INFORM: a tool number; None: the flange."""
    pulses_per_degree: tuple[float, ...] | None = None
    """INFORM: of the motors S, L, U, R, B, T."""
    signals: Asked = field(default_factory=Asked)
    made: datetime = datetime(2000, 1, 1)


@dataclass(frozen=True)
class ProgramFile:
    """A file of a program."""

    name: str
    text: str


@dataclass(frozen=True)
class Exported:
    """A program in the language of a controller."""

    format: str
    files: tuple[ProgramFile, ...]
    """The first one is to be started; the others lie beside it."""
    notes: tuple[str, ...]
    """What the user should know: the ports of signals, and what is not as planned."""


def export(solution: Solution, model: RobotModel, options: Options) -> Exported:
    """The native program of a solution.

    Raises:
        ExportError: the format does not fit the robot, the solution breaks its limits, or an option is wrong.
    """
    language = format_of(model, options.format)
    _check_arm(solution, model, language)
    _check_limits(solution, model)
    servo = _servo(language, options.mode)
    thin = _as_it_is if servo else partial(thinned, tolerance=_checked_tolerance(options.tolerance))
    gpio = model.gripper.gpio if model.gripper else None
    program = compose(solution, thin, f'{model.prefix}{gpio}' if gpio else None)
    ports: dict[str, Ports] = {URSCRIPT: UrPorts(), RAPID: RapidPorts(), INFORM: InformPorts()}
    wiring = wire(program, options.signals, ports[language])
    write = {URSCRIPT: _urscript, RAPID: _rapid, INFORM: _inform}[language]
    files = write(program, wiring, model, options)
    return Exported(language, tuple(files), (*wiring.told, *program.notes))


def format_of(model: RobotModel, asked: str | None) -> str:
    """The language to write in.

    Raises:
        ExportError: the robot's controller speaks another one, or is not known.
    """
    hardware, name = model.robot.hardware, plain(model.robot.name)
    own = FORMAT_OF.get(hardware)
    if asked is None and own is None:
        raise ExportError(f'Nobody said which controller {name} has; add --format {", ".join(ENDINGS)}.')
    if asked is not None and asked != own and hardware != MOCK:
        raise ExportError(f'{asked} is for {_MAKERS[asked]}, and {name} has another controller; use --format {own}.')
    return asked or own or ''


def _check_arm(solution: Solution, model: RobotModel, language: str) -> None:
    name = plain(model.robot.name)
    if solution.joints != model.group.joints:
        raise ExportError(f'The joints of the solution are not those of {name}; name the solution of that robot.')
    turning = [joint for joint in solution.joints if model.tree.joint[joint].turns]
    if len(solution.joints) != _AXES or len(turning) != _AXES:
        raise ExportError(
            f'{language} takes arms with {_AXES} turning axes, and {name} has {len(turning)} of {len(solution.joints)}.'
        )


def _check_limits(solution: Solution, model: RobotModel) -> None:
    """Refuse what leaves the limits; a controller would stop there in the middle of the task."""
    motion = solution.trajectory
    times = np.unique(np.concatenate([path_times(motion, 0.01), motion.times]))
    found = motion.sample(times)
    for column, joint in enumerate(solution.joints):
        limits = model.limits[joint]
        beyond = np.maximum(limits.lower - found.q[:, column], found.q[:, column] - limits.upper)
        if beyond.max() > _ROUNDING:
            raise ExportError(_beyond(joint, times[np.argmax(beyond)], 'its limits'))
        speed = np.abs(found.v[:, column])
        if speed.max() > _FASTER * limits.velocity:
            raise ExportError(_beyond(joint, times[np.argmax(speed)], 'its speed'))


def _beyond(joint: str, time: float, what: str) -> str:
    return f"Joint '{plain(joint)}' leaves {what} at {time:.3f} s; plan the task again."


def _checked_tolerance(tolerance: float) -> float:
    if not 1e-5 <= tolerance <= 0.1:
        raise ExportError(f'The tolerance is {tolerance:g} rad; write 0.00001 to 0.1.')
    return tolerance


def _servo(language: str, mode: str | None) -> bool:
    if mode == SERVO and language != URSCRIPT:
        raise ExportError(f'{language} has no servo mode; use --mode {MOVES}.')
    return language == URSCRIPT and mode != MOVES


def _as_it_is(motion: Trajectory) -> Trajectory:
    return motion


def _header(program: Program, wiring: Wiring, model: RobotModel, how: list[str]) -> list[str]:
    return [
        f'{plain(model.robot.label)}, made by lfd. Takes {number(program.duration, 2)} s as planned.',
        *how,
        *wiring.told,
        *program.notes,
    ]


def _lines(options: Options) -> str:
    return f'Lines between points stay within {options.tolerance:g} rad of the planned path.'


def _urscript(program: Program, wiring: Wiring, model: RobotModel, options: Options) -> list[ProgramFile]:
    name = urscript_name(options.name)
    if _servo(URSCRIPT, options.mode):
        chain = None
        how = [
            'servoj follows the planned cubics in the controller cycle.',
            f'It smooths over {LOOKAHEAD:g} s, and waits for the arm before each action.',
        ]
    else:
        chain = Chain(model.tree, model.group.base, model.group.tip)
        how = [_lines(options), 'Corners are cut by r at most; the controller plans speeds anew.']
    header = _header(program, wiring, model, [*how, f'Send it to port 30002, or call {name}() after it.'])
    return [ProgramFile(f'{name}{ENDINGS[URSCRIPT]}', write_urscript(program, wiring, name, header, chain))]


def _rapid(program: Program, wiring: Wiring, model: RobotModel, options: Options) -> list[ProgramFile]:
    name = rapid_name(options.name)
    tool = checked_tool(options.tool or 'tool0')
    how = [_lines(options), 'Corners are cut by 1 mm at most (z1).', _load(tool)]
    header = _header(program, wiring, model, how)
    modules = write_rapid(program, wiring, name, header, tool)
    files = [ProgramFile(f'{each}{ENDINGS[RAPID]}', text) for each, text in modules]
    if len(files) > 1:
        files.append(ProgramFile(f'{name}.pgf', _program_list([file.name for file in files])))
    return files


def _load(tool: str) -> str:
    if tool == 'tool0':
        return 'tool0 has no load; name the tool data of the gripper with --tool.'
    return f'The tool data {tool} must have the load of the gripper.'


def _program_list(modules: list[str]) -> str:
    """The file that loads several modules as one program."""
    lines = ['<?xml version="1.0" encoding="ISO-8859-1" ?>', '<Program>']
    return '\r\n'.join([*lines, *(f'\t<Module>{module}</Module>' for module in modules), '</Program>', ''])


def _inform(program: Program, wiring: Wiring, model: RobotModel, options: Options) -> list[ProgramFile]:
    each = options.pulses_per_degree
    if each is None:
        raise ExportError(
            f'How many pulses a degree has on {plain(model.robot.name)} is not known; '
            'read them off the controller and add --pulses-per-degree S L U R B T.'
        )
    if len(each) != _AXES or not all(np.isfinite(each)) or min(map(abs, each)) < 1.0:
        raise ExportError('Pulses per degree are six numbers, none between -1 and 1; check --pulses-per-degree.')
    tool = options.tool or '0'
    if not (tool.isascii() and tool.isdigit() and len(tool) < 3 and int(tool) <= 63):
        raise ExportError(f"'{plain(tool)}' is no tool number; write 0 to 63.")
    arm = Arm(each, tuple(model.limits[joint].velocity for joint in program.joints), int(tool))
    header = _header(program, wiring, model, [_lines(options), *_INFORM_NOTES])
    jobs = write_inform(program, wiring, inform_name(options.name), header, arm, options.made)
    return [ProgramFile(f'{name}{ENDINGS[INFORM]}', text) for name, text in jobs]
