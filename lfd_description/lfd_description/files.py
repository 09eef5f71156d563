"""Files that are whole or not there: what lfd writes is never found half written."""

import os
import tempfile
from pathlib import Path


def write_atomically(file: Path, content: str | bytes) -> None:
    """Write a file so that a reader, or a crash, sees the old content or the new one and nothing between."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f'.{file.name}.')
    try:
        with os.fdopen(handle, 'wb') as stream:
            stream.write(content.encode() if isinstance(content, str) else content)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).chmod(0o644)
        Path(temporary).replace(file)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
