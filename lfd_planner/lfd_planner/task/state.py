"""What stages pass on: states, steps between them, and reasons why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from lfd_planner.scene import PlanningScene
from lfd_planner.solution import Motion

Value = TypeVar('Value')


@dataclass(frozen=True)
class Fact(Generic[Value]):
    """A name under which a state holds a value of one type, such as the grasp that was chosen."""

    name: str
    type: type[Value]


@dataclass(frozen=True, eq=False)
class State:
    """Where everything is between two stages, and what stages before found out.

    States are told apart by identity: two that look the same were still found in different ways.
    """

    scene: PlanningScene
    """The world, what is held, and the position of all joints."""
    facts: Mapping[str, object] = field(default_factory=dict)

    def get(self, fact: Fact[Value]) -> Value | None:
        """The value of a fact; None where no stage left one."""
        value = self.facts.get(fact.name)
        return value if isinstance(value, fact.type) else None

    def knowing(self, fact: Fact[Value], value: Value) -> State:
        """The state with one more fact."""
        return replace(self, facts={**self.facts, fact.name: value})

    def with_scene(self, scene: PlanningScene) -> State:
        """The state in another scene; the facts stay."""
        return replace(self, scene=scene)


@dataclass(frozen=True, eq=False)
class Step:
    """One way to do a stage."""

    start: State
    end: State
    cost: float = 0.0
    """Lower is better; costs of stages add up."""
    motions: tuple[Motion, ...] = ()
    comment: str = ''
    """For people: why this way."""
    stage: str = ''
    """Its name; filled in by the stage."""
    parts: tuple[Step, ...] = ()
    """The steps of a container's stages, in the order of the motion."""

    @staticmethod
    def at(state: State, cost: float = 0.0, comment: str = '') -> Step:
        """A step that stays in a state."""
        return Step(state, state, cost, comment=comment)

    @staticmethod
    def moving(start: State, end: State, *motions: Motion, extra_cost: float = 0.0, comment: str = '') -> Step:
        """A step whose cost is the time that its motions take [s], and what comes on top."""
        duration = sum(motion.trajectory.duration for motion in motions)
        return Step(start, end, duration + extra_cost, motions, comment)

    def all_motions(self) -> tuple[Motion, ...]:
        """Its motions and those of its parts, in order."""
        return (*self.motions, *(motion for part in self.parts for motion in part.all_motions()))

    def leaves(self) -> tuple[Step, ...]:
        """The steps of single stages, in order."""
        return tuple(leaf for part in self.parts for leaf in part.leaves()) if self.parts else (self,)


@dataclass(frozen=True)
class Rejection:
    """Why one way, or several, cannot be gone."""

    reason: str
    """One word that scripts know, such as unreachable, joint_limit, collision, no_path."""
    subjects: tuple[str, ...] = ()
    """Who was involved: the two that collide, the joint, the object."""
    count: int = 1
    detail: str = ''
    """A sentence for people, if there is more to say."""
    stage: str = ''
    """The stage that it is about, if that is not the one that found out."""
    keyframe: int | None = None
    """The keyframe that it is about, if that is not the stage's own."""
