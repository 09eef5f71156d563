"""Tasks that people put together of stages, with stages of their own: the documented example."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[3] / 'docs' / 'examples' / 'own_task.py'


def test_the_documented_example_plans_and_is_accepted(capsys: pytest.CaptureFixture[str]):
    assert runpy.run_path(str(EXAMPLE))['main']() == 0
    printed = capsys.readouterr().out
    assert printed.startswith('9 segments, ')
    assert '\naccepted\n' in printed


def test_a_stage_of_ones_own_tells_why_it_cannot_be_done(capsys: pytest.CaptureFixture[str]):
    main = runpy.run_path(str(EXAMPLE))['main']
    main.__globals__['DEPTH'] = 0.2  # [m]: into the box
    assert main() == 1
    printed = capsys.readouterr().out
    assert printed.startswith('knock on blue_box: ')
    assert 'collision' in printed
