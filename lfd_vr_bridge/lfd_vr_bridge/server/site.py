"""A listening socket whose connections must speak soon, and are not too many."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl

from aiohttp import web
from aiohttp.web_protocol import RequestHandler

MAX_CONNECTIONS = 256
FIRST_WORD = 10.0  # [s] for a connection's first request


class PortTaken(Exception):
    """Somebody listens there already; the message says what to do."""


class Site(web.BaseSite):
    """aiohttp waits for ever for a connection's first request, and takes as many connections as come; this does not."""

    def __init__(
        self,
        runner: web.AppRunner,
        listening: socket.socket,
        silent: set[RequestHandler],
        *,
        context: ssl.SSLContext | None = None,
        first_word: float = FIRST_WORD,
    ) -> None:
        super().__init__(runner, ssl_context=context)
        self._socket = listening
        self._silent = silent
        self._first_word = first_word

    @property
    def name(self) -> str:
        """Its address."""
        host, port = self._socket.getsockname()[:2]
        return f'{"https" if self._ssl_context else "http"}://{host}:{port}'

    async def start(self) -> None:
        """Listen."""
        await super().start()
        self._server = await asyncio.get_running_loop().create_server(
            self._protocol,
            sock=self._socket,
            ssl=self._ssl_context,
            ssl_handshake_timeout=self._first_word if self._ssl_context else None,
        )

    def _protocol(self) -> asyncio.Protocol:
        server = self._runner.server
        assert server is not None, 'start the runner before its sites'
        if len(server.connections) >= MAX_CONNECTIONS:
            return _Refusing()
        handler = server()
        self._silent.add(handler)
        asyncio.get_running_loop().call_later(self._first_word, self._end_if_silent, handler)
        return handler

    def _end_if_silent(self, handler: RequestHandler) -> None:
        if handler in self._silent:
            self._silent.discard(handler)
            handler.force_close()


class _Refusing(asyncio.Protocol):
    """One connection too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens; port 0 is any free one.

    Raises:
        PortTaken: the port is not to be had.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)
    except (OSError, OverflowError) as error:
        listening.close()
        raise PortTaken(_reason(port, error)) from None
    return listening


def _reason(port: int, error: OSError | OverflowError) -> str:
    code = error.errno if isinstance(error, OSError) else None
    if code == errno.EADDRINUSE:
        return f'Port {port} is taken, perhaps by another bridge; end that, or choose another port.'
    if code == errno.EACCES:
        return f'Port {port} is for the system only; choose one above 1023.'
    return f'Port {port} cannot be listened on ({error}); choose another port.'
