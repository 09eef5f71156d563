"""The codec of RTDE: what goes in comes out, and rubbish is refused with a reason."""

import math
import random
import struct
from contextlib import suppress

import pytest

from lfd_hardware.drivers.ur import rtde
from lfd_hardware.drivers.ur.rtde import FrameReader, Kind, Recipe, RtdeError

SEED = 20260611


def random_recipe(source):
    types = tuple(source.choices(list(rtde.TYPES), k=source.randrange(1, 12)))
    return Recipe(source.randrange(1, 256), tuple(f'variable_{index}' for index in range(len(types))), types)


def random_numbers(source, recipe):
    make = {
        '?': lambda: source.random() < 0.5,
        'B': lambda: source.randrange(256),
        'I': lambda: source.randrange(2**32),
        'Q': lambda: source.randrange(2**64),
        'i': lambda: source.randrange(-(2**31), 2**31),
        'd': lambda: source.uniform(-1e6, 1e6),
    }
    return [
        make[code[-1]]()
        for code in map(rtde.TYPES.get, recipe.types)
        for _ in range(int(code[:-1]) if code[:-1] else 1)
    ]


def test_data_comes_out_as_it_went_in():
    source = random.Random(SEED)
    for _ in range(200):
        recipe = random_recipe(source)
        numbers = random_numbers(source, recipe)
        (frame,) = FrameReader().feed(recipe.pack(numbers))
        assert frame.kind is Kind.DATA
        assert list(recipe.unpack(frame.payload)) == numbers


def test_a_stream_is_cut_into_the_same_frames_however_it_arrives():
    source = random.Random(SEED)
    sent = [(source.choice(list(Kind)), source.randbytes(source.randrange(60))) for _ in range(200)]
    stream = b''.join(rtde.frame(kind, payload) for kind, payload in sent)
    reader, got = FrameReader(), []
    while stream:
        cut = source.randrange(1, 80)
        got += reader.feed(stream[:cut])
        stream = stream[cut:]
    assert [(frame.kind, frame.payload) for frame in got] == sent


def test_requests_are_as_the_protocol_has_them():
    assert rtde.version_request(2) == b'\x00\x05V\x00\x02'
    assert rtde.frame(Kind.START) == b'\x00\x03S'
    assert rtde.outputs_request(('timestamp', 'actual_q'), 500.0, 2) == (
        b'\x00\x1dO' + struct.pack('>d', 500.0) + b'timestamp,actual_q'
    )
    assert rtde.outputs_request(('timestamp',), 500.0, 1) == b'\x00\x0cOtimestamp'
    assert rtde.inputs_request(('input_int_register_24',)) == b'\x00\x18Iinput_int_register_24'
    assert Recipe(3, ('a', 'b'), ('INT32', 'BOOL')).pack((-1, True)) == b'\x00\x09U\x03\xff\xff\xff\xff\x01'


def test_answers_are_understood():
    assert rtde.accepted(b'\1')
    assert not rtde.accepted(b'\0')
    version = rtde.controller_version(struct.pack('>4I', 5, 11, 1, 108318))
    assert (str(version), version.rate) == ('5.11.1.108318', 500.0)
    assert rtde.controller_version(struct.pack('>4I', 3, 15, 4, 1)).rate == 125.0
    recipe = rtde.outputs_answer(b'\x01DOUBLE,NOT_FOUND', ('timestamp', 'nonsense'), 2)
    assert (recipe.number, recipe.types) == (1, ('DOUBLE', 'NOT_FOUND'))
    assert rtde.outputs_answer(b'DOUBLE', ('timestamp',), 1).number == 0
    assert rtde.inputs_answer(b'\x00IN_USE', ('input_int_register_0',)).types == ('IN_USE',)
    text = rtde.text(b'\x05hello\x04RTDE\x01', 2)
    assert (text.text, text.source, text.level) == ('hello', 'RTDE', 1)
    assert rtde.text(b'\x02old', 1).text == 'old'


@pytest.mark.parametrize(
    ('read', 'words'),
    [
        (lambda: FrameReader().feed(b'\x00\x02U'), 'a size of 2 bytes'),
        (lambda: FrameReader().feed(b'\x00\x03X'), 'the unknown kind 88'),
        (lambda: rtde.accepted(b''), '0 bytes where 1'),
        (lambda: rtde.controller_version(b'\0' * 15), '15 bytes where 16'),
        (lambda: rtde.outputs_answer(b'', ('a',), 2), 'types|type'),
        (lambda: rtde.outputs_answer(b'\x01DOUBLE,DOUBLE', ('a',), 2), '2 types came for 1'),
        (lambda: rtde.inputs_answer(b'\x01TRIPLE', ('a',)), "'TRIPLE' is no type"),
        (lambda: rtde.inputs_answer(b'\x01\xff\xfe', ('a',)), 'no text'),
        (lambda: rtde.text(b'\x09short', 2), 'cut short'),
        (lambda: rtde.inputs_request(['input_double_register_24'] * 100), 'more than 2048'),
        (lambda: Recipe(1, ('a',), ('DOUBLE',)).unpack(b'\x01\0'), '2 bytes where 9'),
        (lambda: Recipe(1, ('a',), ('DOUBLE',)).unpack(b'\x02' + b'\0' * 8), 'recipe 2'),
        (lambda: Recipe(1, ('a',), ('DOUBLE',)).unpack(b'\x01' + struct.pack('>d', math.nan)), 'finite'),
        (lambda: Recipe(1, ('a',), ('VECTOR3D',)).unpack(b'\x01' + struct.pack('>3d', 0, -math.inf, 0)), 'finite'),
    ],
)
def test_what_is_no_rtde_is_refused_with_a_reason(read, words):
    with pytest.raises(RtdeError, match=words):
        read()


def test_rubbish_never_does_worse_than_a_reason():
    source = random.Random(SEED)
    good = Recipe(1, ('a', 'b'), ('VECTOR6D', 'INT32'))
    for _ in range(2000):
        stream = bytearray(good.pack(random_numbers(source, good)) * 3)
        for _ in range(source.randrange(1, 6)):
            stream[source.randrange(len(stream))] = source.randrange(256)
        with suppress(RtdeError):
            for frame in FrameReader().feed(bytes(stream[: source.randrange(len(stream))])):
                assert all(map(math.isfinite, good.unpack(frame.payload)))
        payload = source.randbytes(source.randrange(40))
        for read in (
            rtde.accepted,
            rtde.controller_version,
            lambda data: rtde.text(data, 2),
            lambda data: rtde.text(data, 1),
            lambda data: rtde.outputs_answer(data, ('a',), 2),
            lambda data: rtde.inputs_answer(data, ('a',)),
        ):
            with suppress(RtdeError):
                read(payload)
