"""The examples of docs/mtdf.md are files that work."""

import re
from pathlib import Path

import pytest

from lfd_description.scenes import Scene, SceneObject
from lfd_description.scenes.colours import NAMED
from lfd_description.shapes import Box
from lfd_planner.mtdf import parse_task, read_report, resolve


@pytest.fixture
def examples(checkout: Path) -> list[str]:
    return re.findall(r'```yaml\n(.*?)```', (checkout / 'docs' / 'mtdf.md').read_text(), re.DOTALL)


def test_there_is_one_of_each_version_without_a_problem(examples: list[str]):
    reports = [read_report(example) for example in examples]
    assert [report.version for report in reports] == [1, 2]
    assert [str(problem) for report in reports for problem in report.problems] == []


def test_the_second_shows_every_key_of_a_task(examples: list[str], checkout: Path):
    keys = re.findall(r'^\| `(\w+)` \|', (checkout / 'docs' / 'mtdf.md').read_text(), re.MULTILINE)
    assert len(keys) > 15
    assert all(key in examples[1] for key in keys)


def test_the_rule_is_explained_as_printed(checkout: Path):
    """The lines below 'explains:' are what the library prints."""
    text = (checkout / 'docs' / 'mtdf.md').read_text()
    printed = text.split('explains:\n\n```\n')[1].split('```')[0]
    cube = parse_task(re.findall(r'```yaml\n(.*?)```', text, re.DOTALL)[1]).descriptors[1]
    scene = Scene(
        'base_link',
        (
            SceneObject('table', Box((1, 1, 0.1))),
            SceneObject('tray', Box((0.3, 0.2, 0.02)), (0.5, 0, 0)),
            SceneObject('red_cube', Box((0.05,) * 3), (0.19, 0, 0), colour=NAMED['red'], movable=True),
            SceneObject('red_plate', Box((0.2, 0.1, 0.01)), (0.4, 0, 0), colour=NAMED['red'], movable=True),
            SceneObject('blue_cube', Box((0.05,) * 3), (0.3, 0, 0), colour=NAMED['blue'], movable=True),
        ),
    )
    assert str(resolve(cube, scene)) == printed.rstrip('\n')
