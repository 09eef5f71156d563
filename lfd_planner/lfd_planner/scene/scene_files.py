"""Planning scenes of scene files, and scene files of planning scenes; what a file cannot hold is told at once."""

from __future__ import annotations

from lfd_description.scenes import Scene, SceneError, SceneObject
from lfd_description.scenes.scene import LIGHT_GREY
from lfd_planner.pose import Pose

from .faults import quoted
from .objects import Body, Part, WorldObject
from .persistent_map import PersistentMap
from .planning_scene import LinkPoses, PlanningScene, link_pose
from .triangles import TriangleMesh


def from_scene(scene: Scene) -> PlanningScene:
    """The planning scene of a scene file: the same objects in the same frame, without a robot."""
    return PlanningScene(
        scene.frame,
        objects=PersistentMap({thing.name: _world_object(thing) for thing in scene.objects}),
        colours=PersistentMap({thing.name: thing.colour for thing in scene.objects}),
    )


def to_scene(scene: PlanningScene, link_poses: LinkPoses | None = None) -> Scene:
    """The scene as a scene file holds it; attached objects stand where they are held now, if `link_poses` are given.

    Raises:
        SceneError: an object is what a scene file cannot hold; there is a sentence for each.
    """
    problems: list[str] = []
    found: list[SceneObject] = []
    things = list(scene.objects.values())
    for held in scene.attached.values():
        if link_poses is None:
            problems.append(
                f'object {quoted(held.id)} is attached to link {quoted(held.link)}; '
                f"detach it, or give the links' poses."
            )
        else:
            things.append(WorldObject(held.id, held.body, link_pose(held.link, link_poses) @ held.pose))
    for thing in things:
        made = _scene_object(scene, thing)
        if isinstance(made, str):
            problems.append(f'object {quoted(thing.id)} {made}')
        else:
            found.append(made)
    if problems:
        raise SceneError(*problems)
    return Scene(scene.frame, tuple(found))


def _world_object(thing: SceneObject) -> WorldObject:
    body = Body((Part(thing.shape),), tags=thing.tags, movable=thing.movable)
    return WorldObject(thing.name, body, Pose(thing.position, thing.orientation))


def _scene_object(scene: PlanningScene, thing: WorldObject) -> SceneObject | str:
    """The object for a file, or what is in the way."""
    if len(thing.body.parts) != 1:
        return f'has {len(thing.body.parts)} shapes, and a scene file has one an object; make several objects of it.'
    (part,) = thing.body.parts
    if isinstance(part.shape, TriangleMesh):
        return 'is a mesh without a file; write its triangles to one, and name that.'
    pose = thing.pose @ part.pose
    colour = scene.colours.get(thing.id, LIGHT_GREY)
    body = thing.body
    return SceneObject(thing.id, part.shape, pose.position, pose.orientation, colour, body.movable, body.tags)
