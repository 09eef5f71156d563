"""ROS packages that lie around a file without being installed: a stranger's description, fresh from a repository."""

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

_PREFIX_PATH = 'AMENT_PREFIX_PATH'
_FOLDER = re.compile(r'[A-Za-z][\w-]*')
_NAME = re.compile(r'<name>\s*([A-Za-z][\w-]*)\s*</name>')


def nearby_packages(folder: Path) -> Mapping[str, Path]:
    """The package that a folder lies in, and those beside it, by name: what a workspace's `src` holds.

    Folders above it count as packages of their names, too: a download may lack its package.xml.
    """
    found: dict[str, Path] = {}
    for place in (folder, *folder.parents):
        if name := _package_name(place):
            found[name] = place
            with contextlib.suppress(OSError):
                for other in sorted(place.parent.iterdir()):
                    if other_name := _package_name(other):
                        found.setdefault(other_name, other)
            break
    for place in folder.parents:
        if _FOLDER.fullmatch(place.name):
            found.setdefault(place.name, place)
    return MappingProxyType(found)


def _package_name(folder: Path) -> str:
    """The name in a folder's package.xml; empty if it has none."""
    with contextlib.suppress(OSError):
        if match := _NAME.search((folder / 'package.xml').read_text(encoding='utf-8', errors='replace')):
            return match[1]
    return ''


@contextlib.contextmanager
def as_if_installed(packages: Mapping[str, Path]) -> Iterator[None]:
    """While this lasts, these packages are found as if they were installed, unless others of their names are."""
    if not packages:
        yield
        return
    before = os.environ.get(_PREFIX_PATH)
    with tempfile.TemporaryDirectory(prefix='lfd_') as prefix:
        index = Path(prefix, 'share', 'ament_index', 'resource_index', 'packages')
        index.mkdir(parents=True)
        for name, folder in packages.items():
            (index / name).touch()
            (Path(prefix) / 'share' / name).symlink_to(folder, target_is_directory=True)
        os.environ[_PREFIX_PATH] = os.pathsep.join(filter(None, (before, prefix)))
        try:
            yield
        finally:
            if before is None:
                del os.environ[_PREFIX_PATH]
            else:
                os.environ[_PREFIX_PATH] = before
