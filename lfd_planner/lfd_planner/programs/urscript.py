"""URScript, the language of Universal Robots' controllers.

In servo mode the program carries the solution's points, and the controller follows the cubics between them with servoj
in its own cycle (2 ms, or 8 ms on CB3): the motion is the planned one. In moves mode it is a list of movej with times
and blends, which a person can edit and the controller plans anew.

Facts: `servoj(q, a, v, t, lookahead_time, gain)` takes t seconds, ignores a and v, and smooths over the look-ahead
time. `movej(q, a, v, t, r)` ignores a and v if t is given; blends of r metres that overlap make it skip a point.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from lfd_description.kinematics import Chain
from lfd_planner.timing.cubics import Matrix

from .program import Await, Move, Note, Pause, Program, Step, Switch, say
from .texts import ExportError, identifier, number, plain, wrapped
from .wiring import Kind, Wiring, signal_title

LOOKAHEAD = 0.1
"""[s], over which servoj smooths; UR allows 0.03 to 0.2."""
GAIN = 300  # of servoj; UR allows 100 to 2000
SETTLE = 0.2  # [s], in which the arm catches up with the last set-point
LARGEST_BLEND = 0.02  # [m]
_SMALLEST_BLEND = 0.0005  # [m]
START_REACH = 0.1
"""The program refuses to start with a joint further than this from the first point [rad]."""

_COUNTS = {'standard': 8, 'configurable': 8, 'tool': 2}
_RESERVED = (
    *('and', 'break', 'continue', 'def', 'elif', 'else', 'end', 'false', 'for', 'global', 'halt', 'if', 'in', 'join'),
    *('kill', 'local', 'not', 'or', 'pass', 'return', 'run', 'sec', 'struct', 'thread', 'true', 'while', 'xor'),
    *('get_actual_joint_positions', 'get_steptime', 'movej', 'norm', 'popup', 'servoj', 'sleep', 'stopj', 'sync'),
)


class UrPorts:
    """`3` or `standard:3` (0 to 7), `configurable:3` (0 to 7), `tool:1` (0 to 1); analogue outputs 0 and 1."""

    def default(self, kind: Kind, signal: str, taken: Collection[str]) -> str:
        """The lowest standard one that is left."""
        for index in range(self._count(kind, 'standard')):
            if f'standard:{index}' not in taken:
                return f'standard:{index}'
        raise ExportError(f'The controller has no {kind.value} left; name one for each signal, such as tool:0.')

    def checked(self, kind: Kind, port: str) -> str:
        """With its bank before it."""
        bank, _, index = port.rpartition(':')
        bank = bank or 'standard'
        if not (index.isascii() and index.isdigit() and len(index) < 3 and int(index) < self._count(kind, bank)):
            raise ExportError(
                f"'{plain(port)}' is no {kind.value} of the controller; write 0 to {self._count(kind, 'standard') - 1}"
                f'{", configurable:0 to :7 or tool:0 to :1" if kind is not Kind.LEVEL else ""}.'
            )
        return f'{bank}:{int(index)}'

    def _count(self, kind: Kind, bank: str) -> int:
        if kind is Kind.LEVEL:
            return 2 if bank == 'standard' else 0
        return _COUNTS.get(bank, 0)


@dataclass
class _Writer:
    """The lines of a program so far."""

    program: Program
    wiring: Wiring
    chain: Chain | None
    """Where the tool is, for blends; None: servo mode."""
    lines: list[str]

    def add(self, *lines: str) -> None:
        self.lines += [f'  {line}' if line else '' for line in lines]

    def step(self, step: Step, last: bool) -> None:
        """One more step; `last`: before something that needs the arm at rest."""
        say(step, self)
        if isinstance(step, Move) and last and self.chain is None:
            self.add('lfd_rest()')

    def note(self, step: Note) -> None:
        self.add(f'# {plain(step.text)}')

    def pause(self, step: Pause) -> None:
        self.add(f'sleep({number(step.duration, 3)})')

    def move(self, step: Move) -> None:
        motion = step.motion
        if self.chain is None:
            for q, v, duration in zip(motion.q[1:], motion.v[1:], step.durations(6), strict=True):
                self.add(f'lfd_follow({_row(q)}, {_row(v)}, {number(duration, 6)})')
        else:
            for q, duration, blend in zip(motion.q[1:], step.durations(4), _blends(step, self.chain), strict=True):
                self.add(f'movej({_row(q)}, a=1.4, v=1.05, t={number(duration, 4)}, r={number(blend, 4)})')

    def switch(self, step: Switch) -> None:
        if isinstance(step.value, bool):
            bank, index = self.wiring.outputs[step.signal].split(':')
            self.add(f'set_{bank}_digital_out({index}, {step.value})')
            return
        if not 0.0 <= step.value <= 1.0:
            raise ExportError(
                f'{signal_title(step.signal)} is set to {step.value:g}; analogue outputs of UR take 0 to 1.'
            )
        index = self.wiring.levels[step.signal].partition(':')[2]
        self.add(f'set_standard_analog_out({index}, {number(step.value, 4)})')

    def wait(self, step: Await) -> None:
        bank, index = self.wiring.inputs[step.signal].split(':')
        self.add(f'# waits for {plain(step.signal)}', 'lfd_waited = 0.0')
        self.add(f'while {"not " if step.value else ""}get_{bank}_digital_in({index}):', '  sync()')
        if step.timeout is not None:
            self.add('  lfd_waited = lfd_waited + lfd_step')
            self.add(f'  if lfd_waited > {number(step.timeout, 3)}:')
            self.add(f'    lfd_fail("An input did not come: {bank} {index}.")', '  end')
        self.add('end')


def write_urscript(
    program: Program, wiring: Wiring, name: str, header: Sequence[str], chain: Chain | None = None
) -> str:
    """The program's text; `chain` leads to the tool that blends are measured at (moves mode), None: servo mode."""
    writer = _Writer(program, wiring, chain, [f'def {name}():'])
    writer.add(*(f'# {line}' for sentence in header for line in wrapped(sentence, 100)), '')
    writer.add(*_common(program, name))
    if chain is None:
        writer.add('global lfd_t = lfd_step', f'global lfd_q = {_row(program.start)}')
        writer.add(f'global lfd_v = {_row([0.0] * len(program.start))}', '', *_SERVO)
    writer.add(f'lfd_approach({_row(program.start)})')
    goes_on = _goes_on(program)
    for part in program.parts:
        writer.add('', f'# {plain(part.title)}')
        for step in part.steps:
            writer.step(step, id(step) not in goes_on)
    return '\n'.join([*writer.lines, 'end', ''])


def _goes_on(program: Program) -> set[int]:
    """The ids of the moves that another move follows at once."""
    steps = [step for part in program.parts for step in part.steps if not isinstance(step, Note)]
    return {id(step) for step, after in itertools.pairwise(steps) if isinstance(after, Move)}


def urscript_name(text: str) -> str:
    """A name that a URScript function can have."""
    return identifier(text, 64, _RESERVED)


def _common(program: Program, name: str) -> list[str]:
    return [
        'global lfd_step = get_steptime()',
        'global lfd_waited = 0.0',
        '',
        'def lfd_fail(why):',
        f'  popup(why, title="{name}", warning=False, error=True, blocking=True)',
        '  halt',
        'end',
        '',
        '# Moves slowly to the first point, if the arm is near it.',
        'def lfd_approach(q):',
        '  local now = get_actual_joint_positions()',
        '  local joint = 0',
        f'  while joint < {len(program.start)}:',
        f'    if norm(now[joint] - q[joint]) > {START_REACH}:',
        '      lfd_fail("The arm is far from the first point; move it there.")',
        '    end',
        '    joint = joint + 1',
        '  end',
        '  movej(q, a=0.5, v=0.2)',
        'end',
        '',
    ]


def _cubic() -> str:
    return ', '.join(f'a * lfd_q[{i}] + b * lfd_v[{i}] + c * q[{i}] + d * v[{i}]' for i in range(6))


_SERVO = (
    '# Follows the cubic from the last point to q [rad] with velocity v [rad/s] there, in the time given [s].',
    'def lfd_follow(q, v, duration):',
    '  local s = 0.0',
    '  local a = 0.0',
    '  local b = 0.0',
    '  local c = 0.0',
    '  local d = 0.0',
    '  while lfd_t <= duration:',
    '    s = lfd_t / duration',
    '    c = s * s * (3.0 - 2.0 * s)',
    '    a = 1.0 - c',
    '    b = duration * s * (1.0 - s) * (1.0 - s)',
    '    d = duration * s * s * (s - 1.0)',
    f'    servoj([{_cubic()}], 0, 0, lfd_step, {LOOKAHEAD}, {GAIN})',
    '    lfd_t = lfd_t + lfd_step',
    '  end',
    '  lfd_t = lfd_t - duration',
    '  lfd_q = q',
    '  lfd_v = v',
    'end',
    '',
    '# Holds the last point until the arm has caught up.',
    'def lfd_rest():',
    '  local held = 0.0',
    f'  while held < {SETTLE}:',
    f'    servoj(lfd_q, 0, 0, lfd_step, {LOOKAHEAD}, {GAIN})',
    '    held = held + lfd_step',
    '  end',
    '  stopj(4.0)',
    '  lfd_t = lfd_step',
    'end',
    '',
)


def _row(values: Sequence[float] | Matrix) -> str:
    return f'[{", ".join(number(float(value), 7) for value in values)}]'


def _blends(step: Move, chain: Chain) -> list[float]:
    """A radius [m] for each point after the first: none at rests, and never so large that two blends meet."""
    positions = chain.poses(step.motion.q)[:, :3, 3]
    ways = np.linalg.norm(np.diff(positions, axis=0), axis=1)
    found = []
    for rests, (before, after) in zip(step.rests[1:], itertools.pairwise([*ways, 0.0]), strict=True):
        blend = min(LARGEST_BLEND, 0.4 * before, 0.4 * after)
        found.append(0.0 if rests or blend < _SMALLEST_BLEND else blend)
    return found
