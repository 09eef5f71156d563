"""Every message type that is installed: what ROS serialises is accepted, and what is cut short is not."""

from __future__ import annotations

import random
from typing import Any

import pytest
from rclpy.serialization import deserialize_message, serialize_message
from support.random_messages import random_message

from lfd_vr_bridge.nodes.unity_types import Codec, message_type, type_names
from lfd_vr_bridge.unity_tcp.cdr import HEADER, CdrError, Layout
from lfd_vr_bridge.unity_tcp.ports import Refused

SEED = 20261116
FIELDS = {
    'p/Point': {'x': 'double', 'y': 'double', 'z': 'double'},
    'p/Flag': {'on': 'boolean', 'name': 'string<3>', 'few': 'sequence<uint8, 2>'},
}


@pytest.mark.parametrize('name', list(type_names('msg')))
def test_the_layout_is_that_of_ros(name: str) -> None:
    chance = random.Random(f'{SEED} {name}')
    kind = message_type(name)
    codec = Codec(kind, name)
    for _ in range(10):
        message = random_message(kind, chance)
        payload = serialize_message(message)
        assert codec.checked(payload) == payload
        exact = codec.encoded(message)
        assert deserialize_message(exact, kind) == message
        if len(exact) > len(HEADER) + 1:
            with pytest.raises(Refused, match=r'ends too early|cannot be read'):
                codec.checked(exact[:-1])


@pytest.mark.parametrize(
    ('type_name', 'payload', 'reason'),
    [
        ('p/Point', b'', 'does not start with 00 01 00 00'),
        ('p/Point', b'\0\0\0\0' + bytes(24), 'does not start with 00 01 00 00'),
        ('p/Point', HEADER + bytes(23), 'ends too early, after 23 bytes'),
        ('p/Point', HEADER + bytes(200), 'has 204 bytes where 28 are expected'),
        ('p/Flag', HEADER + b'\2', 'has the number 2 for true or false'),
        ('p/Flag', HEADER + b'\1\0\0\0\5\0\0\0abcd\0', 'has 5 elements where 4 are allowed'),
        ('p/Flag', HEADER + b'\1\0\0\0\xff\xff\xff\x7f', 'has 2147483647 elements where 4 are allowed'),
        ('p/Flag', HEADER + b'\1\0\0\0\1\0\0\0\0\0\0\0\3\0\0\0abc', 'has 3 elements where 2 are allowed'),
    ],
)
def test_what_is_wrong_is_named(type_name: str, payload: bytes, reason: str) -> None:
    with pytest.raises(CdrError, match=reason):
        Layout(FIELDS[type_name], FIELDS.__getitem__).check(payload)


def test_a_sequence_of_numbers_takes_no_time_however_long_it_is() -> None:
    fields: dict[str, Any] = {'data': 'sequence<uint8>', 'points': 'sequence<p/Point>'}
    payload = HEADER + (2**24).to_bytes(4, 'little') + bytes(2**24) + (2**16).to_bytes(4, 'little') + bytes(24 * 2**16)
    Layout(fields, FIELDS.__getitem__).check(payload)
