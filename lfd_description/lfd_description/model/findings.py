"""What the model builder found out, for the person who has to trust it."""

from dataclasses import dataclass


class ModelError(ValueError):
    """A robot of which no planning model can be made; the message is one sentence with the way out."""


@dataclass(frozen=True)
class Finding:
    """One thing that was derived: what it is, its value, and why."""

    what: str
    value: str
    why: str
