"""The interop interfaces are the official ones: every type hashes equal, on disk and on the wire."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from ament_index_python.packages import get_package_share_directory

INTEROP = Path(__file__).resolve().parents[2] / 'interop'
OFFICIAL: dict[str, str] = json.loads((INTEROP / 'official_hashes.json').read_text())
COMPUTED: dict[str, str] = json.loads((INTEROP / 'computed_hashes.json').read_text())
"""Of interfaces whose official hash nobody here has read off a running system; they must not change unnoticed."""
MESSAGES = sorted(name for name in OFFICIAL if '/msg/' in name)


def hash_in_workspace(name: str) -> str:
    package, kind, interface = name.split('/')
    description = json.loads(Path(get_package_share_directory(package), kind, f'{interface}.json').read_text())
    return next(entry['hash_string'] for entry in description['type_hashes'] if entry['type_name'] == name)


def test_every_definition_has_a_hash_and_the_other_way_round():
    defined = {
        f'{path.parts[-3]}/{path.parent.name}/{path.stem}'
        for kind in ('msg', 'srv', 'action')
        for path in INTEROP.glob(f'*/{kind}/*.{kind}')
    }
    assert defined == {*OFFICIAL, *COMPUTED}


@pytest.mark.parametrize('name', sorted(OFFICIAL))
def test_type_hash_equals_the_official_one(name: str):
    assert hash_in_workspace(name) == OFFICIAL[name]


@pytest.mark.parametrize('name', sorted(COMPUTED))
def test_type_hash_has_not_changed(name: str):
    assert hash_in_workspace(name) == COMPUTED[name]


def test_python_classes_can_be_made_of_every_interface():
    for name in (*OFFICIAL, *COMPUTED):
        package, kind, interface = name.split('/')
        made = getattr(importlib.import_module(f'{package}.{kind}'), interface)
        assert made() is not None if kind == 'msg' else made.__name__ == interface


def test_hashes_on_the_wire_equal_the_official_ones(make_peer):
    """What a real MoveIt client sees in discovery is the hash that its own type has."""
    speaker, listener = make_peer('speaker'), make_peer('listener')
    topics = {f'/topic_{index}': name for index, name in enumerate(MESSAGES)}
    for topic, name in topics.items():
        package, _, interface = name.split('/')
        speaker.node.create_publisher(getattr(importlib.import_module(f'{package}.msg'), interface), topic, 1)

    def heard() -> dict[str, str]:
        return {
            name: f'RIHS01_{bytes(info.topic_type_hash.value).hex()}'
            for topic, name in topics.items()
            for info in listener.node.get_publishers_info_by_topic(topic)
        }

    listener.eventually(lambda: len(heard()) == len(topics), 'all publishers are discovered')
    assert heard() == {name: OFFICIAL[name] for name in MESSAGES}


def test_a_plain_colcon_build_does_not_see_interop(checkout: Path, tmp_path: Path):
    colcon = Path(sys.executable).with_name('colcon')
    command = [
        sys.executable,
        str(colcon),
        '--log-base',
        str(tmp_path),
        'list',
        '--names-only',
        '--base-paths',
        str(checkout),
    ]
    names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert set(names) == {path.parent.name for path in checkout.glob('lfd_*/package.xml')}
