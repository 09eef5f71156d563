"""What a person does in the studio, and what becomes of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.studio import HAND, WHEN, Clock, People, Person
from support.task_cells import box, planner, seed_cell, seed_origin, seed_task

from lfd_description.shapes import MeshFile
from lfd_planner.mtdf import GraspHint, Pick, Place, Trajectory, check_task, dump_task, parse_task
from lfd_planner.planner import TaskFailure
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, Part, WorldObject
from lfd_planner.validate import validate
from lfd_vr_bridge.studio import Hand, Hands, HandState, RecordingState, Refusal, Released, Studio, replay
from lfd_vr_bridge.studio.events import Began
from lfd_vr_bridge.studio.values import Held, ObjectsChanged, OtherUnwanted, RecordingChanged, TasksChanged

BLUE, YELLOW, RED = 'blue_box', 'yellow_box', 'red_box'
SPOT = Pose((0.42, 0.1, -0.1263))
"""A free place for the blue box on the template."""


def refused(code: str, act: Callable[[], object]) -> str:
    with pytest.raises(Refusal) as caught:
        act()
    assert caught.value.code == code
    return str(caught.value)


def spot(x: float, y: float, height: float) -> Pose:
    return Pose((x, y, -0.15 + height / 2.0))


def show_stack(one: Person) -> None:
    """The recorded demonstration, box by box."""
    one.studio.start_recording('stack')
    for keyframe in seed_task().keyframes:
        if isinstance(keyframe, Place):
            assert one.bring(keyframe.object, one.studio.origin @ keyframe.pose).kept
    one.studio.complete_recording()


def show_a_move(one: Person, name: str = 'put') -> None:
    one.studio.start_recording(name)
    assert one.bring(BLUE, SPOT).kept
    one.studio.complete_recording()


# Recording ------------------------------------------------------------------------------------------------------------


def test_the_recorded_demonstration_shown_again_gives_its_keyframes_and_is_planned(enter: People) -> None:
    one = enter(origin=seed_origin())
    show_stack(one)
    task = one.studio.task()
    assert [type(keyframe) for keyframe in task.keyframes] == [Pick, Place] * 4
    for shown, meant in zip(task.keyframes, seed_task().keyframes, strict=True):
        assert shown.object == meant.object
        if isinstance(shown, Place) and isinstance(meant, Place):
            assert shown.pose.position == pytest.approx(meant.pose.position, abs=1e-9)
            assert shown.pose.orientation == pytest.approx(meant.pose.orientation, abs=1e-9)
    assert one.notices() == []
    request = one.studio.prepare_plan()
    assert request.scene.objects == seed_cell().objects
    found = planner().plan(request.task, request.scene, request.origin)
    assert not isinstance(found, TaskFailure), found
    start = planner().start_scene(request.scene)
    report = validate(found[0].solution, planner().model, start, request.task, request.origin)
    assert report.ok, report.text


def test_what_was_recorded_is_saved_and_read_as_it_was_shown(enter: People) -> None:
    one = enter()
    one.studio.start_recording('put')
    assert one.bring(BLUE, SPOT).pose == SPOT
    one.studio.complete_recording()
    task = one.studio.task()
    assert task.keyframes[0] == Pick(BLUE, GraspHint(HAND), time=task.keyframes[0].time)
    assert task.keyframes[1] == Place(BLUE, SPOT, time=task.keyframes[1].time)
    assert task.recorded_at == WHEN
    assert parse_task(dump_task(task)) == task
    saved = one.studio.save('put it')
    assert saved == ('put it', 1)
    assert one.studio.library.open('put it')[0] == task
    assert one.studio.recording.saved
    told = [change for change in one.news if isinstance(change, TasksChanged)]
    assert [entry.name for entry in told[-1].tasks] == ['put it', 'stack_boxes']


def test_random_demonstrations_are_tasks_without_problems(enter: People) -> None:
    random, one = np.random.default_rng(3), enter(origin=Pose.of_numbers((0.1, -0.2, 0.3, 0.1, 0.2, 0.7)))
    one.studio.adjust(keep_paths=True)
    names = [name for name, thing in seed_cell().objects.items() if thing.body.movable]
    for number in range(5):
        one.studio.start_recording(f'random {number}')
        for _ in range(6):
            numbers = (
                *random.uniform((0.36, -0.14), (0.52, 0.14)),
                random.uniform(-0.1, 0.1),
                *random.uniform(-3, 3, 3),
            )
            one.bring(names[random.integers(len(names))], Pose.of_numbers(numbers))
        one.studio.complete_recording()
        task = one.studio.task()
        assert check_task(task) == ()
        assert parse_task(dump_task(task)) == task
        times = [keyframe.time for keyframe in task.keyframes]
        assert times == sorted(times)
        for name in names:
            places = [
                keyframe for keyframe in task.keyframes if isinstance(keyframe, Place) and keyframe.object == name
            ]
            if places:
                there = task.origin.pose @ places[-1].pose
                assert math.dist(there.position, one.pose(name).position) < 1e-9


def test_an_accidental_grab_is_dropped_and_the_object_stays(enter: People) -> None:
    one = enter()
    one.studio.start_recording()
    before = one.pose(BLUE)
    near = replace(before, position=(before.position[0] + 0.003, *before.position[1:]))
    released = one.bring(BLUE, near)
    assert not released.kept
    assert 'less than 5 mm' in released.reason
    assert one.pose(BLUE) == before == released.pose
    assert one.studio.recording.keyframes == ()
    turned = before @ Pose.of_numbers((0.0, 0.0, 0.0, 0.0, 0.0, 0.2))
    assert one.bring(BLUE, turned).kept


def test_an_object_whose_mesh_is_gone_is_let_go_of_where_it_is(enter: People, tmp_path: Path) -> None:
    body = Body((Part(MeshFile(tmp_path / 'gone.stl')),), movable=True)
    one = enter(scene=seed_cell().add(WorldObject('part', body, Pose((0.4, 0.2, 0.1)))))
    one.studio.start_recording()
    high = Pose((0.5, 0.2, 0.1))
    assert one.bring('part', high) == Released(high, kept=True)
    assert 'gone.stl' in one.notices()[0]
    released = one.bring(BLUE, replace(SPOT, position=(*SPOT.position[:2], 0.0)))
    assert released.pose.position == pytest.approx(SPOT.position, abs=1e-3)  # others fall as ever
    one.studio.complete_recording()
    assert len(one.studio.recording.keyframes) == 4


def test_the_way_of_an_object_is_kept_with_no_more_poses_than_it_needs(enter: People) -> None:
    one = enter(keep_paths=True)
    one.studio.start_recording()
    one.grab(BLUE)
    begin = np.array(one.pose(BLUE).position)
    high = np.array((0.0, 0.0, 0.25))
    corner, end = begin + high, SPOT.position + high
    way = [*np.linspace(begin, corner, 50), *np.linspace(corner, end, 50), *np.linspace(end, SPOT.position, 50)]
    one.carry(BLUE, *(Pose(tuple(map(float, point))) for point in way))
    assert one.release(BLUE, SPOT).kept
    pick, led, place = one.studio.recording.keyframes
    assert isinstance(led, Trajectory)
    assert len(led.poses) == 4
    assert led.times[0] == 0.0
    assert list(led.times) == sorted(led.times)
    assert pick.time <= led.time <= place.time
    assert led.poses[1].position == pytest.approx(corner, abs=0.01)
    one.studio.complete_recording()
    request = one.studio.prepare_plan()
    assert not isinstance(planner().plan(request.task, request.scene, request.origin), TaskFailure)


def test_while_recording_one_hand_is_enough_and_else_both_may_hold(enter: People) -> None:
    one = enter()
    one.grab(BLUE, Hand.LEFT)
    one.grab(YELLOW, Hand.RIGHT)
    assert set(one.studio.twin.held) == {BLUE, YELLOW}
    assert 'hand' in refused('hand_full', lambda: one.grab(RED, Hand.LEFT))
    refused('held', lambda: one.studio.start_recording())
    one.release(BLUE, one.pose(BLUE))
    one.release(YELLOW, one.pose(YELLOW))
    one.studio.start_recording()
    one.grab(BLUE, Hand.LEFT)
    assert BLUE in refused('hand_full', lambda: one.grab(YELLOW, Hand.RIGHT))
    refused('held', one.studio.complete_recording)
    one.release(BLUE, SPOT)
    one.grab(BLUE)
    refused('held', one.studio.undo)


def test_undo_puts_everything_back_exactly(enter: People) -> None:
    one = enter(origin=seed_origin())
    one.studio.start_recording('stack')
    scenes, keyframes = [one.studio.twin.scene.objects], [()]
    for keyframe in seed_task().keyframes:
        if isinstance(keyframe, Place):
            one.bring(keyframe.object, seed_origin() @ keyframe.pose)
            scenes.append(one.studio.twin.scene.objects)
            keyframes.append(one.studio.recording.keyframes)
    for number in (3, 2, 1, 0):
        one.studio.undo()
        assert one.studio.twin.scene.objects == scenes[number]
        assert one.studio.recording.keyframes == keyframes[number]
    refused('nothing', one.studio.undo)


def test_trimming_keeps_whole_picks_and_places(enter: People) -> None:
    one = enter(origin=seed_origin())
    show_stack(one)
    all_of_it = one.studio.recording.keyframes
    refused('wrong_range', lambda: one.studio.trim(1, 5))
    refused('wrong_range', lambda: one.studio.trim(0, 8))
    refused('wrong_range', lambda: one.studio.trim(-2, 3))
    one.studio.trim(2, 5)
    assert one.studio.recording.keyframes == all_of_it[2:6]
    assert one.pose('green_box') == seed_cell().objects['green_box'].pose
    start = one.studio.prepare_plan().scene
    blue = next(keyframe for keyframe in all_of_it if isinstance(keyframe, Place))
    assert math.dist(start.objects[BLUE].pose.position, (seed_origin() @ blue.pose).position) < 1e-9
    assert start.objects[YELLOW].pose == seed_cell().objects[YELLOW].pose


def test_discarding_puts_objects_back(enter: People) -> None:
    one = enter()
    refused('nothing', one.studio.discard_recording)
    one.studio.start_recording()
    one.bring(BLUE, SPOT)
    one.grab(YELLOW)
    one.carry(YELLOW, spot(0.5, 0.1, 0.3))
    one.studio.discard_recording()
    assert one.studio.twin.scene.objects == seed_cell().objects
    assert one.studio.twin.held == {}
    assert one.studio.recording.state is RecordingState.IDLE


def test_an_empty_recording_leaves_nothing(enter: People) -> None:
    one = enter()
    one.studio.start_recording()
    assert one.studio.complete_recording().state is RecordingState.IDLE
    assert 'Nothing was recorded' in one.notices()[0]
    refused('not_recording', one.studio.complete_recording)


def test_a_recording_that_was_not_saved_is_saved_before_the_next(enter: People) -> None:
    one = enter()
    one.studio.start_recording('first')
    one.bring(BLUE, SPOT)
    one.studio.complete_recording()
    one.studio.start_recording('second')
    assert one.notices() == ["'first' was saved as version 1."]
    assert 'first' in {entry.name for entry in one.studio.tasks}
    refused('recording', one.studio.start_recording)


def test_a_client_that_is_lost_loses_only_what_it_holds(enter: People) -> None:
    one = enter()
    one.studio.start_recording()
    one.bring(BLUE, SPOT)
    before = one.pose(YELLOW)
    one.grab(YELLOW)
    one.carry(YELLOW, spot(0.5, 0.1, 0.3))
    one.studio.lose('somebody else')
    assert YELLOW in one.studio.twin.held
    one.studio.lose(one.name)
    assert one.pose(YELLOW) == before
    assert one.studio.twin.held == {}
    assert YELLOW in one.notices()[-1]
    assert [keyframe.object for keyframe in one.studio.recording.keyframes] == [BLUE, BLUE]
    refused('not_held', lambda: one.release(YELLOW, before))
    assert one.bring(YELLOW, spot(0.5, 0.1, 0.0432)).kept


# Objects --------------------------------------------------------------------------------------------------------------


def test_only_who_holds_an_object_moves_it(enter: People) -> None:
    one = enter()
    other = Person(one.studio, 'other')
    one.grab(BLUE)
    refused('held', lambda: other.grab(BLUE))
    refused('not_held', lambda: other.carry(BLUE, SPOT))
    refused('not_held', lambda: other.release(BLUE, SPOT))
    refused('held', lambda: one.studio.place_object(BLUE, SPOT))
    refused('held', lambda: one.studio.remove_object(BLUE))
    refused('fixed', lambda: other.grab('table'))
    assert "did you mean 'red_box'" in refused('no_object', lambda: one.studio.place_object('red_bax', SPOT))
    changes = [change for change in one.news if isinstance(change, ObjectsChanged)]
    assert changes[-1].held == {BLUE: Held('person', Hand.RIGHT)}


def test_what_the_robot_holds_is_not_grabbed_until_it_is_put_down(enter: People) -> None:
    one = enter()
    one.studio.robot_took(BLUE)
    assert one.studio.twin.owner(BLUE) == 'robot'
    assert 'robot holds' in refused('robot_holds', lambda: one.grab(BLUE))
    one.studio.robot_put(BLUE, SPOT)
    assert one.studio.twin.owner(BLUE) == 'twin'
    assert one.pose(BLUE) == SPOT
    one.grab(BLUE)
    one.studio.robot_took(BLUE)
    assert one.studio.twin.held == {}
    assert "out of a person's hand" in one.notices()[-1]


def test_others_are_shown_and_stood_on(enter: People) -> None:
    one = enter()
    shelf = box('shelf', (0.2, 0.2, 0.1), (0.42, 0.1, -0.1))
    one.studio.set_others({'shelf': shelf, BLUE: shelf})
    assert one.studio.twin.owner('shelf') == 'other'
    assert one.studio.twin.owner(BLUE) == 'twin'
    assert 'shelf' not in one.studio.twin.scene.objects
    rest = one.bring(BLUE, Pose((0.42, 0.1, 0.1))).pose
    assert rest.position == pytest.approx((0.42, 0.1, -0.05 + 0.0237), abs=1e-6)
    one.studio.set_others({'shelf': replace(shelf, pose=Pose((0.5, 0.1, -0.1)))})
    assert one.news[-1] == ObjectsChanged(one.studio.twin.revision, moved={'shelf': Pose((0.5, 0.1, -0.1))})
    one.studio.set_others({})
    assert one.news[-1] == ObjectsChanged(one.studio.twin.revision, removed=('shelf',))


def test_others_that_are_moved_are_the_twins_from_then_on(enter: People) -> None:
    one = enter()
    shelf = box('shelf', (0.2, 0.2, 0.1), (0.42, 0.1, -0.1), movable=False)
    cube = box('cube', (0.03, 0.03, 0.03), (0.45, 0.2, -0.135))
    red = (1.0, 0.0, 0.0, 1.0)
    one.studio.set_others({'shelf': shelf, 'cube': cube}, {'cube': red})
    refused('fixed', lambda: one.grab('shelf'))
    assert one.studio.twin.owner('shelf') == 'other'
    there = Pose((0.6, 0.3, -0.1))
    one.studio.place_object('shelf', there)
    assert one.studio.twin.scene.objects['shelf'].pose == there
    one.studio.start_recording('take over')
    assert one.bring('cube', spot(0.45, 0.0, 0.03)).kept
    assert (one.studio.twin.owner('cube'), one.studio.twin.colour('cube')) == ('twin', red)
    one.studio.set_others({'shelf': shelf, 'cube': cube})  # not heard of yet
    assert one.pose('shelf') == there
    one.studio.complete_recording()
    assert one.studio.prepare_plan().scene.objects['cube'].pose == cube.pose
    task = one.studio.task()
    one.studio.discard_recording()
    again = enter()
    replay(again.studio, one.events[[type(event) for event in one.events].index(Began) : -1])
    assert again.studio.task() == task


def test_others_that_are_unwanted_stay_until_the_planning_scene_has_them_no_more(enter: People) -> None:
    one = enter()
    shelf = box('shelf', (0.2, 0.2, 0.1), (0.42, 0.1, -0.1))
    one.studio.set_others({'shelf': shelf})
    one.studio.remove_object('shelf')
    assert one.news[-1] == OtherUnwanted('shelf')
    assert one.studio.twin.owner('shelf') == 'other'
    one.studio.set_others({})
    assert 'shelf' not in one.studio.twin.objects


def test_objects_are_added_with_a_name_and_removed_unless_they_are_used(enter: People) -> None:
    one = enter()
    new = replace(box('', (0.03, 0.03, 0.03), (0.45, 0.1, -0.135)))
    assert one.studio.add_object(new, (1.0, 0.0, 0.0, 1.0)) == 'box_1'
    assert one.studio.add_object(new) == 'box_2'
    assert one.studio.twin.colour('box_1') == (1.0, 0.0, 0.0, 1.0)
    refused('name_taken', lambda: one.studio.add_object(replace(new, id='box_1')))
    refused('wrong_name', lambda: one.studio.add_object(replace(new, id=' box')))
    one.studio.remove_object('box_2')
    one.studio.start_recording()
    one.bring('box_1', spot(0.45, -0.05, 0.03))
    refused('used', lambda: one.studio.remove_object('box_1'))


def test_numbers_that_are_no_pose_are_refused(enter: People) -> None:
    one = enter()
    for wrong in (Pose((math.nan, 0.0, 0.0)), Pose((1e9, 0.0, 0.0)), Pose(orientation=(0.0, 0.0, 0.0, 2.0))):
        refused('wrong_pose', lambda wrong=wrong: one.studio.place_object(BLUE, wrong))
    one.studio.place_object(BLUE, Pose(SPOT.position, (0.0, 0.0, 0.0, 1.0005)))
    assert one.pose(BLUE).orientation == (0.0, 0.0, 0.0, 1.0)


def test_planning_begins_where_things_really_are(enter: People) -> None:
    one = enter()
    one.studio.start_recording()
    one.bring(BLUE, SPOT)
    refused('recording', one.studio.prepare_plan)
    refused('recording', one.studio.reset_scene)
    one.studio.complete_recording()
    assert one.studio.start_scene.objects == seed_cell().objects
    assert one.pose(BLUE) == SPOT
    assert one.studio.prepare_plan().scene.objects == seed_cell().objects
    assert one.pose(BLUE) == seed_cell().objects[BLUE].pose
    one.studio.robot_took(BLUE)
    one.studio.robot_put(BLUE, SPOT)
    assert one.studio.prepare_plan().scene.objects[BLUE].pose == SPOT
    moved = spot(0.5, 0.1, 0.0432)
    one.bring(YELLOW, moved)
    assert one.studio.prepare_plan().scene.objects[YELLOW].pose == moved
    one.studio.reset_scene()
    assert one.studio.twin.scene.objects == seed_cell().objects


def test_an_opened_task_is_planned_from_where_things_are(enter: People) -> None:
    one = enter()
    moved = spot(0.45, 0.1, 0.0432)
    one.studio.place_object(YELLOW, moved)
    opened = one.studio.open_task('stack_boxes')
    assert opened.state is RecordingState.REVIEW
    assert opened.saved
    assert opened.origin == seed_origin()
    request = one.studio.prepare_plan()
    assert request.task.keyframes == seed_task().keyframes
    assert request.scene.objects[YELLOW].pose == moved
    one.studio.trim(0, 1)
    assert one.studio.save() == ('stack_boxes', 1)
    assert one.studio.open_task('stack_boxes', 0).keyframes == seed_task().keyframes
    assert len(one.studio.open_task('stack_boxes').keyframes) == 2


def test_replaying_what_happened_gives_an_equal_task(enter: People, tmp_path) -> None:
    one = enter(origin=seed_origin(), keep_paths=True)
    one.studio.place_object(YELLOW, spot(0.485, -0.09, 0.0432))
    one.studio.start_recording('all of it')
    one.studio.hands('person', Hands(right=HandState(HAND, 0.5)))
    one.studio.add_object(box('new', (0.03, 0.03, 0.03), (0.46, 0.05, -0.135)))
    one.bring('new', spot(0.5, 0.1, 0.03))
    one.bring(BLUE, SPOT)
    one.studio.undo()
    one.studio.adjust(snap=False, keep_paths=False)
    one.bring(BLUE, Pose.of_numbers((0.43, 0.1, 0.0, 0.1, 0.05, 0.4)))
    one.grab(RED)
    one.studio.lose('person')
    one.bring(RED, spot(0.45, -0.05, 0.0164))
    one.studio.trim(0, len(one.studio.recording.keyframes) - 3)
    one.studio.complete_recording()
    again = Studio(seed_cell(), tmp_path / 'again', clock=Clock())
    replay(again, one.events[1:])
    assert again.task() == one.studio.task()
    assert again.twin.scene.objects == one.studio.twin.scene.objects
    assert again.recording == one.studio.recording
    again.close()


def test_ten_thousand_objects_are_moved_without_waiting(enter: People) -> None:
    things = [
        WorldObject(f'thing_{n}', box('x', (0.01, 0.01, 0.01), (0.0, 0.0, 0.0)).body, Pose((n % 100, n // 100, 0.005)))
        for n in range(10_000)
    ]
    one = enter(scene=seed_cell().add(*things))
    one.studio.start_recording()
    scene = one.studio.twin.scene
    assert one.bring('thing_77', Pose((0.42, 0.1, 0.2))).kept
    changed = one.studio.twin.scene.objects.changes_from(scene.objects)
    assert list(changed) == ['thing_77']
    assert one.pose('thing_77').position == pytest.approx((0.42, 0.1, -0.145), abs=1e-6)
    assert all(len(change.changed) == 0 for change in one.news if isinstance(change, ObjectsChanged))


def test_a_listener_that_leaves_is_told_no_more(enter: People) -> None:
    one, heard = enter(), []
    leave = one.studio.listen(heard.append)
    one.studio.start_recording()
    assert [type(change) for change in heard] == [RecordingChanged]
    leave()
    leave()
    one.bring(BLUE, SPOT)
    assert len(heard) == 1


# The task under review and the library --------------------------------------------------------------------------------


@pytest.mark.parametrize('to', ['my stack', '积木', 'Würfel'])
def test_a_task_that_is_renamed_has_its_new_name_everywhere(enter: People, to: str) -> None:
    one = enter()
    show_a_move(one)
    one.studio.save()
    one.studio.rename_task('put', to)
    assert (one.studio.recording.name, one.studio.recording.saved) == (to, True)
    assert isinstance(one.news[-1], RecordingChanged)
    assert one.studio.save() == (to, 2)
    one.studio.open_task(to, 1)
    assert one.studio.save() == (to, 3)


def test_a_task_that_is_edited_and_renamed_has_its_new_name_after_a_crash(enter: People) -> None:
    one = enter()
    show_a_move(one)
    one.studio.save()
    one.studio.open_task('put')
    one.studio.undo()
    one.studio.rename_task('put', 'other')
    assert (one.studio.recording.name, one.studio.recording.saved) == ('other', False)
    assert enter().studio.recording.name == 'other'


def test_a_task_that_is_deleted_is_not_saved_and_stays_deleted(enter: People) -> None:
    one = enter()
    show_a_move(one)
    one.studio.save()
    one.studio.delete_task('put')
    assert (one.studio.recording.name, one.studio.recording.saved) == ('put', False)
    assert isinstance(one.news[-1], RecordingChanged)
    one.studio.open_task('stack_boxes')
    assert [entry.name for entry in one.studio.tasks] == ['stack_boxes']


def test_a_task_that_is_deleted_and_brought_back_is_saved(enter: People) -> None:
    one = enter()
    show_a_move(one)
    one.studio.save()
    one.studio.delete_task('put')
    one.studio.restore_task('put')
    assert one.studio.recording.saved
    assert [entry.name for entry in one.studio.tasks] == ['put', 'stack_boxes']
    refused('no_task', lambda: one.studio.restore_task('put'))


def test_a_task_that_is_deleted_and_edited_is_saved_first(enter: People) -> None:
    one = enter()
    one.studio.start_recording('put')
    assert one.bring(BLUE, SPOT).kept
    assert one.bring(YELLOW, spot(0.42, 0.2, 0.0432)).kept
    one.studio.complete_recording()
    one.studio.save()
    one.studio.delete_task('put')
    one.studio.undo()
    one.studio.open_task('stack_boxes')
    assert [entry.name for entry in one.studio.tasks] == ['put', 'stack_boxes']
    assert len(one.studio.library.open('put')[0].keyframes) == 2


def test_other_tasks_that_are_renamed_or_deleted_change_nothing(enter: People) -> None:
    one = enter()
    show_a_move(one)
    one.studio.save()
    one.studio.save('copy')
    one.studio.rename_task('put', 'other')
    one.studio.delete_task('other')
    assert (one.studio.recording.name, one.studio.recording.saved) == ('copy', True)
