"""The EGM link: a UDP socket and the thread that answers the controller.

The controller sends first and every message is answered to where it came from, by the receiving thread itself: so an
answer leaves some tens of microseconds after its message, whatever the update loop does, and a loop that hangs makes
the arm stand. Of messages that queued up only the newest is answered, because a burst of set-points would be a jump.

All angles here are in rad and ages on the monotonic clock; deg exist on the wire only.
"""

from __future__ import annotations

import contextlib
import math
import select
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lfd_hardware.drivers.abb.egm import (
    MAX_DATAGRAM,
    EgmError,
    EgmRobot,
    EgmSensor,
    Guidance,
    Motors,
    Rapid,
    decode_robot,
    encode_sensor,
)
from lfd_hardware.drivers.abb.reference import Reference
from lfd_hardware.drivers.driver import DriverError

WAKE = 0.01  # [s] how often the thread looks at the clock when nothing comes
BURST = 256  # datagrams that are read at once, so that a flood cannot keep the thread from answering
WIRE_FACTOR = 1.2  # how much faster than its limit a joint's set-point may catch up after a late cycle
COMMAND_FACTOR = 2.0  # how far a command may be beyond velocity times period before it is a jump; cycles jitter

_UINT32 = 0xFFFFFFFF
_HALF = 1 << 31


@dataclass(frozen=True)
class LinkSettings:
    """What the link is told by the tag."""

    device: str  # how messages call the controller
    peer: str  # the address that messages must come from
    port: int  # UDP, on this computer; 0 takes a free one
    joints: tuple[str, ...]
    velocities: tuple[float, ...]  # [rad/s] limits of the joints
    period: float  # [s] between two messages
    state_limit: float  # [s] the oldest state that is still followed


@dataclass(frozen=True)
class ArmState:
    """Where the arm is, and when that was received."""

    positions: tuple[float, ...]  # [rad]
    velocities: tuple[float, ...]  # [rad/s]
    at: float  # [s] monotonic


@dataclass(frozen=True)
class Fault:
    """Why the link does not follow any more."""

    sentence: str
    at: float  # [s] monotonic
    explainable: bool  # whether the controller can be asked for the reason
    silent: bool = False  # whether nothing came any more, which the network can be the reason of, too


class EgmLink:
    """Keeps the newest state and sends the set-points; any thread may call."""

    def __init__(self, settings: LinkSettings, on_fault: Callable[[Fault], None]) -> None:
        self._settings = settings
        self._on_fault = on_fault
        self._lock = threading.Lock()
        steps = [WIRE_FACTOR * velocity * settings.period for velocity in settings.velocities]
        self._reference = Reference(steps, settings.period)
        self._socket: socket.socket | None = None
        self._thread: threading.Thread | None = None
        self._ending = threading.Event()
        self._forget()

    def _forget(self) -> None:
        self._state: ArmState | None = None
        self._robot: EgmRobot | None = None
        self._source: tuple[str, int] | None = None
        self._begun = False  # whether guidance began since it was expected
        self._following = False
        self._fault: Fault | None = None
        self._commanded_at = 0.0
        self._answers = 0
        self._strangers: str | None = None  # who else sends to this port
        self._garbled: str | None = None  # what was wrong with the last bad datagram

    @property
    def port(self) -> int:
        """The UDP port that the controller must send to."""
        return self._settings.port if self._socket is None else int(self._socket.getsockname()[1])

    @property
    def state(self) -> ArmState | None:
        """The newest state, however old."""
        return self._state

    @property
    def fault(self) -> Fault | None:
        """Why it stopped following, if it did."""
        return self._fault

    @property
    def following(self) -> bool:
        """Whether commands move the arm."""
        return self._following

    @property
    def ready(self) -> bool:
        """Whether the controller says that set-points would move the arm now."""
        robot, state = self._robot, self._state
        return (
            self._begun
            and robot is not None
            and state is not None
            and time.monotonic() - state.at < self._settings.state_limit
            and robot.guidance is Guidance.RUNNING
            and robot.motors is not Motors.OFF
            and robot.rapid is not Rapid.STOPPED
        )

    @property
    def oddity(self) -> str:
        """What came instead of messages, for the sentence about missing ones; may be empty."""
        if self._garbled is not None:
            return f'; a datagram from it could not be read because {self._garbled}'
        if self._strangers is not None:
            return f'; messages come from {self._strangers}: set egm_ip if that is the controller'
        return ''

    def open(self) -> None:
        """Listen on the interface that faces the controller."""
        here = _facing(self._settings.peer, self._settings.device)
        own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            own.bind((here, self._settings.port))
        except OSError as error:
            own.close()
            raise DriverError(
                f'UDP port {self._settings.port} for EGM messages of {self._settings.device} cannot be opened '
                f'({error.strerror or error}): end the other program that listens there, or set egm_port.'
            ) from None
        own.setblocking(False)
        self._forget()
        self._socket = own
        self._ending.clear()
        self._thread = threading.Thread(target=self._run, args=(own,), name='abb_egm', daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Answer no more; harmless when not open."""
        self._ending.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        self._following = False

    def expect(self) -> None:
        """A program is about to start: what was said of an earlier one does not count for ``ready``."""
        with self._lock:
            self._begun = False

    def follow(self) -> None:
        """Follow commands, beginning where the arm stands."""
        with self._lock:
            now = time.monotonic()
            if self._state is None:
                raise DriverError(f'{self._settings.device} sent no EGM message yet: start its program first.')
            self._reference.hold(self._reference.sent, now)  # where guidance began to hold it
            self._commanded_at = now
            self._fault = None
            self._following = True

    def hold(self) -> None:
        """Let the set-point stand where it is."""
        with self._lock:
            self._reference.hold(self._reference.sent, time.monotonic())

    def release(self) -> None:
        """Follow no more, and take no stop for a fault; the set-point stands."""
        with self._lock:
            self._reference.hold(self._reference.sent, time.monotonic())
            self._following = False

    def command(self, changes: Mapping[int, float], period: float) -> None:
        """Take new positions [rad] by the joint's index; ``period`` [s] is that of the caller's loop."""
        now, own = time.monotonic(), self._settings
        with self._lock:
            if not self._following or self._fault is not None:
                return
            passed = min(max(now - self._commanded_at, own.period, period), own.state_limit)
            self._commanded_at = now
            target = list(self._reference.target)
            for joint, value in changes.items():
                allowed = COMMAND_FACTOR * own.velocities[joint] * passed
                if not abs(value - target[joint]) <= allowed:
                    fault = self._stop(_jump(own, joint, target[joint], value, allowed), now, False)
                    break
                target[joint] = value
            else:
                if changes:
                    self._reference.aim(target, now)
                return
        self._on_fault(fault)

    def check_age(self) -> None:
        """Stop the arm if the newest state is too old to go on."""
        with self._lock:
            fault = self._check_age(time.monotonic())
        if fault is not None:
            self._on_fault(fault)

    def _run(self, own: socket.socket) -> None:
        waiting = select.poll()
        waiting.register(own, select.POLLIN)
        while not self._ending.is_set():
            newest = self._receive(own, waiting)
            with self._lock:
                now, fault = time.monotonic(), None
                if newest is not None:
                    fault = self._take(*newest, now)
                    self._answer(own, now)
                fault = fault or self._check_age(now)
            if fault is not None:
                self._on_fault(fault)

    def _receive(self, own: socket.socket, waiting: select.poll) -> tuple[EgmRobot, tuple[str, int]] | None:
        """Wait shortly for messages; return the newest that came, if any."""
        newest: tuple[EgmRobot, tuple[str, int]] | None = None
        waiting.poll(WAKE * 1000.0)
        for _ in range(BURST):
            try:
                datagram, source = own.recvfrom(MAX_DATAGRAM + 1)
            except OSError:  # nothing more; a network that is gone shows as silence
                break
            robot = self._read(datagram, source)
            if robot is not None and self._is_newer(robot, source, newest):
                newest = (robot, source)
        return newest

    def _read(self, datagram: bytes, source: tuple[str, int]) -> EgmRobot | None:
        if source[0] != self._settings.peer:
            self._strangers = source[0]
            return None
        try:
            robot = decode_robot(datagram)
        except EgmError as error:
            self._garbled = str(error)
            return None
        if len(robot.joints) != len(self._settings.joints):
            self._garbled = f'it has {len(robot.joints)} joints where the tag has {len(self._settings.joints)}'
            return None
        return robot

    def _is_newer(
        self, robot: EgmRobot, source: tuple[str, int], newest: tuple[EgmRobot, tuple[str, int]] | None
    ) -> bool:
        """Whether a message is later than all before: the next of its session, or of a session that began later."""
        last, where = newest if newest is not None else (self._robot, self._source)
        if last is None or self._state is None:
            return True
        if source == where and 0 < (robot.seqno - last.seqno) & _UINT32 < _HALF:
            return True
        if robot.time is not None and last.time is not None and 0 < (robot.time - last.time) & _UINT32 < _HALF:
            return source != where or robot.seqno < last.seqno
        return time.monotonic() - self._state.at > self._settings.state_limit

    def _take(self, robot: EgmRobot, source: tuple[str, int], now: float) -> Fault | None:
        """Keep the message; return the fault if it says that the controller follows no more."""
        last, before = self._robot, self._state
        same_session = last is not None and source == self._source and 0 < (robot.seqno - last.seqno) & _UINT32 < _HALF
        positions = tuple(map(math.radians, robot.joints))
        velocities = (0.0,) * len(positions)
        if same_session and last is not None and before is not None:
            passed = _passed(last, robot, now - before.at)
            velocities = tuple((new - old) / passed for new, old in zip(positions, before.positions, strict=True))
        self._robot, self._source, self._state = robot, source, ArmState(positions, velocities, now)
        if not same_session:
            self._reference.hold(positions, now)
        self._begun = self._begun or not same_session or robot.guidance is not Guidance.RUNNING
        if not self._following or self._fault is not None:
            if robot.guidance is not Guidance.RUNNING:
                self._reference.aim(positions, now)  # nothing holds the arm: be where it is when guidance begins
            return None
        reason = _stopped(robot) or (None if same_session else 'began a new EGM session')
        if reason is None:
            return None
        return self._stop(
            f'{self._settings.device} {reason}: look into its event log and activate the hardware again.', now, True
        )

    def _answer(self, own: socket.socket, now: float) -> None:
        """Send the set-point to where the last message came from."""
        if self._source is None:
            return
        positions, speeds = self._reference.next(now)
        answer = EgmSensor(
            self._answers & _UINT32,
            int(now * 1000.0) & _UINT32,
            tuple(map(math.degrees, positions)),
            tuple(map(math.degrees, speeds)),
        )
        self._answers += 1
        with contextlib.suppress(OSError):  # without a network the controller's own timeout stops the arm
            own.sendto(encode_sensor(answer), self._source)

    def _check_age(self, now: float) -> Fault | None:
        """Stop the arm because the newest state is too old; the fault if this very call did."""
        if not self._following or self._fault is not None or self._state is None:
            return None
        age = now - self._state.at
        if age <= self._settings.state_limit:
            return None
        return self._stop(
            f'{self._settings.device} sent no EGM message for {age:.3f} s (limit {self._settings.state_limit:g} s)'
            f'{self.oddity}: check the network and the event log of the controller, then activate the hardware again.',
            now,
            True,
            silent=True,
        )

    def _stop(self, sentence: str, now: float, explainable: bool, silent: bool = False) -> Fault:
        """Command the arm to stand, on the wire and at once; lock held."""
        self._fault = fault = Fault(sentence, now, explainable, silent)
        self._reference.hold(self._reference.sent, now)
        if self._socket is not None:
            self._answer(self._socket, now)
        return fault


def _facing(peer: str, device: str) -> str:
    """The address of this computer that a peer sees; asking for it sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((peer, 9))
        except OSError as error:
            raise DriverError(
                f'No network of this computer leads to {device} ({error.strerror or error}): '
                f'give it an address in the network of {peer}.'
            ) from None
        return str(probe.getsockname()[0])


def _passed(last: EgmRobot, robot: EgmRobot, received: float) -> float:
    """The time between two messages [s]: by the controller's clock, which does not jitter, if it makes sense."""
    if last.time is not None and robot.time is not None:
        milliseconds = (robot.time - last.time) & _UINT32
        if 0 < milliseconds < 1000:
            return milliseconds / 1000.0
    return max(received, 0.001)


def _stopped(robot: EgmRobot) -> str | None:
    if robot.motors is Motors.OFF:
        return 'switched its motors off'
    if robot.rapid is Rapid.STOPPED:
        return 'ended its RAPID program'
    if robot.guidance in (Guidance.ERROR, Guidance.STOPPED):
        return 'stopped EGM' + (' with an error' if robot.guidance is Guidance.ERROR else '')
    return None


def _jump(settings: LinkSettings, joint: int, here: float, there: float, allowed: float) -> str:
    return (
        f"The command for joint '{settings.joints[joint]}' jumps from {here:.4f} to {there:.4f} rad, more than the "
        f'{allowed:.4f} rad of one cycle, so {settings.device} was told to stop: begin the motion where the arm stands.'
    )


def resolve(name: str, device: str) -> str:
    """The IPv4 address of a host name, or DriverError."""
    try:
        infos: Sequence[tuple[int, int, int, str, tuple[object, ...]]] = socket.getaddrinfo(
            name, None, socket.AF_INET, socket.SOCK_DGRAM
        )
    except OSError as error:
        raise DriverError(
            f"The address '{name}' of {device} is not known ({error.strerror or error}): correct rws_ip."
        ) from None
    return str(infos[0][4][0])
