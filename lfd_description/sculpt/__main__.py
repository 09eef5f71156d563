"""`python -m sculpt [NAME ...] [--check]`: make the bodies of arms and grippers, or say whether they are up to date.

Run it in the folder lfd_description.
"""

import argparse
import sys
from pathlib import Path

from lfd_description.files import write_atomically

from .arms import ROBOTS, body_files
from .grippers import GRIPPERS, gripper_files
from .slices import published_arms

GRIPPER_LOOKS = 'grippers'


def main() -> int:
    """The command; its exit code is 1 when `--check` finds a file that is not up to date."""
    names = (*published_arms(), GRIPPER_LOOKS)
    parser = argparse.ArgumentParser(prog='python -m sculpt', description=__doc__)
    parser.add_argument('names', nargs='*', metavar='NAME', help=f'default: {" ".join(names)}')
    parser.add_argument('--check', action='store_true', help='write nothing; exit with 1 if a file would change')
    options = parser.parse_args()
    if unknown := sorted(set(options.names) - set(names)):
        parser.error(f'there are no published shapes of {", ".join(unknown)}; choose of {", ".join(names)}.')
    changed = [file for name in options.names or names for file in _update(name, write=not options.check)]
    for file in changed:
        print(f'{"is out of date" if options.check else "written"}: {file.relative_to(ROBOTS.parent)}')
    return 1 if options.check and changed else 0


def _update(name: str, *, write: bool) -> list[Path]:
    """Bring an arm's folder or the grippers' up to date, if `write`; the files that had to change or to go."""
    if name == GRIPPER_LOOKS:
        folder, wanted = GRIPPERS, gripper_files()
    else:
        folder = ROBOTS / name
        wanted = {folder / file: data for file, data in body_files(name).items()}
    meshes = [file for file in folder.rglob('*') if file.is_file() and 'meshes' in file.parts]
    left_over = [file for file in meshes if file not in wanted]
    changed = [file for file, data in wanted.items() if not file.exists() or file.read_bytes() != data]
    if write:
        for file in changed:
            write_atomically(file, wanted[file])
        for file in left_over:
            file.unlink()
    return changed + left_over


if __name__ == '__main__':
    sys.exit(main())
