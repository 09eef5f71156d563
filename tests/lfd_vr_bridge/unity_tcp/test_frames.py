"""Frames in any pieces, and what waits for a client."""

from __future__ import annotations

import random
import struct

import pytest
from support.unity_client import frame

from lfd_vr_bridge.unity_tcp.frames import Frame, FrameReader, encoded
from lfd_vr_bridge.unity_tcp.outbox import MOST_NOTES, Outbox, OutboxFull

SEED = 20261116


def test_frames_are_found_however_the_stream_is_cut() -> None:
    chance = random.Random(SEED)
    wanted = [Frame(f'topic{n}', chance.randbytes(chance.randrange(300))) for n in range(50)]
    stream = b''.join(frame(each.destination, each.payload) + bytes(8 * chance.randrange(3)) for each in wanted)
    reader, found = FrameReader(), list[Frame]()
    while stream:
        length = chance.randint(1, 100)
        frames, fault = reader.feed(stream[:length])
        assert fault is None
        found += frames
        stream = stream[length:]
    assert found == wanted


def test_good_frames_before_a_bad_one_are_still_there() -> None:
    frames, fault = FrameReader(largest_payload=10).feed(frame('a', b'1') + frame('b', bytes(11)))
    assert frames == [Frame('a', b'1')]
    assert str(fault).startswith("A frame's payload claims 11 bytes, and 10 are allowed; ")


def test_unity_is_written_to_without_nul() -> None:
    assert b''.join(encoded('/t', b'xyz')) == struct.pack('<I', 2) + b'/t' + struct.pack('<I', 3) + b'xyz'


def test_services_go_before_topics_and_of_topics_the_newest_stay() -> None:
    outbox = Outbox(100)
    for number in range(3):
        outbox.put_topic('a', (b'a%d' % number,))
        outbox.put_topic('tf', (b't%d' % number,), depth=2)
    outbox.put_note((b'note',))
    outbox.put_urgent((b'head', b'body'))
    taken = [outbox.take() for _ in range(6)]
    assert taken == [(b'head', b'body'), (b'note',), (b'a2',), (b't1',), (b't2',), None]
    assert outbox.dropped == 3


def test_what_waits_is_bounded() -> None:
    outbox = Outbox(100)
    outbox.put_urgent((bytes(90),))
    with pytest.raises(OutboxFull, match='90 bytes of service messages wait'):
        outbox.put_urgent((bytes(11),))
    for number in range(2 * MOST_NOTES):
        outbox.put_note((b'%d' % number,))
    outbox.take()
    assert outbox.take() == (b'%d' % MOST_NOTES,)
