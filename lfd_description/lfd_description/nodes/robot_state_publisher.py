"""Stand-in for the official robot_state_publisher where that is not installed: the same node, names and rules.

robot_description (parameter) ──► robot_description (latched topic); fixed joints ──► tf_static
joint_states (topic) ───────────► movable joints and their mimics ──► tf
"""

import math
import sys
from collections.abc import Sequence

from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, SetParametersResult
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.publisher import Publisher
from rclpy.qos import QoSPolicyKind
from rclpy.qos_overriding_options import QoSOverridingOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from lfd_description.nodes.lifetime import run_until_signal
from lfd_description.nodes.qos import JOINT_STATES_QOS, LATCHED_QOS, TF_QOS
from lfd_description.publish_rate import PublishRate
from lfd_description.transforms import LinkTransform, fixed_transforms, moving_transforms
from lfd_description.urdf import RobotTree, UrdfError, parse_urdf

NAME = 'robot_state_publisher'
MAX_FREQUENCY = 1000.0  # [Hz]

# The policies that tf2's broadcasters let the user override.
TF_OVERRIDES = (QoSPolicyKind.DEPTH, QoSPolicyKind.DURABILITY, QoSPolicyKind.HISTORY, QoSPolicyKind.RELIABILITY)
TF_STATIC_OVERRIDES = (QoSPolicyKind.DEPTH, QoSPolicyKind.HISTORY, QoSPolicyKind.RELIABILITY)


class ParameterError(ValueError):
    """The node cannot start with a parameter it was given; the message says which and why."""


class RobotStatePublisher(Node):
    """Publishes where a robot's links are.

    Raises:
        ParameterError: the parameter robot_description is missing or no usable URDF, or publish_frequency is 0.
        ParameterException: a parameter has a value of the wrong type or out of bounds.
    """

    def __init__(self) -> None:
        super().__init__(NAME)
        self._declare_parameters()
        refused = self._validate_parameters(self.get_parameters(['robot_description', 'publish_frequency']))
        if not refused.successful:
            raise ParameterError(refused.reason)

        self._description = self.create_publisher(String, 'robot_description', LATCHED_QOS)
        self._tf = self.create_publisher(
            TFMessage, 'tf', TF_QOS, qos_overriding_options=QoSOverridingOptions(TF_OVERRIDES)
        )
        self._tf_static = self.create_publisher(
            TFMessage, 'tf_static', LATCHED_QOS, qos_overriding_options=QoSOverridingOptions(TF_STATIC_OVERRIDES)
        )
        self._read_parameters()

        self.add_on_set_parameters_callback(self._validate_parameters)
        self.add_post_set_parameters_callback(self._apply_parameters)
        self.create_subscription(
            JointState,
            'joint_states',
            self._on_joint_state,
            JOINT_STATES_QOS,
            qos_overriding_options=QoSOverridingOptions.with_default_policies(),
        )

    def _declare_parameters(self) -> None:
        self.declare_parameter(
            'robot_description', '', ParameterDescriptor(description="The robot's URDF as XML text; must not be empty.")
        )
        self.declare_parameter(
            'publish_frequency',
            20.0,
            ParameterDescriptor(
                description='How often at most the moving joints are published [Hz], above 0.',
                floating_point_range=[FloatingPointRange(from_value=0.0, to_value=MAX_FREQUENCY)],
            ),
        )
        self.declare_parameter(
            'ignore_timestamp',
            False,
            ParameterDescriptor(
                description='Publish every joint state, however old or often, whatever its time stamp.'
            ),
        )
        self.declare_parameter(
            'frame_prefix', '', ParameterDescriptor(description='Goes before every frame name, such as "left/".')
        )

    def _validate_parameters(self, parameters: Sequence[Parameter]) -> SetParametersResult:
        reason = ' '.join(filter(None, map(_refusal, parameters)))
        return SetParametersResult(successful=not reason, reason=reason)

    def _apply_parameters(self, parameters: Sequence[Parameter]) -> None:
        ours = {'robot_description', 'publish_frequency', 'ignore_timestamp', 'frame_prefix'}
        if ours.intersection(parameter.name for parameter in parameters):
            self._read_parameters()

    def _read_parameters(self) -> None:
        """Take all parameters over, and let the world know of the robot and its fixed frames (again)."""
        xml: str = self.get_parameter('robot_description').value
        self._tree: RobotTree = parse_urdf(xml)
        self._movable = frozenset(joint.name for joint in self._tree.joints if joint.moves)
        self._frame_prefix: str = self.get_parameter('frame_prefix').value
        self._rate = PublishRate(
            self.get_parameter('publish_frequency').value,
            ignore_timestamp=self.get_parameter('ignore_timestamp').value,
        )
        self._description.publish(String(data=xml))
        self._publish(self._tf_static, fixed_transforms(self._tree), self.get_clock().now().to_msg())
        self.get_logger().info(
            f"Publishing robot '{self._tree.name}': {len(self._tree.links)} links, {len(self._movable)} movable joints."
        )

    def _on_joint_state(self, state: JointState) -> None:
        if len(state.name) != len(state.position):
            self.get_logger().warning(
                f'Ignored a joint state with {len(state.name)} names but {len(state.position)} positions; '
                'its publisher must send one position for each name.',
                once=True,
            )
            return
        positions: dict[str, float] = {}
        for name, position in zip(state.name, state.position, strict=True):
            if name in self._movable:
                positions.setdefault(name, position)
        if not positions:
            return
        if not all(map(math.isfinite, positions.values())):
            self.get_logger().warning(
                'Ignored a joint state with a position that is not finite; its publisher may not be ready.', once=True
            )
            return
        if self._rate.clock_went_back(self.get_clock().now().nanoseconds):
            self.get_logger().warning('The clock went back: publishing all joints again.')
        stamp = state.header.stamp
        if self._rate.due(positions, stamp.sec * 1_000_000_000 + stamp.nanosec):
            self._publish(self._tf, moving_transforms(self._tree, positions), stamp)
        elif stamp.sec == 0 and stamp.nanosec == 0:
            self.get_logger().warning(
                'Ignored a joint state without a time stamp; stamp it or set ignore_timestamp.', once=True
            )

    def _publish(self, publisher: Publisher, transforms: Sequence[LinkTransform], stamp: Time) -> None:
        publisher.publish(TFMessage(transforms=[self._message(transform, stamp) for transform in transforms]))

    def _message(self, transform: LinkTransform, stamp: Time) -> TransformStamped:
        message = TransformStamped()
        message.header.stamp = stamp
        message.header.frame_id = self._frame_prefix + transform.parent
        message.child_frame_id = self._frame_prefix + transform.child
        translation, rotation = message.transform.translation, message.transform.rotation
        translation.x, translation.y, translation.z = transform.translation
        rotation.x, rotation.y, rotation.z, rotation.w = transform.rotation
        return message


def _refusal(parameter: Parameter) -> str:
    """Why the node cannot use this value, or nothing if it can."""
    if parameter.name == 'publish_frequency' and not 0.0 < parameter.value <= MAX_FREQUENCY:
        return f'The parameter publish_frequency is {parameter.value}; set it above 0 and at most {MAX_FREQUENCY} Hz.'
    if parameter.name == 'robot_description':
        if not parameter.value:
            return "The parameter robot_description is empty; set it to the robot's URDF text."
        try:
            parse_urdf(parameter.value)
        except UrdfError as error:
            return str(error)
    return ''


def main(args: Sequence[str] | None = None) -> int:
    """Run the node until SIGINT or SIGTERM: returns 0 then, or 2 at once if an argument cannot be used."""
    return run_until_signal(NAME, RobotStatePublisher, args, refusals=(ParameterError, ParameterException))


if __name__ == '__main__':
    sys.exit(main())
