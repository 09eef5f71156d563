"""Colours that have a name in scene files, as red, green, blue and opacity, 0 to 1."""

from types import MappingProxyType

from ..bodies import Colour

NAMED: MappingProxyType[str, Colour] = MappingProxyType(
    {
        'red': (0.80, 0.16, 0.14, 1.0),
        'green': (0.20, 0.58, 0.27, 1.0),
        'blue': (0.13, 0.36, 0.71, 1.0),
        'yellow': (0.95, 0.77, 0.15, 1.0),
        'orange': (0.91, 0.46, 0.13, 1.0),
        'purple': (0.48, 0.27, 0.60, 1.0),
        'pink': (0.90, 0.52, 0.64, 1.0),
        'cyan': (0.20, 0.66, 0.72, 1.0),
        'brown': (0.45, 0.30, 0.19, 1.0),
        'beige': (0.90, 0.84, 0.72, 1.0),
        'wood': (0.80, 0.64, 0.44, 1.0),
        'white': (0.96, 0.96, 0.95, 1.0),
        'grey': (0.55, 0.56, 0.58, 1.0),
        'gray': (0.55, 0.56, 0.58, 1.0),
        'black': (0.10, 0.10, 0.11, 1.0),
    }
)
