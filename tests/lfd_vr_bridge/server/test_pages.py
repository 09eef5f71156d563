"""Files and addresses, over http and https."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Mapping
from pathlib import Path

import aiohttp
import pytest
from support.vr_client import TIMEOUT, paired, run
from support.vr_server import SayerOfYes
from yarl import URL

from lfd_description.scenes import find_scene
from lfd_planner.scene import from_scene
from lfd_vr_bridge.server.bridge_server import BridgeServer
from lfd_vr_bridge.server.site import PortTaken


def get(server: BridgeServer, *paths: str) -> list[tuple[int, Mapping[str, str], bytes]]:
    async def test() -> list[tuple[int, Mapping[str, str], bytes]]:
        async with aiohttp.ClientSession() as http:
            found = []
            for path in paths:
                answer = await http.get(URL(f'http://127.0.0.1:{server.port}{path}', encoded=True))
                found.append((answer.status, answer.headers, await answer.read()))
            return found

    return run(test())


def test_the_page_and_its_libraries_are_there(server: BridgeServer):
    kinds = {
        '/': 'text/html; charset=utf-8',
        '/index.html': 'text/html; charset=utf-8',
        '/style.css': 'text/css; charset=utf-8',
        '/js/main.js': 'text/javascript; charset=utf-8',
        '/lib/three/build/three.module.js': 'text/javascript; charset=utf-8',
        '/lib/three/build/three.core.js': 'text/javascript; charset=utf-8',
        '/lib/urdf-loader/src/URDFLoader.js': 'text/javascript; charset=utf-8',
        '/healthz': 'text/plain; charset=utf-8',
    }
    for (path, kind), (status, headers, body) in zip(kinds.items(), get(server, *kinds), strict=True):
        assert (status, headers['Content-Type']) == (200, kind), path
        assert body
        assert headers['X-Content-Type-Options'] == 'nosniff'
        assert headers['Referrer-Policy'] == 'no-referrer'
        assert "default-src 'none'" in headers['Content-Security-Policy']
        assert headers['Cache-Control'] in ('no-cache', 'no-store')


def test_the_pages_policy_allows_its_import_map_and_nothing_from_elsewhere(server: BridgeServer):
    ((_, headers, _),) = get(server, '/')
    policy = dict(part.split(' ', 1) for part in headers['Content-Security-Policy'].split('; '))
    assert "'sha256-" in policy['script-src']
    assert 'unsafe' not in policy['script-src']
    assert f'ws://127.0.0.1:{server.port}' in policy['connect-src']
    assert 'http' not in headers['Content-Security-Policy']


@pytest.mark.parametrize(
    'path',
    [
        '/../setup.py',
        '/%2e%2e/setup.py',
        '/..%2fsetup.py',
        '/js/../../setup.py',
        '/js%2f..%2f..%2fsetup.py',
        '/js/',
        '/js',
        '/lib/',
        '/lib/three',
        '/lib/three/',
        '/lib/three/../three/package.json/',
        '/lib/../../etc/passwd',
        '/lib/%2e%2e/%2e%2e/etc/passwd',
        '/lib//etc/passwd',
        '/lib/iwer/package.json',
        '/lib/.package-lock.json',
        '/.hidden',
        '/%00',
        '/js/main.js%00.css',
        '/assets/x/y',
        '/assets/../../etc/passwd',
        '/robots/..%2f..%2fx.urdf',
        '/robots/toaster.urdf',
        '/%5c..%5c..%5cetc',
    ],
)
def test_nothing_else_is_there(server: BridgeServer, path: str):
    ((status, _, body),) = get(server, path)
    assert status in (400, 401, 404), body
    assert b'root:' not in body
    assert b'setuptools' not in body


def test_other_methods_are_refused(server: BridgeServer):
    async def test() -> None:
        async with aiohttp.ClientSession() as http:
            for method in ('POST', 'PUT', 'DELETE'):
                answer = await http.request(method, f'http://127.0.0.1:{server.port}/')
                assert answer.status == 405

    run(test())


def test_a_robot_can_be_loaded_with_all_its_meshes(start: Callable[..., BridgeServer]):
    server = start(robot=SayerOfYes('gp8'))

    async def test() -> None:
        async with paired(server.port, code=server.code) as client, aiohttp.ClientSession() as http:
            base = f'http://127.0.0.1:{server.port}'
            address = client.last('robot')['urdf']
            for unpaired in (address, '/robots/ur5e.urdf'):
                assert (await http.get(base + unpaired)).status == 401
            assert (await http.get(base + address, cookies={'lfd_token': client.token})).status == 200
            http.headers['Authorization'] = f'Bearer {client.token}'
            answer = await http.get(base + address)
            assert 'immutable' in answer.headers['Cache-Control']
            urdf = await answer.text()
            assert 'package://' not in urdf
            assert 'file://' not in urdf
            assert 'ros2_control' not in urdf
            meshes = {part.split('"')[0] for part in urdf.split('filename="')[1:]}
            assert meshes
            for mesh in meshes:
                answer = await http.get(base + mesh)
                assert answer.status == 200, mesh
                assert answer.headers['Content-Type'] in ('model/vnd.collada+xml', 'model/stl')
                assert await answer.read()
            other = await http.get(f'{base}/robots/ur5e.urdf')
            assert 'shoulder_pan_joint' in await other.text()

    run(test())


@pytest.mark.parametrize('token', [b'\xff', b'\xc3\xa4', b'a' * 4000, b'', b'Bearer x'])
def test_a_token_of_any_bytes_is_refused(server: BridgeServer, token: bytes):
    """Headers hold bytes; most are no text."""
    for header in (b'Authorization: Bearer ' + token, b'Cookie: lfd_token=' + token):
        with socket.create_connection(('127.0.0.1', server.port), TIMEOUT) as raw:
            raw.sendall(b'GET /tasks/stack_boxes.mtdf.yaml HTTP/1.0\r\nHost: 127.0.0.1\r\n' + header + b'\r\n\r\n')
            assert raw.makefile('rb').readline().split()[1] == b'401'


def test_meshes_of_the_scene_are_stl(start: Callable[..., BridgeServer]):
    server = start(scene=from_scene(find_scene('kitchen')))

    async def test() -> None:
        async with paired(server.port, code=server.code) as client, aiohttp.ClientSession() as http:
            parts = [part for thing in client.last('scene')['objects'] for part in thing['parts']]
            urls = {part['url'] for part in parts if part['shape'] == 'mesh'}
            assert urls
            http.headers['Authorization'] = f'Bearer {client.token}'
            for url in urls:
                answer = await http.get(f'http://127.0.0.1:{server.port}{url}')
                body = await answer.read()
                assert answer.headers['Content-Type'] == 'model/stl'
                assert len(body) == 84 + 50 * int.from_bytes(body[80:84], 'little')

    run(test())


def test_the_network_is_reached_by_https_only_if_asked_for(start: Callable[..., BridgeServer], tmp_path: Path):
    quiet = start(folder=tmp_path / 'a')
    assert quiet.secure_port is None
    assert quiet.lan_pages == ()
    server = start(folder=tmp_path / 'b', lan=True)
    certificate = server.certificate
    assert certificate is not None
    context = ssl.create_default_context(cafile=str(certificate.file))

    async def test() -> None:
        hosts = ['127.0.0.1', 'localhost', *(page.split('/')[2].split(':')[0] for page in server.lan_pages)]
        async with aiohttp.ClientSession() as http:
            for host in hosts:  # its name is checked against the certificate
                answer = await http.get(f'https://{host}:{server.secure_port}/healthz', ssl=context)
                assert answer.status == 200
            with pytest.raises(aiohttp.ClientConnectorCertificateError):
                await http.get(f'https://127.0.0.1:{server.secure_port}/healthz')
        origin = f'https://127.0.0.1:{server.secure_port}'
        port, code = server.secure_port, server.code
        async with paired(port, scheme='https', context=context, origin=origin, code=code) as client:
            await client.do('take_control')

    run(test())


def test_a_taken_port_is_one_sentence(start: Callable[..., BridgeServer], tmp_path: Path):
    with socket.socket() as other:
        other.bind(('127.0.0.1', 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(PortTaken, match=f'^Port {port} is taken, perhaps by another bridge; end that'):
            start(port=port)


def test_the_local_address_has_the_code_where_no_server_sees_it(server: BridgeServer):
    page, _, fragment = server.address.partition('#')
    assert page == f'http://127.0.0.1:{server.port}/'
    assert fragment == f'code={server.code}'


def test_stopping_leaves_nothing_open(start: Callable[..., BridgeServer], tmp_path: Path):
    before = len([*Path('/proc/self/fd').iterdir()])
    for number in range(5):
        server = start(folder=tmp_path / str(number))
        server.stop()
        server.stop()
    assert len([*Path('/proc/self/fd').iterdir()]) <= before + 10
