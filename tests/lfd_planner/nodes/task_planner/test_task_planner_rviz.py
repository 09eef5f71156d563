"""What RViz is shown of a task: stages as MoveIt Task Constructor tells of them, the planned path, and markers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from geometry_msgs.msg import Pose
from moveit_msgs.msg import DisplayTrajectory, MoveItErrorCodes
from moveit_task_constructor_msgs.msg import Solution, TaskDescription, TaskStatistics
from moveit_task_constructor_msgs.srv import GetSolution
from support.task_cells import planner, seed_origin, seed_task
from support.task_planner_client import TaskPlannerClient
from visualization_msgs.msg import Marker, MarkerArray

from lfd_planner.messages import apply_planning_scene
from lfd_planner.mtdf import Place
from lfd_planner.scene import PlanningScene

SUCCESS = MoveItErrorCodes.SUCCESS
FINGER = 'joint_left_finger'
FAR = Pose()
FAR.position.x, FAR.orientation.w = 3.0, 1.0


class Panel:
    """Takes in what RViz's panel does, and in its way: topics beside `solution`, and the description first."""

    def __init__(self, client: TaskPlannerClient) -> None:
        self.client = client
        self.task_id = ''
        self.names = {0: 'the task'}
        self.parents: dict[int, int] = {}
        self.flags: dict[int, int] = {}
        self.keyframes: dict[int, int] = {}
        self.descriptions = client.listen(TaskDescription, 'description')
        client.peer.eventually(lambda: any(message.stages for message in self.descriptions), 'a description')
        self.statistics = client.listen(TaskStatistics, 'statistics')
        self.solutions = client.listen(Solution, 'solution')
        self._take(self.descriptions[-1])

    def _take(self, message: TaskDescription) -> None:
        self.task_id = message.task_id
        for stage in message.stages:
            assert stage.parent_id in self.names  # else the panel drops it
            self.names[stage.id], self.parents[stage.id] = stage.name, stage.parent_id
            self.flags[stage.id] = stage.flags
            for each in stage.properties:
                assert each.name == 'keyframe'
                self.keyframes[stage.id] = int(each.value)

    def solution(self, number: int) -> Solution:
        """What the panel asks for when a line is clicked."""
        service = self.client.peer.node.create_client(GetSolution, f'get_solution_{self.task_id}')
        self.client.peer.eventually(service.service_is_ready, 'the service')
        answer = self.client.peer.result(service.call_async(GetSolution.Request(solution_id=number)))
        self.client.peer.node.destroy_client(service)
        return answer.solution


def replayed(solution: Solution) -> PlanningScene:
    """The scene after all of a solution's changes."""
    robot = planner().backend.robot
    assert solution.start_scene.robot_model_name == robot.name  # else the panel refuses it
    applied = apply_planning_scene(PlanningScene(robot.frame), solution.start_scene, robot.frames)
    assert not applied.faults
    for part in solution.sub_trajectory:
        points = part.trajectory.joint_trajectory.points
        if points:
            now = [applied.scene.joints[name] for name in part.trajectory.joint_trajectory.joint_names]
            assert points[0].positions == pytest.approx(now, abs=1e-6)  # it begins where the one before ended
        applied = apply_planning_scene(applied.scene, part.scene_diff, robot.frames)
        assert not applied.faults
    return applied.scene


def test_the_panel_shows_all_stages_what_they_found_and_the_motion(client, text):
    assert client.plan(text).error_code.val == SUCCESS
    panel = Panel(client)  # RViz may be started later
    assert panel.names[1] == 'task'
    assert panel.parents[1] == 0
    names = list(panel.names.values())
    for name in ('grasp', 'approach', 'close', 'lift', 'transfer', 'lower', 'place', 'open', 'retreat'):
        assert names.count(name) == 4
    kinds = {panel.names[id]: flags for id, flags in panel.flags.items()}
    assert (kinds['grasp'], kinds['lift'], kinds['approach'], kinds['transfer']) == (0x0C, 0x05, 0x0A, 0x03)
    assert set(panel.keyframes.values()) == set(range(8))
    client.peer.eventually(lambda: panel.statistics and panel.solutions, 'statistics and a solution')
    statistics, solution = panel.statistics[-1], panel.solutions[-1]
    assert statistics.task_id == solution.task_id == panel.task_id
    assert {stage.id for stage in statistics.stages} == set(panel.names) - {0}
    top = solution.sub_solution[0].info
    assert top.stage_id == 1
    assert list(statistics.stages[0].solved) == [top.id]
    solved = {number: stage.id for stage in statistics.stages for number in stage.solved}
    for part in (*solution.sub_solution, *solution.sub_trajectory):
        assert solved[part.info.id] == part.info.stage_id
    comments = [part.info.comment for part in solution.sub_trajectory if panel.names[part.info.stage_id] == 'grasp']
    assert len(comments) == 4
    assert all('box' in comment for comment in comments)


def test_the_shown_motion_ends_with_every_object_at_its_place(client, text):
    assert client.plan(text).error_code.val == SUCCESS
    panel = Panel(client)
    client.peer.eventually(lambda: panel.solutions, 'a solution')
    scene = replayed(panel.solutions[-1])
    assert not scene.attached
    for keyframe in seed_task().keyframes:
        if isinstance(keyframe, Place):
            wanted = (seed_origin() @ keyframe.pose).position
            assert scene.objects[keyframe.object].pose.position == pytest.approx(wanted, abs=1e-9)


def test_a_new_task_replaces_the_one_before(client, text):
    assert client.plan(text).error_code.val == SUCCESS
    panel = Panel(client)
    before = len(panel.descriptions)
    assert client.plan(text).error_code.val == SUCCESS
    client.peer.eventually(lambda: len(panel.descriptions) >= before + 2, 'two descriptions')
    gone, new = panel.descriptions[-2:]
    assert not gone.stages
    assert new.stages
    assert gone.task_id == new.task_id == panel.task_id


def test_any_line_of_the_panel_can_be_looked_at(client, text):
    assert client.plan(text, FAR).error_code.val != SUCCESS
    panel = Panel(client)
    client.peer.eventually(
        lambda: panel.statistics and any(stage.failed for stage in panel.statistics[-1].stages), 'statistics'
    )
    failed = [stage for stage in panel.statistics[-1].stages if stage.failed]
    assert failed
    assert not panel.statistics[-1].stages[0].solved
    stage = failed[-1]
    assert stage.num_failed >= len(stage.failed)
    (part,) = panel.solution(stage.failed[0]).sub_trajectory
    assert math.isinf(part.info.cost)
    assert part.info.comment
    leaf = next(each for each in panel.statistics[-1].stages if each.solved)
    replayed(panel.solution(leaf.solved[0]))
    assert not panel.solution(1_000_000).sub_trajectory


def test_the_planned_path_starts_where_the_robot_is_and_moves_the_hand(client, text):
    assert client.plan(text).error_code.val == SUCCESS
    shown = client.listen(DisplayTrajectory, 'display_planned_path')
    client.peer.eventually(lambda: any(message.trajectory for message in shown), 'a planned path')
    message = shown[-1]
    assert message.model_id == planner().backend.robot.name
    (trajectory,) = [each.joint_trajectory for each in message.trajectory]
    start = dict(
        zip(message.trajectory_start.joint_state.name, message.trajectory_start.joint_state.position, strict=True)
    )
    first = dict(zip(trajectory.joint_names, trajectory.points[0].positions, strict=True))
    assert first == pytest.approx({name: start[name] for name in first})
    finger = [point.positions[trajectory.joint_names.index(FINGER)] for point in trajectory.points]
    assert max(finger) - min(finger) > 0.001
    assert not message.trajectory_start.attached_collision_objects  # they stand in the world at the start


def test_markers_show_the_ways_of_the_objects_and_the_grasps(client, text):
    assert client.plan(text).error_code.val == SUCCESS
    shown = client.listen(MarkerArray, 'task_markers')
    client.peer.eventually(lambda: shown and any(marker.ns == 'path' for marker in shown[-1].markers), 'markers')
    first, *markers = shown[-1].markers
    assert first.action == Marker.DELETEALL
    assert {marker.header.frame_id for marker in markers} == {'base_link'}
    assert len({(marker.ns, marker.id) for marker in markers}) == len(markers)
    ways = [marker for marker in markers if marker.ns == 'path']
    places = [keyframe for keyframe in seed_task().keyframes if isinstance(keyframe, Place)]
    assert len(ways) == len(places) == 4
    for way, place in zip(ways, places, strict=True):
        end = way.points[-1]
        wanted = (seed_origin() @ place.pose).position
        assert np.allclose((end.x, end.y, end.z), wanted, atol=1e-3)
    assert next(marker.text for marker in markers if marker.ns == 'text') == '0: blue_box'
    assert sum(marker.ns == 'grasp' for marker in markers) == 4


def test_markers_show_what_cannot_be_done_and_why(client, text):
    shown = client.listen(MarkerArray, 'task_markers')
    answer = client.plan(text, FAR)
    assert answer.error_code.val != SUCCESS
    client.peer.eventually(
        lambda: shown and any(marker.ns == 'failure' for marker in shown[-1].markers), 'markers of a failure'
    )
    ball, words = (marker for marker in shown[-1].markers if marker.ns == 'failure')
    assert ball.type == Marker.SPHERE
    assert ball.pose.position.x > 2.0
    assert words.text.replace('\n', ' ') == answer.message
