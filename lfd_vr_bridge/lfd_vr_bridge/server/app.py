"""The server's addresses.

=============================  =====================================================================
`/`, `/js/...`, `/style.css`   the page
`/lib/three/...`               its libraries
`/ws`                          the WebSocket
`/assets/DIGEST/NAME`          meshes and URDFs that a robot or the scene names, for paired devices
`/robots/NAME.urdf`            robots of the suite, for paired devices
`/tasks/NAME.mtdf.yaml|.mcap`  tasks and their logs, for paired devices
`/healthz`                     whether the server is there
=============================  =====================================================================

The pictures on a mesh are for all: a browser asks for them without the page's token, and they are known by a digest of
the mesh that names them.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

from aiohttp import WSCloseCode, web
from aiohttp.typedefs import Handler, Middleware
from aiohttp.web_protocol import RequestHandler

from lfd_description.meshes import MeshError

from ..studio.studio import Studio
from ..studio.values import Refusal
from .assets import Assets
from .hub import Hub
from .pages import INDEX, SAFE_HEADERS, TEXTS, TYPES, file_below, is_own_host, page_headers
from .pairing import Pairing
from .session import MAX_FRAME, Ended, Limits, Session, part, receive_hello

COOKIE = 'lfd_token'
LIBRARIES = ('three', 'urdf-loader')
KEPT_FOR_GOOD = 'private, max-age=31536000, immutable'
ASKED_EVERY_TIME = 'no-cache'
CLOSE_TIME = 2.0  # [s] for a client to say goodbye


@dataclass(frozen=True)
class Parts:
    """What the addresses lead to."""

    hub: Hub
    studio: Studio
    assets: Assets
    pairing: Pairing
    limits: Limits
    page: Path
    libraries: Path | None
    """None: they are missing."""
    hosts: frozenset[str]
    """Names of this machine, in small letters."""
    silent: set[RequestHandler]
    """Connections that have made no request yet."""


def make_app(parts: Parts) -> web.Application:
    """The application of all addresses."""
    app = web.Application(middlewares=[_guard(parts)])
    routes = _Routes(parts)
    app.router.add_get('/', routes.index)
    app.router.add_get('/healthz', routes.health)
    app.router.add_get('/ws', routes.socket)
    app.router.add_get('/assets/{digest}/{name:.+}', routes.asset)
    app.router.add_get('/robots/{name}.urdf', routes.robot)
    app.router.add_get('/tasks/{name}.mtdf.yaml', routes.task)
    app.router.add_get('/tasks/{name}.mcap', routes.log)
    app.router.add_get('/lib/{name:.+}', routes.library)
    app.router.add_get('/{name:.+}', routes.page)
    return app


def _guard(parts: Parts) -> Middleware:
    @web.middleware
    async def guard(request: web.Request, handler: Handler) -> web.StreamResponse:
        parts.silent.discard(request.protocol)
        if not is_own_host(request.host, parts.hosts):
            return _text(421, 'This bridge has no such name; open it by an address that its console shows.')
        try:
            return await handler(request)
        except web.HTTPException as error:
            return _text(error.status, error.reason)
        except Refusal as refusal:
            return _text(404, str(refusal))

    return guard


def _text(status: int, text: str) -> web.Response:
    return web.Response(status=status, text=f'{text}\n', headers={**SAFE_HEADERS, 'Cache-Control': 'no-store'})


class _Routes:
    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def health(self, _: web.Request) -> web.StreamResponse:
        return _text(200, 'ok')

    async def index(self, request: web.Request) -> web.StreamResponse:
        return self._page_file(request, INDEX)

    async def page(self, request: web.Request) -> web.StreamResponse:
        return self._page_file(request, request.match_info['name'])

    async def library(self, request: web.Request) -> web.StreamResponse:
        if self._parts.libraries is None:
            return _text(503, "The page's libraries are missing; run ./lfd setup.")
        name = request.match_info['name']
        file = file_below(self._parts.libraries, name) if name.split('/')[0] in LIBRARIES else None
        return _missing(request) if file is None else _file(request, file, ASKED_EVERY_TIME)

    def _page_file(self, request: web.Request, name: str) -> web.StreamResponse:
        file = file_below(self._parts.page, name)
        if file is None:
            return _missing(request)
        if file.suffix != '.html':
            return _file(request, file, ASKED_EVERY_TIME)
        html = file.read_text(encoding='utf-8')
        headers = {**SAFE_HEADERS, **page_headers(html, request.host), 'Cache-Control': ASKED_EVERY_TIME}
        answer = web.Response(text=html, content_type='text/html', headers=headers)
        answer.enable_compression()
        return answer

    async def asset(self, request: web.Request) -> web.StreamResponse:
        asset = self._parts.assets.find(request.match_info['digest'], request.match_info['name'])
        if asset is None or not asset.is_image:
            self._paired_only(request)
        if asset is None:
            return _missing(request)
        if isinstance(asset.content, Path):
            if not asset.content.is_file():
                return _missing(request)
            return _file(request, asset.content, KEPT_FOR_GOOD, asset.type)
        try:
            body = await asyncio.get_running_loop().run_in_executor(None, asset.read)
        except (OSError, MeshError) as error:
            return _text(404, str(error))
        return _body(body, asset.type, KEPT_FOR_GOOD)

    async def robot(self, request: web.Request) -> web.StreamResponse:
        self._paired_only(request)
        name = request.match_info['name']
        robot = await asyncio.get_running_loop().run_in_executor(None, self._parts.assets.robot, name)
        _, _, digest, file = robot.url.split('/')
        asset = self._parts.assets.find(digest, file)
        return _missing(request) if asset is None else _body(asset.read(), asset.type, ASKED_EVERY_TIME)

    async def task(self, request: web.Request) -> web.StreamResponse:
        self._paired_only(request)
        name, file_format = request.match_info['name'], request.query.get('format', 'yaml')
        version = _version(request)
        loop = asyncio.get_running_loop()
        text = await loop.run_in_executor(None, self._parts.studio.library.export, name, version, file_format)
        kind = 'application/json' if file_format == 'json' else 'application/yaml'
        answer = _body(text.encode(), kind, 'no-store')
        answer.headers['Content-Disposition'] = _attachment(f'{name}.mtdf.{file_format}')
        return answer

    async def log(self, request: web.Request) -> web.StreamResponse:
        self._paired_only(request)
        name = request.match_info['name']
        entry = next((each for each in self._parts.studio.tasks if each.name == name), None)
        version = _version(request)
        if entry is None:
            return _missing(request)
        of_task = self._parts.studio.library.path(name, entry.version if version is None else version)
        file = of_task.with_name(of_task.name.removesuffix('.mtdf.yaml') + '.mcap')
        if not file.is_file():
            return _text(404, f"There is no log of this version of '{name}'.")
        answer = web.FileResponse(file, headers={**SAFE_HEADERS, 'Cache-Control': 'no-store'})
        answer.content_type = 'application/octet-stream'
        answer.headers['Content-Disposition'] = _attachment(f'{name}.mcap')
        return answer

    def _paired_only(self, request: web.Request) -> None:
        token = request.headers.get('Authorization', '').removeprefix('Bearer ') or request.cookies.get(COOKIE, '')
        if not token or not self._parts.pairing.knows(token):
            raise web.HTTPUnauthorized(reason='Pair this device first.')

    async def socket(self, request: web.Request) -> web.StreamResponse:
        if not _same_origin(request):
            return _text(403, 'A page of another host may not talk to this bridge.')
        if self._parts.hub.is_full:
            return _text(503, 'Too many devices are connected; disconnect one first.')
        limits = self._parts.limits
        socket = web.WebSocketResponse(
            max_msg_size=MAX_FRAME, heartbeat=limits.heartbeat, compress=False, timeout=CLOSE_TIME
        )
        if not socket.can_prepare(request).ok:
            return _text(426, 'This is the address of the WebSocket; open the page instead.')
        await socket.prepare(request)
        await self._serve(request, socket)
        return socket

    async def _serve(self, request: web.Request, socket: web.WebSocketResponse) -> None:
        hub, limits = self._parts.hub, self._parts.limits
        ended: Ended | None = None
        try:
            hello = await receive_hello(socket, limits)
            if hello is not None:
                token = hub.admit(hello, request.remote or '')
                session = Session(hub.new_client(), hello, token, socket, hub.new_outbox(), limits)
                hub.join(session)
                try:
                    ended = await session.serve(lambda frame: hub.handle(session, frame), hub.encode)
                finally:
                    hub.leave(session)
        except Refusal as refusal:
            ended = Ended(refusal.code, str(refusal))
        except Ended as error:
            ended = error
        except asyncio.CancelledError:
            ended = Ended('ending', 'The bridge is ending.', WSCloseCode.GOING_AWAY)
            raise
        finally:
            await part(socket, request, ended, hub.encode)


def _same_origin(request: web.Request) -> bool:
    """Whether a WebSocket comes from our own page, or from no page at all."""
    origin = request.headers.get('Origin')
    if origin is None:
        return True
    parts = urlsplit(origin)
    return parts.scheme == request.scheme and parts.netloc.lower() == request.host.lower()


def _version(request: web.Request) -> int | None:
    text = request.query.get('version')
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise web.HTTPBadRequest(reason='The version must be a whole number.')
    return int(text)


def _attachment(name: str) -> str:
    return f"attachment; filename*=UTF-8''{quote(name)}"


def _missing(request: web.Request) -> web.Response:
    return _text(404, 'There is nothing at this address.')


def _file(request: web.Request, file: Path, caching: str, kind: str | None = None) -> web.StreamResponse:
    answer = web.FileResponse(file, headers={**SAFE_HEADERS, 'Cache-Control': caching})
    answer.headers['Content-Type'] = kind or TYPES[file.suffix.lower()]
    # aiohttp would put the end of a compressed stream behind a 304, which has no body.
    may_be_known = 'If-None-Match' in request.headers or 'If-Modified-Since' in request.headers
    if file.suffix.lower() in TEXTS and not may_be_known:
        answer.enable_compression()
    return answer


def _body(body: bytes, kind: str, caching: str) -> web.Response:
    answer = web.Response(body=body, content_type=kind, headers={**SAFE_HEADERS, 'Cache-Control': caching})
    answer.enable_compression()
    return answer
