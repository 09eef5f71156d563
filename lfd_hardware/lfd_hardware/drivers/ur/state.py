"""The state that a UR controller reports, and in one sentence why it does not follow.

Joint positions are in rad, velocities in rad/s, currents in A, in the controller's order: base to wrist 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from lfd_hardware.drivers.ur.script import Phase, outputs

STILL = 0.001  # speeds below this part of the programmed one are a standstill
SLIDER_AT_ZERO = 'has its speed slider at 0 %: raise it on the pendant'


class RobotMode(IntEnum):
    """What the arm's motors and brakes do."""

    NO_CONTROLLER = -1
    DISCONNECTED = 0
    CONFIRM_SAFETY = 1
    BOOTING = 2
    POWER_OFF = 3
    POWER_ON = 4
    IDLE = 5
    BACKDRIVE = 6
    RUNNING = 7
    UPDATING = 8


class SafetyMode(IntEnum):
    """What the safety system allows."""

    NORMAL = 1
    REDUCED = 2
    PROTECTIVE_STOP = 3
    RECOVERY = 4
    SAFEGUARD_STOP = 5
    SYSTEM_EMERGENCY_STOP = 6
    ROBOT_EMERGENCY_STOP = 7
    VIOLATION = 8
    FAULT = 9
    VALIDATE_JOINT_ID = 10
    UNDEFINED = 11
    AUTOMATIC_SAFEGUARD_STOP = 12
    THREE_POSITION_STOP = 13


class RuntimeState(IntEnum):
    """What the program on the controller does."""

    STOPPING = 0
    STOPPED = 1
    PLAYING = 2
    PAUSING = 3
    PAUSED = 4
    RESUMING = 5


@dataclass(frozen=True, slots=True)
class RobotState:
    """What the controller reports in one cycle."""

    timestamp: float  # [s] on the controller's clock
    positions: tuple[float, ...]  # [rad]
    velocities: tuple[float, ...]  # [rad/s]
    currents: tuple[float, ...]  # [A] of the joints' motors
    robot_mode: int
    safety_mode: int
    runtime_state: int
    speed_scaling: float  # what the controller itself makes of the speed, from 0 to 1
    slider: float  # the speed slider, from 0 to 1
    session: int  # of the program that runs or ran last
    count: int  # of the set-point that is being followed
    phase: int  # of the program

    @classmethod
    def of(cls, numbers: Sequence[float]) -> RobotState:
        """Out of the numbers of the recipe ``output_names``, vectors written out."""
        mode, safety, runtime, scaling, slider, session, count, phase = numbers[19:]
        return cls(
            numbers[0],
            tuple(numbers[1:7]),
            tuple(numbers[7:13]),
            tuple(numbers[13:19]),
            int(mode),
            int(safety),
            int(runtime),
            scaling,
            slider,
            int(session),
            int(count),
            int(phase),
        )


OUTPUT_TYPES = (
    *('DOUBLE', 'VECTOR6D', 'VECTOR6D', 'VECTOR6D', 'INT32', 'INT32', 'UINT32', 'DOUBLE', 'DOUBLE'),
    *('INT32', 'INT32', 'INT32'),
)
INPUT_TYPES = ('INT32', 'INT32', *['DOUBLE'] * 6)


def output_names(first_register: int) -> tuple[str, ...]:
    """What is asked of the controller; its answer must have the types ``OUTPUT_TYPES``."""
    state = ('timestamp', 'actual_q', 'actual_qd', 'actual_current', 'robot_mode', 'safety_mode', 'runtime_state')
    return (*state, 'speed_scaling', 'target_speed_fraction', *outputs(first_register))


def why_unsafe(state: RobotState) -> str | None:
    """Why the safety system lets nothing move; None when it does."""
    if state.safety_mode in (SafetyMode.NORMAL, SafetyMode.REDUCED):
        return None
    return _UNSAFE.get(state.safety_mode, f'reports the safety mode {state.safety_mode}: see its pendant')


_UNSAFE: dict[int, str] = {
    SafetyMode.PROTECTIVE_STOP: (
        'is in a protective stop: see the pendant for the cause, clear the arm and unlock it there'
    ),
    SafetyMode.RECOVERY: 'is in recovery mode: move the arm back within its safety limits by hand on the pendant',
    SafetyMode.SAFEGUARD_STOP: 'is in a safeguard stop: leave the guarded area and reset the safeguard',
    SafetyMode.AUTOMATIC_SAFEGUARD_STOP: (
        'is in a safeguard stop of the automatic mode: leave the guarded area and reset the safeguard'
    ),
    SafetyMode.THREE_POSITION_STOP: (
        'is stopped by its three-position enabling device: hold it in the middle, or select automatic mode'
    ),
    SafetyMode.SYSTEM_EMERGENCY_STOP: (
        'is in an emergency stop of the cell: release the emergency stop and start the arm again'
    ),
    SafetyMode.ROBOT_EMERGENCY_STOP: (
        'is in an emergency stop: release the button on its pendant and start the arm again'
    ),
    SafetyMode.VIOLATION: 'reports a violation of its safety limits: restart its safety system on the pendant',
    SafetyMode.FAULT: 'reports a fault of its safety system: see the log on the pendant and restart the controller',
    SafetyMode.VALIDATE_JOINT_ID: 'wants its joints validated: follow its pendant',
}


def why_not_powered(state: RobotState) -> str | None:
    """Why the motors cannot be switched on by command; None when they can, or are."""
    return _NOT_POWERED.get(state.robot_mode)


_NOT_POWERED: dict[int, str] = {
    RobotMode.NO_CONTROLLER: 'has no connection to the arm: see its pendant',
    RobotMode.DISCONNECTED: 'has no connection to the arm: check the cable between arm and controller',
    RobotMode.CONFIRM_SAFETY: 'wants its safety configuration confirmed: do so on the pendant',
    RobotMode.BOOTING: 'is still starting: wait until its pendant is ready',
    RobotMode.BACKDRIVE: 'lets its arm be moved by hand (backdrive): end that on the pendant',
    RobotMode.UPDATING: 'is updating its software: wait until that is done',
}


def why_not_following(state: RobotState, session: int, timeout: float) -> str | None:
    """Why the program of this session moves the arm no more; ``timeout`` [s] is the one it was started with."""
    if unsafe := why_unsafe(state):
        return unsafe
    if state.robot_mode != RobotMode.RUNNING:
        return 'has switched the motors off: see its pendant for the cause'
    if state.runtime_state in (RuntimeState.PAUSING, RuntimeState.PAUSED, RuntimeState.RESUMING):
        return 'has been paused on its pendant: the motion has been given up, so press stop there before starting anew'
    if state.session == session and state.phase == Phase.STARVED:
        return (
            f'got no set-point for {timeout:g} s and stopped the arm: this computer or the network is too slow; '
            'relieve it, or raise robot_receive_timeout'
        )
    if state.session != session:
        return 'runs the program of another lfd driver in place of ours: let only one drive the arm'
    if state.runtime_state != RuntimeState.PLAYING or state.phase == Phase.ENDED:
        return 'has ended our program: somebody pressed stop on the pendant, or another client ended it'
    if state.slider < STILL:
        return SLIDER_AT_ZERO
    return None
