"""Collision checks of a robot in a planning scene, compiled: for searches that look at thousands of states.

=================  ====================================================================================================
`RobotGeometry`    a robot's solids, made ready once
`CollisionWorld`   a robot in a scene: does it collide, with what, how far is the nearest; an immutable snapshot
`World`            the same snapshot for compiled code, `CollisionWorld.data`; a `Room` is a thread's scratch memory
=================  ====================================================================================================

Compiled code calls `collides(world, q, room)` and `edge_free(world, q0, q1, step, room)` without the GIL.
"""

from .collision_world import CollisionWorld
from .robot_geometry import RobotGeometry
from .world import Room, World, collides, edge_free, make_room

__all__ = [
    'CollisionWorld',
    'RobotGeometry',
    'Room',
    'World',
    'collides',
    'edge_free',
    'make_room',
]
