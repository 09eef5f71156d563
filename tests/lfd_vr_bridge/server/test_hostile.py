"""Those who mean harm, or do not know better: the bridge goes on for all others."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Callable

import aiohttp
import pytest
from support.vr_client import TIMEOUT, VrClient, connected, paired, run

from lfd_vr_bridge.server.bridge_server import BridgeServer
from lfd_vr_bridge.server.session import MAX_FRAME, Limits
from lfd_vr_bridge.studio.values import Notice

BLUE = [0.40, -0.10, -0.1263, 0.0, 0.0, 0.0, 1.0]


async def is_well(server: BridgeServer, client: VrClient) -> None:
    """Others are served as ever."""
    await client.say('ping', t=1.0)
    await client.until('pong')


def hostile(server: BridgeServer, *texts: str | bytes) -> tuple[int | None, dict[str, object]]:
    """Send texts as a paired client; gives how the server ended the connection."""

    async def test() -> tuple[int | None, dict[str, object]]:
        async with paired(server.port, code=server.code) as witness:
            async with paired(server.port, code=server.code) as client:
                for text in texts:
                    if client.socket.closed:
                        break
                    await (client.socket.send_str(text) if isinstance(text, str) else client.socket.send_bytes(text))
                closed = await client.until_closed()
            await is_well(server, witness)
            return closed.code, closed.last or {}

    return run(test())


def test_a_huge_frame_ends_the_connection(server: BridgeServer):
    code, _ = hostile(server, json.dumps({'type': 'ping', 't': 0, 'x': 'x' * (MAX_FRAME + 1)}))
    assert code == aiohttp.WSCloseCode.MESSAGE_TOO_BIG


@pytest.mark.parametrize(
    'text',
    ['{', 'null', '[' * 60_000, '{"type": "ping", "t": NaN}', '{"type": "grab", "id": 1}', b'\0\1', '\x00', '"' * 999],
    ids=['brace', 'null', 'nested', 'nan', 'fields', 'binary', 'nul', 'quotes'],
)
def test_ten_bad_frames_end_the_connection(server: BridgeServer, text: str | bytes):
    _, last = hostile(server, *[text] * 12)
    assert last['code'] == 'bad_frames'


def test_one_bad_frame_is_answered(server: BridgeServer):
    async def test() -> None:
        async with paired(server.port, code=server.code) as client:
            answer = await client.ask('grab', object=3)
            assert answer['type'] == 'refused'
            assert answer['code'] == 'bad_frame'
            assert answer['message'].startswith('grab.')
            await is_well(server, client)

    run(test())


def test_a_flood_ends_the_connection(start: Callable[..., BridgeServer]):
    server = start(limits=Limits(flood=500.0))
    _, last = hostile(server, *[json.dumps({'type': 'ping', 't': 0})] * 3000)
    assert last['code'] == 'flood'


def test_more_requests_than_allowed_are_refused_one_by_one(start: Callable[..., BridgeServer]):
    server = start(limits=Limits(frames=20.0))

    async def test() -> None:
        async with paired(server.port, code=server.code) as client:
            for number in range(60):
                await client.say('take_control', id=number)
            while {frame.get('id') for frame in client.heard if frame['type'] in ('done', 'refused')} != {*range(60)}:
                await client.hear()
            assert {frame['code'] for frame in client.heard if frame['type'] == 'refused'} == {'too_fast'}

    run(test())


def test_who_does_not_say_hello_is_sent_away(start: Callable[..., BridgeServer]):
    server = start(limits=Limits(hello=0.3))

    async def test() -> None:
        async with connected(server.port) as client:
            assert (await client.until_closed()).last['code'] == 'no_hello'
        async with connected(server.port) as client:
            await client.say('take_control', id=1)
            assert (await client.until_closed()).last['code'] == 'no_hello'

    run(test())


@pytest.mark.parametrize('words', [b'', b'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: '], ids=['silent', 'half a header'])
def test_silent_connections_are_closed(start: Callable[..., BridgeServer], words: bytes):
    server = start(first_word=0.3)
    with socket.create_connection(('127.0.0.1', server.port), TIMEOUT) as silent:
        silent.sendall(words)
        assert silent.recv(1) == b''


def test_silent_connections_leave_room_for_others(start: Callable[..., BridgeServer]):
    server = start(first_word=0.3)

    async def test() -> None:
        silent = [socket.create_connection(('127.0.0.1', server.port)) for _ in range(300)]
        try:
            for each in silent:
                each.setblocking(False)
            await asyncio.wait_for(asyncio.gather(*map(_until_closed, silent)), TIMEOUT)
            async with paired(server.port, code=server.code) as client:
                await is_well(server, client)
        finally:
            for each in silent:
                each.close()

    run(test())


async def _until_closed(each: socket.socket) -> None:
    try:
        assert await asyncio.get_running_loop().sock_recv(each, 1) == b''
    except ConnectionResetError:
        return


@pytest.mark.parametrize('origin', ['http://evil.example', 'null', 'https://127.0.0.1:{port}', 'http://127.0.0.1:1'])
def test_pages_of_others_may_not_connect(server: BridgeServer, origin: str):
    async def test() -> None:
        async with connected(server.port, origin=origin.format(port=server.port)):
            pass

    with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
        run(test())
    assert refused.value.status == 403


def test_our_own_page_may_connect(server: BridgeServer):
    async def test() -> None:
        async with paired(server.port, code=server.code, origin=f'http://127.0.0.1:{server.port}') as client:
            await is_well(server, client)

    run(test())


def test_a_name_that_is_not_ours_gets_nothing(server: BridgeServer):
    """A stranger's name that leads here would make a browser take the stranger's page for ours."""

    async def test() -> None:
        async with aiohttp.ClientSession() as http:
            for host, status in (('evil.example', 421), ('localhost:8765', 200), ('192.168.7.8', 200), ('a b', 421)):
                answer = await http.get(f'http://127.0.0.1:{server.port}/healthz', headers={'Host': host})
                assert answer.status == status, host

    run(test())


def test_not_more_clients_than_there_may_be(start: Callable[..., BridgeServer]):
    server = start(limits=Limits(clients=2))

    async def test() -> None:
        async with paired(server.port, code=server.code), paired(server.port, code=server.code) as last:
            with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
                async with connected(server.port):
                    pass
            assert refused.value.status == 503
            await is_well(server, last)

    run(test())


def test_a_client_that_does_not_read_holds_up_nobody(start: Callable[..., BridgeServer]):
    server = start(limits=Limits(queue=50, send=1.0, heartbeat=60.0))

    async def test() -> None:
        async with paired(server.port, code=server.code) as shows:
            await shows.do('take_control')
            async with paired(server.port, code=server.code) as slow:
                token = slow.token
                slow.socket._response.connection.transport.pause_reading()
                await shows.until('roster', lambda frame: len(frame['clients']) == 2)
                parts = [{'shape': 'box', 'size': [0.01, 0.01, 0.01]}]
                await shows.do('add_object', object={'name': 'new', 'parts': parts, 'pose': BLUE})
                news = Notice('info', 'x' * 1_000_000)
                for _ in range(1000):
                    server.post(lambda: server.hub.tell(news))
                    await shows.until('notice')
                    if len(shows.last('roster')['clients']) == 1:
                        break
                else:
                    pytest.fail('the slow client was never disconnected')
            async with paired(server.port, token=token) as again:
                names = [thing['name'] for thing in again.last('scene')['objects']]
                assert 'new' in names

    run(test())


def test_a_slow_client_gets_the_newest_moves_only(server: BridgeServer):
    async def test() -> None:
        async with paired(server.port, code=server.code) as shows, paired(server.port, code=server.code) as slow:
            await shows.do('take_control')
            await shows.do('grab', object='blue_box', hand='mouse', pose=BLUE)
            transport = slow.socket._response.connection.transport
            transport.pause_reading()
            for number in range(400):
                pose = [0.40 + 0.0001 * number, *BLUE[1:]]
                await shows.say('move', seq=number, object='blue_box', pose=pose)
                if number % 50 == 0:
                    await shows.until('objects')
            await shows.until('objects', lambda frame: frame['moved'] == [['blue_box', pose]])
            transport.resume_reading()
            await slow.until('objects', lambda frame: frame['moved'] == [['blue_box', pose]])

    run(test())
