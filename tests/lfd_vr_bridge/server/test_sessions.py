"""Clients over real sockets: who may come in, who may do what, and what others see of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import aiohttp
import pytest
from support.vr_client import VrClient, connected, paired, run
from support.vr_server import SayerOfYes

from lfd_description.shapes import Box
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, PersistentMap, PlanningScene, WorldObject
from lfd_vr_bridge.server.bridge_server import BridgeServer
from lfd_vr_bridge.server.session import Limits

BLUE = [0.40, -0.10, -0.1263, 0.0, 0.0, 0.0, 1.0]
AWAY = [0.45, 0.10, -0.1263, 0.0, 0.0, 0.0, 1.0]


async def grab_blue(client: VrClient) -> None:
    await client.do('grab', object='blue_box', hand='right', hand_pose=BLUE, pose=BLUE)


async def show_a_move(client: VrClient) -> None:
    """Record that the blue box is put elsewhere."""
    await client.do('start_recording', name='show')
    await grab_blue(client)
    released = await client.do('release', object='blue_box', hand_pose=AWAY, pose=AWAY)
    assert released['kept'], released
    await client.do('complete_recording')


def test_who_pairs_is_told_everything(with_robot: BridgeServer):
    async def test() -> None:
        async with paired(with_robot.port, code=with_robot.code, name='Quest 3') as client:
            kinds = [frame['type'] for frame in client.heard]
            assert kinds[0] == 'welcome'
            assert {'roster', 'robot', 'scene', 'recording', 'tasks'} <= set(kinds)
            assert client.last('roster')['clients'] == [{'client': client.client, 'name': 'Quest 3'}]
            scene = client.last('scene')
            assert scene['frame'] == 'base_link'
            blue = next(thing for thing in scene['objects'] if thing['name'] == 'blue_box')
            assert blue['pose'] == BLUE
            assert blue['parts'] == [{'shape': 'box', 'size': [0.042, 0.042, 0.0474], 'pose': [0, 0, 0, 0, 0, 0, 1]}]
            assert (blue['movable'], blue['owner'], blue['held']) == (True, 'twin', None)
            joints = await client.until('joints')
            assert len(joints['q']) == len(client.last('robot')['joints'])
            await client.say('ping', t=12.5)
            assert (await client.until('pong'))['t'] == 12.5

    run(test())


def test_a_replayed_code_is_refused_and_a_token_is_not(server: BridgeServer):
    async def test() -> None:
        code = server.code
        async with paired(server.port, code=code) as client:
            token = client.token
        assert server.code != code
        async with connected(server.port) as other:
            await other.say('hello', protocol=1, code=code)
            closed = await other.until_closed()
            assert closed.last['code'] == 'wrong_code'
        async with paired(server.port, token=token) as again:
            assert again.token == token

    run(test())


@pytest.mark.parametrize(
    ('hello', 'code'),
    [
        ({'protocol': 1}, 'unknown_token'),
        ({'protocol': 1, 'token': 'x'}, 'unknown_token'),
        ({'protocol': 2, 'code': '000000'}, 'wrong_protocol'),
        ({'protocol': '1'}, 'bad_frame'),
    ],
)
def test_who_is_not_paired_sees_nothing(server: BridgeServer, hello: dict[str, object], code: str):
    async def test() -> None:
        async with connected(server.port) as client:
            await client.say('hello', **hello)
            closed = await client.until_closed()
            assert [frame['type'] for frame in client.heard] == ['refused']
            assert closed.last['code'] == code

    run(test())


def test_guessing_codes_ends_in_a_pause(server: BridgeServer):
    async def guess(code: str) -> str:
        async with connected(server.port) as client:
            await client.say('hello', protocol=1, code=code)
            return (await client.until_closed()).last['code']

    async def test() -> None:
        before = server.code
        wrong = f'{(int(before) + 1) % 10**6:06d}'
        assert [await guess(wrong) for _ in range(5)] == ['wrong_code'] * 5
        assert await guess(server.code) == 'pause'

    run(test())


def test_an_invited_device_pairs_too(server: BridgeServer):
    async def test() -> None:
        async with paired(server.port, code=server.code) as first:
            code = (await first.do('invite'))['code']
            async with paired(server.port, code=code, name='phone'):
                roster = await first.until('roster', lambda frame: len(frame['clients']) == 2)
                assert roster['clients'][1]['name'] == 'phone'

    run(test())


def test_only_who_demonstrates_invites_others(server: BridgeServer):
    async def test() -> None:
        async with paired(server.port, code=server.code) as one, paired(server.port, code=server.code) as two:
            assert (await two.do('invite'))['code']  # nobody demonstrates
            await one.do('take_control')
            assert (await two.ask('invite'))['code'] == 'not_demonstrator'
            assert (await one.do('invite'))['code']

    run(test())


def test_devices_are_not_paired_any_more_when_the_file_of_tokens_is_deleted(server: BridgeServer, tmp_path: Path):
    async def test() -> None:
        async with paired(server.port, code=server.code) as client, aiohttp.ClientSession() as http:
            (tmp_path / 'tokens.json').unlink()
            address = f'http://127.0.0.1:{server.port}/tasks/stack_boxes.mtdf.yaml'
            assert (await http.get(address, headers={'Authorization': f'Bearer {client.token}'})).status == 401
            assert (await client.until_closed()).last['code'] == 'unknown_token'
            async with connected(server.port) as again:
                await again.say('hello', protocol=1, token=client.token)
                assert (await again.until_closed()).last['code'] == 'unknown_token'

    run(test())


def test_a_restarted_bridge_knows_its_devices(start: Callable[..., BridgeServer], tmp_path: Path):
    async def pair(server: BridgeServer) -> str:
        async with paired(server.port, code=server.code) as client:
            return client.token

    async def come_back(server: BridgeServer, token: str) -> None:
        async with paired(server.port, token=token) as client:
            assert client.last('scene')

    first = start()
    token = run(pair(first))
    first.stop()
    run(come_back(start(), token))


def test_a_viewer_may_not_command_but_may_stop(with_robot: BridgeServer, robot: SayerOfYes):
    async def test() -> None:
        async with paired(with_robot.port, code=with_robot.code) as client:
            for kind, fields in (
                ('grab', {'object': 'blue_box', 'hand': 'mouse', 'pose': BLUE}),
                ('place_object', {'object': 'blue_box', 'pose': AWAY}),
                ('remove_object', {'object': 'blue_box'}),
                ('start_recording', {}),
                ('plan', {}),
                ('run', {}),
                ('pause', {}),
                ('give_control', {}),
                ('delete_task', {'name': 'stack_boxes'}),
            ):
                answer = await client.ask(kind, **fields)
                assert answer['code'] == 'not_demonstrator', answer
            await client.say('move', seq=1, object='blue_box', pose=AWAY)
            await client.do('stop')
            assert robot.stops == 1
            assert not [frame for frame in client.heard if frame['type'] == 'objects']

    run(test())


def test_two_demonstrators_hand_over(server: BridgeServer):
    async def test() -> None:
        async with (
            paired(server.port, code=server.code, name='one') as one,
            paired(server.port, code=server.code, name='two') as two,
        ):
            assert (await one.do('take_control'))['demonstrator'] == one.client
            assert (await two.do('take_control'))['demonstrator'] == one.client
            roster = await one.until('roster', lambda frame: bool(frame['asking']))
            assert roster['asking'] == [two.client]
            await grab_blue(one)
            held = await two.until('objects', lambda frame: bool(frame['held']))
            assert held['held'] == {'blue_box': {'by': one.client, 'hand': 'right'}}
            answer = await two.ask('grab', object='red_box', hand='right', hand_pose=BLUE, pose=BLUE)
            assert answer['code'] == 'not_demonstrator'
            assert "'" not in answer['code']
            await one.do('give_control', client=two.client)
            let_go = await two.until('objects', lambda frame: bool(frame['held']))
            assert let_go['held'] == {'blue_box': None}
            assert let_go['moved'] == [['blue_box', BLUE]]
            assert (await two.until('roster'))['demonstrator'] == two.client
            await grab_blue(two)
            assert (await one.ask('give_control', client='c99'))['code'] == 'not_demonstrator'

    run(test())


def test_a_demonstrator_that_is_gone_holds_nothing(server: BridgeServer):
    async def test() -> None:
        async with paired(server.port, code=server.code) as viewer:
            async with paired(server.port, code=server.code) as gone:
                await gone.do('take_control')
                await gone.do('start_recording')
                await grab_blue(gone)
                await gone.say('move', seq=1, object='blue_box', pose=AWAY)
                await viewer.until('objects', lambda frame: bool(frame['moved']))
                token = gone.token
                gone.socket._response.connection.transport.abort()  # the network is gone, without a goodbye
            back = await viewer.until('objects', lambda frame: frame['held'] == {'blue_box': None})
            assert back['moved'] == [['blue_box', BLUE]]
            roster = await viewer.until('roster', lambda frame: frame['demonstrator'] is None)
            assert len(roster['clients']) == 1
            async with paired(server.port, token=token) as again:
                assert again.last('recording')['state'] == 'recording'
                await again.do('take_control')
                await grab_blue(again)

    run(test())


def test_who_asked_first_is_next(server: BridgeServer):
    async def test() -> None:
        async with paired(server.port, code=server.code) as second:
            async with paired(server.port, code=server.code) as first:
                await first.do('take_control')
                await second.do('take_control')
            roster = await second.until('roster', lambda frame: frame['demonstrator'] == second.client)
            assert roster['asking'] == []

    run(test())


def test_others_see_hands_and_moves(server: BridgeServer):
    async def test() -> None:
        async with (
            paired(server.port, code=server.code) as shows,
            paired(server.port, code=server.code) as sees,
        ):
            await shows.do('take_control')
            await shows.say('hands', seq=1, t=0.1, left=None, right={'pose': AWAY, 'grip': 0.5}, head=None)
            hands = await sees.until('hands')
            assert hands['right'] == {'pose': AWAY, 'grip': 0.5}
            assert (hands['client'], hands['left']) == (shows.client, None)
            await grab_blue(shows)
            for number in range(200):
                pose = [0.40 + 0.0005 * number, *BLUE[1:]]
                await shows.say('move', seq=number, object='blue_box', pose=pose)
            await sees.until('objects', lambda frame: frame['moved'] == [['blue_box', pose]])
            assert len([frame for frame in sees.heard if frame['type'] == 'objects' and frame['moved']]) < 200

    run(test())


def test_a_move_that_is_older_than_another_counts_nothing(server: BridgeServer):
    async def test() -> None:
        async with paired(server.port, code=server.code) as client:
            await client.do('take_control')
            for _ in range(2):  # numbers begin anew with each grab
                await grab_blue(client)
                await client.say('move', seq=2, object='blue_box', pose=AWAY)
                await client.say('move', seq=1, object='blue_box', pose=BLUE)
                await client.say('ping', t=0)
                await client.until('objects', lambda frame: frame['moved'] == [['blue_box', AWAY]])
                assert server.studio.twin.objects['blue_box'].pose.position == tuple(AWAY[:3])
                await client.do('release', object='blue_box', pose=BLUE)

    run(test())


def test_more_moves_than_allowed_end_where_the_last_one_is(start: Callable[..., BridgeServer]):
    server = start(limits=Limits(frames=20.0))

    async def test() -> None:
        async with paired(server.port, code=server.code) as client:
            await client.do('take_control')
            await grab_blue(client)
            for number in range(500):
                pose = [0.40 + 0.0005 * number, *BLUE[1:]]
                await client.say('move', seq=number, object='blue_box', pose=pose)
            await client.until('objects', lambda frame: frame['moved'] == [['blue_box', pose]])

    run(test())


def test_what_comes_behind_a_stall_of_the_network_counts(start: Callable[..., BridgeServer]):
    """All that waited arrives at once; the release at its end is no victim of the moves before it."""
    server = start(limits=Limits(frames=20.0))

    async def test() -> None:
        async with paired(server.port, code=server.code) as client:
            await client.do('take_control')
            await client.do('start_recording')
            await grab_blue(client)
            for number in range(300):
                await client.say('move', seq=number, object='blue_box', pose=[0.40 + 0.0001 * number, *BLUE[1:]])
                await client.say('hands', seq=number, t=0.1 * number, left=None, right=None, head=None)
            released = await client.do('release', object='blue_box', hand_pose=AWAY, pose=AWAY)
            assert released['kept'], released
            assert (await client.ask('release', object='blue_box', pose=AWAY))['code'] == 'not_held'
            await grab_blue(client)
            await client.do('release', object='blue_box', pose=BLUE)
            await client.do('complete_recording')
            assert len(client.last('recording')['keyframes']) == 4

    run(test())


def test_what_is_said_behind_a_release_waits_for_it(server: BridgeServer):
    async def test() -> None:
        async with paired(server.port, code=server.code) as client:
            await client.do('take_control')
            await client.do('start_recording')
            await grab_blue(client)
            await client.say('release', id=101, object='blue_box', hand_pose=AWAY, pose=AWAY)
            await client.do('complete_recording')
            order = [frame['id'] for frame in client.heard if frame['type'] == 'done']
            assert order[-2] == 101
            assert len(client.last('recording')['keyframes']) == 2

    run(test())


def test_a_page_that_comes_back_has_its_place_again(server: BridgeServer):
    """The old connection is half open: nobody has noticed yet that it is gone."""

    async def test() -> None:
        page, other = 'page-0123', 'page-4567'
        async with paired(server.port, code=server.code, page=page) as old:
            await old.do('take_control')
            async with paired(server.port, code=server.code, page=other) as asks:
                await asks.do('take_control')
                await grab_blue(old)
                await old.say('move', seq=1, object='blue_box', pose=AWAY)
                await asks.until('objects', lambda frame: bool(frame['moved']))
                async with paired(server.port, token=old.token, page=page) as new:
                    roster = new.last('roster')
                    assert roster['demonstrator'] == new.client != old.client
                    assert [each['client'] for each in roster['clients']] == [asks.client, new.client]
                    back = await asks.until('objects', lambda frame: frame['held'] == {'blue_box': None})
                    assert back['moved'] == [['blue_box', BLUE]]
                    assert (await old.until_closed()).last['code'] == 'replaced'
                    await grab_blue(new)
                    async with paired(server.port, token=asks.token, page=other) as again:
                        assert again.last('roster')['asking'] == [again.client]

    run(test())


@pytest.mark.parametrize('how', ['another page', 'another device', 'no page'])
def test_only_the_same_page_of_the_same_device_takes_a_place(server: BridgeServer, how: str):
    async def test() -> None:
        async with paired(server.port, code=server.code, page='page-0123') as first:
            await first.do('take_control')
            hello = {'token': first.token}
            hello |= {'page': 'page-4567'} if how == 'another page' else {}
            if how == 'another device':
                hello = {'code': server.code, 'page': 'page-0123'}
            async with paired(server.port, **hello) as second:
                assert second.last('roster')['demonstrator'] == first.client
                await grab_blue(first)

    run(test())


def test_an_idle_demonstrator_is_no_hindrance(start: Callable[..., BridgeServer]):
    server = start(limits=Limits(idle=0.0))

    async def test() -> None:
        async with (
            paired(server.port, code=server.code, name='one') as one,
            paired(server.port, code=server.code, name='two') as two,
        ):
            await one.do('take_control')
            await grab_blue(one)
            assert (await two.do('take_control'))['demonstrator'] == one.client  # who holds something is there
            await one.do('release', object='blue_box', pose=BLUE)
            assert (await two.do('take_control'))['demonstrator'] == two.client
            notice = await one.until('notice')
            assert (notice['level'], notice['text'][:21]) == ('info', 'two has taken control')
            assert one.last('roster')['demonstrator'] == two.client
            assert one.last('roster')['asking'] == []

    run(test())


def test_an_active_demonstrator_is_asked(start: Callable[..., BridgeServer]):
    server = start(limits=Limits(idle=3600.0))

    async def test() -> None:
        async with paired(server.port, code=server.code) as one, paired(server.port, code=server.code) as two:
            await one.do('take_control')
            assert (await two.do('take_control'))['demonstrator'] == one.client
            assert two.last('roster')['asking'] == [two.client]

    run(test())


def test_a_whole_demonstration_is_recorded_saved_and_had(server: BridgeServer):
    async def test() -> None:
        async with paired(server.port, code=server.code) as client, aiohttp.ClientSession() as http:
            await client.do('take_control')
            await show_a_move(client)
            recording = client.last('recording')
            assert recording['state'] == 'review'
            assert [frame['kind'] for frame in recording['keyframes']] == ['pick', 'place']
            assert recording['keyframes'][1]['pose'] == pytest.approx(AWAY, abs=2e-3)
            saved = await client.do('save', name='my show')
            assert (saved['name'], saved['version']) == ('my show', 1)
            assert 'my show' in [task['name'] for task in client.last('tasks')['tasks']]
            address = f'http://127.0.0.1:{server.port}/tasks/my%20show.mtdf.yaml'
            assert (await http.get(address)).status == 401
            assert (await http.get(address, headers={'Authorization': 'Bearer x'})).status == 401
            bearer = {'Authorization': f'Bearer {client.token}'}
            answer = await http.get(address, headers=bearer)
            assert 'blue_box' in await answer.text()
            assert 'my%20show.mtdf.yaml' in answer.headers['Content-Disposition']
            as_json = await http.get(address, params={'format': 'json'}, cookies={'lfd_token': client.token})
            assert as_json.status == 200
            assert (await as_json.json(content_type='application/json'))['keyframes']
            assert (await http.get(address, params={'version': '7'}, headers=bearer)).status == 404
            assert (await http.get(address, params={'version': 'x'}, headers=bearer)).status == 400
            log = address.replace('mtdf.yaml', 'mcap')
            assert (await http.get(log, headers=bearer)).status == 404
            (server.studio.library.path('my show', 1).parent / '0001.mcap').write_bytes(b'a log')
            assert (await http.get(log)).status == 401
            assert await (await http.get(log, headers=bearer)).read() == b'a log'
            await client.do('rename_task', name='my show', to='ours')
            await client.do('open_task', name='ours')
            await client.do('delete_task', name='ours')
            answer = await client.ask('open_task', name='ours')
            assert answer['type'] == 'refused'
            assert answer['message'].count('.') >= 1
            assert client.last('recording')['saved'] is False
            await client.do('restore_task', name='ours')
            assert client.last('recording')['saved'] is True
            assert (await client.do('save'))['version'] == 2
            assert (await client.ask('restore_task', name='ours'))['code'] == 'no_task'

    run(test())


def test_a_plan_is_told_to_all_and_to_who_comes_later(with_robot: BridgeServer):
    async def test() -> None:
        async with paired(with_robot.port, code=with_robot.code) as client, aiohttp.ClientSession() as http:
            await client.do('take_control')
            answer = await client.ask('plan')
            assert answer['type'] == 'refused'
            await show_a_move(client)
            await client.do('plan', robot='gp8')
            plan = await client.until('plan')
            assert plan['ok']
            assert plan['robot'] == 'gp8'
            assert len(plan['q']) == len(plan['times'])
            assert plan['duration'] == plan['times'][-1]
            address, bearer = f'http://127.0.0.1:{with_robot.port}{plan["urdf"]}', f'Bearer {client.token}'
            urdf = await (await http.get(address, headers={'Authorization': bearer})).text()
            assert all(f'"{joint}"' in urdf for joint in plan['joints'])
            assert (await client.ask('plan', robot='toaster'))['code'] == 'no_robot'
            async with paired(with_robot.port, code=with_robot.code) as late:
                assert await late.until('plan') == plan
            await client.do('run', speed=0.5)
            assert (await client.until('executed'))['ok']
            quality = (await client.do('assess'))['quality']
            assert quality['score'] == 90

    run(test())


def test_one_job_at_a_time_and_stop_ends_it(with_robot: BridgeServer, robot: SayerOfYes):
    robot.waits = True

    async def test() -> None:
        async with paired(with_robot.port, code=with_robot.code) as client:
            await client.do('take_control')
            await show_a_move(client)
            await client.do('plan', robot='irb1600')  # one that was never shown yet
            await client.do('stop')
            assert client.last('plan')['message'] == 'Planning was stopped.'
            client.heard.clear()
            await client.do('plan', robot='irb1600')  # one that was never shown yet
            await client.do('stop')
            assert client.last('plan')['message'] == 'Planning was stopped.'
            client.heard.clear()
            await client.do('plan')
            await client.until('planning')
            assert (await client.ask('plan'))['code'] == 'busy'
            assert (await client.ask('run'))['code'] == 'busy'
            await client.do('stop')
            plans = [frame for frame in client.heard if frame['type'] == 'plan']
            assert [(plan['ok'], plan['message']) for plan in plans] == [(False, 'Planning was stopped.')]
            assert (await client.ask('run'))['code'] == 'no_plan'
            robot.waits = False
            await client.do('plan')
            await client.until('plan')
            robot.waits = True
            await client.do('run')
            await client.until('execution')
            await client.do('pause')
            await client.do('resume')
            assert (await client.ask('resume'))['code'] == 'not_paused'
            await client.do('stop')
            assert client.last('executed')['ok'] is False

    run(test())


async def plan(client: VrClient, robot: str | None = None) -> None:
    """Have a plan made that succeeds."""
    await client.do('plan', **({} if robot is None else {'robot': robot}))
    assert (await client.until('plan'))['ok']


@pytest.mark.parametrize(
    ('kind', 'fields'),
    [
        ('undo', {}),
        ('start_recording', {}),
        ('open_task', {'name': 'stack_boxes'}),
        ('discard_recording', {}),
    ],
)
def test_a_plan_of_another_task_is_dropped_and_not_run(with_robot: BridgeServer, kind: str, fields: dict[str, str]):
    async def test() -> None:
        async with paired(with_robot.port, code=with_robot.code) as client:
            await client.do('take_control')
            await show_a_move(client)
            await plan(client)
            await client.do('save', name='under another name')  # that is the same task
            assert 'plan_dropped' not in [frame['type'] for frame in client.heard]
            await client.do(kind, **fields)
            assert client.last('plan_dropped') == {'type': 'plan_dropped'}
            refused = await client.ask('run')
            assert refused['code'] == ('recording' if kind == 'start_recording' else 'no_plan')
            async with paired(with_robot.port, code=with_robot.code) as late:
                await late.say('ping', t=0)
                await late.until('pong')
                assert 'plan' not in [frame['type'] for frame in late.heard]

    run(test())


def test_nothing_is_planned_or_run_while_somebody_records(with_robot: BridgeServer):
    async def test() -> None:
        async with paired(with_robot.port, code=with_robot.code) as client:
            await client.do('take_control')
            await client.do('start_recording')
            assert (await client.ask('plan'))['code'] == 'recording'
            assert (await client.ask('run'))['code'] == 'recording'
            assert (await client.ask('run', first_keyframe=1))['code'] == 'recording'

    run(test())


def test_a_later_plan_that_fails_drops_the_one_before(with_robot: BridgeServer, robot: SayerOfYes):
    async def test() -> None:
        async with paired(with_robot.port, code=with_robot.code) as client:
            await client.do('take_control')
            await show_a_move(client)
            await plan(client)
            robot.waits = True
            client.heard.clear()
            await client.do('plan')
            await client.until('planning')
            await client.do('stop')
            kinds = [frame['type'] for frame in client.heard if frame['type'].startswith('plan')]
            assert kinds == ['planning', 'plan_dropped', 'plan']
            assert (await client.ask('run'))['code'] == 'no_plan'

    run(test())


def test_a_task_that_changes_while_it_is_planned_has_no_plan(with_robot: BridgeServer, robot: SayerOfYes):
    async def test() -> None:
        async with paired(with_robot.port, code=with_robot.code) as client:
            await client.do('take_control')
            await show_a_move(client)
            robot.waits = True
            await client.do('plan')
            await client.until('planning')
            await client.do('undo')
            robot.gate.set()
            told = await client.until('plan')
            assert (told['ok'], told['message'][:20]) == (False, 'The task was changed')
            assert (await client.ask('run'))['code'] == 'no_plan'

    run(test())


def test_what_was_begun_is_gone_on_with_until_the_task_changes(with_robot: BridgeServer, robot: SayerOfYes):
    async def test() -> None:
        async with paired(with_robot.port, code=with_robot.code) as client:
            await client.do('take_control')
            await show_a_move(client)
            await plan(client)
            refused = await client.ask('run', first_keyframe=1)
            assert (refused['code'], robot.resumed) == ('no_plan', [])
            await client.do('run')
            await client.until('executed')
            assert (await client.ask('run', first_keyframe=3))['code'] == 'wrong_range'
            await client.do('run', first_keyframe=1)
            await client.until('executed')
            assert robot.resumed == [1]
            await client.do('undo')
            assert (await client.ask('run', first_keyframe=1))['code'] == 'no_plan'

    run(test())


def test_a_held_object_is_judged(with_robot: BridgeServer, robot: SayerOfYes):
    far = [0.9, *BLUE[1:]]

    async def test() -> None:
        async with paired(with_robot.port, code=with_robot.code) as client:
            await client.do('take_control')
            await grab_blue(client)
            assert (await client.until('reach'))['state'] == 'good'
            await client.say('move', seq=1, object='blue_box', pose=far)
            reach = await client.until('reach', lambda frame: frame['state'] == 'bad')
            assert reach['reason'] == 'That is too far away.'

    run(test())
    assert {name for name, _ in robot.judged} == {'blue_box'}


def test_what_cannot_be_judged_ends_no_feedback(with_robot: BridgeServer, robot: SayerOfYes):
    judge, failures = robot.judge, ['a bug']

    async def failing(*asked: object) -> object:
        if failures:
            raise RuntimeError(failures.pop())
        return await judge(*asked)

    robot.judge = failing

    async def test() -> None:
        async with paired(with_robot.port, code=with_robot.code) as client:
            await client.do('take_control')
            await grab_blue(client)
            assert (await client.until('reach'))['state'] == 'unknown'
            await client.say('move', seq=1, object='blue_box', pose=AWAY)
            assert (await client.until('reach'))['state'] == 'good'

    run(test())


def test_without_a_robot_there_is_a_sentence(server: BridgeServer):
    async def test() -> None:
        async with paired(server.port, code=server.code) as client:
            await client.do('take_control')
            for kind in ('plan', 'run', 'stop', 'pause', 'assess'):
                answer = await client.ask(kind)
                assert answer['code'] == 'no_robot'
                assert answer['message'].startswith('No robot is connected')

    run(test())


def test_objects_are_added_placed_and_removed(server: BridgeServer):
    async def test() -> None:
        async with paired(server.port, code=server.code) as client, paired(server.port, code=server.code) as sees:
            await client.do('take_control')
            parts = [{'shape': 'capsule', 'radius': 0.02, 'height': 0.1}]
            name = (await client.do('add_object', object={'parts': parts, 'pose': AWAY, 'color': [1, 0, 0, 1]}))['name']
            added = await sees.until('objects', lambda frame: bool(frame['changed']))
            assert added['changed'][0]['name'] == name
            assert added['changed'][0]['color'] == [1.0, 0.0, 0.0, 1.0]
            assert added['changed'][0]['parts'][0]['height'] == pytest.approx(0.1)
            await client.do('place_object', object=name, pose=BLUE)
            await sees.until('objects', lambda frame: frame['moved'] == [[name, BLUE]])
            await client.do('remove_object', object=name)
            await sees.until('objects', lambda frame: frame['removed'] == [name])
            await client.do('settings', snap=False)
            assert (await sees.until('settings'))['snap'] is False
            assert (await client.ask('remove_object', object=name))['code'] == 'no_object'

    run(test())


def test_ten_thousand_objects_are_told_and_moved(start: Callable[..., BridgeServer]):
    body = Body.of(Box((0.01, 0.01, 0.01)))
    things = {
        f'box_{number}': WorldObject(f'box_{number}', body, Pose((number % 100 * 0.02, number // 100 * 0.02, 0.0)))
        for number in range(10_000)
    }
    server = start(scene=PlanningScene('base_link', objects=PersistentMap(things)))

    async def test() -> None:
        async with paired(server.port, code=server.code) as client:
            assert len(client.last('scene')['objects']) == 10_000
            await client.do('take_control')
            await client.do('place_object', object='box_9999', pose=AWAY)
            await client.until('objects', lambda frame: frame['moved'] == [['box_9999', AWAY]])
            async with paired(server.port, code=server.code) as late:
                objects = {thing['name']: thing for thing in late.last('scene')['objects']}
                assert objects['box_9999']['pose'] == AWAY

    run(test())


def test_a_new_robot_and_its_joints_are_told(start: Callable[..., BridgeServer], robot: SayerOfYes):
    server = start(robot=robot)

    async def test() -> None:
        async with paired(server.port, code=server.code) as client:
            await client.until('joints')
            joint = client.last('robot')['joints'][0]
            for number in range(100):
                server.publish_joints({joint: 0.01 * number})
            await client.until('joints', lambda frame: frame['q'][0] == pytest.approx(0.99))

    run(test())
