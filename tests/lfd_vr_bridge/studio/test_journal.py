"""Nothing that was recorded is lost when a process or a machine ends at any moment."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from support.studio import People
from support.task_cells import box, seed_cell, seed_origin

from lfd_planner.mtdf import Place
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene
from lfd_vr_bridge.studio import RecordingState, Studio
from lfd_vr_bridge.studio.journal import Journal
from lfd_vr_bridge.studio.studio import JOURNAL

BLUE = 'blue_box'
SPOT = Pose((0.42, 0.1, -0.1263))

WORKER = """
import sys
from dataclasses import replace
from pathlib import Path
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, PlanningScene, WorldObject
from lfd_description.shapes import Box
from lfd_vr_bridge.studio import Hand, RecordingState, Studio

brick = Body.of(Box((0.05, 0.05, 0.05)))
cell = PlanningScene('base_link').add(WorldObject('brick', replace(brick, movable=True), Pose((0.0, 0.0, 0.025))))
studio = Studio(cell, Path(sys.argv[1]))
if studio.recording.state is not RecordingState.RECORDING:
    studio.start_recording('long')
print('ready', flush=True)
while True:
    count = len(studio.recording.keyframes) // 2
    pose = studio.twin.objects['brick'].pose
    studio.grab('me', Hand.RIGHT, 'brick', pose, pose)
    studio.adjust(gravity=False, snap=False)
    studio.release('me', 'brick', Pose((0.01 * (count + 1), 0.0, 0.025)))
    print(count + 1, flush=True)
"""


def run_until_killed(folder: Path, steps: int, moment: float) -> int:
    """Record in another process, which is killed a moment [s] after so many steps; gives the last step it told of."""
    command = [sys.executable, '-c', WORKER, str(folder)]
    told: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        for line in worker.stdout:
            told.append(line.strip())
            if len(told) == steps + 1:
                threading.Timer(moment, worker.kill).start()
    assert worker.returncode == -9
    return int(told[-1])


def test_killed_at_any_moment_at_most_the_object_in_the_hand_is_lost(tmp_path: Path) -> None:
    random, known = np.random.default_rng(20261116), 0
    for _ in range(3):
        told = run_until_killed(tmp_path, int(random.integers(1, 12)), float(random.uniform(0.0, 0.05)))
        assert told > known
        studio = Studio(PlanningScene('base_link').add(box('brick', (0.05, 0.05, 0.05), (0.0, 0.0, 0.025))), tmp_path)
        recording = studio.recording
        assert recording.state is RecordingState.RECORDING
        assert 'long' in studio.early_notices[0].text
        known = len(recording.keyframes) // 2
        assert told <= known <= told + 1
        xs = [keyframe.pose.position[0] for keyframe in recording.keyframes if isinstance(keyframe, Place)]
        assert xs == [0.01 * (number + 1) for number in range(known)]
        assert studio.twin.objects['brick'].pose.position[0] == xs[-1]
        studio.close()


def test_an_unfinished_recording_is_gone_on_with(enter: People) -> None:
    one = enter(origin=seed_origin(), keep_paths=True)
    one.studio.start_recording('unfinished')
    one.studio.add_object(box('new', (0.03, 0.03, 0.03), (0.46, 0.05, -0.135)), (1.0, 0.0, 0.0, 1.0))
    one.bring(BLUE, SPOT)
    one.bring('new', Pose((0.5, 0.1, -0.135)))
    one.grab(BLUE)
    one.studio.close()

    again = enter(origin=seed_origin())
    recording = again.studio.recording
    assert (recording.state, recording.name) == (RecordingState.RECORDING, 'unfinished')
    assert recording.keyframes == one.studio.recording.keyframes
    assert again.pose(BLUE) == SPOT
    assert again.studio.twin.held == {}
    assert again.studio.twin.colour('new') == (1.0, 0.0, 0.0, 1.0)
    assert again.bring('yellow_box', Pose((0.46, -0.05, -0.1284))).kept
    assert again.studio.recording.since > recording.since
    again.studio.undo()
    again.studio.complete_recording()
    assert again.studio.task() == one.studio.task()
    assert again.studio.prepare_plan().scene.objects[BLUE].pose == seed_cell().objects[BLUE].pose
    again.studio.close()

    third = enter(origin=seed_origin())
    assert third.studio.recording.state is RecordingState.REVIEW
    third.studio.save()
    third.studio.close()
    assert enter().studio.recording.state is RecordingState.IDLE


@pytest.mark.parametrize('end', ['save', 'discard_recording'])
def test_what_is_saved_or_discarded_is_not_found_again(enter: People, end: str) -> None:
    one = enter()
    one.studio.start_recording('done')
    one.bring(BLUE, SPOT)
    one.studio.complete_recording()
    getattr(one.studio, end)()
    one.studio.robot_put(BLUE, SPOT)
    one.studio.close()
    again = enter()
    assert again.studio.recording.state is RecordingState.IDLE
    assert again.studio.early_notices == ()


def test_an_edit_of_an_opened_task_is_not_lost(enter: People) -> None:
    one = enter()
    one.studio.open_task('stack_boxes')
    one.studio.trim(0, 3)
    one.studio.close()
    again = enter()
    assert again.studio.recording.keyframes == one.studio.recording.keyframes
    assert again.studio.task() == one.studio.task()


def test_cut_off_anywhere_a_journal_holds_what_came_before(enter: People, tmp_path: Path) -> None:
    one = enter()
    one.studio.start_recording('cut')
    for number in range(4):
        one.bring(BLUE, Pose((0.42 + 0.01 * number, 0.1, -0.1263)))
    one.studio.undo()
    one.studio.complete_recording()
    whole = (tmp_path / 'studio' / JOURNAL).read_bytes()
    lines = np.cumsum([len(line) + 1 for line in whole.split(b'\n')[:-1]])
    steps = [0, 1, 2, 3, 4, 3, 3]
    random = np.random.default_rng(2)
    for at in (0, *lines.tolist(), *random.integers(len(whole), size=60).tolist()):
        file = tmp_path / f'{at}.journal'
        file.write_bytes(whole[:at])
        journal = Journal(file)
        kept = journal.found()
        journal.close()
        done = int((lines <= at).sum())
        assert (kept is None) == (done == 0)
        if kept is not None:
            assert len(kept.shown.steps) == steps[done - 1]
            assert kept.complete == (done == len(lines))
            assert file.read_bytes().endswith(b'\n')


@pytest.mark.parametrize(
    'content', [b'', b'nonsense\n', b'{"do": "begin"}\n', b'[]\n', b'\xff\xfe\n', b'{"do": "step"}\n']
)
def test_a_file_that_is_no_journal_is_put_aside(tmp_path: Path, content: bytes) -> None:
    (tmp_path / JOURNAL).write_bytes(content)
    studio = Studio(seed_cell(), tmp_path)
    assert studio.recording.state is RecordingState.IDLE
    assert (tmp_path / JOURNAL).with_suffix('.aside').read_bytes() == content
    studio.close()


def test_a_disk_that_takes_nothing_does_not_end_a_demonstration(enter: People, tmp_path: Path) -> None:
    (tmp_path / 'studio').write_text('a file where the folder should be')
    one = enter()
    one.studio.start_recording()
    assert one.bring(BLUE, SPOT).kept
    assert all('this recording is lost' in text for text in one.notices())
    assert one.notices()
