"""What has to be known about the wheels: which are whole, and the CMake files that need mending after an install."""

from __future__ import annotations

import csv
import re
import shutil
from pathlib import Path

# The ROS 2 wheels' exported CMake targets name the folders of the machine that built them.
_BUILDER_PATHS = re.compile(
    r'/opt/python/cp\d+-cp\d+/(?:include/python3\.\d+|lib/python3\.\d+/site-packages/(?P<numpy>numpy/_core/include))'
)


# rosidl_adapter reads back a list of paths, which CMake cuts at letters such as é unless told that they are letters.
_READS_PATHS = re.compile(r'(file\(STRINGS "\$\{idl_output\}" idl_tuples)\)')


def mend_cmake_files(prefix: Path, python_include: Path, numpy_include: Path) -> int:
    """Make the wheels' CMake files fit this machine; return how many files were mended."""

    def here(found: re.Match[str]) -> str:
        return (numpy_include if found['numpy'] else python_include).as_posix()

    mended = 0
    for path in prefix.glob('share/*/cmake/*.cmake'):
        text = path.read_text(errors='surrogateescape')
        new = _READS_PATHS.sub(r'\1 ENCODING UTF-8)', _BUILDER_PATHS.sub(here, text))
        if new != text:
            path.write_text(new, errors='surrogateescape')
            mended += 1
    return mended


def drop_damaged(site_packages: Path) -> list[str]:
    """Make pip forget the distributions that an interrupted install left incomplete; return their names.

    A distribution is whole when every file of its RECORD is there in its recorded size. CMake files are exempt: we
    mend them after the install.
    """
    damaged = [info for info in site_packages.glob('*.dist-info') if not _is_whole(info)]
    for info in damaged:
        shutil.rmtree(info)
    for stash in site_packages.glob('~*'):  # what pip moves aside during an upgrade
        shutil.rmtree(stash, ignore_errors=True)
    return [info.name.removesuffix('.dist-info') for info in damaged]


def _is_whole(info: Path) -> bool:
    try:
        with (info / 'RECORD').open(newline='') as file:
            rows = list(csv.reader(file))
        for row in rows:
            path = info.parent / row[0]
            size = path.stat().st_size
            if row[2] and path.suffix != '.cmake' and size != int(row[2]):
                return False
    except (OSError, ValueError, IndexError):
        return False
    return (info / 'INSTALLER').is_file()
