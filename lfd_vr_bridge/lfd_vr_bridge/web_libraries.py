"""The JavaScript libraries of the page: fetched once by npm, at pinned versions with checksums, then served locally.

`./lfd` fetches them in its set-up. On a ROS machine, once: ``ros2 run lfd_vr_bridge fetch_page_libraries``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

VARIABLE = 'LFD_WEB_LIBRARIES'
NEEDED = ('three', 'urdf-loader')
LISTS = ('package.json', 'package-lock.json')


class LibrariesMissing(Exception):
    """The page cannot be served; the message says what to do."""


def folder() -> Path:
    """The folder that holds the libraries, each in a folder of its name.

    Raises:
        LibrariesMissing: they were not fetched yet.
    """
    found = Path(os.environ.get(VARIABLE) or _own() / 'node_modules')
    absent = [name for name in NEEDED if not (found / name / 'package.json').is_file()]
    if absent:
        fix = 'run ros2 run lfd_vr_bridge fetch_page_libraries, or ./lfd setup in the checkout'
        raise LibrariesMissing(f'The page needs {" and ".join(absent)}, and {found} has not got them; {fix}.')
    return found


def fetch(npm: Sequence[str], lists: Path, into: Path, *, with_tests: bool = False) -> int:
    """Have npm bring the listed libraries below `into`/node_modules; returns npm's exit code.

    Args:
        npm: the command that is npm.
        lists: the folder of package.json and package-lock.json.
        into: made if it is not there.
        with_tests: those that only tests need, too.
    """
    into.mkdir(parents=True, exist_ok=True)
    for name in LISTS:
        shutil.copyfile(lists / name, into / name)
    options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier']
    kinds = '--include=dev' if with_tests else '--omit=dev'
    # Versions and checksums are in the list; a machine that is set up for production must not leave out any.
    return subprocess.run([*npm, 'ci', *options, kinds, '--prefix', str(into)], cwd=into, check=False).returncode


def _own() -> Path:
    """Where a ROS machine keeps them, for this user."""
    data = os.environ.get('XDG_DATA_HOME') or str(Path.home() / '.local' / 'share')
    return Path(data) / 'lfd' / 'page'


def main(args: Sequence[str] | None = None) -> int:
    """Fetch the libraries; returns 0, 1 if npm failed, 2 if there is none."""
    parser = argparse.ArgumentParser(
        prog='fetch_page_libraries',
        description='Fetches the JavaScript libraries of the page with npm.',
        epilog='Example: ros2 run lfd_vr_bridge fetch_page_libraries',
    )
    parser.add_argument('--into', type=Path, default=_own(), help='folder to put them in (default: %(default)s)')
    parser.add_argument('--lists', type=Path, help='folder of package.json (default: that of the package)')
    parser.add_argument('--npm', nargs='+', metavar='WORD', help='the command that is npm (default: npm)')
    parser.add_argument('--with-tests', action='store_true', help='those that only the tests need, too')
    given = parser.parse_args(args)
    npm = given.npm or [shutil.which('npm')]
    if npm[0] is None:
        print('fetch_page_libraries: there is no npm; install it (Debian, Ubuntu: apt install npm).', file=sys.stderr)
        return 2
    try:
        lists = given.lists or Path(get_package_share_directory('lfd_vr_bridge')) / 'libraries'
    except PackageNotFoundError:
        print('fetch_page_libraries: source the workspace first (. install/setup.sh).', file=sys.stderr)
        return 2
    if fetch(npm, lists, given.into, with_tests=given.with_tests):
        print('fetch_page_libraries: npm failed, see above; run it again when that is mended.', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
