"""Scenes: what stands around a robot, as values, as files and made at random.

A scene file is YAML with two keys, both needed:

| key | value | meaning |
|---|---|---|
| `frame` | text | the frame that all poses are in, such as `base_link`; x forward, y left, z up |
| `objects` | list | the objects, each with the keys below; `[]` is an empty scene |

Each object:

| key | needed | value | meaning |
|---|---|---|---|
| `name` | yes | text, different from all others | what tasks call it |
| `shape` | yes | `box`, `sphere`, `cylinder`, `cone`, `capsule`, `mesh` or `plane` | |
| `size` | by a box | `[x, y, z]`, above zero | lengths of its edges [m] |
| `radius` | by sphere, cylinder, cone, capsule | above zero | [m]; of a cone's base |
| `height` | by cylinder, cone, capsule | above zero | along z [m]; a capsule's from pole to pole, at least two radii |
| `file` | by a mesh | path | relative to the scene file and below its folder, absolute, or `package://NAME/...` |
| `scale` | no | number or `[x, y, z]`, not zero | turns the mesh's units into metres; 1 without it |
| `position` | yes, but for a plane | `[x, y, z]` | of the shape's centre, a plane's surface, a mesh's origin [m] |
| `orientation` | no | `[x, y, z, w]`, unit | quaternion; no turn without it |
| `color` | no | a name, `'#rrggbb'`, `[r, g, b]` or `[r, g, b, a]` | 0 to 1; light grey without it |
| `movable` | no | `true` or `false` | whether it may be picked; `false` without it |
| `tags` | no | list of texts | what it is for: `support`, `graspable`, `fixed`, ... |

Round shapes have their axis along z; a cone's tip points to +z; a plane is solid below its z = 0. No length is above
100 m. Anchors, aliases and YAML's own tags (`!!...`) are not used.

```yaml
frame: base_link
objects:
- {name: table, shape: box, size: [0.6, 0.9, 0.04], position: [0.6, 0, -0.02], color: wood, tags: [support, fixed]}
- {name: can, shape: cylinder, radius: 0.033, height: 0.115, position: [0.5, 0.1, 0.0575], color: red, movable: true}
```
"""

from .library import UnknownScene, find_scene, open_scene, scene_names, scene_path
from .random_scenes import KINDS, random_scene
from .scene import Scene, SceneError, SceneObject
from .scene_file import dump_scene, load_scene, parse_scene, save_scene

__all__ = [
    'KINDS',
    'Scene',
    'SceneError',
    'SceneObject',
    'UnknownScene',
    'dump_scene',
    'find_scene',
    'load_scene',
    'open_scene',
    'parse_scene',
    'random_scene',
    'save_scene',
    'scene_names',
    'scene_path',
]
