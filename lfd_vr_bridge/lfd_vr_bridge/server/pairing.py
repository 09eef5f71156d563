"""Who may talk to the bridge: codes that are good for one pairing, and tokens that a paired device keeps.

A code is six digits, shown where only the robot's owner looks. Whoever sends five wrong ones has to pause, twice as
long each time; others need not wait for that. All devices of the network together have a bounded number of wrong codes,
so that guessing takes years however many take part. Of tokens only digests are kept, in a file; to delete it, while the
bridge runs or not, ends all pairings.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import json
import secrets
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from lfd_description.files import write_atomically

from ..studio.values import Refusal
from .pace import Allowance

DIGITS = 6
WRONG_CODES = 5  # from one address, before it has to pause
FIRST_PAUSE = 2.0  # [s]
LONGEST_PAUSE = 4 * 3600.0  # [s]
MOST_WRONG = 100  # codes from all of the network at once ...
WRONG_AN_HOUR = 20.0  # ... and in the long run: one address alone sends fewer, so that it cannot shut others out
MOST_ADDRESSES = 1024  # that are remembered
MAX_TOKENS = 256  # the oldest is forgotten then
MAX_CODES = 8  # that are good at the same time
INVITED_FOR = 600.0  # [s] that an invitation is good

_Stamp = tuple[int, int, int] | None
"""By which a file is told from an earlier one; None: there is none."""


@dataclass
class _Guesses:
    """What one address has sent of wrong codes."""

    wrong: int = 0
    pauses: int = 0
    closed_until: float = 0.0
    """[s]"""


class Pairing:
    """Codes and tokens of one bridge.

    Args:
        file: where digests of tokens are kept; made readable for its owner alone.
        show: told each new code that the console is to show.
        now: a clock [s] that never goes back.
    """

    def __init__(self, file: Path, show: Callable[[str], None], now: Callable[[], float]) -> None:
        self._file = file
        self._show = show
        self._now = now
        self._stamp = _stamp(file)
        self._digests = _read(file)
        self._guesses: OrderedDict[str, _Guesses] = OrderedDict()
        self._network = Allowance(WRONG_AN_HOUR / 3600.0, MOST_WRONG, now())
        self._invitations: dict[str, float] = {}
        self._shown = _new_code()
        show(self._shown)

    @property
    def code(self) -> str:
        """The code that the console shows."""
        return self._shown

    def invite(self) -> str:
        """A further code, for another device, good for a while; the console's stays good."""
        code = _new_code()
        known = list(self._invitations.items())[2 - MAX_CODES :]
        self._invitations = {**dict(known), code: self._now() + INVITED_FOR}
        return code

    def pair(self, code: str, address: str = '127.0.0.1') -> str:
        """A token for a code, which is used up with it; `address` is the IP address that it came from.

        Raises:
            Refusal: the code is wrong or used, or there were too many wrong ones.
        """
        self._refuse_guessers(address)
        now, given = self._now(), code.encode()
        self._invitations = {each: until for each, until in self._invitations.items() if until > now}
        # All are compared in any case, so that the time taken tells nothing.
        found = [each for each in (self._shown, *self._invitations) if hmac.compare_digest(each.encode(), given)]
        if not found:
            self._count_wrong(address)
            raise Refusal('wrong_code', 'This code is wrong or was used already; read the one that the console shows.')
        self._guesses.pop(address, None)
        if found[0] == self._shown:
            self._shown = _new_code()
            self._show(self._shown)
        else:
            del self._invitations[found[0]]
        return self._new_token()

    def knows(self, token: str) -> bool:
        """Whether a token was given out here, and the file still has it."""
        self._follow_file()
        if not token.isascii():  # none of ours
            return False
        digest = _digest(token)
        return sum(hmac.compare_digest(digest, each) for each in self._digests) > 0  # all, so that time tells nothing

    def _refuse_guessers(self, address: str) -> None:
        guesses = self._guesses.get(address)
        pause = 0.0 if guesses is None else guesses.closed_until - self._now()
        if not _is_own(address):
            pause = max(pause, self._network.wait(self._now()))
        if pause > 0.0:
            raise Refusal('pause', f'There were too many wrong codes; try the newest code in {pause:.0f} s.')

    def _count_wrong(self, address: str) -> None:
        if not _is_own(address):
            self._network.take(self._now())
        guesses = self._guesses.setdefault(address, _Guesses())
        self._guesses.move_to_end(address)
        while len(self._guesses) > MOST_ADDRESSES:
            self._guesses.popitem(last=False)
        guesses.wrong += 1
        if guesses.wrong >= WRONG_CODES:
            guesses.wrong = 0
            guesses.closed_until = self._now() + min(FIRST_PAUSE * 2.0**guesses.pauses, LONGEST_PAUSE)
            guesses.pauses += 1

    def _follow_file(self) -> None:
        """Forget what somebody has taken out of the file."""
        stamp = _stamp(self._file)
        if stamp != self._stamp:
            self._stamp, self._digests = stamp, _read(self._file)

    def _new_token(self) -> str:
        self._follow_file()
        token = secrets.token_urlsafe(32)
        self._digests = [*self._digests, _digest(token)][-MAX_TOKENS:]
        write_atomically(self._file, json.dumps({'tokens': self._digests}, indent=1), mode=0o600)
        self._stamp = _stamp(self._file)
        return token


def _new_code() -> str:
    return f'{secrets.randbelow(10**DIGITS):0{DIGITS}d}'


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _read(file: Path) -> list[str]:
    """The digests in a file; one that is missing or damaged means that all devices pair anew."""
    try:
        data = json.loads(file.read_text(encoding='utf-8'))
    except (OSError, ValueError):
        return []
    tokens = data.get('tokens') if isinstance(data, dict) else None
    return [each for each in tokens if isinstance(each, str) and each.isascii()] if isinstance(tokens, list) else []


def _stamp(file: Path) -> _Stamp:
    with suppress(OSError):
        status = file.stat()
        return status.st_ino, status.st_mtime_ns, status.st_size
    return None


def _is_own(address: str) -> bool:
    """Whether an address is this machine's own, which is not of the network."""
    with suppress(ValueError):
        return ipaddress.ip_address(address).is_loopback
    return False
