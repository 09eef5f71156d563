"""The real ros2_control_node with a stopwatch: ``control_node.py FILE --ros-args ...``.

Every cycle's start and end [s, monotonic] go to FILE when the node has ended; nothing else differs.
"""

from __future__ import annotations

import sys
import time
from array import array
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import numpy as np

from lfd_hardware.loop import ControlLoop
from lfd_hardware.nodes import ros2_control_node

STAMPS = array('d')


class TimedLoop(ControlLoop):
    """The update loop, whose cycles are remembered."""

    def __init__(self, period: float, cycle: Callable[[], None], on_error: Callable[[Exception], None]) -> None:
        def timed() -> None:
            STAMPS.append(time.monotonic())
            try:
                cycle()
            finally:
                STAMPS.append(time.monotonic())

        super().__init__(period, timed, on_error)


def main(file: Path) -> int:
    with patch.object(ros2_control_node, 'ControlLoop', TimedLoop):
        code = ros2_control_node.main()
    np.save(file, np.array(STAMPS[: len(STAMPS) // 2 * 2]).reshape(-1, 2))
    return code


if __name__ == '__main__':
    out = Path(sys.argv.pop(1))
    sys.exit(main(out))
