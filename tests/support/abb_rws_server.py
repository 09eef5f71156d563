"""Robot Web Services of a simulated controller: 1.0 (HTTP, digest, cookies) or 2.0 (HTTPS, basic)."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import itertools
import json
import re
import secrets
import socket
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from support.abb_controller import AbbController, Refused

CERTIFICATE = Path(__file__).with_name('abb_certificate.pem')
REALM = 'validusers@robapi.abb'
MAX_SESSIONS = 70


class RwsServer(ThreadingHTTPServer):
    """One controller's web server on localhost; ``version`` is that of RWS."""

    daemon_threads = False  # so that closing joins them

    def __init__(self, controller: AbbController, version: int, port: int = 0) -> None:
        super().__init__(('127.0.0.1', port), RwsHandler)
        self.controller = controller
        self.version = version
        self.user, self.password = 'Default User', 'robotics'
        self.nonce = secrets.token_hex(16)
        self.sessions: set[str] = set()
        self.asked: list[str] = []  # method and path of everything that was asked
        self.override: Callable[[RwsHandler], bool] | None = None  # answers instead, if it returns True
        self._numbers = itertools.count(1)
        self._open: set[socket.socket] = set()
        if version == 2:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(CERTIFICATE)
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = threading.Thread(target=self.serve_forever, args=(0.02,), name='rws_server', daemon=True)

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """End like a controller that loses its power: also open connections."""
        self.shutdown()
        self.hang_up()
        self.server_close()
        self._thread.join()

    def hang_up(self) -> None:
        """Close the connections that clients keep open."""
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def expire_logons(self) -> None:
        """Let clients prove anew who they are."""
        self.nonce = secrets.token_hex(16)

    def new_session(self) -> str:
        number = f'{next(self._numbers)}::http.session::{secrets.token_hex(8)}'
        self.sessions.add(number)
        return number

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request_thread(request, client_address)
        self._open.discard(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that went away


class RwsHandler(BaseHTTPRequestHandler):
    """A connection."""

    protocol_version = 'HTTP/1.1'
    server: RwsServer
    timeout = 30.0
    wbufsize = 65536  # an answer leaves in one piece

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        address = urlsplit(self.path)
        self.query = {key: values[-1] for key, values in parse_qs(address.query).items()}
        self.form = {key: values[-1] for key, values in parse_qs(body.decode()).items()}
        self.cookies: list[str] = []
        self.server.asked.append(f'{self.command} {self.path}')
        if self.server.override is not None and self.server.override(self):
            return
        if not self._is_known():
            challenge = f'Digest realm="{REALM}", domain="127.0.0.1:80", nonce="{self.server.nonce}", qop="auth", '
            challenge += 'opaque="", algorithm=MD5'
            basic = f'Basic realm="{REALM}"'
            self.answer(401, None, {'WWW-Authenticate': challenge if self.server.version == 1 else basic})
        elif not self._has_session():
            self.answer(503)
        else:
            self._route(address.path.rstrip('/'))

    def _is_known(self) -> bool:
        header = self.headers.get('Authorization', '')
        if self.server.version == 2:
            pair = f'{self.server.user}:{self.server.password}'.encode()
            return header == f'Basic {base64.b64encode(pair).decode()}'
        said = {key: quoted or plain for key, quoted, plain in re.findall(r'(\w+)=(?:"([^"]*)"|([^\s,]+))', header)}
        secret = _md5(f'{self.server.user}:{REALM}:{self.server.password}')
        asked = _md5(f'{self.command}:{self.path}')
        proof = f'{secret}:{self.server.nonce}:{said.get("nc")}:{said.get("cnonce")}:auth:{asked}'
        return said.get('uri') == self.path and said.get('response') == _md5(proof)

    def _has_session(self) -> bool:
        name = '-http-session-'
        cookies = dict(each.strip().partition('=')[::2] for each in self.headers.get('Cookie', '').split(';'))
        if cookies.get(name) in self.server.sessions:
            self.session = cookies[name]
            return True
        if len(self.server.sessions) >= MAX_SESSIONS:
            return False
        self.session = self.server.new_session()
        self.cookies = [
            f'{name}={self.session}; path=/; httponly',
            f'ABBCX={len(self.server.sessions)}; path=/; httponly',
        ]
        return True

    def _route(self, path: str) -> None:
        kind = self.headers.get('Content-Type')
        if self.server.version == 2 and self.command == 'POST' and kind != 'application/x-www-form-urlencoded;v=2.0':
            return self.answer(415)
        if self.server.version == 2 and 'hal+json;v=2.0' not in self.headers.get('Accept', ''):
            return self.answer(406)
        try:
            found = self._get(path) if self.command == 'GET' else self._post(path)
        except Refused as refused:
            status = {'code': refused.code, 'msg': f'rws_resource.cpp[100] {refused} code:{refused.code} icode:-1'}
            wrapped = {'_embedded': {'status': status}} if self.server.version == 1 else {'status': status}
            return self.answer(refused.status, wrapped)
        if not found:
            self.answer(404, {'_embedded': {'status': {'code': -1073414146, 'msg': 'not found'}}})

    def _get(self, path: str) -> bool:
        c = self.server.controller
        first = self.server.version == 1
        axes = {f'rax_{index + 1}': f'{angle:.6g}' for index, angle in enumerate(c.joints)}
        task = {'name': 'T_ROB1', 'type': 'norm', 'taskstate': 'link', 'active': 'On', 'motiontask': 'TRUE'}
        execution = 'running' if c.running else 'stopped'
        states: dict[str, dict[str, str]] = {
            '/rw/panel/ctrlstate' if first else '/rw/panel/ctrl-state': {
                '_type': 'pnl-ctrlstate',
                'ctrlstate': c.ctrlstate,
            },
            '/rw/panel/opmode': {'_type': 'pnl-opmode', 'opmode': c.opmode},
            '/rw/panel/speedratio': {'_type': 'pnl-speedratio', 'speedratio': '100'},
            '/rw/rapid/execution': {'_type': 'rap-execution', 'ctrlexecstate': execution, 'cycle': 'once'},
            '/rw/rapid/tasks': {'_type': 'rap-task-li', **task, 'excstate': 'started' if c.running else 'stopped'},
            '/rw/motionsystem/mechunits/ROB_1/jointtarget': {
                '_type': 'ms-jointtarget',
                **axes,
                **{f'eax_{letter}': '9E+09' for letter in 'abcdef'},
            },
        }
        if path == '/logout':
            self.server.sessions.discard(self.session)
            self.answer(200, {'_links': {}})
        elif path in states:
            state = [states[path]]
            self.answer(200, {'_links': {}, **({'_embedded': {'_state': state}} if first else {'state': state})})
        return path == '/logout' or path in states

    def _post(self, path: str) -> bool:
        c = self.server.controller
        action = self.query.get('action', '') if self.server.version == 1 else ''
        implicit = self.server.version == 1 or self.query.get('mastership') == 'implicit'
        what = f'{path}?{action}' if action else path
        if what in ('/rw/panel/ctrlstate?setctrlstate', '/rw/panel/ctrl-state'):
            if self.form.get('ctrl-state') not in ('motoron', 'motoroff'):
                raise Refused(400, -1073445879, 'invalid argument')
            c.motors_on() if self.form['ctrl-state'] == 'motoron' else c.motors_off()
        elif what in ('/rw/rapid/execution?start', '/rw/rapid/execution/start') and implicit:
            if {'regain', 'execmode', 'cycle', 'condition', 'stopatbp', 'alltaskbytsp'} - self.form.keys():
                raise Refused(400, -1073445879, 'invalid argument')
            c.start_program()
        elif what in ('/rw/rapid/execution?stop', '/rw/rapid/execution/stop'):
            c.stop_program()
        elif what in ('/rw/rapid/execution?resetpp', '/rw/rapid/execution/resetpp') and implicit:
            c.reset_program()
        elif what not in ('/rw/mastership?request', '/rw/mastership?release', '/rw/rapid/tasks/T_ROB1?activate'):
            return False
        elif c.mastered:
            raise Refused(403, -1073445862, 'resource is held by someone else')
        self.answer(204)
        return True

    def answer(self, status: int, document: object = None, headers: dict[str, str] | None = None) -> None:
        """Send an answer; also for tests that answer themselves."""
        content = b'' if document is None else json.dumps(document).encode()
        kind = 'application/json' if self.server.version == 1 else 'application/hal+json;v=2.0'
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        for cookie in self.cookies:
            self.send_header('Set-Cookie', cookie)
        self.send_header('Content-Type', kind)
        if status != 204:
            self.send_header('Content-Length', str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()
