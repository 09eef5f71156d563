from __future__ import annotations

import ipaddress
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lfd_vr_bridge.server import certificate
from lfd_vr_bridge.server.certificate import lan_addresses, own_certificate, own_names

NAMES = ('localhost', '127.0.0.1', '::1', 'cell', '192.168.1.7')


def test_the_key_is_the_owners_alone(tmp_path: Path):
    made = own_certificate(tmp_path, NAMES)
    assert made.names == NAMES
    assert stat.S_IMODE(made.key.stat().st_mode) == 0o600


def test_what_was_accepted_once_stays(tmp_path: Path):
    """A browser remembers the very certificate, so that there is a new one only if there must be."""
    first = own_certificate(tmp_path, NAMES)
    assert own_certificate(tmp_path, NAMES) == first
    assert own_certificate(tmp_path, NAMES[:3]) == first
    moved = own_certificate(tmp_path, (*NAMES[:4], '10.0.0.3'))
    assert set(moved.names) == {*NAMES, '10.0.0.3'}
    assert moved.fingerprint != first.fingerprint
    assert own_certificate(tmp_path, NAMES) == moved


def test_an_old_one_is_renewed_with_the_same_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(certificate, 'VALID', timedelta(days=20))
    first = own_certificate(tmp_path, NAMES)
    key = first.key.read_bytes()
    monkeypatch.undo()
    second = own_certificate(tmp_path, NAMES)
    assert second.fingerprint != first.fingerprint
    assert second.key.read_bytes() == key
    assert certificate._certificate(second.file).not_valid_after_utc > datetime.now(UTC) + timedelta(days=600)


@pytest.mark.parametrize('file', ['key.pem', 'certificate.pem'])
def test_damaged_files_are_made_anew(tmp_path: Path, file: str):
    own_certificate(tmp_path, NAMES)
    (tmp_path / file).write_text('nonsense')
    made = own_certificate(tmp_path, NAMES)
    assert (tmp_path / file).read_text() != 'nonsense'
    made.server_context()


def test_the_machine_knows_its_addresses():
    for address in lan_addresses():
        assert not ipaddress.ip_address(address).is_loopback
    assert {'localhost', '127.0.0.1', '::1', *lan_addresses()} <= set(own_names())
