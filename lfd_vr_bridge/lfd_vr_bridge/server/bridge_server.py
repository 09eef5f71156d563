"""The server as others use it: in a thread of its own, with methods that may be called from any thread."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError as NoDistribution
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from aiohttp import web
from aiohttp.web_protocol import RequestHandler
from ament_index_python.packages import get_package_share_directory

from lfd_description.bodies import MeshFinder

from .. import web_libraries
from ..studio.ports import Robot
from ..studio.studio import Studio
from .app import Parts, make_app
from .assets import Assets, RobotAsset
from .certificate import Certificate, lan_addresses, own_certificate, own_names
from .hub import Hub, Identity
from .pairing import Pairing
from .session import Limits
from .site import FIRST_WORD, Site, listening_socket

PORT = 8765
SWITCH_INTERVAL = 0.0005  # [s]
START_TIME = 30.0  # [s]
STOP_TIME = 20.0  # [s]

Result = TypeVar('Result')


@dataclass(frozen=True)
class Options:
    """How the server is to be reached."""

    folder: Path
    """Where tokens, certificate and key are kept."""
    port: int = PORT
    """Of http on this machine; https for the network is on the next one. 0: any free one."""
    lan: bool = False
    """Whether the network can reach it, by https."""
    name: str = 'lfd'
    """For people: what this bridge is called."""
    hosts: tuple[str, ...] = ()
    """Further names of this machine."""
    page: Path | None = None
    """Where the page's files are; None: as installed."""
    first_word: float = FIRST_WORD
    """Time for a connection's first request [s]."""
    limits: Limits = field(default_factory=Limits)


class BridgeServer:
    """Page, WebSocket and meshes for one studio and one robot.

    The studio belongs to the server's thread from `start` on: use `call` to reach it.

    Args:
        studio: what people do things to.
        robot: who plans and moves; None: nobody does, and pages are told so.
        options: how it is reached.
        assets: robots and meshes; one of its own if there is none.
        show_code: told each new code that the console is to show, and the page's addresses with it; any thread.
    """

    def __init__(
        self,
        studio: Studio,
        robot: Robot | None,
        options: Options,
        assets: Assets | None = None,
        show_code: Callable[[str], None] = lambda code: None,
    ) -> None:
        self.studio = studio
        self.assets = assets or Assets()
        self._robot = robot
        self._options = options
        self._show_code = show_code
        self._code = ''
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name='vr_server', daemon=True)
        self._sockets: list[socket.socket] = []
        self._runner: web.AppRunner | None = None
        self._hub: Hub | None = None
        self.certificate: Certificate | None = None
        """Of https, if the network can reach the server."""
        self._lock = threading.Lock()
        self._joints: dict[str, float] = {}
        self._joints_due = False

    # Beginning and end ------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Serve.

        Raises:
            PortTaken: a port is not to be had.
        """
        self._bind()
        # Another busy thread may keep the interpreter this long before the loop has its turn: 5 ms unless told
        # otherwise, which would be most of the latency that a person in a headset feels.
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_INTERVAL))
        self._thread.start()
        try:
            self.call(self._start()).result(START_TIME)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Tell all clients, and end; may be called again."""
        if self._thread.is_alive():
            with contextlib.suppress(concurrent.futures.TimeoutError):
                self.call(self._stop()).result(STOP_TIME)
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(STOP_TIME)
        for each in self._sockets:
            each.close()
        if not self._thread.is_alive() and not self._loop.is_closed():
            self._loop.close()

    @property
    def port(self) -> int:
        """Where http listens on this machine."""
        return int(self._sockets[0].getsockname()[1])

    @property
    def secure_port(self) -> int | None:
        """Where https listens for the network, if it does."""
        return int(self._sockets[1].getsockname()[1]) if len(self._sockets) > 1 else None

    @property
    def code(self) -> str:
        """The code that pairs the next device."""
        return self._code

    @property
    def address(self) -> str:
        """The page on this machine; opening it pairs. The code is behind a #, which no server and no log ever sees."""
        return f'http://127.0.0.1:{self.port}/#code={self._code}'

    @property
    def lan_pages(self) -> tuple[str, ...]:
        """The page's addresses for headsets, without a code."""
        if self.secure_port is None:
            return ()
        return tuple(f'https://{address}:{self.secure_port}/' for address in lan_addresses())

    # From any thread --------------------------------------------------------------------------------------------------

    def call(self, job: Coroutine[Any, Any, Result]) -> concurrent.futures.Future[Result]:
        """Run a coroutine in the server's thread, which is the studio's."""
        return asyncio.run_coroutine_threadsafe(job, self._loop)

    def post(self, function: Callable[[], object]) -> None:
        """Call a function in the server's thread soon, and do not wait; after `stop` nothing happens."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function)

    def publish_joints(self, positions: Mapping[str, float]) -> None:
        """The robot's joints are there, by name [rad or m]; of many in a moment the newest counts."""
        with self._lock:
            self._joints.update(positions)
            due, self._joints_due = self._joints_due, True
        if not due:
            self.post(self._take_joints)

    def publish_robot(
        self, urdf: str, name: str, *, base: str, tip: str, joints: tuple[str, ...], find: MeshFinder | None = None
    ) -> None:
        """Show the robot that is there now; may take its time.

        Args:
            urdf: its description.
            name: for people and for `plan`.
            base: the link whose frame is the scene's.
            tip: the last link of the arm.
            joints: whose positions pages get, in this order; fingers too.
            find: finds its meshes.

        Raises:
            UrdfError: the URDF is wrong.
        """
        robot = RobotAsset(name, self.assets.urdf_url(name, urdf, find), base, tip, joints)
        self.post(lambda: self.hub.publish_robot(robot))

    @property
    def hub(self) -> Hub:
        """Who is there; for the server's thread alone."""
        assert self._hub is not None, 'start the server first'
        return self._hub

    # Inside -----------------------------------------------------------------------------------------------------------

    def _take_joints(self) -> None:
        with self._lock:
            positions, self._joints, self._joints_due = self._joints, {}, False
        if self._hub is not None:
            self._hub.publish_joints(positions)

    def _bind(self) -> None:
        options = self._options
        self._sockets.append(listening_socket('127.0.0.1', options.port))
        if options.lan:
            try:
                self._sockets.append(listening_socket('0.0.0.0', options.port and options.port + 1))
            except BaseException:
                self._sockets.pop().close()
                raise

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            asyncio.set_event_loop(None)

    async def _start(self) -> None:
        options = self._options
        pairing = Pairing(options.folder / 'tokens.json', self._on_code, time.monotonic)
        self._hub = Hub(
            self.studio, self._robot, self.assets, pairing, options.limits, Identity(options.name, _version())
        )
        names = own_names()
        silent: set[RequestHandler] = set()
        app = make_app(
            Parts(
                hub=self._hub,
                studio=self.studio,
                assets=self.assets,
                pairing=pairing,
                limits=options.limits,
                page=options.page or Path(get_package_share_directory('lfd_vr_bridge')) / 'web',
                libraries=_libraries(),
                hosts=frozenset(name.lower() for name in (*names, *options.hosts)),
                silent=silent,
            )
        )
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=5.0)
        await self._runner.setup()
        await self._listen(names, silent)

    async def _listen(self, names: tuple[str, ...], silent: set[RequestHandler]) -> None:
        assert self._runner is not None
        contexts: list[ssl.SSLContext | None] = [None]
        if self._options.lan:
            self.certificate = own_certificate(self._options.folder, (*names, *self._options.hosts))
            contexts = [None, self.certificate.server_context()]
        for each, context in zip(self._sockets, contexts, strict=True):
            site = Site(self._runner, each, silent, context=context, first_word=self._options.first_word)
            await site.start()

    async def _stop(self) -> None:
        if self._hub is not None:
            await self._hub.close()
        if self._runner is not None:
            await self._runner.cleanup()

    def _on_code(self, code: str) -> None:
        self._code = code
        self._show_code(code)


def _libraries() -> Path | None:
    try:
        return web_libraries.folder()
    except web_libraries.LibrariesMissing:
        return None


def _version() -> str:
    try:
        return version('lfd_vr_bridge')
    except NoDistribution:
        return 'unknown'
