"""Constraints and moveit_msgs/Constraints: goals of a request, and what a path must keep to."""

from __future__ import annotations

from geometry_msgs.msg import Pose as PoseMessage
from geometry_msgs.msg import Vector3
from moveit_msgs.msg import BoundingVolume, Constraints
from moveit_msgs.msg import JointConstraint as JointMessage
from moveit_msgs.msg import OrientationConstraint as OrientationMessage
from moveit_msgs.msg import PositionConstraint as PositionMessage
from shape_msgs.msg import SolidPrimitive

from lfd_description.shapes import Box, Cylinder, Sphere, Vector
from lfd_description.transforms import rotate
from lfd_planner.scene import Code, LinkPoses, PlanningScene, Pose, RobotFrames, SceneFault, anchor, frame_pose
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
from .poses import pose_from_message, pose_to_message

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


def constraints_to_message(constraints: PathConstraints, frame: str) -> Constraints:
    """Constraints, whose poses are in the scene's frame, as a message."""
    return Constraints(
        joint_constraints=[
            JointMessage(
                joint_name=joint.joint,
                position=joint.position,
                tolerance_above=joint.above,
                tolerance_below=joint.below,
                weight=1.0,
            )
            for joint in constraints.joints
        ],
        position_constraints=[_position_to_message(position, frame) for position in constraints.positions],
        orientation_constraints=[
            _orientation_to_message(orientation, frame) for orientation in constraints.orientations
        ],
    )


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
        link, held = anchor(self.scene, message.link_name, self.robot.links)
        report = Report(f'Position constraint of {quoted(message.link_name)}')
        offset = message.target_point_offset
        frame = self.frame(message.header.frame_id)
        regions = _regions(message.constraint_region, frame, report)
        report.finish(Code.INVALID_GOAL_CONSTRAINTS)
        return PositionConstraint(link, regions, _point(held, (offset.x, offset.y, offset.z)))

    def orientation(self, message: OrientationMessage) -> OrientationConstraint:
        link, held = anchor(self.scene, message.link_name, self.robot.links)
        report = Report(f'Orientation constraint of {quoted(message.link_name)}')
        asked = pose_from_message(PoseMessage(orientation=message.orientation), report, 'orientation')
        if message.parameterization not in set(Parameterization):
            report.problem(f'there is no parameterization {message.parameterization}; use 0 or 1.')
        report.finish(Code.INVALID_GOAL_CONSTRAINTS)
        target = self.frame(message.header.frame_id) @ asked @ Pose(orientation=held.orientation).inverse
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


def _position_to_message(constraint: PositionConstraint, frame: str) -> PositionMessage:
    x, y, z = constraint.offset
    message = PositionMessage(link_name=constraint.link, target_point_offset=Vector3(x=x, y=y, z=z), weight=1.0)
    message.header.frame_id = frame
    message.constraint_region.primitives = [_region_to_message(region) for region in constraint.regions]
    message.constraint_region.primitive_poses = [pose_to_message(region.pose) for region in constraint.regions]
    return message


def _region_to_message(region: Region) -> SolidPrimitive:
    match region.shape:
        case Box(size):
            return SolidPrimitive(type=SolidPrimitive.BOX, dimensions=list(size))
        case Sphere(radius):
            return SolidPrimitive(type=SolidPrimitive.SPHERE, dimensions=[radius])
        case Cylinder(radius, height):
            return SolidPrimitive(type=SolidPrimitive.CYLINDER, dimensions=[height, radius])


def _orientation_to_message(constraint: OrientationConstraint, frame: str) -> OrientationMessage:
    x, y, z = constraint.tolerance
    message = OrientationMessage(
        link_name=constraint.link,
        orientation=pose_to_message(Pose(orientation=constraint.orientation)).orientation,
        absolute_x_axis_tolerance=x,
        absolute_y_axis_tolerance=y,
        absolute_z_axis_tolerance=z,
        parameterization=int(constraint.parameterization),
        weight=1.0,
    )
    message.header.frame_id = frame
    return message


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


def _point(held: Pose, offset: Vector) -> Vector:
    """A point of a frame in the frame of the link that carries it."""
    (x, y, z), (dx, dy, dz) = held.position, rotate(held.orientation, offset)
    return x + dx, y + dy, z + dz
