"""What touches what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lfd_description.shapes import Vector

BodyKind = Literal['link', 'object', 'attached']


@dataclass(frozen=True)
class Contact:
    """Two that touch and must not, or come closer than a padding; in the scene's frame."""

    a: str
    b: str
    kind_a: BodyKind
    kind_b: BodyKind
    position: Vector
    """Between the two, or within both [m]."""
    normal: Vector
    """A unit vector from a to b."""
    depth: float
    """The shortest shift that was found to part them [m]; 0 if only a padding is touched."""

    def __str__(self) -> str:
        """As a sentence has it."""
        return f"'{self.a}' touches '{self.b}'"
