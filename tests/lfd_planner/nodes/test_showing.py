"""Topics that only show: nothing is made for nobody, and who comes later still sees the newest."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from rclpy.callback_groups import ReentrantCallbackGroup
from std_msgs.msg import String
from support.peer import TIMEOUT, Peer
from support.task_planner_client import LATCHED

from lfd_planner.nodes.showing import LazyTopic, Showing


class Rig:
    def __init__(self, make_peer: Callable[[str], Peer]) -> None:
        self.speaker, self.listener = make_peer('speaker'), make_peer('listener')
        self.showing = Showing(self.speaker.node)
        self.topic = LazyTopic(
            self.speaker.node, self.showing, String, 'shown', String(data='nothing'), ReentrantCallbackGroup()
        )
        self.made: list[str] = []
        self.heard: list[str] = []

    def show(self, text: str) -> None:
        def make() -> String:
            self.made.append(text)
            return String(data=text)

        self.topic.show(make)

    def settle(self) -> None:
        """Wait until all is done that was asked for."""
        done = threading.Event()
        self.showing.soon(done.set)
        assert done.wait(TIMEOUT)

    def listen(self) -> object:
        self.heard.clear()
        return self.listener.node.create_subscription(
            String, 'shown', lambda message: self.heard.append(message.data), LATCHED
        )

    def until(self, condition: Callable[[], object], what: str) -> None:
        self.listener.eventually(condition, what, doing=self.speaker.spin_once)


@pytest.fixture
def rig(make_peer: Callable[[str], Peer]) -> Iterator[Rig]:
    rig = Rig(make_peer)
    yield rig
    rig.showing.close()


def test_who_comes_later_sees_the_newest_which_is_made_only_then(rig):
    rig.show('old')
    rig.show('new')
    rig.settle()
    assert not rig.made
    rig.listen()
    rig.until(lambda: rig.heard, 'a message')
    assert rig.heard == rig.made == ['new']


def test_who_listens_sees_everything(rig):
    rig.show('first')
    rig.listen()
    rig.until(lambda: rig.heard == ['first'], 'the first')
    rig.show('second')
    rig.until(lambda: rig.heard == ['first', 'second'], 'the second')
    rig.topic.clear()
    rig.until(lambda: rig.heard[-1] == 'nothing', 'that nothing holds')


def test_what_holds_no_more_is_not_shown_to_who_comes_later(rig):
    rig.show('first')
    subscription = rig.listen()
    rig.until(lambda: rig.heard == ['first'], 'the first')
    rig.listener.node.destroy_subscription(subscription)
    rig.until(lambda: not rig.speaker.node.count_subscribers('shown'), 'nobody listens')
    rig.show('second')
    rig.settle()
    rig.listen()
    rig.until(lambda: 'second' in rig.heard, 'the second')
    assert 'first' not in rig.heard


def test_an_error_is_logged_and_what_comes_after_is_shown(rig):
    def fail() -> String:
        raise ValueError('no')

    rig.listen()
    rig.until(lambda: rig.speaker.node.count_subscribers('shown'), 'a listener')
    rig.topic.show(fail)
    rig.show('next')
    rig.until(lambda: rig.heard == ['next'], 'the next')


def test_nothing_is_done_after_the_end(rig):
    rig.showing.close()
    rig.show('late')
    assert not rig.made
