"""Devices of an execution that keep no time: the arm is at once where it is sent, unless a test wants otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from lfd_planner.backends import Failure
from lfd_planner.error_codes import Code
from lfd_planner.execution import Devices
from lfd_planner.execution.devices import ShouldStop
from lfd_planner.scene import AttachedObject, PlanningScene, SceneFault
from lfd_planner.solution import Attachment
from lfd_planner.timing import Trajectory

from .task_cells import planner

LOOKS = 8  # times that an arm on its way looks whether to stop


@dataclass
class Bench:
    """An arm, a hand, a scene and signals; what happened is kept in `log`."""

    start: PlanningScene
    names: tuple[str, ...]
    log: list[str] = field(default_factory=list)
    values: dict[str, bool | float] = field(default_factory=dict)
    silent: float = 0.0
    on_way: Callable[[int, float], Failure | None] = lambda move, share: None
    """Called on the way of each move with its number and how much of it is done."""
    grip: Callable[[Mapping[str, float]], Failure | None] = lambda positions: None
    is_dead: bool = False
    """Whether the planning server is gone."""

    def __post_init__(self) -> None:
        self.world, self.count, self.moves = self.start, 0, 0
        self.identity = frozenset({'first'})

    @property
    def devices(self) -> Devices:
        return Devices(self, _Hand(self), self, _Signals(self))

    # The arm

    def follow(self, trajectory: Trajectory, should_stop: ShouldStop) -> Failure | None:
        self.log.append(f'move {trajectory.duration:.3f}')
        self.moves += 1
        for share in np.linspace(0.0, 1.0, LOOKS):
            q = trajectory.sample(share * trajectory.duration).q
            self.world = self.world.with_joints(dict(zip(self.names, q.tolist(), strict=True)))
            if failed := self.on_way(self.moves, float(share)) or should_stop():
                return failed
        return None

    def joints(self) -> Mapping[str, float]:
        return dict(self.world.joints)

    def silence(self) -> float:
        return self.silent

    def missing(self) -> Failure | None:
        return None

    # The scene

    def newest(self) -> PlanningScene:
        return self.current()

    def current(self) -> PlanningScene:
        if self.is_dead:
            raise SceneFault(Code.FAILURE, "Nobody serves 'get_planning_scene'; start move_group.")
        return self.world

    def edits(self) -> int:
        return self.count

    def servers(self) -> frozenset[str]:
        return self.identity

    def change(self, change: Callable[[PlanningScene], PlanningScene]) -> None:
        """Somebody changes the scene."""
        self.world, self.count = change(self.world), self.count + 1

    def attach(self, attachment: Attachment) -> Failure | None:
        self.log.append(f'attach {attachment.object}')
        return self._edit(
            lambda scene: scene.attach(attachment.object, attachment.link, self._poses(), attachment.touch_links)
        )

    def hold(self, held: AttachedObject) -> Failure | None:
        self.log.append(f'hold {held.id}')
        return self._edit(lambda scene: scene.attach_new(held, self._poses()))

    def detach(self, attachment: Attachment) -> Failure | None:
        self.log.append(f'detach {attachment.object}')
        return self._edit(lambda scene: scene.detach(attachment.object, self._poses()))

    def _edit(self, change: Callable[[PlanningScene], PlanningScene]) -> Failure | None:
        if self.is_dead:
            return Failure(Code.FAILURE, "Nobody serves 'apply_planning_scene'; start move_group.")
        self.change(change)
        return None

    def _poses(self) -> Mapping[str, np.ndarray]:
        return planner().backend.robot.frames.link_poses(self.world.joints)


@dataclass
class _Hand:
    bench: Bench

    def move(self, positions: Mapping[str, float], should_stop: ShouldStop) -> Failure | None:
        self.bench.log.append('grip ' + ' '.join(f'{position:.4f}' for position in positions.values()))
        if failed := self.bench.grip(positions) or should_stop():
            return failed
        self.bench.world = self.bench.world.with_joints(positions)
        return None

    def grip(self, positions: Mapping[str, float], should_stop: ShouldStop) -> Failure | None:
        return self.move(positions, should_stop)

    def missing(self) -> Failure | None:
        return None


@dataclass
class _Signals:
    bench: Bench

    def set(self, outputs: Mapping[str, bool | float]) -> None:
        self.bench.log += [f'set {signal} {value}' for signal, value in outputs.items()]

    def unheard(self, outputs: Mapping[str, bool | float]) -> Failure | None:
        return None

    def value(self, signal: str) -> bool | float | None:
        return self.bench.values.get(signal)
