from __future__ import annotations

import json
from pathlib import Path

import pytest

from lfd_description.scenes import find_scene
from lfd_description.shapes import Capsule
from lfd_planner.mtdf import Pick, Place
from lfd_planner.pose import Pose
from lfd_planner.scene import from_scene
from lfd_vr_bridge.server import frames
from lfd_vr_bridge.server.news import ShownObject, keyframe_fields, object_fields
from lfd_vr_bridge.server.protocol import READERS, BadFrame, parse

POSE = [0.4, -0.1, 0.2, 0.0, 0.0, 0.0, 1.0]
PROTOCOL_TEXT = Path(__file__).resolve().parents[3] / 'docs' / 'vr_protocol.md'


def text(kind: str, **fields: object) -> str:
    return json.dumps({'type': kind, **fields})


def test_a_grab_is_read():
    frame = parse(text('grab', id=7, object='blue_box', hand='left', hand_pose=None, pose=POSE))
    assert isinstance(frame, frames.Grab)
    assert (frame.id, frame.object, frame.hand.value, frame.hand_pose) == (7, 'blue_box', 'left', None)
    assert frame.pose == Pose((0.4, -0.1, 0.2))


def test_a_nearly_unit_quaternion_is_made_unit():
    frame = parse(text('place_object', id=1, object='a', pose=[0, 0, 0, 0, 0, 0, 1.0005]))
    assert isinstance(frame, frames.PlaceObject)
    assert frame.pose.orientation == (0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ('wrong', 'place'),
    [
        ('', 'no JSON'),
        ('{', 'no JSON'),
        ('[1]', 'one JSON object'),
        ('null', 'one JSON object'),
        ('[' * 60_000, 'nested'),
        ('{"type": "ping", "t": NaN}', 'NaN'),
        ('{"type": "ping", "t": 1e999}', 'ping.t'),
        (f'{{"type": "ping", "t": {"9" * 4000}}}', 'ping.t'),
        (f'{{"type": "ping", "t": {"9" * 5000}}}', 'no JSON'),
        (text('shout', id=1), "'shout' is no type"),
        (text('ping', t=True), 'ping.t is no number'),
        (text('ping', t=1, u=2), "unknown field 'u'"),
        (text('grab', id=1, object='a', hand='foot', pose=POSE), 'grab.hand is none of left, right, mouse'),
        (text('grab', id=-1, object='a', hand='left', pose=POSE), 'grab.id'),
        (text('grab', id=1, object=' a', hand='left', pose=POSE), 'grab.object is no name'),
        (text('grab', id=1, object='a' * 201, hand='left', pose=POSE), 'grab.object is no name'),
        (text('grab', id=1, object='a\n', hand='left', pose=POSE), 'grab.object is no name'),
        (text('grab', id=1, object='\ud800', hand='left', pose=POSE), 'grab.object is no name'),
        (text('release', id=1, object='a', pose=POSE[:6]), 'release.pose has 6 numbers'),
        (text('release', id=1, object='a', pose=[101, *POSE[1:]]), 'release.pose[0] is not within -100 and 100'),
        (text('release', id=1, object='a', pose=[*POSE[:6], 2]), 'release.pose has a quaternion of the length 2'),
        (text('release', id=1, object='a', pose=[*POSE[:6], '1']), 'release.pose[6] is no number'),
        (text('release', id=1, object='a', pose=[0.0] * 100_000), 'has 100000 entries'),
        (text('hands', seq=1, t=0, left={'pose': POSE, 'grip': 2}), 'hands.left.grip is not within 0 and 1'),
        (text('settings', id=1, snap=1), 'settings.snap is neither true nor false'),
        (text('run', id=1, speed=0), 'run.speed'),
        (text('run', id=1, first_keyframe=-1), 'run.first_keyframe is no whole number'),
        (text('hello', protocol=1, token='x', page='short'), 'hello.page is no name of a page'),
        (text('hello', protocol=1, token='x', page='with spaces in it'), 'hello.page is no name of a page'),
        (text('add_object', id=1, object={'parts': [], 'pose': POSE}), 'parts is empty'),
        (text('add_object', id=1, object={'parts': [{'shape': 'mesh', 'url': '/x'}], 'pose': POSE}), 'parts[0].shape'),
        (text('add_object', id=1, object={'parts': [{'shape': 'box', 'size': [1, 0, 1]}]}), 'parts[0].size[1]'),
    ],
)
def test_what_is_no_frame_is_refused_with_its_place(wrong: str, place: str):
    with pytest.raises(BadFrame) as refused:
        parse(wrong)
    assert place in str(refused.value)
    assert str(refused.value).count('\n') == 0
    assert len(str(refused.value)) < 400


def test_a_refusal_has_the_requests_number():
    with pytest.raises(BadFrame) as refused:
        parse(text('open_task', id=12))
    assert refused.value.id == 12


def test_the_documented_requests_are_those_that_are_read():
    table = PROTOCOL_TEXT.read_text().split('## Requests')[1].split('## News')[0]
    rows = [line.split('|')[1] for line in table.splitlines() if line.startswith('| `')]
    documented = {name for row in rows for name in row.split('`')[1::2]}
    assert documented == set(READERS) - {'hello'}


def test_what_a_scene_tells_can_be_added_again():
    """A capsule's height is from pole to pole in a scene, and without its caps on the wire."""
    for name in ('seed_cell', 'kitchen_primitives', 'shelf', 'bin'):
        scene = from_scene(find_scene(name))
        for thing in scene.objects.values():
            shown = object_fields(ShownObject(thing, (0.5, 0.5, 0.5, 1.0), 'twin'), lambda mesh: '/m')
            frame = parse(text('add_object', id=1, object=shown))
            assert isinstance(frame, frames.AddObject)
            assert (frame.name, frame.pose) == (thing.id, thing.pose)
            for read, part in zip(frame.body.parts, thing.body.parts, strict=True):
                if isinstance(part.shape, Capsule) and isinstance(read.shape, Capsule):
                    assert read.shape.height == pytest.approx(part.shape.height)
                else:
                    assert read == part


def test_keyframes_are_told_in_the_scenes_frame():
    origin = Pose((1.0, 0.0, 0.0))
    place = keyframe_fields(1, Place('a', Pose((0.1, 0.2, 0.3)), 2.5), origin)
    assert place == {
        'index': 1,
        'kind': 'place',
        'object': 'a',
        'pose': [1.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0],
        'time': 2.5,
        'hand': None,
    }
    assert keyframe_fields(0, Pick('a'), origin)['kind'] == 'pick'
