"""What a robot can do before anything is planned: fast enough to colour an object while a person holds it.

==========================================  ===========================================================================
`PoseOracle(model).judge(scene, id, pose)`  whether the robot can hold an object there, such as 'out of reach by 6 cm'
`assess(planner, task, origin, scene)`      how good a demonstration is, keyframe by keyframe
`nearest_place(oracle, scene, id, pose)`    where an object could stand instead of out of reach
`steps_from_one(text)`                      a text of the planner with steps as people count them
`falls(scene, thing)`                       who will not stay when an object is let go of
`Neighbours(scene, thing, Boxes())`         how far others are from an object, and what it falls onto
==========================================  ===========================================================================
"""

from .assess import KeyframeQuality, Quality, assess
from .boxes import Bounds, Boxes, bounds
from .nearest import Alternative, nearest_place
from .neighbours import Drop, Gap, Neighbours
from .pose_oracle import PoseOracle
from .stays import falls
from .verdict import Verdict, steps_from_one

__all__ = [
    'Alternative',
    'Bounds',
    'Boxes',
    'Drop',
    'Gap',
    'KeyframeQuality',
    'Neighbours',
    'PoseOracle',
    'Quality',
    'Verdict',
    'assess',
    'bounds',
    'falls',
    'nearest_place',
    'steps_from_one',
]
