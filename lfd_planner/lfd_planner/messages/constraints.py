"""Constraints and moveit_msgs/Constraints: goals of a request, and what a path must keep to."""

from __future__ import annotations

from collections.abc import Mapping

from geometry_msgs.msg import Pose as PoseMessage
from moveit_msgs.msg import BoundingVolume, Constraints
from moveit_msgs.msg import JointConstraint as JointMessage
from moveit_msgs.msg import OrientationConstraint as OrientationMessage
from moveit_msgs.msg import PositionConstraint as PositionMessage
from shape_msgs.msg import SolidPrimitive

from lfd_description.shapes import Box, Cylinder, Sphere, Vector
from lfd_description.transforms import rotate
from lfd_planner.scene import Code, LinkPoses, PlanningScene, Pose, RobotFrames, SceneFault, frame_pose
from lfd_planner.scene.faults import names, quoted
from lfd_planner.search.constraints import (
    JointConstraint,
    OrientationConstraint,
    Parameterization,
    PathConstraints,
    PositionConstraint,
    Region,
    WrongConstraint,
)

from .checks import Report
from .poses import pose_from_message

MOST_CONSTRAINTS = 1000


def constraints_from_message(
    message: Constraints, scene: PlanningScene, robot: RobotFrames, link_poses: LinkPoses
) -> PathConstraints:
    """The constraints of a message, their poses in the scene's frame, their links the robot's own.

    A constraint may name an attached object, or a subframe of one, instead of a link.

    Raises:
        SceneFault: the message is wrong, or names what is not known; there is a sentence for each fault.
    """
    reader = _Reader(scene, robot, link_poses)
    counts = (message.joint_constraints, message.position_constraints, message.orientation_constraints)
    if sum(map(len, counts)) > MOST_CONSTRAINTS:
        raise SceneFault(Code.INVALID_GOAL_CONSTRAINTS, f'There are more than {MOST_CONSTRAINTS} constraints.')
    if message.visibility_constraints:
        raise SceneFault(
            Code.INVALID_GOAL_CONSTRAINTS,
            'Visibility constraints are not supported; use position and orientation constraints.',
        )
    try:
        return PathConstraints(
            joints=tuple(reader.joint(constraint) for constraint in message.joint_constraints),
            positions=tuple(reader.position(constraint) for constraint in message.position_constraints),
            orientations=tuple(reader.orientation(constraint) for constraint in message.orientation_constraints),
        )
    except WrongConstraint as error:
        raise SceneFault(Code.INVALID_GOAL_CONSTRAINTS, str(error)) from None


class _Reader:
    """Reads the constraints of one message."""

    def __init__(self, scene: PlanningScene, robot: RobotFrames, link_poses: LinkPoses) -> None:
        self.scene = scene
        self.robot = robot
        self.link_poses = link_poses

    def joint(self, message: JointMessage) -> JointConstraint:
        name = message.joint_name
        if name not in self.robot.joints:
            raise SceneFault(
                Code.INVALID_GOAL_CONSTRAINTS,
                f'A joint constraint is for {quoted(name)}; the joints are {names(sorted(self.robot.joints), 100)}.',
            )
        return JointConstraint(name, message.position, message.tolerance_above, message.tolerance_below)

    def position(self, message: PositionMessage) -> PositionConstraint:
        link, anchor = self.anchor(message.link_name)
        report = Report(f'Position constraint of {quoted(message.link_name)}')
        offset = message.target_point_offset
        frame = self.frame(message.header.frame_id)
        regions = _regions(message.constraint_region, frame, report)
        report.finish(Code.INVALID_GOAL_CONSTRAINTS)
        return PositionConstraint(link, regions, _point(anchor, (offset.x, offset.y, offset.z)))

    def orientation(self, message: OrientationMessage) -> OrientationConstraint:
        link, anchor = self.anchor(message.link_name)
        report = Report(f'Orientation constraint of {quoted(message.link_name)}')
        asked = pose_from_message(PoseMessage(orientation=message.orientation), report, 'orientation')
        if message.parameterization not in set(Parameterization):
            report.problem(f'there is no parameterization {message.parameterization}; use 0 or 1.')
        report.finish(Code.INVALID_GOAL_CONSTRAINTS)
        target = self.frame(message.header.frame_id) @ asked @ Pose(orientation=anchor.orientation).inverse
        return OrientationConstraint(
            link,
            target.orientation,
            (
                abs(message.absolute_x_axis_tolerance),
                abs(message.absolute_y_axis_tolerance),
                abs(message.absolute_z_axis_tolerance),
            ),
            Parameterization(message.parameterization),
        )

    def frame(self, name: str) -> Pose:
        return frame_pose(self.scene, name or self.scene.frame, self.link_poses)

    def anchor(self, name: str) -> tuple[str, Pose]:
        """The robot's link that carries what a constraint names, and where that is in the link's frame."""
        if name in self.robot.links:
            return name, Pose()
        for id, held in self.scene.attached.items():
            frames: Mapping[str, Pose] = {id: Pose(), **{f'{id}/{key}': pose for key, pose in held.body.subframes}}
            if name in frames:
                return held.link, held.pose @ frames[name]
        raise SceneFault(
            Code.INVALID_LINK_NAME,
            f'A constraint is for {quoted(name)}, which is neither a link nor attached to one; '
            f'the links are {names(sorted(self.robot.links), 100)}.',
        )


def _regions(volume: BoundingVolume, frame: Pose, report: Report) -> tuple[Region, ...]:
    """The regions of a volume in the scene's frame."""
    if volume.meshes:
        report.problem('a mesh is no region that can be searched; send boxes, spheres or cylinders.')
    if len(volume.primitives) != len(volume.primitive_poses):
        report.problem(
            f'there are {len(volume.primitives)} regions and {len(volume.primitive_poses)} poses; send one for each.'
        )
    if not volume.primitives and not volume.meshes:
        report.problem('there is no region; send at least one, such as a sphere as large as the tolerance.')
    found = []
    for primitive, pose in zip(volume.primitives, volume.primitive_poses, strict=False):
        shape = _region_shape(primitive, report)
        at = frame @ pose_from_message(pose, report, "region's pose")
        if shape is not None:
            found.append(Region(shape, at))
    return tuple(found)


def _region_shape(message: SolidPrimitive, report: Report) -> Box | Sphere | Cylinder | None:
    sizes = tuple(message.dimensions)
    match message.type, sizes:
        case SolidPrimitive.BOX, (x, y, z):
            return Box((x, y, z))
        case SolidPrimitive.SPHERE, (radius,):
            return Sphere(radius)
        case SolidPrimitive.CYLINDER, (height, radius):
            return Cylinder(radius, height)
    report.problem(
        f'a region has the type {message.type} with {len(sizes)} dimensions; '
        'send a box (3), a sphere (1) or a cylinder (2: height, radius).'
    )
    return None


def _point(anchor: Pose, offset: Vector) -> Vector:
    """A point of a frame in the frame of the link that carries it."""
    (x, y, z), (dx, dy, dz) = anchor.position, rotate(anchor.orientation, offset)
    return x + dx, y + dy, z + dz
