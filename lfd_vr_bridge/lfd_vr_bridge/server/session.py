"""One client's connection: pairing, frames in, frames out, and a polite end with a reason."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from aiohttp import WSCloseCode, WSMessage, WSMsgType, web

from .frames import CompleteRecording, Frame, GiveControl, HandsMoved, Hello, Move, PauseMotion, Release, Request, Stop
from .news import News, Refused
from .outbox import Outbox, Text, TooSlow
from .pace import Allowance
from .protocol import BadFrame, parse

MAX_FRAME = 65_536  # bytes from a client
PART_TIME = 2.0  # [s] to say why, and goodbye
NEVER_TOO_FAST = (Release, Stop, CompleteRecording, PauseMotion, GiveControl)
"""Requests that end something. After a stall of the network they come behind all that has waited, and must count."""

Handle = Callable[[Frame], 'asyncio.Task[None] | None']
"""Does what a frame asks for; gives what has to be done before the next frame is looked at, if anything."""


@dataclass(frozen=True)
class Limits:
    """What a client may do, and for how long it may be silent."""

    clients: int = 32
    hello: float = 5.0
    """Time to pair in [s]."""
    heartbeat: float = 5.0
    """Between questions whether a client is there; half of it is the time to answer [s]."""
    send: float = 15.0
    """Time that a client may take for one frame [s]."""
    queue: int = 1000
    """Frames that may wait for a client."""
    frames: float = 200.0
    """A second, from a client: of moves and hands, and as many requests."""
    flood: float = 2000.0
    """A second, from a client, at which it is disconnected."""
    bad_frames: int = 10
    """A minute, from a client."""
    tasks: int = 8
    """Requests of a client that are worked on at a time."""
    idle: float = 60.0
    """Without a sign of the demonstrator, after which anybody may take control [s]."""


class Ended(Exception):
    """The connection is to be closed; the message is for the person there."""

    def __init__(self, code: str, message: str, close: int = WSCloseCode.POLICY_VIOLATION) -> None:
        super().__init__(message)
        self.code = code
        self.close = close


class Session:
    """A paired client."""

    def __init__(
        self, client: str, hello: Hello, token: str, socket: web.WebSocketResponse, outbox: Outbox, limits: Limits
    ) -> None:
        self.client = client
        """Its short name, unique in this run."""
        self.name = hello.name
        """For people."""
        self.token = token
        self.page = hello.page
        """Of the page that it is, from its loading on; None: it did not say."""
        self.jobs: set[asyncio.Task[None]] = set()
        self._socket = socket
        self._outbox = outbox
        self._limits = limits
        self._over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        now = asyncio.get_running_loop().time()
        self._moves = Allowance(limits.frames, limits.frames, now)
        self._requests = Allowance(limits.frames, limits.frames, now)
        self._flood = Allowance(limits.flood, limits.flood, now)
        self._faults = Allowance(limits.bad_frames / 60.0, limits.bad_frames - 1, now)
        self._late: dict[str, Frame] = {}
        self._catching_up: asyncio.TimerHandle | None = None
        self._finishing: asyncio.Task[None] | None = None

    @property
    def outbox(self) -> Outbox:
        """What waits for it."""
        return self._outbox

    def put(self, text: Text) -> None:
        """Send a frame that must arrive."""
        with contextlib.suppress(asyncio.InvalidStateError):
            try:
                self._outbox.put(text)
            except TooSlow:
                self._over.set_exception(
                    Ended(
                        'too_slow',
                        'This device is too slow for what there is to show; it is connected anew.',
                        WSCloseCode.TRY_AGAIN_LATER,
                    )
                )

    def end(self, code: str, message: str) -> None:
        """Close the connection, with a reason."""
        if not self._over.done():
            self._over.set_exception(Ended(code, message, WSCloseCode.GOING_AWAY))

    async def serve(self, handle: Handle, encode: Callable[[News], str]) -> Ended | None:
        """Talk until either side ends it; gives the reason, if it is ours."""
        reader = asyncio.create_task(self._read(handle, encode))
        writer = asyncio.create_task(self._outbox.send(self._send))
        try:
            done, _ = await asyncio.wait({reader, writer, self._over}, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except Ended as ended:
            return ended
        except ConnectionError:
            return None
        finally:
            await self._stop(reader, writer)
        return None

    async def _stop(self, *tasks: asyncio.Task[None]) -> None:
        if self._catching_up is not None:
            self._catching_up.cancel()
        everything = (*tasks, *self.jobs)
        for task in everything:
            task.cancel()
        await asyncio.gather(*everything, return_exceptions=True)
        if self._finishing is not None:  # what was let go of before the connection was lost counts
            await asyncio.wait({self._finishing}, timeout=PART_TIME)
        self._over.cancel()
        if self._over.done() and not self._over.cancelled():
            self._over.exception()  # looked at, so that nobody complains that it was not

    async def _send(self, text: str) -> None:
        try:
            # Not wait_for: of a cancellation that comes as the frame is sent, it tells nobody.
            async with asyncio.timeout(self._limits.send):
                await self._socket.send_str(text)
        except TimeoutError:
            raise Ended('too_slow', 'This device took too long for one frame.', WSCloseCode.TRY_AGAIN_LATER) from None

    async def _read(self, handle: Handle, encode: Callable[[News], str]) -> None:
        while True:
            message = await self._socket.receive()
            if message.type in (WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED, WSMsgType.ERROR):
                return
            try:
                await self._take(message, handle, encode)
            except BadFrame as fault:
                self.put(encode(Refused('bad_frame', str(fault), fault.id)))
                if not self._faults.take(asyncio.get_running_loop().time()):
                    raise Ended(
                        'bad_frames',
                        f'More than {self._limits.bad_frames - 1} frames in a minute were none of the protocol; '
                        f'see docs/vr_protocol.md.',
                    ) from None

    async def _take(self, message: WSMessage, handle: Handle, encode: Callable[[News], str]) -> None:
        now = asyncio.get_running_loop().time()
        if not self._flood.take(now):
            raise Ended('flood', f'More than {self._limits.flood:g} frames a second were sent.')
        frame = frame_of(message)
        if isinstance(frame, Move | HandsMoved):
            await self._take_motion(frame, now, handle)
            return
        if isinstance(frame, Request) and not isinstance(frame, NEVER_TOO_FAST) and not self._requests.take(now):
            why = f'More than {self._limits.frames:g} requests a second were sent; send fewer.'
            self.put(encode(Refused('too_fast', why, frame.id)))
            await asyncio.sleep(0.0)  # the others have their turn
            return
        self._catch_up(handle)  # what was said before counts before
        self._finishing = handle(frame)
        if self._finishing is not None:
            await asyncio.shield(self._finishing)

    async def _take_motion(self, frame: Move | HandsMoved, now: float, handle: Handle) -> None:
        """Take a frame of which the newest counts; more of them than allowed are dropped, the oldest first."""
        if self._moves.take(now):
            self._late.pop(_kind(frame), None)
            handle(frame)
            return
        self._late[_kind(frame)] = frame
        self._catch_up_soon(handle)
        await asyncio.sleep(0.0)  # the others have their turn

    def _catch_up_soon(self, handle: Handle) -> None:
        if self._catching_up is None:
            wait = 1.0 / self._limits.frames
            self._catching_up = asyncio.get_running_loop().call_later(wait, self._catch_up, handle)

    def _catch_up(self, handle: Handle) -> None:
        """The newest of what was too much counts all the same."""
        if self._catching_up is not None:
            self._catching_up.cancel()
            self._catching_up = None
        late, self._late = self._late, {}
        for frame in late.values():
            handle(frame)


def _kind(frame: Frame) -> str:
    return f'move {frame.object}' if isinstance(frame, Move) else type(frame).__name__


def frame_of(message: WSMessage) -> Frame:
    """The frame in a WebSocket message.

    Raises:
        BadFrame: there is none.
    """
    if message.type is not WSMsgType.TEXT:
        raise BadFrame('Binary frames are not spoken here; send JSON as text.')
    return parse(str(message.data))


async def receive_hello(socket: web.WebSocketResponse, limits: Limits) -> Hello | None:
    """The first frame; None if the other side went away.

    Raises:
        Ended: it did not come in time, or is another.
    """
    try:
        message = await socket.receive(timeout=limits.hello)
    except TimeoutError:
        raise Ended('no_hello', f'There was no hello within {limits.hello:g} s; send it first.') from None
    if message.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
        return None
    try:
        frame = frame_of(message)
    except BadFrame as fault:
        raise Ended('bad_frame', str(fault)) from None
    if not isinstance(frame, Hello):
        raise Ended('no_hello', 'The first frame must be hello; pair first.')
    return frame


async def part(
    socket: web.WebSocketResponse, request: web.Request, ended: Ended | None, encode: Callable[[News], str]
) -> None:
    """Close a connection, politely if that goes quickly."""
    with contextlib.suppress(TimeoutError, ConnectionError):
        async with asyncio.timeout(PART_TIME):
            if ended is not None and not socket.closed:
                await socket.send_str(encode(Refused(ended.code, str(ended))))
                await socket.close(code=ended.close, message=ended.code.encode())
            elif not socket.closed:
                await socket.close()
    if request.transport is not None and not socket.closed:
        request.transport.abort()
