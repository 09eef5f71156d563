"""One figure for each part of the VR benchmark."""

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

COLOURS = {'lfd': '#1f77b4', 'move': '#d62728', 'floor': '#b0b0b0', 'put': '#1f77b4', 'dragged': '#d62728'}
LINES = {'idle': '-', 'planner': '--'}
NAMES = {'put': 'lfd, put', 'dragged': 'lfd, dragged at 90 Hz', 'floor': 'planning server alone'}
MOVES = {'nothing': 'nothing moves', 'arm': 'the arm moves', 'object': 'an object is dragged'}
Data = Mapping[str, Any]


def draw(part: str, data: Data, folder: Path) -> Path:
    """Write the figure of a part; gives its file."""
    return write_figure(FIGURES[part](data), folder / f'bench_vr_{part}.png')


def _hands(data: Data) -> Figure:
    figure, axes = plt.subplots(figsize=(7, 3.6), layout='constrained')
    for row in data['rows']:
        if row['who'] == 'lfd':
            _distribution(axes, row, COLOURS['move' if row['frame'] == 'move' else 'lfd'], f'lfd, {row["frame"]}')
        elif row['frame'] == 'hands':
            _distribution(axes, row, COLOURS['floor'], 'bare WebSocket')
    axes.set(xlabel='from the headset to the recorded event [ms]', title='Hands and a held object at 90 Hz')
    return _finished(figure, axes)


def _scene(data: Data) -> Figure:
    figure, axes = plt.subplots(figsize=(7, 3.6), layout='constrained')
    for row in data['rows']:
        _distribution(axes, row, COLOURS[row['who']], NAMES[row['who']])
    axes.set(xlabel='from letting go on the page to the acknowledgement [ms]', title='To the planning scene')
    return _finished(figure, axes)


def _distribution(axes: Axes, row: Data, colour: str, name: str) -> None:
    values = 1e3 * np.array(row['quantiles'])
    label = f'{name}, {row["load"]}'
    axes.plot(values, np.linspace(0.0, 100.0, len(values)), LINES[row['load']], color=colour, label=label)


def _finished(figure: Figure, axes: Axes) -> Figure:
    axes.set(xscale='log', ylabel='arrived [%]', ylim=(0.0, 102.0))
    low, high = axes.get_xlim()
    ticks = [factor * 10**power for power in range(-2, 5) for factor in (1, 2, 5) if low <= factor * 10**power <= high]
    axes.set_xticks(ticks, [f'{tick:g}' for tick in ticks])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(fontsize='x-small')
    return figure


def _frames(data: Data) -> Figure:
    figure, axes = plt.subplots(figsize=(7, 3.4), layout='constrained')
    rows = data['rows']
    objects = [row['objects'] for row in rows]
    base = rows[0]['rate']
    axes.plot(objects, [row['rate'] / base for row in rows], 'o-', color=COLOURS['lfd'], label='lfd')
    plain = [row['peer'] / base for row in rows]
    axes.plot(objects, plain, 's-', color=COLOURS['floor'], label='a mesh for each object, no robot, no shadows')
    for row in rows:
        axes.annotate(f' {row["calls"]} calls', (row['objects'], row['rate'] / base), fontsize='x-small', va='bottom')
    axes.set(xscale='log', yscale='log', xlabel='objects', ylabel=f'frames, lfd with {objects[0]} objects = 1')
    axes.set_xlim(0.7 * objects[0], 2.5 * objects[-1])
    axes.set_xticks(objects, [f'{each:,}' for each in objects])
    low, high = axes.get_ylim()
    ticks = [
        factor * 10.0**power for power in range(-4, 2) for factor in (1, 2, 5) if low < factor * 10.0**power < high
    ]
    axes.set_yticks(ticks, [f'{tick:g}' for tick in ticks])
    axes.minorticks_off()
    axes.set(title='Frames a second, drawn by the CPU')
    axes.grid(alpha=0.3)
    axes.legend(fontsize='x-small')
    return figure


def _bytes(data: Data) -> Figure:
    figure, axes = plt.subplots(figsize=(7, 2.8), layout='constrained')
    for number, row in enumerate(data['rows']):
        first = number == 0
        for offset, key, colour, label in (
            (-0.2, 'bytes', COLOURS['lfd'], 'lfd'),
            (0.2, 'peer', COLOURS['floor'], 'every joint state, whole scenes'),
        ):
            value = row[key] / 1e3
            axes.barh(number + offset, value, 0.38, color=colour, label=label if first else None)
            axes.text(value, number + offset, f' {value:.1f}', va='center', fontsize='small')
    axes.set_yticks(range(len(data['rows'])), [MOVES[row['what']] for row in data['rows']])
    axes.invert_yaxis()
    axes.set(xscale='log', xlabel='kB/s to one page', title='What one page is sent')
    axes.set_xlim(1.0, 3e-3 * max(row['peer'] for row in data['rows']))
    axes.set_xticks((1, 10, 100), ('1', '10', '100'))
    axes.minorticks_off()
    axes.legend(fontsize='x-small', loc='upper right')
    return figure


def _unity(data: Data) -> Figure:
    figure, grid = plt.subplots(1, 3, figsize=(9, 2.8), layout='constrained')
    rows = data['rows']
    measures = (('messages_per_second', 1.0, 'messages/s'), ('megabytes_per_second', 1.0, 'MB/s'), ('p50', 1e3, 'ms'))
    for axes, (key, factor, unit) in zip(grid, measures, strict=True):
        for number, row in enumerate(rows):
            colour = COLOURS['floor' if 'peer' in row['endpoint'] else 'lfd']
            axes.barh(number, factor * row[key], 0.7, color=colour)
            value = factor * row[key]
            text = f' {value:,.0f}' if value >= 100.0 else f' {value:.2g}'
            axes.text(value, number, text, va='center', fontsize='small')
        names = [f'{"peer" if "peer" in row["endpoint"] else "lfd"}, {row["clients"]}' for row in rows]
        axes.set_yticks(range(len(rows)), names)
        axes.invert_yaxis()
        axes.margins(x=0.35)
        axes.set_xlabel(unit)
    for axes, title in zip(grid, ('poses there and back', 'pictures there and back', 'median round trip'), strict=True):
        axes.set_title(title, fontsize='medium')
    return figure


FIGURES: Mapping[str, Callable[[Data], Figure]] = {
    'hands': _hands,
    'scene': _scene,
    'frames': _frames,
    'bytes': _bytes,
    'unity': _unity,
}
