"""How the text of a task file becomes a tree: as that of a scene file, with more room and without a byte order mark."""

from lfd_description.scenes.yaml_nodes import MAX_CHARACTERS, Limits, Node, TextProblem
from lfd_description.scenes.yaml_nodes import read_nodes as read_any_nodes

MAX_BYTES = MAX_CHARACTERS
LIMITS = Limits(values=500_000, depth=24)
BOM = '\ufeff'


def read_nodes(text: str) -> Node | None:
    """The tree of a text with one document; None if there is nothing in it.

    Raises:
        TextProblem: the text is no YAML or JSON, too big, too deep, or uses aliases or tags.
    """
    if text.startswith(BOM):
        raise TextProblem(
            1, 1, 'the text begins with a byte order mark', 'save it as UTF-8 without one, or use ./lfd mtdf repair'
        )
    return read_any_nodes(text, LIMITS)
