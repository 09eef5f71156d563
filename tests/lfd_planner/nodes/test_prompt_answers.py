"""Work that is left behind when nobody wants its answer any more."""

from __future__ import annotations

import threading

import pytest

from lfd_planner.nodes.prompt_answers import PromptAnswers
from lfd_planner.stopping import never


@pytest.fixture
def answers():
    answers = PromptAnswers(2)
    yield answers
    answers.close()


def test_what_ends_is_answered(answers):
    assert answers.answer(lambda: 'a motion', never) == 'a motion'


def test_what_ends_soon_after_it_should_stop_is_answered(answers):
    stop = threading.Event()

    def work() -> str:
        stop.set()
        return 'the best motion so far'

    assert answers.answer(work, stop.is_set) == 'the best motion so far'


def test_what_does_not_look_up_is_left_behind_and_ends_by_itself(answers):
    """The answer comes while the work is still under way: otherwise this would wait for itself."""
    go_on, ended = threading.Event(), threading.Event()

    def work() -> str:
        go_on.wait()
        ended.set()
        return 'too late'

    assert answers.answer(work, lambda: True) is None
    assert not ended.is_set()
    assert answers.answer(lambda: 'a motion', never) == 'a motion'
    go_on.set()
    answers.close()
    assert ended.is_set()


def test_errors_come_to_who_asked(answers):
    def work() -> str:
        raise ValueError('no such thing')

    with pytest.raises(ValueError, match='no such thing'):
        answers.answer(work, never)
