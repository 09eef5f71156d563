"""The task planner plans in the scene that the planning server has: what may touch and how big links are included."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from moveit_msgs.msg import AllowedCollisionMatrix, LinkPadding, MoveItErrorCodes, PlanningSceneComponents
from moveit_msgs.msg import PlanningScene as SceneMessage
from support.cell import Cell
from support.move_group_client import MoveGroupClient

from lfd_description.shapes import Box
from lfd_planner.messages import object_to_message, remove_message
from lfd_planner.pose import Pose
from lfd_planner.scene import Body, WorldObject

CODES = MoveItErrorCodes
WALL = WorldObject('wall', Body.of(Box((0.3, 0.3, 0.3))), Pose((0.2, 0.0, 0.3)))  # in which the arm stands


@pytest.fixture
def server(cell: Cell) -> Iterator[MoveGroupClient]:
    """The planning server; what was allowed and padded is so again afterwards."""
    server = MoveGroupClient(cell.domain)
    before = server.scene(
        PlanningSceneComponents.ALLOWED_COLLISION_MATRIX | PlanningSceneComponents.LINK_PADDING_AND_SCALING
    )
    yield server
    links = before.allowed_collision_matrix.entry_names
    assert change(
        server, allowed=before.allowed_collision_matrix, padding=[LinkPadding(link_name=link) for link in links]
    )
    server.peer.close()


def change(server: MoveGroupClient, allowed: AllowedCollisionMatrix | None = None, padding: object = ()) -> bool:
    message = SceneMessage(is_diff=True, link_padding=list(padding))
    message.robot_state.is_diff = True
    message.allowed_collision_matrix = allowed or AllowedCollisionMatrix()
    return server.apply(message)


def allowed(server: MoveGroupClient) -> AllowedCollisionMatrix:
    return server.scene(PlanningSceneComponents.ALLOWED_COLLISION_MATRIX).allowed_collision_matrix


def test_a_link_that_is_padded_on_the_server_is_padded_here(client, text, server):
    assert client.plan(text).error_code.val == CODES.SUCCESS
    assert change(server, padding=[LinkPadding(link_name='forearm_link', padding=0.3)])
    answer = client.plan(text)
    assert answer.error_code.val != CODES.SUCCESS
    assert 'forearm_link' in answer.message


def test_what_may_be_touched_on_the_server_may_be_touched_here(client, text, server):
    message = SceneMessage(is_diff=True)
    message.robot_state.is_diff = True
    message.world.collision_objects = [object_to_message(WALL, 'base_link')]
    assert server.apply(message)
    try:
        refused = client.plan(text)
        assert refused.error_code.val == CODES.START_STATE_IN_COLLISION, refused.message
        matrix = allowed(server)
        matrix.default_entry_names.append('wall')
        matrix.default_entry_values = [*matrix.default_entry_values, True]
        assert change(server, matrix)
        assert client.plan(text).error_code.val == CODES.SUCCESS
    finally:
        message.world.collision_objects = [remove_message('wall')]
        assert server.apply(message)


def test_links_that_must_not_touch_on_the_server_must_not_touch_here(client, text, server):
    """Neighbours that the robot's own description lets touch."""
    matrix = allowed(server)
    one, other = (list(matrix.entry_names).index(name) for name in ('forearm_link', 'upper_arm_link'))
    assert matrix.entry_values[one].enabled[other]
    matrix.entry_values[one].enabled[other] = matrix.entry_values[other].enabled[one] = False
    assert change(server, matrix)
    answer = client.plan(text)
    assert answer.error_code.val != CODES.SUCCESS
    assert 'forearm_link' in answer.message
    assert 'upper_arm_link' in answer.message
