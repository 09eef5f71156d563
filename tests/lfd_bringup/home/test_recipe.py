"""What a start finds missing, for a home of empty files: no pip, no compiler."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lfd_bringup.home.layout import CHECKOUT, Layout
from lfd_bringup.home.recipe import find_packages, missing_steps
from lfd_bringup.home.stamp import Stamp


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    """A home that looks as if all steps had been done, of a checkout that may be changed."""
    checkout = tmp_path / 'checkout'
    shutil.copytree(CHECKOUT, checkout, ignore=shutil.ignore_patterns('.*', '__pycache__', 'tests', 'docs'))
    layout = Layout(checkout, tmp_path / 'home')
    make_environment(layout, 'one')
    layout.numba_cache.mkdir(parents=True)
    for library in ('three', 'iwer'):
        (layout.page / 'node_modules' / library).mkdir(parents=True)
    for package in find_packages(layout):
        manifest = layout.install / 'share' / package.name / 'package.xml'
        manifest.parent.mkdir(parents=True)
        manifest.touch()
    stamp = Stamp(layout.stamp)
    for step in missing_steps(layout, stamp, with_tests=True):
        stamp.finish(step.stamps)
    return layout


def make_environment(layout: Layout, name: str) -> None:
    layout.python.parent.mkdir(parents=True)
    layout.python.touch(mode=0o755)
    (layout.venv / 'pyvenv.cfg').write_text('version = 3.11.7\n')
    layout.mark.write_text(name)


def missing(layout: Layout) -> list[str]:
    return [step.title for step in missing_steps(layout, Stamp(layout.stamp), with_tests=True)]


def test_a_second_start_has_nothing_to_do(layout: Layout):
    assert missing(layout) == []


def test_a_deleted_environment_takes_everything_in_it_along(layout: Layout):
    shutil.rmtree(layout.venv)
    assert [title.split()[0] for title in missing(layout)][:4] == ['Make', 'Install', 'Install', 'Build']
    make_environment(layout, 'two')
    assert [title.split()[0] for title in missing(layout)] == ['Install', 'Install', 'Build']


def test_an_environment_whose_python_is_gone_is_missing(layout: Layout):
    layout.python.unlink()
    layout.python.symlink_to('/no/such/python')
    assert 'Make a Python environment' in missing(layout)


def test_a_home_that_was_moved_is_made_anew(layout: Layout, tmp_path: Path):
    layout.home.rename(tmp_path / 'moved')
    assert 'Make a Python environment' in missing(Layout(layout.checkout, tmp_path / 'moved'))


@pytest.mark.parametrize(
    ('changed', 'step'),
    [
        ('interop/tf2_msgs/msg/TFMessage.msg', 'Build tf2_msgs'),
        ('lfd_hardware/setup.py', 'Build lfd_hardware'),
        ('lfd_description/robots/new_arm/robot.yaml', 'Build lfd_description'),
        ('lfd_description/lfd_description/kinematics.py', 'Compile the numerical kernels'),
    ],
)
def test_a_change_is_built(layout: Layout, changed: str, step: str):
    path = layout.checkout / changed
    path.parent.mkdir(exist_ok=True)
    with path.open('a') as file:
        file.write('# changed\n')
    assert missing(layout) == [step]


def test_another_list_of_libraries_is_fetched(layout: Layout):
    with (layout.checkout / 'lfd_vr_bridge/libraries/package-lock.json').open('a') as file:
        file.write('\n')
    assert missing(layout) == ["Fetch the page's libraries", "Fetch the page's libraries for the tests"]


def test_libraries_that_are_gone_are_fetched(layout: Layout):
    shutil.rmtree(layout.page)
    assert missing(layout) == ["Fetch the page's libraries", "Fetch the page's libraries for the tests"]


def test_a_change_of_python_code_needs_no_build(layout: Layout):
    with (layout.checkout / 'lfd_bringup/lfd_bringup/graph.py').open('a') as file:
        file.write('# changed\n')
    assert missing(layout) == []


def test_a_new_requirement_is_installed_and_everything_is_built_on_it(layout: Layout):
    with (layout.requirements / 'embedded.txt').open('a') as file:
        file.write('another==1.0\n')
    assert [title.split()[0] for title in missing(layout)] == ['Install', 'Build', 'Compile']
