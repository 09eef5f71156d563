"""The supervisor with small programs in place of nodes."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from lfd_bringup import supervisor
from lfd_bringup.graph import Graph, NodeSpec, Restart
from lfd_bringup.home.faults import Fault
from lfd_bringup.supervisor import Supervisor, command_of

TIMEOUT = 30.0  # [s]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Runs programs by node name until a condition on the printed lines holds; returns those lines."""

    def command(spec: NodeSpec, folder: Path, *, is_again: bool) -> list[str]:
        return [sys.executable, '-uc', spec.executable, *(spec.again if is_again else spec).arguments]

    monkeypatch.setattr(supervisor, 'command_of', command)
    monkeypatch.setattr(supervisor, 'FIRST_DELAY', 0.05)

    def run(*nodes: NodeSpec, until: Callable[[list[str]], bool]) -> list[str]:
        lines: list[str] = []

        async def body() -> None:
            supervised = Supervisor(
                Graph('test', nodes), os.environ, tmp_path, lambda name, line: lines.append(f'{name}: {line}')
            )
            supervised.start()
            try:
                async with asyncio.timeout(TIMEOUT):
                    while not until(lines):
                        await asyncio.sleep(0.02)
            finally:
                await supervised.stop()
            assert supervised.pids() == {}

        asyncio.run(body())
        return lines

    return run


def node(name: str, program: str, **kwargs: object) -> NodeSpec:
    return NodeSpec(name=name, package='', executable=program, **kwargs)  # type: ignore[arg-type]


def test_restarts_wait_longer_each_time(run):
    lines = run(node('a', 'raise SystemExit(3)'), until=lambda lines: len(lines) >= 4)
    assert lines[:4] == [
        f'a: ended with exit code 3; starting it again in {delay} s' for delay in ('0.05', '0.1', '0.2', '0.4')
    ]


def test_a_node_that_leaves_a_child_behind_is_restarted_and_the_child_ended(run):
    program = 'import subprocess; print(subprocess.Popen(["sleep", "600"]).pid); raise SystemExit(1)'
    lines = run(node('a', program), until=lambda lines: sum('starting it again' in line for line in lines) >= 2)
    children = [int(line.split()[-1]) for line in lines if line.split()[-1].isdigit()]
    assert len(children) >= 2
    assert not [
        pid
        for pid in children
        if Path(f'/proc/{pid}/cmdline').exists() and b'sleep' in Path(f'/proc/{pid}/cmdline').read_bytes()
    ]


def test_a_follower_runs_again_whenever_its_node_starts(run):
    spec = node('b', 'print("at work")', is_one_shot=True, follows='a')
    program = 'import time; time.sleep(0.3); raise SystemExit(1)'
    lines = run(node('a', program), spec, until=lambda lines: lines.count('b: at work') >= 2)
    assert lines[0] == 'b: at work'


def test_a_node_that_starts_otherwise_when_it_starts_again_says_so_and_its_follower_does_too(run):
    program = 'import sys, time; print(sys.argv[1:]); time.sleep(0.3); raise SystemExit(1)'
    manager = node('a', program, arguments=('x',), restart=Restart(('idle',), note='and waits'))
    failing = 'import sys; print(sys.argv[1:]); raise SystemExit(len(sys.argv) < 2)'
    spec = node('b', failing, is_one_shot=True, follows='a', restart=Restart(('--inactive',)))
    lines = run(manager, spec, until=lambda lines: "b: ['--inactive']" in lines)
    assert lines.index("a: ['x']") < lines.index("a: ['x', 'idle']")
    assert any(line.endswith('s, and waits') for line in lines if line.startswith('a: ended'))
    before = lines[: lines.index("a: ['x', 'idle']")]
    assert 'b: []' in before
    assert "b: ['--inactive']" not in before  # it fails, and is tried again, and that alone is no new start


def test_a_one_shot_that_fails_is_tried_again(run):
    lines = run(
        node('a', 'import time; time.sleep(600)'),
        node('b', 'raise SystemExit(1)', is_one_shot=True, follows='a'),
        until=lambda lines: len(lines) >= 2,
    )
    assert all(line.startswith('b: ended with exit code 1; starting it again') for line in lines[:2])


def test_a_node_that_ignores_signals_is_ended_all_the_same(run, monkeypatch: pytest.MonkeyPatch):
    steps = tuple((number, 0.2) for number, _ in supervisor.STOP_STEPS)
    monkeypatch.setattr(supervisor, 'STOP_STEPS', steps)
    program = (
        'import signal, time\n'
        'for number in (signal.SIGINT, signal.SIGTERM): signal.signal(number, signal.SIG_IGN)\n'
        'print("deaf")\n'
        'while True: time.sleep(1)'
    )
    assert run(node('a', program), until=lambda lines: bool(lines)) == ['a: deaf']


def test_an_executable_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(Fault, match='the executable fly of package lfd_hardware is not in the workspace'):
        command_of(NodeSpec(name='a', package='lfd_hardware', executable='fly'), tmp_path)
    with pytest.raises(Fault, match='package no_such_package is not in the workspace'):
        command_of(NodeSpec(name='a', package='no_such_package', executable='fly'), tmp_path)


def test_parameters_of_a_new_start_do_not_replace_those_of_the_first(tmp_path: Path):
    spec = NodeSpec(
        name='controller_manager',
        package='lfd_hardware',
        executable='ros2_control_node',
        parameters={'update_rate': 125},
        restart=Restart(parameters={'hardware_components_initial_state': {'inactive': ['arm']}}),
    )
    first, again = (command_of(spec, tmp_path, is_again=is_again)[-1] for is_again in (False, True))
    read = [yaml.safe_load(Path(file).read_text())['/**']['ros__parameters'] for file in (first, again)]
    assert read == [dict(spec.parameters), dict(spec.again.parameters)]
