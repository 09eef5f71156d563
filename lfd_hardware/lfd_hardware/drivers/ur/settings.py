"""What a ``<ros2_control>`` tag says about a UR arm: parameters, joints and interfaces, all checked."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lfd_hardware.description import Component, JointLimit
from lfd_hardware.drivers.driver import DriverError
from lfd_hardware.drivers.parameters import number, whole
from lfd_hardware.drivers.ur.script import FIRST_REGISTER, REGISTERS

JOINTS = 6
COMMANDS = {'position', 'velocity'}  # UR's own driver wants both in the tag; only positions are followed here
STATES = ('position', 'velocity', 'effort')  # [rad], [rad/s], [A]
SCALING = 'speed_scaling_factor'


@dataclass(frozen=True)
class Settings:
    """The parameters of the tag."""

    robot_ip: str
    rtde_port: int
    script_port: int
    dashboard_port: int
    connect_timeout: float  # [s]
    power_on_timeout: float  # [s] for motors on and brakes released
    state_limit: float  # [s] that a state may be old
    robot_receive_timeout: float  # [s] without set-points after which the program on the controller stops the arm
    servoj_gain: float
    servoj_lookahead_time: float  # [s]
    stop_deceleration: float  # [rad/s^2]
    first_register: int


def settings_of(component: Component) -> Settings:
    """The parameters of the tag, or DriverError at the first that makes no sense."""
    given = component.parameters
    if not given.get('robot_ip'):
        raise DriverError(
            f"Hardware '{component.name}' has no robot_ip: give the address of the UR controller, for example "
            'robot_ip:=192.168.1.10.'
        )
    if given.get('headless_mode', 'true').lower() != 'true':
        raise DriverError(
            f"Hardware '{component.name}' has headless_mode {given['headless_mode']}: this driver starts its own "
            'program, so set it to true.'
        )
    return Settings(
        robot_ip=given['robot_ip'],
        rtde_port=_port(component, 'rtde_port', 30004),
        script_port=_port(component, 'script_port', 30002),
        dashboard_port=_port(component, 'dashboard_port', 29999),
        connect_timeout=number(component, 'connect_timeout', 5.0, 0.01, 600.0),
        power_on_timeout=number(component, 'power_on_timeout', 30.0, 0.1, 600.0),
        state_limit=number(component, 'state_limit', 0.06, 0.004, 10.0),
        robot_receive_timeout=number(component, 'robot_receive_timeout', 0.04, 0.006, 10.0),
        servoj_gain=number(component, 'servoj_gain', 2000.0, 100.0, 2000.0),
        servoj_lookahead_time=number(component, 'servoj_lookahead_time', 0.03, 0.03, 0.2),
        stop_deceleration=number(component, 'stop_deceleration', 4.0, 0.1, 100.0),
        first_register=whole(component, 'first_register', FIRST_REGISTER, 0, REGISTERS - JOINTS),
    )


def _port(component: Component, name: str, default: int) -> int:
    return whole(component, name, default, 1, 65535)


def limits_of(component: Component) -> tuple[JointLimit, ...]:
    """The limits of the six joints, all of which have a position to command and a limit of speed."""
    limits: list[JointLimit] = []
    for part in component.joints:
        commands = [each.name for each in part.command_interfaces]
        if 'position' not in commands or not {*commands} <= COMMANDS:
            raise DriverError(
                f"Joint '{part.name}' of hardware '{component.name}' must have the command interface position, and "
                'velocity beside it at most: this driver follows positions.'
            )
        if part.limit is None or not math.isfinite(part.limit.velocity):
            raise DriverError(
                f"Joint '{part.name}' of hardware '{component.name}' has no limit of velocity: give one in the URDF."
            )
        limits.append(part.limit)
    if len(limits) != JOINTS:
        raise DriverError(
            f"Hardware '{component.name}' has {len(limits)} joints where a UR arm has {JOINTS}: name them all, base "
            'to wrist 3.'
        )
    return tuple(limits)


def states_of(component: Component) -> dict[str, int]:
    """Where each state interface is found among six positions, velocities and currents, and the speed scaling."""
    found: dict[str, int] = {}
    joints = [part.name for part in component.joints]
    for part in component.parts:
        if part.kind != 'joint' and part.command_interfaces:
            raise DriverError(f"Hardware '{component.name}' cannot command '{part.name}': only joints; remove it.")
        for interface in part.state_interfaces:
            if part.kind == 'joint' and interface.name in STATES:
                index = joints.index(part.name) + JOINTS * STATES.index(interface.name)
            elif part.kind != 'joint' and interface.name == SCALING:
                index = JOINTS * len(STATES)
            else:
                raise DriverError(
                    f"Hardware '{component.name}' does not know the state interface '{part.name}/{interface.name}': "
                    f'this driver has {", ".join(STATES)} of joints, and {SCALING} of a gpio or sensor.'
                )
            found[f'{part.name}/{interface.name}'] = index
    return found
