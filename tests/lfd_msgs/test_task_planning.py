"""The suite's own interfaces work over DDS, with the fields that scripts rely on."""

from __future__ import annotations

from lfd_msgs.action import ExecuteTask, PlanTask
from lfd_msgs.msg import TaskSolution
from lfd_msgs.srv import TaskPlanning
from moveit_msgs.msg import MoveItErrorCodes


def test_fields_of_the_contract():
    assert TaskPlanning.Request.get_fields_and_field_types() == {
        'task_description': 'string',
        'task_origin': 'geometry_msgs/Pose',
    }
    assert TaskPlanning.Response.get_fields_and_field_types() == {
        'trajectory': 'trajectory_msgs/JointTrajectory',
        'error_code': 'moveit_msgs/MoveItErrorCodes',
        'message': 'string',
    }


def test_actions_carry_solutions():
    assert ExecuteTask.Goal().solution == TaskSolution()
    assert PlanTask.Result().solutions == []


def test_a_goal_that_says_nothing_is_one():
    goal = PlanTask.Goal()
    assert (goal.time_budget, goal.max_solutions, goal.seed, goal.speed, goal.end_pose) == (0.0, 0, 0, 0.0, '')


def test_the_service_answers_across_participants(make_peer):
    def answer(request: TaskPlanning.Request, response: TaskPlanning.Response) -> TaskPlanning.Response:
        response.error_code.val = MoveItErrorCodes.PLANNING_FAILED
        response.message = f'no motion for: {request.task_description} at x={request.task_origin.position.x}'
        return response

    planner, user = make_peer('planner'), make_peer('user')
    planner.node.create_service(TaskPlanning, 'compute_motion_plan_from_task', answer)
    client = user.node.create_client(TaskPlanning, 'compute_motion_plan_from_task')
    user.eventually(client.service_is_ready, 'the service is discovered')
    request = TaskPlanning.Request(task_description='pick: box')
    request.task_origin.position.x = 0.5
    future = client.call_async(request)
    user.eventually(future.done, 'the service answers', doing=planner.spin_once)
    assert future.result().error_code.val == MoveItErrorCodes.PLANNING_FAILED
    assert future.result().message == 'no motion for: pick: box at x=0.5'
