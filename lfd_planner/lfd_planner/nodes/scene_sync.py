"""Scene sync: mirrors the twin's objects into one planning server or several, ours or MoveIt's move_group.

```
twin_scene, twin_scene_updates ─┐                     ┌─► <target>/apply_planning_scene, get_planning_scene
or the parameter `scene` ───────┴─► twin ─► mirrors ──┤◄── <target>/monitored_planning_scene
synchronize_scene ──────────────────────────────┘     └─► ~/statistics, diagnostics
```

- `twin_scene` (moveit_msgs/PlanningScene, latched): all objects. `twin_scene_updates` (the same type, diffs): what
  changed. `name` numbers them, see `lfd_planner.sync.sequence`. If updates are missing, and whenever the twin appears,
  it is asked for its whole scene by its service `publish_twin_scene` (std_srvs/Trigger), if it has one.
- `synchronize_scene` (std_srvs/Trigger): asks the twin for its whole scene if it can be asked. Success when every
  planning server has acknowledged that state after a fresh look at it, and no object was refused. The message has a
  sentence for each server.
- Tags and movability travel in an object's type, see `lfd_planner.messages`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence as SequenceOf
from dataclasses import dataclass, replace

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from moveit_msgs.msg import PlanningScene as SceneMessage
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import Trigger

from lfd_description.nodes.lifetime import run_until_signal
from lfd_description.nodes.qos import LATCHED_QOS, TWIN_UPDATES_QOS
from lfd_description.scenes import SceneError
from lfd_planner.nodes.scene_sync_link import ServerLink, some
from lfd_planner.nodes.scene_sync_messages import ros_scene_from_unity, size_of, updated_twin, whole_twin, wrong_kind
from lfd_planner.nodes.scene_sync_parameters import ParameterError, read_parameters, read_target
from lfd_planner.scene import PlanningScene
from lfd_planner.scene.faults import quoted
from lfd_planner.sync import Mirror, Revision, Sequence, State
from lfd_planner.sync.twin_file import TwinFile, TwinState

NAME = 'scene_sync'
ASK_EVERY = 1.0
"""[s] between two requests to the twin for its whole scene."""
PUMP_EVERY = 0.01
"""[s] between two looks whether something is due, while something is: by so much a request may be late."""
REST_EVERY = 0.05
"""[s] between them otherwise; news do not wait for that."""
REPORT_EVERY = 1.0  # [s]
_NANO = 1e-9
_SILENT = "The twin was asked for its whole scene and has not published it on 'twin_scene' yet."


@dataclass
class _Waiting:
    """A caller of synchronize_scene."""

    done: Future
    until: float
    """[s]"""
    checks: list[int]
    """For each link, what its mirror's `checked` asks for."""
    asked: int
    """How often the twin had been asked for its whole scene before."""


class SceneSync(Node):
    """Mirrors the twin's objects into planning servers.

    Raises:
        ParameterError: a parameter cannot be used.
        ParameterException: a parameter has a value of the wrong type or out of bounds.
        SceneError: the scene file is missing or wrong.
    """

    def __init__(self) -> None:
        super().__init__(NAME)
        self._steady = Clock(clock_type=ClockType.STEADY_TIME)
        parameters = self._parameters_read = read_parameters(self)
        self._file = TwinFile(parameters.scene) if parameters.scene else None
        self._twin = self._file.state if self._file else TwinState(PlanningScene(parameters.frame), {})
        self._sequence: Sequence[SceneMessage] = Sequence()
        self._file_problem = ''
        self._waiting: list[_Waiting] = []
        self._links = [self._link(namespace) for namespace in parameters.namespaces]
        self._statistics = self.create_publisher(DiagnosticArray, '~/statistics', LATCHED_QOS)
        self._diagnostics = self.create_publisher(DiagnosticArray, 'diagnostics', 10)
        self._counted = 0  # synchronisations that were reported
        self._asked_twin = -ASK_EVERY
        self._asked = self._answered = 0  # how often the twin was asked, and which question a whole scene followed
        self._call: Future | None = None
        self._wrong_kinds: dict[str, str] = {}  # a sentence for each topic whose last message was of the wrong kind
        self._twin_was_there = False
        if self._file is None:
            self.create_subscription(SceneMessage, 'twin_scene', self._on_whole, LATCHED_QOS)
            self.create_subscription(SceneMessage, 'twin_scene_updates', self._on_update, TWIN_UPDATES_QOS)
            self._ask = self.create_client(Trigger, 'publish_twin_scene')
        callers = ReentrantCallbackGroup()  # a caller that waits must not keep all others out
        self.create_service(Trigger, 'synchronize_scene', self._on_synchronize, callback_group=callers)
        self._fast = self.create_timer(PUMP_EVERY, self._pump, clock=self._steady)
        self.create_timer(REST_EVERY, self._pump, clock=self._steady)
        self.create_timer(REPORT_EVERY, self._report, clock=self._steady)
        self._follow()

    def _link(self, namespace: str) -> ServerLink:
        target = read_target(self, namespace, self._parameters_read, self._twin.scene.frame)
        mirror = Mirror(target, self._parameters_read.timing)
        return ServerLink(self, mirror, namespace, self._now, self._pump, watch=self._parameters_read.watch)

    def _now(self) -> float:
        """Of a clock that nothing sets or stops [s]: waiting for answers is no matter of simulated time."""
        return float(self._steady.now().nanoseconds) * _NANO

    # The twin ---------------------------------------------------------------------------------------------------------

    def _on_whole(self, message: SceneMessage) -> None:
        if self._is_wrong_kind('twin_scene', wrong_kind(message, whole=True)):
            return
        self._wrong_kinds.clear()
        self._answered = self._asked
        taken, following = self._sequence.whole(Revision.parse(message.name))
        if taken:
            self._twin = whole_twin(self._twin, self._in_ros_axes(message))
        for update in following:
            self._twin = updated_twin(self._twin, update)
        self._follow()

    def _on_update(self, message: SceneMessage) -> None:
        if self._is_wrong_kind('twin_scene_updates', wrong_kind(message, whole=False)):
            return
        revision = Revision.parse(message.name)
        if revision is None:
            self.get_logger().warning(
                "The twin's updates have no number in 'name'; nobody will notice if one is lost.", once=True
            )
        for update in self._sequence.update(revision, self._in_ros_axes(message), size_of(message)):
            self._twin = updated_twin(self._twin, update)
        self._follow()

    def _is_wrong_kind(self, topic: str, sentence: str) -> bool:
        if sentence:
            self._wrong_kinds[topic] = sentence
            self.get_logger().warning(sentence, throttle_duration_sec=REPORT_EVERY)
        return bool(sentence)

    def _in_ros_axes(self, message: SceneMessage) -> SceneMessage:
        return ros_scene_from_unity(message) if self._parameters_read.axes == 'unity' else message

    def _follow(self) -> None:
        """Let the mirrors know of the twin's state; they send it when it is time."""
        for reason in some(self._twin.refused.values()):
            self.get_logger().warning(reason, throttle_duration_sec=REPORT_EVERY)
        now = self._now()
        for link in self._links:
            if self._file is not None or self._sequence.started:
                link.mirror.follow(self._twin.scene, now)
        self._pump()

    def _ask_twin(self) -> None:
        """Ask the twin for its whole scene after it appeared, and while something is missing."""
        if self._file is not None:
            return
        there = self._ask.service_is_ready()
        appeared, self._twin_was_there = there and not self._twin_was_there, there
        if self._twin.unknown and not there:
            self.get_logger().warning(f'{self._unknown()} The twin cannot be asked for its whole scene; going on.')
            self._twin = replace(self._twin, unknown=())
        now = self._now()
        overdue = now - self._asked_twin >= ASK_EVERY
        wanted = any(waiting.asked == self._asked for waiting in self._waiting)
        open_question = self._call is not None and not self._call.done()
        if there and (appeared or wanted or (self._twin_problem() and overdue)) and (overdue or not open_question):
            self._ask_now(now)

    def _ask_now(self, now: float) -> None:
        if self._call is not None:
            self._ask.remove_pending_request(self._call)
        self._asked_twin = now
        self._asked += 1
        self._call = self._ask.call_async(Trigger.Request())

    def _unknown(self) -> str:
        which = ', '.join(map(quoted, self._twin.unknown))
        return f'The twin moved {which}, of which it has not told.' if which else ''

    def _twin_problem(self) -> str:
        """Why the twin's newest state is not known; empty if it is."""
        if self._file is not None:
            return self._file_problem
        if not self._sequence.started and not self._sequence.gap:
            return "The twin has not published its whole scene on 'twin_scene' yet."
        return ' '.join(filter(None, [self._sequence.gap, self._unknown(), *self._wrong_kinds.values()]))

    def _is_heard_of(self) -> bool:
        """Whether there is, or was, a twin."""
        return self._sequence.started or bool(self.count_publishers('twin_scene'))

    def _is_silent(self, waiting: _Waiting) -> bool:
        """Whether the twin can be asked, and has not sent its whole scene since a caller wanted to know of it."""
        return self._file is None and self._answered <= waiting.asked and bool(self._ask.service_is_ready())

    # The planning servers ---------------------------------------------------------------------------------------------

    def _pump(self) -> None:
        self._ask_twin()
        for link in self._links:
            link.pump()
        self._answer()
        self._rest()
        counted = sum(link.statistics.requests for link in self._links)
        if counted != self._counted:
            self._counted = counted
            self._statistics.publish(self._status())

    def _rest(self) -> None:
        """Look less often while all is done."""
        if self._waiting or any(link.mirror.state is State.BEHIND for link in self._links):
            if self._fast.is_canceled():
                self._fast.reset()
        elif not self._fast.is_canceled():
            self._fast.cancel()

    # Who asks ---------------------------------------------------------------------------------------------------------

    async def _on_synchronize(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._file is not None:
            self._file_problem = self._file.refresh()
            self._twin = self._file.state
            self._follow()
        elif not self._parameters_read.expect_twin and not self._is_heard_of():
            response.success = True
            response.message = "Nobody publishes 'twin_scene', so that there is nothing to synchronise."
            return response
        checks = [link.mirror.check() for link in self._links]
        timeout = self._parameters_read.synchronize_timeout
        waiting = _Waiting(Future(), self._now() + timeout, checks, self._asked)
        self._waiting.append(waiting)
        self._pump()
        response.success = await waiting.done
        silent = '' if response.success or not self._is_silent(waiting) else _SILENT
        is_late = not response.success and self._now() >= waiting.until
        late = f'The scene was not confirmed within {timeout:g} s; ask again.' if is_late else ''
        response.message = '\n'.join(filter(None, [silent, late, self._sentences()]))
        return response

    def _answer(self) -> None:
        """Let go of callers whose question is decided."""
        now = self._now()
        for waiting in list(self._waiting):
            states = [
                (link.mirror.checked(number), link.mirror.settled(number))
                for link, number in zip(self._links, waiting.checks, strict=True)
            ]
            problem = self._twin_problem() or (_SILENT if self._is_silent(waiting) else '')
            mirrored = not problem and all(checked for checked, _ in states)
            decided = (not problem or self._file is not None) and all(settled for _, settled in states)
            if mirrored or decided or now >= waiting.until:
                self._waiting.remove(waiting)
                waiting.done.set_result(mirrored and not self._twin.refused)

    def _sentences(self) -> str:
        told = [self._twin_problem(), *some(self._twin.refused.values()), *(link.sentence() for link in self._links)]
        return '\n'.join(filter(None, told))

    def _report(self) -> None:
        message = self._status()
        self._statistics.publish(message)
        self._diagnostics.publish(message)

    def _status(self) -> DiagnosticArray:
        message = DiagnosticArray(status=[self._twin_status(), *(link.status() for link in self._links)])
        message.header.stamp = self.get_clock().now().to_msg()
        return message

    def _twin_status(self) -> DiagnosticStatus:
        problem, refused = self._twin_problem(), self._twin.refused
        count = f'The twin has {len(self._twin.scene.objects)} objects.'
        level = DiagnosticStatus.ERROR if refused else DiagnosticStatus.WARN if problem else DiagnosticStatus.OK
        text = ' '.join(filter(None, [problem, *some(refused.values())])) or count
        return DiagnosticStatus(level=level, name=f'{self.get_name()}: twin', message=text, hardware_id='twin')


def main(args: SequenceOf[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM: returns 0 then, or 2 at once if an argument cannot be used."""
    return run_until_signal(NAME, SceneSync, args, refusals=(ParameterError, ParameterException, SceneError))


if __name__ == '__main__':
    sys.exit(main())
