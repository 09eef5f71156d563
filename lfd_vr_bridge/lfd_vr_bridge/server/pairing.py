"""Who may talk to the bridge: codes that are good for one pairing, and tokens that a paired device keeps.

A code is six digits, shown where only the robot's owner looks. After five wrong ones there is a new code and a pause
that doubles each time, so that guessing takes years. Of tokens only digests are kept on disk.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Callable
from pathlib import Path

from lfd_description.files import write_atomically

from ..studio.values import Refusal

DIGITS = 6
WRONG_CODES = 5  # before there is a new code
FIRST_PAUSE = 2.0  # [s]
LONGEST_PAUSE = 900.0  # [s]
MAX_TOKENS = 256  # the oldest is forgotten then
MAX_CODES = 8  # that are good at the same time


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
        self._digests = _read(file)
        self._wrong = 0
        self._pauses = 0
        self._closed_until = 0.0
        self._invitations: list[str] = []
        self._shown = _new_code()
        show(self._shown)

    @property
    def code(self) -> str:
        """The code that the console shows."""
        return self._shown

    def invite(self) -> str:
        """A further code, for another device; the console's stays good."""
        code = _new_code()
        self._invitations = [*self._invitations, code][1 - MAX_CODES :]
        return code

    def pair(self, code: str) -> str:
        """A token for a code, which is used up with it.

        Raises:
            Refusal: the code is wrong or used, or there were too many wrong ones.
        """
        pause = self._closed_until - self._now()
        if pause > 0.0:
            raise Refusal('pause', f'There were too many wrong codes; try the newest code in {pause:.0f} s.')
        given = code.encode()
        # All are compared in any case, so that the time taken tells nothing.
        found = [each for each in (self._shown, *self._invitations) if hmac.compare_digest(each.encode(), given)]
        if not found:
            self._count_wrong()
            raise Refusal('wrong_code', 'This code is wrong or was used already; read the one that the console shows.')
        self._wrong = self._pauses = 0
        if found[0] == self._shown:
            self._renew()
        else:
            self._invitations.remove(found[0])
        return self._new_token()

    def knows(self, token: str) -> bool:
        """Whether a token was given out here."""
        digest = _digest(token)
        return sum(hmac.compare_digest(digest, each) for each in self._digests) > 0  # all, so that time tells nothing

    def _count_wrong(self) -> None:
        self._wrong += 1
        if self._wrong < WRONG_CODES:
            return
        self._wrong = 0
        self._closed_until = self._now() + min(FIRST_PAUSE * 2.0**self._pauses, LONGEST_PAUSE)
        self._pauses += 1
        self._invitations = []
        self._renew()

    def _renew(self) -> None:
        self._shown = _new_code()
        self._show(self._shown)

    def _new_token(self) -> str:
        token = secrets.token_urlsafe(32)
        self._digests = [*self._digests, _digest(token)][-MAX_TOKENS:]
        write_atomically(self._file, json.dumps({'tokens': self._digests}, indent=1), mode=0o600)
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
