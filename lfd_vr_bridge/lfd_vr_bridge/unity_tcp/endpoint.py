"""The server: accepts Unity clients, each with registrations of its own, until it is closed."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from itertools import count

from .commands import note
from .ports import RosPort
from .session import Limits, Session

KEEPALIVE = {'TCP_KEEPIDLE': 10, 'TCP_KEEPINTVL': 5, 'TCP_KEEPCNT': 3}
"""[s], [s], times: after that, a headset whose Wi-Fi is gone counts as gone too."""
MOST_CLIENTS = 64


class UnityEndpoint:
    """Listens on one port; lives in one event loop."""

    def __init__(
        self,
        ros: RosPort,
        log: Callable[[str, str], None],
        limits: Limits | None = None,
        most_clients: int = MOST_CLIENTS,
    ) -> None:
        """`log` is given a level (log, warn or error) and a sentence."""
        self._ros, self._log, self._limits, self._most_clients = ros, log, limits or Limits(), most_clients
        self._server: asyncio.Server | None = None
        self._sessions: set[asyncio.Task[None]] = set()
        self._numbers = count(1)

    @property
    def port(self) -> int:
        """Where it listens; 0 before and after."""
        sockets = self._server.sockets if self._server is not None else ()
        return int(sockets[0].getsockname()[1]) if sockets else 0

    @property
    def clients(self) -> int:
        """How many are connected."""
        return len(self._sessions)

    async def start(self, host: str, port: int) -> None:
        """Listen; a port of 0 is any free one.

        Raises:
            OSError: the address cannot be used.
        """
        self._server = await asyncio.start_server(self._on_client, host, port)

    async def close(self) -> None:
        """Part from all clients and stop listening."""
        if self._server is not None:
            self._server.close()
        for task in list(self._sessions):
            task.cancel()
        await asyncio.gather(*self._sessions, return_exceptions=True)
        if self._server is not None:
            await self._server.wait_closed()
            self._server = None

    def _on_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, port, *_ = writer.get_extra_info('peername') or ('?', 0)
        name = f'Unity client {next(self._numbers)} ({host}:{port})'
        if len(self._sessions) >= self._most_clients:
            text = f'{self._most_clients} Unity clients are connected already; disconnect one.'
            self._log('warn', f'{name} is turned away. {text}')
            writer.writelines(note('error', text))
            writer.close()
            return
        _set_options(writer.get_extra_info('socket'))
        session = Session(name, reader, writer, self._ros, self._limits, self._log)
        task = asyncio.ensure_future(self._serve(session))
        self._sessions.add(task)
        task.add_done_callback(self._sessions.discard)

    async def _serve(self, session: Session) -> None:
        self._log('log', f'{session.name} is connected.')
        await session.run()
        self._log('log', f'{session.name} is gone.')


def _set_options(connection: socket.socket) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in KEEPALIVE.items():
        if hasattr(socket, name):  # not on every system
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
