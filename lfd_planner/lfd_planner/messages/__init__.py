"""The border between scenes and moveit_msgs: values become messages, and messages become edits of a scene.

Whatever comes in is checked here, and refused with `SceneFault` (MoveIt's code, one sentence for each fault). What goes
out and comes back unchanged is the same value again, capsules, mesh files and tags included.
"""

from .allowed_collisions import allowed_from_message, allowed_to_message
from .attached_objects import apply_attached_object, attached_to_message, detach_message
from .capsules import CapsuleAs
from .colours import colours_from_message, colours_to_message
from .constraints import constraints_from_message, constraints_to_message
from .objects import (
    apply_collision_object,
    move_message,
    object_from_message,
    object_to_message,
    remove_message,
)
from .planning_scene import (
    Applied,
    apply_planning_scene,
    apply_robot_state,
    apply_world,
    diff_to_message,
    pose_of_transform,
    robot_state_to_message,
    scene_to_message,
    world_to_message,
)
from .poses import pose_from_message, pose_to_message
from .shapes import mesh_from_message, mesh_to_message
from .trajectories import trajectory_from_message, trajectory_to_message

__all__ = [
    'Applied',
    'CapsuleAs',
    'allowed_from_message',
    'allowed_to_message',
    'apply_attached_object',
    'apply_collision_object',
    'apply_planning_scene',
    'apply_robot_state',
    'apply_world',
    'attached_to_message',
    'colours_from_message',
    'colours_to_message',
    'constraints_from_message',
    'constraints_to_message',
    'detach_message',
    'diff_to_message',
    'mesh_from_message',
    'mesh_to_message',
    'move_message',
    'object_from_message',
    'object_to_message',
    'pose_from_message',
    'pose_of_transform',
    'pose_to_message',
    'remove_message',
    'robot_state_to_message',
    'scene_to_message',
    'trajectory_from_message',
    'trajectory_to_message',
    'world_to_message',
]
