"""Runs a Python script so that it ends when the process that started it ends: `tether.py PARENT_PID SCRIPT ARGS...`.

The supervisor starts every node through this file. It must not be done between fork and exec in the supervisor itself:
that is not safe in a program with threads.
"""

import ctypes
import os
import runpy
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Become the script, tied to the parent."""
    parent, script = int(sys.argv[1]), sys.argv[2]
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit(1)  # it has ended already
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # until rclpy takes over: a stop during the imports prints nothing
    sys.argv = sys.argv[2:]
    sys.path[0] = str(Path(script).parent)  # this file's own folder must not be importable
    runpy.run_path(script, run_name='__main__')


if __name__ == '__main__':
    main()
