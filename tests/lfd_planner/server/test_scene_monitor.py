from __future__ import annotations

import threading

import pytest

from lfd_description.model.builder import build_model
from lfd_description.robots import find_robot
from lfd_description.shapes import Box
from lfd_planner.robot.planning_robot import planning_robot
from lfd_planner.scene import Body, Pose, SceneFault, WorldObject
from lfd_planner.server.scene_monitor import SceneMonitor


@pytest.fixture
def monitor() -> SceneMonitor:
    return SceneMonitor(planning_robot(build_model(find_robot('gp8'))))


def cube(id: str) -> WorldObject:
    return WorldObject(id, Body.of(Box((0.1, 0.1, 0.1))))


def test_a_snapshot_stays_as_it_is(monitor):
    before = monitor.scene
    monitor.edit(lambda scene: scene.add(cube('a')))
    assert 'a' not in before
    assert 'a' in monitor.scene


def test_an_edit_that_fails_changes_nothing(monitor):
    before, version = monitor.snapshot()
    with pytest.raises(SceneFault):
        monitor.edit(lambda scene: scene.remove('a'))
    assert monitor.snapshot() == (before, version)


def test_edits_of_many_threads_are_all_kept(monitor):
    def add(start: int) -> None:
        for number in range(start, start + 50):
            monitor.edit(lambda scene, number=number: scene.add(cube(f'box_{number}')))

    threads = [threading.Thread(target=add, args=(50 * k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(monitor.scene.objects) == 400
    assert monitor.snapshot()[1].edits == 400


def test_joints_that_nobody_told_are_named(monitor):
    assert monitor.missing_joints == monitor.robot.joints
    monitor.set_joints({'joint_1_s': 0.5, 'stranger': 1.0})
    assert monitor.missing_joints == monitor.robot.joints[1:]
    assert monitor.scene.joints['joint_1_s'] == 0.5
    assert 'stranger' not in monitor.scene.joints


def test_who_waits_is_woken_by_an_edit_and_by_the_end(monitor):
    _, version = monitor.snapshot()
    woken: list[int] = []
    thread = threading.Thread(target=lambda: woken.append(monitor.wait_for_change(version, 30.0).edits))
    thread.start()
    monitor.edit(lambda scene: scene.add(cube('a')))
    thread.join()
    assert woken == [1]
    waiting = threading.Thread(target=lambda: monitor.wait_for_change(monitor.snapshot()[1], 30.0))
    waiting.start()
    monitor.close()
    waiting.join(10.0)
    assert not waiting.is_alive()


def test_frames_of_others_move_with_the_link_they_hang_from(monitor):
    tip = monitor.robot.group('manipulator').tip
    monitor.transforms.set(tip, 'camera', Pose((0.1, 0.0, 0.0)))
    before = monitor.scene.fixed_frames['camera']
    monitor.set_joints({'joint_1_s': 1.0})
    assert monitor.scene.fixed_frames['camera'] != before
