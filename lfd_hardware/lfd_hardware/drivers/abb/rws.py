"""Robot Web Services: what the controller tells and takes over HTTP.

RobotWare 6 speaks version 1.0 (HTTP, digest authentication, session cookies, ``?json=1``), RobotWare 7 version 2.0
(HTTPS, basic authentication, ``hal+json``). They differ in addresses and in the wrapping of the answers; a `Dialect`
holds that.
Angles are in deg here, as on the wire.

The client keeps one connection open, since a controller allows few sessions, and asks one thing at a time; any thread
may use it. Answers are checked and limited in size: whatever comes, the outcome is a value or an RwsError.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import http.client
import json
import re
import secrets
import socket
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from lfd_description.urdf import finite_number
from lfd_hardware.drivers.driver import DriverError

MAX_ANSWER = 1 << 20  # [bytes]
AXES = tuple(f'rax_{axis}' for axis in range(1, 7))
START = {
    'regain': 'continue',
    'execmode': 'continue',
    'cycle': 'once',
    'condition': 'none',
    'stopatbp': 'disabled',
    'alltaskbytsp': 'false',
}


class RwsError(DriverError):
    """The controller cannot be asked, or refused; the message is one sentence."""


class RwsRefused(RwsError):
    """The controller understood and said no: HTTP ``status``, and RobotWare's own ``code`` if it gave one."""

    def __init__(self, sentence: str, status: int, code: int | None) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code


@dataclass(frozen=True)
class Dialect:
    """Where a version of RWS has what."""

    version: int
    secure: bool
    ctrlstate: str
    set_ctrlstate: str
    start: str
    stop: str
    reset: str
    query: str  # of every request
    headers: Mapping[str, str]


DIALECTS = {
    1: Dialect(
        version=1,
        secure=False,
        ctrlstate='/rw/panel/ctrlstate',
        set_ctrlstate='/rw/panel/ctrlstate?action=setctrlstate',
        start='/rw/rapid/execution?action=start',
        stop='/rw/rapid/execution?action=stop',
        reset='/rw/rapid/execution?action=resetpp',
        query='json=1',
        headers={'Content-Type': 'application/x-www-form-urlencoded'},
    ),
    2: Dialect(
        version=2,
        secure=True,
        ctrlstate='/rw/panel/ctrl-state',
        set_ctrlstate='/rw/panel/ctrl-state',
        start='/rw/rapid/execution/start?mastership=implicit',
        stop='/rw/rapid/execution/stop',
        reset='/rw/rapid/execution/resetpp?mastership=implicit',
        query='',
        headers={
            'Accept': 'application/hal+json;v=2.0',
            'Content-Type': 'application/x-www-form-urlencoded;v=2.0',
        },
    ),
}


@dataclass(frozen=True)
class Account:
    """Who asks."""

    user: str
    password: str


@dataclass(frozen=True)
class Panel:
    """What the controller's front says, in RobotWare's words."""

    ctrlstate: str  # motoron, motoroff, guardstop, emergencystop, emergencystopreset, sysfail, init
    opmode: str  # AUTO, MANR, MANF ...
    execution: str  # running, stopped


class RwsClient:
    """A session with one controller."""

    def __init__(
        self, host: str, port: int, version: int, account: Account, timeout: float, certificate: str = ''
    ) -> None:
        self._dialect = DIALECTS[version]
        self.where = f'{"https" if self._dialect.secure else "http"}://{host}:{port}'
        self._host, self._port = host, port
        self._account = account
        self._timeout = timeout  # [s] of a connection, and of an answer
        self._certificate = certificate
        self._lock = threading.Lock()
        self._connection: http.client.HTTPConnection | None = None
        self._cookies: dict[str, str] = {}
        self._challenge: DigestChallenge | None = None
        self._closed = False

    def panel(self) -> Panel:
        """The state of motors and safety, the mode, and whether a program runs."""
        return Panel(self.ctrlstate(), self.opmode(), self.execution())

    def ctrlstate(self) -> str:
        """The state of motors and safety."""
        return self._text(self._dialect.ctrlstate, 'ctrlstate')

    def opmode(self) -> str:
        """The operating mode."""
        return self._text('/rw/panel/opmode', 'opmode')

    def execution(self) -> str:
        """Whether RAPID runs."""
        return self._text('/rw/rapid/execution', 'ctrlexecstate')

    def joints(self, unit: str) -> tuple[float, ...]:
        """Where the axes of a mechanical unit are [deg]."""
        path = f'/rw/motionsystem/mechunits/{unit}/jointtarget'
        state = self._state(path)
        values = tuple(finite_number(str(state.get(axis, ''))) for axis in AXES)
        known = tuple(value for value in values if value is not None)
        if len(known) != len(AXES):
            raise RwsError(f'The ABB controller at {self.where} gave no joint angles at {path}: {str(state)[:200]}.')
        return known

    def motors_on(self) -> None:
        """Switch the motors on."""
        self._post(self._dialect.set_ctrlstate, {'ctrl-state': 'motoron'})

    def reset_program(self) -> None:
        """Set the program pointer to main."""
        self._post(self._dialect.reset, {})

    def start_program(self) -> None:
        """Run RAPID from the program pointer."""
        self._post(self._dialect.start, START)

    def stop_program(self) -> None:
        """Stop RAPID, and the arm with it."""
        extra = {'usetsp': 'normal'} if self._dialect.version == 2 else {}
        self._post(self._dialect.stop, {'stopmode': 'stop', **extra})

    def hurry(self, timeout: float) -> None:
        """From now on, wait no longer than this for an answer [s]."""
        self._timeout = min(self._timeout, timeout)
        connection = self._connection
        if connection is not None and connection.sock is not None:
            connection.sock.settimeout(self._timeout)

    def interrupt(self) -> None:
        """Let a request that is under way in another thread fail."""
        connection = self._connection
        sock = None if connection is None else connection.sock
        if self._lock.locked() and sock is not None:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the session, so that the controller can forget it; nothing can be asked afterwards."""
        with self._lock:
            with contextlib.suppress(RwsError):  # without it the session ends by itself some minutes later
                if self._connection is not None and self._cookies:
                    self._ask('GET', '/logout', None)
            self._disconnect()
            self._closed = True

    def _text(self, path: str, key: str) -> str:
        value = self._state(path).get(key)
        if not isinstance(value, str):
            raise RwsError(
                f"The ABB controller at {self.where} gave no '{key}' at {path}: "
                'check that rws_version fits its RobotWare (1 for RobotWare 6, 2 for RobotWare 7).'
            )
        return value

    def _state(self, path: str) -> dict[str, object]:
        """The first state of a resource."""
        with self._lock:
            status, body = self._ask('GET', path, None)
        document = _json(body)
        if status != 200:
            raise self._refusal('GET', path, status, document)
        wrapped = _member(document, '_embedded', '_state') if self._dialect.version == 1 else _member(document, 'state')
        first = wrapped[0] if isinstance(wrapped, list) and wrapped else None
        return first if isinstance(first, dict) else {}

    def _post(self, path: str, form: Mapping[str, str]) -> None:
        with self._lock:
            status, body = self._ask('POST', path, urlencode(form))
        if status not in (200, 201, 202, 204):
            raise self._refusal('POST', path, status, _json(body))

    def _refusal(self, method: str, path: str, status: int, document: object) -> RwsRefused:
        answer = _member(document, '_embedded', 'status') if self._dialect.version == 1 else _member(document, 'status')
        code, said = _member(answer, 'code'), _member(answer, 'msg')
        number = code if isinstance(code, int) else None
        what = f'The ABB controller at {self.where} refused {method} {path}'
        if status == 401:
            fix = f"it does not know the user '{self._account.user}' or the password: correct rws_user and rws_password"
        elif status == 503:
            fix = 'it has too many sessions: close other clients or wait some minutes'
        else:
            fix = f'HTTP {status}, code {number}' + (f', {str(said)[:200]}' if said else '')
        return RwsRefused(f'{what}: {fix}.', status, number)

    def _ask(self, method: str, path: str, body: str | None) -> tuple[int, bytes]:
        """Ask, and once more if the controller wants to know who asks."""
        if self._closed:
            raise RwsError(f'The connection to the ABB controller at {self.where} was closed: configure the hardware.')
        if self._dialect.query:
            path = f'{path}{"&" if "?" in path else "?"}{self._dialect.query}'
        status, content, challenge = self._exchange(method, path, body)
        if status == 401 and challenge is not None:
            self._challenge = challenge
            status, content, _ = self._exchange(method, path, body)
        return status, content

    def _exchange(self, method: str, path: str, body: str | None) -> tuple[int, bytes, DigestChallenge | None]:
        """One request and its answer; on a connection that the controller closed meanwhile, once more on a new one."""
        kept = self._connection is not None
        try:
            return self._send(method, path, body)
        except (http.client.RemoteDisconnected, ConnectionError) as error:
            self._disconnect()
            if not kept:
                raise self._unreachable(error) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._disconnect()
            raise self._unreachable(error) from None
        try:
            return self._send(method, path, body)
        except (OSError, http.client.HTTPException, ValueError) as error:
            self._disconnect()
            raise self._unreachable(error) from None

    def _send(self, method: str, path: str, body: str | None) -> tuple[int, bytes, DigestChallenge | None]:
        if self._connection is None:
            self._connection = self._connect()
        self._connection.request(method, path, body, self._headers(method, path))
        answer = self._connection.getresponse()
        content = answer.read(MAX_ANSWER + 1)
        if len(content) > MAX_ANSWER:
            raise http.client.HTTPException(f'an answer of more than {MAX_ANSWER} bytes')
        self._keep_cookies(answer.msg.get_all('Set-Cookie', []))
        if answer.will_close:
            self._disconnect()
        return answer.status, content, DigestChallenge.parse(answer.getheader('WWW-Authenticate', ''))

    def _connect(self) -> http.client.HTTPConnection:
        if not self._dialect.secure:
            return http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
        context = ssl.create_default_context(cafile=self._certificate or None)
        context.check_hostname = False  # controllers are addressed by number, and their certificates name none
        if not self._certificate:
            context.verify_mode = ssl.CERT_NONE
        return http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout, context=context)

    def _headers(self, method: str, path: str) -> dict[str, str]:
        headers = dict(self._dialect.headers)
        if self._cookies:
            headers['Cookie'] = '; '.join(f'{name}={value}' for name, value in self._cookies.items())
        if self._dialect.version == 2:
            pair = f'{self._account.user}:{self._account.password}'.encode()
            headers['Authorization'] = f'Basic {base64.b64encode(pair).decode()}'
        elif self._challenge is not None:
            headers['Authorization'] = self._challenge.answer(self._account, method, path)
        return headers

    def _keep_cookies(self, lines: list[str]) -> None:
        for line in lines:
            name, _, value = line.split(';', 1)[0].partition('=')
            if name.strip() and len(self._cookies) < 16:
                self._cookies[name.strip()] = value.strip()

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _unreachable(self, error: Exception) -> RwsError:
        reason = str(error) or type(error).__name__
        return RwsError(
            f'The ABB controller at {self.where} does not answer ({reason}): check that it is on, its cable, and '
            'rws_ip, rws_port and rws_version.'
        )


@dataclass
class DigestChallenge:
    """The controller's question of RFC 7616 (MD5), and the answers to it."""

    realm: str
    nonce: str
    opaque: str
    with_qop: bool
    count: int = 0

    @staticmethod
    def parse(header: str) -> DigestChallenge | None:
        """Read a WWW-Authenticate header; None when it asks for no digest that is known here."""
        kind, _, rest = header.partition(' ')
        values = {key.lower(): quoted or plain for key, quoted, plain in _PAIRS.findall(rest)}
        if kind.lower() != 'digest' or 'nonce' not in values or values.get('algorithm', 'MD5').upper() != 'MD5':
            return None
        qop = 'auth' in [each.strip() for each in values.get('qop', '').split(',')]
        return DigestChallenge(values.get('realm', ''), values['nonce'], values.get('opaque', ''), qop)

    def answer(self, account: Account, method: str, path: str) -> str:
        """The Authorization header of a request."""
        self.count += 1
        secret = _md5(f'{account.user}:{self.realm}:{account.password}')
        asked = _md5(f'{method}:{path}')
        parts = {'username': account.user, 'realm': self.realm, 'nonce': self.nonce, 'uri': path}
        plain = {'algorithm': 'MD5'}
        if self.with_qop:
            number, own = f'{self.count:08x}', secrets.token_hex(8)
            parts['response'] = _md5(f'{secret}:{self.nonce}:{number}:{own}:auth:{asked}')
            parts['cnonce'] = own
            plain |= {'qop': 'auth', 'nc': number}
        else:
            parts['response'] = _md5(f'{secret}:{self.nonce}:{asked}')
        if self.opaque:
            parts['opaque'] = self.opaque
        quoted = [f'{key}="{value}"' for key, value in parts.items()]
        return f'Digest {", ".join(quoted + [f"{key}={value}" for key, value in plain.items()])}'


_PAIRS = re.compile(r'(\w+)\s*=\s*(?:"([^"]*)"|([^\s,"]+))')


def _md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _json(body: bytes) -> object:
    try:
        return json.loads(body) if body else None
    except (ValueError, RecursionError):
        return None


def _member(document: object, *keys: str) -> object:
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
    return document
