"""Scene sync: the twin's objects, mirrored into planning servers; only what changed is sent, and nothing is lost.

```
 whole scenes, updates ──► Sequence ──► twin scene ──┬─► Mirror of server A ──► Look, Apply ──► answers ─┐
 or a scene file                                     └─► Mirror of server B ──► ...            ◄─────────┘
```

=====================  ==============================================================================================
`Sequence`             puts numbered updates in order and notices gaps
`Target`, `Selection`  which objects a server gets, and in which frame it is told of them
`Mirror`               what one server has, what it should have, and the next request that brings it there
`Look`, `Apply`        requests: what have you got? and: change this
`Seen`                 what a server answered
`Synchronised`         what one acknowledged request did
=====================  ==============================================================================================

Nothing here knows ROS, and nothing asks for the time: events carry it. `lfd_planner.nodes.scene_sync` connects this to
topics and services.

How it is known which objects of a server are the twin's: they have one more tag, the target's `mark` ('twin' unless
told otherwise). An object with the mark that the twin has no more is removed, also after a restart of scene sync; one
without it is only touched if the twin has an object of that id. Two scene syncs that serve one planning server need
different marks.
"""

from .mirror import Mirror, State, Timing
from .requests import Apply, Look, Request, Seen, SeenObject, Synchronised
from .sequence import Revision, Sequence
from .target import Selection, Target, unmarked

__all__ = [
    'Apply',
    'Look',
    'Mirror',
    'Request',
    'Revision',
    'Seen',
    'SeenObject',
    'Selection',
    'Sequence',
    'State',
    'Synchronised',
    'Target',
    'Timing',
    'unmarked',
]
