"""Makes the embedded home: the environment, its packages, the built workspace, the compiled kernels.

`ensure` brings all of it up to date and costs a few file reads when it is. Each step is stamped with a digest of what
it was made of; a step that was interrupted is continued, and done anew if that fails.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from . import interpreter, process, wheels
from .console import StepLine, say
from .environment import environment, python_packages
from .faults import Fault, explain
from .layout import Layout
from .stamp import Stamp, digest, digest_files

WARM_UP_MODULE = 'lfd_planner.warm_up'
KERNEL_MARKS = (b'numba', b'@compiled')  # a file with one of these is worth a new warm-up when it changes
NINJA_LINES_PER_INTERFACE = 29  # measured; only the progress bar depends on it
NINJA_LINES_PER_PACKAGE = 25

_BUILD_FILES = re.compile(r'package\.xml|setup\.(?:py|cfg)|CMakeLists\.txt|.*\.(?:cmake|msg|srv|action)')


@dataclass(frozen=True)
class Step:
    """One step of the set-up: the stamps that it earns, how to do it, and how to clear the ground for a new try."""

    title: str
    stamps: dict[str, str]
    act: Callable[[StepLine], None]
    clear: Callable[[], None]
    is_there: Callable[[], bool] = lambda: True

    def is_done(self, stamp: Stamp) -> bool:
        """Whether the step ended well for today's input and its result is still there."""
        return all(stamp.is_current(key, value) for key, value in self.stamps.items()) and self.is_there()

    def was_begun(self, stamp: Stamp) -> bool:
        """Whether an earlier try did not come to its end."""
        return any(stamp.begun(key) for key in self.stamps)


@dataclass(frozen=True)
class Package:
    """A package of the workspace."""

    name: str
    folder: Path
    interfaces: int
    digest: str


def ensure(layout: Layout, *, with_tests: bool = False) -> None:
    """Bring the home up to date; raise Fault with cause and fix where that is not possible."""
    if not _missing(layout, Stamp(layout.stamp), with_tests):
        return
    interpreter.check_platform()
    interpreter.check_writable(layout.state)
    with _lock(layout):
        layout.log.mkdir(parents=True, exist_ok=True)
        if count := process.end_leftovers(layout.home):
            say(f'Ended {count} program(s) that an interrupted set-up had left running.')
        _make(layout, Stamp(layout.stamp), with_tests)


def _make(layout: Layout, stamp: Stamp, with_tests: bool) -> None:
    missing = _missing(layout, stamp, with_tests)
    if not missing:
        return  # another lfd made it while we waited for the lock
    if 'environment' in missing[0].stamps:
        say(f'First start: lfd sets itself up in {layout.home} (a few minutes, log: {layout.setup_log}).')
        interpreter.check_space(layout.home)
    interpreter.check_compiler()
    done, total = 0, len(missing)
    while missing:
        step = missing[0]
        done += 1
        resumed = step.was_begun(stamp)
        stamp.begin(*step.stamps)
        try:
            _do(step, done, total)
        except Fault as fault:
            if fault.is_understood or not resumed:
                raise
            say(f'What the interrupted set-up left could not be continued ({fault.cause}); starting this step anew.')
            step.clear()
            _do(step, done, total)
        stamp.finish(step.stamps)
        # Asked again: what a step is made of may include what the one before it made.
        missing = _missing(layout, stamp, with_tests)
        total = max(total, done + len(missing))


def _do(step: Step, number: int, total: int) -> None:
    line = StepLine(step.title, number, total)
    ok = False
    try:
        step.act(line)
        ok = True
    except OSError as error:
        raise explain(step.title, f'[Errno {error.errno}] {error}', 1, Path('-')) from error
    finally:
        line.end(ok)


def _missing(layout: Layout, stamp: Stamp, with_tests: bool) -> list[Step]:
    """The steps still to be done, in order."""
    try:
        steps = [_environment_step(layout), *_requirement_steps(layout, with_tests)]
        packages = find_packages(layout)
    except OSError as error:
        raise Fault(
            f'the checkout is not complete: {error.filename} cannot be read ({error.strerror}).',
            'restore it: git checkout -- . (or clone again)',
        ) from None
    steps += [_build_step(layout, stamp, packages), _warm_up_step(layout)]
    for index, step in enumerate(steps):
        if not step.is_done(stamp):
            return [step, *(later for later in steps[index + 1 :] if not later.is_done(stamp))]
    return []


@contextlib.contextmanager
def _lock(layout: Layout) -> Iterator[None]:
    """Hold the home's lock; the kernel releases it when this process ends, however it ends."""
    with layout.lock.open('a+') as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            say(
                f'Another lfd (process {file.read().strip() or "unknown"}) is setting up {layout.home}: waiting for it.'
            )
            fcntl.flock(file, fcntl.LOCK_EX)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def _run(
    layout: Layout, title: str, command: list[str], line: StepLine, fraction: Callable[[list[str]], float | None]
) -> None:
    """Run one program of a step, showing its progress."""
    env = environment(layout)
    # A compiler or pip that translates its messages could not be understood.
    env |= {'LC_ALL': 'C.UTF-8', 'PIP_DISABLE_PIP_VERSION_CHECK': '1', 'PIP_NO_INPUT': '1'}

    newest = ''

    def on_tick(lines: list[str]) -> None:
        nonlocal newest
        newest = next((row.strip() for row in reversed(lines) if row.strip() and 'WARNING' not in row), newest)
        line.update(fraction(lines), newest[:60])

    code, output = process.run(
        command, env=env, cwd=layout.state, home=layout.home, log=layout.setup_log, on_tick=on_tick
    )
    if code != 0:
        raise explain(title, output, code, layout.setup_log)


# The environment ------------------------------------------------------------------------------------------------------


def _environment_step(layout: Layout) -> Step:
    title = 'Make a Python environment'

    def clear() -> None:
        remove(layout.venv, layout.build, layout.install)

    def act(line: StepLine) -> None:
        clear()
        python = interpreter.choose()
        command = [python.path, '-m', 'venv', str(layout.venv)]
        _run(layout, title, command, line, lambda _: None)

    return Step(
        title,
        {'environment': digest('environment 1', str(layout.home))},
        act,
        clear,
        is_there=lambda: os.access(layout.python, os.X_OK) and layout.python_version() is not None,
    )


# Its packages ---------------------------------------------------------------------------------------------------------


def _requirement_steps(layout: Layout, with_tests: bool) -> list[Step]:
    names = ['embedded', 'test'] if with_tests else ['embedded']
    return [_requirement_step(layout, name) for name in names]


def _requirement_step(layout: Layout, name: str) -> Step:
    path = layout.requirements / f'{name}.txt'
    text = path.read_text()
    count = sum(1 for row in text.splitlines() if row.strip() and not row.startswith('#'))
    what = 'packages: ROS 2 Jazzy, build tools, libraries' if name == 'embedded' else 'packages for the tests'
    title = f'Install {count} {what}'
    stamp_value = digest('requirements 1', str(layout.home), layout.python_version() or '', text)

    def act(line: StepLine) -> None:
        site = layout.site_packages(layout.venv)
        wheels.drop_damaged(site)
        seen = 0
        before = len(list(site.glob('*.dist-info')))

        def fraction(lines: list[str]) -> float:
            nonlocal seen
            seen += sum(row.startswith('Collecting') for row in lines)
            installed = len(list(site.glob('*.dist-info'))) - before
            return min(0.7 * seen / count, 0.7) + min(0.3 * installed / count, 0.3)

        # The list is complete, so pip need not look for anything that is not in it.
        pip = [str(layout.python), '-m', 'pip', 'install', '--no-deps', '--progress-bar', 'off']
        _run(layout, title, [*pip, '-r', str(path)], line, fraction)
        if name == 'embedded':
            _mend(layout, title, line)

    def clear() -> None:
        remove(layout.build, layout.install)
        _environment_step(layout).act(StepLine('Make a Python environment', 1, 1))

    return Step(title, {f'requirements {name}': stamp_value}, act, clear)


def _mend(layout: Layout, title: str, line: StepLine) -> None:
    script = (
        'import numpy, pathlib, sys, sysconfig; sys.path.insert(0, sys.argv[1]); '
        'from lfd_bringup.home.wheels import mend_cmake_files as mend; '
        'mend(pathlib.Path(sys.prefix), pathlib.Path(sysconfig.get_path("include")), pathlib.Path(numpy.get_include()))'
    )
    command = [str(layout.python), '-c', script, str(layout.checkout / 'lfd_bringup')]
    _run(layout, title, command, line, lambda _: None)


# The workspace --------------------------------------------------------------------------------------------------------


def find_packages(layout: Layout) -> list[Package]:
    """The workspace's packages: ours, and the interface packages that stand in for missing official ones."""
    root = layout.checkout
    common = digest(
        'build 1',
        str(layout.home),
        str(root),
        layout.python_version() or '',
        (layout.requirements / 'embedded.txt').read_bytes(),
        (root / 'interop' / 'interface_package.cmake').read_bytes(),
    )
    found = []
    for manifest in sorted([*root.glob('lfd_*/package.xml'), *root.glob('interop/*/package.xml')]):
        folder = manifest.parent
        files = [path for path in folder.rglob('*') if path.is_file() and '__pycache__' not in path.parts]
        built = [path for path in files if _BUILD_FILES.fullmatch(path.name)]
        linked = [path for path in files if path.suffix not in ('.py', '.pyc') and '.egg-info' not in str(path)]
        found.append(
            Package(
                folder.name,
                folder,
                sum(path.suffix in ('.msg', '.srv', '.action') for path in built),
                digest(common, digest_files(root, built), digest_files(root, linked, contents=False)),
            )
        )
    return found


def _build_step(layout: Layout, stamp: Stamp, packages: list[Package]) -> Step:
    def is_installed(package: Package) -> bool:
        return (layout.install / 'share' / package.name / 'package.xml').exists()

    stale = [p for p in packages if not (stamp.is_current(f'build {p.name}', p.digest) and is_installed(p))]
    title = f'Build the workspace ({len(stale)} packages)' if len(stale) != 1 else f'Build {stale[0].name}'
    expected = sum(NINJA_LINES_PER_PACKAGE + NINJA_LINES_PER_INTERFACE * p.interfaces for p in stale)

    def act(line: StepLine) -> None:
        printed = 0

        def fraction(_: list[str]) -> float:
            nonlocal printed
            printed = max(printed, _ninja_lines(layout, packages))
            return min((printed - before) / max(expected, 1), 0.99)

        before = _ninja_lines(layout, packages)
        _run(layout, title, _colcon(layout, packages, stale), line, fraction)

    return Step(
        title,
        {f'build {p.name}': p.digest for p in packages},
        act,
        clear=lambda: remove(layout.build, layout.install),
        is_there=lambda: all(map(is_installed, packages)),
    )


def _ninja_lines(layout: Layout, packages: list[Package]) -> int:
    """How many build commands ninja has finished."""
    total = 0
    for package in packages:
        with contextlib.suppress(OSError):
            total += (layout.build / package.name / '.ninja_log').read_bytes().count(b'\n')
    return total


def _colcon(layout: Layout, packages: list[Package], stale: list[Package]) -> list[str]:
    jobs = os.environ.get('LFD_JOBS', '')
    # More workers than cores: configuring and generating leave a core idle much of the time.
    workers = jobs if jobs.isdigit() and int(jobs) > 0 else str((os.cpu_count() or 2) + 1)
    return [
        *(str(layout.python), str(layout.venv / 'bin' / 'colcon'), '--log-base', str(layout.log / 'colcon'), 'build'),
        *('--merge-install', '--symlink-install', '--parallel-workers', workers),
        *('--build-base', str(layout.build), '--install-base', str(layout.install)),
        *('--base-paths', *(str(package.folder) for package in packages)),
        *('--packages-above', *(package.name for package in stale or packages)),
        *(
            '--cmake-args',
            '-GNinja',
            '-DBUILD_TESTING=OFF',
            '-DLFD_EMBEDDED=ON',
            f'-DPython3_EXECUTABLE={layout.python}',
        ),
    ]


# The compiled kernels -------------------------------------------------------------------------------------------------


def _warm_up_step(layout: Layout) -> Step:
    title = 'Compile the numerical kernels'
    sources = [
        path
        for name in python_packages(layout)
        for path in (layout.checkout / name / name).rglob('*.py')
        if any(mark in path.read_bytes() for mark in KERNEL_MARKS)
    ]
    requirements = (layout.requirements / 'embedded.txt').read_text()
    value = digest('warm-up 1', layout.python_version() or '', requirements, digest_files(layout.checkout, sources))

    def act(line: StepLine) -> None:
        _run(layout, title, [str(layout.python), '-m', WARM_UP_MODULE], line, lambda _: None)

    return Step(title, {'warm-up': value}, act, clear=lambda: remove(layout.numba_cache))


def remove(*folders: Path) -> None:
    """Remove folders that lfd made, or say why not."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
        if folder.exists():
            raise Fault(f'{folder} could not be removed.', f'remove it yourself (rm -rf "{folder}") and run again')
