"""`./lfd vr replay`: a log becomes a task again, without a graph."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lfd_description.scenes import find_scene
from lfd_planner.mtdf import load_task
from lfd_planner.scene import from_scene
from lfd_vr_bridge.demo_log.logger import LIVE, DemoLogger, log_path
from lfd_vr_bridge.studio import Hand, Studio


def shown(folder: Path) -> tuple[Path, Path]:
    """The log and the file of a task that was shown."""
    studio = Studio(from_scene(find_scene('seed_cell')), folder)
    logger = DemoLogger(studio, folder, lambda text: None)
    studio.start_recording('one box')
    start = studio.twin.scene.objects['red_box'].pose
    x, y, z = start.position
    studio.grab('me', Hand.MOUSE, 'red_box', start)
    studio.release('me', 'red_box', type(start)((x + 0.1, y, z + 0.05), start.orientation))
    studio.complete_recording()
    saved = studio.save()
    logger.close()
    studio.close()
    return log_path(studio.library, *saved), studio.library.path(*saved)


def test_the_task_of_a_log_is_the_one_that_was_saved(lfd: Callable, tmp_path: Path):
    log, file = shown(tmp_path)
    result = lfd('vr', 'replay', log, '--out', tmp_path / 'again.mtdf.yaml')
    assert result.returncode == 0, result.stderr
    assert "'one box': " in result.stderr
    again, saved = load_task(tmp_path / 'again.mtdf.yaml'), load_task(file)
    for one, other in zip(again.keyframes, saved.keyframes, strict=True):
        assert one == other
    assert again == saved

    printed = lfd('vr', 'replay', tmp_path / LIVE)
    assert printed.stdout == (tmp_path / 'again.mtdf.yaml').read_text()
    assert 'The log was cut short' in printed.stderr


def test_what_is_no_log_is_refused_in_one_sentence(lfd: Callable, tmp_path: Path):
    wrong = tmp_path / 'wrong.mcap'
    wrong.write_text('no log, whatever its name says')
    for file, sentence in ((wrong, 'is no MCAP file'), (tmp_path / 'missing.mcap', 'cannot be read')):
        result = lfd('vr', 'replay', file)
        assert result.returncode == 1
        assert sentence in result.stderr
        assert 'Traceback' not in result.stderr
