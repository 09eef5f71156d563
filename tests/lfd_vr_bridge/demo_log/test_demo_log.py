"""Logs of demonstrations: what was shown is shown again, whatever happened to the file."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from geometry_msgs.msg import PoseStamped
from mcap.reader import make_reader
from rclpy.serialization import deserialize_message
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from lfd_description.scenes import find_scene
from lfd_description.shapes import Capsule, Cone
from lfd_planner.mtdf import Place
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, WorldObject, from_scene
from lfd_vr_bridge.demo_log.codec import WrongEvent, event_of, event_text
from lfd_vr_bridge.demo_log.definitions import definition
from lfd_vr_bridge.demo_log.log_file import LogError, finished_copy, read_log
from lfd_vr_bridge.demo_log.logger import LIVE, DemoLogger, log_path
from lfd_vr_bridge.demo_log.replay import replayed
from lfd_vr_bridge.studio import Hand, Hands, HandState, Studio, events

SEED = 7


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        self.now += 0.01
        return self.now


class Stage:
    """A studio with a logger."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.clock = folder, Clock()
        self.problems: list[str] = []
        self.studio = Studio(from_scene(find_scene('seed_cell')), folder, clock=self.clock)
        self.logger = DemoLogger(self.studio, folder, self.problems.append, self.clock)

    def show(self, name: str, x: float, y: float, z: float = 0.3) -> None:
        """Bring an object somewhere by hand, with a hand that trembles."""
        chance = random.Random(SEED)
        studio, start = self.studio, self.studio.twin.scene.objects[name].pose
        hand = Pose((*start.position[:2], start.position[2] + 0.1))
        studio.grab('me', Hand.RIGHT, name, start, hand)
        for step in range(1, 20):
            share = step / 20
            pose = replace(
                start, position=tuple(a + share * (b - a) for a, b in zip(start.position, (x, y, z), strict=True))
            )
            studio.hands('me', Hands(right=HandState(pose, share), head=HandState(Pose((0.0, 0.0, chance.random())))))
            studio.move('me', name, pose, hand)
        studio.release('me', name, replace(start, position=(x, y, z)), hand)

    def close(self) -> None:
        self.logger.close()
        self.studio.close()


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path)
    yield made
    made.close()


def boxes(stage: Stage) -> list[str]:
    return [name for name, thing in stage.studio.twin.scene.objects.items() if thing.body.movable]


def test_a_log_shown_again_gives_an_equal_task(stage: Stage) -> None:
    studio, (first, second, third) = stage.studio, boxes(stage)[:3]
    studio.adjust(keep_paths=True)
    studio.start_recording('stack')
    stage.show(first, 0.4, 0.1)
    stage.show(second, 0.4, -0.2)
    studio.undo()
    studio.add_object(WorldObject('peg', replace(Body.of(Capsule(0.02, 0.1)), movable=True), Pose((0.5, 0.2, 0.2))))
    stage.show('peg', 0.3, 0.3)
    studio.place_object(third, Pose((0.6, 0.3, 0.1)))
    stage.show(third, 0.45, 0.2)
    studio.complete_recording()
    studio.trim(0, len(studio.recording.keyframes) - 1)
    task, (name, version) = studio.task(), studio.save()
    stage.close()

    log = read_log(log_path(studio.library, name, version))
    assert log.is_finished
    assert replayed(log) == ('stack', task)
    assert sum(isinstance(keyframe, Place) for keyframe in task.keyframes) == 3
    assert not stage.problems


def test_an_object_rests_where_it_did_although_it_would_fall_elsewhere_now(stage: Stage) -> None:
    studio, name = stage.studio, boxes(stage)[0]
    studio.start_recording('one')
    stage.show(name, 0.4, 0.1)
    studio.complete_recording()
    saved = studio.save()
    stage.close()
    log = read_log(log_path(studio.library, *saved))
    rest = Pose((0.4, 0.1, -0.05))
    moved = [replace(event, rest=rest) if isinstance(event, events.LetGo) else event for event in log.events]

    task = replayed(replace(log, events=tuple(moved)))[1]
    assert [keyframe.pose for keyframe in task.keyframes if isinstance(keyframe, Place)] == [rest]


def test_other_programs_find_hands_and_objects_in_it(stage: Stage) -> None:
    studio, name = stage.studio, boxes(stage)[0]
    studio.start_recording('one')
    stage.show(name, 0.4, 0.1)
    rest = studio.twin.scene.objects[name].pose
    studio.complete_recording()
    saved = studio.save()
    stage.close()

    with log_path(studio.library, *saved).open('rb') as stream:
        found: dict[str, list[tuple[str, bytes]]] = {}
        for schema, channel, message in make_reader(stream).iter_messages():
            assert schema is not None
            assert (schema.encoding, channel.message_encoding) == ('ros2msg', 'cdr')
            found.setdefault(channel.topic, []).append((schema.name, message.data))
    hands = [deserialize_message(data, PoseStamped) for _, data in found['/demonstration/right_hand']]
    assert len(hands) == 19
    assert hands[0].header.frame_id == 'base_link'
    markers = deserialize_message(found['/demonstration/objects'][0][1], MarkerArray).markers
    assert {marker.ns for marker in markers} == set(studio.twin.scene.objects)
    last = deserialize_message(found['/tf'][-1][1], TFMessage).transforms[-1]
    assert last.child_frame_id == name
    assert last.transform.translation.z == pytest.approx(rest.position[2])
    assert {kind for messages in found.values() for kind, _ in messages} == {
        'std_msgs/msg/String',
        'std_msgs/msg/Float32',
        'geometry_msgs/msg/PoseStamped',
        'tf2_msgs/msg/TFMessage',
        'visualization_msgs/msg/MarkerArray',
    }


def test_a_definition_has_all_that_the_type_is_made_of() -> None:
    text = definition('visualization_msgs/msg/MarkerArray')
    inner = [line.removeprefix('MSG: ') for line in text.splitlines() if line.startswith('MSG: ')]
    assert len(inner) == len(set(inner))
    assert {'visualization_msgs/Marker', 'builtin_interfaces/Time', 'geometry_msgs/Quaternion'} <= set(inner)


def test_a_log_cut_anywhere_is_read_up_to_there(stage: Stage) -> None:
    studio, names = stage.studio, boxes(stage)[:2]
    studio.start_recording('cut')
    for number, name in enumerate(names):
        stage.show(name, 0.4, 0.1 + 0.2 * number)
    stage.close()
    data, whole = (stage.folder / LIVE).read_bytes(), read_log(stage.folder / LIVE).events
    cut = stage.folder / 'cut.mcap'
    counts = []
    for length in random.Random(SEED).sample(range(len(data) * 6 // 10, len(data)), 12):
        cut.write_bytes(data[:length])
        log = read_log(cut)
        assert log.events == whole[: len(log.events)]
        assert not log.is_finished
        counts.append(len(log.events))
        finished_copy(cut, stage.folder / 'mended.mcap')
        assert read_log(stage.folder / 'mended.mcap').events == log.events
        assert read_log(stage.folder / 'mended.mcap').is_finished
    assert max(counts) > 1


def test_a_recording_that_a_crash_interrupted_is_logged_as_a_whole(tmp_path: Path) -> None:
    first = Stage(tmp_path)
    names = boxes(first)[:3]
    first.studio.start_recording('long')
    first.show(names[0], 0.4, 0.1)
    first.studio.grab('me', Hand.LEFT, names[1], first.studio.twin.scene.objects[names[1]].pose)
    first.close()  # a hand still holds something: as after a crash

    second = Stage(tmp_path)
    second.clock.now = 5.0  # another process, another clock
    second.show(names[2], 0.4, -0.2)
    second.studio.complete_recording()
    task, saved = second.studio.task(), second.studio.save()
    second.close()
    log = read_log(log_path(second.studio.library, *saved))
    name, again = replayed(log)
    assert (name, len(again.keyframes)) == ('long', 4)
    assert [replace(keyframe, time=None) for keyframe in again.keyframes] == [
        replace(keyframe, time=None) for keyframe in task.keyframes
    ]
    assert not [*first.problems, *second.problems]


def test_a_discarded_recording_leaves_no_log(stage: Stage) -> None:
    stage.studio.start_recording('bad')
    stage.show(boxes(stage)[0], 0.4, 0.1)
    stage.studio.discard_recording()
    stage.logger.close()
    assert not (stage.folder / LIVE).exists()


def test_an_opened_task_does_not_get_the_log_of_another(stage: Stage) -> None:
    studio = stage.studio
    studio.start_recording('mine')
    stage.show(boxes(stage)[0], 0.4, 0.1)
    studio.complete_recording()
    studio.save()
    studio.open_task('stack_boxes')
    saved = studio.save('copy')
    stage.logger.close()
    assert not log_path(studio.library, *saved).exists()
    assert log_path(studio.library, 'mine', 1).exists()


def test_a_log_that_cannot_be_written_is_told_and_nothing_else_suffers(tmp_path: Path) -> None:
    (tmp_path / LIVE).mkdir()
    stage = Stage(tmp_path)
    stage.studio.start_recording('unlogged')
    stage.show(boxes(stage)[0], 0.4, 0.1)
    stage.studio.complete_recording()
    stage.studio.save()
    stage.close()
    assert len(stage.problems) == 1
    assert 'is not logged any more' in stage.problems[0]


@pytest.mark.parametrize(
    ('content', 'sentence'),
    [
        (b'', 'does not begin with how things were'),
        (b'no log at all, but a text of some length', 'is no MCAP file'),
        (None, 'cannot be read'),
    ],
)
def test_what_is_no_log_is_refused_in_a_sentence(tmp_path: Path, content: bytes | None, sentence: str) -> None:
    file = tmp_path / 'log.mcap'
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(LogError, match=sentence):
        read_log(file)


def test_a_damaged_log_is_refused_or_read_and_never_crashes(stage: Stage) -> None:
    stage.studio.start_recording('hurt')
    stage.show(boxes(stage)[0], 0.4, 0.1)
    stage.close()
    data, chance = (stage.folder / LIVE).read_bytes(), random.Random(SEED)
    hurt = stage.folder / 'hurt.mcap'
    refused: list[str] = []
    for _ in range(200):
        spoiled = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            spoiled[chance.randrange(len(spoiled))] = chance.randrange(256)
        hurt.write_bytes(spoiled)
        try:
            read_log(hurt)
        except LogError as error:
            refused.append(str(error))
    assert refused
    assert all(str(hurt) in sentence for sentence in refused)


@pytest.mark.parametrize(
    'text',
    [
        '',
        '[]',
        '{"event": "began"}',
        '{"event": "exec", "time": 1}',
        '{"event": "undone", "time": NaN}',
        '{"event": "undone", "time": true}',
        '{"event": "placed", "time": 1, "object": 5, "pose": [0, 0, 0, 0, 0, 0, 1]}',
        '{"event": "placed", "time": 1, "object": "a", "pose": [0, 0, Infinity, 0, 0, 0, 1]}',
        '{"event": "placed", "time": 1, "object": "a", "pose": [0, 0]}',
        '{"event": "trimmed", "time": 1, "first": true, "last": 2}',
        '[' * 100_000,
    ],
)
def test_a_text_that_is_no_event_is_refused(text: str) -> None:
    with pytest.raises(WrongEvent):
        event_of(text)


def test_an_event_comes_back_equal() -> None:
    thing = WorldObject('cone', replace(Body.of(Cone(0.1, 0.2)), tags=('a',)), Pose((0.1, 0.2, 1.0 / 3.0)))
    for event in (
        events.Added(1.25, thing, (0.1, 0.2, 0.3, 1.0)),
        events.Added(1.25, thing, None),
        events.Grabbed(2.0, 'me', Hand.MOUSE, 'cone', Pose(), None),
        events.RobotPut(3.0, 'cone', Pose((1.0, 2.0, 3.0))),
    ):
        assert event_of(event_text(event)) == event
        assert json.loads(event_text(event))['time'] == event.time


def test_a_marker_is_taken_away_with_its_object(stage: Stage) -> None:
    name = boxes(stage)[0]
    stage.studio.start_recording('fewer')
    stage.studio.remove_object(name)
    stage.logger.close()
    finished_copy(stage.folder / LIVE, stage.folder / 'done.mcap')
    with (stage.folder / 'done.mcap').open('rb') as stream:
        arrays = [
            deserialize_message(message.data, MarkerArray)
            for _, _, message in make_reader(stream).iter_messages(topics=['/demonstration/objects'])
        ]
    assert [(marker.ns, marker.action) for marker in arrays[-1].markers] == [(name, Marker.DELETEALL)]
