"""Copies of a robot's mesh files, with the materials and textures that they name."""

import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

_SIDE_FILES = ('.png', '.jpg', '.jpeg', '.bmp', '.tga', '.tif', '.tiff', '.mtl', '.bin')
_MOST_CHARACTERS = 50_000_000  # of a file that is searched for the names of others
# How the formats name other files.
_REFERENCES = {
    '.obj': re.compile(r'^mtllib\s+(.+?)\s*$', re.MULTILINE),
    '.mtl': re.compile(r'^\s*(?:map_\w+|bump|disp|decal|norm)\s+(?:.*\s)?(\S+)\s*$', re.MULTILINE),
    '.dae': re.compile(r'<init_from>\s*(?:file://)?([^<]+?)\s*</init_from>'),
    '.gltf': re.compile(r'"uri"\s*:\s*"([^"]+)"'),
}


def copy_meshes(files: Iterable[Path], folder: Path) -> Mapping[Path, str]:
    """Copy mesh files into `meshes` below a robot's folder; their new paths below it by their old ones."""
    copied: dict[Path, str] = {}
    taken: set[str] = set()
    for file in sorted(set(files)):
        place = _free_place(file, taken)
        taken.add(place)
        target = folder / 'meshes' / place
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
        copied[file] = f'meshes/{place}'
        for name in _named_files(file):
            side = target.parent / name
            side.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file.parent / name, side)
    return copied


def _free_place(file: Path, taken: set[str]) -> str:
    """A mesh's own folder and name, in letters that need no quoting in a URI, and that no other mesh has."""
    folder, stem = (re.sub(r'[^A-Za-z0-9._-]', '_', part).lstrip('.') or '_' for part in (file.parent.name, file.stem))
    place, number = f'{folder}/{stem}{file.suffix}', 2
    while place in taken:
        place, number = f'{folder}/{stem}_{number}{file.suffix}', number + 1
    return place


def _named_files(file: Path) -> Iterator[PurePosixPath]:
    """The files that a mesh file names, and those that they name, as paths from the mesh's folder and not out of it."""
    waiting, seen = [file], set()
    while waiting:
        current = waiting.pop()
        pattern = _REFERENCES.get(current.suffix.lower())
        if pattern is None or current.stat().st_size > _MOST_CHARACTERS:
            continue
        for text in pattern.findall(current.read_text(encoding='utf-8', errors='replace')):
            name = PurePosixPath(unquote(text).replace('\\', '/'))
            found = file.parent / name
            if name.is_absolute() or '..' in name.parts or name in seen or name.suffix.lower() not in _SIDE_FILES:
                continue
            if found.is_file():
                seen.add(name)
                waiting.append(found)
                yield name
