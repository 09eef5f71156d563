"""The connection of a mirror to its planning server: requests become service calls, and answers events."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue
from moveit_msgs.msg import PlanningScene as SceneMessage
from moveit_msgs.srv import ApplyPlanningScene, GetPlanningScene
from rclpy.client import Client
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.task import Future

from lfd_description.nodes.qos import MONITORED_SCENE_QOS
from lfd_description.scenes.values import shortened
from lfd_planner.messages import diff_to_message
from lfd_planner.scene import SceneFault
from lfd_planner.scene.faults import quoted
from lfd_planner.sync import Apply, Look, Mirror, State
from lfd_planner.sync.statistics import Statistics

from .scene_sync_messages import GEOMETRY, NAMES, observed_from_message, seen_from_message

IDENTIFY_EVERY = 0.5
"""[s] between two looks whether another process serves the planning scene now."""
BIG = 100_000
"""[bytes] of a published scene that is not read if geometry was sent a moment ago."""
MOST_TOLD = 20
"""Objects that a message names; of more it says how many they are."""
LONGEST_TOLD = 500
"""Characters of one sentence."""
LOG_EVERY = 1.0  # [s] at least between two lines about the same


class ServerLink:
    """Serves one mirror; `clock` gives the time [s], `on_change` is called when the mirror may stand otherwise.

    With `watch`, what the server publishes of its scene is followed.
    """

    def __init__(
        self,
        node: Node,
        mirror: Mirror,
        namespace: str,
        clock: Callable[[], float],
        on_change: Callable[[], None],
        watch: bool = True,
    ) -> None:
        self.mirror = mirror
        self.statistics = Statistics()
        self._node = node
        self._clock = clock
        self._on_change = on_change
        prefix = f'{namespace}/' if namespace and not namespace.endswith('/') else namespace
        self._apply: Client = node.create_client(ApplyPlanningScene, f'{prefix}apply_planning_scene')
        self._get: Client = node.create_client(GetPlanningScene, f'{prefix}get_planning_scene')
        self._monitored = node.resolve_topic_name(f'{prefix}monitored_planning_scene')
        if watch:
            node.create_subscription(SceneMessage, self._monitored, self._on_monitored, MONITORED_SCENE_QOS, raw=True)
        self._identity: frozenset[bytes] = frozenset()
        self._next_identify = 0.0
        self._call: tuple[int, Client, Future] | None = None
        self._size = 0

    def pump(self) -> None:
        """See whether the server is there, and ask it what is to be asked now."""
        now = self._clock()
        self._find_server(now)
        request = self.mirror.request(now)
        self._drop_call()
        match request:
            case Look():
                self._look(request)
            case Apply():
                self._send(request, now)

    def _find_server(self, now: float) -> None:
        ready = self._apply.service_is_ready() and self._get.service_is_ready()
        if not ready and self.mirror.state is not State.ABSENT:
            self.mirror.lost()
            self._log(f"Planning server '{self.mirror.target.name}' is gone; waiting for it.")
        elif ready and self.mirror.state is State.ABSENT:
            self._identity = self._publishers()
            self.mirror.reached(now)
        elif ready and now >= self._next_identify:
            self._next_identify = now + IDENTIFY_EVERY
            self._identify(now)

    def _identify(self, now: float) -> None:
        """Notice a server that was replaced faster than anybody could see it gone."""
        found = self._publishers()
        if found - self._identity and self._identity:
            self.mirror.reached(now)
        self._identity = found or self._identity

    def _publishers(self) -> frozenset[bytes]:
        found = self._node.get_publishers_info_by_topic(self._monitored)
        return frozenset(bytes(publisher.endpoint_gid) for publisher in found)

    def _drop_call(self) -> None:
        """Forget a call whose answer the mirror does not wait for any more."""
        underway = self.mirror.underway
        if self._call is not None and (underway is None or underway.number != self._call[0]):
            _, client, future = self._call
            client.remove_pending_request(future)
            self._call = None
            self.statistics.failures += 1

    def _look(self, look: Look) -> None:
        request = GetPlanningScene.Request()
        request.components.components = GEOMETRY if look.geometry else NAMES
        self._start(look.number, self._get, request, lambda answer: self._on_seen(look, answer))

    def _send(self, request: Apply, now: float) -> None:
        try:
            scene = diff_to_message(request.old, request.new)
        except SceneFault as fault:
            self.mirror.failed(request.number, now, ' '.join(fault.problems))
            return
        self._size = len(serialize_message(scene))
        self.statistics.bytes += self._size
        self._start(
            request.number,
            self._apply,
            ApplyPlanningScene.Request(scene=scene),
            lambda answer: self._on_applied(request, answer),
        )

    def _start(self, number: int, client: Client, request: object, on_answer: Callable[[object], None]) -> None:
        future = client.call_async(request)
        self._call = (number, client, future)
        future.add_done_callback(lambda done: self._on_done(number, done, on_answer))

    def _on_done(self, number: int, future: Future, on_answer: Callable[[object], None]) -> None:
        if self._call is None or self._call[0] != number:
            return
        self._call = None
        if future.cancelled() or future.exception() is not None:
            self._fail(number, f'the call failed: {future.exception()}')
        else:
            on_answer(future.result())
        self._on_change()

    def _on_seen(self, look: Look, answer: GetPlanningScene.Response) -> None:
        mirror = self.mirror
        seen = seen_from_message(answer.scene, mirror.target, mirror.wanted, look.geometry)
        mirror.looked(look.number, seen, self._clock())

    def _on_applied(self, request: Apply, answer: ApplyPlanningScene.Response) -> None:
        if not answer.success:
            told = f'the planning server refused {" and ".join(_told(request))}; see its log'
            self._fail(request.number, told)
            return
        done = self.mirror.applied(request.number, self._clock())
        if done is not None:
            self.statistics.count(done, self._size)
            self._node.get_logger().info(
                f"Planning server '{self.mirror.target.name}': {done}, {self._size} bytes.",
                throttle_duration_sec=LOG_EVERY,
            )

    def _fail(self, number: int, reason: str) -> None:
        self.statistics.failures += 1
        self.mirror.failed(number, self._clock(), reason)
        self._log(f"Planning server '{self.mirror.target.name}': {reason}.")

    def _log(self, text: str) -> None:
        self._node.get_logger().warning(text, throttle_duration_sec=LOG_EVERY)

    def _on_monitored(self, data: bytes) -> None:
        now, mirror = self._clock(), self.mirror
        if len(data) > BIG and mirror.shown(now):  # our own geometry, most likely: to read it would take long
            mirror.unread(now)
            self._on_change()
            return
        message = deserialize_message(data, SceneMessage)
        if message.is_diff:
            mirror.observe(observed_from_message(message, mirror), now)
        else:
            mirror.unread(now)
        self._on_change()

    def sentence(self) -> str:
        """How the mirror stands, for people."""
        mirror, name = self.mirror, self.mirror.target.name
        total = f'{len(mirror.wanted.objects)} objects'
        match mirror.state:
            case State.ABSENT:
                return f"Planning server '{name}' is not there; start it, or mend the parameter 'targets'."
            case State.BEHIND if mirror.refused:
                reasons = ' '.join(some(f'{quoted(id)}: {reason}.' for id, reason in mirror.refused.items()))
                return f"Planning server '{name}' lacks {len(mirror.refused)} of {total}: {reasons}"
            case State.BEHIND if mirror.astray:
                which = ', '.join(some(map(quoted, mirror.astray)))
                return (
                    f"A robot held {which} when planning server '{name}' went, and nobody knows where that is now; "
                    f'move it in the twin, or attach it again.'
                )
            case State.BEHIND if mirror.unsure:
                return f"What planning server '{name}' has of {len(mirror.unsure)} objects is still to be looked at."
            case State.BEHIND:
                why = f' ({mirror.reason})' if mirror.reason else ''
                return f"Planning server '{name}' does not have the twin's newest state yet{why}."
        return f"Planning server '{name}' has {total}{self._left()}{self._last()}."

    def _left(self) -> str:
        mirror = self.mirror
        held = [f'{quoted(id)} left as link {quoted(link)} holds it' for id, link in mirror.held.items()]
        resting = [f'{quoted(id)} left where a robot put it' for id in mirror.resting]
        return ''.join(f', {text}' for text in some([*held, *resting]))

    def _last(self) -> str:
        last = self.statistics.last
        return f'; last: {last}, {self.statistics.last_bytes} bytes' if last else ''

    def status(self) -> DiagnosticStatus:
        """How the mirror stands, for tools."""
        mirror = self.mirror
        levels = {
            State.ABSENT: DiagnosticStatus.STALE,
            State.BEHIND: DiagnosticStatus.ERROR if mirror.refused else DiagnosticStatus.WARN,
            State.MIRRORED: DiagnosticStatus.OK,
        }
        values = {
            'objects': str(len(mirror.wanted.objects)),
            'held': ', '.join(some(map(shortened, mirror.held))),
            'resting': ', '.join(some(map(shortened, mirror.resting))),
            'refused': ', '.join(some(map(shortened, mirror.refused))),
            **self.statistics.values(),
        }
        return DiagnosticStatus(
            level=levels[mirror.state],
            name=f'{self._node.get_name()}: {mirror.target.name}',
            message=self.sentence(),
            hardware_id=mirror.target.name,
            values=[KeyValue(key=key, value=value) for key, value in values.items()],
        )


def some(texts: Iterable[str], most: int = MOST_TOLD, length: int = LONGEST_TOLD) -> list[str]:
    """Texts for people: not more of them, and not longer, than anybody reads."""
    found = list(texts)
    told = [text if len(text) <= length else f'{text[:length]}...' for text in found[:most]]
    return told if len(found) <= most else [*told, f'and {len(found) - most} more']


def _told(request: Apply) -> list[str]:
    names = [quoted(change.id) for change in request.changes]
    return names if 0 < len(names) <= 2 else [f'a request of {len(names)} changes']
