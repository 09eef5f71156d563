"""Planning and execution for the pages: one at a time, told to all, stopped by anybody.

A plan holds for the task that it was made for, and is dropped when there is another: when keyframes come or go, a
recording begins, a task is opened, or a later plan fails. What was begun can be gone on with for as long as the task is
the same.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from lfd_planner.mtdf import Keyframe
from lfd_planner.pose import Pose

from ..studio.ports import Robot
from ..studio.studio import Studio
from ..studio.values import PlanResult, RecordingState, Refusal, RunResult
from .assets import Assets, RobotAsset
from .news import News, PlanDropped, PlanNews

_log = logging.getLogger(__name__)
STOP_TIME = 5.0  # [s] after which what was stopped is ended without being asked


CHANGED = 'The task was changed while it was planned; plan it again.'


@dataclass(frozen=True)
class _Shown:
    """The task under review, as far as its motion is concerned."""

    keyframes: tuple[Keyframe, ...]
    origin: Pose


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
        self._told: _Shown | None = None
        """Of which the last plan was told, or that there is none."""
        self._has_plan = False
        self._begun: _Shown | None = None
        """What was run last."""
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
        shown = self._shown()

        async def job() -> None:
            asset = await asyncio.get_running_loop().run_in_executor(None, self._asset, wanted)
            if self._is_stopped:  # before the robot was asked
                raise Refusal('stopped', 'Planning was stopped.')
            result = await robot.plan(request.task, request.origin, wanted, self._tell)
            if self._shown() != shown:
                raise Refusal('changed', CHANGED)
            told(_plan_news(result, asset))

        def failed(why: str) -> None:
            told(PlanNews(PlanResult(False, wanted, why), '', ''))

        def told(plan: PlanNews) -> None:
            if not plan.result.ok:
                self._drop()
            self._told, self._has_plan = shown, plan.result.ok
            self._tell(plan)
            self.task_changed()

        self._begin('planning', job(), failed)

    def run(self, speed: float, first: int = 0) -> None:
        """Begin to execute the plan, at a share of its speed; or go on from a keyframe of what was begun.

        Raises:
            Refusal: there is nothing to run, a recording goes on, or something else does.
        """
        robot = self.robot
        self._refuse_busy()
        if self._studio.recording.state is RecordingState.RECORDING:
            raise Refusal('recording', 'A recording goes on; complete or discard it before you run anything.')
        shown = self._shown()
        if first == 0 and not (self._has_plan and self._told == shown):
            raise Refusal('no_plan', 'There is no plan of this task; plan it first.')
        if first > 0 and (self._begun is None or self._begun != shown):
            raise Refusal('no_plan', 'This task was not begun, or was changed since; plan it, and run all of it.')
        if first > len(self._studio.recording.keyframes):
            raise Refusal('wrong_range', f'The task ends before step {first + 1}; choose an earlier one.')
        self._begun = shown

        async def job() -> None:
            if first == 0:
                self._tell(await robot.run(speed, self._tell))
            else:
                self._tell(await robot.go_on(self._studio.task(), shown.origin, first, speed, self._tell))

        def failed(why: str) -> None:
            self._tell(RunResult(False, why, first, 0))

        self._begin('moving', job(), failed)

    def task_changed(self) -> None:
        """The task may be another one: a plan of what it was is of no use then."""
        shown = self._shown()
        if self._told is not None and self._told != shown:
            self._drop()
        if self._begun != shown:
            self._begun = None

    def _drop(self) -> None:
        if self._told is not None:
            self._told, self._has_plan = None, False
            self._tell(PlanDropped())

    def _shown(self) -> _Shown:
        recording = self._studio.recording
        return _Shown(recording.keyframes, recording.origin)

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
