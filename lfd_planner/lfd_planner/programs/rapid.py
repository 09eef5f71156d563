r"""RAPID, the language of ABB's controllers: modules with joint targets, and a routine for each segment.

Facts: names have at most 32 characters, and case does not matter; a comment goes from ! to the end of the line; a
statement may take several lines; strings have at most 80 characters; 9E9 is an external axis that is not there. `\T`
is the time of a movement [s] and replaces its speed. After a `fine` point the program goes on when the arm stands
still; `z1` lets the tool cut a corner by at most 1 mm.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from lfd_planner.timing.cubics import Matrix

from .program import GRIPPER, Await, Move, Note, Part, Pause, Program, Switch, cut, say
from .texts import ExportError, identifier, number, plain, wrapped
from .wiring import Kind, Wiring

LONGEST_NAME = 32
COLUMNS = 80
MOST_TARGETS = 1000
"""In one module."""
START_REACH = 5.0
"""The program refuses to start with an axis further than this from the first point [deg]."""
ZONE = 'z1'
_AXES = 6

_RESERVED = frozenset(
    (
        *('alias', 'and', 'backward', 'case', 'connect', 'const', 'default', 'div', 'do', 'else', 'elseif', 'endfor'),
        *('endfunc', 'endif', 'endmodule', 'endproc', 'endrecord', 'endtest', 'endtrap', 'endwhile', 'error', 'exit'),
        *('false', 'for', 'from', 'func', 'goto', 'if', 'inout', 'local', 'mod', 'module', 'nostepin', 'not', 'noview'),
        *('or', 'pers', 'proc', 'raise', 'readonly', 'record', 'retry', 'return', 'step', 'sysmodule', 'test', 'then'),
        *('to', 'trap', 'true', 'trynext', 'undo', 'var', 'viewonly', 'while', 'with', 'xor'),
        *('main', 'user', 'base'),  # modules and routines that every cell has
    )
)


class RapidPorts:
    """Signals by name, as they are defined in the controller's I/O configuration."""

    def default(self, kind: Kind, signal: str, taken: Collection[str]) -> str:
        """The signal's own name, made a RAPID name."""
        name = 'doGripper' if signal == GRIPPER else identifier(signal, LONGEST_NAME, _RESERVED, 'signal')
        lower = {port.lower() for port in taken}
        for suffix in ('', *(f'_{count}' for count in range(2, len(lower) + 3))):
            found = f'{name[: LONGEST_NAME - len(suffix)]}{suffix}'
            if found.lower() not in lower:
                return found
        raise AssertionError('one more suffix than names are taken')

    def checked(self, kind: Kind, port: str) -> str:
        """As it is."""
        if port != identifier(port, LONGEST_NAME, _RESERVED):
            raise ExportError(
                f"'{plain(port)}' is no signal name in RAPID; use up to {LONGEST_NAME} letters, digits and _, a letter "
                'first.'
            )
        return port


@dataclass
class _Module:
    """The lines of a module so far."""

    wiring: Wiring
    tool: str
    targets: list[str] = field(default_factory=list)
    routines: list[str] = field(default_factory=list)
    count: int = 0

    def target(self, q: Sequence[float] | Matrix, name: str = '') -> str:
        """The name of a new joint target."""
        self.count += 1
        name = name or f'p{self.count:04d}'
        self.targets += target_lines(name, q)
        return name

    def add(self, *lines: str) -> None:
        self.routines += [f'    {line}' for line in lines]

    def note(self, step: Note) -> None:
        self.add(f'! {plain(step.text)}')

    def pause(self, step: Pause) -> None:
        self.add(f'WaitTime {number(step.duration, 3)};')

    def move(self, step: Move) -> None:
        motion = step.motion
        for q, duration, rests in zip(motion.q[1:], step.durations(4), step.rests[1:], strict=True):
            speed = f'v1000\\T:={number(duration, 4)}'
            call, end = f'MoveAbsJ {self.target(q)}\\NoEOffs,{speed},', f'{"fine" if rests else ZONE},{self.tool};'
            self.add(*([call + end] if len(call + end) <= COLUMNS - 4 else [call, f'  {end}']))

    def switch(self, step: Switch) -> None:
        if isinstance(step.value, bool):
            self.add(f'SetDO {self.wiring.outputs[step.signal]},{int(step.value)};')
        else:
            self.add(f'SetAO {self.wiring.levels[step.signal]},{number(step.value, 4)};')

    def wait(self, step: Await) -> None:
        limit = '' if step.timeout is None else f'\\MaxTime:={number(step.timeout, 3)}'
        self.add(f'! waits for {plain(step.signal)}')
        self.add(f'WaitDI {self.wiring.inputs[step.signal]},{int(step.value)}{limit};')


def write_rapid(
    program: Program, wiring: Wiring, name: str, header: Sequence[str], tool: str = 'tool0'
) -> list[tuple[str, str]]:
    """Names and texts of the modules; the first one has the routine `main`."""
    groups = cut(program.parts, MOST_TARGETS)
    modules, calls, count = [], [], 0
    for group in groups:
        module = _Module(wiring, tool)
        for part in group:
            routine = f'{name}_s{count:03d}'
            count += 1
            calls += [f'! {plain(part.title)}', f'{routine};']
            _routine(module, routine, part)
        modules.append(module)
    names = [name, *(f'{name}_m{index}' for index in range(2, len(modules) + 1))]
    texts = []
    for index, (module_name, module) in enumerate(zip(names, modules, strict=True)):
        first = _main(program, module, name, calls, tool) if index == 0 else []
        notes = header if index == 0 else [f'Continues {name}.']
        texts.append((module_name, _module_text(module_name, notes, module, first)))
    return texts


def rapid_name(text: str) -> str:
    """A name for a module whose routines' names are short enough as well."""
    return identifier(text, LONGEST_NAME - len('_s00000'), _RESERVED)


def checked_tool(tool: str) -> str:
    """The name of the tool data.

    Raises:
        ExportError: it is no RAPID name.
    """
    if tool != identifier(tool, LONGEST_NAME, _RESERVED):
        raise ExportError(f"'{plain(tool)}' is no name of tool data in RAPID; write one such as tool0.")
    return tool


def target_lines(name: str, q: Sequence[float] | Matrix) -> list[str]:
    """The lines of a joint target at positions q [rad]."""
    axes = ','.join(number(math.degrees(float(value)), 4) for value in q)
    free = ','.join(['9E9'] * _AXES)
    return [f'  LOCAL CONST jointtarget {name}:=', f'    [[{axes}],', f'    [{free}]];']


def _routine(module: _Module, name: str, part: Part) -> None:
    module.routines += ['', f'  ! {plain(part.title)}', f'  PROC {name}()']
    for step in part.steps:
        say(step, module)
    module.routines.append('  ENDPROC')


def _main(program: Program, module: _Module, name: str, calls: list[str], tool: str) -> list[str]:
    start = module.target(program.start, 'pStart')
    far = [f'Abs(now.robax.rax_{axis}-{start}.robax.rax_{axis})>{START_REACH:g}' for axis in range(1, _AXES + 1)]
    return [
        '  PROC main()',
        *(f'    {line}' for line in (f'{name}_start;', *calls)),
        '  ENDPROC',
        '',
        '  ! Moves slowly to the first point, if the arm is near it.',
        f'  PROC {name}_start()',
        '    VAR jointtarget now;',
        '    now:=CJointT();',
        f'    IF {far[0]}',
        *(f'      OR {condition}' for condition in far[1:]),
        '    THEN',
        '      TPWrite "The arm is far from the first point; move it there.";',
        '      EXIT;',
        '    ENDIF',
        f'    MoveAbsJ {start}\\NoEOffs,v50,fine,{tool};',
        '  ENDPROC',
    ]


def _module_text(name: str, header: Sequence[str], module: _Module, first: list[str]) -> str:
    lines = [
        f'MODULE {name}',
        *(f'  ! {line}' for sentence in header for line in wrapped(sentence, COLUMNS - 4)),
        '',
        *module.targets,
        '',
        *first,
        *module.routines,
    ]
    return '\r\n'.join([*lines, 'ENDMODULE', ''])
