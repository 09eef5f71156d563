"""The plugin ``lfd_hardware/MotomanSystem``: an arm at a Yaskawa controller with MotoROS, by simple messages.

Parameters of the tag's ``<hardware>`` (defaults in brackets):

=============== ====================================================================================================
robot_ip        address of the controller; must be given
motion_port     TCP port of the motion server [50240]
state_port      TCP port of the state server [50241]
byte_order      ``little`` or, for an FS100, ``big`` [little]
group           the controller's number of the group of axes; 0 is the first robot [0]
point_period    [s] time between two points on the wire [0.04]
lead            [s] how far the arm is behind the commands; see ``stream.py`` [0.12]
state_timeout   [s] the oldest state with which the arm may move; the stop is sent within one cycle more [0.06]
reply_timeout   [s] how long a point may stay without an answer [0.25]
connect_timeout [s] for the connections and the first state [5]
start_timeout   [s] for servo power and the controller's job INIT_ROS, each [10]
=============== ====================================================================================================

Joints are in the controller's order of axes from base to tool, with a ``position`` command and ``position`` and
``velocity`` states. A ``<gpio>`` or ``<sensor>`` may have any of the states ``delay`` [s] (from a command to its
execution), ``drives_powered``, ``e_stopped``, ``error_code``, ``in_error``, ``in_motion``, ``mode`` and
``motion_possible`` (as the controller sends them).

The arm is late by ``lead`` plus the controller's own following and up to 0.03 s of age of the states, so a joint that
moves at v is up to about v * (lead + 0.1 s) behind its command. Path tolerances of the trajectory controller must allow
that; at the end the arm is exactly at the last command, ``lead`` + 0.2 s later at most.
"""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lfd_hardware.description import Component
from lfd_hardware.drivers.driver import Driver, DriverError
from lfd_hardware.drivers.motoman.link import Address, ControllerState, MotionLink, StateLink
from lfd_hardware.drivers.motoman.refusals import ALARM, ERROR, NOT_READY, START_POSITION, explain, hindrance
from lfd_hardware.drivers.motoman.simple_message import (
    AXES,
    ByteOrder,
    Command,
    MotionReply,
    Result,
    RobotStatus,
    TrajectoryPoint,
)
from lfd_hardware.drivers.motoman.stream import Array, PointStream, StreamPoint
from lfd_hardware.drivers.parameters import number, whole

POSITION, VELOCITY = 'position', 'velocity'
STATUS_FIELDS = tuple(RobotStatus.__dataclass_fields__)
DELAY = 'delay'
JUMP = 1.5  # a command may differ from the one before by this much of what the velocity limit allows in a period
ROUNDING = 1e-4  # [rad or m] what two readings of an arm at rest may differ by
POLL = 0.005  # [s] how often the sender looks for a point to send
BUSY_PAUSE = 0.004  # [s] the controller's own period of interpolation
BUSY_LIMIT = 1.0  # [s]
RESOLUTION = 0.00025  # [s] added to times, because the controller cuts them off to milliseconds
STOP_ANSWER = 0.5  # [s]


@dataclass(frozen=True)
class Settings:
    """The parameters of the tag, checked."""

    host: str
    motion_port: int
    state_port: int
    order: ByteOrder
    group: int
    point_period: float  # [s]
    lead: float  # [s]
    state_timeout: float  # [s]
    reply_timeout: float  # [s]
    connect_timeout: float  # [s]
    start_timeout: float  # [s]


class MotomanDriver(Driver):
    """Streams points to the motion server in a thread of its own; see the module for parameters and delay."""

    def __init__(self, component: Component) -> None:
        super().__init__(component)
        self._settings = _settings(component)
        self._joints = tuple(part.name for part in component.joints)
        _check_interfaces(component)
        self._fastest = np.array([part.limit.velocity if part.limit else math.inf for part in component.joints])
        if not np.all(np.isfinite(self._fastest)):
            slow = self._joints[int(np.argmin(np.isfinite(self._fastest)))]
            raise DriverError(
                f"Joint '{slow}' of hardware '{component.name}' has no velocity limit: give it one in the URDF."
            )
        self._period = 0.002  # [s] of the update loop, as read() says
        self._states: StateLink | None = None
        self._motion: MotionLink | None = None
        self._stream: PointStream | None = None
        self._lock = threading.Lock()  # guards the stream and the fault
        self._fault = ''
        self._ending = threading.Event()
        self._sender: threading.Thread | None = None

    # Life -------------------------------------------------------------------------------------------------------------

    def configure(self) -> None:
        """Connect to both servers and wait for the first state."""
        self.close()
        settings = self._settings
        self._fault = ''
        try:
            self._states = StateLink(
                self._address('state server', settings.state_port),
                settings.order,
                settings.group,
                settings.connect_timeout,
            )
            self._states.wait(-math.inf, settings.connect_timeout)
            self._motion = MotionLink(
                self._address('motion server', settings.motion_port),
                settings.order,
                settings.group,
                settings.connect_timeout,
            )
            self._motion.control(Command.CHECK_MOTION_READY, settings.connect_timeout)
        except DriverError:
            self.close()
            raise

    def activate(self) -> None:
        """Servo power on, job INIT_ROS started, and the sender beginning where the arm stands."""
        states, motion = self._connected()
        self._make_ready(motion, states.wait(-math.inf, self._settings.connect_timeout).status)
        start = self._standing_still(states)
        self._stream = PointStream(
            _positions(start, len(self._joints)), self._fastest, self._settings.point_period, self._settings.lead
        )
        self._ending.clear()
        self._sender = threading.Thread(
            target=self._send_all, args=(self._stream, motion, states), name='motoman_motion', daemon=True
        )
        self._sender.start()

    def read(self, period: float) -> Mapping[str, float]:
        """The newest state; raises DriverError when it is too old or the arm cannot move any more."""
        if period > 0.0:
            self._period = period
        states, _ = self._connected()
        state = states.state
        if state is None:
            raise DriverError(f"Hardware '{self.component.name}' has no state yet: configure it first.")
        self._watch(states, state, time.monotonic())
        self._raise_fault()
        return self._interfaces(state)

    def write(self, commands: Mapping[str, float]) -> None:
        """Hand the commands to the stream; one that jumps, or is not finite, stops the arm."""
        self._raise_fault()
        stream = self._stream
        if stream is None:
            raise DriverError(f"Hardware '{self.component.name}' follows no commands: activate it first.")
        with self._lock:
            before = stream.target
            wanted = np.array(
                [commands.get(f'{name}/{POSITION}', before[i]) for i, name in enumerate(self._joints)], dtype=float
            )
            wrong = self._jump(before, wanted)
            if not wrong:
                stream.add(time.monotonic(), wanted, self._period)
        if wrong:
            self._fail(wrong)
            self._raise_fault()

    def deactivate(self) -> None:
        """Let the arm play what it was sent if that ends at rest, else stop it; then leave trajectory mode."""
        _, motion = self._connected()
        stream, self._stream = self._stream, None
        if stream is None:
            return
        if self._rests(stream):
            self._ending.wait(max(0.0, stream.plays_until - time.monotonic()))
            self._end_sender()
        else:
            self._end_sender()
            motion.control(Command.STOP_MOTION, STOP_ANSWER)
        self._raise_fault()
        reply = motion.control(Command.STOP_TRAJECTORY_MODE, STOP_ANSWER)
        if reply.result != Result.SUCCESS:  # a point may still be on its way through the queue
            motion.control(Command.STOP_MOTION, STOP_ANSWER)
            self._demand(motion.control(Command.STOP_TRAJECTORY_MODE, STOP_ANSWER), 'does not leave trajectory mode')

    def close(self) -> None:
        """Stop the arm if it follows, and close the connections."""
        following, self._stream = self._stream is not None, None
        if self._motion is not None and following:
            self._motion.stop()
        self._end_sender()
        if self._motion is not None:
            if following and not self._fault:
                with contextlib.suppress(DriverError):
                    self._motion.control(Command.STOP_TRAJECTORY_MODE, STOP_ANSWER)
            self._motion.close()
            self._motion = None
        if self._states is not None:
            self._states.close()
            self._states = None

    # Start ------------------------------------------------------------------------------------------------------------

    def _make_ready(self, motion: MotionLink, status: RobotStatus) -> None:
        """Bring the controller into trajectory mode, or raise DriverError with its reason."""
        if status.e_stopped == 1:
            raise DriverError(f'The {motion.address} cannot move the arm: {NOT_READY[5003]}.')
        limit = self._settings.start_timeout
        ready = motion.control(Command.CHECK_MOTION_READY, limit)
        if ready.result == Result.SUCCESS:
            self._demand(motion.control(Command.STOP_MOTION, limit), 'does not stop what was left of a motion')
            return
        if ready.subcode in (ALARM, ERROR) or status.in_error == 1:
            self._demand(motion.control(Command.RESET_ALARM, limit), 'does not reset its alarm')
        if status.drives_powered == 0:
            reply = motion.control(Command.START_SERVOS, limit)
            if reply.result != Result.SUCCESS:
                why = motion.control(Command.CHECK_MOTION_READY, limit)
                self._demand(why if why.result != Result.SUCCESS else reply, 'does not switch the servo power on')
        self._demand(motion.control(Command.START_TRAJECTORY_MODE, limit), 'does not start trajectory mode')

    def _standing_still(self, states: StateLink) -> ControllerState:
        """A new state of an arm that is ready and does not move."""
        limit = self._settings.connect_timeout
        began = time.monotonic()
        state = states.wait(began, limit)
        while state.status.motion_possible == 0 or state.status.in_motion == 1:  # states lag behind answers
            why = hindrance(state.status) or 'it is not ready with the arm at rest: look at the teach pendant'
            if state.status.e_stopped == 1 or state.received > began + limit:
                raise DriverError(f'{self._who()} cannot move the arm: {why}.')
            state = states.wait(state.received, limit)
        return state

    def _demand(self, reply: MotionReply, what: str) -> None:
        if reply.result != Result.SUCCESS:
            raise DriverError(f'{self._who()} {what}: {explain(reply.result, reply.subcode)}.')

    # The sender's thread ----------------------------------------------------------------------------------------------

    def _send_all(self, stream: PointStream, motion: MotionLink, states: StateLink) -> None:
        """Send points as they become due, until told to end or something fails."""
        try:
            while not self._ending.is_set() and not self._fault:
                self._watch_all(motion, states)
                with self._lock:
                    point = stream.due(time.monotonic())
                if point is None:
                    self._ending.wait(POLL)
                else:
                    self._send(stream, motion, states, point)
        except DriverError as error:
            self._fail(str(error))
        except Exception as error:  # whatever it is, the arm must not go on without its sender
            self._fail(f"The sender of hardware '{self.component.name}' failed: {error!r}.")

    def _send(self, stream: PointStream, motion: MotionLink, states: StateLink, point: StreamPoint) -> None:
        """Send one point, again and again while the controller is busy."""
        message = TrajectoryPoint(
            self._settings.group,
            point.sequence,
            point.time / 1000.0 + (RESOLUTION if point.time else 0.0),
            tuple(map(float, point.positions)),
            tuple(map(float, point.velocities)),
        )
        began = time.monotonic()
        while not self._fault:
            reply = motion.point(message, self._settings.reply_timeout)
            now = time.monotonic()
            if reply.result == Result.SUCCESS:
                with self._lock:
                    stream.sent(now)
                return
            # Before a new trajectory the controller may still be finishing the one before.
            waits = reply.result == Result.BUSY or (point.sequence == 0 and reply.subcode == START_POSITION)
            if not waits or now - began > BUSY_LIMIT:
                self._demand(reply, 'refused a point')
            if self._ending.wait(BUSY_PAUSE):
                return
            self._watch_all(motion, states)

    def _watch_all(self, motion: MotionLink, states: StateLink) -> None:
        state = states.state
        if state is None:
            return
        self._watch(states, state, time.monotonic())
        if state.status.motion_possible == 0 and not self._fault:
            motion.stop()
            self._demand(motion.control(Command.CHECK_MOTION_READY, STOP_ANSWER), 'stopped the arm')

    # Faults -----------------------------------------------------------------------------------------------------------

    def _watch(self, states: StateLink, state: ControllerState, now: float) -> None:
        """Stop the arm and note why, if the state is lost, too old, or says that the arm cannot move."""
        age = now - state.received
        if states.failure:
            self._fail(states.failure)
        elif age > self._settings.state_timeout:
            self._fail(
                f'{self._who()} sent no state for {age:.3f} s (limit {self._settings.state_timeout:g} s), so the arm '
                'was told to stop: check the network, then activate the hardware again.'
            )
        elif self._stream is not None and (why := hindrance(state.status)):
            self._fail(f'{self._who()} cannot move the arm: {why}.')

    def _fail(self, why: str) -> None:
        """Tell the arm to stop, and remember why; the first reason counts."""
        with self._lock:
            if self._fault:
                return
            self._fault = why
        if self._motion is not None:
            self._motion.stop()

    def _raise_fault(self) -> None:
        if self._fault:
            raise DriverError(self._fault)

    def _jump(self, before: Array, wanted: Array) -> str:
        """Why these commands cannot be followed; empty if they can."""
        allowed = JUMP * self._fastest * self._period + ROUNDING
        bad = ~(np.abs(wanted - before) <= allowed)  # so that NaN is bad
        if not bad.any():
            return ''
        worst = int(np.argmax(bad))
        return (
            f"The command for joint '{self._joints[worst]}' of hardware '{self.component.name}' jumps from "
            f'{before[worst]:.4f} to {wanted[worst]:.4f}, more than {allowed[worst]:.4f} in one cycle, so the arm was '
            'told to stop: command it from where it is and within its velocity limit.'
        )

    # Helpers ----------------------------------------------------------------------------------------------------------

    def _interfaces(self, state: ControllerState) -> dict[str, float]:
        stream = self._stream
        extra = {field: float(getattr(state.status, field)) for field in STATUS_FIELDS}
        extra[DELAY] = self._settings.lead if stream is None else stream.delay
        values: dict[str, float] = {}
        for index, name in enumerate(self._joints):
            values[f'{name}/{POSITION}'] = state.feedback.positions[index]
            values[f'{name}/{VELOCITY}'] = state.speeds[index]
        for part in self.component.parts:
            if part.kind != 'joint':
                values.update({f'{part.name}/{each.name}': extra[each.name] for each in part.state_interfaces})
        return {name: values[name] for name in self.component.state_interfaces}

    def _rests(self, stream: PointStream) -> bool:
        """Whether the stream comes to rest by itself in the time that it needs for what was commanded."""
        deadline = time.monotonic() + self._settings.lead + self._settings.reply_timeout
        while not self._fault and time.monotonic() < deadline:
            with self._lock:
                if stream.at_rest:
                    return True
            self._ending.wait(POLL)
        return False

    def _end_sender(self) -> None:
        self._ending.set()
        if self._sender is not None:
            self._sender.join()
            self._sender = None

    def _connected(self) -> tuple[StateLink, MotionLink]:
        if self._states is None or self._motion is None:
            raise DriverError(f"Hardware '{self.component.name}' is not connected: configure it first.")
        return self._states, self._motion

    def _address(self, server: str, port: int) -> Address:
        return Address(f"{server} of Motoman hardware '{self.component.name}'", self._settings.host, port)

    def _who(self) -> str:
        return f"The controller of Motoman hardware '{self.component.name}' at {self._settings.host}"


def _positions(state: ControllerState, joints: int) -> Array:
    return np.array(state.feedback.positions[:joints], dtype=float)


# The tag --------------------------------------------------------------------------------------------------------------


def _settings(component: Component) -> Settings:
    host = component.parameters.get('robot_ip', '').strip()
    if not host:
        raise DriverError(
            f"Motoman hardware '{component.name}' has no parameter 'robot_ip': give the address of the controller."
        )
    order = component.parameters.get('byte_order', 'little').upper()
    if order not in ByteOrder.__members__:
        raise DriverError(
            f"The parameter 'byte_order' of hardware '{component.name}' is '{order.lower()}': use little, or big for "
            'an FS100.'
        )
    settings = Settings(
        host,
        whole(component, 'motion_port', 50240, 1, 65535),
        whole(component, 'state_port', 50241, 1, 65535),
        ByteOrder[order],
        whole(component, 'group', 0, 0, 3),
        number(component, 'point_period', 0.04, 0.008, 0.5),
        number(component, 'lead', 0.12, 0.03, 2.0),
        number(component, 'state_timeout', 0.06, 0.03, 1.0),
        number(component, 'reply_timeout', 0.25, 0.02, 5.0),
        number(component, 'connect_timeout', 5.0, 0.1, 60.0),
        number(component, 'start_timeout', 10.0, 0.1, 60.0),
    )
    if settings.lead < settings.point_period + 0.02:
        raise DriverError(
            f"The parameter 'lead' of hardware '{component.name}' is {settings.lead:g} s: make it at least 0.02 s "
            f"longer than 'point_period' ({settings.point_period:g} s)."
        )
    return settings


def _check_interfaces(component: Component) -> None:
    if not 1 <= len(component.joints) <= AXES:
        raise DriverError(
            f"Motoman hardware '{component.name}' has {len(component.joints)} joints: name the 1 to {AXES} axes of its "
            'group, from base to tool.'
        )
    for part in component.parts:
        is_joint = part.kind == 'joint'
        for interface in part.command_interfaces:
            if not is_joint or interface.name != POSITION:
                raise _unknown(component, 'command', part.name, interface.name, 'position of joints')
        known = (POSITION, VELOCITY) if is_joint else (DELAY, *STATUS_FIELDS)
        for interface in part.state_interfaces:
            if interface.name not in known:
                raise _unknown(component, 'state', part.name, interface.name, ', '.join(known))


def _unknown(component: Component, kind: str, part: str, interface: str, known: str) -> DriverError:
    return DriverError(
        f"Motoman hardware '{component.name}' has no {kind} interface '{interface}' of '{part}': use {known}."
    )
