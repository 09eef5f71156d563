"""One connected Unity client: its registrations, its service calls under way, and what waits to be sent to it."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from itertools import count
from typing import Any

from .commands import (
    CallService,
    Command,
    CommandError,
    OfferService,
    Parts,
    Ping,
    Publish,
    Remove,
    Request,
    Response,
    Subscribe,
    TopicList,
    handshake,
    note,
    parse_command,
    ping_response,
    service_message,
    topic_list,
)
from .frames import LARGEST_PAYLOAD, Frame, FrameReader, encoded
from .outbox import Outbox, OutboxFull
from .ports import Client, NoAnswer, Publisher, Refused, Registration, RosPort, Server, Subscription

READ_AT_ONCE = 256 * 2**10  # [bytes]
WRITE_AHEAD = 128 * 2**10
"""[bytes] that wait in the transport at most, beside one item: what is there already cannot be replaced by newer."""
MOST_REGISTRATIONS = 1000
MOST_CALLS = 100
"""Service calls of a client that are under way at once."""
MOST_COMPLAINTS = 1000
"""Different complaints about a client's frames; each is said once."""


@dataclass(frozen=True)
class Limits:
    """What a client may do."""

    largest_payload: int = LARGEST_PAYLOAD
    """[bytes]"""
    answer_timeout: float = 120.0
    """[s] in which Unity must answer a service's request."""


class Session:
    """Speaks with one client until it leaves, or says what cannot be understood."""

    def __init__(
        self,
        name: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        ros: RosPort,
        limits: Limits,
        log: Callable[[str, str], None],
    ) -> None:
        self.name = name
        self._reader, self._writer, self._ros, self._limits, self._log = reader, writer, ros, limits, log
        self._outbox = Outbox(limits.largest_payload + 2**20)
        self._something = asyncio.Event()
        self._subscriptions: dict[str, Subscription] = {}
        self._publishers: dict[str, Publisher] = {}
        self._clients: dict[str, Client] = {}
        self._servers: dict[str, Server] = {}
        self._registered: dict[tuple[str, str], Command] = {}
        self._announced: deque[Request | Response] = deque(maxlen=MOST_CALLS)
        self._questions: dict[int, tuple[str, asyncio.Future[bytes]]] = {}
        self._ids = count(1)
        self._calls: set[asyncio.Task[None]] = set()
        self._complaints: set[str] = set()

    async def run(self) -> None:
        """Serve the client to its end; afterwards nothing of it is left."""
        transport = self._writer.transport
        transport.set_write_buffer_limits(high=WRITE_AHEAD, low=WRITE_AHEAD // 4)
        sending = asyncio.create_task(self._send())
        try:
            self._urgent(handshake())
            await self._read()
        except (ConnectionError, TimeoutError, OSError, OutboxFull) as error:
            self._log('warn', f'{self.name} is dropped: {error or type(error).__name__}')
        finally:
            sending.cancel()
            await self._close()

    # Reading ----------------------------------------------------------------------------------------------------------

    async def _read(self) -> None:
        frames = FrameReader(self._limits.largest_payload)
        while data := await self._reader.read(READ_AT_ONCE):
            found, fault = frames.feed(data)
            for frame in found:
                await self._on_frame(frame)
            if fault is not None:
                self._log('error', f'{self.name} is dropped. {fault}')
                await self._say_goodbye(str(fault))
                return

    async def _on_frame(self, frame: Frame) -> None:
        try:
            if frame.destination.startswith('__'):
                await self._on_command(parse_command(frame))
            elif (announced := self._take_announced(frame.destination)) is not None:
                self._on_service_message(announced, frame)
            elif (publisher := self._publishers.get(frame.destination)) is not None:
                publisher.publish(frame.payload)
            else:
                self._complain(
                    f'A message came for {frame.destination[:100]!r}, which was not registered; '
                    'call RegisterPublisher or RegisterRosService before.'
                )
        except (CommandError, Refused) as error:
            self._complain(str(error))

    async def _on_command(self, command: Command) -> None:
        match command:
            case Subscribe() | Publish() | CallService() | OfferService():
                await self._register(command)
            case Remove():
                await self._remove(command)
            case Request() | Response():
                self._announced.append(command)
            case TopicList():
                self._urgent(topic_list(await self._ros.topics()))
            case Ping():
                self._urgent(ping_response(command.request_time))

    # Registrations ----------------------------------------------------------------------------------------------------

    async def _register(self, command: Subscribe | Publish | CallService | OfferService) -> None:
        """Register something; the same again changes nothing, and something else takes its place."""
        match command:
            case Subscribe(name, type_name):
                await self._replace(self._subscriptions, 'subscriber', name, command, self._subscribe)
            case Publish(name, type_name):
                await self._replace(self._publishers, 'publisher', name, command, self._advertise)
            case CallService(name, type_name):
                await self._replace(self._clients, 'ros_service', name, command, self._connect)
                return
            case OfferService(name, type_name):
                await self._replace(self._servers, 'unity_service', name, command, self._offer)
                return
        if doubts := await self._ros.doubts(name, type_name):
            self._note('warn', doubts)

    async def _replace(
        self,
        table: dict[str, Any],
        kind: str,
        name: str,
        command: Any,
        make: Callable[[Any], Coroutine[Any, Any, Registration]],
    ) -> None:
        if self._registered.get((kind, name)) == command:
            return
        if name not in table and len(self._registered) >= MOST_REGISTRATIONS:
            raise Refused(f'{MOST_REGISTRATIONS} topics and services are registered already; remove some.')
        await self._take_back(table, kind, name)
        table[name] = await make(command)
        self._registered[kind, name] = command

    async def _take_back(self, table: dict[str, Any], kind: str, name: str) -> bool:
        registration: Registration | None = table.pop(name, None)
        self._registered.pop((kind, name), None)
        if registration is not None:
            await registration.close()
        return registration is not None

    async def _remove(self, command: Remove) -> None:
        tables: dict[str, dict[str, Any]] = {
            'subscriber': self._subscriptions,
            'publisher': self._publishers,
            'ros_service': self._clients,
            'unity_service': self._servers,
        }
        if command.kind == 'subscriber':
            self._outbox.forget_topic(command.name)
        if command.kind == 'unity_service':
            self._give_up(f'Unity took the service {command.name!r} back.', command.name)
        if not await self._take_back(tables[command.kind], command.kind, command.name):
            self._note('warn', f'There was no {command.kind} {command.name!r} to remove.')

    async def _subscribe(self, command: Subscribe) -> Subscription:
        topic, depth = command.topic, 1

        def listener(payload: bytes) -> None:
            self._outbox.put_topic(topic, encoded(topic, payload), depth)
            self._pump()

        subscription = await self._ros.subscribe(topic, command.type_name, listener)
        depth = subscription.depth
        return subscription

    async def _advertise(self, command: Publish) -> Publisher:
        return await self._ros.advertise(command.topic, command.type_name, command.queue_size, command.latch)

    async def _connect(self, command: CallService) -> Client:
        return await self._ros.connect(command.service, command.type_name)

    async def _offer(self, command: OfferService) -> Server:
        return await self._ros.offer(
            command.service, command.type_name, lambda payload: self._ask_unity(command.service, payload)
        )

    # Services ---------------------------------------------------------------------------------------------------------

    def _take_announced(self, service: str) -> Request | Response | None:
        """The oldest announcement that can be of a message to this service; others may come between the two."""
        for announced in self._announced:
            table: dict[str, Any] = self._clients if isinstance(announced, Request) else self._servers
            if service in table:
                self._announced.remove(announced)
                return announced
        return None

    def _on_service_message(self, announced: Request | Response, frame: Frame) -> None:
        if isinstance(announced, Response):
            self._on_answer(announced.id, frame)
            return
        client = self._clients[frame.destination]
        if len(self._calls) >= MOST_CALLS:
            problem = f'{MOST_CALLS} service calls are under way already; wait for an answer.'
            self._answer(frame.destination, announced.id, client.no_answer(problem))
            return
        call = asyncio.create_task(self._call(client, frame.destination, announced.id, frame.payload))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)

    async def _call(self, client: Client, service: str, id: int, payload: bytes) -> None:
        self._answer(service, id, await client.call(payload))

    def _answer(self, service: str, id: int, answer: Any) -> None:
        if answer.problem:
            self._note('error', answer.problem)
        self._urgent_or_drop(service_message('response', id, service, answer.payload))

    async def _ask_unity(self, service: str, payload: bytes) -> bytes:
        id, answer = next(self._ids), asyncio.get_running_loop().create_future()
        self._questions[id] = (service, answer)
        try:
            self._urgent_or_drop(service_message('request', id, service, payload))
            return await asyncio.wait_for(answer, self._limits.answer_timeout)
        except TimeoutError:
            raise NoAnswer(f'Unity did not answer within {self._limits.answer_timeout:g} s.') from None
        finally:
            self._questions.pop(id, None)

    def _on_answer(self, id: int, frame: Frame) -> None:
        service, answer = self._questions.get(id, ('', None))
        if answer is None or answer.done() or service != frame.destination:
            self._complain(
                f'A response to {frame.destination!r} came that nobody waits for; send the srv_id of the request.'
            )
            return
        try:
            self._servers[service].check(frame.payload)
        except Refused as error:
            answer.set_exception(NoAnswer(str(error)))
            raise
        answer.set_result(frame.payload)

    def _give_up(self, reason: str, service: str | None = None) -> None:
        """Let those go who wait for an answer of Unity, to one service or to all."""
        for asked, answer in self._questions.values():
            if not answer.done() and service in (None, asked):
                answer.set_exception(NoAnswer(reason))

    # Sending ----------------------------------------------------------------------------------------------------------

    def _urgent(self, item: Parts) -> None:
        self._outbox.put_urgent(item)
        self._pump()

    def _urgent_or_drop(self, item: Parts) -> None:
        """Send something that does not come of the reader: if the client does not read, it is dropped there."""
        try:
            self._urgent(item)
        except OutboxFull as error:
            self._log('warn', f'{self.name} is dropped: {error}')
            self._writer.transport.abort()

    def _note(self, level: str, text: str) -> None:
        self._log(level, f'{self.name}: {text}')
        self._outbox.put_note(note(level, text))
        self._pump()

    def _complain(self, text: str) -> None:
        """Say what is wrong, once."""
        if text not in self._complaints and len(self._complaints) < MOST_COMPLAINTS:
            self._complaints.add(text)
            self._note('error', text)

    def _pump(self) -> None:
        """Hand over to the transport what it takes now; the rest waits here, where newer can replace it."""
        transport = self._writer.transport
        while transport.get_write_buffer_size() <= WRITE_AHEAD and not transport.is_closing():
            if (item := self._outbox.take()) is None:
                return
            # Not writelines: in some versions of Python 3.12 it does not tell drain that the transport is full.
            self._writer.write(b''.join(item))
        self._something.set()

    async def _send(self) -> None:
        """Hand over what waits whenever the transport takes more."""
        while True:
            await self._something.wait()
            self._something.clear()
            try:
                await self._writer.drain()
            except ConnectionError:
                return  # the reader hears of it too
            self._pump()

    async def _say_goodbye(self, text: str) -> None:
        """Send a last sentence, if the client reads at all."""
        self._outbox.put_note(note('error', text))
        self._pump()
        try:
            self._writer.write_eof()
            await asyncio.wait_for(self._writer.drain(), 1.0)
        except (OSError, TimeoutError):
            return

    async def _close(self) -> None:
        self._give_up('Unity disconnected.')
        for call in self._calls:
            call.cancel()
        tables: tuple[dict[str, Any], ...] = (self._subscriptions, self._publishers, self._clients, self._servers)
        for registration in [registration for table in tables for registration in table.values()]:
            await registration.close()
        self._writer.transport.abort()
