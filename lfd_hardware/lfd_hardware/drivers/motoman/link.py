"""The two connections to a Motoman controller: its state stream, and requests to its motion server."""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
import time
from dataclasses import dataclass

from lfd_hardware.drivers.driver import DriverError
from lfd_hardware.drivers.motoman.simple_message import (
    ByteOrder,
    Command,
    Frame,
    FrameError,
    FrameReader,
    JointFeedback,
    MessageType,
    MotionControl,
    MotionReply,
    RobotStatus,
    TrajectoryPoint,
    encode,
)

CHUNK = 4096  # [bytes]
POLL = 0.1  # [s] how often a waiting receiver looks whether it shall end


@dataclass(frozen=True)
class Address:
    """Where a server of the controller is; ``name`` is for messages."""

    name: str
    host: str
    port: int

    def __str__(self) -> str:
        return f'{self.name} at {self.host}:{self.port}'


def connect(address: Address, timeout: float) -> socket.socket:
    """Open a TCP connection within ``timeout`` [s], or raise DriverError."""
    try:
        connection = socket.create_connection((address.host, address.port), timeout)
    except socket.gaierror:
        raise DriverError(f'The {address} cannot be found: correct robot_ip.') from None
    except ConnectionRefusedError:
        raise DriverError(
            f'The {address} refuses connections: start MotoROS on the controller, and check robot_ip and the port.'
        ) from None
    except TimeoutError:
        raise DriverError(
            f'The {address} did not answer within {timeout:g} s: switch the controller on, check cable and robot_ip.'
        ) from None
    except OSError as error:
        raise DriverError(f'The {address} cannot be reached ({error}): check the cable and robot_ip.') from None
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


@dataclass(frozen=True)
class ControllerState:
    """What the controller said last; positions are those of one group."""

    feedback: JointFeedback
    status: RobotStatus
    received: float  # [s] monotonic: when the older of the two came
    speeds: tuple[float, ...]  # [rad/s] or [m/s] given by the controller, or else derived from the positions


class StateLink:
    """Receives the state stream in a thread of its own and keeps the newest state."""

    def __init__(self, address: Address, order: ByteOrder, group: int, timeout: float) -> None:
        self._address = address
        self._order = order
        self._group = group
        self._feedback: tuple[float, JointFeedback] | None = None
        self._speeds: tuple[float, ...] = ()
        self._status: tuple[float, RobotStatus] | None = None
        self._news = threading.Condition()
        self._failure = ''
        self._ending = False
        self._socket = connect(address, timeout)
        self._socket.settimeout(POLL)
        self._thread = threading.Thread(target=self._run, name='motoman_state', daemon=True)
        self._thread.start()

    @property
    def failure(self) -> str:
        """Why no more states come, as a sentence; empty while all is well."""
        return self._failure

    @property
    def state(self) -> ControllerState | None:
        """The newest state; None until both parts of it have come."""
        with self._news:
            if self._feedback is None or self._status is None:
                return None
            received = min(self._feedback[0], self._status[0])
            return ControllerState(self._feedback[1], self._status[1], received, self._speeds)

    def wait(self, newer_than: float, timeout: float) -> ControllerState:
        """A state that came after a time [s, monotonic], or DriverError after ``timeout`` [s]."""
        deadline = time.monotonic() + timeout
        with self._news:
            while not self._failure:
                state = self.state
                if state is not None and state.received > newer_than:
                    return state
                remaining = deadline - time.monotonic()
                if remaining <= 0.0:
                    break
                self._news.wait(remaining)
        raise DriverError(
            self._failure
            or f'The {self._address} sent no state of group {self._group} for {timeout:g} s: '
            "check the parameter 'group' and byte_order, and that MotoROS runs."
        )

    def close(self) -> None:
        """End the thread and the connection."""
        self._ending = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        reader = FrameReader(self._order)
        while not self._ending:
            try:
                data = self._socket.recv(CHUNK)
                if not data:
                    raise ConnectionResetError
                for frame in reader.feed(data):
                    self._take(frame)
            except TimeoutError:
                continue
            except ConnectionError:
                self._fail('closed the connection: restart MotoROS, or end one of its other clients (it takes four)')
                return
            except (FrameError, OSError) as error:
                self._fail(f'was lost: {error}')
                return

    def _take(self, frame: Frame) -> None:
        now = time.monotonic()
        with self._news:
            if frame.type == MessageType.STATUS:
                self._status = now, RobotStatus.of(frame, self._order)
            elif frame.type == MessageType.FEEDBACK:
                feedback = JointFeedback.of(frame, self._order)
                if feedback.group == self._group:
                    self._speeds = _speeds(feedback, now, self._feedback, self._speeds)
                    self._feedback = now, feedback
            self._news.notify_all()

    def _fail(self, what: str) -> None:
        with self._news:
            if not self._ending:
                self._failure = f'The {self._address} {what}.'
            self._news.notify_all()


def _speeds(
    feedback: JointFeedback, now: float, before: tuple[float, JointFeedback] | None, speeds: tuple[float, ...]
) -> tuple[float, ...]:
    """The velocities of a feedback, derived from the one before if the controller gives none."""
    if feedback.has_velocities:
        return feedback.velocities
    if before is None:
        return (0.0,) * len(feedback.positions)
    elapsed = now - before[0]
    if elapsed < 1e-3:  # two frames in one piece of the stream: their times say nothing
        return speeds
    return tuple((a - b) / elapsed for a, b in zip(feedback.positions, before[1].positions, strict=True))


class MotionLink:
    """Requests to the motion server, one at a time; a stop may be sent in between from any thread."""

    def __init__(self, address: Address, order: ByteOrder, group: int, timeout: float) -> None:
        self.address = address
        self._order = order
        self._group = group
        self._numbers = itertools.count(1)
        self._reader = FrameReader(order)
        self._sending = threading.Lock()
        self._asking = threading.Lock()
        self._socket = connect(address, timeout)
        self._socket.settimeout(timeout)

    def point(self, point: TrajectoryPoint, timeout: float) -> MotionReply:
        """Send a point and return the answer, or raise DriverError after ``timeout`` [s]."""
        return self._ask(point.frame(self._order), MessageType.TRAJECTORY_POINT, point.sequence, timeout)

    def control(self, command: Command, timeout: float) -> MotionReply:
        """Send a control request and return the answer, or raise DriverError after ``timeout`` [s]."""
        number = next(self._numbers)
        frame = MotionControl(self._group, number, command).frame(self._order)
        return self._ask(frame, command, number, timeout)

    def stop(self) -> None:
        """Send STOP_MOTION without waiting for anything; a connection that is gone stops the arm by itself."""
        frame = MotionControl(self._group, next(self._numbers), Command.STOP_MOTION).frame(self._order)
        with contextlib.suppress(OSError, DriverError):
            self._send(frame)

    def close(self) -> None:
        """End the connection; the controller stops the arm then."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _send(self, frame: Frame) -> None:
        data = encode(frame, self._order)
        with self._sending:
            # A request is smaller than any send buffer; one that does not fit shows that nobody reads at the other end.
            if self._socket.send(data, socket.MSG_DONTWAIT) != len(data):
                raise DriverError(f'The {self.address} takes no more data: restart MotoROS on the controller.')

    def _ask(self, frame: Frame, command: int, sequence: int, timeout: float) -> MotionReply:
        deadline = time.monotonic() + timeout
        with self._asking:
            try:
                self._send(frame)
                while True:
                    for reply in self._receive(deadline - time.monotonic()):
                        if (reply.command, reply.sequence) == (command, sequence):
                            return reply
            except TimeoutError:
                raise DriverError(
                    f'The {self.address} did not answer within {timeout:g} s: restart MotoROS on the controller.'
                ) from None
            except ConnectionError:
                raise DriverError(
                    f'The {self.address} closed the connection: another client moves this arm or took it over, or '
                    'MotoROS ended; end the other client.'
                ) from None
            except (FrameError, OSError) as error:
                raise DriverError(f'The {self.address} was lost: {error}.') from None

    def _receive(self, timeout: float) -> list[MotionReply]:
        """Replies that came; those to a stop and to requests that were given up are among them."""
        if timeout <= 0.0:
            raise TimeoutError
        self._socket.settimeout(timeout)
        data = self._socket.recv(CHUNK)
        if not data:
            raise ConnectionResetError
        return [MotionReply.of(frame, self._order) for frame in self._reader.feed(data)]
