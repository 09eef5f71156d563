"""What stays known between executions: what the hand holds, and what the planning server has not been told.

A planning server that was restarted knows nothing of what is in the hand. Only then it is told again: whoever detached
an object on purpose is not contradicted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lfd_planner.backends import Failure
from lfd_planner.scene import AttachedObject, SceneFault
from lfd_planner.solution import Attachment

from .devices import SceneKeeper


@dataclass(frozen=True)
class Pending:
    """Something that was done and not told."""

    attached: bool
    """Else detached."""
    attachment: Attachment


@dataclass
class Memory:
    """What the executor knows when nothing runs."""

    held: Mapping[str, AttachedObject] = field(default_factory=dict)
    pending: Sequence[Pending] = ()
    servers: frozenset[str] = frozenset()
    """Who served the scene when this was known."""

    def keep(self, held: Mapping[str, AttachedObject], pending: Sequence[Pending], scene: SceneKeeper) -> None:
        """Remember how an execution left things."""
        self.held, self.pending = dict(held), tuple(pending)
        if not pending:
            self.servers = scene.servers()

    def settle(self, scene: SceneKeeper) -> Failure | None:
        """Tell the planning server what it missed; None: it knows all now.

        Args:
            scene: of the server.
        """
        now = scene.servers()
        try:
            if self.held and (self.pending or now - self.servers):
                known = scene.current()
                missed = [held for held in self.held.values() if held.id not in known.attached]
                for held in missed:
                    if failed := scene.hold(held):
                        return failed
                if missed:
                    scene.newest()  # scene sync, too, has to see that it is held before it is put down
            for pending in self.pending:
                if failed := self._tell(scene, pending):
                    return failed
        except SceneFault as fault:
            return Failure(fault.code, str(fault))
        self.pending, self.servers = (), now
        return None

    @staticmethod
    def _tell(scene: SceneKeeper, pending: Pending) -> Failure | None:
        known, name = scene.current(), pending.attachment.object
        if pending.attached and name in known.objects:
            return scene.attach(pending.attachment)
        if not pending.attached and name in known.attached:
            return scene.detach(pending.attachment)
        return None
