"""Figures as files."""

from __future__ import annotations

import io
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from lfd_description.files import write_atomically


def write_figure(figure: Figure, file: Path) -> Path:
    """Write a figure as PNG and forget it; gives the file."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format='png', dpi=90)
    plt.close(figure)
    write_atomically(file, buffer.getvalue())
    return file
