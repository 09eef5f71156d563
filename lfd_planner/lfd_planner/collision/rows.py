"""How a solid is written down for compiled code: one row of numbers, the same for links and objects.

A convex solid is a core (a point, a segment, a box, ...) and a `RADIUS` around it. A mesh that is not convex is a
hierarchy of triangles; the row's `FIRST` and `COUNT` are then the corners of the hull that encloses them, if any.

Corners, triangles and hierarchies of all shapes lie in one long array, `shapes`; a row tells where its own begin. Few
arrays matter: each one that a compiled function is given costs more than the arithmetic of a quick check.
"""

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

Transform = tuple[float, float, float, float, float, float, float, float, float, float, float, float]
"""The first three rows of a 4x4 transform [m]."""

POINT, SEGMENT, BOX, CYLINDER, CONE, HULL, MESH, PLANE = range(8)
"""Kinds of cores; what is round has its axis along z, and a plane is solid below z = 0."""

KIND = 0
RADIUS = 1  # [m], around the core
SIZE = 2  # three columns [m]: half edges of a box; radius, 0, half height of what is round
FIRST = 5  # where its corners begin, three numbers each [m]
COUNT = 6  # how many corners
GRAPH = 7  # where, for each corner, it is told where its neighbours begin; -1: all corners are looked at
NODE = 8  # where the root of its hierarchy of triangles begins; -1 of all but meshes
TRIANGLE = 9  # where its triangles begin, nine numbers each [m]
TRIANGLES = 10  # how many triangles
CENTRE = 11  # three columns [m]: middle of the box around the solid, in the solid's frame
HALF = 14  # three columns [m]: half edges of that box
BALL = 17  # three columns [m]: middle of a ball around the solid; in the solid's frame, in a world: in its moving frame
BALL_RADIUS = 20  # [m]
POSE = 21  # twelve columns: the first three rows of the transform moving frame -> solid [m]
FRAME = 33  # number of the moving frame; 0 is the scene's
OWNER = 34  # number of the link or object it belongs to
WIDTH = 35

# Columns of a hierarchy's nodes.
LOW = 0  # three columns [m]: corner of the node's box
HIGH = 3  # three columns [m]: the opposite corner
CHILD = 6  # an inner node's first child (in `shapes`: where it begins), the second is the next; a leaf's first entry
ENTRIES = 7  # how many entries a leaf has; 0 of an inner node
NODE_WIDTH = 8
