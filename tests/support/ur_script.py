"""Runs URScript, as far as programs that follow set-points use it: functions, threads, loops, lists, registers.

A program is turned into Python generators: whatever takes time (sync, servoj, a function that calls them) yields once
per cycle of the controller. Expressions may hold numbers, text, lists, names, operators and calls, and nothing else.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

MOST_STEPS = 20_000  # turns of loops in one cycle; a real controller gives up at some number too

Thread = Generator[None, None, object]


class ScriptError(ValueError):
    """A program that cannot be run; the message says which line and why."""


class Halt(Exception):
    """The program ends itself."""


@dataclass
class Function:
    """A def or thread of the program, as lines of Python with their indentation."""

    name: str
    parameters: list[str]
    defaults: list[str | None]
    lines: list[str] = field(default_factory=list)
    assigned: set[str] = field(default_factory=set)
    local: set[str] = field(default_factory=set)


class Script:
    """A program; ``functions`` are what the controller offers, and those in ``blocking`` are generators."""

    def __init__(self, text: str, functions: Mapping[str, Callable[..., Any]], blocking: set[str]) -> None:
        self.text = text
        self._threads: list[Thread] = []
        self._steps = 0
        parser = _Parser(text, blocking)
        own = {'_turn': self._turn, '_run': self._run, '_kill': self._kill, '_join': self._join, '_halt': _halt}
        self._names: dict[str, Any] = {'__builtins__': {}, **functions, **own}
        exec(compile(parser.python(), 'URScript', 'exec'), self._names)
        self._main: Thread = self._names[parser.main]()
        self._threads.append(self._main)

    def cycle(self) -> bool:
        """Run every thread until it waits; False when the program has ended. Raises ScriptError when it fails."""
        self._steps = 0
        for thread in list(self._threads):
            if thread not in self._threads:
                continue
            try:
                next(thread)
            except (StopIteration, Halt) as end:
                self._kill(thread)
                if thread is self._main or isinstance(end, Halt):
                    self.end()
                    return False
            except ScriptError:
                self.end()
                raise
            except (NameError, TypeError, ValueError, IndexError, ArithmeticError, RecursionError) as error:
                self.end()
                raise ScriptError(f'the program failed: {error}') from None
        return True

    def end(self) -> None:
        """End all threads."""
        for thread in self._threads:
            thread.close()
        self._threads.clear()

    def _turn(self) -> bool:
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise ScriptError('the program has a loop that takes no time: call sync() in it')
        return True

    def _run(self, thread: Thread) -> Thread:
        self._threads.append(thread)
        return thread

    def _kill(self, thread: Thread) -> None:
        if thread in self._threads:
            self._threads.remove(thread)
            if thread is not self._main:
                thread.close()

    def _join(self, thread: Thread) -> Iterator[None]:
        while thread in self._threads:
            yield


def is_complete(text: str) -> bool:
    """Whether every block of a program that has come in pieces has its end."""
    depth = 0
    for line in text.splitlines()[: text.count('\n')]:
        word = re.match(r'\s*(def|thread|sec|while|if|for|end)\b', line)
        if word:
            depth += -1 if word[1] == 'end' else 1
            if depth == 0:
                return True
    return False


def _halt() -> None:
    raise Halt


class _Parser:
    def __init__(self, text: str, blocking: set[str]) -> None:
        # A value may stand on the line after its equals sign, with the next statement behind it.
        text = re.sub(r'=[ \t]*#[^\n]*\n(\S+)[ \t]+', r'= \1\n', text)
        self._lines = [(number, _clean(line)) for number, line in enumerate(text.splitlines(), 1)]
        self._lines = [(number, line) for number, line in self._lines if line]
        self._at = 0
        self._globals: set[str] = set()
        names = re.findall(r'^\s*(?:def|thread|sec)\s+(\w+)', text, re.MULTILINE)
        if not names:
            raise ScriptError('there is no def in the program')
        self.main = names[0]
        self._waiting = blocking | set(names)
        self._functions: list[Function] = []
        self._function()
        if self._at < len(self._lines):
            self._fail('is left over after the end of the program')

    def python(self) -> str:
        main = self._functions[-1]
        shared = self._globals | (main.assigned - main.local)
        return '\n'.join(line for function in self._functions for line in _emit(function, shared))

    def _function(self) -> None:
        match = re.fullmatch(r'(?:def|thread|sec)\s+(\w+)\s*\((.*)\)\s*:', self._line)
        if match is None:
            self._fail('is no def')
        pairs = [each.split('=', 1) for each in match[2].split(',') if each.strip()]
        function = Function(
            match[1],
            [pair[0].strip() for pair in pairs],
            [self._expression(pair[1]) if len(pair) > 1 else None for pair in pairs],
        )
        self._at += 1
        self._block(function, 1)
        self._functions.append(function)

    def _block(self, function: Function, depth: int) -> None:
        """Read statements up to the matching end."""
        empty = True
        while self._line != 'end':
            if re.match(r'(def|thread|sec)\b', self._line):
                self._function()
                continue
            if match := re.fullmatch(r'(elif|else)\b\s*(.*):', self._line):
                if empty:
                    function.lines.append('    ' * depth + 'pass')
                condition = f' {self._expression(match[2])}' if match[1] == 'elif' else ''
                function.lines.append('    ' * (depth - 1) + f'{match[1]}{condition}:')
                self._at += 1
                empty = True
                continue
            self._statement(function, depth)
            empty = False
        if empty:
            function.lines.append('    ' * depth + 'pass')
        self._at += 1

    def _statement(self, function: Function, depth: int) -> None:
        indent, line = '    ' * depth, self._line
        if match := re.fullmatch(r'(while|if)\b\s*(.*):', line):
            turn = '_turn() and ' if match[1] == 'while' else ''
            function.lines.append(f'{indent}{match[1]} {turn}({self._expression(match[2])}):')
            self._at += 1
            self._block(function, depth + 1)
            return
        function.lines.append(indent + self._simple(function, line))
        self._at += 1

    def _simple(self, function: Function, line: str) -> str:
        if line in ('break', 'continue', 'return'):
            return line
        if line == 'halt':
            return '_halt()'
        if line in ('enter_critical', 'exit_critical'):  # threads change only where they wait
            return 'pass'
        if match := re.fullmatch(r'return\b(.+)', line):
            return f'return {self._expression(match[1])}'
        if match := re.fullmatch(r'(kill|join)\s+(\w+)', line):
            return f'_kill({match[2]})' if match[1] == 'kill' else f'yield from _join({match[2]})'
        if match := re.fullmatch(r'(global\s+|local\s+)?(\w+)((?:\s*\[[^\]]*\])?)\s*=(?!=)\s*(.+)', line):
            return self._assignment(function, match)
        return self._expression(line)

    def _assignment(self, function: Function, match: re.Match[str]) -> str:
        scope, name, index, value = (match[1] or '').strip(), match[2], match[3], match[4]
        if scope == 'global':
            self._globals.add(name)
        elif scope == 'local':
            function.local.add(name)
        if not index:
            function.assigned.add(name)
        target = self._expression(f'{name}{index}')
        if run := re.fullmatch(r'run\s+(\w+)\s*\((.*)\)', value):
            arguments = ', '.join(self._expression(each) for each in run[2].split(',') if each.strip())
            return f'{target} = _run({run[1]}({arguments}))'
        return f'{target} = {self._expression(value)}'

    def _expression(self, text: str) -> str:
        text = re.sub(r'\b(async|await|lambda|class|with|from|import|del|try|assert)\b', r'\1_', text.strip())
        try:
            tree = ast.parse(text, mode='eval')
        except SyntaxError:
            self._fail(f"has an expression that cannot be read: '{text}'")
        for node in ast.walk(tree):
            self._check(node)
        return ast.unparse(_Calls(self._waiting).visit(tree))

    def _check(self, node: ast.AST) -> None:
        if not isinstance(node, _ALLOWED):
            self._fail(f'has {type(node).__name__}, which is not run here')
        if isinstance(node, ast.Name) and (node.id.startswith('_') or keyword.iskeyword(node.id)):
            self._fail(f"uses the name '{node.id}'")

    @property
    def _line(self) -> str:
        if self._at >= len(self._lines):
            raise ScriptError('the program has no end')
        return self._lines[self._at][1]

    def _fail(self, why: str) -> Any:
        number, line = self._lines[min(self._at, len(self._lines) - 1)]
        raise ScriptError(f"line {number} ('{line}') {why}")


class _Calls(ast.NodeTransformer):
    """Calls of what takes time become ``yield from``, and p[...] becomes a list."""

    def __init__(self, waiting: set[str]) -> None:
        self._waiting = waiting

    def visit(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self._waiting:
            return ast.YieldFrom(node)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and ast.unparse(node.value) == 'p':
            return ast.List(node.slice.elts, ast.Load())
        return node


_ALLOWED = (
    *(ast.Expression, ast.Constant, ast.Name, ast.Load, ast.List, ast.Tuple, ast.Subscript, ast.Call, ast.keyword),
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.operator, ast.unaryop, ast.boolop, ast.cmpop),
)


def _emit(function: Function, shared: set[str]) -> list[str]:
    """A function in Python; its body begins with what makes it a generator."""
    parameters = ', '.join(
        name if default is None else f'{name}={default}'
        for name, default in zip(function.parameters, function.defaults, strict=True)
    )
    outside = sorted((function.assigned & shared) - function.local - set(function.parameters))
    head = [f'def {function.name}({parameters}):']
    if outside:
        head.append(f'    global {", ".join(outside)}')
    return [*head, '    if False:', '        yield', *function.lines]


def _clean(line: str) -> str:
    """A line without its comment and surrounding space."""
    return re.sub(r'("[^"]*")|#.*', lambda match: match[1] or '', line).strip()
