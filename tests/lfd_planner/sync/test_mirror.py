from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from support.scene_edits import Editor, random_body, random_pose

from lfd_description.shapes import Box
from lfd_planner.scene import Body, Moved, Part, PersistentMap, PlanningScene, Pose, WorldObject
from lfd_planner.sync import Apply, Look, Mirror, SeenObject, State, Synchronised, Target, Timing
from lfd_planner.sync.echoes import Echoes
from lfd_planner.sync.sameness import near, same_body

from .conftest import STEP, World, things


def thing(id: str, x: float = 0.0, tags: tuple[str, ...] = ()) -> WorldObject:
    return WorldObject(id, Body((Part(Box((0.1, 0.1, 0.1))),), tags=tags), Pose((x, 0.0, 0.0)))


def assert_mirrored(world: World) -> None:
    assert world.mirror.state is State.MIRRORED
    wanted, found = world.mirror.wanted.objects, world.server.objects
    left = {*world.mirror.held, *world.mirror.resting}
    for id in {*wanted} - left:
        assert near(found[id].pose, wanted[id].pose)
        assert same_body(found[id].body, wanted[id].body)
    assert not [id for id in found if id not in wanted and world.mirror.target.mark in found[id].body.tags]


def test_geometry_goes_once_and_then_only_moves(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can'), thing('box')))
    world.run(1.0)
    for n in range(1, 20):
        world.follow(world.twin.move('can', Pose((0.01 * n, 0.0, 0.0))))
        world.run(0.1)

    assert_mirrored(world)
    assert sorted(world.server.sent_geometry) == ['box', 'can']
    assert all(isinstance(change, Moved) for request in world.server.sent[1:] for change in request.changes)


def test_a_request_reports_what_it_did_and_how_long_it_took(world: World) -> None:
    world.run(0.5)
    world.follow(PlanningScene('world').add(thing('can'), thing('box')))
    world.run(0.5)
    world.follow(world.twin.move('can', Pose((1.0, 0.0, 0.0))).remove('box'))
    world.run(0.5)

    first, second = world.reports
    assert isinstance(first, Synchronised)
    assert isinstance(second, Synchronised)
    assert (first.added, first.moved, first.removed) == (2, 0, 0)
    assert (second.added, second.moved, second.removed) == (0, 1, 1)
    assert second.latency == pytest.approx(STEP)


def test_many_changes_in_a_moment_are_one_request(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can')))
    world.run(1.0)
    before = len(world.server.sent)
    for n in range(300):
        world.follow(world.twin.move('can', Pose((0.001 * n, 0.0, 0.0))))
        if n % 3 == 0:
            world.step()
    world.run(0.5)

    assert_mirrored(world)
    assert len(world.server.sent) - before <= 1 + 30 * 100 * STEP + 1


def test_objects_of_others_stay(world: World) -> None:
    world.server.objects['theirs'] = thing('theirs')
    world.follow(PlanningScene('world').add(thing('can')))
    world.run(1.0)
    world.follow(PlanningScene('world'))
    world.run(1.0)

    assert_mirrored(world)
    assert list(world.server.objects) == ['theirs']


def test_after_a_restart_of_the_server_it_gets_all_again(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can'), thing('box')))
    world.run(1.0)

    world.restart_server()
    world.run(1.0)

    assert_mirrored(world)
    assert sorted(world.server.sent_geometry) == ['box', 'can']


def test_a_restart_that_nobody_noticed_is_found_by_looking(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can')))
    world.run(1.0)

    world.server.objects.clear()
    world.run(world.mirror.timing.check + 1.0)

    assert_mirrored(world)


def test_after_our_own_restart_what_the_server_has_is_not_sent_again(make_world: Callable[..., World]) -> None:
    before = make_world()
    before.mirror.reached(0.0)
    before.server.rounding = 1e-12
    twin = PlanningScene('world').add(*things(random.Random(1), 20))
    before.follow(twin)
    before.run(1.0)
    before.server.objects['theirs'] = thing('theirs')
    before.server.requests.clear()

    after = make_world()
    after.server = before.server
    after.mirror.reached(0.0)
    moved = twin.move('object_3', Pose((1.0, 1.0, 1.0))).remove('object_4')
    after.follow(moved.add(WorldObject('object_5', random_body(random.Random(2)))))
    after.run(1.0)

    assert_mirrored(after)
    assert after.server.sent_geometry == ['object_5']
    assert sum(len(request.changes) for request in after.server.sent) == 3
    assert 'theirs' in after.server.objects


def test_nothing_is_removed_before_the_twin_has_spoken(make_world: Callable[..., World]) -> None:
    world = make_world()
    world.server.objects['can'] = thing('can', tags=('twin',))
    world.mirror.reached(0.0)
    world.run(5.0)
    assert not world.server.requests
    assert world.mirror.state is State.BEHIND

    world.follow(PlanningScene('world').add(thing('can')))
    world.run(1.0)
    assert_mirrored(world)
    assert not world.server.sent


def test_an_empty_server_is_not_asked_for_geometry(world: World) -> None:
    world.follow(PlanningScene('world').add(*things(random.Random(3), 5)))
    world.run(6.0)

    assert not any(request.geometry for request in world.server.requests if isinstance(request, Look))


def test_an_object_told_in_a_frame_that_cannot_be_compared_is_moved_and_not_sent_anew(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can')))
    world.server.objects['can'] = world.mirror.wanted.objects['can']
    world.server.tells_poses = False
    world.run(1.0)

    assert world.server.sent_geometry == []
    assert_mirrored(world)


def test_what_a_robot_holds_is_left_alone(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can'), thing('box')))
    world.run(1.0)
    world.server.attach('can')
    world.follow(world.twin.move('can', Pose((1.0, 0.0, 0.0))).move('box', Pose((2.0, 0.0, 0.0))))
    world.run(5.0)

    assert world.mirror.held == {'can': 'hand'}
    assert world.server.objects['box'].pose.position == (2.0, 0.0, 0.0)
    assert world.server.sent_geometry.count('can') == 1
    assert_mirrored(world)


def test_a_held_object_that_the_twin_has_no_more_goes_when_it_is_put_down(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can')))
    world.run(1.0)
    world.server.attach('can')
    world.run(3.0)
    world.follow(world.twin.remove('can'))
    world.run(3.0)
    assert world.server.attached == {'can': 'hand'}

    world.server.detach('can', Pose())
    world.run(3.0)

    assert not world.server.objects
    assert_mirrored(world)


def test_what_a_robot_put_down_stays_until_the_twin_has_news_of_it(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can'), thing('box')))
    world.run(1.0)
    world.server.attach('can')
    world.run(3.0)
    world.server.detach('can', Pose((0.7, 0.0, 0.0)))
    world.follow(world.twin.move('box', Pose((3.0, 0.0, 0.0))))
    world.run(3.0)

    assert world.mirror.resting == ('can',)
    assert world.server.objects['can'].pose.position == (0.7, 0.0, 0.0)
    assert world.mirror.state is State.MIRRORED

    world.follow(world.twin.move('can', Pose((0.0, 0.0, 0.5))))
    world.follow(world.twin.move('can', Pose((0.0, 0.0, 0.0))))  # where it was when the robot took it
    world.run(3.0)
    assert world.mirror.resting == ()
    assert world.server.objects['can'].pose.position == (0.0, 0.0, 0.0)
    assert world.server.sent_geometry.count('can') == 1


def test_an_object_that_was_taken_and_put_down_in_a_moment_stays_where_it_was_put(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can')))
    world.run(1.0)
    world.server.attach('can')
    world.mirror.observe({'can': SeenObject(link='hand')}, world.now)
    world.server.detach('can', Pose((0.7, 0.0, 0.0)))
    world.run(3.0)

    assert world.mirror.resting == ('can',)
    assert world.server.objects['can'].pose.position == (0.7, 0.0, 0.0)
    assert_mirrored(world)


def test_a_refused_object_is_found_and_told_and_the_others_go_on(world: World) -> None:
    world.server.refuses = {'object_37'}
    world.follow(PlanningScene('world').add(*things(random.Random(4), 100)))
    world.run(10.0)

    assert world.mirror.refused == {'object_37': 'refused'}
    assert world.mirror.state is State.BEHIND
    assert len(world.server.objects) == 99
    assert max(world.server.sent_geometry.count(f'object_{n}') for n in range(100) if n != 37) == 1
    assert world.server.sent_geometry.count('object_37') < 20

    world.server.refuses = set()
    world.run(10.0)
    assert_mirrored(world)


def test_a_refused_object_is_tried_at_once_when_the_twin_changes_it(world: World) -> None:
    world.server.refuses = {'can'}
    world.follow(PlanningScene('world').add(thing('can')))
    world.run(30.0)
    world.server.refuses = set()

    world.follow(world.twin.add(thing('can', 1.0)))
    world.run(0.2)

    assert_mirrored(world)


def test_a_lost_answer_is_asked_for_again_without_sending_geometry_twice(world: World) -> None:
    world.follow(PlanningScene('world').add(*things(random.Random(5), 10)))
    while not isinstance(world.step(lose_answer=True) if world.server.requests else world.step(), Apply):
        pass
    assert len(world.server.objects) == 10

    world.run(world.mirror.timing.timeout + 2.0)

    assert_mirrored(world)
    assert len(world.server.sent_geometry) == 10


def test_an_answer_that_comes_too_late_changes_nothing(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can')))
    look = world.step(lose_request=True)
    assert isinstance(look, Look)
    world.mirror.looked(look.number, world.server.look(look), world.now)
    request = world.step(lose_request=True)
    assert isinstance(request, Apply)
    world.mirror.lost()
    world.mirror.reached(world.now)

    assert world.mirror.applied(request.number, world.now) is None
    assert not world.mirror.known.objects


def test_a_server_that_needs_long_is_waited_for_longer_each_time() -> None:
    timing = Timing(timeout=1.0)

    assert [timing.patience(n) for n in (0, 1, 2, 100)] == [1.0, 2.0, 4.0, 60.0]
    assert [timing.retry(n) for n in (1, 2, 3, 100)] == [0.1, 0.2, 0.4, 5.0]


def test_what_someone_else_moved_is_put_back(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can')))
    world.run(1.0)
    elsewhere = replace(world.server.objects['can'], pose=Pose((9.0, 0.0, 0.0)))
    world.server.objects['can'] = elsewhere

    world.mirror.observe({'can': SeenObject(elsewhere.body.tags, None, elsewhere.pose)}, world.now)
    world.run(0.5)

    assert_mirrored(world)
    assert world.server.sent_geometry == ['can']


def test_what_someone_else_removed_or_reshaped_is_restored(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can'), thing('box')))
    world.run(1.0)
    del world.server.objects['can']
    other = WorldObject('box', random_body(random.Random(6)))
    world.server.objects['box'] = other

    world.mirror.observe({'can': None, 'box': SeenObject((), other.body, other.pose)}, world.now)
    world.run(0.5)

    assert_mirrored(world)


def test_an_echo_of_our_own_requests_is_no_news(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can')))
    world.run(1.0)
    poses = []
    for n in range(30):
        world.follow(world.twin.move('can', Pose((0.01 * n, 0.0, 0.0))))
        world.run(0.05)
        poses.append(world.server.objects['can'].pose)
    before = len(world.server.sent)

    for pose in poses:
        world.mirror.observe({'can': SeenObject((), None, pose)}, world.now)
        world.run(0.05)

    assert len(world.server.sent) == before


def test_a_check_is_answered_by_a_look_that_was_made_after_it(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can')))
    world.run(1.0)
    world.server.objects.clear()  # nobody noticed
    number = world.mirror.check()
    assert not world.mirror.checked(number)

    world.run(0.5)

    assert world.mirror.checked(number)
    assert_mirrored(world)


def test_a_check_of_a_server_that_refuses_an_object_settles_without_success(world: World) -> None:
    world.server.refuses = {'can'}
    world.follow(PlanningScene('world').add(thing('can'), thing('box')))
    number = world.mirror.check()
    world.run(2.0)

    assert world.mirror.settled(number)
    assert not world.mirror.checked(number)


def test_colours_go_along_and_change_without_geometry(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can'), colours={'can': (1.0, 0.0, 0.0, 1.0)}))
    world.run(1.0)
    world.follow(world.twin.with_colours({'can': (0.0, 1.0, 0.0, 1.0)}))
    world.run(1.0)

    assert [dict(request.new.colours) for request in world.server.sent] == [
        {'can': (1.0, 0.0, 0.0, 1.0)},
        {'can': (0.0, 1.0, 0.0, 1.0)},
    ]
    assert world.server.sent_geometry == ['can']
    assert_mirrored(world)


def test_several_servers_have_their_own_selection(make_world: Callable[..., World]) -> None:
    mirrors = [Mirror(Target(name, 'world', mark=name)) for name in ('left', 'right')]
    for mirror in mirrors:
        mirror.follow(PlanningScene('world').add(thing('can')), 0.0)

    assert [mirror.wanted.objects['can'].body.tags for mirror in mirrors] == [('left',), ('right',)]


def under_way(world: World, twin: PlanningScene) -> Apply:
    """Follow the twin until the request for it is sent; nobody has answered it yet."""
    world.follow(twin)
    while True:
        request = world.step(lose_request=True)
        if isinstance(request, Look):
            world.mirror.looked(request.number, world.server.look(request), world.now)
        elif isinstance(request, Apply):
            return request


def move_on_server(world: World, id: str, x: float) -> SeenObject:
    """Somebody else moves an object; what is published of it."""
    world.server.objects[id] = replace(world.server.objects[id], pose=Pose((x, 0.0, 0.0)))
    return SeenObject(pose=Pose((x, 0.0, 0.0)))


def test_what_someone_else_moved_to_where_it_was_a_moment_ago_is_put_back(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can')))
    world.run(1.0)
    world.follow(world.twin.move('can', Pose((1.0, 0.0, 0.0))))
    world.run(0.5)
    world.mirror.observe({'can': move_on_server(world, 'can', 0.0)}, world.now)  # looks like an echo
    assert world.mirror.unsure == ('can',)
    assert world.mirror.state is State.BEHIND

    number = world.mirror.check()
    while not world.mirror.checked(number):
        world.step()

    assert world.server.objects['can'].pose.position == (1.0, 0.0, 0.0)
    assert world.server.sent_geometry == ['can']


def test_an_unsure_object_is_put_back_without_anybody_asking(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can')))
    world.run(1.0)
    world.follow(world.twin.move('can', Pose((1.0, 0.0, 0.0))))
    world.run(0.5)
    world.mirror.observe({'can': move_on_server(world, 'can', 0.0)}, world.now)
    world.run(5.0)

    assert_mirrored(world)


@pytest.mark.parametrize('x', [9.0, 0.0])
def test_what_someone_else_did_between_a_request_and_its_answer_is_noticed(world: World, x: float) -> None:
    world.follow(PlanningScene('world').add(thing('can')))
    world.run(5.0)
    request = under_way(world, world.twin.move('can', Pose((1.0, 0.0, 0.0))))
    assert world.server.apply(request)
    world.mirror.observe({'can': move_on_server(world, 'can', x)}, world.now)
    world.mirror.applied(request.number, world.now)
    assert world.mirror.state is State.BEHIND

    number = world.mirror.check()
    while not world.mirror.checked(number):
        world.step()

    assert world.server.objects['can'].pose.position == (1.0, 0.0, 0.0)


def test_an_object_that_someone_else_removes_before_our_answer_is_noticed(world: World) -> None:
    world.run(1.0)
    request = under_way(world, PlanningScene('world').add(thing('can')))
    assert world.server.apply(request)
    world.server.objects.clear()
    world.mirror.observe({'can': None}, world.now)
    world.mirror.applied(request.number, world.now)
    world.run(1.0)

    assert_mirrored(world)


def test_a_look_that_is_older_than_what_was_published_does_not_hide_it(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can')))
    world.run(5.0)
    world.mirror.observe({'can': SeenObject()}, world.now)
    number = world.mirror.check()
    look = world.step(lose_request=True)
    assert isinstance(look, Look)
    assert look.geometry
    answer = world.server.look(look)
    world.mirror.observe({'can': move_on_server(world, 'can', 9.0)}, world.now)
    world.mirror.looked(look.number, answer, world.now)
    assert not world.mirror.checked(number)
    world.run(1.0)

    assert_mirrored(world)
    assert world.mirror.checked(number)


@pytest.mark.parametrize('what', ['pose in another frame', 'not read'])
def test_what_was_published_and_not_understood_is_looked_at(world: World, what: str) -> None:
    world.follow(PlanningScene('world').add(thing('can')))
    world.run(5.0)
    move_on_server(world, 'can', 9.0)
    if what == 'not read':
        world.mirror.unread(world.now)
    else:
        world.mirror.observe({'can': SeenObject()}, world.now)
    number = world.mirror.check()
    while not world.mirror.checked(number):
        world.step()

    assert world.server.objects['can'].pose.position == (0.0, 0.0, 0.0)


def test_a_server_that_tells_poses_in_another_frame_gets_them_anew_and_is_believed(world: World) -> None:
    world.server.tells_poses = False
    world.follow(PlanningScene('world').add(thing('can')))
    world.run(5.0)
    move_on_server(world, 'can', 9.0)
    world.mirror.observe({'can': SeenObject()}, world.now)
    number = world.mirror.check()
    for _ in range(100):
        if world.mirror.checked(number):
            break
        if isinstance(world.mirror.underway or world.step(lose_answer=True), Apply):
            world.mirror.observe({'can': SeenObject()}, world.now)  # its echo overtakes the answer
        request = world.mirror.underway
        if isinstance(request, Look):
            world.mirror.looked(request.number, world.server.look(request), world.now)
        elif request is not None:
            world.mirror.applied(request.number, world.now)

    assert world.mirror.checked(number)
    assert world.server.objects['can'].pose.position == (0.0, 0.0, 0.0)


def put_down(world: World, x: float = 0.7) -> None:
    world.server.attach('can')
    world.mirror.observe({'can': SeenObject(link='hand')}, world.now)
    world.run(1.0)
    world.server.detach('can', Pose((x, 0.0, 0.0)))
    world.mirror.observe({'can': SeenObject()}, world.now)
    world.run(1.0)


def test_what_a_robot_put_down_is_there_again_after_a_restart_of_the_server(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can'), thing('box')))
    world.run(1.0)
    put_down(world)
    world.restart_server()
    world.run(1.0)

    assert world.server.objects['can'].pose.position == (0.7, 0.0, 0.0)
    assert world.mirror.resting == ('can',)
    assert_mirrored(world)


def test_what_a_robot_put_down_stays_when_the_server_is_only_out_of_sight(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can')))
    world.run(1.0)
    put_down(world)
    world.mirror.lost()
    world.mirror.reached(world.now)
    world.run(1.0)

    assert world.server.objects['can'].pose.position == (0.7, 0.0, 0.0)
    assert_mirrored(world)


def test_what_a_robot_moves_a_second_time_does_not_jump_back(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can')))
    world.run(1.0)
    put_down(world)
    put_down(world, 0.8)
    world.run(3.0)

    assert world.server.objects['can'].pose.position == (0.8, 0.0, 0.0)
    assert_mirrored(world)


def test_an_object_that_was_held_when_the_server_went_needs_news_of_the_twin(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can')))
    world.run(1.0)
    world.server.attach('can')
    world.run(3.0)
    world.restart_server()
    number = world.mirror.check()
    world.run(3.0)
    assert world.mirror.astray == ('can',)
    assert world.mirror.settled(number)
    assert not world.mirror.checked(number)

    world.follow(world.twin.move('can', Pose((0.3, 0.0, 0.0))))
    world.run(1.0)
    assert world.mirror.astray == ()
    assert_mirrored(world)


def test_an_object_that_is_still_held_when_the_server_is_seen_again_is_left(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can')))
    world.run(1.0)
    world.server.attach('can')
    world.run(3.0)
    world.mirror.lost()
    world.mirror.reached(world.now)
    world.run(1.0)
    assert world.mirror.held == {'can': 'hand'}
    assert_mirrored(world)

    world.server.detach('can', Pose((0.7, 0.0, 0.0)))
    world.run(3.0)
    assert world.mirror.resting == ('can',)
    assert_mirrored(world)


def test_a_look_that_is_older_than_a_grasp_does_not_count_as_putting_down(world: World) -> None:
    world.follow(PlanningScene('world').add(thing('can')))
    world.run(1.0)
    world.mirror.check()
    look = world.step(lose_request=True)
    assert isinstance(look, Look)
    answer = world.server.look(look)
    world.server.attach('can')
    world.mirror.observe({'can': SeenObject(link='hand')}, world.now)
    world.mirror.looked(look.number, answer, world.now)
    assert world.mirror.held == {'can': 'hand'}
    world.run(1.0)
    world.server.detach('can', Pose((0.7, 0.0, 0.0)))
    world.run(3.0)

    assert world.server.objects['can'].pose.position == (0.7, 0.0, 0.0)


def test_the_latency_is_that_of_the_objects_in_the_request(world: World) -> None:
    world.server.refuses = {'bad'}
    world.follow(PlanningScene('world').add(thing('can'), thing('bad')))
    world.run(20.0)
    world.follow(world.twin.move('can', Pose((1.0, 0.0, 0.0))))
    world.follow(world.twin.move('can', Pose((0.0, 0.0, 0.0))))
    world.run(20.0)
    world.follow(world.twin.move('can', Pose((2.0, 0.0, 0.0))))
    world.run(5.0)

    last = world.reports[-1]
    assert isinstance(last, Synchronised)
    assert last.latency < 0.5


def test_an_object_of_somebody_else_does_not_count_as_ours_after_a_lost_request(world: World) -> None:
    world.run(1.0)
    under_way(world, PlanningScene('world').add(thing('can')))
    world.server.objects['can'] = thing('can', 5.0)
    world.run(world.mirror.timing.timeout + 2.0)

    assert_mirrored(world)
    assert world.server.objects['can'].body.tags == ('twin',)


def test_a_refused_object_is_tried_again_alone(world: World) -> None:
    world.server.refuses = {'bad'}
    world.follow(PlanningScene('world').add(thing('can'), thing('bad')))
    world.run(5.0)
    world.server.requests.clear()
    for n in range(200):
        world.follow(world.twin.move('can', Pose((0.01 * n, 0.0, 0.0))))
        world.run(0.05)

    tried = [request for request in world.server.sent if any(change.id == 'bad' for change in request.changes)]
    assert tried
    assert all(len(request.changes) == 1 for request in tried)


def test_poses_that_were_sent_long_ago_are_not_kept() -> None:
    echoes = Echoes()
    for n in range(100):
        echoes.remember([Moved(f'object_{n}', Pose((float(n), 0.0, 0.0)))], float(n))

    assert echoes.kept <= 10


@pytest.mark.parametrize('seed', range(20))
def test_whatever_gets_lost_geometry_is_not_sent_twice(seed: int, make_world: Callable[..., World]) -> None:
    rng = random.Random(seed)
    world = make_world(timing=Timing(timeout=0.2))
    world.mirror.reached(0.0)
    world.follow(PlanningScene('world').add(*things(rng, 10)))
    for _ in range(200):
        world.follow(world.twin.move(f'object_{rng.randrange(10)}', random_pose(rng)))
        for _ in range(rng.randint(1, 10)):
            world.step(rng.random() < 0.2, rng.random() < 0.2)
    world.run(10.0)

    assert_mirrored(world)
    assert sorted(world.server.sent_geometry) == sorted(world.twin.objects)
    assert not any(request.geometry for request in world.server.requests if isinstance(request, Look))


@pytest.mark.parametrize('seed', range(60))
def test_whatever_happens_the_server_has_it_all_in_the_end(seed: int, make_world: Callable[..., World]) -> None:
    rng = random.Random(seed)
    world = make_world(Target('arm', 'world', random_pose(rng)), Timing(timeout=0.2, check=rng.choice([0.5, 2.0])))
    world.mirror.reached(0.0)
    world.server.rounding = rng.choice([0.0, 1e-12])
    editor, losses = Editor(rng), rng.choice([0.0, 0.1, 0.4])
    theirs = thing('theirs')
    for _ in range(250):
        _something_happens(world, rng, editor)
        world.server.objects.setdefault('theirs', theirs)
        for _ in range(rng.randint(1, 20)):
            world.step(rng.random() < losses, rng.random() < losses)
    world.server.refuses.clear()
    world.run(30.0)
    for id in world.mirror.astray:
        assert world.mirror.state is State.BEHIND
        world.follow(world.twin.move(id, random_pose(rng)))
    world.run(5.0)

    assert_mirrored(world)
    assert world.server.objects['theirs'] == theirs


def _something_happens(world: World, rng: random.Random, editor: Editor) -> None:
    server = world.server
    match rng.randrange(12):
        case 0:
            world.restart_server()
        case 1:
            server.objects.clear()
        case 2 if server.objects:
            id = rng.choice(sorted(server.objects))
            if id != 'theirs':
                server.attach(id)
                world.mirror.observe({id: SeenObject(link='hand')}, world.now)
        case 3 if server.attached:
            server.detach(rng.choice(sorted(server.attached)), random_pose(rng))
        case 4:
            server.refuses = {f'object_{rng.randrange(8)}'}
        case 5:
            mirror = Mirror(world.mirror.target, world.mirror.timing)
            mirror.follow(world.twin, world.now)
            mirror.reached(world.now)
            world.mirror = mirror
        case _:
            plain = editor.edit(world.twin, rng.randint(1, 4))
            world.follow(replace(plain, attached=PersistentMap()))
