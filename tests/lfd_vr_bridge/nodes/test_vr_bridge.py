"""The bridge in the whole graph: a page's WebSocket at one end, the planning server and the robot at the other."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from moveit_msgs.msg import CollisionObject
from moveit_msgs.msg import PlanningScene as SceneMessage
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
from std_srvs.srv import Trigger
from support.move_group_client import MoveGroupClient
from support.task_cells import planner, seed_cell, seed_origin, seed_task
from support.vr_client import Frame, VrClient, paired, run
from support.vr_graph import VrGraph

from lfd_description.shapes import Box
from lfd_planner.messages import apply_planning_scene, object_to_message, remove_message
from lfd_planner.mtdf import Pick, Place, parse_task
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, PlanningScene, WorldObject
from lfd_planner.sync.target import MARK
from lfd_vr_bridge.demo_log.log_file import read_log
from lfd_vr_bridge.demo_log.replay import replayed

NEAR = 0.002  # [m]
TIMEOUT = 60.0  # [s]
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def numbers(pose: Pose) -> list[float]:
    return [*pose.position, *pose.orientation]


def pose_of(data: list[float]) -> Pose:
    return Pose(tuple(data[:3]), tuple(data[3:]))


def planning_scene(server: MoveGroupClient) -> PlanningScene:
    robot = planner().backend.robot
    applied = apply_planning_scene(PlanningScene(robot.frame), server.scene(), robot.frames)
    assert not applied.faults
    return applied.scene


async def eventually(server: MoveGroupClient, page: VrClient, true: Callable[[PlanningScene], Any], what: str) -> Any:
    """Wait until the planning server's scene is as wanted, while the page goes on to listen."""

    def wait() -> Any:
        return server.peer.eventually(lambda: true(planning_scene(server)), what, TIMEOUT)

    return await meanwhile(page, wait)


async def meanwhile(page: VrClient, wait: Callable[[], Any]) -> Any:
    """The result of something that takes its time, while the page goes on to listen."""
    waiting = asyncio.ensure_future(asyncio.to_thread(wait))
    while not waiting.done():
        hearing = asyncio.ensure_future(page.hear())
        await asyncio.wait({waiting, hearing}, return_when=asyncio.FIRST_COMPLETED)
        if hearing.done():
            hearing.result()
        else:
            hearing.cancel()
            await asyncio.wait({hearing})
    return waiting.result()


@asynccontextmanager
async def demonstrator(graph: VrGraph) -> AsyncIterator[VrClient]:
    """A page whose person may change things."""
    async with paired(graph.port, code=graph.code, name='tester') as client:
        await client.do('take_control')
        yield client


def objects_of(client: VrClient) -> dict[str, Frame]:
    """The objects as the page has been told of them."""
    found: dict[str, Frame] = {}
    for frame in client.heard:
        if frame['type'] == 'scene':
            found = {thing['name']: dict(thing) for thing in frame['objects']}
        elif frame['type'] == 'objects':
            found.update({thing['name']: dict(thing) for thing in frame.get('changed', ())})
            for name, pose in frame.get('moved', ()):
                found[name]['pose'] = pose
            for name in frame.get('removed', ()):
                found.pop(name, None)
    return found


async def heard(client: VrClient, true: Callable[[dict[str, Frame]], Any]) -> Any:
    """Wait until the page has been told that its objects are as wanted."""
    while not (value := true(objects_of(client))):
        await client.hear()
    return value


async def stopped(client: VrClient, kind: str) -> Frame:
    """Press stop; how what went on ended, which may be told before the answer to stop."""
    before = len(client.heard)
    await client.do('stop')
    while not (found := [frame for frame in client.heard[before:] if frame['type'] == kind]):
        await client.hear()
    return found[0]


async def carry(client: VrClient, name: str, to: Pose) -> Frame:
    """Grab an object, bring it somewhere, and let go; the answer of `release`."""
    start = pose_of(objects_of(client)[name]['pose'])
    hand = [*start.position[:2], start.position[2] + 0.05, 0.0, 0.7071067811865476, 0.0, 0.7071067811865476]
    await client.do('grab', object=name, hand='right', pose=numbers(start), hand_pose=hand)
    for step in range(1, 10):
        between = [a + step / 10 * (b - a) for a, b in zip(start.position, to.position, strict=True)]
        lifted = [*between[:2], between[2] + 0.1, *to.orientation]
        await client.say('move', seq=step, object=name, pose=lifted, hand_pose=hand)
    answer = await client.do('release', object=name, pose=numbers(to), hand_pose=hand)
    await heard(client, lambda found: found[name]['pose'] == answer['pose'])
    return answer


def test_what_is_done_on_the_page_comes_to_the_planning_scene_and_back(graph: VrGraph, server: MoveGroupClient) -> None:
    async def job() -> None:
        async with demonstrator(graph) as page, paired(graph.port, code=graph.code) as viewer:
            whole = {'parts': [{'shape': 'box', 'size': [0.1, 0.1, 0.1]}], 'movable': True}
            added = await page.do('add_object', object={**whole, 'pose': [0.3, -0.5, 0.3, 0, 0, 0, 1]})
            name = added['name']
            thing = await eventually(server, page, lambda scene: scene.objects.get(name), 'the new object')
            assert MARK in thing.body.tags
            assert thing.body.parts[0].shape == Box((0.1, 0.1, 0.1))

            answer = await carry(page, name, Pose((0.3, -0.6, 0.5)))
            rest = pose_of(answer['pose'])
            assert not answer['kept']
            await eventually(
                server,
                page,
                lambda scene: math.dist(scene.objects[name].pose.position, rest.position) < 1e-9,
                'where it was let go of',
            )
            shown = await heard(viewer, lambda found: found.get(name, {}).get('pose') == numbers(rest) and found[name])
            assert shown['owner'] == 'twin'

            await page.do('remove_object', object=name)
            await eventually(server, page, lambda scene: name not in scene.objects, 'that it is gone')

    run(job())


def test_what_others_put_into_the_planning_scene_is_shown_moved_and_removed(
    graph: VrGraph, server: MoveGroupClient
) -> None:
    def tell(thing: CollisionObject) -> None:
        scene = SceneMessage(is_diff=True)
        scene.world.collision_objects = [thing]
        assert server.apply(scene)

    async def job() -> None:
        async with demonstrator(graph) as page:
            wall = WorldObject('wall', Body.of(Box((0.1, 1.0, 1.0))), Pose((-0.9, 0.0, 0.5)))
            await meanwhile(page, lambda: tell(object_to_message(wall, 'base_link')))
            shown = await heard(page, lambda found: found.get('wall'))
            assert shown['owner'] == 'other'
            await meanwhile(page, lambda: tell(remove_message('wall')))
            await heard(page, lambda found: 'wall' not in found)

            await meanwhile(page, lambda: tell(object_to_message(wall, 'base_link')))
            await heard(page, lambda found: found.get('wall'))
            await page.do('remove_object', object='wall')
            await eventually(server, page, lambda scene: 'wall' not in scene.objects, 'that the wall is gone')
            await heard(page, lambda found: 'wall' not in found)

            await meanwhile(page, lambda: tell(object_to_message(wall, 'base_link')))
            await heard(page, lambda found: found.get('wall'))
            there = Pose((-0.9, 0.3, 0.6))
            await page.do('place_object', object='wall', pose=numbers(there))
            moved = await eventually(
                server,
                page,
                lambda scene: scene.objects['wall'].pose == there and scene.objects['wall'],
                'where the page has the wall',
            )
            assert MARK in moved.body.tags
            assert objects_of(page)['wall']['owner'] == 'twin'
            assert objects_of(page)['wall']['pose'] == numbers(there)
            await page.do('remove_object', object='wall')
            await eventually(server, page, lambda scene: 'wall' not in scene.objects, 'that the wall is gone')

    run(job())


def test_the_page_sees_the_robot_and_its_joints_fingers_included(graph: VrGraph, server: MoveGroupClient) -> None:
    async def job() -> None:
        async with paired(graph.port, code=graph.code) as page:
            while not all(any(frame['type'] == kind for frame in page.heard) for kind in ('robot', 'joints')):
                await page.hear()
            robot, joints = page.last('robot'), page.last('joints')
            told = dict(zip(robot['joints'], joints['q'], strict=True))
            assert (robot['name'], robot['base']) == ('ur5e', 'base_link')
            for name, position in server.joints.items():
                assert told[name] == pytest.approx(position, abs=1e-3)
            assert 'joint_left_finger' in told

    run(job())


def test_recording_can_be_started_and_completed_over_ros(graph: VrGraph, server: MoveGroupClient) -> None:
    node, tasks = server.peer.node, list[str]()
    node.create_subscription(String, 'demonstrated_task', lambda message: tasks.append(message.data), LATCHED)
    start, complete = (node.create_client(Trigger, f'{what}_recording') for what in ('start', 'complete'))

    def call(client: Any) -> Trigger.Response:
        server.peer.eventually(client.service_is_ready, 'the service')
        return server.peer.result(client.call_async(Trigger.Request()))

    async def job() -> None:
        async with demonstrator(graph) as page:
            nothing = await meanwhile(page, lambda: call(complete))
            assert not nothing.success
            assert 'start a recording first' in nothing.message
            assert (await meanwhile(page, lambda: call(start))).success
            name = 'red_box' if 'red_box' in objects_of(page) else _boxes()[0]
            before = pose_of(objects_of(page)[name]['pose'])
            x, y, z = before.position
            answer = await carry(page, name, Pose((x + 0.1, y, z + 0.05), before.orientation))
            assert answer['kept']
            done = await meanwhile(page, lambda: call(complete))
            assert done.success
            assert '2 keyframes' in done.message
            await meanwhile(page, lambda: server.peer.eventually(lambda: tasks, 'the task'))
            pick, place = parse_task(tasks[-1]).keyframes
            assert isinstance(pick, Pick)
            assert isinstance(place, Place)
            assert numbers(place.pose) == pytest.approx(answer['pose'])
            await page.do('discard_recording')

    run(job())


def _boxes() -> list[str]:
    return [keyframe.object for keyframe in seed_task().keyframes if isinstance(keyframe, Place)]


def test_a_stack_is_shown_planned_and_built(graph: VrGraph, server: MoveGroupClient) -> None:
    """The seed's demonstration: every box ends where it was put, in the planning scene and on the page."""

    async def job() -> None:
        async with demonstrator(graph) as page:
            await page.do('reset_scene')
            await page.do('start_recording', name='my stack')
            put: dict[str, Pose] = {}
            for keyframe in seed_task().keyframes:
                if isinstance(keyframe, Place):
                    answer = await carry(page, keyframe.object, seed_origin() @ keyframe.pose)
                    assert answer['kept'], answer
                    put[keyframe.object] = pose_of(answer['pose'])
            await page.do('complete_recording')
            saved = await page.do('save', name='my stack')
            assert (saved['name'], saved['version']) == ('my stack', 1)
            quality = await page.do('assess')
            assert quality['quality']['score'] > 0, quality

            refused = await page.ask('pause')
            assert refused['type'] == 'refused'
            await page.do('plan')
            plan = await page.until('plan')
            assert plan['ok'], plan
            assert any(frame['type'] == 'planning' for frame in page.heard)
            assert [segment['attach']['object'] for segment in plan['segments'] if segment['attach']] == [*put]

            await page.do('run')
            executed = await page.until('executed')
            assert executed['ok'], executed
            assert executed['next_keyframe'] == len(seed_task().keyframes)
            assert {frame['state'] for frame in page.heard if frame['type'] == 'execution'} >= {'moving', 'gripping'}
            carried = [
                thing
                for frame in page.heard
                if frame['type'] == 'objects'
                for thing in frame['changed']
                if thing['owner'] == 'robot'
            ]
            assert {thing['name'] for thing in carried} == set(put)

            def placed(scene: PlanningScene) -> bool:
                return not scene.attached and all(
                    math.dist(scene.objects[name].pose.position, pose.position) < NEAR for name, pose in put.items()
                )

            await eventually(server, page, placed, 'all boxes at their places')
            await heard(
                page,
                lambda found: all(
                    math.dist(found[name]['pose'][:3], pose.position) < NEAR and found[name]['owner'] == 'twin'
                    for name, pose in put.items()
                ),
            )
        await asyncio.to_thread(_synchronize, server)
        assert placed(await asyncio.to_thread(planning_scene, server))

    run(job())
    name, task = replayed(read_log(graph.folder / 'tasks' / 'my stack' / '0001.mcap'))
    assert name == 'my stack'
    assert task == parse_task((graph.folder / 'tasks' / 'my stack' / '0001.mtdf.yaml').read_text())


def _synchronize(server: MoveGroupClient) -> None:
    """Scene sync is of one mind with the twin: nothing goes back to where it was taken from."""
    client = server.peer.node.create_client(Trigger, 'synchronize_scene')
    server.peer.eventually(client.service_is_ready, 'scene sync')
    answer = server.peer.result(client.call_async(Trigger.Request()), TIMEOUT)
    assert answer.success, answer.message
    assert 'left where a robot put it' not in answer.message


def test_another_robot_is_planned_for_and_not_run(graph: VrGraph) -> None:
    async def job() -> None:
        async with demonstrator(graph) as page:
            await page.do('open_task', name='stack_boxes')
            await page.do('reset_scene')
            await page.do('plan', robot='gp8')
            plan = await page.until('plan')
            assert plan['ok'], plan
            assert plan['robot'] == 'gp8'
            assert len(plan['joints']) == len(plan['q'][0]) == 6
            await page.do('run')
            executed = await page.until('executed')
            assert not executed['ok']
            assert 'The plan is for gp8, and the robot here is ur5e' in executed['message']

            await page.do('plan', robot='irb1600')
            ended = await stopped(page, 'plan')
            assert (ended['ok'], ended['message']) == (False, 'Planning was stopped.')

    run(job())


def test_a_motion_is_paused_resumed_and_stopped(graph: VrGraph) -> None:
    async def job() -> None:
        async with demonstrator(graph) as page:
            await page.do('open_task', name='stack_boxes')
            await page.do('reset_scene')
            await page.do('plan')
            plan = await page.until('plan')
            assert plan['ok'], plan
            await page.do('run', speed=0.3)
            await page.until('execution', lambda frame: frame['state'] == 'moving')
            await page.do('pause')
            await page.until('execution', lambda frame: frame['state'] == 'paused')
            await page.do('resume')
            await page.until('execution', lambda frame: frame['state'] == 'moving')
            executed = await stopped(page, 'executed')
            assert not executed['ok']

    run(job())


def test_what_was_stopped_goes_on_from_its_keyframe(graph: VrGraph, server: MoveGroupClient) -> None:
    async def job() -> None:
        async with demonstrator(graph) as page:
            await page.do('open_task', name='stack_boxes')
            await page.do('reset_scene')
            await page.do('plan')
            assert (await page.until('plan'))['ok']
            await page.do('run')
            await page.until('execution', lambda frame: frame['keyframe'] >= 2 and frame['state'] == 'moving')
            executed = await stopped(page, 'executed')
            assert not executed['ok']
            assert 0 < executed['next_keyframe'] < len(seed_task().keyframes)
            await page.do('run', first_keyframe=executed['next_keyframe'])
            executed = await page.until('executed')
            assert executed['ok'], executed
            assert executed['next_keyframe'] == len(seed_task().keyframes)

            def built(scene: PlanningScene) -> bool:
                places = [keyframe for keyframe in seed_task().keyframes if isinstance(keyframe, Place)]
                return not scene.attached and all(
                    math.dist(scene.objects[place.object].pose.position, (seed_origin() @ place.pose).position) < NEAR
                    for place in places
                )

            await eventually(server, page, built, 'the whole stack')

    run(job())


def test_why_nothing_was_planned_is_told_in_sentences(graph: VrGraph) -> None:
    async def job() -> None:
        async with demonstrator(graph) as page:
            await page.do('reset_scene')
            await page.do('start_recording')
            answer = await carry(page, _boxes()[0], Pose((1.3, 0.2, -0.5)))
            assert answer['kept']
            await page.do('complete_recording')
            await page.do('plan')
            plan = await page.until('plan')
            assert (plan['ok'], plan['keyframe'], plan['object']) == (False, 1, _boxes()[0])
            assert plan['message'] == "The place is out of the robot's reach."
            assert plan['suggestion'].startswith('Put it ')
            assert (await page.ask('run'))['code'] == 'no_plan'
            await page.do('discard_recording')

    run(job())


def test_after_a_restart_tokens_tasks_objects_and_the_unfinished_recording_are_there(
    graph: VrGraph, server: MoveGroupClient
) -> None:
    async def before() -> tuple[str, dict[str, Frame], list[Frame]]:
        async with demonstrator(graph) as page:
            await page.do('open_task', name='stack_boxes')
            await page.do('save', name='kept')
            await page.do('start_recording', name='unfinished')
            found = objects_of(page)
            name = _boxes()[0]
            x, y, z, *turn = found[name]['pose']
            answer = await carry(page, name, Pose((x + 0.1, y, z + 0.05), tuple(turn)))
            assert answer['kept']
            rest = pose_of(answer['pose'])
            await eventually(
                server,
                page,
                lambda scene: math.dist(scene.objects[name].pose.position, rest.position) < 1e-9,
                'the move',
            )
            return page.token, objects_of(page), page.last('recording')['keyframes']

    async def after(token: str, objects: dict[str, Frame], keyframes: list[Frame]) -> None:
        async with paired(graph.port, token=token) as page:
            recording = page.last('recording')
            assert (recording['state'], recording['name']) == ('recording', 'unfinished')
            assert recording['keyframes'] == keyframes
            assert 'kept' in [task['name'] for task in page.last('tasks')['tasks']]
            now = objects_of(page)
            assert {name: thing['pose'] for name, thing in now.items()} == {
                name: thing['pose'] for name, thing in objects.items()
            }
            await page.do('take_control')
            await page.do('discard_recording')

    token, objects, keyframes = run(before())
    graph.restart('vr_bridge')
    run(after(token, objects, keyframes))


def test_after_a_restart_objects_are_where_they_were_put_by_hand(graph: VrGraph, server: MoveGroupClient) -> None:
    name = _boxes()[0]
    wanted = Pose((0.35, -0.45, 0.6))

    async def put() -> None:
        async with demonstrator(graph) as page:
            await page.do('place_object', object=name, pose=numbers(wanted))
            await eventually(server, page, lambda scene: scene.objects[name].pose == wanted, 'the object')

    async def look() -> None:
        async with paired(graph.port, code=graph.code) as page:
            await heard(page, lambda found: found[name]['pose'] == numbers(wanted))
            assert set(objects_of(page)) == set(seed_cell().objects)

    run(put())
    graph.restart('vr_bridge')
    run(look())
    _synchronize(server)
    assert planning_scene(server).objects[name].pose == wanted


@pytest.mark.parametrize('victim', ['move_group', 'scene_sync'])
def test_the_other_nodes_may_come_and_go(victim: str, graph: VrGraph, server: MoveGroupClient) -> None:
    graph.restart(victim)

    async def job() -> None:
        async with demonstrator(graph) as page:
            name = f'after {victim}'
            part = {'shape': 'sphere', 'radius': 0.05}
            await page.do('add_object', object={'name': name, 'parts': [part], 'pose': [0, -0.7, 0.5, 0, 0, 0, 1]})
            await eventually(
                server,
                page,
                lambda scene: name in scene.objects and set(seed_cell().objects) <= set(scene.objects),
                'all objects again',
            )
            await page.do('remove_object', object=name)
            await eventually(server, page, lambda scene: name not in scene.objects, 'that it is gone')

    run(job())


def test_it_ends_at_once_when_told(graph: VrGraph) -> None:
    assert graph.bridge.end() == 0
    assert 'Traceback' not in graph.bridge.output
