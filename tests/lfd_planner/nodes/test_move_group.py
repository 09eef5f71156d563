"""The planning server over real DDS: what MoveIt's clients ask of move_group, and what they are told when it cannot."""

from __future__ import annotations

import signal
import threading

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from geometry_msgs.msg import Pose, TransformStamped
from moveit_msgs.action import ExecuteTrajectory, MoveGroup
from moveit_msgs.msg import (
    AttachedCollisionObject,
    CollisionObject,
    Constraints,
    DisplayTrajectory,
    MotionPlanRequest,
    MoveItErrorCodes,
    OrientationConstraint,
    PlanningSceneComponents,
    PositionConstraint,
)
from moveit_msgs.msg import PlanningScene as SceneMessage
from moveit_msgs.srv import (
    GetCartesianPath,
    GetMotionPlan,
    GetPositionFK,
    GetPositionIK,
    GetStateValidity,
)
from rclpy.qos import DurabilityPolicy, QoSProfile
from shape_msgs.msg import SolidPrimitive
from std_msgs.msg import String
from support.move_group_client import GROUP, HOME, MoveGroupClient, joint_goal
from support.peer import Peer
from tf2_msgs.msg import TFMessage

from lfd_description.robots import find_robot, robot_description
from lfd_description.shapes import Box
from lfd_description.urdf import parse_urdf
from lfd_planner.messages import move_message, object_to_message, remove_message
from lfd_planner.scene import Body, RobotFrames, WorldObject
from lfd_planner.scene import Pose as ScenePose

LEFT = (0.9, -1.5, 1.7, -1.7708, -1.5708, 0.0)
JOINTS = find_robot('ur5e').joints
CODES = MoveItErrorCodes


@pytest.fixture(scope='module')
def frames() -> RobotFrames:
    return RobotFrames(parse_urdf(robot_description(find_robot('ur5e'))), 'base_link')


def box(id: str, size: tuple[float, float, float], at: tuple[float, float, float]) -> CollisionObject:
    return object_to_message(WorldObject(id, Body.of(Box(size)), ScenePose(at)), 'base_link')


def diff(*objects: CollisionObject) -> SceneMessage:
    scene = SceneMessage(is_diff=True)
    scene.robot_state.is_diff = True
    scene.world.collision_objects = list(objects)
    return scene


def names(scene: SceneMessage) -> list[str]:
    return [thing.id for thing in scene.world.collision_objects]


def request(goal: Constraints, **fields: object) -> MotionPlanRequest:
    asked = MotionPlanRequest(group_name=GROUP, goal_constraints=[goal], allowed_planning_time=10.0, **fields)
    asked.start_state.is_diff = True
    return asked


def plan(client: MoveGroupClient, asked: MotionPlanRequest):
    return client.call('plan_kinematic_path', GetMotionPlan.Request(motion_plan_request=asked)).motion_plan_response


def pose_goal(pose: Pose, link: str = 'tool0', position: float = 1e-3, turn: float = 1e-2) -> Constraints:
    where = PositionConstraint(link_name=link, weight=1.0)
    where.header.frame_id = 'base_link'
    where.constraint_region.primitives = [SolidPrimitive(type=SolidPrimitive.SPHERE, dimensions=[position])]
    where.constraint_region.primitive_poses = [Pose(position=pose.position)]
    how = OrientationConstraint(
        link_name=link,
        orientation=pose.orientation,
        absolute_x_axis_tolerance=turn,
        absolute_y_axis_tolerance=turn,
        absolute_z_axis_tolerance=turn,
        weight=1.0,
    )
    how.header.frame_id = 'base_link'
    return Constraints(position_constraints=[where], orientation_constraints=[how])


def fk(client: MoveGroupClient, joints: tuple[float, ...] | None = None, link: str = 'tool0', frame: str = ''):
    asked = GetPositionFK.Request(fk_link_names=[link])
    asked.header.frame_id = frame
    if joints is not None:
        asked.robot_state.joint_state.name = list(JOINTS)
        asked.robot_state.joint_state.position = list(joints)
    return client.call('compute_fk', asked)


def move(client: MoveGroupClient, goal: Constraints, **options: object):
    asked = MoveGroup.Goal(request=request(goal))
    for name, value in options.items():
        setattr(asked.planning_options, name, value)
    handle = client.send(client.move_action, asked)
    assert handle.accepted
    return client.result(handle)


def go_home(client: MoveGroupClient) -> None:
    assert move(client, joint_goal(JOINTS, HOME)).result.error_code.val == CODES.SUCCESS


# The scene


def test_objects_come_back_as_they_were_sent(client):
    sent = box('crate', (0.2, 0.3, 0.4), (0.1234567890123, -0.7, 0.2))
    assert client.apply(diff(sent))
    (back,) = client.scene().world.collision_objects
    assert back.id == 'crate'
    assert back.pose == sent.pose
    assert back.primitives == sent.primitives


def test_the_mask_is_honoured(client):
    client.apply(diff(box('crate', (0.2, 0.3, 0.4), (1.0, 0.0, 0.2))))
    only_names = client.scene(PlanningSceneComponents.WORLD_OBJECT_NAMES)
    assert names(only_names) == ['crate']
    assert not only_names.world.collision_objects[0].primitives
    assert not only_names.robot_state.joint_state.name
    state = client.scene(PlanningSceneComponents.ROBOT_STATE)
    assert set(state.robot_state.joint_state.name) >= set(JOINTS)
    assert not names(state)


def test_objects_by_topic_in_the_order_in_which_they_were_sent(client):
    publisher = client.peer.node.create_publisher(CollisionObject, 'collision_object', 1000)
    client.peer.eventually(publisher.get_subscription_count, 'the subscription')
    for number in range(50):
        publisher.publish(box(f'box_{number}', (0.02, 0.02, 0.02), (1.0, 0.1 * number, 0.0)))
        publisher.publish(move_message(f'box_{number}', ScenePose((1.5, 0.1 * number, 0.0)), 'base_link'))
        if number % 2:
            publisher.publish(remove_message(f'box_{number}'))
    expected = {f'box_{number}': 1.5 for number in range(0, 50, 2)}

    def there() -> dict[str, float]:
        return {thing.id: thing.pose.position.x for thing in client.scene().world.collision_objects}

    client.peer.eventually(lambda: there() == expected, 'all of them')


def test_attached_objects_by_topic_and_back(client):
    client.apply(diff(box('part', (0.05, 0.05, 0.05), (0.5, 0.0, 0.5))))
    publisher = client.peer.node.create_publisher(AttachedCollisionObject, 'attached_collision_object', 10)
    client.peer.eventually(publisher.get_subscription_count, 'the subscription')
    attach = AttachedCollisionObject(link_name='tool0', touch_links=['wrist_3_link'])
    attach.object.id, attach.object.operation = 'part', CollisionObject.ADD
    publisher.publish(attach)
    held = client.peer.eventually(lambda: client.scene().robot_state.attached_collision_objects, 'the attached object')
    assert [(thing.object.id, thing.link_name) for thing in held] == [('part', 'tool0')]
    assert not names(client.scene())
    detach = AttachedCollisionObject(link_name='tool0')
    detach.object.id, detach.object.operation = 'part', CollisionObject.REMOVE
    publisher.publish(detach)
    client.peer.eventually(lambda: names(client.scene()) == ['part'], 'the object in the world')


def test_what_cannot_be_applied_is_refused_and_the_rest_is_done(client, cell):
    good, bad = box('good', (0.1, 0.1, 0.1), (1.0, 0.0, 0.0)), box('bad', (0.1, 0.1, 0.1), (1.0, 0.0, 0.0))
    bad.primitives[0].dimensions[0] = float('nan')
    assert not client.apply(diff(good, bad, remove_message('nothing')))
    assert names(client.scene()) == ['good']
    output = cell.processes['move_group'].output
    assert "Object 'bad'" in output
    assert "'nothing'" in output


def test_the_monitored_scene_tells_what_changed_and_nothing_else(client):
    heard: list[SceneMessage] = []
    client.peer.node.create_subscription(SceneMessage, 'monitored_planning_scene', heard.append, 100)
    client.peer.eventually(
        lambda: any(message.is_diff for message in heard),
        'the first diff',
        doing=lambda: client.apply(diff(box('first', (0.1, 0.1, 0.1), (1.0, 0.0, 0.0)))),
    )
    client.apply(diff(box('crate', (0.1, 0.1, 0.1), (2.0, 0.0, 0.0))))
    client.peer.eventually(lambda: any('crate' in names(message) for message in heard), 'the crate')
    heard.clear()
    client.apply(diff(move_message('crate', ScenePose((3.0, 0.0, 0.0)), 'base_link')))
    client.peer.eventually(lambda: any('crate' in names(message) for message in heard), 'its motion')
    (moved,) = [thing for message in heard for thing in message.world.collision_objects]
    assert moved.operation == CollisionObject.MOVE
    assert not moved.primitives


def test_poses_are_taken_in_any_frame_that_somebody_publishes(client):
    camera = TransformStamped(child_frame_id='camera')
    camera.header.frame_id = 'base_link'
    camera.transform.translation.x, camera.transform.rotation.w = 1.0, 1.0
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = client.peer.node.create_publisher(TFMessage, 'tf_static', latched)
    publisher.publish(TFMessage(transforms=[camera]))
    seen = box('seen', (0.1, 0.1, 0.1), (0.5, 0.0, 0.0))
    seen.header.frame_id = 'camera'
    client.peer.eventually(lambda: client.apply(diff(seen)), 'the frame')
    (back,) = client.scene().world.collision_objects
    assert (back.header.frame_id, back.pose.position.x) == ('base_link', 1.5)


# Kinematics


def test_forward_kinematics(client, frames):
    answer = fk(client, LEFT)
    assert answer.error_code.val == CODES.SUCCESS
    pose = frames.link_poses(dict(zip(JOINTS, LEFT, strict=True)))['tool0']
    position = answer.pose_stamped[0].pose.position
    np.testing.assert_allclose([position.x, position.y, position.z], pose[:3, 3], atol=1e-12)
    assert answer.pose_stamped[0].header.frame_id == 'base_link'
    own = fk(client, LEFT, frame='tool0').pose_stamped[0].pose
    assert abs(own.position.x) + abs(own.position.y) + abs(own.position.z) < 1e-12


def test_forward_kinematics_of_a_link_that_is_not_there(client):
    answer = fk(client, LEFT, link='tool9')
    assert answer.error_code.val == CODES.INVALID_LINK_NAME
    assert "'tool9'" in answer.error_code.message
    assert fk(client, LEFT, frame='nowhere').error_code.val == CODES.FRAME_TRANSFORM_FAILURE


def inverse(client: MoveGroupClient, pose: Pose, *, avoid_collisions: bool = True, group: str = GROUP, link: str = ''):
    asked = GetPositionIK.Request()
    asked.ik_request.group_name, asked.ik_request.ik_link_name = group, link
    asked.ik_request.avoid_collisions = avoid_collisions
    asked.ik_request.robot_state.is_diff = True
    asked.ik_request.pose_stamped.header.frame_id = 'base_link'
    asked.ik_request.pose_stamped.pose = pose
    return client.call('compute_ik', asked)


def test_inverse_kinematics_reaches_the_pose(client):
    wanted = fk(client, LEFT).pose_stamped[0].pose
    answer = inverse(client, wanted)
    assert answer.error_code.val == CODES.SUCCESS
    state = answer.solution.joint_state
    found = dict(zip(state.name, state.position, strict=True))
    again = fk(client, tuple(found[name] for name in JOINTS)).pose_stamped[0].pose
    np.testing.assert_allclose(
        [again.position.x, again.position.y, again.position.z],
        [wanted.position.x, wanted.position.y, wanted.position.z],
        atol=1e-6,
    )


def test_inverse_kinematics_says_why_not(client):
    far = Pose()
    far.position.x, far.orientation.w = 3.0, 1.0
    assert inverse(client, far).error_code.val == CODES.NO_IK_SOLUTION
    near = fk(client, LEFT).pose_stamped[0].pose
    client.apply(diff(box('block', (0.3, 0.3, 0.3), (near.position.x, near.position.y, near.position.z))))
    blocked = inverse(client, near)
    assert blocked.error_code.val == CODES.NO_IK_SOLUTION
    assert "'block'" in blocked.error_code.message
    assert inverse(client, near, avoid_collisions=False).error_code.val == CODES.SUCCESS
    unknown = inverse(client, near, group='arm')
    assert unknown.error_code.val == CODES.INVALID_GROUP_NAME
    assert GROUP in unknown.error_code.message
    assert inverse(client, near, link='elbow').error_code.val == CODES.INVALID_LINK_NAME


def validity(client: MoveGroupClient, joints: tuple[float, ...]):
    asked = GetStateValidity.Request(group_name=GROUP)
    asked.robot_state.joint_state.name = list(JOINTS)
    asked.robot_state.joint_state.position = list(joints)
    return client.call('check_state_validity', asked)


def test_a_state_is_judged_with_all_that_touches(client):
    assert validity(client, LEFT).valid
    at = fk(client, LEFT, link='wrist_3_link').pose_stamped[0].pose.position
    client.apply(diff(box('block', (0.1, 0.1, 0.1), (at.x, at.y, at.z))))
    answer = validity(client, LEFT)
    assert not answer.valid
    pairs = {frozenset((contact.contact_body_1, contact.contact_body_2)) for contact in answer.contacts}
    assert frozenset(('wrist_3_link', 'block')) in pairs
    assert validity(client, HOME).valid


def test_allowed_collisions_can_be_edited(client):
    at = fk(client, LEFT, link='wrist_3_link').pose_stamped[0].pose.position
    client.apply(diff(box('fog', (0.1, 0.1, 0.1), (at.x, at.y, at.z))))
    matrix = client.scene(PlanningSceneComponents.ALLOWED_COLLISION_MATRIX).allowed_collision_matrix
    matrix.default_entry_names.append('fog')
    matrix.default_entry_values.append(True)
    scene = SceneMessage(is_diff=True, allowed_collision_matrix=matrix)
    scene.robot_state.is_diff = True
    assert client.apply(scene)
    assert validity(client, LEFT).valid


# Planning


def check_motion(client: MoveGroupClient, response: object, start: tuple[float, ...], goal: tuple[float, ...]) -> None:
    points = response.trajectory.joint_trajectory.points
    assert list(response.trajectory.joint_trajectory.joint_names) == list(JOINTS)
    np.testing.assert_allclose(points[0].positions, start, atol=1e-3)
    np.testing.assert_allclose(points[-1].positions, goal, atol=2e-3)
    for point in points[:: max(1, len(points) // 20)]:
        assert validity(client, tuple(point.positions)).valid


def test_a_joint_goal_around_an_obstacle(client):
    go_home(client)
    client.apply(diff(box('wall', (0.6, 0.02, 1.6), (0.6, 0.25, 0.4))))
    response = plan(client, request(joint_goal(JOINTS, LEFT)))
    assert response.error_code.val == CODES.SUCCESS, response.error_code.message
    check_motion(client, response, HOME, LEFT)


def test_a_pose_goal_and_its_display(client):
    go_home(client)
    shown: list[DisplayTrajectory] = []
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    client.peer.node.create_subscription(DisplayTrajectory, 'display_planned_path', shown.append, latched)
    wanted = fk(client, LEFT).pose_stamped[0].pose
    response = plan(client, request(pose_goal(wanted)))
    assert response.error_code.val == CODES.SUCCESS, response.error_code.message
    end = tuple(response.trajectory.joint_trajectory.points[-1].positions)
    reached = fk(client, end).pose_stamped[0].pose.position
    away = np.linalg.norm([reached.x - wanted.position.x, reached.y - wanted.position.y, reached.z - wanted.position.z])
    assert away <= 1e-3
    client.peer.eventually(lambda: shown and shown[-1].trajectory == [response.trajectory], 'the displayed path')


def test_the_speed_is_scaled(client):
    go_home(client)
    fast = plan(client, request(joint_goal(JOINTS, LEFT)))
    slow = plan(
        client,
        request(joint_goal(JOINTS, LEFT), max_velocity_scaling_factor=0.25, max_acceleration_scaling_factor=0.0625),
    )

    def end(response):
        last = response.trajectory.joint_trajectory.points[-1].time_from_start
        return last.sec + 1e-9 * last.nanosec

    assert end(slow) == pytest.approx(4.0 * end(fast), rel=1e-3)
    wrong = plan(client, request(joint_goal(JOINTS, LEFT), max_velocity_scaling_factor=3.0))
    assert wrong.error_code.val == CODES.INVALID_MOTION_PLAN
    assert 'max_velocity_scaling_factor' in wrong.error_code.message


def test_path_constraints_hold_all_the_way(client):
    go_home(client)
    upright = fk(client, HOME).pose_stamped[0].pose
    keep = pose_goal(upright, turn=0.1)
    keep.position_constraints = []
    keep.orientation_constraints[0].absolute_z_axis_tolerance = 6.3
    goal = (1.2, *HOME[1:])
    response = plan(client, request(joint_goal(JOINTS, goal), path_constraints=keep))
    assert response.error_code.val == CODES.SUCCESS, response.error_code.message
    for point in response.trajectory.joint_trajectory.points:
        q = fk(client, tuple(point.positions)).pose_stamped[0].pose.orientation
        down = -(1.0 - 2.0 * (q.x * q.x + q.y * q.y))
        assert down > np.cos(0.15)


@pytest.mark.parametrize(
    ('change', 'code', 'words'),
    [
        (lambda asked: setattr(asked, 'group_name', 'arm'), CODES.INVALID_GROUP_NAME, GROUP),
        (lambda asked: asked.goal_constraints.clear(), CODES.INVALID_GOAL_CONSTRAINTS, 'goal_constraints'),
        (
            lambda asked: setattr(asked.goal_constraints[0].joint_constraints[0], 'joint_name', 'elbow'),
            CODES.INVALID_GOAL_CONSTRAINTS,
            "'elbow'",
        ),
        (
            lambda asked: setattr(asked.goal_constraints[0].joint_constraints[2], 'position', 9.0),
            CODES.INVALID_GOAL_CONSTRAINTS,
            'elbow_joint',
        ),
        (
            lambda asked: setattr(asked.goal_constraints[0].joint_constraints[0], 'position', float('nan')),
            CODES.INVALID_GOAL_CONSTRAINTS,
            'finite',
        ),
    ],
)
def test_wrong_requests_are_refused_with_a_code_and_a_sentence(client, change, code, words):
    asked = request(joint_goal(JOINTS, LEFT))
    change(asked)
    response = plan(client, asked)
    assert response.error_code.val == code
    assert words in response.error_code.message
    assert response.error_code.source == 'move_group'
    assert not response.trajectory.joint_trajectory.points


def test_collisions_at_start_and_goal_are_told_apart(client):
    go_home(client)
    at = fk(client, LEFT, link='wrist_3_link').pose_stamped[0].pose.position
    client.apply(diff(box('block', (0.1, 0.1, 0.1), (at.x, at.y, at.z))))
    response = plan(client, request(joint_goal(JOINTS, LEFT)))
    assert response.error_code.val == CODES.GOAL_IN_COLLISION
    assert "'block'" in response.error_code.message
    back = request(joint_goal(JOINTS, HOME))
    back.start_state.joint_state.name = list(JOINTS)
    back.start_state.joint_state.position = list(LEFT)
    response = plan(client, back)
    assert response.error_code.val == CODES.START_STATE_IN_COLLISION
    assert "'block'" in response.error_code.message


def test_a_goal_out_of_reach(client):
    far = Pose()
    far.position.x, far.orientation.w = 3.0, 1.0
    response = plan(client, request(pose_goal(far)))
    assert response.error_code.val == CODES.NO_IK_SOLUTION
    assert 'reach' in response.error_code.message


def cartesian(client: MoveGroupClient, down: float, **fields: object):
    pose = fk(client).pose_stamped[0].pose
    pose.position.z -= down
    asked = GetCartesianPath.Request(group_name=GROUP, link_name='tool0', waypoints=[pose], max_step=0.01, **fields)
    asked.header.frame_id = 'base_link'
    asked.start_state.is_diff = True
    return client.call('compute_cartesian_path', asked)


def test_a_straight_line(client):
    go_home(client)
    answer = cartesian(client, 0.1, avoid_collisions=True)
    assert answer.error_code.val == CODES.SUCCESS
    assert answer.fraction == pytest.approx(1.0)
    points = answer.solution.joint_trajectory.points
    heights = [fk(client, tuple(point.positions)).pose_stamped[0].pose.position for point in points[::10]]
    assert np.ptp([at.x for at in heights]) < 1e-3
    assert np.ptp([at.y for at in heights]) < 1e-3


def test_a_straight_line_that_ends_early(client):
    go_home(client)
    at = fk(client, link='tcp').pose_stamped[0].pose.position
    client.apply(diff(box('floor', (0.5, 0.5, 0.02), (at.x, at.y, at.z - 0.1))))
    answer = cartesian(client, 0.2, avoid_collisions=True)
    assert answer.error_code.val == CODES.SUCCESS
    assert 0.2 < answer.fraction < 0.5
    assert 'collision' in answer.error_code.message
    through = cartesian(client, 0.2, avoid_collisions=False)
    assert through.fraction == pytest.approx(1.0)


def test_requests_are_served_at_the_same_time_on_snapshots(client, cell):
    """While one client plans again and again, another changes the scene; every plan is whole and right."""
    go_home(client)
    other = Peer('editor', cell.domain)
    stop = threading.Event()
    edits = 0

    def edit() -> None:
        nonlocal edits
        publisher = other.node.create_publisher(CollisionObject, 'collision_object', 100)
        while not stop.is_set():
            publisher.publish(box(f'far_{edits % 20}', (0.1, 0.1, 0.1), (3.0, 0.1 * (edits % 20), 0.0)))
            edits += 1
            other.spin_once(0.005)

    thread = threading.Thread(target=edit)
    thread.start()
    try:
        futures = [
            client.services['plan_kinematic_path'].call_async(
                GetMotionPlan.Request(motion_plan_request=request(joint_goal(JOINTS, LEFT)))
            )
            for _ in range(10)
        ]
        answers = [client.peer.result(future).motion_plan_response for future in futures]
    finally:
        stop.set()
        thread.join()
        other.close()
    assert edits > 0
    assert {answer.error_code.val for answer in answers} == {CODES.SUCCESS}
    ends = [list(answer.trajectory.joint_trajectory.points[-1].positions) for answer in answers]
    assert all(end == ends[0] for end in ends)


# Execution


def test_plan_and_execute(client):
    go_home(client)
    states: list[str] = []
    asked = MoveGroup.Goal(request=request(joint_goal(JOINTS, LEFT)))
    handle = client.send(client.move_action, asked, lambda message: states.append(message.feedback.state))
    answer = client.result(handle)
    assert answer.result.error_code.val == CODES.SUCCESS, answer.result.error_code.message
    client.peer.eventually(
        lambda: np.allclose([client.joints[name] for name in JOINTS], LEFT, atol=0.01), 'the arm at its goal'
    )
    assert answer.status == GoalStatus.STATUS_SUCCEEDED
    client.peer.eventually(lambda: states == ['PLANNING', 'MONITOR', 'IDLE'], 'all feedback')
    go_home(client)


def test_plan_only_moves_nothing(client):
    go_home(client)
    answer = move(client, joint_goal(JOINTS, LEFT), plan_only=True)
    assert answer.result.error_code.val == CODES.SUCCESS
    assert answer.result.planned_trajectory.joint_trajectory.points
    assert np.allclose([client.joints[name] for name in JOINTS], HOME, atol=0.01)


def slow_goal() -> MoveGroup.Goal:
    return MoveGroup.Goal(
        request=request(
            joint_goal(JOINTS, (-2.5, *HOME[1:])),
            max_velocity_scaling_factor=0.1,
            max_acceleration_scaling_factor=0.1,
        )
    )


def start_slowly(client: MoveGroupClient):
    """A goal that takes long, once the arm moves."""
    go_home(client)
    handle = client.send(client.move_action, slow_goal())
    client.peer.eventually(lambda: client.joints[JOINTS[0]] < -0.05, 'the arm moving')
    return handle


def test_a_motion_is_stopped_by_the_event(client):
    handle = start_slowly(client)
    publisher = client.peer.node.create_publisher(String, 'trajectory_execution_event', 1)
    client.peer.eventually(publisher.get_subscription_count, 'the subscription')
    publisher.publish(String(data='stop'))
    answer = client.result(handle)
    assert answer.result.error_code.val == CODES.PREEMPTED
    assert client.joints[JOINTS[0]] > -2.0


def test_a_motion_is_stopped_by_cancelling_its_goal(client):
    handle = start_slowly(client)
    client.peer.result(handle.cancel_goal_async())
    assert client.result(handle).result.error_code.val == CODES.PREEMPTED


def test_a_motion_stops_when_the_scene_gets_in_its_way(client):
    handle = start_slowly(client)
    goal = (-2.5, *HOME[1:])
    at = fk(client, goal, link='wrist_3_link').pose_stamped[0].pose.position
    assert client.apply(diff(box('intruder', (0.2, 0.2, 0.2), (at.x, at.y, at.z))))
    answer = client.result(handle)
    assert answer.result.error_code.val == CODES.MOTION_PLAN_INVALIDATED_BY_ENVIRONMENT_CHANGE
    assert "'intruder'" in answer.result.error_code.message
    client.clear()
    go_home(client)


def execute(client: MoveGroupClient, trajectory: object):
    handle = client.send(client.execute_trajectory, ExecuteTrajectory.Goal(trajectory=trajectory))
    return client.result(handle).result.error_code


def test_execute_what_was_planned(client):
    go_home(client)
    trajectory = plan(client, request(joint_goal(JOINTS, LEFT))).trajectory
    assert execute(client, trajectory).val == CODES.SUCCESS
    away = execute(client, trajectory)
    assert away.val == CODES.CONTROL_FAILED
    assert 'plan from the current state' in away.message
    go_home(client)


def test_a_broken_trajectory_is_refused(client):
    go_home(client)
    trajectory = plan(client, request(joint_goal(JOINTS, LEFT))).trajectory
    trajectory.joint_trajectory.points[1].positions[2] = float('inf')
    refused = execute(client, trajectory)
    assert refused.val == CODES.INVALID_MOTION_PLAN
    assert 'point 1' in refused.message


def test_a_controller_that_moves_takes_no_second_motion(client):
    first = start_slowly(client)
    second = client.send(client.move_action, MoveGroup.Goal(request=request(joint_goal(JOINTS, HOME))))
    refused = client.result(second).result.error_code
    assert refused.val == CODES.CONTROL_FAILED
    assert 'ur5e_controller' in refused.message
    before = client.joints[JOINTS[0]]
    client.peer.eventually(lambda: client.joints[JOINTS[0]] < before - 0.05, 'the first motion going on')
    client.peer.result(first.cancel_goal_async())
    answer = client.result(first)
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert answer.result.error_code.val == CODES.PREEMPTED


def hard_request(client: MoveGroupClient, budget: float) -> MotionPlanRequest:
    """What takes all its time: the arm may only turn about its first joint, and something stands in the way."""
    at = fk(client, (0.9, *HOME[1:]), link='wrist_3_link').pose_stamped[0].pose.position
    assert client.apply(diff(box('in the way', (0.25, 0.25, 0.25), (at.x, at.y, at.z))))
    keep = joint_goal(JOINTS[1:], HOME[1:], 0.05)
    keep.joint_constraints += joint_goal(JOINTS[:1], (0.9,), 1.0).joint_constraints
    asked = request(joint_goal(JOINTS, (1.8, *HOME[1:])), path_constraints=keep)
    asked.allowed_planning_time = budget
    asked.start_state.joint_state.name, asked.start_state.joint_state.position = list(JOINTS), list(HOME)
    return asked


def server_is_idle(client: MoveGroupClient) -> bool:
    here = [client.joints[name] for name in JOINTS]
    return plan(client, request(joint_goal(JOINTS, here))).error_code.val == CODES.SUCCESS


def test_stop_is_heard_however_busy_the_server_is(client):
    asked = hard_request(client, 8.0)
    go_home(client)
    handle = client.send(client.move_action, slow_goal())
    client.peer.eventually(lambda: client.joints[JOINTS[0]] < -0.05, 'the arm moving')
    service = client.services['plan_kinematic_path']
    plans = [service.call_async(GetMotionPlan.Request(motion_plan_request=asked)) for _ in range(100)]
    busy = client.peer.eventually(lambda: [plan for plan in plans if plan.done()], 'somebody sent away')
    refused = busy[0].result().motion_plan_response.error_code
    assert refused.val == CODES.FAILURE
    assert 'busy' in refused.message
    publisher = client.peer.node.create_publisher(String, 'trajectory_execution_event', 1)
    client.peer.eventually(publisher.get_subscription_count, 'the subscription')
    publisher.publish(String(data='stop'))
    assert client.result(handle).result.error_code.val == CODES.PREEMPTED
    assert names(client.scene()) == ['in the way']
    assert not all(plan.done() for plan in plans)  # the server is still busy
    client.peer.eventually(lambda: server_is_idle(client), 'an idle server')


def test_planning_is_cancelled(client):
    asked = hard_request(client, 60.0)
    go_home(client)
    asked.start_state = MotionPlanRequest().start_state
    handle = client.send(client.move_action, MoveGroup.Goal(request=asked))
    client.peer.result(handle.cancel_goal_async())
    answer = client.result(handle)
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert answer.result.error_code.val == CODES.PREEMPTED


def test_what_is_executed_starts_where_the_arm_is(client):
    go_home(client)
    asked = request(joint_goal(JOINTS, HOME))
    asked.start_state.joint_state.name, asked.start_state.joint_state.position = list(JOINTS), list(LEFT)
    handle = client.send(client.move_action, MoveGroup.Goal(request=asked))
    assert client.result(handle).result.error_code.val == CODES.SUCCESS


def test_a_change_of_the_scene_for_one_request_only(client):
    """What is asked for counts while planning and while watching, whether or not it says that it is a diff."""
    go_home(client)
    goal = (-1.0, *HOME[1:])
    at = fk(client, goal, link='wrist_3_link').pose_stamped[0].pose.position
    client.apply(diff(box('soft', (0.2, 0.2, 0.2), (at.x, at.y, at.z))))
    assert move(client, joint_goal(JOINTS, goal)).result.error_code.val == CODES.GOAL_IN_COLLISION
    matrix = client.scene(PlanningSceneComponents.ALLOWED_COLLISION_MATRIX).allowed_collision_matrix
    matrix.default_entry_names.append('soft')
    matrix.default_entry_values.append(True)
    asked = MoveGroup.Goal(
        request=request(joint_goal(JOINTS, goal), max_velocity_scaling_factor=0.1, max_acceleration_scaling_factor=0.2)
    )
    asked.planning_options.planning_scene_diff = SceneMessage(is_diff=False, allowed_collision_matrix=matrix)
    handle = client.send(client.move_action, asked)
    client.peer.eventually(lambda: client.joints[JOINTS[0]] < -0.05, 'the arm moving')
    client.apply(diff(box('far away', (0.1, 0.1, 0.1), (3.0, 0.0, 0.0))))
    assert client.result(handle).result.error_code.val == CODES.SUCCESS
    assert not validity(client, goal).valid
    client.clear()
    go_home(client)


def test_a_table_that_touches_the_foot_is_no_obstacle_for_the_arm(client):
    go_home(client)
    client.apply(diff(box('table', (1.0, 1.0, 0.05), (0.0, 0.0, -0.024))))
    assert plan(client, request(joint_goal(JOINTS, LEFT))).error_code.val == CODES.SUCCESS
    assert inverse(client, fk(client, LEFT).pose_stamped[0].pose).error_code.val == CODES.SUCCESS
    assert validity(client, LEFT).valid


def test_frames_above_the_robot(client):
    world = TransformStamped(child_frame_id='base_link')
    world.header.frame_id = 'world'
    world.transform.translation.z, world.transform.rotation.w = 1.0, 1.0
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = client.peer.node.create_publisher(TFMessage, 'tf_static', latched)
    publisher.publish(TFMessage(transforms=[world]))
    client.peer.eventually(lambda: fk(client, LEFT, frame='world').error_code.val == CODES.SUCCESS, 'the frame')
    here, there = (fk(client, LEFT, frame=frame).pose_stamped[0].pose.position.z for frame in ('base_link', 'world'))
    assert there == pytest.approx(here + 1.0)


def test_waypoints_in_the_links_own_frame_follow_each_other(client):
    go_home(client)
    step = Pose()
    step.position.z, step.orientation.w = 0.05, 1.0
    asked = GetCartesianPath.Request(group_name=GROUP, link_name='tool0', waypoints=[step, step], max_step=0.01)
    asked.header.frame_id = 'tool0'
    asked.start_state.is_diff = True
    answer = client.call('compute_cartesian_path', asked)
    assert answer.fraction == pytest.approx(1.0)
    before = fk(client).pose_stamped[0].pose.position.z
    end = answer.solution.joint_trajectory.points[-1].positions
    assert fk(client, tuple(end)).pose_stamped[0].pose.position.z == pytest.approx(before - 0.1, abs=1e-4)


def test_a_straight_line_leads_out_of_a_contact(client):
    go_home(client)
    at = fk(client, link='tcp').pose_stamped[0].pose.position
    client.apply(diff(box('plate', (0.3, 0.3, 0.02), (at.x, at.y, at.z - 0.005))))
    assert not validity(client, HOME).valid
    answer = cartesian(client, -0.1, avoid_collisions=True)
    assert answer.fraction == pytest.approx(1.0), answer.error_code.message


def test_an_attached_object_is_led_to_a_pose(client):
    client.apply(diff(box('part', (0.05, 0.05, 0.05), (0.5, 0.0, 0.5))))
    at = fk(client).pose_stamped[0].pose
    attach = AttachedCollisionObject(link_name='tool0')
    attach.object = box('part', (0.05, 0.05, 0.05), (0.0, 0.0, 0.1))
    attach.object.header.frame_id = 'tool0'
    scene = diff()
    scene.robot_state.attached_collision_objects = [attach]
    assert client.apply(scene)
    below = Pose(position=at.position, orientation=at.orientation)
    below.position.z -= 0.1
    answer = inverse(client, below, avoid_collisions=False, link='part')
    assert answer.error_code.val == CODES.SUCCESS
    state = dict(zip(answer.solution.joint_state.name, answer.solution.joint_state.position, strict=True))
    np.testing.assert_allclose([state[name] for name in JOINTS], [client.joints[name] for name in JOINTS], atol=1e-3)


# The node


def test_it_ends_when_asked_to_and_can_be_started_again(client, cell):
    assert cell.processes['move_group'].end(signal.SIGINT) == 0
    assert 'Traceback' not in cell.processes['move_group'].output
    cell.start('move_group')
    client.wait_until_ready()
    assert names(client.scene()) == []
    assert validity(client, LEFT).valid
