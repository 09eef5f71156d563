"""What a person sees of the demo: joints moving in the terminal, and a picture of the whole motion."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np

from lfd_description.files import write_atomically
from lfd_description.robots import Robot

from .measure import Trace
from .motion import Motion

matplotlib.use('Agg')

BAR_WIDTH = 40


class LiveView:
    """Joint positions as marks between their limits, redrawn in place."""

    def __init__(self, joints: Sequence[str], limits: Sequence[tuple[float, float]]) -> None:
        self._joints = joints
        self._limits = limits
        self._width = max(map(len, joints))
        self._is_drawn = False

    def __call__(self, positions: list[float]) -> None:
        """Draw joint positions [rad]."""
        if self._is_drawn:
            sys.stdout.write(f'\x1b[{len(self._joints)}A')
        self._is_drawn = True
        for name, value, (lower, upper) in zip(self._joints, positions, self._limits, strict=True):
            mark = round((value - lower) / (upper - lower) * (BAR_WIDTH - 1))
            bar = ''.join('●' if cell == mark else '·' for cell in range(BAR_WIDTH))
            sys.stdout.write(f'\x1b[2K  {name:{self._width}} {bar} {np.degrees(value):7.1f}°\n')
        sys.stdout.flush()


def draw(path: Path, robot: Robot, motion: Motion, trace: Trace) -> None:
    """Write a picture: joint angles asked and measured, and the tool's way from the side and from above."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplot_mosaic(
        [['joints', 'joints', 'side'], ['joints', 'joints', 'top']], figsize=(11, 6), layout='constrained'
    )
    joints, side, top = axes['joints'], axes['side'], axes['top']
    for index, name in enumerate(robot.joints):
        (line,) = joints.plot(trace.times, np.degrees(trace.positions[:, index]), label=name)
        joints.plot(motion.times, np.degrees(motion.positions[:, index]), ':', color=line.get_color(), alpha=0.6)
    joints.set(xlabel='time [s]', ylabel='joint angle [°]', title=f'{robot.title}: measured (lines) and asked (dots)')
    joints.legend(loc='upper right', fontsize='small')
    joints.grid(alpha=0.3)
    side.plot(np.hypot(trace.tool[:, 0], trace.tool[:, 1]), trace.tool[:, 2], color='tab:red')
    side.set(
        xlabel='distance from the base axis [m]', ylabel='height [m]', title='way of the tool: side', aspect='equal'
    )
    top.plot(trace.tool[:, 0], trace.tool[:, 1], color='tab:red')
    top.plot(0, 0, 'k+', markersize=10)
    top.set(xlabel='x [m]', ylabel='y [m]', title='way of the tool: from above', aspect='equal')
    for axis in (side, top):
        axis.grid(alpha=0.3)
    data = io.BytesIO()
    figure.savefig(data, format='png', dpi=90)
    plt.close(figure)
    write_atomically(path, data.getvalue())
