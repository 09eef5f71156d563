"""A Yaskawa controller with MotoROS, seen from its two TCP ports, as the ROS-Industrial simple messages describe it.

One thread does what the controller's tasks do: it takes one point at a time, cuts the cubic to it into steps of its
interpolation period, keeps up to 200 steps, plays one per period, and sends states. Its arm follows the played steps
with first-order tracking. A step that is faster than the axis allows raises an alarm, as the real one does.

    with MotomanSimulator([0.0] * 6) as controller:
        ... controller.motion_port, controller.state_port ...

As a program: ``python -m support.motoman_simulator --port 0`` prints ``motion PORT state PORT`` and runs until killed.
"""

from __future__ import annotations

import argparse
import contextlib
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
    Result,
    RobotStatus,
    TrajectoryPoint,
    Valid,
    encode,
)

STEP = 0.004  # [s] period of interpolation
STATE_PERIOD = 0.025  # [s]
QUEUE_SIZE = 200  # steps
STATE_CLIENTS = 4
START_TOLERANCE = 4e-4  # [rad] about 30 pulses
LONGEST_TIME = 14400.0  # [s]
EXCESSIVE_SEGMENT = 4414  # alarm: a step is too fast


@dataclass(frozen=True)
class TakenPoint:
    """A point that the controller accepted."""

    received: float  # [s] monotonic
    sequence: int
    time: int  # [ms]
    positions: tuple[float, ...]  # [rad]
    velocities: tuple[float, ...]  # [rad/s]


@dataclass(frozen=True)
class _Step:
    """Where the servo is told to be next; not whole when the way to a point ends within a period."""

    positions: np.ndarray  # [rad]
    is_whole: bool


@dataclass
class _Client:
    socket: socket.socket
    reader: FrameReader


class MotomanSimulator:
    """A controller and its arm; the public attributes are switches and records for tests."""

    def __init__(
        self,
        positions: Sequence[float],
        *,
        fastest: float = 8.0,
        tracking: float = 0.02,
        order: ByteOrder = ByteOrder.LITTLE,
        group: int = 0,
        gives_velocities: bool = False,
        motion_port: int = 0,
        state_port: int = 0,
    ) -> None:
        """``fastest`` [rad/s] is the speed limit of every axis, ``tracking`` [s] the time constant of the arm."""
        self.commanded = np.array(positions, dtype=float)  # [rad] what the servo is told
        self.actual = self.commanded.copy()  # [rad]
        self._speed = np.zeros(len(positions))  # [rad/s]
        self._fastest, self._tracking, self._order, self._group = fastest, tracking, order, group
        self._gives_velocities = gives_velocities
        # Switches of the pendant and the cell.
        self.e_stopped = False
        self.servo = False
        self.safety_circuit_open = False  # the servo power cannot be switched on
        self.play = True
        self.remote = True
        self.held = False
        self.alarm = 0
        self.alarm_is_permanent = False
        self.job_ready = False
        # Switches of the network and of what is wrong with the program.
        self.sends_states = True
        self.answers = True
        self.busy_answers = 0  # this many points are answered with BUSY
        self.refusal: tuple[int, int] | None = None  # every point is answered with this
        self.state_delay = 0.0  # [s]
        self.doubles_states = False
        self.splits_states = False
        self.garbage = b''  # sent once on the state stream
        self.answer_garbage = b''  # sent once instead of the next answer
        # Records.
        self.points: list[TakenPoint] = []
        self.commands: list[tuple[float, int]] = []  # [s] monotonic, Command
        self.played: list[tuple[float, np.ndarray]] = []  # [s] monotonic, [rad] what the servo was told per step
        self.last_state = 0.0  # [s] monotonic: when a state was sent
        self.starved = 0  # how often the queue ran dry while the last point had a velocity
        self.fullest = 0  # most steps in the queue
        self.lock = threading.RLock()
        self._queue: deque[_Step] = deque()
        self._trajectory: TakenPoint | None = None  # where the interpolation is
        self._pending: TakenPoint | None = None
        self._rest: deque[_Step] = deque()  # steps of the pending point that are not in the queue yet
        self._rolling = False
        self._leftover = 0.0  # [s] of the last step that the way to the last point did not fill
        self._late: deque[tuple[float, bytes]] = deque()
        self._motion_server = _listen(motion_port)
        self._state_server = _listen(state_port)
        self.motion_port = self._motion_server.getsockname()[1]
        self.state_port = self._state_server.getsockname()[1]
        self._motion_client: _Client | None = None
        self._state_clients: list[socket.socket] = []
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name='motoman_simulator', daemon=True)

    def __enter__(self) -> MotomanSimulator:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()
        self.drop_clients()
        self._motion_server.close()
        self._state_server.close()

    # For tests --------------------------------------------------------------------------------------------------------

    def drop_clients(self) -> None:
        """Close all connections, as MotoROS does when it ends."""
        with self.lock:
            self._drop_motion_client()
            for client in self._state_clients:
                client.close()
            self._state_clients.clear()

    def drop_motion_client(self) -> None:
        with self.lock:
            self._drop_motion_client()

    @property
    def is_ready(self) -> bool:
        """Whether it takes points."""
        return self.job_ready and self.remote and not self._hindered()

    @property
    def queued(self) -> int:
        """Steps that wait to be played."""
        return len(self._queue)

    def told(self, command: Command) -> list[float]:
        """When a command came [s, monotonic]."""
        return [when for when, each in list(self.commands) if each == command]

    # The thread -------------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        next_step = next_state = time.monotonic()
        while not self._ending.is_set():
            now = time.monotonic()
            with self.lock:
                while next_step <= now:
                    self._step(now)
                    next_step += STEP
                if next_state <= now:
                    self._send_states(now)
                    next_state = max(next_state + STATE_PERIOD, now)
                self._send_late(now)
                sockets = [self._motion_server, self._state_server]
                sockets += [self._motion_client.socket] if self._motion_client else []
            try:
                readable, _, _ = select.select(sockets, [], [], max(0.0, min(next_step, next_state) - time.monotonic()))
            except (OSError, ValueError):
                continue  # a test dropped a client meanwhile
            with self.lock:
                self._serve(readable)

    def _serve(self, readable: list[socket.socket]) -> None:
        if self._state_server in readable:
            client, _ = self._state_server.accept()
            if len(self._state_clients) < STATE_CLIENTS:
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                client.setblocking(False)
                self._state_clients.append(client)
            else:
                client.close()
        if self._motion_server in readable:
            client, _ = self._motion_server.accept()
            if self._motion_client is not None and self._queue:
                client.close()  # somebody else is moving the arm
            else:
                self._drop_motion_client()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._motion_client = _Client(client, FrameReader(self._order))
        elif self._motion_client is not None and self._motion_client.socket in readable:
            self._receive(self._motion_client)

    def _receive(self, client: _Client) -> None:
        try:
            data = client.socket.recv(4096)
            if not data:
                raise ConnectionResetError
            for frame in client.reader.feed(data):
                self._answer(client, self._reply(frame))
        except (OSError, FrameError):
            self._drop_motion_client()

    def _drop_motion_client(self) -> None:
        """The controller's motion tasks end with their client, so what is queued is never played."""
        if self._motion_client is not None:
            self._motion_client.socket.close()
            self._motion_client = None
        self._stop()

    def _answer(self, client: _Client, reply: MotionReply) -> None:
        if self.answer_garbage:
            client.socket.sendall(self.answer_garbage)
            self.answer_garbage = b''
        elif self.answers:
            client.socket.sendall(encode(reply.frame(self._order), self._order))

    # Requests ---------------------------------------------------------------------------------------------------------

    def _reply(self, frame: Frame) -> MotionReply:
        if frame.type == MessageType.TRAJECTORY_POINT:
            point = TrajectoryPoint.of(frame, self._order)
            result, subcode = self._take(point)
            return MotionReply(point.group, point.sequence, frame.type, result, subcode)
        if frame.type == MessageType.MOTION_CONTROL:
            request = MotionControl.of(frame, self._order)
            self.commands.append((time.monotonic(), request.command))
            result, subcode = self._control(request.command)
            return MotionReply(request.group, request.sequence, request.command, result, subcode)
        return MotionReply(-1, -1, frame.type, Result.INVALID, 3003)

    def _control(self, command: int) -> tuple[int, int]:
        if command == Command.CHECK_MOTION_READY:
            return (Result.SUCCESS, 0) if self.is_ready else (Result.FAILURE, self._why_not_ready())
        if command == Command.CHECK_QUEUE_COUNT:
            return Result.SUCCESS, len(self._queue)
        if command == Command.STOP_MOTION:
            self._stop()
            return Result.SUCCESS, 0
        if command in (Command.START_SERVOS, Command.STOP_SERVOS):
            wanted = command == Command.START_SERVOS
            self.servo = wanted and not (self.e_stopped or self.safety_circuit_open or self.alarm or not self.remote)
            return (Result.SUCCESS if self.servo == wanted else Result.FAILURE), 0
        if command == Command.RESET_ALARM:
            self.alarm = self.alarm if self.alarm_is_permanent else 0
            return (Result.FAILURE if self.alarm else Result.SUCCESS), 0
        if command == Command.START_TRAJECTORY_MODE:
            return self._start_trajectory_mode()
        if command == Command.STOP_TRAJECTORY_MODE:
            if self._queue or self._pending:
                return Result.FAILURE, 0
            self.job_ready = False
            return Result.SUCCESS, 0
        return Result.INVALID, 3006

    def _start_trajectory_mode(self) -> tuple[int, int]:
        if not (self.e_stopped or self.held or not self.remote or not self.play):
            self.alarm = self.alarm if self.alarm_is_permanent else 0
            self.servo = self.servo or not (self.safety_circuit_open or self.alarm)
            self.job_ready = self.servo and not self.alarm
        return (Result.SUCCESS, 0) if self.is_ready else (Result.NOT_READY, self._why_not_ready())

    def _take(self, point: TrajectoryPoint) -> tuple[int, int]:
        wanted = Valid.TIME | Valid.POSITION | Valid.VELOCITY
        if self.refusal is not None:
            return self.refusal
        if not self.is_ready:
            return Result.NOT_READY, self._why_not_ready()
        if point.group != self._group:
            return Result.INVALID, 3004
        if point.valid & wanted != wanted:
            return Result.INVALID, 3015
        if not point.time < LONGEST_TIME:
            return Result.INVALID, 3016
        axes = len(self.actual)
        taken = TakenPoint(
            time.monotonic(),
            point.sequence,
            int(np.float32(point.time) * np.float32(1000.0)),
            point.positions[:axes],
            point.velocities[:axes],
        )
        if not np.all(np.abs(taken.velocities) <= self._fastest):
            return Result.INVALID, 3013
        if point.sequence < 0:
            return Result.INVALID, 3005
        return self._start(taken) if point.sequence == 0 else self._continue(taken)

    def _start(self, point: TakenPoint) -> tuple[int, int]:
        if np.max(np.abs(np.array(point.positions) - self.commanded)) > START_TOLERANCE:
            return Result.INVALID, 3011
        self._trajectory, self._leftover = point, 0.0
        self.points.append(point)
        return Result.SUCCESS, 0

    def _continue(self, point: TakenPoint) -> tuple[int, int]:
        if self._pending is not None or self.busy_answers > 0:
            self.busy_answers = max(0, self.busy_answers - 1)
            return Result.BUSY, 0
        if self._trajectory is None:
            return Result.INVALID, 3011
        self.points.append(point)
        self._pending = point
        return Result.SUCCESS, 0

    # Motion -----------------------------------------------------------------------------------------------------------

    def _step(self, now: float) -> None:
        """One period: interpolate, play, track."""
        if not self.is_ready or (self._motion_client is None and self._queue):
            self._stop()
        if self._pending is not None:
            self._interpolate(self._pending)
        if self._queue:
            step = self._queue.popleft()
            while not step.is_whole and self._queue:  # the rest of the period belongs to the way that follows
                step = self._queue.popleft()
            self._play(now, step.positions)
        elif self._rolling:
            self.starved += 1
            self._rolling = False
        before = self.actual.copy()
        self.actual += (self.commanded - self.actual) * (1.0 - np.exp(-STEP / self._tracking))
        self._speed = (self.actual - before) / STEP

    def _interpolate(self, point: TakenPoint) -> None:
        if not self._rest and self._trajectory is not None:
            self._rest.extend(self._cubic(self._trajectory, point))
            self._trajectory = point
        while self._rest and len(self._queue) < QUEUE_SIZE:
            self._queue.append(self._rest.popleft())
        self.fullest = max(self.fullest, len(self._queue))
        if not self._rest:
            self._pending = None
            self._rolling = bool(np.any(np.abs(point.velocities) > 1e-6))

    def _cubic(self, start: TakenPoint, end: TakenPoint) -> list[_Step]:
        span = (end.time - start.time) / 1000.0  # [s]
        if span <= 0.0:
            return []
        p0, p1 = np.array(start.positions), np.array(end.positions)
        v0, v1 = np.array(start.velocities) * span, np.array(end.velocities) * span
        times = np.arange(self._leftover or STEP, span - 1e-6, STEP)
        due = (times[-1] + STEP) if len(times) else (self._leftover or STEP)  # [s] when the next period ends
        self._leftover = due - span if due > span + 1e-6 else 0.0
        u = np.append(times, span)[:, None] / span
        ways = (2 * u**3 - 3 * u**2 + 1) * p0 + (u**3 - 2 * u**2 + u) * v0 + (3 * u**2 - 2 * u**3) * p1
        ways += (u**3 - u**2) * v1
        whole = [True] * len(times) + [self._leftover == 0.0]
        return [_Step(way, each) for way, each in zip(ways, whole, strict=True)]

    def _play(self, now: float, positions: np.ndarray) -> None:
        if np.max(np.abs(positions - self.commanded)) > 1.3 * self._fastest * STEP:
            self.alarm = EXCESSIVE_SEGMENT
            self._stop()
            return
        self.commanded = positions
        self.played.append((now, positions))

    def _stop(self) -> None:
        self._queue.clear()
        self._rest.clear()
        self._pending = self._trajectory = None
        self._rolling = False

    def _hindered(self) -> bool:
        return bool(self.e_stopped or not self.servo or not self.play or self.held or self.alarm)

    def _why_not_ready(self) -> int:
        reasons = (
            (bool(self.alarm), 5001),
            (self.e_stopped, 5003),
            (not self.play, 5004),
            (not self.remote, 5005),
            (not self.servo, 5006),
            (self.held, 5007),
            (not self.job_ready, 5008),
        )
        return next((code for holds, code in reasons if holds), 5000)

    # States -----------------------------------------------------------------------------------------------------------

    def _send_states(self, now: float) -> None:
        if self.e_stopped or self.safety_circuit_open:
            self.servo = False
        if self.garbage:
            self._send(self.garbage)
            self.garbage = b''
        if not self.sends_states:
            return
        moving = bool(self._queue) or np.max(np.abs(self.commanded - self.actual)) > START_TOLERANCE
        status = RobotStatus(
            drives_powered=int(self.servo),
            e_stopped=int(self.e_stopped),
            error_code=self.alarm,
            in_error=int(self.alarm != 0),
            in_motion=int(moving),
            mode=2 if self.play else 1,
            motion_possible=int(self.is_ready),
        )
        valid = Valid.POSITION | (Valid.VELOCITY if self._gives_velocities else 0)
        speeds = tuple(self._speed) if self._gives_velocities else ()
        feedback = JointFeedback(self._group, valid, 0.0, tuple(self.actual), speeds)
        data = b''.join(encode(each.frame(self._order), self._order) for each in (feedback, status))
        self._late.append((now + self.state_delay, data * (2 if self.doubles_states else 1)))

    def _send_late(self, now: float) -> None:
        while self._late and self._late[0][0] <= now:
            self.last_state = now
            self._send(self._late.popleft()[1])

    def _send(self, data: bytes) -> None:
        pieces = [data[i : i + 7] for i in range(0, len(data), 7)] if self.splits_states else [data]
        for client in list(self._state_clients):
            try:
                for piece in pieces:
                    client.sendall(piece)
            except OSError:
                client.close()
                self._state_clients.remove(client)


def _listen(port: int) -> socket.socket:
    server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(('127.0.0.1', port))
    server.listen(8)
    return server


def main() -> None:
    """Run until killed."""
    parser = argparse.ArgumentParser(description='A Yaskawa controller with MotoROS, without an arm.')
    parser.add_argument('--port', type=int, default=0, help='of the motion server; the state server has the next one')
    parser.add_argument('--positions', type=float, nargs='+', default=[0.0] * 6, help='[rad] where the arm starts')
    parser.add_argument('--fastest', type=float, default=8.0, help='[rad/s] speed limit of every axis')
    parser.add_argument('--byte-order', choices=[each.name.lower() for each in ByteOrder], default='little')
    arguments = parser.parse_args()
    with MotomanSimulator(
        arguments.positions,
        fastest=arguments.fastest,
        order=ByteOrder[arguments.byte_order.upper()],
        motion_port=arguments.port,
        state_port=arguments.port + 1 if arguments.port else 0,
    ) as controller:
        print(f'motion {controller.motion_port} state {controller.state_port}', flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == '__main__':
    main()
