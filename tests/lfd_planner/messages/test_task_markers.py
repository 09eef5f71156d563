"""What RViz draws of a task that cannot be planned; what it draws of a plan is asked of the node."""

from __future__ import annotations

import pytest
from support.task_cells import box, moving
from visualization_msgs.msg import Marker

from lfd_planner.error_codes import Code
from lfd_planner.messages.task_markers import failure_markers, no_markers
from lfd_planner.mtdf import Pick, Place
from lfd_planner.planner import TaskFailure
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene

SCENE = PlanningScene('world').add(box('cup', (0.05, 0.05, 0.1), (0.3, 0.2, 0.1)))
TASK = moving(Pick('cup'), Place('cup', Pose((0.1, 0.0, 0.0))))
ORIGIN = Pose((1.0, 0.0, 0.0))


@pytest.mark.parametrize(('keyframe', 'where'), [(0, (0.3, 0.2, 0.1)), (1, (1.1, 0.0, 0.0))])
def test_a_ball_is_where_the_keyframe_cannot_be_done(keyframe, where):
    message = failure_markers(TaskFailure(Code.FAILURE, 'It is too far.', keyframe), TASK, SCENE, ORIGIN)
    cleared, ball, words = message.markers
    assert cleared.action == Marker.DELETEALL
    assert (ball.pose.position.x, ball.pose.position.y, ball.pose.position.z) == pytest.approx(where)
    assert words.text == 'It is too far.'
    assert words.pose.position.z > ball.pose.position.z
    assert ball.header.frame_id == words.header.frame_id == 'world'


def test_a_task_that_fails_as_a_whole_is_told_at_its_origin():
    _, words = failure_markers(TaskFailure(Code.FAILURE, 'No ' + 'word ' * 40), TASK, SCENE, ORIGIN).markers
    assert words.pose.position.x == 1.0
    assert len(words.text.splitlines()) > 3  # not one line through the whole view


def test_nothing_is_shown_after_all_is_taken_away():
    (only,) = no_markers().markers
    assert only.action == Marker.DELETEALL
