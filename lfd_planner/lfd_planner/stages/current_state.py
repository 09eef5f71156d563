"""Where everything is now."""

from __future__ import annotations

from collections.abc import Iterable

from lfd_planner.scene import PlanningScene
from lfd_planner.task import Context, Generator, Rejection, State, Step

from .already_held import lying
from .arm import Arm


class CurrentState(Generator):
    """Begins with a scene as it is; rejected if the robot, or what it holds in the air, touches what it must not."""

    def __init__(self, arm: Arm, scene: PlanningScene, name: str = 'current state') -> None:
        super().__init__(name)
        self.arm, self.scene = arm, scene

    def generate(self, context: Context, before: State | None) -> Iterable[Step | Rejection]:
        """The scene itself."""
        contacts = self.arm.backend.state_contacts(lying(self.arm, self.scene))
        for contact in contacts:
            yield Rejection('start_in_collision', (contact.a, contact.b), detail=f'At the start, {contact}.')
        if not contacts:
            yield Step.at(State(self.scene))
