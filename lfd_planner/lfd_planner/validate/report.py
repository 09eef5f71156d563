"""What the judge found: findings with their place and amount, what was checked, and how near things came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum

MOST_TOLD = 40  # findings in the text


class Check(StrEnum):
    """What a finding is about."""

    STRUCTURE = 'structure'
    START = 'start'
    LIMIT = 'joint limit'
    VELOCITY = 'velocity'
    ACCELERATION = 'acceleration'
    CONTINUITY = 'continuity'
    GRIPPER = 'gripper'
    COLLISION = 'collision'
    GRASP = 'grasp'
    PLACE = 'place'
    MOVED = 'moved'
    STABILITY = 'stability'
    KEYFRAME = 'keyframe'


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong."""

    check: Check
    message: str
    """A sentence."""
    segment: int | None = None
    """Index into the solution's segments; None: the solution as a whole."""
    time: float | None = None
    """Since the motion began [s]."""
    subjects: tuple[str, ...] = ()
    """The joint, the object, or the two that touch."""
    amount: float | None = None
    """How much is too much: a depth, a distance or a speed, in the message's units before rounding (m, rad, s)."""


@dataclass(frozen=True)
class Clearance:
    """How near two came to each other that must not touch."""

    a: str
    b: str
    distance: float
    """[m]"""
    time: float
    """[s]"""
    segment: int


@dataclass(frozen=True)
class Report:
    """What the judge says of a solution."""

    findings: tuple[Finding, ...]
    checked: Mapping[str, int] = field(default_factory=dict)
    """How much was looked at, by its name."""
    clearance: Clearance | None = None
    """The smallest, where objects do not stand on what they are lifted off or lowered to."""
    segments: tuple[tuple[str, int], ...] = ()
    """The segments' names and the keyframes that they serve."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    def of(self, check: Check) -> tuple[Finding, ...]:
        """The findings about one thing."""
        return tuple(finding for finding in self.findings if finding.check is check)

    @property
    def text(self) -> str:
        """The report for people."""
        count = len(self.findings)
        verdict = 'accepted' if self.ok else f'refused: {count} finding{"" if count == 1 else "s"}'
        lines = [verdict, *(f'  {self._line(finding)}' for finding in self.findings[:MOST_TOLD])]
        if count > MOST_TOLD:
            lines.append(f'  and {count - MOST_TOLD} more')
        lines.append('checked: ' + ', '.join(f'{number} {name}' for name, number in self.checked.items()))
        if self.clearance is not None:
            near = self.clearance
            lines.append(
                f"smallest clearance: {1e3 * near.distance:.2f} mm between '{near.a}' and '{near.b}' "
                f'at {near.time:.3f} s, {self._place(near.segment)}'
            )
        return '\n'.join(lines)

    def data(self) -> dict[str, object]:
        """The report for programs, fit for JSON."""
        return {
            'ok': self.ok,
            'findings': [{**asdict(finding), 'keyframe': self._keyframe(finding)} for finding in self.findings],
            'checked': dict(self.checked),
            'clearance': None if self.clearance is None else asdict(self.clearance),
        }

    def _line(self, finding: Finding) -> str:
        place = [] if finding.segment is None else [self._place(finding.segment)]
        place += [] if finding.time is None else [f'{finding.time:.3f} s']
        where = f' ({", ".join(place)})' if place else ''
        return f'{finding.check}{where}: {finding.message}'

    def _place(self, segment: int) -> str:
        name, keyframe = self.segments[segment]
        return f"segment {segment} '{name}' of keyframe {keyframe}"

    def _keyframe(self, finding: Finding) -> int | None:
        return None if finding.segment is None else self.segments[finding.segment][1]


def millimetres(length: float) -> str:
    """A length [m] as people read it, without its sign, however small it is."""
    length = abs(1e3 * length)
    return f'{length:.2f} mm' if length >= 0.005 else f'{length:.2g} mm'
