"""The variables inside the embedded home: real ROS 2 from the environment's wheels and from our own workspace."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from pathlib import Path

from .layout import Layout

# A sourced ROS 2 installation, conda or another environment would leak foreign binaries into ours through these.
_FOREIGN = (
    'AMENT_PREFIX_PATH',
    'CMAKE_PREFIX_PATH',
    'COLCON_PREFIX_PATH',
    'LD_LIBRARY_PATH',
    'PYTHONHOME',
    'PYTHONPATH',
    'ROS_LOCALHOST_ONLY',
    'ROS_PACKAGE_PATH',
    'ROS_STATIC_PEERS',
)
HIGHEST_DOMAIN = 101  # higher ones share their UDP ports with Linux's ephemeral range


def default_domain(home: Path) -> int:
    """ROS domain of a home: the same at every start, different for two clones side by side, never the shared 0."""
    return zlib.crc32(os.fsencode(home)) % HIGHEST_DOMAIN + 1


def environment(layout: Layout, base: Mapping[str, str] | None = None) -> dict[str, str]:
    """Variables for a program inside the home.

    ROS_DOMAIN_ID is the user's where set, else one of this checkout's own. What is sent stays on the machine: a sourced
    ROS installation may have set a wider discovery range without the user's asking.
    """
    env = {k: v for k, v in (os.environ if base is None else base).items() if k not in _FOREIGN}
    venv, install = layout.venv, layout.install
    site = layout.site_packages(venv)
    env.update(
        PATH=os.pathsep.join([str(venv / 'bin'), env.get('PATH', os.defpath)]),
        VIRTUAL_ENV=str(venv),
        AMENT_PREFIX_PATH=_paths(install, venv),
        CMAKE_PREFIX_PATH=_paths(install, venv),
        LD_LIBRARY_PATH=_paths(install / 'lib', venv / 'lib', *sorted(site.glob('ros_*.libs'))),
        # colcon's symlink install leaves the packages in the build folder and their modules in the checkout.
        PYTHONPATH=_paths(layout.site_packages(install), *(layout.build / name for name in python_packages(layout))),
        PYTHONNOUSERSITE='1',
        ROS_VERSION='2',
        ROS_PYTHON_VERSION='3',
        ROS_DISTRO='jazzy',
        RMW_IMPLEMENTATION='rmw_fastrtps_cpp',
        ROS_AUTOMATIC_DISCOVERY_RANGE='LOCALHOST',
        NUMBA_CACHE_DIR=str(layout.numba_cache),
        LFD_WEB_LIBRARIES=str(layout.page / 'node_modules'),
        # The libraries are found already: spares every Python start the wheels' second exec.
        _ROS_WHEELS_BOOTSTRAP_COMPLETE='1',
    )
    env.setdefault('ROS_LOG_DIR', str(layout.log / 'ros'))
    env['ROS_DOMAIN_ID'] = env.get('ROS_DOMAIN_ID') or str(default_domain(layout.home))
    return env


def python_packages(layout: Layout) -> list[str]:
    """Names of the workspace's pure Python packages."""
    return sorted(path.parent.name for path in layout.checkout.glob('lfd_*/setup.py'))


def _paths(*paths: Path) -> str:
    return os.pathsep.join(str(path) for path in paths)
