"""Planning and execution for the pages: one at a time, told to all, stopped by anybody."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from ..studio.ports import Robot
from ..studio.studio import Studio
from ..studio.values import PlanResult, Refusal, RunResult
from .assets import Assets, RobotAsset
from .news import News, PlanNews

_log = logging.getLogger(__name__)
STOP_TIME = 5.0  # [s] after which what was stopped is ended without being asked


class Motions:
    """What the robot is asked to do.

    Args:
        studio: whose task is planned.
        robot: who plans and moves; None: nobody does.
        assets: where robots are had for pages.
        tell: gets the news, for all clients.
    """

    def __init__(self, studio: Studio, robot: Robot | None, assets: Assets, tell: Callable[[News], None]) -> None:
        self._studio = studio
        self._robot = robot
        self._assets = assets
        self._tell = tell
        self._job: asyncio.Task[None] | None = None
        self._what = ''
        self._is_stopped = False
        self.present: RobotAsset | None = None
        """The robot that is there, as pages load it."""

    @property
    def robot(self) -> Robot:
        """Who plans and moves.

        Raises:
            Refusal: nobody does.
        """
        if self._robot is None:
            raise Refusal('no_robot', 'No robot is connected to this bridge; start one with ./lfd up --robot NAME.')
        return self._robot

    def plan(self, name: str | None) -> None:
        """Begin to plan for a robot, or the one that is there.

        Raises:
            Refusal: it cannot be planned, or something goes on.
        """
        robot = self.robot
        wanted = robot.name if name is None else name
        if wanted not in robot.robots:
            raise Refusal('no_robot', f"There is no robot '{wanted}'; choose one of {', '.join(robot.robots)}.")
        self._refuse_busy()
        request = self._studio.prepare_plan()

        async def job() -> None:
            asset = await asyncio.get_running_loop().run_in_executor(None, self._asset, wanted)
            if self._is_stopped:  # before the robot was asked
                raise Refusal('stopped', 'Planning was stopped.')
            result = await robot.plan(request.task, request.origin, wanted, self._tell)
            self._tell(_plan_news(result, asset))

        def failed(why: str) -> None:
            self._tell(PlanNews(PlanResult(False, wanted, why), '', ''))

        self._begin('planning', job(), failed)

    def run(self, speed: float) -> None:
        """Begin to execute the newest plan, at a share of its speed.

        Raises:
            Refusal: something goes on.
        """
        robot = self.robot
        self._refuse_busy()

        async def job() -> None:
            self._tell(await robot.run(speed, self._tell))

        def failed(why: str) -> None:
            self._tell(RunResult(False, why, 0, 0))

        self._begin('moving', job(), failed)

    async def stop(self) -> None:
        """Stop planning and motion.

        Raises:
            Refusal: there is no robot.
        """
        self._is_stopped = True
        await self.robot.stop()
        job = self._job
        if job is not None:
            await asyncio.wait({job}, timeout=STOP_TIME)
            job.cancel()

    async def close(self) -> None:
        """End what goes on, the robot's motion included."""
        job = self._job
        if job is not None and not job.done() and self._robot is not None:
            await asyncio.wait({asyncio.ensure_future(self._robot.stop())}, timeout=STOP_TIME)
            job.cancel()
            await asyncio.wait({job}, timeout=STOP_TIME)

    def _refuse_busy(self) -> None:
        if self._job is not None and not self._job.done():
            raise Refusal('busy', f'The robot is busy {self._what}; wait, or press stop.')

    def _begin(self, what: str, job: Coroutine[Any, Any, None], failed: Callable[[str], None]) -> None:
        async def told() -> None:
            try:
                await job
            except asyncio.CancelledError:
                failed('It was stopped.')
                raise
            except Refusal as refusal:
                failed(str(refusal))
            except Exception:  # whatever the robot's side does: the pages must not wait for ever
                _log.exception('The robot was asked for something, and its side failed.')
                failed('The bridge could not do this; its log says why.')

        self._what, self._is_stopped = what, False
        self._job = asyncio.create_task(told())

    def _asset(self, name: str) -> RobotAsset:
        if self.present is not None and self.present.name == name:
            return self.present
        return self._assets.robot(name)


def _plan_news(result: PlanResult, asset: RobotAsset) -> PlanNews:
    hand_joints = tuple(dict.fromkeys(joint for segment in result.segments for joint in segment.gripper))
    return PlanNews(result, asset.url, asset.base, hand_joints)
