"""Grasps: where a gripper can hold an object, without regard to robot and scene.

====================  ===============================================================================================
`generate_grasps`     the grasps of a body for a gripper's grasp data, the best first, with all rejections
`GraspSet`, `Grasp`   what it gives; arrays for many at once, values one by one
`Rejection`           how many were rejected for a `Reason`, and by how much the nearest one missed
====================  ===============================================================================================

::

    body ──► parts ──► two fingers: primitives (exact), meshes (sampled) ──► clear of other parts ─┬─► best first
                  └──► suction: flat faces ──► clear of what sticks out ───────────────────────────┘   (hint first)
"""

from .generate import generate_grasps
from .grasp import Grasp, GraspSet, Reason, Rejection, Source
from .warm_up import warm_up

__all__ = ['Grasp', 'GraspSet', 'Reason', 'Rejection', 'Source', 'generate_grasps', 'warm_up']
