"""RAPID: modules with constants and routines, IF, calls with optional arguments, and the instructions that lfd uses."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from .replay import Halted, Inputs, ProgramError, Recorder, all_on
from .tokens import Reader, tokens

KINDS = {
    'comment': r'![^\r\n]*',
    'space': r'[ \t\r\n]+',
    'number': r'\d+(\.\d*)?([eE][+-]?\d+)?',
    'string': r'"[^"\r\n]*"',
    'name': r'[A-Za-z][A-Za-z0-9_]*',
    'symbol': r':=|<>|<=|>=|[-+*/()\[\],;:=<>.\\]',
}
WORDS = {
    *('module', 'endmodule', 'local', 'const', 'var', 'pers', 'proc', 'endproc', 'if', 'then', 'endif', 'or', 'and'),
    *('not', 'exit', 'test', 'while', 'for', 'do', 'to', 'error', 'trap', 'func', 'return', 'goto', 'raise'),
}
LONGEST_LINE = 80
Tree = tuple


@dataclass
class Module:
    name: str
    data: dict[str, Tree] = field(default_factory=dict)
    """Constants by lower-case name."""
    routines: dict[str, list[Tree]] = field(default_factory=dict)


@dataclass
class Parser:
    reader: Reader

    def word(self) -> str:
        return self.reader.next.text.lower() if self.reader.next.kind == 'name' else self.reader.next.text

    def take(self, word: str) -> None:
        token = self.reader.take()
        if token.text.lower() != word:
            raise ProgramError(f'line {token.line}: {word!r} should stand where {token.text!r} stands')

    def name(self) -> str:
        token = self.reader.expect_kind('name')
        if len(token.text) > 32 or token.text.lower() in WORDS:
            raise ProgramError(f'line {token.line}: {token.text!r} cannot be a name')
        return token.text.lower()

    def comments(self) -> list[Tree]:
        found = []
        while self.reader.next.kind == 'comment':
            found.append(('comment', self.reader.take().text[1:].strip()))
        return found

    def module(self) -> Module:
        self.comments()
        self.take('module')
        module = Module(self.name())
        self.comments()
        while self.word() != 'endmodule':
            if self.word() == 'proc':
                self.routine(module)
            else:
                local = self.word() == 'local'
                if local:
                    self.take('local')
                self.constant(module)
            self.comments()
        self.take('endmodule')
        if self.reader.next.kind != 'end of file':
            raise self.reader.wrong()
        return module

    def constant(self, module: Module) -> None:
        self.take('const')
        kind, name = self.name(), self.name()
        self.take(':=')
        if name in module.data:
            raise ProgramError(f'{name} is there twice')
        module.data[name] = (kind, self.expression())
        self.take(';')

    def routine(self, module: Module) -> None:
        self.take('proc')
        name = self.name()
        self.take('(')
        self.take(')')
        if name in module.routines or name in module.data:
            raise ProgramError(f'{name} is there twice')
        module.routines[name] = self.statements('endproc')
        self.take('endproc')

    def statements(self, end: str) -> list[Tree]:
        body = self.comments()
        while self.word() != end:
            body.append(self.statement())
            body += self.comments()
        return body

    def statement(self) -> Tree:
        if self.word() == 'if':
            self.take('if')
            condition = self.expression()
            self.take('then')
            body = self.statements('endif')
            self.take('endif')
            return ('if', condition, body)
        if self.word() == 'var':
            self.take('var')
            statement: Tree = ('var', self.name(), self.name())
        elif self.word() == 'exit':
            self.take('exit')
            statement = ('exit',)
        else:
            name = self.name()
            if self.word() == ':=':
                self.take(':=')
                statement = ('set', name, self.expression())
            else:
                statement = ('call', name, self.arguments())
        self.take(';')
        return statement

    def arguments(self) -> list[tuple[str, Tree | None]]:
        """Each with its name, which is empty unless it is an optional one."""
        found: list[tuple[str, Tree | None]] = []
        if self.word() == ';':
            return found
        found.append(('', self.expression()))
        while self.word() in (',', '\\'):
            if self.reader.take().text == ',':
                found.append(('', self.expression()))
                continue
            name = self.name()
            value = None
            if self.word() == ':=':
                self.take(':=')
                value = self.expression()
            found.append((name, value))
        return found

    def expression(self, level: int = 0) -> Tree:
        levels = (('or',), ('and',), ('=', '<>', '<', '>', '<=', '>='), ('+', '-'), ('*', '/'))
        if level == len(levels):
            return self.unary()
        left = self.expression(level + 1)
        while self.word() in levels[level]:
            sign = self.reader.take().text.lower()
            left = ('binary', sign, left, self.expression(level + 1))
        return left

    def unary(self) -> Tree:
        if self.word() == '-':
            self.take('-')
            return ('minus', self.unary())
        token = self.reader.take()
        if token.kind == 'number':
            return ('value', float(token.text))
        if token.kind == 'string':
            if len(token.text) - 2 > 80:
                raise ProgramError(f'line {token.line}: the string is too long')
            return ('value', token.text[1:-1])
        if token.text == '[':
            items = [self.expression()]
            while self.word() == ',':
                self.take(',')
                items.append(self.expression())
            self.take(']')
            return ('aggregate', items)
        if token.text == '(':
            inner = self.expression()
            self.take(')')
            return inner
        if token.kind != 'name' or token.text.lower() in WORDS or len(token.text) > 32:
            raise ProgramError(f'line {token.line}: {token.text!r} is no expression')
        return self.named(token.text.lower())

    def named(self, name: str) -> Tree:
        if self.word() == '(':
            self.take('(')
            arguments = [] if self.word() == ')' else [self.expression()]
            self.take(')')
            return ('function', name, arguments)
        fields = []
        while self.word() == '.':
            self.take('.')
            fields.append(self.name())
        return ('data', name, fields)


@dataclass
class Controller:
    """Runs the modules of a task."""

    modules: list[Module]
    recorder: Recorder
    inputs: Inputs
    tools: tuple[str, ...]
    said: list[str] = field(default_factory=list)

    def routine(self, name: str) -> None:
        owners = [module for module in self.modules if name in module.routines]
        if len(owners) != 1:
            raise ProgramError(f'there are {len(owners)} routines {name}')
        self.run(owners[0], owners[0].routines[name], {})

    def run(self, module: Module, body: list[Tree], frame: dict[str, object]) -> None:
        for statement in body:
            kind = statement[0]
            if kind == 'comment':
                self.recorder.comment(statement[1])
            elif kind == 'var':
                frame[statement[2]] = None
            elif kind == 'set':
                if statement[1] not in frame:
                    raise ProgramError(f'{statement[1]} is not declared')
                frame[statement[1]] = self.value(module, statement[2], frame)
            elif kind == 'exit':
                raise Halted(self.said[-1])
            elif kind == 'if':
                if self.value(module, statement[1], frame):
                    self.run(module, statement[2], frame)
            else:
                self.call(module, statement[1], statement[2], frame)

    def value(self, module: Module, tree: Tree, frame: dict[str, object]) -> object:
        kind = tree[0]
        if kind == 'value':
            return tree[1]
        if kind == 'minus':
            return -self.value(module, tree[1], frame)
        if kind == 'aggregate':
            return [self.value(module, item, frame) for item in tree[1]]
        if kind == 'function':
            return self.function(module, *tree[1:], frame)
        if kind == 'data':
            return self.data(module, *tree[1:], frame)
        left, right = self.value(module, tree[2], frame), self.value(module, tree[3], frame)
        return {'-': lambda: left - right, '>': lambda: left > right, 'or': lambda: left or right}[tree[1]]()

    def function(self, module: Module, name: str, arguments: list[Tree], frame: dict[str, object]) -> object:
        if name == 'cjointt' and not arguments:
            return [np.degrees(self.recorder.q).tolist(), [9e9] * 6]
        if name == 'abs' and len(arguments) == 1:
            return abs(self.value(module, arguments[0], frame))
        raise ProgramError(f'there is no function {name}')

    def data(self, module: Module, name: str, fields: list[str], frame: dict[str, object]) -> object:
        if name in frame:
            found = frame[name]
        elif name in module.data:
            found = self.value(module, module.data[name][1], frame)
        else:
            raise ProgramError(f'{name} is not declared in {module.name}')
        for each in fields:
            found = found[{'robax': 0, 'extax': 1}[each] if each in ('robax', 'extax') else int(each[-1]) - 1]
        return found

    def call(self, module: Module, name: str, arguments: list[tuple[str, Tree | None]], frame: dict) -> None:
        if not arguments:
            self.routine(name)
        elif name == 'moveabsj':
            self.move(module, arguments, frame)
        elif name in ('setdo', 'setao'):
            (_, signal), (_, value) = arguments
            found = self.value(module, value, frame)
            if name == 'setdo' and found not in (0.0, 1.0):
                raise ProgramError(f'a digital output cannot be {found}')
            kind = (
                ('output', self.bare(signal), found == 1.0) if name == 'setdo' else ('level', self.bare(signal), found)
            )
            self.recorder.act(*kind)
        elif name == 'waitdi':
            self.wait(module, arguments, frame)
        elif name == 'waittime' and len(arguments) == 1:
            self.recorder.act('pause', self.value(module, arguments[0][1], frame))
        elif name == 'tpwrite' and len(arguments) == 1:
            self.said.append(self.value(module, arguments[0][1], frame))
        else:
            raise ProgramError(f'there is no instruction {name} with {len(arguments)} arguments')

    def bare(self, tree: Tree) -> str:
        if tree[0] != 'data' or tree[2]:
            raise ProgramError(f'{tree} is no name')
        return tree[1]

    def move(self, module: Module, arguments: list[tuple[str, Tree | None]], frame: dict) -> None:
        names = [name for name, _ in arguments]
        if names not in (['', 'noeoffs', '', 't', '', ''], ['', 'noeoffs', '', '', '']):
            raise ProgramError(f'MoveAbsJ with {names}')
        target, *rest = [(name, value) for name, value in arguments if name != 'noeoffs']
        speed, time = self.bare(rest[0][1]), [value for name, value in rest if name == 't']
        zone, tool = (self.bare(value) for name, value in rest[-2:])
        if speed not in ('v1000', 'v50') or zone not in ('z1', 'fine') or tool not in self.tools:
            raise ProgramError(f'MoveAbsJ with {speed}, {zone}, {tool}')
        if module.data[self.bare(target[1])][0] != 'jointtarget':
            raise ProgramError('the target is no jointtarget')
        axes, external = self.value(module, target[1], frame)
        if len(axes) != 6 or external != [9e9] * 6:
            raise ProgramError('the target has other axes')
        q = np.radians(axes)
        if time:
            self.recorder.moved(q, self.value(module, time[0], frame), stops=zone == 'fine')
        else:
            self.recorder.approached(q)

    def wait(self, module: Module, arguments: list[tuple[str, Tree | None]], frame: dict) -> None:
        (_, signal), (_, wanted), *limit = arguments
        value, longest = self.value(module, wanted, frame) == 1.0, math.inf
        if limit:
            (name, tree), *more = limit
            if name != 'maxtime' or more:
                raise ProgramError(f'WaitDI with {limit}')
            longest = self.value(module, tree, frame)
        waited = 0.0
        while self.inputs(self.bare(signal), waited) != value:
            waited += 0.1
            if waited > longest:
                raise Halted('ERR_WAIT_MAXTIME')
            if waited > 1000.0:
                raise ProgramError('it waits for ever')
        self.recorder.act('input', self.bare(signal), value)


def parse_rapid(text: str) -> Module:
    """Read a module; its lines must be short enough to be seen on the pendant."""
    for number, line in enumerate(text.split('\r\n'), 1):
        if len(line) > LONGEST_LINE or '\n' in line:
            raise ProgramError(f'line {number} has {len(line)} characters')
    return Parser(Reader(list(tokens(text, KINDS)))).module()


def run_rapid(
    texts: list[str], start: np.ndarray, *, inputs: Inputs = all_on, tools: tuple[str, ...] = ('tool0',)
) -> Recorder:
    """Run `main` from where the arm is [rad]."""
    controller = Controller([parse_rapid(text) for text in texts], Recorder(start), inputs, tools)
    controller.routine('main')
    return controller.recorder
