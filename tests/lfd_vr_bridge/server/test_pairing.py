from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from lfd_vr_bridge.server.pairing import (
    INVITED_FOR,
    LONGEST_PAUSE,
    MAX_CODES,
    MOST_WRONG,
    WRONG_AN_HOUR,
    WRONG_CODES,
    Pairing,
)
from lfd_vr_bridge.studio.values import Refusal

GUESSER = '192.168.1.7'


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


def guess(pairing: Pairing, address: str) -> str:
    with pytest.raises(Refusal) as refused:
        pairing.pair(wrong(pairing), address)
    return refused.value.code


def test_guessing_gets_longer_pauses(pairing: Pairing, clock: Clock):
    pauses = []
    for _ in range(16):
        for _ in range(WRONG_CODES):
            assert guess(pairing, GUESSER) == 'wrong_code'
        with pytest.raises(Refusal, match=r'in \d+ s') as refused:  # even with the right one
            pairing.pair(pairing.code, GUESSER)
        assert refused.value.code == 'pause'
        pauses.append(float(str(refused.value).split()[-2]))
        clock.now += 2 * LONGEST_PAUSE
    assert pauses == [min(2.0 * 2**number, LONGEST_PAUSE) for number in range(16)]


def test_one_that_guesses_shuts_nobody_else_out(pairing: Pairing, clock: Clock):
    for _ in range(3 * 3600):  # as often as it is allowed to, for hours
        clock.now += 1.0
        guess(pairing, GUESSER)
    assert pairing.knows(pairing.pair(pairing.code, '192.168.1.8'))


def test_many_that_guess_are_hopeless_too(pairing: Pairing, clock: Clock):
    looked_at = 0
    for number in range(24 * 60):
        clock.now += 60.0
        looked_at += sum(guess(pairing, f'10.0.{number % 250}.{each}') == 'wrong_code' for each in range(5))
    assert looked_at <= MOST_WRONG + 24 * WRONG_AN_HOUR
    assert pairing.knows(pairing.pair(pairing.code))  # on the machine itself


def test_a_right_code_forgives(pairing: Pairing):
    for _ in range(WRONG_CODES - 1):
        guess(pairing, GUESSER)
    pairing.pair(pairing.code, GUESSER)
    assert guess(pairing, GUESSER) == guess(pairing, GUESSER) == 'wrong_code'


def test_an_invitation_is_another_code(pairing: Pairing):
    invited = pairing.invite()
    console = pairing.code
    first, second = pairing.pair(invited), pairing.pair(console)
    assert pairing.knows(first)
    assert pairing.knows(second)
    with pytest.raises(Refusal):
        pairing.pair(invited)


def test_an_invitation_is_good_for_a_while_and_few_are(pairing: Pairing, clock: Clock):
    late = pairing.invite()
    clock.now += INVITED_FOR + 1.0
    with pytest.raises(Refusal):
        pairing.pair(late)
    invited = [pairing.invite() for _ in range(MAX_CODES)]
    with pytest.raises(Refusal):
        pairing.pair(invited[0])
    assert all(pairing.knows(pairing.pair(code)) for code in invited[1:])


def test_what_is_taken_out_of_the_file_is_forgotten_at_once(pairing: Pairing, tmp_path: Path):
    file = tmp_path / 'tokens.json'
    first, second = pairing.pair(pairing.code), pairing.pair(pairing.code)
    digests = json.loads(file.read_text())['tokens']
    file.write_text(json.dumps({'tokens': digests[1:]}))
    assert not pairing.knows(first)
    assert pairing.knows(second)
    file.unlink()
    assert not pairing.knows(second)
    third = pairing.pair(pairing.code)
    assert pairing.knows(third)
    assert not pairing.knows(first)
    assert not pairing.knows(second)


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
