from __future__ import annotations

import stat
from pathlib import Path

import pytest

from lfd_vr_bridge.server.pairing import LONGEST_PAUSE, WRONG_CODES, Pairing
from lfd_vr_bridge.studio.values import Refusal


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def shown() -> list[str]:
    return []


@pytest.fixture
def pairing(tmp_path: Path, clock: Clock, shown: list[str]) -> Pairing:
    return Pairing(tmp_path / 'tokens.json', shown.append, clock)


def wrong(pairing: Pairing) -> str:
    return f'{(int(pairing.code) + 1) % 10**6:06d}'


def test_a_code_pairs_once(pairing: Pairing, shown: list[str]):
    code = pairing.code
    token = pairing.pair(code)
    assert pairing.knows(token)
    assert shown == [code, pairing.code]
    with pytest.raises(Refusal) as refused:
        pairing.pair(code)
    assert refused.value.code == 'wrong_code'


def test_guessing_gets_new_codes_and_longer_pauses(pairing: Pairing, clock: Clock, shown: list[str]):
    pauses = []
    for _ in range(14):
        code = pairing.code
        for _ in range(WRONG_CODES):
            with pytest.raises(Refusal, match='wrong or was used'):
                pairing.pair(wrong(pairing))
        assert pairing.code != code
        assert shown[-1] == pairing.code
        with pytest.raises(Refusal) as refused:  # even with the right one
            pairing.pair(pairing.code)
        assert refused.value.code == 'pause'
        began = clock.now
        while True:
            clock.now += 1.0
            try:
                pairing.pair(wrong(pairing))
            except Refusal as refusal:
                if refusal.code != 'pause':
                    break
        pauses.append(clock.now - began)
        for _ in range(WRONG_CODES - 1):
            with pytest.raises(Refusal):
                pairing.pair(wrong(pairing))
        clock.now += 2 * LONGEST_PAUSE
    assert pauses == sorted(pauses)
    assert pauses[-1] >= LONGEST_PAUSE


def test_an_invitation_is_another_code(pairing: Pairing):
    invited = pairing.invite()
    console = pairing.code
    first, second = pairing.pair(invited), pairing.pair(console)
    assert pairing.knows(first)
    assert pairing.knows(second)
    with pytest.raises(Refusal):
        pairing.pair(invited)


def test_tokens_are_kept_hashed_and_for_the_owner_alone(pairing: Pairing, tmp_path: Path, clock: Clock):
    file = tmp_path / 'tokens.json'
    token = pairing.pair(pairing.code)
    assert token not in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    again = Pairing(file, lambda code: None, clock)
    assert again.knows(token)
    assert not again.knows(token + 'x')
    assert not again.knows('')


@pytest.mark.parametrize('damaged', ['', '{', '[]', '{"tokens": 3}', '{"tokens": [3, "é"]}', '\0' * 10])
def test_a_damaged_file_of_tokens_means_pairing_anew(tmp_path: Path, clock: Clock, damaged: str):
    file = tmp_path / 'tokens.json'
    file.write_text(damaged)
    pairing = Pairing(file, lambda code: None, clock)
    assert not pairing.knows('anything')
    assert pairing.knows(pairing.pair(pairing.code))
