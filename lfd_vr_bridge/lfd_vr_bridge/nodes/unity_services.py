"""Services of ROS that Unity calls, and services that Unity offers to ROS. Whoever asks is answered, whatever happens.

If there is no answer, all fields of the response have their defaults, and a text field `message` says why.
"""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

from rclpy.task import Future

from lfd_description.nodes.qos import BUSY_SERVICE_QOS
from lfd_vr_bridge.nodes.unity_threads import Threads
from lfd_vr_bridge.nodes.unity_types import Codec, service_type
from lfd_vr_bridge.unity_tcp.ports import Answer, Answerer, NoAnswer, Refused

LOOK_EVERY = 0.02  # [s] whether a service is there
WATCH_EVERY = 0.5  # [s] whether it is still there
MOST_QUESTIONS = 1000
"""Requests to a service of Unity's that wait for an answer at once."""


class RosClient:
    """A service of ROS that one Unity client calls."""

    def __init__(self, threads: Threads, service: str, type_name: str, wait: float, timeout: float) -> None:
        """`wait` [s] is how long a service may be away, `timeout` [s] how long it may take."""
        self._threads, self._service, self._wait, self._timeout = threads, service, wait, timeout
        self._class = service_type(type_name)
        self._request = Codec(self._class.Request, f'{type_name} request')
        self._response = Codec(self._class.Response, f'{type_name} response')
        self._entity: Any = None

    async def open(self) -> None:
        """Prepare to call."""
        self._entity = await self._threads.in_ros(
            lambda: self._threads.node.create_client(self._class, self._service, qos_profile=BUSY_SERVICE_QOS)
        )

    async def close(self) -> None:
        """Call no longer."""
        await self._threads.in_ros(lambda: self._threads.node.destroy_client(self._entity))

    def no_answer(self, problem: str) -> Answer:
        """An answer without a call."""
        return Answer(self._response.default(problem), problem)

    async def call(self, payload: bytes) -> Answer:
        """Call the service; there always is an answer."""
        try:
            request = self._request.decoded(payload)
            await self._until_ready()
            return Answer(self._response.encoded(await self._answer(request)))
        except Refused as error:
            return self.no_answer(str(error))

    async def _until_ready(self) -> None:
        deadline = self._threads.loop.time() + self._wait
        while not self._entity.service_is_ready():
            if self._threads.loop.time() >= deadline:
                raise Refused(f"Nobody serves '{self._service}'; start the node that does.")
            await asyncio.sleep(LOOK_EVERY)

    async def _answer(self, request: Any) -> Any:
        answer: asyncio.Future[Any] = self._threads.loop.create_future()

        def send() -> Future:
            sent = self._entity.call_async(request)
            sent.add_done_callback(lambda done: self._threads.in_loop(_hand_over, done, answer))
            return sent

        sent = await self._threads.in_ros(send)
        try:
            return await self._patiently(answer)
        finally:
            self._entity.remove_pending_request(sent)

    async def _patiently(self, answer: asyncio.Future[Any]) -> Any:
        loop = self._threads.loop
        start = seen = loop.time()
        while loop.time() - start < self._timeout:
            done, _ = await asyncio.wait([answer], timeout=min(WATCH_EVERY, self._timeout))
            if done:
                return answer.result()
            if self._entity.service_is_ready():
                seen = loop.time()
            elif loop.time() - seen > self._wait:
                raise Refused(f"Who served '{self._service}' went away before it answered; call again.")
        raise Refused(f"'{self._service}' did not answer within {self._timeout:g} s; call again.")


def _hand_over(done: Future, answer: asyncio.Future[Any]) -> None:
    if answer.done():
        return
    if (error := done.exception()) is not None:
        answer.set_exception(Refused(f'The call failed: {error}.'))
    else:
        answer.set_result(done.result())


class _Later:
    """What a service's callback returns instead of a response: the answer comes later."""

    header: Any


class OfferedService:
    """A service that Unity clients offer; the newest of them is asked. It belongs to the event loop's thread."""

    def __init__(self, threads: Threads, service: str, type_name: str) -> None:
        self.service, self.type_name = service, type_name
        self.answerers: dict[int, Answerer] = {}
        self._threads, self._class = threads, service_type(type_name)
        self._request = Codec(self._class.Request, f'{type_name} request')
        self.response = Codec(self._class.Response, f'{type_name} response')
        self._entity: Any = None
        self._send: Any = None
        self._under_way: set[asyncio.Task[None]] = set()

    def open(self) -> None:
        """Serve; in the node's thread.

        rclpy sends what a callback returns at once, or keeps a whole thread or a busy loop until there is something.
        So sending is put off: the callback's answer is a note that there will be one, and `_hold` keeps its address.
        """
        self._entity = self._threads.node.create_service(
            self._class, self.service, self._on_request, qos_profile=BUSY_SERVICE_QOS
        )
        self._send = self._entity.send_response
        self._entity.send_response = self._hold

    async def close(self) -> None:
        """Serve no longer, once those under way are answered."""
        await asyncio.gather(*self._under_way)
        await self._threads.in_ros(lambda: self._threads.node.destroy_service(self._entity))

    def _on_request(self, request: Any, _: Any) -> _Later:
        later = _Later()
        self._threads.in_loop(self._begin, self._request.encoded(request), later)
        return later

    def _hold(self, later: _Later, header: Any) -> None:
        later.header = header

    def _begin(self, payload: bytes, later: _Later) -> None:
        task = self._threads.loop.create_task(self._answer(payload, later))
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _answer(self, payload: bytes, later: _Later) -> None:
        try:
            response = self.response.decoded(await self._asked(payload))
        except (NoAnswer, Refused) as error:
            self._threads.log('warn', f"A request to '{self.service}' was not answered. {error}")
            response = self.response.empty(str(error))
        try:
            await self._threads.in_ros(lambda: self._send(response, later.header))
        except Refused as error:
            self._threads.log('warn', f"An answer of '{self.service}' could not be sent: {error}")

    async def _asked(self, payload: bytes) -> bytes:
        if not self.answerers:
            raise NoAnswer('Unity disconnected.')
        if len(self._under_way) > MOST_QUESTIONS:
            raise NoAnswer(f'{MOST_QUESTIONS} requests wait for Unity already; ask again later.')
        newest = self.answerers[max(self.answerers)]
        return await newest(payload)


class ClientOffer:
    """What one client has of an offered service."""

    def __init__(self, services: Services, offered: OfferedService, number: int) -> None:
        self._services, self._offered, self._number = services, offered, number

    def check(self, payload: bytes) -> None:
        """Accept a serialised response.

        Raises:
            Refused: it is none of the type.
        """
        self._offered.response.checked(payload)

    async def close(self) -> None:
        """Offer no longer; the last one ends the service."""
        await self._services.withdraw(self._offered, self._number)


class Services:
    """All services that Unity clients call and offer."""

    def __init__(self, threads: Threads, wait: float, timeout: float) -> None:
        """`wait` [s] is how long a service of ROS may be away, `timeout` [s] how long it may take."""
        self._threads, self._wait, self._timeout = threads, wait, timeout
        self._offered: dict[str, OfferedService] = {}
        self._numbers = count()

    async def connect(self, service: str, type_name: str) -> RosClient:
        """Prepare to call a service.

        Raises:
            Refused: it cannot be.
        """
        client = RosClient(self._threads, self._resolved(service), type_name, self._wait, self._timeout)
        await client.open()
        return client

    async def offer(self, service: str, type_name: str, answerer: Answerer) -> ClientOffer:
        """Offer a service.

        Raises:
            Refused: it cannot be.
        """
        name = self._resolved(service)
        offered = self._offered.get(name)
        if offered is not None and offered.type_name != type_name:
            raise Refused(
                f"Another Unity client offers '{name}' as {offered.type_name}, and this one as {type_name}; "
                'use the same type.'
            )
        is_new = offered is None
        if offered is None:
            offered = self._offered[name] = OfferedService(self._threads, name, type_name)
        number = next(self._numbers)
        offered.answerers[number] = answerer
        if is_new:
            try:
                await self._threads.in_ros(offered.open)
            except BaseException:
                self._offered.pop(name, None)
                raise
        return ClientOffer(self, offered, number)

    async def withdraw(self, offered: OfferedService, number: int) -> None:
        """Offer no longer."""
        offered.answerers.pop(number, None)
        if not offered.answerers and self._offered.get(offered.service) is offered:
            del self._offered[offered.service]
            await offered.close()

    def _resolved(self, service: str) -> str:
        try:
            return str(self._threads.node.resolve_service_name(service))
        except Exception as error:  # of several kinds, by what is wrong with the name
            reason = ' '.join(str(error).split())
            raise Refused(f"'{service}' cannot be the name of a service in ROS ({reason}); rename it.") from error
