"""Files and their paths; what lfd writes is whole or not there, never found half written."""

import os
import tempfile
from pathlib import Path


def without_dots(path: Path) -> Path:
    """The absolute path without '..'; links, which an installation may be made of, are not followed."""
    return Path(os.path.normpath(path.absolute()))


def write_atomically(file: Path, content: str | bytes, *, mode: int = 0o644) -> None:
    """Write a file so that a reader, or a crash, sees the old content or the new one and nothing between.

    Nobody whom `mode` shuts out can read it at any moment.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f'.{file.name}.')
    try:
        with os.fdopen(handle, 'wb') as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(mode)
        Path(temporary).replace(file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
