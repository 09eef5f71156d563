from __future__ import annotations

from pathlib import Path

from lfd_bringup.home.wheels import drop_damaged, mend_cmake_files


def test_paths_of_the_build_machine_are_replaced_once(tmp_path: Path):
    file = tmp_path / 'share' / 'some_msgs' / 'cmake' / 'targets.cmake'
    file.parent.mkdir(parents=True)
    file.write_text(
        'INTERFACE_INCLUDE_DIRECTORIES "/opt/python/cp312-cp312/include/python3.12;'
        '/opt/python/cp312-cp312/lib/python3.12/site-packages/numpy/_core/include;${_IMPORT_PREFIX}/include"'
    )
    assert mend_cmake_files(tmp_path, Path('/usr/include/py thon'), Path('/venv/numpy')) == 1
    assert (
        file.read_text() == 'INTERFACE_INCLUDE_DIRECTORIES "/usr/include/py thon;/venv/numpy;${_IMPORT_PREFIX}/include"'
    )
    assert mend_cmake_files(tmp_path, Path('/a'), Path('/b')) == 0


def make_distribution(site: Path, name: str, *, record: str | None = None) -> Path:
    info = site / f'{name}-1.0.dist-info'
    info.mkdir(parents=True)
    (site / f'{name}.py').write_text('x = 1\n')
    (info / 'INSTALLER').write_text('pip\n')
    (info / 'RECORD').write_text(record or f'{name}.py,sha256=abc,6\n{info.name}/RECORD,,\n')
    return info


def test_whole_distributions_are_kept(tmp_path: Path):
    make_distribution(tmp_path, 'whole')
    assert drop_damaged(tmp_path) == []


def test_what_an_interrupted_install_left_is_forgotten(tmp_path: Path):
    short = make_distribution(tmp_path, 'short')
    (tmp_path / 'short.py').write_text('x')
    missing = make_distribution(tmp_path, 'missing')
    (tmp_path / 'missing.py').unlink()
    unrecorded = make_distribution(tmp_path, 'unrecorded')
    (unrecorded / 'RECORD').unlink()
    garbled = make_distribution(tmp_path, 'garbled', record='\x01')
    (tmp_path / '~umpy').mkdir()
    make_distribution(tmp_path, 'whole')
    assert sorted(drop_damaged(tmp_path)) == ['garbled-1.0', 'missing-1.0', 'short-1.0', 'unrecorded-1.0']
    assert not any(path.exists() for path in (short, missing, unrecorded, garbled, tmp_path / '~umpy'))


def test_paths_with_letters_such_as_é_are_read_back_whole(tmp_path: Path):
    file = tmp_path / 'share' / 'rosidl_adapter' / 'cmake' / 'rosidl_adapt_interfaces.cmake'
    file.parent.mkdir(parents=True)
    file.write_text('  file(STRINGS "${idl_output}" idl_tuples)\n')
    assert mend_cmake_files(tmp_path, Path('/a'), Path('/b')) == 1
    assert file.read_text() == '  file(STRINGS "${idl_output}" idl_tuples ENCODING UTF-8)\n'
