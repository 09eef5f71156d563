"""What a person does to the digital twin, and what is recorded of it; without ROS, network or browser.

::

    hands ──► Studio ──► Twin (objects, who holds what), settle ──► scene sync
                 ├─────► Carry ──► Demonstration ──► Journal (crash-safe), TaskLibrary (files)
                 ├─────► listen: what others must see   (values.Change)
                 └─────► watch: what a log needs        (events.Event) ──► replay

=====================  ===============================================================================================
`Studio`               all that can be done, on one thread; raises `Refusal`
`values`, `ports`      what studio, server and robot say to each other
`events`, `replay`     what happened, and doing it again
`encoding`             poses, objects and scenes as JSON data
`TaskLibrary`          tasks in a folder
=====================  ===============================================================================================
"""

from . import encoding, events, values
from .events import Event
from .library import TaskLibrary
from .ports import Robot
from .poses import checked_pose
from .recorder import Thresholds
from .replaying import replay
from .settle import Settled, settle
from .studio import PlanRequest, Saved, Studio
from .twin import Twin
from .values import Hand, Hands, HandState, Notice, Recording, RecordingState, Refusal, Released, Settings

__all__ = [
    'Event',
    'Hand',
    'HandState',
    'Hands',
    'Notice',
    'PlanRequest',
    'Recording',
    'RecordingState',
    'Refusal',
    'Released',
    'Robot',
    'Saved',
    'Settings',
    'Settled',
    'Studio',
    'TaskLibrary',
    'Thresholds',
    'Twin',
    'checked_pose',
    'encoding',
    'events',
    'replay',
    'settle',
    'values',
]
