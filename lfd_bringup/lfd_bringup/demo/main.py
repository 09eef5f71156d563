"""Runs the demo: robot by robot, from the recorded demonstration to a line of the report."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from lfd_description.files import write_atomically
from lfd_description.model.model import RobotModel
from lfd_description.pictures.contact_sheet import Captioned
from lfd_description.pictures.scene_picture import PictureError, save_png
from lfd_planner.solution import Solution
from lfd_planner.solution_file import Request, dump_error, dump_solution

from ..graph import Page
from ..home.console import coloured
from ..home.faults import Fault
from ..inputs import model_of
from .album import Album
from .execution import Progress
from .job import Job, bundled_job
from .judge import Judgement
from .picture import LiveView, sheet
from .play import Audience, Performance, play
from .report import Result, executed_lines, judged_line, planned_line, progress_line, report_data, table

REPORT, OVERVIEW, PAGE = 'report.json', 'overview.png', 'page'
RED, GREEN, QUIET = '31', '32', '2'


def main(arguments: argparse.Namespace) -> int:
    """Run the demo; return 1 if any robot did not do what was asked.

    Uses `robots` (names), `out` (a folder) and `headless` (no moving joints in the terminal, and no page to watch on).
    """
    out: Path = arguments.out.absolute()
    _make_folder(out)
    is_live = sys.stdout.isatty() and not arguments.headless
    page = None if arguments.headless else Page(folder=str(out / PAGE))
    demo = Demo(bundled_job(), out, tuple(dict.fromkeys(arguments.robots)), is_live, page)
    return 0 if demo.run() else 1


class Demo:
    """Several robots at one job; what they do goes to the terminal and into a folder."""

    def __init__(self, job: Job, out: Path, robots: tuple[str, ...], is_live: bool, page: Page | None = None) -> None:
        self._job = job
        self._out = out
        self._robots = robots
        self._is_live = is_live
        self._page = page
        self._results: list[Result] = []
        self._ends: list[Captioned] = []

    def run(self) -> bool:
        """Let one robot after the other perform; returns whether all of them did what was asked."""
        print(f'{self._job.task_name}: {len(self._job.task.keyframes)} keyframes, in {self._job.scene_name}')
        for number, name in enumerate(self._robots, 1):
            print(f'\n[{number}/{len(self._robots)}] {name}', flush=True)
            self._results.append(self._robot(name))
            self._write_report()  # an interrupted demo leaves what it has
        print(f'\n{table(self._results)}\n\nReport:   {self._out / REPORT}')
        if self._ends:
            save_png(sheet(self._ends), self._out / OVERVIEW)
            self._write_report(OVERVIEW)
            print(f'Pictures: {self._out / OVERVIEW}')
        if self._page is not None:
            robot = self._robots[-1]
            print(f'Show it a task yourself, on the same page: ./lfd up --robot {robot} --scene {self._job.scene_name}')
        return all(result.ok for result in self._results)

    def _robot(self, name: str) -> Result:
        """Let a robot perform; what is wrong with one of them is no reason to leave out the others."""
        try:
            model = model_of(name, None, with_hand=True)
            view = LiveView(model) if self._is_live else None
            with Album(self._job, model) as album:
                show = asyncio.run(play(self._job, model, _audience(self._job, album, view), self._page))
                if view is not None:
                    view.clear()
                shots = _finished(album)
        except Fault as fault:
            _tell('failed', str(fault), RED)
            return Result(name, Performance(Request(), problem=str(fault)))
        return self._written(model, show, shots)

    def _written(self, model: RobotModel, show: Performance, shots: Sequence[Captioned]) -> Result:
        """Tell and write what a robot did."""
        name = model.robot.name
        for what, text in executed_lines(show):
            _tell(what, text)
        solution = self._write_solution(model, show)
        picture = self._write_picture(model, show, shots)
        if show.problem:
            _tell('failed', show.problem, RED)
        else:
            _tell('ok', ' '.join(str(self._out / file) for file in (solution, picture) if file), GREEN)
        return Result(name, show, picture, solution)

    def _write_solution(self, model: RobotModel, show: Performance) -> str | None:
        """The motion, or why there is none, as a file that ./lfd validate reads; returns its name."""
        if show.answer is None:
            return None
        outcome = show.answer.outcome
        if isinstance(outcome, Solution):
            text = dump_solution(outcome, show.request)
        else:
            hand = model.gripper.name if model.gripper else None
            text = dump_error(model.robot.name, outcome, show.request, gripper=hand, planning_time=show.answer.seconds)
        write_atomically(self._out / f'{model.robot.name}.json', text)
        return f'{model.robot.name}.json'

    def _write_picture(self, model: RobotModel, show: Performance, shots: Sequence[Captioned]) -> str | None:
        """The motion as it was judged; returns the file's name."""
        if show.solution is None or not shots:
            return None
        save_png(sheet(shots), self._out / f'{model.robot.name}.png')
        facts = f'planned in {show.solution.planning_time:.2f} s, moves for {show.solution.trajectory.duration:.1f} s'
        self._ends.append(Captioned(shots[-1].image, model.robot.title, facts))
        return f'{model.robot.name}.png'

    def _write_report(self, overview: str | None = None) -> None:
        data = report_data(self._job, self._robots, self._results, overview)
        write_atomically(self._out / REPORT, json.dumps(data, indent=1) + '\n')


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_atomically(out / REPORT, '{}\n')
    except OSError as error:
        raise Fault(
            f'the report cannot be written to {out}: {error.strerror}.', 'choose another folder with --out'
        ) from None


def _audience(job: Job, album: Album, view: LiveView | None) -> Audience:
    begin = time.monotonic()
    told: set[int] = set()

    def on_judged(judgement: Judgement) -> None:
        _tell('judge', judged_line(judgement))
        album.begin(judgement)

    def on_progress(progress: Progress) -> None:
        """One line for each keyframe, when it begins."""
        if progress.is_under_way and progress.keyframe not in told:
            told.add(progress.keyframe)
            if view is not None:
                view.clear()
            _tell('move', progress_line(job, progress))

    return Audience(
        on_page=lambda page: _tell('page', f'watch it move: {page.opening}'),
        on_up=lambda number: _tell('graph', f'up in ROS domain {number} after {time.monotonic() - begin:.1f} s'),
        on_planned=lambda answer: _tell('plan', planned_line(answer)),
        on_judged=on_judged,
        on_progress=on_progress,
        view=view,
    )


def _finished(album: Album) -> tuple[Captioned, ...]:
    """The pictures; a robot that cannot be drawn has none."""
    try:
        return album.shots()
    except PictureError as error:
        _tell('picture', f'none: {error}')
        return ()


def _tell(what: str, text: str, colour: str = QUIET) -> None:
    print(f'  {coloured(f"{what:7}", colour, sys.stdout)} {text}', flush=True)
