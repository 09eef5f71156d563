"""Doing again what a log tells: the way back from events to what people do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, assert_never

from . import events
from .landing import Landing
from .settle import Settled

if TYPE_CHECKING:
    from .studio import Studio


def replay(studio: Studio, happened: Iterable[events.Event]) -> None:
    """Do all that a log tells, into a studio that does not record; its objects become those of the log.

    Raises:
        Refusal: something of it cannot be done; what came before was.
    """
    for event in happened:
        studio.perform(event)


def again(studio: Studio, event: events.Action) -> None:
    """Do what an event tells.

    Raises:
        Refusal: it cannot be done now.
    """
    match event:
        case events.HandsMoved(_, client, hands):
            studio.hands(client, hands)
        case events.Grabbed(_, client, hand, object, pose, hand_pose):
            studio.grab(client, hand, object, pose, hand_pose)
        case events.Carried(_, client, object, pose, hand_pose):
            studio.move(client, object, pose, hand_pose)
        case events.LetGo(_, client, object, pose, hand_pose, rest):
            # Where it came to rest is what happened: found anew, the last digits may differ on another machine.
            studio.release(client, object, pose, hand_pose, Landing(Settled(rest)))
        case events.Lost(_, client):
            studio.lose(client)
        case events.Added(_, thing, colour):
            studio.add_object(thing, colour)
        case events.Placed(_, object, pose):
            studio.place_object(object, pose)
        case events.Removed(_, object):
            studio.remove_object(object)
        case events.Adjusted(_, settings):
            studio.adjust(snap=settings.snap, gravity=settings.gravity, keep_paths=settings.keep_paths)
        case events.Undone():
            studio.undo()
        case events.Trimmed(_, first, last):
            studio.trim(first, last)
        case events.Completed():
            studio.complete_recording()
        case events.Discarded():
            studio.discard_recording()
        case events.RobotTook(_, object):
            studio.robot_took(object)
        case events.RobotPut(_, object, pose):
            studio.robot_put(object, pose)
        case _:
            assert_never(event)
