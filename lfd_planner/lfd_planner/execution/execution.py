"""One execution: from a checked solution to its end, or to a stop from which it can go on.

The state is always one of `State`. Whatever ends an execution early has brought the arm to rest before, and is told
with the keyframe, the segment, and the keyframe from which to go on.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from lfd_description.model.model import RobotModel
from lfd_description.urdf import Matrix
from lfd_planner.backends import Failure
from lfd_planner.error_codes import Code
from lfd_planner.mtdf import Task
from lfd_planner.pose import Pose
from lfd_planner.scene import AttachedObject, PlanningScene, SceneFault
from lfd_planner.solution import Attachment, Awaited, Solution

from .control import PAUSED, Control
from .devices import Devices
from .memory import Pending
from .preflight import changes, refused, wrong_robot, wrong_start
from .rules import ExecutionRules
from .steps import Act, Move, next_keyframe, part, segment_at, steps_of
from .surgery import from_segment, from_time, rest_of
from .tracker import Tracker

LOOK_EVERY = 0.02  # [s] between two looks at what is waited for
TELL_EVERY = 0.05  # [s] between two reports while the arm moves
AT_REST = 1e-4  # [rad or m] by which joints may differ from look to look when the arm stands
REST_LOOKS = 4  # such looks in a row


class State(StrEnum):
    """What an execution does."""

    CHECKING = 'checking'
    PLANNING = 'planning'
    MOVING = 'moving'
    GRIPPING = 'gripping'
    WAITING = 'waiting'
    PAUSED = 'paused'
    STOPPING = 'stopping'


@dataclass(frozen=True)
class Status:
    """How an execution goes."""

    keyframe: int
    segment: str
    progress: float
    """Of the whole motion, 0 to 1."""
    state: State


@dataclass(frozen=True)
class Outcome:
    """How an execution ended."""

    code: Code
    message: str
    next_keyframe: int
    duration: float = 0.0
    """[s], from the first motion to the end of the last."""


@dataclass(frozen=True, eq=False)
class Order:
    """What is to be executed."""

    solution: Solution
    """As fast as it is to be executed; it begins where execution does."""
    keyframes: int
    """How many the whole task has."""
    task: Task | None = None
    """Of which the solution is, if that can be told: then it is checked that all of it is done."""
    origin: Pose | None = None
    """Of the task's poses, in the scene's frame."""
    offset: int = 0
    """By which the solution's keyframes are higher than the task's."""
    first: int = 0
    """The keyframe from which the task is executed."""
    speed: float = 1.0
    dry_run: bool = False


@dataclass(eq=False)
class Execution:
    """Runs one order; `run` is called once, by one thread."""

    order: Order
    model: RobotModel
    devices: Devices
    control: Control
    rules: ExecutionRules = field(default_factory=ExecutionRules)
    tell: Callable[[Status], None] = lambda _: None
    """Told how it goes, many times a second."""

    def __post_init__(self) -> None:
        self.solution = self.order.solution
        self.held: dict[str, AttachedObject] = {}
        """What the hand holds, as far as this execution knows."""
        self.pending: list[Pending] = []
        """What happened to objects and the planning server was not told, because it did not answer."""
        self._total = max(self.solution.trajectory.duration, 1e-9)
        self._segment = 0
        self._acted = False
        self._progress = 0.0
        self._known = -1  # the edits of the scene that were looked at
        self._expected: PlanningScene | None = None
        self._began: float | None = None
        self._ended = 0.0
        self._state = State.CHECKING

    def run(self) -> Outcome:
        """Check, move, and say how it ended."""
        self._to(State.CHECKING)
        ended = self._preflight()
        if ended is None and self.order.dry_run:
            return self._rehearsed()
        if ended is None:
            ended = self._perform()
        return self._outcome(ended)

    # Checks

    def _preflight(self) -> Failure | None:
        """Why nothing is to be moved at all."""
        if wrong := wrong_robot(self.solution, self.model):
            return wrong
        self._known = self.devices.scene.edits()
        try:
            scene = self.devices.scene.newest()
        except SceneFault as fault:
            return Failure(fault.code, str(fault))
        self._expected, self.held = scene, dict(scene.attached)
        joints = {**scene.joints, **self.devices.arm.joints()}
        return (
            wrong_start(self.solution, joints, self.model, self.rules)
            or refused(self.solution, self.model, scene, self.order.task, self.order.origin, offset=self.order.offset)
            or self._unready()
        )

    def _unready(self) -> Failure | None:
        """Why a device that is needed cannot be used."""
        segments, devices = self.solution.segments, self.devices
        outputs = {signal: value for segment in segments for signal, value in segment.outputs.items()}
        needs_hand = any(segment.gripper for segment in segments)
        return (
            devices.arm.missing()
            or (devices.hand.missing() if needs_hand else None)
            or (devices.signals.unheard(outputs) if outputs else None)
        )

    def _rehearsed(self) -> Outcome:
        segments, seconds = self.solution.segments, self.solution.trajectory.duration
        grips = sum(1 for segment in segments if segment.gripper)
        message = (
            f'Nothing was moved. {len(segments)} segments from keyframe {segments[0].keyframe} to '
            f'{segments[-1].keyframe} would take {seconds:.2f} s, the hand would move {grips} times.'
        )
        return Outcome(Code.SUCCESS, message, max(segments[0].keyframe, self.order.first))

    def _changed(self, index: int, at: float | None = None) -> Failure | None:
        """Why the scene, if it changed, does not allow the rest from a segment, or a time [s] within it, on."""
        edits = self.devices.scene.edits()
        if edits == self._known or self._expected is None:
            return None
        try:
            scene = self.devices.scene.current()
        except SceneFault as fault:
            return Failure(fault.code, str(fault))
        names = sorted(changes(self._expected, scene, self.rules))
        if names:
            rest = from_segment(self.solution, index) if at is None else from_time(self.solution, index, at)
            wrong = refused(rest, self.model, scene, moving=at is not None)
            if wrong is not None:
                told = ', '.join(f"'{name}'" for name in names[:3])
                return Failure(
                    Code.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE, f'{told} changed meanwhile. {wrong.message}'
                )
        self._known, self._expected = edits, scene
        return None

    # Steps

    def _perform(self) -> Failure | None:
        """All steps; when the arm was stopped for a while, the steps of the rest."""
        while True:
            ended = self._walk()
            if ended is not PAUSED:
                return ended
            ended = self._stand_by()
            if ended is not None:
                return ended

    def _walk(self) -> Failure | None:
        for step in steps_of(self.solution):
            self._segment, self._acted = step.first if isinstance(step, Move) else step.segment, False
            if (ended := self.control.wanted()) is PAUSED:
                return self._leave_out(step)
            ended = ended or self._changed(self._segment)
            if ended is None:
                ended = self._move(step) if isinstance(step, Move) else self._act(step)
            if ended is not None:
                return ended
            self._acted = True
        self._segment = len(self.solution.segments) - 1
        return None

    def _move(self, move: Move) -> Failure | None:
        watch = _Watch(self, move)
        self._began = self._began if self._began is not None else time.monotonic()
        self._to(State.WAITING if move.stands else State.MOVING)
        ended = self._dwell(move, watch) if move.stands else self.devices.arm.follow(move.trajectory, watch.look)
        watch.close()
        self._ended = time.monotonic()
        if ended is None:
            self._segment = move.last
            self._report(move.start + move.trajectory.duration)
            return None
        self._to(State.STOPPING)
        self._wait_for_rest()
        watch.see()
        return self._rest(move, watch) if ended is PAUSED else ended

    def _dwell(self, move: Move, watch: _Watch) -> Failure | None:
        """The arm stands for a while."""
        until = time.monotonic() + move.trajectory.duration
        while (left := until - time.monotonic()) > 0.0:
            if (wanted := watch.look()) is not None:
                return wanted
            self.control.wait(min(left, LOOK_EVERY))
        return None

    def _act(self, act: Act) -> Failure | None:
        """The hand, the outputs, the scene, the inputs."""
        self._to(State.GRIPPING if act.gripper else State.WAITING)
        if act.gripper and (failed := self._grip(act)):
            return failed
        if act.outputs:
            self.devices.signals.set(act.outputs)
        if act.detach is not None and (failed := self._detach(act.detach)):
            return failed
        if act.attach is not None and (failed := self._attach(act.attach)):
            return failed
        self._acted = act.awaits is None
        self._ended = time.monotonic()
        return self._await(act.awaits) if act.awaits is not None else None

    def _grip(self, act: Act) -> Failure | None:
        if act.attach is None:
            return self.devices.hand.move(act.gripper, self._stopping)
        before = self.devices.arm.joints()
        failed = self.devices.hand.grip(act.gripper, self._stopping)
        if failed is None or self.control.stopped is not None:  # whoever wants a stop wants no hand to move either
            return failed
        # Fingers that are closed on nothing, or on the wrong thing, would be in the way of whatever is planned next.
        opened = {joint: before[joint] for joint in act.gripper if joint in before}
        if not opened:
            return replace(
                failed, message=f'{failed.message} Nobody tells how far it was open before; open it by hand.'
            )
        again = self.devices.hand.move(opened, self._stopping)
        told = 'The hand was opened again.' if again is None else 'It does not open any more either; open it by hand.'
        if again is not None and again.code is Code.PREEMPTED:
            told = 'The hand was stopped while it opened again.'
        return replace(failed, message=f'{failed.message} {told}')

    def _attach(self, attachment: Attachment) -> Failure | None:
        failed = self.devices.scene.attach(attachment)
        if failed is not None:
            self._acted = True  # it is in the hand, whoever knows
            self.pending.append(Pending(True, attachment))
        return failed or self._follow_scene(attachment.object)

    def _detach(self, attachment: Attachment) -> Failure | None:
        failed = self.devices.scene.detach(attachment)
        if failed is not None:
            self._acted = True
            self.pending.append(Pending(False, attachment))
        return failed or self._follow_scene(attachment.object)

    def _follow_scene(self, name: str) -> Failure | None:
        """Take over the scene after a change of our own; what else changed meanwhile is judged with the next step."""
        edits = self.devices.scene.edits()
        try:
            scene = self.devices.scene.current()
        except SceneFault as fault:
            return Failure(fault.code, str(fault))
        self.held = dict(scene.attached)
        if self._expected is not None and set(changes(self._expected, scene, self.rules)) <= {name}:
            self._known, self._expected = edits, scene
        return None

    def _await(self, awaited: Awaited) -> Failure | None:
        """Wait for an input; the time that execution is paused does not count."""
        left = math.inf if awaited.timeout is None else awaited.timeout
        while not _same(self.devices.signals.value(awaited.signal), awaited.value):
            begin = time.monotonic()
            if (stopped := self.control.stopped) is not None:
                return stopped
            if left <= 0.0:
                value = self.devices.signals.value(awaited.signal)
                told = 'was never told' if value is None else f'is {value}'
                return Failure(
                    Code.TIMED_OUT,
                    f"Input '{awaited.signal}' {told}, and was not {awaited.value} within {awaited.timeout:g} s; "
                    'see to what switches it.',
                )
            self._to(State.PAUSED if self.control.paused else State.WAITING)
            self.control.wait(LOOK_EVERY)
            left -= 0.0 if self.control.paused else time.monotonic() - begin
        self._acted = True
        return None

    # Pauses

    def _rest(self, move: Move, watch: _Watch) -> Failure | None:
        """Make what is left of a move the solution."""
        q = self._q()
        if watch.tracker.distance(q) > self.rules.off_path:
            return Failure(
                Code.START_STATE_INVALID, 'The arm stands beside its path; resume from the keyframe, planned anew.'
            )
        index = segment_at(self.solution, move, watch.tracker.time)
        return self._cut(index, move.start + watch.tracker.time, q)

    def _leave_out(self, step: Move | Act) -> Failure:
        """Make what begins with a step the solution."""
        index = step.first if isinstance(step, Move) else step.segment
        rest = from_segment(self.solution, index)
        if isinstance(step, Act) and not Move(0, 0, 0.0, part(rest, 0, 0)).stands:
            end = float(self.solution.trajectory.times[self.solution.segments[index].last])
            return self._cut(index, end, self._q())
        self.solution, self._segment = rest, 0
        return PAUSED

    def _cut(self, index: int, time: float, q: Matrix) -> Failure:
        """Make what is left from a time [s] within a segment on, with the arm standing at q, the solution."""
        try:
            self.solution = rest_of(self.solution, index, time, q, self.model, self.order.speed)
        except (ValueError, ArithmeticError) as error:
            return Failure(Code.INVALID_MOTION_PLAN, f'The rest of the motion cannot be timed: {error}')
        self._segment = 0
        return PAUSED

    def _stand_by(self) -> Failure | None:
        """Wait until execution may go on; then check what is left."""
        while self.control.paused:
            if (stopped := self.control.stopped) is not None:
                return stopped
            self._to(State.PAUSED)
            self.control.wait(TELL_EVERY)
        self._to(State.CHECKING)
        self._known = self.devices.scene.edits()
        try:
            self._expected = self.devices.scene.current()
        except SceneFault as fault:
            return Failure(fault.code, str(fault))
        joints = {**self._expected.joints, **self.devices.arm.joints()}
        return wrong_start(self.solution, joints, self.model, self.rules) or refused(
            self.solution, self.model, self._expected
        )

    def _wait_for_rest(self) -> None:
        """Wait until the joints stand, if anybody tells of them."""
        until, looks, before = time.monotonic() + self.rules.rest_within, 0, self._q()
        while looks < REST_LOOKS and time.monotonic() < until and self._is_heard():
            threading.Event().wait(LOOK_EVERY)
            now = self._q()
            looks = looks + 1 if float(np.abs(now - before).max(initial=0.0)) < AT_REST else 0
            before = now

    # What others are told

    def _is_heard(self) -> bool:
        return self.devices.arm.silence() <= self.rules.states_within

    def _q(self) -> Matrix:
        """Where the arm is, (dof,) [rad or m]."""
        joints = self.devices.arm.joints()
        return np.array([joints.get(name, 0.0) for name in self.solution.joints], dtype=np.float64)

    def _stopping(self) -> Failure | None:
        self._tell()
        return self.control.stopped

    def _to(self, state: State) -> None:
        self._state = state
        self._tell()

    def _report(self, time: float) -> None:
        """Note how far it got, in the time of the solution [s]."""
        left = self.solution.trajectory.duration - time
        self._progress = max(self._progress, min(1.0, 1.0 - left / self._total))
        self._tell()

    def _tell(self) -> None:
        segment = self.solution.segments[self._segment]
        self.tell(Status(segment.keyframe, segment.name, self._progress, self._state))

    def _outcome(self, ended: Failure | None) -> Outcome:
        count = self.order.keyframes
        duration = 0.0 if self._began is None else self._ended - self._began
        if ended is None:
            self._report(self.solution.trajectory.duration)
            return Outcome(Code.SUCCESS, f'All {count} keyframes are done.', count, duration)
        segment = self.solution.segments[self._segment]
        next = next_keyframe(self.solution, self._segment, acted=self._acted, keyframes=count)
        next = max(next, self.order.first)  # what was in the hand before is not picked again
        if self._began is None and self._state is State.CHECKING:
            return Outcome(ended.code, f'Nothing was moved. {ended.message}', next)
        where = f"Keyframe {segment.keyframe}, segment '{segment.name}': "
        then = f'Then resume from keyframe {next}.' if next < count else 'All keyframes were done already.'
        return Outcome(ended.code, f'{where}{ended.message} {then}', next, duration)


class _Watch:
    """Looks at everything while the arm moves."""

    def __init__(self, execution: Execution, move: Move) -> None:
        self.tracker = Tracker(move.trajectory)
        self._execution = execution
        self._move = move
        self._next = 0.0
        self._silence = 0.0
        self._check: threading.Thread | None = None
        self._found: list[Failure] = []

    def look(self) -> Failure | None:
        """Why the arm is to stop."""
        execution = self._execution
        if (wanted := execution.control.wanted()) is not None:
            return wanted
        before, silence = self._silence, execution.devices.arm.silence()
        self._silence = silence
        # Silence that was not there at the last look is ours: this process slept, and the states wait to be read.
        if silence > execution.rules.states_within and before > 0.5 * execution.rules.states_within:
            return Failure(
                Code.UNABLE_TO_AQUIRE_SENSOR_DATA,
                f'No joint states came for {silence:.2f} s, and the arm was told to stop; '
                "see to it that 'joint_states' are published again.",
            )
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + TELL_EVERY
            self.see()
            self._look_at_scene()
        return self._found[0] if self._found else None

    def see(self) -> None:
        """Note where the arm is."""
        execution = self._execution
        at = self.tracker.see(execution._q())
        execution._segment = segment_at(execution.solution, self._move, at)
        execution._report(self._move.start + at)

    def close(self) -> None:
        """Wait for a check that is under way."""
        if self._check is not None:
            self._check.join()

    def _look_at_scene(self) -> None:
        """Have the rest checked if the scene changed, while the arm goes on."""
        execution = self._execution
        if execution.devices.scene.edits() == execution._known:
            return
        if self._check is None or not self._check.is_alive():
            self._check = threading.Thread(target=self._judge, name='scene check', daemon=True)
            self._check.start()

    def _judge(self) -> None:
        execution = self._execution
        wrong = execution._changed(execution._segment, self._move.start + self.tracker.time)
        if wrong is not None:
            self._found.append(wrong)


def _same(one: bool | float | None, other: bool | float) -> bool:
    return isinstance(one, bool) == isinstance(other, bool) and one == other
