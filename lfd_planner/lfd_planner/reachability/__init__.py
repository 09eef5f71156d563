"""What a robot can do before anything is planned: fast enough to colour an object while a person holds it.

==========================================  ===========================================================================
`PoseOracle(model).judge(scene, id, pose)`  whether the robot can hold an object there, such as 'out of reach by 6 cm'
`assess(planner, task, origin, scene)`      how good a demonstration is, keyframe by keyframe
`falls(scene, thing)`                       who will not stay when an object is let go of
`Neighbours(scene, thing, Boxes())`         how far others are from an object, and what it falls onto
==========================================  ===========================================================================
"""

from .assess import KeyframeQuality, Quality, assess
from .boxes import Bounds, Boxes, bounds
from .neighbours import Drop, Gap, Neighbours
from .pose_oracle import PoseOracle
from .stays import falls
from .verdict import Verdict

__all__ = [
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
]
