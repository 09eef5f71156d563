"""`./lfd up`: runs the processes of a graph in the embedded home.

Starts them in order, prefixes what they print, restarts what ends, and ends all of them when it ends itself. Every
process is in a session of its own, so that Ctrl-C reaches the supervisor alone and the nodes are stopped in order; and
the kernel ends them should the supervisor be killed (see `tether`).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_prefix

from . import domain
from .graph import Graph, NodeSpec, described
from .home.console import coloured, say
from .home.faults import Fault
from .home.layout import Layout

FIRST_DELAY = 0.5  # [s] before a restart; doubled after every further end
LONGEST_DELAY = 10.0  # [s]
STABLE_AFTER = 10.0  # [s] of running that make the next end count as the first again
STOP_STEPS = ((signal.SIGINT, 5.0), (signal.SIGTERM, 2.0), (signal.SIGKILL, 5.0))  # signal, [s] until the next
LOOK_EVERY = 0.2  # [s] for the end of a process whose output goes on
LAST_WORDS = 1.0  # [s] to read what a process printed before its end
KEPT_LOGS = 20
LOG_FORMAT = '[{severity}] [{name}]: {message}'  # on the terminal; the files in ROS_LOG_DIR have the times
WARNING = '1;33'  # bold yellow
COLOURS = ('36', '33', '35', '32', '34', '96', '93', '95')


class Supervisor:
    """Runs the processes of a graph until told to stop.

    environment: of the processes.
    folder: for parameter files and one log per process.
    on_line: gets every printed line with the node's name.
    """

    def __init__(
        self,
        graph: Graph,
        environment: Mapping[str, str],
        folder: Path,
        on_line: Callable[[str, str], None] | None = None,
    ) -> None:
        self._children = {
            spec.name: _Child(spec, environment, folder, on_line or (lambda name, line: None)) for spec in graph.nodes
        }
        for spec in graph.nodes:
            if spec.follows is not None:
                self._children[spec.follows].followers.append(self._children[spec.name])

    def start(self) -> None:
        """Start all processes in order; missing executables are refused before anything runs."""
        for child in self._children.values():
            child.prepare()
        for child in self._children.values():
            if child.spec.follows is None:
                child.start()

    async def wait_ready(self) -> None:
        """Wait until every one-shot process has done its work once."""
        await asyncio.gather(*(child.done.wait() for child in self._children.values() if child.spec.is_one_shot))

    async def stop(self) -> None:
        """Stop all processes, the last started first, and wait for their end."""
        for child in reversed(self._children.values()):
            child.begin_stop()
        await asyncio.gather(*(child.stop() for child in self._children.values()))

    def kill(self) -> None:
        """End all processes at once."""
        for child in self._children.values():
            child.send(signal.SIGKILL)

    def pids(self) -> dict[str, int]:
        """Process ids of the running processes by node name."""
        return {name: child.process.pid for name, child in self._children.items() if child.process is not None}


class _Child:
    """One process: kept running, or run to its end, until stopped."""

    def __init__(
        self, spec: NodeSpec, environment: Mapping[str, str], folder: Path, on_line: Callable[[str, str], None]
    ) -> None:
        self.spec = spec
        self.process: asyncio.subprocess.Process | None = None
        self.followers: list[_Child] = []
        self.done = asyncio.Event()
        self._environment = environment
        self._folder = folder
        self._on_line = on_line
        self._commands: dict[bool, list[str]] = {}  # by whether it is started again
        self._task: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()

    def prepare(self) -> None:
        self._commands = {
            is_again: command_of(self.spec, self._folder, is_again=is_again) for is_again in (False, True)
        }

    def start(self, *, is_again: bool = False) -> None:
        """Start, or start again, in the background; `is_again`: what it follows does so."""
        if self._stopping.is_set():
            return
        if self._task is not None:
            self._task.cancel()
            self.send(signal.SIGTERM)
        self._task = asyncio.create_task(self._keep_running(is_again))

    async def _keep_running(self, is_again: bool) -> None:
        delay = FIRST_DELAY
        while not self._stopping.is_set():
            started = time.monotonic()
            how, is_done = await self._run_once(is_again)
            if self._stopping.is_set():
                return
            if is_done:
                self.done.set()
                return
            if time.monotonic() - started > STABLE_AFTER:
                delay = FIRST_DELAY
            note = f', {self.spec.restart.note}' if self.spec.restart and self.spec.restart.note else ''
            self._on_line(self.spec.name, f'{how}; starting it again in {delay:g} s{note}')
            is_again = is_again or not self.spec.is_one_shot
            await asyncio.sleep(delay)
            delay = min(2 * delay, LONGEST_DELAY)

    async def _run_once(self, is_again: bool) -> tuple[str, bool]:
        """Run the process to its end; return how it ended and whether its work is done."""
        try:
            self.process = process = await asyncio.create_subprocess_exec(
                *self._commands[is_again],
                env=self._environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            return f'could not be started ({error.strerror})', False
        for follower in self.followers:
            follower.start(is_again=is_again)
        code = await self._outlive(process)
        self.process = None
        if code < 0:
            return f'was ended by {signal.Signals(-code).name}', False
        return f'ended with exit code {code}', self.spec.is_one_shot and code == 0

    async def _outlive(self, process: asyncio.subprocess.Process) -> int:
        """Read what the process prints until it ends, and end what it leaves behind; return its exit code."""
        reader = asyncio.create_task(self._read(process))
        try:
            while process.returncode is None and not reader.done():
                await asyncio.wait([reader], timeout=LOOK_EVERY)
            if process.returncode is not None:  # a child of its own may hold the other end of the pipe
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await asyncio.wait([reader], timeout=LAST_WORDS)
            return await process.wait()
        finally:
            reader.cancel()

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        rest = b''
        while data := await process.stdout.read(65536):
            self._log(data)
            *lines, rest = (rest + data).split(b'\n')
            for line in lines:
                self._on_line(self.spec.name, line.decode(errors='replace').rstrip('\r'))
        if rest:
            self._on_line(self.spec.name, rest.decode(errors='replace'))

    def _log(self, data: bytes) -> None:
        with contextlib.suppress(OSError), (self._folder / f'{self.spec.name}.log').open('ab') as log:
            log.write(data)  # or not: a full disk must not stop the robot

    def begin_stop(self) -> None:
        self._stopping.set()
        self.send(STOP_STEPS[0][0])

    async def stop(self) -> None:
        """Wait for the end, insisting step by step."""
        if self._task is None:
            return
        for index, (_, patience) in enumerate(STOP_STEPS):
            if self.process is None:
                break
            if index:
                self.send(STOP_STEPS[index][0])
            await asyncio.wait([self._task], timeout=patience)
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process and its children."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)


def command_of(spec: NodeSpec, folder: Path, *, is_again: bool = False) -> list[str]:
    """The command line of a process, the first time or again; its parameters are written to a file in the folder."""
    differs = is_again and spec.restart is not None
    spec = spec.again if differs else spec
    try:
        executable = Path(get_package_prefix(spec.package), 'lib', spec.package, spec.executable)
    except PackageNotFoundError:
        executable = Path(spec.package, spec.executable)
    if not executable.exists():
        raise Fault(
            f'the executable {spec.executable} of package {spec.package} is not in the workspace.',
            'build it anew: ./lfd clean, then ./lfd setup',
        )
    ros: list[str] = []
    for path in spec.parameter_files:
        ros += ['--params-file', str(path)]
    if spec.parameters:
        path = folder / f'{spec.name}{"_again" if differs else ""}.yaml'
        path.write_text(yaml.safe_dump({'/**': {'ros__parameters': dict(spec.parameters)}}))
        ros += ['--params-file', str(path)]
    for old, new in spec.remappings:
        ros += ['-r', f'{old}:={new}']
    # Through the interpreter: a script's first line cannot name one whose path has a space.
    tether = [sys.executable, '-u', str(Path(__file__).with_name('tether.py')), str(os.getpid())]
    return [*tether, str(executable), *spec.arguments, *(['--ros-args', *ros] if ros else [])]


def log_folder(name: str) -> Path:
    """A new folder for the logs of one run; the oldest ones of runs that have ended are removed."""
    parent = Layout.inside().log / 'graphs'
    folder = parent / f'{time.strftime("%Y%m%d-%H%M%S")}-{name}-{os.getpid()}'
    folder.mkdir(parents=True)
    ended = [old for old in sorted(parent.iterdir()) if not Path('/proc', old.name.rpartition('-')[2]).exists()]
    for old in ended[:-KEPT_LOGS]:
        shutil.rmtree(old, ignore_errors=True)
    return folder


class Prefixer:
    """Prints lines of several nodes, each behind its node's name."""

    def __init__(self, names: Sequence[str]) -> None:
        width = max(map(len, names))
        self._prefixes = {
            name: coloured(f'{name:>{width}} │', COLOURS[index % len(COLOURS)], sys.stdout)
            for index, name in enumerate(names)
        }

    def __call__(self, name: str, line: str) -> None:
        """Print one line of a node, if anybody still reads."""
        with contextlib.suppress(OSError):
            print(self._prefixes[name], line, flush=True)


def main(arguments: argparse.Namespace) -> int:
    """`./lfd up`."""
    graph = described(arguments)
    with domain.claim(arguments.domain_id) as claimed:
        folder = log_folder(graph.robot)
        environment = {
            'RCUTILS_CONSOLE_OUTPUT_FORMAT': LOG_FORMAT,
            **os.environ,
            'ROS_DOMAIN_ID': str(claimed.number),
            'ROS_LOG_DIR': str(folder),
            'ROS_AUTOMATIC_DISCOVERY_RANGE': arguments.discovery.upper(),
        }
        say(
            f'{graph.robot}: ROS_DOMAIN_ID={claimed.number}, seen on this '
            f'{"machine" if arguments.discovery == "localhost" else "network"}, logs in {folder}'
        )
        for notice in graph.notices:
            say(coloured(notice, WARNING, sys.stderr))
        asyncio.run(_up(graph, environment, folder))
    return 0


async def _up(graph: Graph, environment: Mapping[str, str], folder: Path) -> None:
    supervisor = Supervisor(graph, environment, folder, Prefixer([spec.name for spec in graph.nodes]))
    stopped = asyncio.Event()

    def on_signal() -> None:
        if stopped.is_set():
            supervisor.kill()  # asked twice: no more patience
        stopped.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, on_signal)
    supervisor.start()
    try:
        ready = asyncio.create_task(supervisor.wait_ready())
        stop = asyncio.create_task(stopped.wait())
        await asyncio.wait([ready, stop], return_when=asyncio.FIRST_COMPLETED)
        if ready.done():
            say(f'{graph.robot} is ready. Ctrl-C stops it.')
        ready.cancel()
        await stop
        say('Stopping ...')
    finally:
        await supervisor.stop()
    say('All nodes have ended.')
