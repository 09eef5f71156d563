"""Whether the robot can bring a held object to where it is: asked ten times a second, about the newest pose."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from lfd_planner.pose import Pose

from ..studio.ports import Robot
from ..studio.studio import Studio
from ..studio.values import Refusal, Verdict
from .news import Reach

PERIOD = 0.1  # [s] between two questions
_log = logging.getLogger(__name__)


class ReachFeedback:
    """Judges held objects and tells what it finds.

    Args:
        studio: whose objects are held.
        robot: who is asked.
        tell: gets what is found.
    """

    def __init__(self, studio: Studio, robot: Robot, tell: Callable[[Reach], None]) -> None:
        self._studio = studio
        self._robot = robot
        self._tell = tell
        self._newest: dict[str, Pose] = {}
        self._changed = asyncio.Event()

    def look(self, object: str, pose: Pose) -> None:
        """A held object is at a pose."""
        self._newest[object] = pose
        self._changed.set()

    def forget(self, object: str) -> None:
        """An object is held no more."""
        self._newest.pop(object, None)

    async def serve(self) -> None:
        """Judge for ever."""
        loop = asyncio.get_running_loop()
        while True:
            await self._changed.wait()
            self._changed.clear()
            began = loop.time()
            for name in tuple(self._newest):
                pose = self._newest.pop(name, None)
                if pose is not None and name in self._studio.twin.held:
                    await self._judge(name, pose)
            await asyncio.sleep(max(0.0, began + PERIOD - loop.time()))

    async def _judge(self, name: str, pose: Pose) -> None:
        """Tell of one object; whatever goes wrong is told of this one and no other."""
        landing: Pose | None = None
        try:
            rest_of = self._studio.rest_of(name, pose)
            landing = (await asyncio.get_running_loop().run_in_executor(None, rest_of)).pose
            verdict = await self._robot.judge(self._studio.twin.standing(name), name, landing or pose)
        except Refusal as refusal:
            verdict = Verdict('unknown', str(refusal))
        except Exception:  # the next pose, or the next object, may be a better one
            _log.exception('A held object could not be judged.')
            verdict = Verdict('unknown', "Whether the robot reaches this is not known; the bridge's log says why.")
        if name in self._studio.twin.held:
            self._tell(Reach(name, verdict, landing))
