"""How the arms look: for each, a function from the published shapes of its links to coloured parts."""

from collections.abc import Callable

from ..parts import Part
from ..slices import LinkShape
from . import abb, universal_robots, yaskawa
from .clay import tucked

Look = Callable[[dict[str, LinkShape]], dict[str, list[Part]]]

DESIGNS: dict[str, Look] = {
    'gp8': yaskawa.gp8,
    'irb1600': abb.irb1600,
    'ur3': universal_robots.cb_series,
    'ur3e': universal_robots.e_series,
    'ur5e': universal_robots.e_series,
    'ur10e': universal_robots.e_series,
}


def looks(arm: str, links: dict[str, LinkShape]) -> dict[str, list[Part]]:
    """The coloured parts of every link of an arm, within the links' collision solids."""
    return {name: tucked(links[name], parts) for name, parts in DESIGNS[arm](links).items()}
