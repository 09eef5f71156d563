"""What scene sync reads from moveit_msgs: the twin's scenes, checked object by object, and what servers have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from geometry_msgs.msg import Point, Quaternion
from geometry_msgs.msg import Pose as PoseMessage
from moveit_msgs.msg import CollisionObject, ObjectColor, PlanningSceneComponents
from moveit_msgs.msg import PlanningScene as SceneMessage
from shape_msgs.msg import Mesh, MeshTriangle, Plane, SolidPrimitive

from lfd_description.bodies import Colour
from lfd_planner.messages import apply_collision_object, colours_from_message, object_from_message, pose_from_message
from lfd_planner.messages.checks import Report
from lfd_planner.messages.objects import typed
from lfd_planner.mtdf.axes import ros_orientation_from_unity, ros_position_from_unity
from lfd_planner.scene import Body, PersistentMap, PlanningScene, Pose, SceneFault
from lfd_planner.scene.faults import quoted
from lfd_planner.sync import Mirror, Seen, SeenObject, Target
from lfd_planner.sync.twin_file import TwinState

MOST_REFUSED = 1000
"""Objects of the twin whose refusal is remembered one by one."""
MOST_UNKNOWN = 10
"""Objects that an update moved and nobody knows; that there are some is enough to ask for the whole scene."""
_LONGEST_ID = 200  # of a refused object, as it is remembered
_MORE = '\0'  # no id of an object
NAMES = PlanningSceneComponents.WORLD_OBJECT_NAMES | PlanningSceneComponents.ROBOT_STATE_ATTACHED_OBJECTS
GEOMETRY = NAMES | PlanningSceneComponents.WORLD_OBJECT_GEOMETRY | PlanningSceneComponents.OBJECT_COLORS


# The twin -------------------------------------------------------------------------------------------------------------


def wrong_kind(message: SceneMessage, whole: bool) -> str:
    """Why a message is not for the topic it came on, as one sentence; empty if it is."""
    if not whole:
        return (
            ''
            if message.is_diff
            else "The message on 'twin_scene_updates' is no diff; set is_diff, or use 'twin_scene'."
        )
    if message.is_diff:
        return "The message on 'twin_scene' is a diff; publish it on 'twin_scene_updates'."
    for thing in message.world.collision_objects:
        if thing.operation != CollisionObject.ADD:
            return f"Object {quoted(thing.id)} on 'twin_scene' is not to be added; a whole scene has ADD only."
    return ''


def size_of(message: SceneMessage) -> int:
    """About how many bytes a scene takes, without making them."""
    things = message.world.collision_objects
    meshes = sum(24 * len(mesh.vertices) + 12 * len(mesh.triangles) for thing in things for mesh in thing.meshes)
    parts = sum(len(thing.primitives) + len(thing.planes) + len(thing.subframe_names) for thing in things)
    names = sum(len(thing.id) + len(thing.type.db) for thing in things)
    return meshes + names + 100 * parts + 200 * len(things) + 50 * len(message.object_colors)


def whole_twin(twin: TwinState, message: SceneMessage) -> TwinState:
    """The twin after a whole scene; an object that is refused stays as it was, if it was there."""
    before = twin.scene
    scene, refused = PlanningScene(before.frame), dict[str, str]()
    for request in message.world.collision_objects:
        id = request.id
        if id in scene.objects or id in refused:
            _refuse(refused, id, f'Object {quoted(id)} is twice in the whole scene; give one another id.')
            continue
        try:
            scene = apply_collision_object(scene, request, {}, before)
        except SceneFault as fault:
            _refuse(refused, id, _sentence(fault))
            if id in before.objects:
                scene = scene.add(before.objects[id])
    colours = _colours(message.object_colors, before)
    return TwinState(replace(scene, colours=PersistentMap(colours)), refused)


def updated_twin(twin: TwinState, message: SceneMessage) -> TwinState:
    """The twin after an update; an object that is refused stays as it was, if it was there."""
    scene, refused, unknown = twin.scene, dict(twin.refused), list(twin.unknown)
    for request in message.world.collision_objects:
        if request.operation == CollisionObject.REMOVE:
            scene = _without(scene, request.id)
            if request.id:
                refused.pop(request.id[:_LONGEST_ID], None)
            else:
                refused, unknown = {}, []
            continue
        if request.operation == CollisionObject.MOVE and request.id not in scene.objects:
            if request.id[:_LONGEST_ID] not in {*refused, *unknown} and len(unknown) < MOST_UNKNOWN:
                unknown.append(request.id[:_LONGEST_ID])
            continue
        try:
            scene = apply_collision_object(scene, request, {})
            refused.pop(request.id[:_LONGEST_ID], None)
        except SceneFault as fault:
            _refuse(refused, request.id, _sentence(fault))
    return TwinState(scene.with_colours(_colours(message.object_colors, scene)), refused, tuple(unknown))


def _refuse(refused: dict[str, str], id: str, sentence: str) -> None:
    id = id[:_LONGEST_ID]
    if len(refused) < MOST_REFUSED or id in refused:
        refused[id] = sentence
    else:
        refused[_MORE] = f'More than {MOST_REFUSED} objects are refused; publish a whole scene when they are mended.'


def _without(scene: PlanningScene, id: str) -> PlanningScene:
    """The scene without an object, which need not be there; without an id, without any."""
    if not id:
        return scene.remove_all()
    return scene.remove(id) if id in scene.objects else scene


def _sentence(fault: SceneFault) -> str:
    return ' '.join(fault.problems)


def _colours(messages: Iterable[ObjectColor], known: PlanningScene) -> dict[str, Colour]:
    """The colours that can be used; a wrong one is no reason to leave an object out."""
    colours: dict[str, Colour] = {}
    for message in messages:
        try:
            colours.update(colours_from_message([message], known.colours))
        except SceneFault:
            continue
    return colours


# Unity's axes ---------------------------------------------------------------------------------------------------------


def ros_scene_from_unity(message: SceneMessage) -> SceneMessage:
    """The objects and colours of a message whose numbers were meant in Unity's axes.

    Shapes turn with the axes: a box has the sizes x, y, z of Unity, and round shapes stand along Unity's y.
    """
    made = SceneMessage(name=message.name, is_diff=message.is_diff, object_colors=message.object_colors)
    made.world.collision_objects = [ros_object_from_unity(thing) for thing in message.world.collision_objects]
    return made


def ros_object_from_unity(message: CollisionObject) -> CollisionObject:
    """An object whose numbers were meant in Unity's axes."""
    return CollisionObject(
        header=message.header,
        pose=_ros_pose(message.pose),
        id=message.id,
        type=message.type,
        primitives=[_ros_primitive(shape) for shape in message.primitives],
        primitive_poses=[_ros_pose(pose) for pose in message.primitive_poses],
        meshes=[_ros_mesh(shape) for shape in message.meshes],
        mesh_poses=[_ros_pose(pose) for pose in message.mesh_poses],
        planes=[_ros_plane(shape) for shape in message.planes],
        plane_poses=[_ros_pose(pose) for pose in message.plane_poses],
        subframe_names=message.subframe_names,
        subframe_poses=[_ros_pose(pose) for pose in message.subframe_poses],
        operation=message.operation,
    )


def _ros_point(point: Point) -> Point:
    x, y, z = ros_position_from_unity((point.x, point.y, point.z))
    return Point(x=x, y=y, z=z)


def _ros_pose(pose: PoseMessage) -> PoseMessage:
    turn = pose.orientation
    x, y, z, w = ros_orientation_from_unity((turn.x, turn.y, turn.z, turn.w))
    sign = -1.0 if w < 0.0 else 1.0  # the same turn; no turn stays exactly what it is in every new message
    orientation = Quaternion(x=sign * x + 0.0, y=sign * y + 0.0, z=sign * z + 0.0, w=sign * w + 0.0)
    return PoseMessage(position=_ros_point(pose.position), orientation=orientation)


def _ros_primitive(shape: SolidPrimitive) -> SolidPrimitive:
    sizes = list(shape.dimensions)
    if shape.type == SolidPrimitive.BOX and len(sizes) == 3:
        sizes = [sizes[2], sizes[0], sizes[1]]
    return SolidPrimitive(type=shape.type, dimensions=sizes)


def _ros_mesh(shape: Mesh) -> Mesh:
    """The mesh with its triangles turned round: in a left-handed frame, the other side would be the outside."""
    triangles = [triangle.vertex_indices for triangle in shape.triangles]
    return Mesh(
        vertices=[_ros_point(point) for point in shape.vertices],
        triangles=[MeshTriangle(vertex_indices=[int(a), int(c), int(b)]) for a, b, c in triangles],
    )


def _ros_plane(shape: Plane) -> Plane:
    a, b, c, d = (float(number) for number in shape.coef)
    return Plane(coef=[*ros_position_from_unity((a, b, c)), d])


# Planning servers -----------------------------------------------------------------------------------------------------


def seen_from_message(message: SceneMessage, target: Target, wanted: PlanningScene, geometry: bool) -> Seen:
    """What a server answered; bodies and poses only of the twin's objects, and only if they were asked for."""
    objects: dict[str, SeenObject] = {}
    for thing in message.world.collision_objects:
        tags = typed(thing).tags
        ours = thing.id in wanted.objects or target.mark in tags
        objects[thing.id] = _seen(thing, tags, target, wanted.body(thing.id)) if geometry and ours else SeenObject(tags)
    attached = {held.object.id: held.link_name for held in message.robot_state.attached_collision_objects}
    return Seen(objects, attached, _colours(message.object_colors, wanted))


def observed_from_message(message: SceneMessage, mirror: Mirror) -> dict[str, SeenObject | None]:
    """What a server published of the twin's objects: where and what they are now, or None for those that are gone."""
    target, known = mirror.target, mirror.wanted
    found: dict[str, SeenObject | None] = {}
    for held in message.robot_state.attached_collision_objects:
        down = held.object.operation == CollisionObject.REMOVE
        found[held.object.id] = SeenObject(link='' if down else held.link_name or '?')
    for thing in message.world.collision_objects:
        match thing.operation:
            case CollisionObject.REMOVE:
                found.update(dict.fromkeys([thing.id] if thing.id else [*known.objects, *mirror.known.objects]))
            case CollisionObject.MOVE if mirror.follows(thing.id):
                found[thing.id] = SeenObject(pose=_pose(thing, target))
            case CollisionObject.ADD if mirror.follows(thing.id):
                found[thing.id] = _seen(thing, (), target, known.body(thing.id))
            case CollisionObject.APPEND:
                found[thing.id] = SeenObject(body=Body(()))
            case CollisionObject.ADD:
                found[thing.id] = SeenObject()
    return found


def _seen(message: CollisionObject, tags: tuple[str, ...], target: Target, known: Body | None) -> SeenObject:
    try:
        body, pose = object_from_message(message, known)
    except SceneFault:
        return SeenObject(tags, Body(()))
    return SeenObject(tags, body, pose if _is_told_in(message, target) else None)


def _pose(message: CollisionObject, target: Target) -> Pose | None:
    report = Report(f'Object {quoted(message.id)}')
    pose = pose_from_message(message.pose, report)
    try:
        report.finish()
    except SceneFault:
        return None
    return pose if _is_told_in(message, target) else None


def _is_told_in(message: CollisionObject, target: Target) -> bool:
    return bool(message.header.frame_id.removeprefix('/') == target.frame)
