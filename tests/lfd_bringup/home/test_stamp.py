from __future__ import annotations

from pathlib import Path

import pytest

from lfd_bringup.home.stamp import Stamp, digest, digest_files, write_atomically


def test_a_step_is_done_only_after_it_finished(tmp_path: Path):
    stamp = Stamp(tmp_path / 'stamp.json')
    stamp.begin('build')
    assert Stamp(tmp_path / 'stamp.json').begun('build')
    assert not Stamp(tmp_path / 'stamp.json').is_current('build', 'abc')
    stamp.finish({'build': 'abc'})
    assert Stamp(tmp_path / 'stamp.json').is_current('build', 'abc')
    assert not Stamp(tmp_path / 'stamp.json').is_current('build', 'other')


def test_a_failed_step_is_not_an_interrupted_one(tmp_path: Path):
    stamp = Stamp(tmp_path / 'stamp.json')
    stamp.begin('build')
    stamp.forget('build')
    assert not Stamp(tmp_path / 'stamp.json').begun('build')


@pytest.mark.parametrize('text', ['', '{"build": "a', '[]', '\x00\x01', '"text"'])
def test_a_damaged_stamp_counts_as_none(text: str, tmp_path: Path):
    (tmp_path / 'stamp.json').write_text(text)
    assert not Stamp(tmp_path / 'stamp.json').is_current('build', 'a')


def test_a_failed_write_keeps_the_old_file(tmp_path: Path):
    path = tmp_path / 'report.json'
    write_atomically(path, 'old')
    with pytest.raises(TypeError):
        write_atomically(path, 3)  # type: ignore[arg-type]
    assert path.read_text() == 'old'
    assert [entry.name for entry in tmp_path.iterdir()] == ['report.json']


def test_digests_see_names_and_contents(tmp_path: Path):
    one, two = tmp_path / 'one', tmp_path / 'two'
    one.write_text('1')
    two.write_text('2')
    before = digest_files(tmp_path, [one, two])
    names = digest_files(tmp_path, [one, two], contents=False)
    two.write_text('3')
    assert digest_files(tmp_path, [one, two]) != before
    assert digest_files(tmp_path, [two, one], contents=False) == names
    assert digest('ab', 'c') != digest('a', 'bc')
