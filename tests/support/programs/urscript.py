"""URScript: functions, while, if, globals and locals, lists, and the built-in functions that lfd's programs call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from .replay import Halted, Inputs, ProgramError, Recorder, all_on
from .tokens import Reader, tokens

KINDS = {
    'space': r'[ \t]+',
    'comment': r'#[^\n]*',
    'newline': r'\n',
    'number': r'\d+(\.\d*)?([eE][+-]?\d+)?',
    'string': r'"[^"\n]*"',
    'name': r'[A-Za-z_][A-Za-z0-9_]*',
    'symbol': r'==|!=|<=|>=|[-+*/()\[\],:=<>]',
}
WORDS = {'def', 'end', 'while', 'if', 'global', 'local', 'halt', 'not', 'and', 'or', 'True', 'False'}
Tree = tuple  # ('kind', ...)


@dataclass
class Function:
    name: str
    parameters: list[str]
    body: list[Tree]


@dataclass
class Parser:
    reader: Reader

    def program(self) -> Function:
        self.blank()
        main = self.definition()
        self.blank()
        if self.reader.next.kind != 'end of file':
            raise self.reader.wrong()
        return main

    def blank(self) -> list[Tree]:
        comments = []
        while self.reader.next.kind in ('newline', 'comment'):
            token = self.reader.take()
            if token.kind == 'comment':
                comments.append(('comment', token.text[1:].strip()))
        return comments

    def name(self) -> str:
        token = self.reader.expect_kind('name')
        if token.text in WORDS:
            raise ProgramError(f'line {token.line}: {token.text!r} is a word of the language')
        return token.text

    def definition(self) -> Function:
        self.reader.expect('def')
        name, parameters = self.name(), []
        self.reader.expect('(')
        while not self.reader.is_next(')'):
            parameters.append(self.name())
            if not self.reader.is_next(')'):
                self.reader.expect(',')
        self.reader.expect(')')
        return Function(name, parameters, self.block())

    def block(self) -> list[Tree]:
        self.reader.expect(':')
        self.reader.expect_kind('newline')
        body = self.blank()
        while not self.reader.is_next('end'):
            body.append(self.statement())
            if self.reader.next.kind not in ('newline', 'comment'):
                raise self.reader.wrong()
            body += self.blank()
        self.reader.expect('end')
        return body

    def statement(self) -> Tree:
        if self.reader.is_next('def'):
            return ('def', self.definition())
        if self.reader.is_next('while', 'if'):
            kind = self.reader.take().text
            return (kind, self.expression(), self.block())
        if self.reader.is_next('halt'):
            self.reader.take()
            return ('halt',)
        scope = self.reader.take().text if self.reader.is_next('global', 'local') else ''
        name = self.name()
        if not scope and self.reader.is_next('('):
            return ('do', self.call(name))
        self.reader.expect('=')
        return ('set', scope, name, self.expression())

    def call(self, name: str) -> Tree:
        self.reader.expect('(')
        places, named = [], {}
        while not self.reader.is_next(')'):
            value = self.expression()
            if self.reader.is_next('=') and value[0] == 'name':
                self.reader.take()
                named[value[1]] = self.expression()
            elif named:
                raise self.reader.wrong()
            else:
                places.append(value)
            if not self.reader.is_next(')'):
                self.reader.expect(',')
        self.reader.expect(')')
        return ('call', name, places, named)

    def expression(self, level: int = 0) -> Tree:
        levels = (('or',), ('and',), ('==', '!=', '<', '>', '<=', '>='), ('+', '-'), ('*', '/'))
        if level == len(levels):
            return self.unary()
        left = self.expression(level + 1)
        while self.reader.is_next(*levels[level]):
            sign = self.reader.take().text
            left = ('binary', sign, left, self.expression(level + 1))
        return left

    def unary(self) -> Tree:
        if self.reader.is_next('-', 'not'):
            return ('unary', self.reader.take().text, self.unary())
        value = self.primary()
        while self.reader.is_next('['):
            self.reader.take()
            value = ('index', value, self.expression())
            self.reader.expect(']')
        return value

    def primary(self) -> Tree:
        token = self.reader.take()
        if token.kind == 'number':
            return ('value', float(token.text))
        if token.kind == 'string':
            return ('value', token.text[1:-1])
        if token.text in ('True', 'False'):
            return ('value', token.text == 'True')
        if token.text == '(':
            inner = self.expression()
            self.reader.expect(')')
            return inner
        if token.text == '[':
            items = [self.expression()]
            while self.reader.is_next(','):
                self.reader.take()
                items.append(self.expression())
            self.reader.expect(']')
            return ('list', items)
        if token.kind == 'name' and token.text not in WORDS:
            return self.call(token.text) if self.reader.is_next('(') else ('name', token.text)
        raise ProgramError(f'line {token.line}: {token.text!r} is no expression')


BINARY: dict[str, Callable[[object, object], object]] = {
    '+': lambda a, b: a + b,
    '-': lambda a, b: a - b,
    '*': lambda a, b: a * b,
    '/': lambda a, b: a / b,
    '<': lambda a, b: a < b,
    '>': lambda a, b: a > b,
    '<=': lambda a, b: a <= b,
    '>=': lambda a, b: a >= b,
    '==': lambda a, b: a == b,
    '!=': lambda a, b: a != b,
    'and': lambda a, b: a and b,
    'or': lambda a, b: a or b,
}


@dataclass
class Controller:
    """Runs a program: set-points are reached at once."""

    recorder: Recorder
    step: float
    inputs: Inputs
    globals: dict[str, object] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)
    waited: float = 0.0

    def run(self, body: list[Tree], frame: dict[str, object]) -> None:
        for statement in body:
            getattr(self, f'do_{statement[0]}')(frame, *statement[1:])

    def do_comment(self, frame: dict[str, object], text: str) -> None:
        self.recorder.comment(text)

    def do_def(self, frame: dict[str, object], function: Function) -> None:
        if function.name in self.functions:
            raise ProgramError(f'{function.name} is defined twice')
        self.functions[function.name] = function

    def do_while(self, frame: dict[str, object], condition: Tree, body: list[Tree]) -> None:
        while self.truth(condition, frame):
            self.run(body, frame)

    def do_if(self, frame: dict[str, object], condition: Tree, body: list[Tree]) -> None:
        if self.truth(condition, frame):
            self.run(body, frame)

    def do_halt(self, frame: dict[str, object]) -> None:
        raise Halted(self.said[-1] if self.said else '')

    def do_do(self, frame: dict[str, object], call: Tree) -> None:
        self.value(call, frame)

    def do_set(self, frame: dict[str, object], scope: str, name: str, value: Tree) -> None:
        found = self.value(value, frame)
        if scope == 'global' or (not scope and name not in frame and name in self.globals):
            self.globals[name] = found
        else:
            frame[name] = found

    def truth(self, tree: Tree, frame: dict[str, object]) -> bool:
        value = self.value(tree, frame)
        if not isinstance(value, bool | np.bool_):
            raise ProgramError(f'{value!r} is neither true nor false')
        return bool(value)

    def value(self, tree: Tree, frame: dict[str, object]) -> object:
        kind = tree[0]
        if kind == 'value':
            return tree[1]
        if kind == 'name':
            for names in (frame, self.globals):
                if tree[1] in names:
                    return names[tree[1]]
            raise ProgramError(f'{tree[1]} has no value')
        if kind == 'list':
            return [self.value(item, frame) for item in tree[1]]
        if kind == 'index':
            return self.value(tree[1], frame)[int(self.value(tree[2], frame))]
        if kind == 'unary':
            return -self.value(tree[2], frame) if tree[1] == '-' else not self.truth(tree[2], frame)
        if kind == 'binary':
            return BINARY[tree[1]](self.value(tree[2], frame), self.value(tree[3], frame))
        return self.call(*tree[1:], frame)

    def call(self, name: str, places: list[Tree], named: dict[str, Tree], frame: dict[str, object]) -> object:
        arguments = [self.value(each, frame) for each in places]
        options = {key: self.value(each, frame) for key, each in named.items()}
        if name in self.functions:
            function = self.functions[name]
            inner = dict(zip(function.parameters, arguments, strict=True))
            self.run(function.body, inner)
            return None
        built_in = getattr(self, f'ur_{name}', None)
        if built_in is None:
            return self.port_call(name, *arguments, **options)
        return built_in(*arguments, **options)

    def port_call(self, name: str, index: float, value: object = None) -> object:
        words = name.split('_')
        if len(words) != 4 or words[1] not in ('standard', 'configurable', 'tool'):
            raise ProgramError(f'there is no function {name}')
        verb, bank, kind, way = words
        if (verb, kind, way) == ('set', 'digital', 'out') and isinstance(value, bool):
            return self.recorder.act('output', f'{bank}:{index:g}', value)
        if (verb, kind, way) == ('set', 'analog', 'out') and bank == 'standard' and 0.0 <= value <= 1.0:
            return self.recorder.act('level', f'{bank}:{index:g}', value)
        if (verb, kind, way, value) == ('get', 'digital', 'in', None):
            found = self.inputs(f'{bank}:{index:g}', self.waited)
            self.recorder.act('input', f'{bank}:{index:g}', found)
            return found
        raise ProgramError(f'there is no function {name} with {value}')

    def ur_get_steptime(self) -> float:
        return self.step

    def ur_get_actual_joint_positions(self) -> list[float]:
        return self.recorder.q.tolist()

    def ur_norm(self, value: float) -> float:
        return abs(value)

    def ur_sync(self) -> None:
        self.waited += self.step
        if self.waited > 1000.0:
            raise ProgramError('it waits for ever')

    def ur_sleep(self, duration: float) -> None:
        self.recorder.act('pause', duration)

    def ur_stopj(self, a: float) -> None:
        if a <= 0.0:
            raise ProgramError('stopj needs a deceleration')

    def ur_popup(self, s: str, title: str, warning: bool, error: bool, blocking: bool) -> None:
        self.said.append(s)

    def ur_movej(self, q: list[float], a: float = 1.4, v: float = 1.05, t: float = 0.0, r: float = 0.0) -> None:
        if len(q) != 6 or a <= 0.0 or v <= 0.0 or r < 0.0:
            raise ProgramError('movej has wrong arguments')
        if t == 0.0:
            self.recorder.approached(np.array(q))
        else:
            self.recorder.moved(np.array(q), t, stops=r == 0.0)
            self.recorder.sections[-1].blends.append(r)

    def ur_servoj(self, q: list[float], a: float, v: float, t: float, lookahead_time: float, gain: float) -> None:
        if len(q) != 6 or t != self.step or not 0.03 <= lookahead_time <= 0.2 or not 100 <= gain <= 2000:
            raise ProgramError('servoj has wrong arguments')
        if np.array_equal(self.recorder.q, q):
            self.recorder.held(t)
        else:
            self.recorder.moved(np.array(q), t, stops=False)


def run_urscript(text: str, start: np.ndarray, *, step: float = 0.002, inputs: Inputs = all_on) -> Recorder:
    """Run a program from where the arm is [rad]."""
    main = Parser(Reader(list(tokens(text, KINDS)))).program()
    controller = Controller(Recorder(start), step, inputs)
    controller.run(main.body, {})
    return controller.recorder
