"""Files that were damaged at random: refused with problems or read, and never anything else."""

import contextlib
import random
from collections.abc import Callable

import pytest

from lfd_planner.mtdf import Document, MtdfError, Task, dump_task, errors, read_report, repair_text

PIECES = (
    *('{', '}', '[', ']', ',', ':', '- ', '\n', ' ', '  ', '"', "'", '#', '&a', '*a', '!x', '|', '>', '? ', '%', '---'),
    *('é', '\t', '\r', '~', '.nan', '1e999', 'type', 'rule', 'keyframes', 'version: 2', '\u2028', '\x85', '\x00', '😀'),
)


def damaged(text: str, dice: random.Random) -> str:
    for _ in range(dice.randint(1, 4)):
        at = dice.randrange(len(text) + 1)
        until = min(len(text), at + dice.choice((0, 0, 1, 1, 3, 20)))
        text = text[:at] + dice.choice(('', *PIECES)) + text[until:]
    return text


@pytest.mark.parametrize('seed', range(40))
def test_every_damage_is_told_or_harmless(seed: int, printed: str, random_task: Callable[[int], Task]):
    dice = random.Random(seed)
    task = random_task(seed)
    originals = [printed, dump_task(task), dump_task(task, file_format='json')]
    for _ in range(20):
        text = damaged(dice.choice(originals), dice)
        report = read_report(text)
        assert (report.task is None) == bool(errors(report.problems))
        lines = text.count('\n') + text.count('\r') + text.count('\x85') + text.count('\u2028') + 1
        assert all(0 <= problem.line <= lines for problem in report.problems)
        with contextlib.suppress(MtdfError):
            repaired = repair_text(text)
            assert read_report(repaired.text).task == repaired.task
        if report.task is not None:
            assert Document(text).task == report.task
