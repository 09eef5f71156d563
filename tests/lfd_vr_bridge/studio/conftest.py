"""Studios for tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.studio import People, people


@pytest.fixture
def enter(tmp_path: Path) -> Iterator[People]:
    """Makes people in studios whose files are all in one folder."""
    yield from people(tmp_path / 'studio')
