"""An execution without ROS: what is commanded in which order, and how it ends when something goes wrong."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
from support.peer import eventually
from support.task_cells import box, planner, seed_origin

from lfd_planner.backends import Failure
from lfd_planner.error_codes import Code
from lfd_planner.execution import Control, Execution, Memory, Order, Status, remaining, rest_of, slowed
from lfd_planner.execution.execution import State
from lfd_planner.mtdf import Place
from lfd_planner.planner import TaskFailure
from lfd_planner.solution import Awaited
from lfd_planner.validate import validate


def execution(bench, solution, task=None, control=None, told=None, **wishes) -> Execution:
    order = Order(solution, 2, task, seed_origin(), **wishes)
    tell = told.append if told is not None else lambda _: None
    return Execution(order, planner().model, bench.devices, control or Control(), tell=tell)


def test_segments_without_an_act_between_them_are_one_motion(bench, solution, task):
    outcome = execution(bench, solution, task).run()
    assert outcome.code is Code.SUCCESS, outcome.message
    assert outcome.next_keyframe == 2
    verbs = [line.split()[0] for line in bench.log]
    assert verbs == ['grip', 'move', 'grip', 'attach', 'move', 'grip', 'detach', 'move']


def test_the_object_ends_at_its_place(bench, solution, task):
    execution(bench, solution, task).run()
    place = task.keyframes[1]
    assert isinstance(place, Place)
    wanted = (seed_origin() @ place.pose).position
    assert bench.world.objects[place.object].pose.position == pytest.approx(wanted, abs=1e-6)


def test_half_the_speed_takes_twice_the_time(bench, solution):
    slow = slowed(solution, 0.5)
    assert slow.trajectory.duration == pytest.approx(2.0 * solution.trajectory.duration)
    assert execution(bench, slow, speed=0.5).run().code is Code.SUCCESS
    whole = sum(float(line.split()[1]) for line in bench.log if line.startswith('move'))
    gripping = sum(
        solution.trajectory.times[segment.last] - solution.trajectory.times[segment.first]
        for segment in solution.segments
        if segment.gripper
    )
    assert whole == pytest.approx(2.0 * (solution.trajectory.duration - gripping), abs=0.01)


def test_a_dry_run_moves_nothing_and_tells_how_long_it_would_take(bench, solution, task):
    outcome = execution(bench, solution, task, dry_run=True).run()
    assert outcome.code is Code.SUCCESS
    assert bench.log == []
    assert f'{solution.trajectory.duration:.2f} s' in outcome.message


def test_progress_rises_from_start_to_end_and_names_keyframe_and_segment(bench, solution, task):
    told: list[Status] = []
    execution(bench, solution, task, told=told).run()
    progress = [status.progress for status in told]
    assert progress == sorted(progress)
    assert progress[-1] == pytest.approx(1.0)
    assert [status.keyframe for status in told] == sorted(status.keyframe for status in told)
    assert {State.CHECKING, State.MOVING, State.GRIPPING} <= {status.state for status in told}


def test_an_arm_that_is_elsewhere_is_not_moved(bench, solution, task):
    bench.world = bench.world.with_joints({solution.joints[1]: bench.world.joints[solution.joints[1]] + 0.1})
    outcome = execution(bench, solution, task).run()
    assert outcome.code is Code.START_STATE_INVALID
    assert solution.joints[1] in outcome.message
    assert bench.log == []
    assert outcome.next_keyframe == 0


def test_a_small_difference_at_the_start_is_tolerated(bench, solution, task):
    bench.world = bench.world.with_joints({solution.joints[1]: bench.world.joints[solution.joints[1]] + 0.005})
    assert execution(bench, solution, task).run().code is Code.SUCCESS


def test_something_in_the_way_is_found_before_anything_moves(bench, solution, task):
    middle = solution.segments[5]
    q = solution.trajectory.q[(middle.first + middle.last) // 2]
    tcp = planner().backend.robot.frames.link_poses(dict(zip(solution.joints, q.tolist(), strict=True)))['tcp'][:3, 3]
    bench.world = bench.world.add(box('wall', (0.1, 0.1, 0.1), tuple(tcp.tolist()), movable=False))
    outcome = execution(bench, solution, task).run()
    assert outcome.code is Code.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE
    assert 'wall' in outcome.message
    assert bench.log == []


def test_a_solution_of_another_robot_is_refused(bench, solution):
    outcome = execution(bench, replace(solution, robot='gp8')).run()
    assert outcome.code is Code.INVALID_MOTION_PLAN
    assert 'gp8' in outcome.message


def test_an_object_that_comes_into_the_way_stops_the_motion(bench, solution, task):
    target = solution.trajectory.q[solution.segments[6].last]
    frames = planner().backend.robot.frames
    place = frames.link_poses(dict(zip(solution.joints, target.tolist(), strict=True)))['tcp'][:3, 3]
    wall = box('wall', (0.05, 0.05, 0.05), tuple((place + np.array([0.0, 0.0, 0.05])).tolist()), movable=False)

    def appear(move: int, share: float) -> Failure | None:
        if move == 2 and share == 0.0:
            bench.change(lambda scene: scene.add(wall))
        return None

    bench.on_way = appear
    outcome = execution(bench, solution, task).run()
    assert outcome.code is Code.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE
    assert "'wall' changed meanwhile" in outcome.message
    assert outcome.next_keyframe == 1
    assert 'detach blue_box' not in bench.log


def test_an_object_that_comes_elsewhere_disturbs_nobody(bench, solution, task):
    def appear(move: int, share: float) -> Failure | None:
        if share == 0.0:
            bench.change(lambda scene: scene.add(box(f'far {move}', (0.05, 0.05, 0.05), (2.0, float(move), 0.0))))
        return None

    bench.on_way = appear
    assert execution(bench, solution, task).run().code is Code.SUCCESS


def test_silent_joint_states_stop_the_arm(bench, solution, task):
    def fall_silent(move: int, share: float) -> Failure | None:
        bench.silent = 0.2 if move == 2 and share > 0.4 else 0.0
        return None

    bench.on_way = fall_silent
    outcome = execution(bench, solution, task).run()
    assert outcome.code is Code.UNABLE_TO_AQUIRE_SENSOR_DATA
    assert 'joint_states' in outcome.message
    assert 'Keyframe' in outcome.message
    assert outcome.next_keyframe == 1


@pytest.mark.parametrize(('move', 'next_keyframe'), [(1, 0), (2, 1), (3, 2)])
def test_a_controller_that_gives_up_is_told_with_its_words_and_where_to_resume(
    bench, solution, task, move, next_keyframe
):
    bench.on_way = lambda number, share: Failure(Code.CONTROL_FAILED, 'Gave up.') if number == move else None
    outcome = execution(bench, solution, task).run()
    assert outcome.code is Code.CONTROL_FAILED
    assert 'Gave up.' in outcome.message
    assert outcome.next_keyframe == next_keyframe


def test_fingers_that_do_not_close_are_opened_again(bench, solution, task):
    bench.grip = lambda positions: Failure(Code.CONTROL_FAILED, 'Stalled.') if min(positions.values()) < 0.03 else None
    outcome = execution(bench, solution, task).run()
    assert outcome.code is Code.CONTROL_FAILED
    assert 'Stalled. The hand was opened again.' in outcome.message
    assert outcome.next_keyframe == 0
    assert not bench.world.attached


@pytest.mark.parametrize('how', ['stopped', 'stalled when stopped'])
def test_whoever_stops_while_the_fingers_close_finds_the_hand_as_it_is(bench, solution, task, how):
    control = Control()

    def stop(positions) -> Failure | None:
        if min(positions.values()) > 0.03:
            return None
        control.stop()
        return Failure(Code.CONTROL_FAILED, 'Stalled.') if how != 'stopped' else None

    bench.grip = stop
    outcome = execution(bench, solution, task, control).run()
    grips = [line for line in bench.log if line.startswith('grip')]
    assert len(grips) == 2  # opened for the approach, then closing; nothing after that
    assert bench.log[-1] == grips[-1]
    assert outcome.code in (Code.PREEMPTED, Code.CONTROL_FAILED)
    assert 'opened again' not in outcome.message
    assert outcome.next_keyframe == 0


def test_a_hand_that_is_opened_again_can_be_stopped(bench, solution, task):
    control, closings = Control(), []

    def grip(positions) -> Failure | None:
        if min(positions.values()) < 0.03:
            closings.append(positions)
            return Failure(Code.CONTROL_FAILED, 'Stalled.')
        if closings:
            control.stop()
        return None

    bench.grip = grip
    outcome = execution(bench, solution, task, control).run()
    assert 'Stalled. The hand was stopped while it opened again.' in outcome.message


def test_a_pause_before_an_act_whose_rest_cannot_be_timed_is_a_fault_and_no_crash(
    bench, solution, monkeypatch: pytest.MonkeyPatch
):
    segments = list(solution.segments)
    segments[1] = replace(segments[1], outputs={'lamp': True})
    end, control = solution.trajectory.q[segments[1].last], Control()

    class PauseBeforeTheLamp(list):
        def append(self, status: Status) -> None:
            here = [bench.world.joints[name] for name in solution.joints]
            if status.segment == segments[1].name and np.allclose(here, end):
                control.pause()

    def no_rest(*_: object) -> None:
        raise ArithmeticError('no such motion')

    monkeypatch.setattr('lfd_planner.execution.execution.rest_of', no_rest)
    whole = replace(solution, segments=tuple(segments))
    outcome = execution(bench, whole, control=control, told=PauseBeforeTheLamp()).run()
    assert outcome.code is Code.INVALID_MOTION_PLAN
    assert 'cannot be timed: no such motion' in outcome.message
    assert 'set lamp True' not in bench.log


def test_a_planning_server_that_is_gone_is_told_later_what_is_in_the_hand(bench, solution, task):
    def die(positions) -> Failure | None:
        bench.is_dead = min(positions.values()) < 0.03
        return None

    bench.grip = die
    run = execution(bench, solution, task)
    outcome = run.run()
    assert outcome.code is Code.FAILURE
    assert 'start move_group' in outcome.message
    assert outcome.next_keyframe == 1
    memory = Memory()
    memory.keep(run.held, run.pending, bench)
    assert memory.settle(bench) is not None
    bench.is_dead = False
    assert memory.settle(bench) is None
    assert 'blue_box' in bench.world.attached


def test_a_planning_server_that_came_back_is_told_what_is_held(bench, solution, task):
    bench.on_way = lambda number, share: Failure(Code.CONTROL_FAILED, 'Gave up.') if number == 2 else None
    run = execution(bench, solution, task)
    run.run()
    memory = Memory()
    memory.keep(run.held, run.pending, bench)
    bench.world = bench.start.with_joints(bench.world.joints)  # it has forgotten
    assert memory.settle(bench) is None
    assert not bench.world.attached  # whoever detached it meant it
    bench.identity = frozenset({'first', 'second'})
    assert memory.settle(bench) is None
    assert 'blue_box' in bench.world.attached


def test_it_pauses_on_its_way_and_goes_on_from_there(bench, solution, task):
    control, told = Control(), []

    def pause(move: int, share: float) -> Failure | None:
        if move == 2 and 0.3 < share < 0.5:
            control.pause()
        return None

    bench.on_way = pause
    ended = []
    run = execution(bench, solution, task, control, told)
    thread = threading.Thread(target=lambda: ended.append(run.run()))
    thread.start()
    eventually(lambda: told and told[-1].state is State.PAUSED, 'a pause')
    bench.on_way = lambda move, share: None
    before = bench.moves
    control.resume()
    thread.join(30.0)
    assert ended[0].code is Code.SUCCESS, ended[0].message
    assert before == 2
    assert bench.moves == 4
    progress = [status.progress for status in told]
    assert progress == sorted(progress)
    place = task.keyframes[1]
    wanted = (seed_origin() @ place.pose).position
    assert bench.world.objects[place.object].pose.position == pytest.approx(wanted, abs=1e-5)


def test_an_arm_that_was_moved_while_it_paused_is_not_moved_on(bench, solution, task):
    control, told, ended = Control(), [], []
    bench.on_way = lambda move, share: control.pause() if move == 2 and 0.3 < share < 0.5 else None
    thread = threading.Thread(target=lambda: ended.append(execution(bench, solution, task, control, told).run()))
    thread.start()
    eventually(lambda: told and told[-1].state is State.PAUSED, 'a pause')
    joint = solution.joints[0]
    bench.world = bench.world.with_joints({joint: bench.world.joints[joint] + 0.3})
    control.resume()
    thread.join(30.0)
    assert ended[0].code is Code.START_STATE_INVALID
    assert ended[0].next_keyframe == 1


def test_it_stops_while_it_pauses(bench, solution, task):
    control, told, ended = Control(), [], []
    bench.on_way = lambda move, share: control.pause() if move == 1 else None
    thread = threading.Thread(target=lambda: ended.append(execution(bench, solution, task, control, told).run()))
    thread.start()
    eventually(lambda: told and told[-1].state is State.PAUSED, 'a pause')
    control.stop()
    thread.join(30.0)
    assert ended[0].code is Code.PREEMPTED
    assert ended[0].next_keyframe == 0


@pytest.mark.parametrize(
    ('value', 'code'), [(True, Code.SUCCESS), (False, Code.TIMED_OUT), (1.0, Code.TIMED_OUT), (None, Code.TIMED_OUT)]
)
def test_an_awaited_input_lets_it_go_on_or_times_out(bench, solution, value, code):
    segments = list(solution.segments)
    segments[1] = replace(segments[1], awaits=Awaited('door', True, 0.05), outputs={'lamp': True})
    if value is not None:
        bench.values['door'] = value
    outcome = execution(bench, replace(solution, segments=tuple(segments))).run()
    assert outcome.code is code, outcome.message
    assert 'set lamp True' in bench.log
    if code is Code.TIMED_OUT:
        assert "'door'" in outcome.message
        assert outcome.next_keyframe == 0


@pytest.mark.parametrize('move', [1, 2, 3])
def test_what_was_stopped_anywhere_is_planned_and_done_from_there(bench, solution, task, scene, move):
    """At every act and in the middle of every move: what is left is planned from where everything is, and accepted."""
    bench.on_way = lambda number, share: (
        Failure(Code.CONTROL_FAILED, 'Gave up.') if number == move and share > 0.5 else None
    )
    outcome = execution(bench, solution, task).run()
    if outcome.next_keyframe == 2:
        return
    rest = remaining(task, outcome.next_keyframe)
    found = planner().plan(rest.task, bench.world, seed_origin())
    assert not isinstance(found, TaskFailure), found.message
    again = found[0].solution
    report = validate(again, planner().model, bench.world, rest.task, seed_origin())
    assert report.ok, report.text
    bench.on_way = lambda number, share: None
    assert execution(bench, again, rest.task).run().code is Code.SUCCESS
    place = task.keyframes[1]
    wanted = (seed_origin() @ place.pose).position
    assert bench.world.objects[place.object].pose.position == pytest.approx(wanted, abs=1e-4)


def test_what_was_taken_and_not_lifted_yet_is_planned_from_there(bench, solution, task):
    control = Control()
    bench.grip = lambda positions: control.stop() if min(positions.values()) < 0.03 else None
    run = execution(bench, solution, task, control)
    outcome = run.run()
    assert outcome.code is Code.PREEMPTED
    bench.world = bench.world.with_joints({'joint_left_finger': solution.segments[3].gripper['joint_left_finger']})
    assert bench.attach(solution.segments[3].attach) is None
    rest = remaining(task, 1)
    assert rest.offset == 0
    found = planner().plan(rest.task, bench.world, seed_origin())
    assert not isinstance(found, TaskFailure), found.message
    assert [segment.name for segment in found[0].solution.segments][:2] == ['hold', 'lift']
    report = validate(found[0].solution, planner().model, bench.world, rest.task, seed_origin())
    assert report.ok, report.text


def test_another_object_in_the_hand_is_refused_with_a_sentence(bench, solution, task):
    bench.on_way = lambda number, share: Failure(Code.CONTROL_FAILED, 'Gave up.') if number == 2 else None
    execution(bench, solution, task).run()
    other = replace(task, keyframes=tuple(replace(key, object='red_box') for key in task.keyframes))
    found = planner().plan(other, bench.world, seed_origin())
    assert isinstance(found, TaskFailure)
    assert "holds 'blue_box'" in found.message


def test_the_first_points_of_the_rest_are_at_rest_and_within_limits(solution):
    model = planner().model
    transfer = next(n for n, segment in enumerate(solution.segments) if segment.name == 'transfer')
    times = solution.trajectory.times
    begin, end = times[solution.segments[transfer].first], times[solution.segments[transfer].last]
    for share in (0.0, 0.1, 0.5, 0.9, 1.0):
        time = float(begin + share * (end - begin))
        q = solution.trajectory.sample(time).q + 0.003
        rest = rest_of(solution, transfer, time, q, model)
        assert rest.trajectory.q[0] == pytest.approx(q)
        assert np.abs(rest.trajectory.v[0]).max() == 0.0
        assert rest.trajectory.q[rest.segments[0].last] == pytest.approx(
            solution.trajectory.q[solution.segments[transfer].last], abs=1e-6
        )
        limits = np.array([model.limits[joint].velocity for joint in solution.joints])
        assert (np.abs(rest.trajectory.v) <= limits + 1e-9).all()
        assert [segment.name for segment in rest.segments] == [segment.name for segment in solution.segments[transfer:]]
