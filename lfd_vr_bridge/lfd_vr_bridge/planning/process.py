"""Has a task planned in another process, which can be ended at any moment."""

from __future__ import annotations

import asyncio
import pickle
import sys
from collections.abc import Callable

from ..studio.values import PlanProgress, PlanResult
from .results import failed
from .worker import LENGTH, Request

STOPPED = 'Planning was stopped.'
PLAN_WITHIN = 300.0  # [s]
MOST_BYTES = 1_000_000_000  # of an answer


class WorkerPlanning:
    """Plans in a process, one task at a time; all methods are called in the event loop's thread."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._is_stopped = False

    async def plan(self, request: Request, progress: Callable[[PlanProgress], None]) -> PlanResult:
        """Plan a task; never raises."""
        self._is_stopped = False
        process = self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            '-m',
            f'{__package__}.worker',
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=2**20,
        )
        if self._is_stopped:  # while the process was being made
            _end(process)
        try:
            async with asyncio.timeout(PLAN_WITHIN):
                return await self._answer(process, request, progress)
        except TimeoutError:
            return failed(request.robot, f'There was no motion after {PLAN_WITHIN:g} s; make the task shorter.')
        except (asyncio.IncompleteReadError, ConnectionError):
            end = await process.wait()
            ended = STOPPED if self._is_stopped else f'The planner for {request.robot} ended with {end}; see the log.'
            return failed(request.robot, ended)
        finally:
            self._process = None
            _end(process)
            await process.wait()

    def stop(self) -> None:
        """End what is being planned, if anything is."""
        self._is_stopped = True
        if self._process is not None:
            _end(self._process)

    async def _answer(
        self, process: asyncio.subprocess.Process, request: Request, progress: Callable[[PlanProgress], None]
    ) -> PlanResult:
        assert process.stdin is not None
        assert process.stdout is not None
        data = pickle.dumps(request)
        process.stdin.write(LENGTH.pack(len(data)) + data)
        await process.stdin.drain()
        while True:
            (length,) = LENGTH.unpack(await process.stdout.readexactly(LENGTH.size))
            value = pickle.loads(await process.stdout.readexactly(min(length, MOST_BYTES)))
            if isinstance(value, PlanResult):
                return value
            progress(value)


def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.kill()
