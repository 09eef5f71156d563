"""One figure for each part of the planner's benchmark."""

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

OURS, PEER, BOUND = '#1f77b4', '#b0b0b0', '#2ca02c'
Data = Mapping[str, Any]


def draw(part: str, data: Data, folder: Path) -> Path:
    """Write the figure of a part; gives its file."""
    return write_figure(FIGURES[part](data), folder / f'bench_planner_{part}.png')


def _stack(data: Data) -> Figure:
    figure, (whole, split) = plt.subplots(1, 2, figsize=(10, 3.4), layout='constrained')
    rows = data['rows']
    for number, row in enumerate(rows):
        whole.barh(number - 0.2, 1e3 * row['peer'], 0.38, color=PEER, label='stock peer' if number == 0 else None)
        whole.barh(number + 0.2, 1e3 * row['ours'], 0.38, color=OURS, label='lfd' if number == 0 else None)
        whole.text(
            1e3 * row['ours'] + 0.02e3 * row['peer'],
            number + 0.2,
            f'{1e3 * row["ours"]:.0f} ms, {row["ratio"]:.0f}x',
            va='center',
        )
    whole.set(xlabel='CPU time to the first solution [ms]', title='Recorded stack, 8 keyframes')
    _arms(whole, rows)
    whole.legend(loc='lower right', fontsize='small')
    names = sorted({name for row in rows for name in row['split']}, key=lambda name: -rows[0]['split'].get(name, 0.0))
    left = np.zeros(len(rows))
    for name in names:
        values = np.array([1e3 * row['split'].get(name, 0.0) for row in rows])
        if values.max() >= 1.0:
            split.barh(range(len(rows)), values, left=left, label=name)
            left += values
    split.set(xlabel='[ms]', title='lfd, split by stage')
    _arms(split, rows)
    split.legend(fontsize='x-small', loc='center left', bbox_to_anchor=(1.0, 0.5))
    return figure


def _random(data: Data) -> Figure:
    figure, (times, counts) = plt.subplots(1, 2, figsize=(9, 3.4), width_ratios=(3, 2), layout='constrained')
    rows = data['rows']
    for row, style in zip(rows, ('-', '--', ':'), strict=False):
        mine = [one for one in data['records'] if one['robot'] == row['robot']]
        peers = [one['peer']['seconds'] for one in mine if one['peer'] and one['sampled']]
        for name, values, colour in (
            ('lfd', [one['ours']['seconds'] for one in mine], OURS),
            ('stock peer', peers, PEER),
        ):
            if values:
                share = 100.0 * np.arange(1, len(values) + 1) / len(values)
                times.plot(1e3 * np.sort(values), share, style, color=colour, label=f'{name}, {row["robot"]}')
    times.set(xscale='log', xlabel='CPU time for a task [ms]', ylabel='tasks [%]', title='Random tabletop tasks')
    times.grid(alpha=0.3)
    times.legend(fontsize='x-small')
    for number, row in enumerate(rows):
        share = 100.0 * row['solved'] / row['tasks']
        counts.barh(number + 0.2, share, 0.38, color=OURS, label='lfd' if number == 0 else None)
        counts.text(2.0, number + 0.2, f'{row["solved"]} of {row["tasks"]}', va='center', color='white')
        if row['peer_tasks']:
            share = 100.0 * row['peer_solved'] / row['peer_tasks']
            counts.barh(number - 0.2, share, 0.38, color=PEER, label='stock peer' if number == 0 else None)
            counts.text(2.0, number - 0.2, f'{row["peer_solved"]} of {row["peer_tasks"]}', va='center')
    counts.set(xlabel='solved [%]', title='Solved', xlim=(0.0, 100.0))
    _arms(counts, rows)
    return figure


def _scaling(data: Data) -> Figure:
    figure, (times, memory) = plt.subplots(1, 2, figsize=(9, 3.0), layout='constrained')
    for row in data['rows']:
        pairs = [one['pairs'] for one in row['rows']]
        times.plot(pairs, [1e3 * one['per_pair'] for one in row['rows']], 'o-', label=row['robot'])
        memory.plot(pairs, [one['peak'] for one in row['rows']], 'o-', label=row['robot'])
    times.set(ylabel='CPU time for each pair [ms]', title='Long tasks')
    memory.set(ylabel='peak of the process [MB]', title='Memory')
    for axes in (times, memory):
        axes.set(xlabel='pick and place pairs', xscale='log')
        axes.set_xticks(pairs, [str(number) for number in pairs])
        axes.minorticks_off()
        axes.set_ylim(0.0, 1.1 * axes.get_ylim()[1])
        axes.grid(alpha=0.3)
        axes.legend(fontsize='small')
    return figure


def _quality(data: Data) -> Figure:
    figure, (times, ways) = plt.subplots(1, 2, figsize=(9, 3.6), layout='constrained')
    for row, mark in zip(data['rows'], ('o', 's', '^'), strict=False):
        cycles, lengths = np.array(row['cycles']).reshape(-1, 3), np.array(row['lengths']).reshape(-1, 2)
        times.plot(cycles[:, 2], cycles[:, 1], mark, color=OURS, label=f'lfd, {row["robot"]}')
        times.plot(cycles[:, 2], cycles[:, 0], '_', color=BOUND, label='least time of the same path')
        ways.plot(lengths[:, 1], lengths[:, 0], mark, color=OURS, label=f'lfd, {row["robot"]}')
    _diagonal(times, 'cycle time', 's')
    _diagonal(ways, 'joint path', 'rad')
    handles, labels = times.get_legend_handles_labels()
    unique = dict(zip(labels, handles, strict=True))
    times.legend(unique.values(), unique.keys(), fontsize='x-small')
    return figure


def _hopeless(data: Data) -> Figure:
    figure, (named, crowds) = plt.subplots(1, 2, figsize=(10, 4.2), layout='constrained')
    names = list(dict.fromkeys(one['name'] for row in data['rows'] for one in row['named']))
    for row, mark in zip(data['rows'], ('o', 's', '^'), strict=False):
        ratios = [one['ratio'] for one in row['named']]
        named.plot(ratios, [names.index(one['name']) for one in row['named']], mark, label=row['robot'])
        usual = np.median(row['solved']) if row['solved'] else np.nan
        for values, style in (([one['ratio'] for one in row['refused']], '-'), (row['solved'] / usual, ':')):
            share = 100.0 * np.arange(1, len(values) + 1) / max(len(values), 1)
            label = f'{row["robot"]}, {"refused" if style == "-" else "solved"}'
            crowds.plot(np.sort(values), share, style, label=label)
    named.set_yticks(range(len(names)), names, fontsize='small')
    named.invert_yaxis()
    named.set(xlabel='CPU time / that of a similar task', title='Tasks that nobody can do')
    crowds.set(xlabel='CPU time / median of the solved ones', ylabel='tasks [%]', title='Crowds')
    for axes in (named, crowds):
        axes.axvline(2.0, color=PEER)
        axes.set_xlim(left=0.0)
        axes.grid(alpha=0.3)
        axes.legend(fontsize='x-small')
    return figure


def _diagonal(axes: Axes, what: str, unit: str) -> None:
    top = max(axes.get_xlim()[1], axes.get_ylim()[1])
    axes.plot([0.0, top], [0.0, top], color=PEER, zorder=0)
    axes.set(xlabel=f'stock peer [{unit}]', ylabel=f'lfd [{unit}]', title=f'{what}: below the line lfd is better')
    axes.set(xlim=(0.0, top), ylim=(0.0, top))
    axes.grid(alpha=0.3)


def _arms(axes: Axes, rows: Any) -> None:
    axes.set_yticks(range(len(rows)), [row['robot'] for row in rows])
    axes.invert_yaxis()


FIGURES: Mapping[str, Callable[[Data], Figure]] = {
    'stack': _stack,
    'random': _random,
    'scaling': _scaling,
    'quality': _quality,
    'hopeless': _hopeless,
}
