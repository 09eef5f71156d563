"""Which signal of a task is which input or output of the controller.

The user says so by name; what is not said gets the controller's next one, and the program's header lists all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from lfd_description.hints import did_you_mean

from .program import GRIPPER, Program, signals
from .texts import ExportError, plain


class Kind(Enum):
    """What a port is."""

    OUTPUT = 'digital output'
    LEVEL = 'analogue output'
    INPUT = 'digital input'


class Ports(Protocol):
    """The inputs and outputs of one kind of controller."""

    def default(self, kind: Kind, signal: str, taken: Collection[str]) -> str:
        """A port for a signal or `GRIPPER` that is not taken yet, as it is written in programs.

        Raises:
            ExportError: there is none left.
        """

    def checked(self, kind: Kind, port: str) -> str:
        """The port as it is written in programs.

        Raises:
            ExportError: the controller has no such port.
        """


@dataclass(frozen=True)
class Asked:
    """What the user said about signals."""

    gripper: str | None = None
    outputs: Mapping[str, str] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Wiring:
    """The port of each signal, as it is written in the program."""

    outputs: Mapping[str, str]
    """With the one of `GRIPPER`."""
    levels: Mapping[str, str]
    inputs: Mapping[str, str]

    @property
    def told(self) -> list[str]:
        """A line for each port, for people."""
        lines = []
        for kind, ports in ((Kind.OUTPUT, self.outputs), (Kind.LEVEL, self.levels), (Kind.INPUT, self.inputs)):
            for signal, port in ports.items():
                what = 'gripper, on = closed' if signal == GRIPPER else plain(signal, 40)
                lines.append(f'{kind.value} {port}: {what}')
        return lines


def wire(program: Program, asked: Asked, ports: Ports) -> Wiring:
    """The ports of all signals of a program.

    Raises:
        ExportError: a signal that was named is not in the program, a port does not exist or is used twice.
    """
    digital, analogue, awaited = signals(program)
    both = set(digital) & set(analogue)
    if both:
        raise ExportError(f"The output '{plain(min(both))}' is switched and set to a number; use two outputs.")
    _refuse_unknown('output', asked.outputs, [*digital, *analogue])
    _refuse_unknown('input', asked.inputs, awaited)
    if asked.gripper is not None and GRIPPER not in digital:
        raise ExportError('The solution moves no gripper; leave --gripper-output out.')
    hand = {} if asked.gripper is None else {GRIPPER: asked.gripper}
    return Wiring(
        _wired(Kind.OUTPUT, digital, {**hand, **asked.outputs}, ports),
        _wired(Kind.LEVEL, analogue, asked.outputs, ports),
        _wired(Kind.INPUT, awaited, asked.inputs, ports),
    )


def signal_title(signal: str) -> str:
    """A signal in a sentence."""
    return 'The gripper' if signal == GRIPPER else f"The signal '{plain(signal)}'"


def _wired(kind: Kind, names: list[str], asked: Mapping[str, str], ports: Ports) -> dict[str, str]:
    """Asked ports first; then the others take what is left."""
    found = {name: ports.checked(kind, asked[name]) for name in names if name in asked}
    if len({port.lower() for port in found.values()}) < len(found):
        raise ExportError(f'Two signals are on one {kind.value}; name a port for each.')
    for name in names:
        if name not in found:
            found[name] = ports.default(kind, name, found.values())
    return {name: found[name] for name in names}


def _refuse_unknown(kind: str, asked: Mapping[str, str], known: list[str]) -> None:
    names = [name for name in known if name != GRIPPER]
    for name in asked:
        if name not in names:
            there = f'it has {", ".join(map(plain, names))}' if names else 'it has none'
            raise ExportError(f"The solution has no {kind} '{plain(name)}'{did_you_mean(name, names)}; {there}.")
