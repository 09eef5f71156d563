"""The planning scene: immutable values, edits that share what they do not change, and diffs between scenes.

================================  ==================================================================================
`PlanningScene`                   objects, attached ones, allowed collisions, joints, colours; its methods are edits
`WorldObject`, `Body`             an object's pose, and what it is made of: one shape or several, subframes, tags
`AllowedCollisions`               who may touch whom, by pairs and by defaults
`difference`, `apply`, `compose`  diffs as values
`frame_pose`                      any frame by its name: links, objects, subframes
`shapes_in_world`                 all shapes where they are, for collision checks
`from_scene`, `to_scene`          scene files
================================  ==================================================================================

Nothing here knows ROS; `lfd_planner.messages` is the border to moveit_msgs. Requests that make no sense raise
`SceneFault` with MoveIt's code and one sentence.
"""

from lfd_planner.pose import IDENTITY, Pose

from .allowed_collisions import AllowedCollisions
from .contacts import BodyKind, Contact
from .diffs import EMPTY, Added, Attached, Detached, Moved, Removed, SceneDiff, apply, compose, difference
from .faults import Code, SceneFault
from .frames import RobotFrames, anchor, frame_pose
from .objects import AttachedObject, Body, ObjectType, Part, PlacedShape, Posture, PosturePoint, WorldObject
from .persistent_map import PersistentMap
from .planning_scene import LinkPoses, PlanningScene, shapes_in_world
from .scene_files import from_scene, to_scene
from .triangles import SceneShape, TriangleMesh, collision_geometry, triangles_of

__all__ = [
    'EMPTY',
    'IDENTITY',
    'Added',
    'AllowedCollisions',
    'Attached',
    'AttachedObject',
    'Body',
    'BodyKind',
    'Code',
    'Contact',
    'Detached',
    'LinkPoses',
    'Moved',
    'ObjectType',
    'Part',
    'PersistentMap',
    'PlacedShape',
    'PlanningScene',
    'Pose',
    'Posture',
    'PosturePoint',
    'Removed',
    'RobotFrames',
    'SceneDiff',
    'SceneFault',
    'SceneShape',
    'TriangleMesh',
    'WorldObject',
    'anchor',
    'apply',
    'collision_geometry',
    'compose',
    'difference',
    'frame_pose',
    'from_scene',
    'shapes_in_world',
    'to_scene',
    'triangles_of',
]
