"""The packages are what a ROS 2 machine expects: manifests in format 3 that declare what the code imports."""

from __future__ import annotations

import ast
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from lfd_bringup.graph import STAND_INS

CHECKOUT = Path(__file__).resolve().parents[1]
MANIFESTS = sorted([*CHECKOUT.glob('lfd_*/package.xml'), *CHECKOUT.glob('interop/*/package.xml')])
PYTHON_PACKAGES = sorted(path.parent for path in CHECKOUT.glob('lfd_*/setup.py'))
# Import name -> the key by which rosdep knows it, where the two differ.
ROSDEP_KEYS = {
    'PIL': 'python3-pil',
    'aiohttp': 'python3-aiohttp',
    'cryptography': 'python3-cryptography',
    'mcap': 'python3-mcap-pip',
    'numba': 'python3-numba',
    'numpy': 'python3-numpy',
    'scipy': 'python3-scipy',
    'trimesh': 'python3-trimesh-pip',
    'yaml': 'python3-yaml',
}
DESIGNED = {'lfd_bringup', 'lfd_description', 'lfd_hardware', 'lfd_msgs', 'lfd_planner', 'lfd_vr_bridge'}


def imports_of(folder: Path) -> set[str]:
    """Top-level names that the modules of a folder import."""
    found = set()
    for path in folder.rglob('*.py'):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.split('.')[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                found.add(node.module.split('.')[0])
    return found


def test_all_packages_are_there():
    assert {path.parent.name for path in CHECKOUT.glob('lfd_*/package.xml')} == DESIGNED


@pytest.mark.parametrize('manifest', MANIFESTS, ids=lambda path: path.parent.name)
def test_manifest(manifest: Path):
    root = ET.parse(manifest).getroot()
    assert root.get('format') == '3'
    assert root.findtext('name') == manifest.parent.name
    assert root.findtext('license') == 'Apache-2.0'
    assert root.findtext('export/build_type') in ('ament_cmake', 'ament_python')


@pytest.mark.parametrize('package', PYTHON_PACKAGES, ids=lambda path: path.name)
def test_what_is_imported_is_declared(package: Path):
    root = ET.parse(package / 'package.xml').getroot()
    declared = {element.text for element in root if element.tag.endswith('depend')}
    outside = imports_of(package / package.name) - set(sys.stdlib_module_names) - {package.name}
    assert {ROSDEP_KEYS.get(name, name) for name in outside} <= declared


@pytest.mark.parametrize('package', PYTHON_PACKAGES, ids=lambda path: path.name)
def test_what_is_declared_of_ours_is_imported_or_started(package: Path):
    root = ET.parse(package / 'package.xml').getroot()
    declared = {
        element.text for element in root if element.tag == 'exec_depend' and str(element.text).startswith('lfd_')
    }
    started = set(STAND_INS.values()) if package.name == 'lfd_bringup' else set()
    assert declared <= imports_of(package / package.name) | started


@pytest.mark.parametrize('package', PYTHON_PACKAGES, ids=lambda path: path.name)
def test_data_flows_one_way(package: Path):
    """A package imports only from those before it."""
    order = ['lfd_msgs', 'lfd_description', 'lfd_planner', 'lfd_hardware', 'lfd_vr_bridge', 'lfd_bringup']
    ours = imports_of(package / package.name) & set(order) - {package.name}
    assert all(order.index(name) < order.index(package.name) for name in ours)


def test_the_home_needs_the_standard_library_only():
    """It runs before anything is installed; what only the doctor needs inside is imported when it is there."""
    home = CHECKOUT / 'lfd_bringup' / 'lfd_bringup'
    for path in [CHECKOUT / 'lfd', home / 'commands.py', *(home / 'home').glob('*.py')]:
        top = ast.parse(path.read_text()).body
        names = imports_at_top(top)
        assert names <= {*sys.stdlib_module_names, 'lfd_bringup'}, path


def imports_at_top(statements: list[ast.stmt]) -> set[str]:
    found = set()
    for node in statements:
        if isinstance(node, ast.Import):
            found |= {alias.name.split('.')[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(str(node.module).split('.')[0])
    return found
