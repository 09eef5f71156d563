"""Stages with known costs and no robot, as MoveIt Task Constructor's tests have them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lfd_planner.scene import PlanningScene
from lfd_planner.task import Backward, Connector, Context, Forward, Generator, Rejection, State, Step

SCENE = PlanningScene('world')


class GeneratorMockup(Generator):
    """Makes a state for each cost."""

    def __init__(self, costs: Sequence[float] = (0.0,), name: str = 'generator', keyframe: int = -1) -> None:
        super().__init__(name, keyframe=keyframe)
        self.costs = costs
        self.runs = 0

    def generate(self, context: Context, before: State | None) -> Iterable[Step]:
        self.runs += 1
        return (Step.at(State(SCENE), cost) for cost in self.costs)


class ForwardMockup(Forward):
    """Goes on with each cost; an infinite one is a rejection."""

    def __init__(self, costs: Sequence[float] = (0.0,), name: str = 'forward', keyframe: int = -1) -> None:
        super().__init__(name, keyframe=keyframe)
        self.costs = costs
        self.runs = 0

    def forward(self, context: Context, start: State) -> Iterable[Step | Rejection]:
        self.runs += 1
        for cost in self.costs:
            yield Rejection('endless') if cost == float('inf') else Step(start, State(SCENE), cost)


class BackwardMockup(Backward):
    """Comes from somewhere with each cost."""

    def __init__(self, costs: Sequence[float] = (0.0,), name: str = 'backward') -> None:
        super().__init__(name)
        self.costs = costs

    def backward(self, context: Context, end: State) -> Iterable[Step]:
        return (Step(State(SCENE), end, cost) for cost in self.costs)


class ConnectMockup(Connector):
    """Connects with each cost; remembers how often it was asked. `refuse` says which numbers of calls fail."""

    def __init__(self, costs: Sequence[float] = (0.0,), name: str = 'connect', refuse: Sequence[int] = ()) -> None:
        super().__init__(name)
        self.costs, self.refuse = costs, refuse
        self.runs = 0

    def connect(self, context: Context, start: State, end: State) -> Iterable[Step | Rejection]:
        self.runs += 1
        if self.runs in self.refuse:
            yield Rejection('no_path')
            return
        for cost in self.costs:
            yield Step(start, end, cost)
