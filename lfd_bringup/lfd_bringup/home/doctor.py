"""`./lfd doctor`: checks the machine and the environment, and explains both.

The machine is checked with the standard library alone, so that the doctor has something to say when the set-up fails.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from . import interpreter
from .console import coloured
from .faults import Fault
from .layout import Layout


def main(_: argparse.Namespace) -> int:
    """Check everything, inside the environment; return 1 if anything is wrong."""
    layout = Layout.inside()
    ok = check_machine(layout, needed_bytes=0)
    print('\nEnvironment')
    ok &= _report('Python', lambda: f'{sys.version.split()[0]} in {layout.venv}')
    ok &= _report('packages', _check_packages)
    ok &= _report('workspace', lambda: _check_workspace(layout))
    ok &= _report('kernels', lambda: _check_kernels(layout))
    ok &= _report('page', _check_page)
    ok &= _report('ROS 2', _check_ros)
    print('\nSettings')
    _report('ROS domain', _explain_domain)
    _report('discovery', _explain_discovery)
    _report('ROS machine', _explain_ros_installation)
    print('\nAll is well. Try: ./lfd demo' if ok else '\nSome checks failed: see above.')
    return 0 if ok else 1


def check_machine(layout: Layout, needed_bytes: int = interpreter.NEEDED_BYTES) -> bool:
    """Check what must be there before anything can be set up."""
    print('Machine')
    checks: tuple[tuple[str, Callable[[], str]], ...] = (
        ('system', interpreter.check_platform),
        ('Python', lambda: str(interpreter.choose())),
        ('C++ compiler', interpreter.check_compiler),
        ('disk', lambda: interpreter.check_space(_existing(layout.home), needed_bytes)),
        ('home', lambda: _check_home(layout)),
    )
    results = [_report(name, check) for name, check in checks]  # all of them, not only to the first that fails
    return all(results)


def _report(name: str, check: Callable[[], str]) -> bool:
    try:
        text, ok = check(), True
    except Fault as fault:
        text, ok = f'{fault.cause}\n{"":19}Fix: {fault.fix}', False
    except Exception as error:  # the doctor must be able to speak of anything
        text, ok = f'{type(error).__name__}: {error}\n{"":19}Fix: make it anew: ./lfd clean, then ./lfd setup', False
    mark = coloured('ok', '32', sys.stdout) if ok else coloured('!!', '31', sys.stdout)
    print(f'  {mark} {name:13} {text}')
    return ok


def _existing(folder: Path) -> Path:
    return next(path for path in (folder, *folder.parents) if path.exists())


def _check_home(layout: Layout) -> str:
    interpreter.check_path(layout.home)
    interpreter.check_writable(layout.state)
    return str(layout.home)


def _check_packages() -> str:
    ros = importlib.metadata.version('ros-jazzy-rclpy')
    return f'ROS 2 Jazzy, rclpy {ros}, numpy {importlib.metadata.version("numpy")}'


def _check_workspace(layout: Layout) -> str:
    from .recipe import find_packages, is_installed

    packages = find_packages(layout)
    absent = [package.name for package in packages if not is_installed(layout, package)]
    if absent:
        raise Fault(f'{", ".join(absent)} is not in {layout.install}.', 'build it: ./lfd setup')
    for package in packages:
        importlib.import_module(package.name)
    return f'{len(packages)} packages with {sum(p.interfaces for p in packages)} interfaces in {layout.install}'


def _check_kernels(layout: Layout) -> str:
    count = len(list(layout.numba_cache.rglob('*.nbc')))
    if not count:
        raise Fault('no compiled kernel is in the cache.', 'compile them anew: ./lfd clean, then ./lfd setup')
    return f'{count} compiled, in {layout.numba_cache}'


def _check_page() -> str:
    from lfd_vr_bridge.web_libraries import LibrariesMissing, folder

    try:
        return f'its libraries are in {folder()}'
    except LibrariesMissing as error:
        raise Fault(str(error), 'fetch them: ./lfd setup') from None


def _check_ros() -> str:
    """Send a message through DDS from one participant to another."""
    import rclpy
    from rclpy.context import Context
    from rclpy.executors import SingleThreadedExecutor
    from std_msgs.msg import String

    fix = 'check that the loopback network is up (ip link show lo) and that /dev/shm can be written to'
    contexts = (Context(), Context())
    received: list[str] = []
    try:
        for context in contexts:
            rclpy.init(context=context)
        sender, receiver = (rclpy.create_node(f'doctor_{i}', context=c) for i, c in enumerate(contexts))
        publisher = sender.create_publisher(String, 'lfd_doctor', 1)
        receiver.create_subscription(String, 'lfd_doctor', lambda message: received.append(message.data), 1)
        executor = SingleThreadedExecutor(context=contexts[1])
        executor.add_node(receiver)
        deadline = time.monotonic() + 10.0
        while not received and time.monotonic() < deadline:
            publisher.publish(String(data='hello'))
            executor.spin_once(timeout_sec=0.02)
    except Exception as error:  # whatever ROS raises is what the user must see
        raise Fault(f'ROS 2 does not start: {error}', fix) from None
    finally:
        for context in contexts:
            rclpy.try_shutdown(context=context)
    if not received:
        raise Fault('a message did not arrive at another participant of this machine within 10 s.', fix)
    return f'a message went from one participant to another ({os.environ["RMW_IMPLEMENTATION"]})'


def _explain_domain() -> str:
    number = os.environ['ROS_DOMAIN_ID']
    whose = "this checkout's own" if os.environ.get('LFD_OWN_DOMAIN') else 'from your ROS_DOMAIN_ID'
    return f'{number} ({whose}); other ROS 2 programs hear lfd with ROS_DOMAIN_ID={number}'


def _explain_discovery() -> str:
    return 'programs of this machine only; ./lfd up --discovery subnet opens a graph to the network'


def _explain_ros_installation() -> str:
    found = sorted(path.parent for path in Path('/opt/ros').glob('*/setup.bash'))
    if not found:
        return 'no ROS 2 installation in /opt/ros; none is needed'
    return f'{", ".join(map(str, found))} is there; ./lfd does not use it (README: "On a ROS machine")'
