"""Compiles the probes ahead of time."""

import numpy as np

from .probe import probe, protrusion, thickness


def warm_up() -> None:
    """Compile all loops of grasp generation, or load them if that was done before."""
    tcp, points, normals = np.eye(4)[None], np.zeros((1, 3)), np.array([[0.0, 1.0, 0.0]])
    probe(tcp, points, normals, 0.01, 0.01, 0.01, 0.01)
    thickness(tcp, points, normals, 0.01, 0.01, 0.01)
    protrusion(tcp, points, 0.01)
