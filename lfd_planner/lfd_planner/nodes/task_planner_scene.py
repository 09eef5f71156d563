"""The world in which a task is planned: what the planning server has, after scene sync brought it up to date."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from moveit_msgs.msg import PlanningScene as SceneMessage
from moveit_msgs.srv import GetPlanningScene
from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from sensor_msgs.msg import JointState

from lfd_planner.error_codes import Code
from lfd_planner.messages import apply_planning_scene
from lfd_planner.robot.planning_robot import PlanningRobot
from lfd_planner.scene import AllowedCollisions, PlanningScene, SceneFault
from lfd_planner.scene.faults import names

from .scene_sync_client import SceneSyncClient

WITHIN = 15.0  # [s] that the planning server has to answer
ASK_AGAIN = 3.0  # [s] after which a request may have gone to a server that is no more
LOOK_EVERY = 0.02  # [s] between two looks at whether to stop
DISCOVERED = 5.0  # [s] after which somebody who publishes joint states would have been found
OLDEST_STATE = 2.0  # [s]
STATE_QOS = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)


class _Heard(NamedTuple):
    """What was heard of a joint."""

    position: float
    """[rad or m]"""
    when: float
    """[s], by the monotonic clock."""


class SceneSource:
    """Gets the newest scene for a robot; several threads may ask at once.

    Args:
        node: that plans.
        robot: whose joints and frames count.
        group: of the clients.
        oldest_state: how old what was heard of the arm's joints may be [s].
    """

    def __init__(
        self, node: Node, robot: PlanningRobot, group: CallbackGroup, oldest_state: float = OLDEST_STATE
    ) -> None:
        self._robot, self._oldest_state = robot, oldest_state
        hands = {hand.group for hand in robot.end_effectors}
        arms = [arm for name, arm in robot.groups.items() if name not in hands]
        self._needed = tuple(dict.fromkeys(joint for arm in arms for joint in arm.joints))
        self._sync = SceneSyncClient(node, timeout=2.0 * WITHIN)
        self._sync_was_there = False
        self._client = node.create_client(GetPlanningScene, 'get_planning_scene', callback_group=group)
        self._heard: dict[str, _Heard] = {}
        self._states = node.create_subscription(
            JointState, 'joint_states', self._on_state, STATE_QOS, callback_group=group
        )
        self._topic = self._states.topic_name
        self._count_publishers = lambda: node.count_publishers(self._topic)
        self._begin = time.monotonic()

    def newest(self, should_stop: Callable[[], bool]) -> PlanningScene:
        """The objects of the world, what the robot holds, and where its joints are; after scene sync had its say.

        Raises:
            SceneFault: it cannot be had, it is not what can be planned in, or somebody wants to stop.
        """
        self._synchronize(should_stop)
        return self.current(should_stop)

    def current(self, should_stop: Callable[[], bool]) -> PlanningScene:
        """The same as the planning server has it now, whatever the twin says.

        Raises:
            SceneFault: it cannot be had, it is not what can be planned in, or somebody wants to stop.
        """
        message = self._own(self._ask(should_stop))
        heard = self._wait_for_states(should_stop)
        applied = apply_planning_scene(PlanningScene(self._robot.frame), message, self._robot.frames)
        if applied.faults:
            raise SceneFault(applied.faults[0].code, *applied.faults[0].problems)
        scene = applied.scene
        return PlanningScene(
            scene.frame,
            objects=scene.objects,
            attached=scene.attached,
            allowed=self._allowed(scene.allowed, message.allowed_collision_matrix.entry_names),
            joints=scene.joints.edit(heard.items()),
            colours=scene.colours,
            fixed_frames=scene.fixed_frames,
            link_padding=scene.link_padding,
            link_scale=scene.link_scale,
        )

    def _on_state(self, message: JointState) -> None:
        own, now = self._robot.frames.joints, time.monotonic()
        if len(message.name) == len(message.position) and np.isfinite(message.position).all():
            told = zip(message.name, message.position, strict=True)
            self._heard.update({name: _Heard(at, now) for name, at in told if name in own})

    def _fresh(self) -> dict[str, float]:
        """What was heard of joints and is not too old [rad or m]."""
        since = time.monotonic() - self._oldest_state
        return {name: heard.position for name, heard in self._heard.copy().items() if heard.when >= since}

    def _wait_for_states(self, should_stop: Callable[[], bool]) -> dict[str, float]:
        """Where the arm is [rad or m]: a planning server that has not heard of it yet has all joints at zero.

        Where nobody ever told, as with a planning server alone, what that says is all there is.

        Raises:
            SceneFault: somebody tells, but not where all joints of the arm are now; or somebody wants to stop.
        """
        deadline = time.monotonic() + WITHIN
        while True:
            fresh = self._fresh()
            missing = [name for name in self._needed if name not in fresh]
            if not missing:
                return fresh
            if should_stop():
                raise SceneFault(Code.PREEMPTED, 'Planning was stopped.')
            now = time.monotonic()
            if now > self._begin + DISCOVERED and not self._heard and not self._count_publishers():
                return {}
            if now > deadline:
                raise self._unknown(missing)
            time.sleep(LOOK_EVERY)

    def _unknown(self, missing: Sequence[str]) -> SceneFault:
        heard = [self._heard[name].when for name in missing if name in self._heard]
        since = f'for {time.monotonic() - max(heard):.1f} s' if heard else 'yet'
        return SceneFault(
            Code.INVALID_ROBOT_STATE,
            f"'{self._topic}' has not told {since} where {names(missing)} {'is' if len(missing) == 1 else 'are'}, "
            f"and at most {self._oldest_state:g} s ago is soon enough; start the robot's driver.",
        )

    def _synchronize(self, should_stop: Callable[[], bool]) -> None:
        """Have the twin's newest objects brought to the planning server, where there is a scene sync.

        One that was there and is gone comes back, or is missed: without it, the scene could be an old one.
        """
        self._sync_was_there |= self._sync.is_there
        if not self._sync_was_there:
            return
        told = _first_answer(self._sync.synchronize, lambda: self._sync.is_there, should_stop)
        if told is None:
            raise _no_answer('synchronize_scene', 'scene_sync', self._sync.is_there)
        if not told.success:
            raise SceneFault(Code.FAILURE, f'The planning scene is not up to date: {told.message}')

    def _ask(self, should_stop: Callable[[], bool]) -> SceneMessage:
        """What the planning server has."""
        calls: list[Future] = []

        def ask() -> Future:
            calls.append(self._client.call_async(GetPlanningScene.Request()))
            return calls[-1]

        try:
            answer = _first_answer(ask, self._client.service_is_ready, should_stop)
        finally:
            for call in calls:
                self._client.remove_pending_request(call)
        if answer is not None:
            return answer.scene
        raise _no_answer('get_planning_scene', 'move_group', self._client.service_is_ready())

    def _own(self, message: SceneMessage) -> SceneMessage:
        """A scene without the joints and links that our robot has not, such as those of another hand."""
        state, own = message.robot_state.joint_state, self._robot.frames
        kept = [(name, value) for name, value in zip(state.name, state.position, strict=True) if name in own.joints]
        state.name, state.position = [name for name, _ in kept], [value for _, value in kept]
        state.velocity, state.effort = [], []
        message.link_padding = [entry for entry in message.link_padding if entry.link_name in own.links]
        message.link_scale = [entry for entry in message.link_scale if entry.link_name in own.links]
        return message

    def _allowed(self, told: AllowedCollisions, known: Sequence[str]) -> AllowedCollisions:
        """What the planning server allows, in full where it speaks of pairs of links that our robot allows by itself.

        A pair of links that are both `known` to it, and which it does not allow, it forbids. Of others it says nothing.
        """
        links = frozenset(known)
        own = ((a, b) for a, b, allowed in self._robot.allowed.pairs() if allowed and a in links and b in links)
        return told.edited([(a, b, False) for a, b in own if not told.allows(a, b)])


def _first_answer(ask: Callable[[], Future], is_there: Callable[[], bool], should_stop: Callable[[], bool]) -> Any:
    """The first answer to a question that may be asked several times; None: there was none in time.

    It is asked again because a server that died seems to be there for a while, and then another is.

    Raises:
        SceneFault: somebody wants to stop.
    """
    done = threading.Event()
    answers: list[Any] = []

    def take(future: Future) -> None:
        if not future.cancelled():
            answers.append(future.result())
            done.set()

    deadline, again = time.monotonic() + WITHIN, 0.0
    while (now := time.monotonic()) < deadline:
        if now >= again and is_there():
            again = now + ASK_AGAIN
            ask().add_done_callback(take)
        if done.wait(LOOK_EVERY):
            return answers[0]
        if should_stop():
            raise SceneFault(Code.PREEMPTED, 'Planning was stopped.')
    return None


def _no_answer(service: str, node: str, is_there: bool) -> SceneFault:
    if is_there:
        return SceneFault(Code.FAILURE, f"'{service}' did not answer within {WITHIN:g} s; see the log of {node}.")
    return SceneFault(Code.FAILURE, f"Nobody serves '{service}'; start {node}.")
