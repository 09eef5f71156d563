"""INFORM: job files with positions in pulses, moves, outputs, waits, timers and calls of other jobs."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

import numpy as np

from .replay import Halted, Inputs, ProgramError, Recorder, all_on
from .tokens import Reader, tokens

KINDS = {
    'comment': r"'[^\r\n]*",
    'newline': r'\r\n',
    'date': r'\d{4}/\d{2}/\d{2} \d{2}:\d{2}',
    'directive': r'/{1,3}[A-Z0-9]+',
    'space': r' +',
    'number': r'-?\d+(\.\d+)?(?=[ ,\r=)])',
    'name': r'[A-Z0-9_]+',
    'symbol': r'[#(),=:]',
}


@dataclass
class Job:
    name: str
    positions: dict[str, list[int]] = field(default_factory=dict)
    lines: list[tuple] = field(default_factory=list)


@dataclass
class Parser:
    reader: Reader

    def line(self) -> None:
        self.reader.expect_kind('newline')

    def whole(self) -> int:
        token = self.reader.expect_kind('number')
        if not re.fullmatch(r'-?\d+', token.text) or abs(int(token.text)) >= 2**31:
            raise ProgramError(f'line {token.line}: {token.text} is no whole number')
        return int(token.text)

    def wholes(self, count: int) -> list[int]:
        found = [self.whole()]
        for _ in range(count - 1):
            self.reader.expect(',')
            found.append(self.whole())
        return found

    def decimal(self, lowest: float, highest: float) -> float:
        token = self.reader.expect_kind('number')
        value = float(token.text)
        if not re.fullmatch(r'-?\d+\.\d\d', token.text) or not lowest <= value <= highest:
            raise ProgramError(f'line {token.line}: {token.text} is not from {lowest} to {highest} with two decimals')
        return value

    def name(self) -> str:
        token = self.reader.take()
        if token.kind not in ('name', 'number') or len(token.text) > 32:
            raise ProgramError(f'line {token.line}: {token.text!r} cannot be a name')
        return token.text

    def job(self) -> Job:
        self.reader.expect('/JOB')
        self.line()
        self.reader.expect('//NAME')
        job = Job(self.name())
        self.line()
        self.reader.expect('//POS')
        self.line()
        self.reader.expect('///NPOS')
        counts = self.wholes(6)
        self.line()
        if counts[0]:
            self.positions(job)
        if counts != [len(job.positions), 0, 0, 0, 0, 0]:
            raise ProgramError(f'NPOS says {counts}, and there are {len(job.positions)} positions')
        self.instructions(job)
        used = [line[1] for line in job.lines if line[0] == 'MOVJ']
        if sorted(used) != sorted(job.positions):
            raise ProgramError('not every position is used by exactly one move')
        return job

    def positions(self, job: Job) -> None:
        self.reader.expect('///TOOL')
        if not 0 <= self.whole() <= 63:
            raise ProgramError('there is no such tool')
        self.line()
        for words in (('///POSTYPE', 'PULSE'), ('///PULSE',)):
            for word in words:
                self.reader.expect(word)
            self.line()
        while self.reader.next.kind == 'name':
            name = self.reader.take().text
            if name != f'C{len(job.positions):05d}':
                raise ProgramError(f'the position {name} is out of order')
            self.reader.expect('=')
            job.positions[name] = self.wholes(6)
            self.line()

    def instructions(self, job: Job) -> None:
        self.reader.expect('//INST')
        self.line()
        self.reader.expect('///DATE')
        self.reader.expect_kind('date')
        self.line()
        for words in (('///ATTR', 'SC', ',', 'RW'), ('///GROUP1', 'RB1'), ('NOP',)):
            for word in words:
                self.reader.expect(word)
            self.line()
        while not self.reader.is_next('END'):
            job.lines.append(self.instruction())
            self.line()
        self.reader.expect('END')
        self.line()
        if self.reader.next.kind != 'end of file':
            raise self.reader.wrong()

    def instruction(self) -> tuple:
        token = self.reader.take()
        if token.kind == 'comment':
            if len(token.text) > 33:
                raise ProgramError(f'line {token.line}: the comment is too long')
            return ('comment', token.text[1:])
        read = getattr(self, f'read_{token.text.lower()}', None)
        if read is None:
            raise ProgramError(f'line {token.line}: there is no instruction {token.text!r}')
        return (token.text, *read())

    def read_movj(self) -> tuple:
        name = self.name()
        self.tag('VJ')
        speed = self.decimal(0.01, 100.0)
        self.tag('PL')
        level = self.whole()
        if not 0 <= level <= 8:
            raise ProgramError(f'there is no position level {level}')
        return name, speed, level

    def tag(self, name: str) -> None:
        self.reader.expect(name)
        self.reader.expect('=')

    def port(self, kind: str, highest: int) -> str:
        for word in (kind, '#', '('):
            self.reader.expect(word)
        index = self.whole()
        self.reader.expect(')')
        if not 1 <= index <= highest:
            raise ProgramError(f'there is no {kind}#({index})')
        return str(index)

    def state(self) -> bool:
        token = self.reader.take()
        if token.text not in ('ON', 'OFF'):
            raise ProgramError(f'line {token.line}: {token.text!r} is neither ON nor OFF')
        return token.text == 'ON'

    def read_dout(self) -> tuple:
        return self.port('OT', 4096), self.state()

    def read_aout(self) -> tuple:
        return self.port('AO', 40), self.decimal(-14.0, 14.0)

    def read_timer(self) -> tuple:
        self.tag('T')
        return (self.decimal(0.01, 655.35),)

    def condition(self) -> tuple[str, bool]:
        port = self.port('IN', 4096)
        self.reader.expect('=')
        return port, self.state()

    def read_wait(self) -> tuple:
        condition = self.condition()
        if not self.reader.is_next('T'):
            return (*condition, math.inf)
        self.tag('T')
        return (*condition, self.decimal(0.01, 655.35))

    def read_abort(self) -> tuple:
        self.reader.expect('IF')
        return self.condition()

    def read_call(self) -> tuple:
        self.reader.expect('JOB')
        self.reader.expect(':')
        return (self.name(),)


@dataclass
class Controller:
    """Runs jobs; a move takes as long as the joint that needs longest at its share of full speed."""

    jobs: dict[str, Job]
    recorder: Recorder
    inputs: Inputs
    pulses_per_degree: np.ndarray
    speeds: np.ndarray

    def run(self, name: str) -> None:
        if name not in self.jobs:
            raise ProgramError(f'there is no job {name}')
        job = self.jobs[name]
        for kind, *arguments in job.lines:
            if kind == 'comment':
                self.recorder.comment(arguments[0])
            elif kind == 'MOVJ':
                self.move(job, *arguments)
            elif kind == 'DOUT':
                self.recorder.act('output', *arguments)
            elif kind == 'AOUT':
                self.recorder.act('level', *arguments)
            elif kind == 'TIMER':
                self.recorder.act('pause', *arguments)
            elif kind == 'WAIT':
                self.wait(*arguments)
            elif kind == 'ABORT':
                if self.inputs(arguments[0], math.inf) == arguments[1]:
                    raise Halted('ABORT')
            else:
                self.run(arguments[0])

    def move(self, job: Job, name: str, percent: float, level: int) -> None:
        q = np.radians(np.array(job.positions[name]) / self.pulses_per_degree)
        if self.recorder.approach is None:
            if percent > 5.0 or level != 0:
                raise ProgramError('the first move is not slow')
            self.recorder.approached(q)
        else:
            share = np.max(np.abs(q - self.recorder.q) / self.speeds)
            self.recorder.moved(q, float(share / (percent / 100.0)), stops=level == 0)

    def wait(self, port: str, value: bool, longest: float) -> None:
        waited = 0.0
        while self.inputs(port, waited) != value and waited < longest:
            waited += 0.1
            if waited > 1000.0:
                raise ProgramError('it waits for ever')
        self.recorder.act('input', port, value)


def parse_inform(text: str) -> Job:
    """Read a job file."""
    return Parser(Reader(list(tokens(text, KINDS)))).job()


def run_inform(
    texts: list[str], start: np.ndarray, pulses_per_degree: np.ndarray, speeds: np.ndarray, *, inputs: Inputs = all_on
) -> Recorder:
    """Run the first job from where the arm is [rad]; `speeds` are the joints' full ones [rad/s]."""
    jobs = [parse_inform(text) for text in texts]
    if len({job.name for job in jobs}) != len(jobs):
        raise ProgramError('two jobs have one name')
    controller = Controller({job.name: job for job in jobs}, Recorder(start), inputs, pulses_per_degree, speeds)
    controller.run(jobs[0].name)
    return controller.recorder
