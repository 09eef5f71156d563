"""The stamp: what was installed and built, and of what, so that a start only makes what is missing.

A step is stamped when it has ended well, never before, and the file is replaced in one go: whatever moment the
power fails, the next start finds either the old or the new state.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path


class Stamp:
    """Keys of finished steps with a digest of what each was made of."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            data = json.loads(path.read_text())
        except (OSError, ValueError):
            data = {}
        self._digests: dict[str, str] = {str(k): str(v) for k, v in data.items()} if isinstance(data, dict) else {}

    def is_current(self, key: str, digest: str) -> bool:
        """Whether the step ended well for just this input."""
        return self._digests.get(key) == digest

    def begun(self, key: str) -> bool:
        """Whether the step was started and killed: what it left behind is not to be trusted."""
        return self._digests.get(key) == 'begun'

    def begin(self, *keys: str) -> None:
        """Note that the steps are under way."""
        self._digests.update(dict.fromkeys(keys, 'begun'))
        self._write()

    def finish(self, digests: dict[str, str]) -> None:
        """Note that the steps ended well."""
        self._digests.update(digests)
        self._write()

    def forget(self, *keys: str) -> None:
        """Note that the steps failed: what they left is as good as before they began."""
        for key in keys:
            self._digests.pop(key, None)
        self._write()

    def _write(self) -> None:
        write_atomically(self._path, json.dumps(self._digests, indent=1, sort_keys=True) + '\n')


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file so that a reader, or a crash, sees the old content or the new one and nothing between."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f'{path.name}.{os.getpid()}.tmp')
    try:
        with temporary.open('wb') as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def digest(*parts: str | bytes) -> str:
    """Digest of texts."""
    total = hashlib.sha256()
    for part in parts:
        data = os.fsencode(part) if isinstance(part, str) else part
        total.update(len(data).to_bytes(8, 'little') + data)
    return total.hexdigest()[:24]


def digest_files(root: Path, paths: Iterable[Path], *, contents: bool = True) -> str:
    """Digest of files by name below root, and by what they hold unless only the names matter."""
    parts: list[str | bytes] = []
    for path in sorted(paths):
        parts.append(path.relative_to(root).as_posix())
        if contents:
            parts.append(path.read_bytes())
    return digest(*parts)
