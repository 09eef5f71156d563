"""What all tests share: ROS domains of their own, and ./lfd as a user runs it."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from lfd_bringup.domain import claim_free

CHECKOUT = Path(__file__).resolve().parents[1]
TIMEOUT = 60.0  # [s], generous: a loaded machine must not fail a test
# What `./lfd test` adds to the environment; a user's terminal has none of it.
INSIDE = (
    'LFD_OWN_DOMAIN',
    'LD_LIBRARY_PATH',
    'PYTHONPATH',
    'ROS_DOMAIN_ID',
    'ROS_LOG_DIR',
    'VIRTUAL_ENV',
    'AMENT_PREFIX_PATH',
)

Wait = Callable[..., None]


@pytest.fixture
def checkout() -> Path:
    return CHECKOUT


@pytest.fixture
def ros_domain() -> Iterator[int]:
    """A ROS domain that nobody else uses."""
    with claim_free() as domain:
        yield domain.number


@pytest.fixture
def make_node(ros_domain: int) -> Iterator[Callable[[str], Node]]:
    """Makes nodes in the test's domain, each a DDS participant of its own, spun in the background."""
    undo = []

    def make(name: str) -> Node:
        context = rclpy.Context()
        rclpy.init(context=context, domain_id=ros_domain)
        node = rclpy.create_node(name, context=context)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        thread = threading.Thread(target=executor.spin, daemon=True)
        thread.start()
        undo.append((executor, thread, node, context))
        return node

    yield make
    for executor, thread, node, context in undo:
        executor.shutdown()
        thread.join()
        node.destroy_node()
        rclpy.shutdown(context=context)


@pytest.fixture
def wait_until() -> Wait:
    """Waits for a condition; fails the test when it does not come true in time."""

    def wait(condition: Callable[[], object], what: str, timeout: float = TIMEOUT) -> None:
        deadline = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < deadline, f'waited {timeout} s in vain: {what}'
            time.sleep(0.02)

    return wait


@pytest.fixture
def user_environment() -> dict[str, str]:
    """The environment of a terminal in which ./lfd is typed."""
    return {key: value for key, value in os.environ.items() if key not in INSIDE}


@pytest.fixture
def lfd(user_environment: dict[str, str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs ./lfd with arguments to its end, as a user would."""

    def run(*arguments: object, script: Path = CHECKOUT / 'lfd', timeout: float = 300.0, **environment: str):
        return subprocess.run(
            [str(script), *map(str, arguments)],
            env={**user_environment, **environment},
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    return run
