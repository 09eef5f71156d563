"""The parameters of scene sync, checked.

`targets` are the namespaces of planning servers; '' is the node's own. What is said at the top level, such as
`include_tags`, is meant for all of them; `left.include_tags` is meant for the target `left` alone (slashes of a
namespace are dots there).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TypeVar

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.node import Node
from rclpy.parameter import Parameter

from lfd_planner.mtdf.axes import AXES
from lfd_planner.scene import Pose
from lfd_planner.sync import Selection, Target, Timing
from lfd_planner.sync.target import MARK

Value = TypeVar('Value')
_NAMESPACE = re.compile(r'/?([A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*/?)?')

PER_TARGET = {
    'include_tags': (Parameter.Type.STRING_ARRAY, 'Only objects with at least one of these tags; none: all objects.'),
    'exclude_tags': (Parameter.Type.STRING_ARRAY, 'No objects with any of these tags.'),
    'base_frame': (Parameter.Type.STRING, "The frame in which the server is told poses; empty: the twin's."),
    'origin': (
        Parameter.Type.DOUBLE_ARRAY,
        "Where the twin's frame is in base_frame: x, y, z [m], roll, pitch, yaw [rad].",
    ),
}


class ParameterError(ValueError):
    """The node cannot start with a parameter it was given; the message says which and why."""


@dataclass(frozen=True)
class Parameters:
    """What the node was told."""

    scene: str
    """The name or path of a scene file; empty: the twin publishes."""
    frame: str
    """The frame of a twin that publishes."""
    axes: str
    expect_twin: bool
    """Somebody will publish: until then there is something to wait for."""
    namespaces: tuple[str, ...]
    mark: str
    timing: Timing
    synchronize_timeout: float
    """[s]"""
    watch: bool


def read_parameters(node: Node) -> Parameters:
    """Declare and read all parameters but those of single targets.

    Raises:
        ParameterError: a value cannot be used.
    """
    timing = Timing()
    namespaces = _declared(node, 'targets', [''], 'Namespaces of the planning servers; an empty one is our own.')
    parameters = Parameters(
        scene=_declared(node, 'scene', '', 'A scene file, or the name of a bundled scene; empty: the twin publishes.'),
        frame=_declared(node, 'frame', 'world', 'The frame of a twin that publishes; a scene file tells its own.'),
        axes=_declared(node, 'axes', 'ros', f'The axes of a twin that publishes: {" or ".join(AXES)}.'),
        expect_twin=_declared(
            node, 'expect_twin', False, 'A twin will publish: without it, synchronize_scene fails and does not pass.'
        ),
        namespaces=tuple(namespaces),
        mark=_declared(node, 'mark', MARK, "The tag by which the twin's objects are known again on a server."),
        timing=Timing(
            rate=_number(node, 'rate', timing.rate, 'Requests to a server at most [Hz].', 0.1, 1000.0),
            timeout=_number(
                node, 'request_timeout', timing.timeout, 'An answer is waited for so long [s].', 0.1, 600.0
            ),
            check=_number(
                node, 'check_period', timing.check, 'Servers are looked at so often [s]; 0: never.', 0, 3600.0
            ),
        ),
        synchronize_timeout=_number(
            node, 'synchronize_timeout', 10.0, 'synchronize_scene waits so long for all servers [s].', 0.1, 3600.0
        ),
        watch=_declared(node, 'watch', True, 'Follow monitored_planning_scene, and restore what others changed.'),
    )
    _check(parameters, node.get_namespace())
    return parameters


def read_target(node: Node, namespace: str, parameters: Parameters, twin_frame: str) -> Target:
    """Declare and read what is said of one planning server.

    Raises:
        ParameterError: a value cannot be used.
    """
    include: list[str] = _of_target(node, namespace, 'include_tags', [])
    exclude: list[str] = _of_target(node, namespace, 'exclude_tags', [])
    frame: str = _of_target(node, namespace, 'base_frame', '')
    origin: list[float] = list(_of_target(node, namespace, 'origin', [0.0] * 6))
    return Target(
        name=namespace or '/',
        frame=(frame or twin_frame).removeprefix('/'),
        origin=_pose(origin, namespace),
        selection=Selection.of(include, exclude),
        mark=parameters.mark,
    )


def _resolved(namespace: str, own: str) -> str:
    """A target's namespace from the root, seen from the node's own."""
    full = namespace if namespace.startswith('/') else f'{own}/{namespace}'
    return '/'.join(filter(None, full.split('/')))


def _check(parameters: Parameters, own: str) -> None:
    if parameters.axes not in AXES:
        raise ParameterError(f"The parameter axes is '{parameters.axes}'; set it to {' or '.join(AXES)}.")
    if not parameters.mark or not parameters.mark.isprintable():
        raise ParameterError('The parameter mark is empty or cannot be seen; set it to a short text.')
    for name in parameters.namespaces:
        if not _NAMESPACE.fullmatch(name):
            raise ParameterError(
                f"The parameter targets has '{name[:100]}'; set names of letters, digits and _, with / between them."
            )
    servers = {_resolved(name, own) for name in parameters.namespaces}
    if not servers or len(servers) != len(parameters.namespaces):
        raise ParameterError('The parameter targets is empty or names a planning server twice; name each one once.')
    if parameters.expect_twin and parameters.scene:
        raise ParameterError(
            'The parameters expect_twin and scene exclude each other (a scene file stands for the twin); set one.'
        )
    if not parameters.frame and not parameters.scene:
        raise ParameterError("The parameter frame is empty; set it to the twin's frame, such as world.")


def _pose(numbers: list[float], namespace: str) -> Pose:
    if len(numbers) != 6 or not all(map(math.isfinite, numbers)):
        raise ParameterError(
            f"The parameter origin of target '{namespace}' is {numbers}; set x, y, z [m], roll, pitch, yaw [rad]."
        )
    return Pose.of_numbers(numbers)


def _declared(node: Node, name: str, default: Value, description: str) -> Value:
    value: Value = node.declare_parameter(name, default, ParameterDescriptor(description=description)).value
    return value


def _number(node: Node, name: str, default: float, description: str, low: float, high: float) -> float:
    bounds = [FloatingPointRange(from_value=float(low), to_value=float(high))]
    descriptor = ParameterDescriptor(description=description, floating_point_range=bounds)
    return float(node.declare_parameter(name, default, descriptor).value)


def _of_target(node: Node, namespace: str, name: str, default: Value) -> Value:
    """The target's own value, or else that for all, or else the default."""
    kind, description = PER_TARGET[name]
    prefix = namespace.strip('/').replace('/', '.')
    for full in dict.fromkeys([f'{prefix}.{name}' if prefix else name, name]):
        if not node.has_parameter(full):
            node.declare_parameter(full, kind, ParameterDescriptor(description=description))
        found = node.get_parameter_or(full, None)
        if found.type_ != Parameter.Type.NOT_SET:
            value: Value = found.value
            return value
    return default
