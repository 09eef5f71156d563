"""Programs that run beside a test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from ament_index_python.packages import get_package_prefix

from lfd_bringup import tether

TIMEOUT = 30.0  # [s], generous: a loaded machine must not fail a test


class Process:
    """A running program whose output is kept."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._popen = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors='replace'
        )
        self.pid = self._popen.pid
        self._lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def output(self) -> str:
        """All that was printed so far."""
        return ''.join(self._lines)

    @property
    def is_running(self) -> bool:
        return self._popen.poll() is None

    def send(self, number: int) -> None:
        """Send a signal."""
        self._popen.send_signal(number)

    def wait(self, timeout: float = TIMEOUT) -> int:
        """Wait for the end; return the exit code. What does not end in time is killed, and fails the test."""
        try:
            code = self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            self.stop()
            raise
        self._reader.join(5.0)
        return code

    def end(self, number: int = signal.SIGINT, timeout: float = TIMEOUT) -> int:
        """Send a signal and return the exit code."""
        self.send(number)
        return self.wait(timeout)

    def stop(self) -> None:
        """Kill it if it still runs."""
        if self.is_running:
            self._popen.kill()
            self._popen.wait()
        self._reader.join(5.0)

    def _read(self) -> None:
        assert self._popen.stdout is not None
        with self._popen.stdout as output:
            self._lines.extend(output)


def same_paths() -> dict[str, str]:
    """The environment of a program that is to find all that the tests find."""
    return {**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}


def node_process(domain: int, package: str, executable: str, *arguments: str) -> Process:
    """Run a package's executable in a ROS domain; it ends with the tests, however they end."""
    script = Path(get_package_prefix(package), 'lib', package, executable)
    return Process(
        [sys.executable, '-u', tether.__file__, str(os.getpid()), str(script), *arguments],
        {**os.environ, 'ROS_DOMAIN_ID': str(domain)},
    )
