"""One figure for each part of the control benchmark."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use('Agg')

import matplotlib.pyplot as plt
from benchmarks.figures import write_figure
from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLOURS = {
    'lfd': '#1f77b4',
    'floor': '#b0b0b0',
    'ur-rtde': '#2ca02c',
    'ur': '#1f77b4',
    'abb': '#d62728',
    'motoman': '#9467bd',
}
LINES = {'idle': '-', 'planner': '--'}
Data = Mapping[str, Any]


def draw(part: str, data: Data, folder: Path) -> Path:
    """Write the figure of a part; gives its file."""
    return write_figure(FIGURES[part](data), folder / f'bench_control_{part}.png')


def _period(data: Data) -> Figure:
    rates = list(dict.fromkeys(row['rate'] for row in data['rows']))
    figure, grid = plt.subplots(
        1, len(rates), figsize=(1.5 + 3.3 * len(rates), 3.6), layout='constrained', sharey=True, squeeze=False
    )
    for axes, rate in zip(grid[0], rates, strict=True):
        for row in (
            row for row in data['rows'] if row['rate'] == rate and (row['who'] != 'floor' or row['beside'] == 'lfd')
        ):
            share = 100.0 - np.linspace(0.0, 100.0, len(row['quantiles']))
            share[-1] = 100.0 / row['cycles']
            colour, line = COLOURS[row['who']], LINES[row['load']]
            axes.plot(1e3 * np.array(row['quantiles']), share, line, color=colour, label=f'{row["who"]}, {row["load"]}')
        axes.axvline(1e3 / rate, color='black', linewidth=0.6)
        axes.set(xscale='log', yscale='log', ylim=(0.04, 110.0), xlabel='period [ms]', title=f'{rate} Hz')
        top = 1.1e3 * max(row['max'] for row in data['rows'] if row['rate'] == rate)
        axes.set_xlim(0.6e3 / rate, max(top, 2.2e3 / rate))
        _double_ticks(axes)
        axes.grid(alpha=0.3)
    grid[0][0].set_ylabel('cycles with a longer period [%]')
    grid[0][0].set_yticks((0.1, 1.0, 10.0, 100.0), ('0.1', '1', '10', '100'))
    grid[0][-1].legend(fontsize='x-small')
    return figure


def _latency(data: Data) -> Figure:
    figure, axes = plt.subplots(figsize=(7, 3.4), layout='constrained')
    for row in data['rows']:
        values = 1e3 * np.array(row['latencies'])
        share = 100.0 * np.arange(1, len(values) + 1) / max(len(values), 1)
        name = 'ur-rtde, one call' if row['who'] == 'ur-rtde' else f'lfd, {row["who"]}'
        colour, line = COLOURS[row['who']], LINES[row['load']]
        axes.step(values, share, line, where='post', color=colour, label=f'{name}, {row["load"]}')
    axes.set(xlabel='from the goal to the first set-point at the controller [ms]', ylabel='goals [%]')
    axes.set(title='Command latency', ylim=(0.0, 102.0))
    axes.set_xlim(left=0.0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize='x-small')
    return figure


def _cpu(data: Data) -> Figure:
    figure, axes = plt.subplots(figsize=(7, 3.0), layout='constrained')
    rows = data['rows']
    for number, row in enumerate(rows):
        colour = COLOURS['ur-rtde'] if row['who'] == 'ur-rtde' else COLOURS['lfd']
        axes.barh(number - 0.2, 100.0 * row['hold'], 0.38, color=colour, alpha=0.5)
        axes.barh(number + 0.2, 100.0 * row['move'], 0.38, color=colour)
        text = f' {100.0 * row["move"]:.0f} %, {1e6 * row["per_cycle"]:.0f} us for a cycle'
        axes.text(100.0 * row['move'], number + 0.2, text, va='center', fontsize='small')
    axes.set_yticks(range(len(rows)), [f'{row["who"]}, {row["rate"]} Hz' for row in rows])
    axes.invert_yaxis()
    axes.set_xlim(0.0, 160.0 * max(max(row['hold'], row['move']) for row in rows))
    axes.set(xlabel='of a core [%]', title='CPU of ros2_control_node for one arm: holding (pale), moving')
    return figure


def _three(data: Data) -> Figure:
    figure, axes = plt.subplots(figsize=(7, 4.2), layout='constrained')
    rows = data['rows']
    for number, row in enumerate(rows):
        colour = COLOURS['floor' if row['driver'] == 'floor' else 'lfd']
        for name, mark in (('p50', 'o'), ('p99', 's'), ('max', '>')):
            label = name if number == 0 else None
            axes.plot(1e3 * row[name], number, mark, color=colour, label=label)
        axes.hlines(number, 1e3 * row['p50'], 1e3 * row['max'], color=colour, linewidth=0.8)
        axes.text(1.1e3 * row['max'], number, f'{100.0 * row["cpu"]:.0f} % of a core', va='center', fontsize='small')
    axes.set_yticks(range(len(rows)), [f'{row["set"]}: {row["driver"]}, {row["rate"]} Hz' for row in rows])
    axes.invert_yaxis()
    axes.set(xscale='log', xlabel='period [ms]', title='Controller managers at once')
    axes.set_xlim(right=4.5e3 * max(row['max'] for row in rows))
    _double_ticks(axes)
    axes.grid(alpha=0.3, axis='x')
    axes.legend(fontsize='x-small', loc='lower right')
    return figure


def _double_ticks(axes: Axes) -> None:
    """Label a logarithmic axis of times [ms] at 1, 2, 4 and so on."""
    low, high = axes.get_xlim()
    ticks = [2**power for power in range(12) if low <= 2**power <= high]
    axes.set_xticks(ticks, [str(tick) for tick in ticks])
    axes.minorticks_off()


FIGURES: Mapping[str, Callable[[Data], Figure]] = {
    'period': _period,
    'latency': _latency,
    'cpu': _cpu,
    'three': _three,
}
