"""Planning scenes and moveit_msgs/PlanningScene: whole, in part, as a diff, and what a message asks for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from geometry_msgs.msg import Point, TransformStamped
from geometry_msgs.msg import Pose as PoseMessage
from moveit_msgs.msg import (
    CollisionObject,
    LinkPadding,
    LinkScale,
    PlanningSceneComponents,
    PlanningSceneWorld,
    RobotState,
)
from moveit_msgs.msg import PlanningScene as SceneMessage

from lfd_planner.scene import (
    Added,
    Attached,
    Code,
    Detached,
    LinkPoses,
    Moved,
    PersistentMap,
    PlanningScene,
    Pose,
    Removed,
    RobotFrames,
    SceneFault,
    difference,
)
from lfd_planner.scene.diffs import ObjectChange
from lfd_planner.scene.faults import names, quoted

from .allowed_collisions import allowed_from_message, allowed_to_message
from .attached_objects import apply_attached_object, attached_to_message, detach_message
from .capsules import CapsuleAs
from .checks import Report
from .colours import colours_from_message, colours_to_message
from .objects import (
    apply_collision_object,
    forget_type,
    ignored,
    move_message,
    object_to_message,
    remove_message,
    type_to_message,
)
from .poses import pose_from_message

EVERYTHING = (
    PlanningSceneComponents.SCENE_SETTINGS
    | PlanningSceneComponents.ROBOT_STATE
    | PlanningSceneComponents.ROBOT_STATE_ATTACHED_OBJECTS
    | PlanningSceneComponents.WORLD_OBJECT_NAMES
    | PlanningSceneComponents.WORLD_OBJECT_GEOMETRY
    | PlanningSceneComponents.OCTOMAP
    | PlanningSceneComponents.TRANSFORMS
    | PlanningSceneComponents.ALLOWED_COLLISION_MATRIX
    | PlanningSceneComponents.LINK_PADDING_AND_SCALING
    | PlanningSceneComponents.OBJECT_COLORS
)


@dataclass(frozen=True)
class Applied:
    """What became of a message of many requests: as in MoveIt, those that can be done are done."""

    scene: PlanningScene
    faults: tuple[SceneFault, ...] = ()
    """What was not done."""
    warnings: tuple[str, ...] = ()
    """What was done and may not be what was meant."""


def scene_to_message(scene: PlanningScene, components: int = 0, capsules: CapsuleAs = CapsuleAs.MESH) -> SceneMessage:
    """The scene as a message with the components of a moveit_msgs/PlanningSceneComponents mask; 0 asks for all.

    Raises:
        SceneFault: a mesh file cannot be used.
    """
    mask = components or EVERYTHING
    message = SceneMessage(is_diff=False)
    if mask & PlanningSceneComponents.SCENE_SETTINGS:
        message.name, message.robot_model_name = scene.name, scene.robot
    if mask & PlanningSceneComponents.TRANSFORMS:
        message.fixed_frame_transforms = [_transform(scene.frame, *item) for item in _all_frames(scene).items()]
    if mask & (PlanningSceneComponents.ROBOT_STATE | PlanningSceneComponents.ROBOT_STATE_ATTACHED_OBJECTS):
        _joints_to_message(message.robot_state, scene.frame, scene.joints)
    if mask & PlanningSceneComponents.ROBOT_STATE_ATTACHED_OBJECTS:
        held = scene.attached.values()
        message.robot_state.attached_collision_objects = [attached_to_message(thing, capsules) for thing in held]
    if mask & PlanningSceneComponents.ALLOWED_COLLISION_MATRIX:
        message.allowed_collision_matrix = allowed_to_message(scene.allowed)
    if mask & PlanningSceneComponents.LINK_PADDING_AND_SCALING:
        message.link_padding = [
            LinkPadding(link_name=link, padding=value) for link, value in scene.link_padding.items()
        ]
        message.link_scale = [LinkScale(link_name=link, scale=value) for link, value in scene.link_scale.items()]
    if mask & PlanningSceneComponents.OBJECT_COLORS:
        message.object_colors = colours_to_message(scene.colours)
    if mask & PlanningSceneComponents.WORLD_OBJECT_GEOMETRY:
        message.world = world_to_message(scene, capsules)
    elif mask & PlanningSceneComponents.WORLD_OBJECT_NAMES:
        message.world.collision_objects = _names(scene)
    return message


def world_to_message(scene: PlanningScene, capsules: CapsuleAs = CapsuleAs.MESH) -> PlanningSceneWorld:
    """The objects of the world with their geometry.

    Raises:
        SceneFault: a mesh file cannot be used.
    """
    objects = [object_to_message(thing, scene.frame, capsules) for thing in scene.objects.values()]
    return PlanningSceneWorld(collision_objects=objects)


def diff_to_message(old: PlanningScene, new: PlanningScene, capsules: CapsuleAs = CapsuleAs.MESH) -> SceneMessage:
    """The message that makes the new scene of the old one: geometry only of what is new, or is attached now.

    A message cannot take away a colour or a fixed frame, but colours and allowed collisions of an object go with it.

    Raises:
        SceneFault: a mesh file cannot be used, or the scenes have different frames.
    """
    diff = difference(old, new)
    message = SceneMessage(is_diff=True, name=diff.name or '', robot_model_name=new.robot)
    message.robot_state.is_diff = True
    _joints_to_message(
        message.robot_state, new.frame, {name: value for name, value in diff.joints if value is not None}
    )
    for change in diff.objects:
        _change_to_message(message, old, new, change, capsules)
    if diff.defaults or any(_decided_anew(old, new, a, b) for a, b, _ in diff.pairs):
        # A matrix without names would mean that it stays as it is.
        gone = () if new.allowed.names else old.allowed.names
        message.allowed_collision_matrix = allowed_to_message(new.allowed, gone)
    message.object_colors = colours_to_message({id: value for id, value in diff.colours if value is not None})
    message.fixed_frame_transforms = [
        _transform(new.frame, name, pose) for name, pose in diff.fixed_frames if pose is not None
    ]
    message.link_padding = [LinkPadding(link_name=link, padding=value or 0.0) for link, value in diff.link_padding]
    message.link_scale = [
        LinkScale(link_name=link, scale=1.0 if value is None else value) for link, value in diff.link_scale
    ]
    return message


def apply_world(
    scene: PlanningScene, message: PlanningSceneWorld, link_poses: LinkPoses, known: PlanningScene | None = None
) -> Applied:
    """The scene after the requests of moveit_msgs/PlanningSceneWorld, one after the other.

    `known` is the scene whose objects may come back as they were sent; without it, the scene itself.
    """
    faults: list[SceneFault] = []
    warnings: list[str] = []
    for request in message.collision_objects:
        try:
            scene = apply_collision_object(scene, request, link_poses, known)
            warnings += ignored(request)
        except SceneFault as fault:
            faults.append(fault)
    if len(message.octomap.octomap.data):
        faults.append(SceneFault(Code.FAILURE, 'An octomap was sent, which is not used here; send shapes or meshes.'))
    return Applied(scene, tuple(faults), tuple(warnings))


def apply_planning_scene(scene: PlanningScene, message: SceneMessage, robot: RobotFrames) -> Applied:
    """The scene after what a message asks for: a diff changes what it names, any other replaces the scene.

    What cannot be done is left out and told. As in MoveIt, a robot state without joints leaves the robot as it is, a
    robot state that is no diff lets go of all attached objects, and allowed collisions are replaced as a whole.
    """
    return _Application(scene, robot).apply(message)


def apply_robot_state(scene: PlanningScene, message: RobotState, robot: RobotFrames) -> Applied:
    """The scene with the robot in the state that moveit_msgs/RobotState tells; its objects attached or let go of.

    What cannot be done is left out and told.
    """
    application = _Application(scene, robot)
    application.state(message)
    return Applied(application.scene, tuple(application.faults), tuple(application.warnings))


def robot_state_to_message(scene: PlanningScene, capsules: CapsuleAs = CapsuleAs.MESH) -> RobotState:
    """The robot's state in a scene, with all that is attached.

    Raises:
        SceneFault: a mesh file cannot be used.
    """
    return scene_to_message(scene, PlanningSceneComponents.ROBOT_STATE_ATTACHED_OBJECTS, capsules).robot_state


class _Application:
    """One message that is being applied; what cannot be done is noted."""

    def __init__(self, scene: PlanningScene, robot: RobotFrames) -> None:
        self.before = scene  # objects that come back as they were sent keep the exact shapes they have here
        self.scene = scene
        self.robot = robot
        self.warnings: list[str] = []
        self.link_poses = robot.link_poses(scene.joints)
        self.faults: list[SceneFault] = []

    def apply(self, message: SceneMessage) -> Applied:
        if message.name or not message.is_diff:
            self.scene = replace(self.scene, name=message.name)
        if message.robot_model_name and message.robot_model_name != self.robot.name:
            told = quoted(message.robot_model_name)
            self.warnings.append(f"The scene was sent for the robot {told}, and this one is '{self.robot.name}'.")
        self.frames(message)
        self.state(message.robot_state)
        self.allowed(message)
        self.padding(message)
        self.colours(message)
        self.world(message)
        return Applied(self.scene, tuple(self.faults), tuple(self.warnings))

    def note(self, problem: str, code: Code = Code.FAILURE) -> None:
        self.faults.append(SceneFault(code, problem))

    def world(self, message: SceneMessage) -> None:
        if not message.is_diff:
            self.scene = replace(self.scene, objects=PersistentMap())
        applied = apply_world(self.scene, message.world, self.link_poses, self.before)
        self.scene = applied.scene
        self.faults += applied.faults
        self.warnings += applied.warnings

    def frames(self, message: SceneMessage) -> None:
        report = Report('Fixed frame transforms')
        frames: dict[str, Pose] = {}
        for transform in message.fixed_frame_transforms:
            name = transform.child_frame_id.removeprefix('/')
            if not name:
                report.problem('A transform has no child_frame_id; name the frame.')
            elif transform.header.frame_id.removeprefix('/') != self.scene.frame:
                told = quoted(transform.header.frame_id)
                report.problem(f"{quoted(name)} is told in the frame {told}; tell it in '{self.scene.frame}'.")
            elif name != self.scene.frame and name not in self.robot.links:
                frames[name] = pose_of_transform(transform, report)
        if self.finished(report):
            self.scene = replace(self.scene, fixed_frames=self.scene.fixed_frames.edit(frames.items()))

    def state(self, message: RobotState) -> None:
        if message.multi_dof_joint_state.joint_names:
            self.note(
                'Joints of several degrees of freedom were sent, which this robot has not.', Code.INVALID_ROBOT_STATE
            )
        if message.joint_state.name:
            self.joints(message)
            if not message.is_diff:
                self.scene = replace(self.scene, attached=PersistentMap())
        for request in message.attached_collision_objects:
            if not message.is_diff and request.object.operation != CollisionObject.ADD:
                told = quoted(request.object.id)
                self.note(f'Attached object {told} is to be changed in a robot state that is no diff; set is_diff.')
                continue
            try:
                self.scene = apply_attached_object(self.scene, request, self.link_poses, self.before)
            except SceneFault as fault:
                self.faults.append(fault)

    def joints(self, message: RobotState) -> None:
        joints, positions = list(message.joint_state.name), list(message.joint_state.position)
        report = Report('Robot state')
        if len(joints) != len(positions):
            report.problem(f'there are {len(joints)} joints and {len(positions)} positions; send one for each.')
        for name, position in zip(joints, positions, strict=False):
            if name not in self.robot.joints:
                known = names(sorted(self.robot.joints), 100)
                report.problem(f'the robot has no joint {quoted(name)}; its joints are {known}.')
            elif not math.isfinite(position):
                report.problem(f"the position of joint '{name}' is {position}; send radians or metres.")
        if self.finished(report, Code.INVALID_ROBOT_STATE):
            self.scene = self.scene.with_joints(dict(zip(joints, positions, strict=True)))
            self.link_poses = self.robot.link_poses(self.scene.joints)

    def allowed(self, message: SceneMessage) -> None:
        if message.is_diff and not message.allowed_collision_matrix.entry_names:
            return
        try:
            self.scene = replace(self.scene, allowed=allowed_from_message(message.allowed_collision_matrix))
        except SceneFault as fault:
            self.faults.append(fault)

    def padding(self, message: SceneMessage) -> None:
        report = Report('Link padding and scale')
        padding = {entry.link_name: entry.padding for entry in message.link_padding}
        scale = {entry.link_name: entry.scale for entry in message.link_scale}
        for link in {**padding, **scale}:
            if link not in self.robot.links:
                report.problem(f'the robot has no link {quoted(link)}; send its own links.')
        if not all(0.0 <= value <= 1.0 for value in padding.values()):
            report.problem('a padding is not within 0 to 1 m; send metres.')
        if not all(0.0 < value <= 100.0 for value in scale.values()):
            report.problem('a scale is not above 0 and up to 100; send 1 for no change.')
        if self.finished(report, Code.INVALID_LINK_NAME):
            self.scene = replace(
                self.scene,
                link_padding=self.scene.link_padding.edit((link, value or None) for link, value in padding.items()),
                link_scale=self.scene.link_scale.edit(
                    (link, None if value == 1.0 else value) for link, value in scale.items()
                ),
            )

    def colours(self, message: SceneMessage) -> None:
        if not message.is_diff:
            self.scene = replace(self.scene, colours=PersistentMap())
        try:
            self.scene = self.scene.with_colours(colours_from_message(message.object_colors, self.before.colours))
        except SceneFault as fault:
            self.faults.append(fault)

    def finished(self, report: Report, code: Code = Code.FAILURE) -> bool:
        """Whether nothing was wrong; if something was, it is noted."""
        try:
            report.finish(code)
        except SceneFault as fault:
            self.faults.append(fault)
            return False
        return True


def _decided_anew(old: PlanningScene, new: PlanningScene, a: str, b: str) -> bool:
    """Whether a matrix tells of a change of a pair: not that it is forbidden now by an entry, before by having none."""
    return a != b and old.allowed.allows(a, b) != new.allowed.allows(a, b)


def _all_frames(scene: PlanningScene) -> dict[str, Pose]:
    return {scene.frame: Pose(), **scene.fixed_frames}


def _transform(frame: str, child: str, pose: Pose) -> TransformStamped:
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id = frame
    translation, rotation = message.transform.translation, message.transform.rotation
    translation.x, translation.y, translation.z = pose.position
    rotation.x, rotation.y, rotation.z, rotation.w = pose.orientation
    return message


def pose_of_transform(message: TransformStamped, report: Report) -> Pose:
    """The pose of the child frame in its parent; no motion after noting what is wrong with it."""
    translation, rotation = message.transform.translation, message.transform.rotation
    position = Point(x=translation.x, y=translation.y, z=translation.z)
    return pose_from_message(PoseMessage(position=position, orientation=rotation), report, 'transform')


def _joints_to_message(message: RobotState, frame: str, joints: Mapping[str, float]) -> None:
    message.joint_state.header.frame_id = frame
    message.joint_state.name = list(joints)
    message.joint_state.position = list(joints.values())


def _names(scene: PlanningScene) -> list[CollisionObject]:
    """The objects by name and type only."""
    messages = []
    for thing in scene.objects.values():
        messages.append(CollisionObject(id=thing.id))
        type_to_message(messages[-1], thing.body)
    return messages


def _change_to_message(
    message: SceneMessage, old: PlanningScene, new: PlanningScene, change: ObjectChange, capsules: CapsuleAs
) -> None:
    """Add the requests that make one change. MoveIt applies those about attached objects before those of the world."""
    held = message.robot_state.attached_collision_objects
    world = message.world.collision_objects
    if change.id in old.attached and not isinstance(change, Attached):
        held.append(detach_message(change.id, old.attached[change.id].link))
    match change:
        case Added(thing):
            world.append(object_to_message(thing, new.frame, capsules))
            if change.id in old:
                forget_type(world[-1])
        case Moved(id, pose) | Detached(id, pose):
            world.append(move_message(id, pose, new.frame))
        case Removed(id):
            world.append(remove_message(id))
        case Attached(id):
            held.append(attached_to_message(new.attached[id], capsules))
            if change.body is not None and id in old:
                forget_type(held[-1].object)
