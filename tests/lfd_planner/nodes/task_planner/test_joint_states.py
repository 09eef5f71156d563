"""Where the arm is when planning begins: as it tells now, and never as it told long ago or in part."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest
from moveit_msgs.srv import GetPlanningScene
from rclpy.callback_groups import ReentrantCallbackGroup
from sensor_msgs.msg import JointState
from support.peer import Peer, eventually
from support.task_cells import planner

from lfd_planner.error_codes import Code
from lfd_planner.messages import scene_to_message
from lfd_planner.nodes import task_planner_scene
from lfd_planner.nodes.task_planner_scene import SceneSource
from lfd_planner.scene import PlanningScene, SceneFault

ARM = tuple(planner().model.group.joints)
FINGER = 'joint_left_finger'
OLD = 0.5  # [s]


class Rig:
    """A scene source, a planning server whose arm stands at home, and somebody who may tell of joints."""

    def __init__(self, make_peer: Callable[[str], Peer]) -> None:
        self.own, self.world = make_peer('planner'), make_peer('world')
        robot = planner().backend.robot
        self.home = robot.empty_scene()
        self.world.node.create_service(GetPlanningScene, 'get_planning_scene', self._answer)
        self.source = SceneSource(self.own.node, robot, ReentrantCallbackGroup(), OLD)
        self._publisher = None

    def tell(self, joints: Sequence[str], position: float) -> None:
        if self._publisher is None:
            self._publisher = self.world.node.create_publisher(JointState, 'joint_states', 1)
        self._publisher.publish(JointState(name=list(joints), position=[position] * len(joints)))

    def scene(self, doing: Callable[[], object] = lambda: None) -> PlanningScene:
        """The scene, while something is done again and again."""

        def spin() -> bool:
            doing()
            self.world.spin_once(0.0)
            self.own.spin_once(0.0)
            return False

        return self.source.current(spin)

    def refusal(self) -> SceneFault | None:
        """Why there is no scene."""
        try:
            self.scene()
        except SceneFault as fault:
            return fault
        return None

    def _answer(self, _: GetPlanningScene.Request, answer: GetPlanningScene.Response) -> GetPlanningScene.Response:
        answer.scene = scene_to_message(self.home)
        return answer


@pytest.fixture
def rig(make_peer: Callable[[str], Peer], monkeypatch: pytest.MonkeyPatch) -> Rig:
    monkeypatch.setattr(task_planner_scene, 'DISCOVERED', 0.0)
    return Rig(make_peer)


def test_where_nobody_tells_the_planning_server_is_believed(rig: Rig) -> None:
    assert {name: rig.scene().joints[name] for name in ARM} == {name: rig.home.joints[name] for name in ARM}


def test_what_the_arm_tells_counts_and_the_rest_is_the_servers(rig: Rig) -> None:
    rig.tell((), 0.0)  # somebody is there
    scene = rig.scene(lambda: rig.tell(ARM, 0.25))
    assert {scene.joints[name] for name in ARM} == {0.25}
    assert scene.joints[FINGER] == rig.home.joints[FINGER]


@pytest.mark.parametrize('told', [(FINGER,), (FINGER, *ARM[1:])])
def test_a_hand_or_a_part_of_the_arm_is_not_enough(
    rig: Rig, told: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_planner_scene, 'WITHIN', 2.0)
    rig.tell(told, 0.01)
    with pytest.raises(SceneFault) as fault:
        rig.scene(lambda: rig.tell(told, 0.01))
    assert fault.value.code is Code.INVALID_ROBOT_STATE
    assert "'/joint_states' has not told yet" in str(fault.value)
    assert ARM[0] in str(fault.value)
    assert (ARM[1] in str(fault.value)) == (ARM[1] not in told)


def test_what_was_told_long_ago_is_not_where_the_arm_is(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.tell((), 0.0)
    assert rig.scene(lambda: rig.tell(ARM, 0.25)).joints[ARM[0]] == 0.25
    with monkeypatch.context() as hasty:
        hasty.setattr(task_planner_scene, 'WITHIN', 2.0)
        fault = eventually(rig.refusal, 'what was told to be too old')
    assert fault.code is Code.INVALID_ROBOT_STATE
    assert re.search(r'has not told for [\d.]+ s where .* are, and at most 0.5 s ago', str(fault))
    assert "start the robot's driver" in str(fault)
    assert rig.scene(lambda: rig.tell(ARM, 0.5)).joints[ARM[0]] == 0.5
