"""The YAML files of a model, in the formats of ros2_control and MoveIt 2."""

import math
from typing import Any

import yaml

from lfd_description.robots import EXTERNAL, MOCK, MOTOROS1

from .model import RobotModel

# How often the controllers run [Hz]; a real arm's is its driver's.
MOCK_RATE = 125
STATE_RATE = 50.0  # [Hz], at which a trajectory controller publishes its state
GOAL_TOLERANCE = 0.05  # [rad]
GRIP_TOLERANCE = 0.0005  # [m] between the fingers' goal and where they are
STALL_TIME = 1.0  # [s] without motion
PATH_TOLERANCE = 0.2  # [rad]
# A Yaskawa controller that is streamed to plays a command this much later [s]: the lead of its tag, its own following
# and the age of its states. It ends exactly where it is told to, so that the goal can wait for that.
STREAM_DELAY = 0.12 + 0.1
STREAM_GOAL_TOLERANCE = 0.005  # [rad]

_PLANNERS = {
    'RRTConnectkConfigDefault': {'type': 'geometric::RRTConnect', 'range': 0.0},
    'RRTstarkConfigDefault': {
        'type': 'geometric::RRTstar',
        'range': 0.0,
        'goal_bias': 0.05,
        'delay_collision_checking': 1,
    },
    'PRMkConfigDefault': {'type': 'geometric::PRM', 'max_nearest_neighbors': 10},
}


def controllers_yaml(model: RobotModel) -> str:
    """The parameters of the controller manager and its controllers."""
    rate = MOCK_RATE if model.hardware == MOCK else model.robot.control_rate
    manager: dict[str, Any] = {
        'update_rate': rate,
        'joint_state_broadcaster': {'type': 'joint_state_broadcaster/JointStateBroadcaster'},
        model.controller: {'type': 'joint_trajectory_controller/JointTrajectoryController'},
    }
    files: dict[str, Any] = {
        'controller_manager': {'ros__parameters': manager},
        model.controller: {'ros__parameters': _trajectory_controller(model)},
    }
    for name, (kind, parameters) in _hand_controllers(model).items():
        manager[name] = {'type': kind}
        files[name] = {'ros__parameters': parameters}
    return _text(model, 'Controllers of ros2_control; rates [Hz], tolerances [rad], times [s].', files)


def _hand_controllers(model: RobotModel) -> dict[str, tuple[str, dict[str, Any]]]:
    """Plugin and parameters of the controllers of what the arm carries, by name; as in the gripper's own file.

    A hand with a driver of its own has none here.
    """
    gripper, prefix = model.gripper, model.prefix
    if gripper is None or model.hand == EXTERNAL:
        return {}
    found: dict[str, tuple[str, dict[str, Any]]] = {}
    if gripper.joint:
        parameters = {
            'joint': f'{prefix}{gripper.joint}',
            'goal_tolerance': GRIP_TOLERANCE,
            'stall_timeout': STALL_TIME,
        }
        found[f'{prefix}gripper_controller'] = ('position_controllers/GripperActionController', parameters)
    if gripper.gpio:
        switch = {'joints': [f'{prefix}{gripper.gpio}'], 'interface_name': 'active'}
        found[f'{prefix}{gripper.gpio}_controller'] = ('forward_command_controller/ForwardCommandController', switch)
    return found


def _trajectory_controller(model: RobotModel) -> dict[str, Any]:
    return {
        'joints': list(model.group.joints),
        'command_interfaces': ['position'],
        'state_interfaces': ['position', 'velocity'],
        'state_publish_rate': STATE_RATE,
        'action_monitor_rate': 20.0,
        'allow_partial_joints_goal': False,
        **_speed_scaling(model),
        'constraints': {
            'stopped_velocity_tolerance': 0.1,
            'goal_time': 1.0,
            **{joint: _tolerances(model, joint) for joint in model.group.joints},
        },
        # How fast a stop may brake; the official controller does not ask.
        'joint_limits': {
            joint: {'max_acceleration': round(model.limits[joint].acceleration, 4)} for joint in model.group.joints
        },
    }


def _speed_scaling(model: RobotModel) -> dict[str, Any]:
    """A UR tells how fast its pendant lets it move; the trajectory keeps pace with that."""
    name = f'{model.prefix}speed_scaling/speed_scaling_factor'
    return {'speed_scaling': {'state_interface': name}} if model.hardware == 'ur' else {}


def _tolerances(model: RobotModel, joint: str) -> dict[str, float]:
    if model.hardware != MOTOROS1:
        return {'trajectory': PATH_TOLERANCE, 'goal': GOAL_TOLERANCE}
    behind = math.ceil(model.limits[joint].velocity * STREAM_DELAY * 100.0) / 100.0
    return {'trajectory': max(PATH_TOLERANCE, behind), 'goal': STREAM_GOAL_TOLERANCE}


def joint_limits_yaml(model: RobotModel) -> str:
    """MoveIt's joint limits: velocities and accelerations, which it would not find in the URDF."""
    limits = {
        joint: {
            'has_position_limits': math.isfinite(limit.lower),
            **({'min_position': limit.lower, 'max_position': limit.upper} if math.isfinite(limit.lower) else {}),
            'has_velocity_limits': True,
            'max_velocity': limit.velocity,
            'has_acceleration_limits': True,
            'max_acceleration': round(limit.acceleration, 4),
        }
        for joint, limit in model.limits.items()
    }
    scaling = {'default_velocity_scaling_factor': 1.0, 'default_acceleration_scaling_factor': 1.0}
    return _text(
        model,
        'Limits; positions [rad], velocities [rad/s], accelerations [rad/s^2].',
        scaling | {'joint_limits': limits},
    )


def kinematics_yaml(model: RobotModel) -> str:
    """MoveIt's inverse kinematics: KDL, which every MoveIt has; lfd's own planner chooses by geometry instead."""
    solver = {
        'kinematics_solver': 'kdl_kinematics_plugin/KDLKinematicsPlugin',
        'kinematics_solver_search_resolution': 0.005,
        'kinematics_solver_timeout': 0.05,
    }
    return _text(
        model, f'Inverse kinematics. Geometry: {model.family.name}: {model.family.why}.', {model.group.name: solver}
    )


def ompl_planning_yaml(model: RobotModel) -> str:
    """MoveIt's OMPL pipeline."""
    before = (
        'ResolveConstraintFrames',
        'ValidateWorkspaceBounds',
        'CheckStartStateBounds',
        'CheckStartStateCollision',
    )
    after = ('AddTimeOptimalParameterization', 'ValidateSolution', 'DisplayMotionPath')
    pipeline = {
        'planning_plugins': ['ompl_interface/OMPLPlanner'],
        'request_adapters': [f'default_planning_request_adapters/{name}' for name in before],
        'response_adapters': [f'default_planning_response_adapters/{name}' for name in after],
        'start_state_max_bounds_error': 0.1,
        'planner_configs': _PLANNERS,
        model.group.name: {
            'default_planner_config': 'RRTConnectkConfigDefault',
            'planner_configs': list(_PLANNERS),
            'longest_valid_segment_fraction': 0.005,
        },
    }
    return _text(model, 'The OMPL planning pipeline.', pipeline)


def moveit_controllers_yaml(model: RobotModel) -> str:
    """Which controllers MoveIt sends trajectories to."""
    controllers: dict[str, Any] = {
        model.controller: {
            'type': 'FollowJointTrajectory',
            'action_ns': 'follow_joint_trajectory',
            'default': True,
            'joints': list(model.group.joints),
        }
    }
    if model.gripper and model.gripper_controller:
        controllers[model.gripper_controller] = {
            'type': 'GripperCommand',
            'action_ns': 'gripper_cmd',
            'default': True,
            'joints': [f'{model.prefix}{model.gripper.joint}'],
        }
    manager = {'controller_names': list(controllers), **controllers}
    settings = {
        'moveit_controller_manager': 'moveit_simple_controller_manager/MoveItSimpleControllerManager',
        'moveit_simple_controller_manager': manager,
        'trajectory_execution': {
            'allowed_execution_duration_scaling': 1.2,
            'allowed_goal_duration_margin': 0.5,
            'allowed_start_tolerance': 0.01,
        },
    }
    return _text(model, 'Where MoveIt sends trajectories.', settings)


class _Dumper(yaml.SafeDumper):
    """Writes out what is used twice: ROS 2's reader of parameters refuses YAML's aliases."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _text(model: RobotModel, what: str, data: dict[str, Any]) -> str:
    arm = f'{model.robot.title} with {model.gripper.title.lower()}' if model.gripper else model.robot.title
    body = yaml.dump(data, Dumper=_Dumper, sort_keys=False, default_flow_style=None, width=110)
    return f'# {arm}. {what}\n# Derived: ./lfd robots build {model.robot.name}\n{body}'
