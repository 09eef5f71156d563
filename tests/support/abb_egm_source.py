"""The controller's side of EGM: reports at 250 Hz, follows set-points, and gives up without answers."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from dataclasses import dataclass

from lfd_hardware.drivers.abb.egm import (
    EgmError,
    EgmRobot,
    EgmSensor,
    Guidance,
    Motors,
    Rapid,
    decode_sensor,
    encode_robot,
)
from support.abb_controller import AbbController
from support.abb_network import BadNetwork

FAREWELL = 25  # messages that still go out after the end of a program
PREPARING = 5  # messages before EGMRunJoint runs
CONVERGED = 0.01  # [deg]


@dataclass(frozen=True)
class SetPoint:
    """A set-point as it arrived."""

    at: float  # [s] monotonic
    joints: tuple[float, ...]  # [deg]
    speeds: tuple[float, ...]  # [deg/s]
    session: int
    number: int  # as the computer counts its answers


class EgmSource:
    """A thread that is the motion side of the controller. ``target`` is the UDPUC device: where it sends to."""

    def __init__(self, controller: AbbController, target: tuple[str, int], seed: int) -> None:
        self.controller = controller
        self.target = target
        self.rate = 250.0  # [Hz]
        self.gain = 25.0  # [1/s] of the position loop
        self.fastest = 400.0  # [deg/s] of each joint
        self.jump = 5.0  # [deg] between two set-points: more is an error of the motion supervision
        self.answer_timeout = 0.1  # [s] CommTimeout of the program
        self.silent_stop = False  # whether the reports end together with the program
        self.outward = BadNetwork(seed)
        self.inward = BadNetwork(seed + 1)
        self.setpoints: list[SetPoint] = []
        self.reported: list[tuple[float, int]] = []  # time and seqno of every report that was made
        self.last_sent = 0.0  # [s] monotonic, when a report last went out
        self.bad: list[str] = []  # why answers could not be read
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name='egm_source', daemon=True)
        self._began = time.monotonic()
        self._session = 0
        self._socket: socket.socket | None = None

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._ending.set()
        self._thread.join()
        self._close_session()

    @property
    def address(self) -> tuple[str, int] | None:
        """Where the reports of this session come from."""
        own = self._socket
        return None if own is None else own.getsockname()

    def restart_session(self) -> None:
        """As if the program had been stopped and started by somebody else between two reports."""
        with self.controller.lock:
            self.controller.runs += 1

    def _run(self) -> None:
        due, last = time.monotonic(), time.monotonic()
        while not self._ending.is_set():
            now = time.monotonic()
            with self.controller.lock:
                self._cycle(now, now - last)
            last = now
            due = max(due + 1.0 / self.rate, time.monotonic() - 1.0 / self.rate)  # late cycles are left out
            time.sleep(max(due - time.monotonic(), 0.0))

    def _cycle(self, now: float, passed: float) -> None:
        controller = self.controller
        if controller.running and self._session != controller.runs:
            self._open_session(now)
        if self._socket is None:
            return
        if not controller.running:
            self._guidance = Guidance.ERROR if self._guidance is Guidance.ERROR else Guidance.STOPPED
            self._left -= 1
            if self._left <= 0 or self.silent_stop:
                self._close_session()
                return
        self._take_answers(now)
        self._guide(now)
        self._move(passed)
        self._report(now)

    def _open_session(self, now: float) -> None:
        self._close_session()
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((self.target[0] if self.target[0].startswith('127.') else '', 0))
        self._socket.setblocking(False)
        self._session = self.controller.runs
        self._seqno, self._left = 0, FAREWELL
        self._guidance = Guidance.STOPPED
        self._reference: EgmSensor | None = None
        self._answered_at = now

    def _close_session(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _take_answers(self, now: float) -> None:
        assert self._socket is not None
        with contextlib.suppress(BlockingIOError):
            while True:
                self.inward.put(self._socket.recv(4096), now)
        for datagram in self.inward.take(now):
            try:
                self._take(decode_sensor(datagram), now)
            except EgmError as error:
                self.bad.append(str(error))

    def _take(self, answer: EgmSensor, now: float) -> None:
        before = self._reference
        if len(answer.joints) != len(self.controller.joints):
            self.bad.append(f'{len(answer.joints)} joints')
            return
        if before is not None and not 0 < (answer.seqno - before.seqno) & 0xFFFFFFFF < 1 << 31:
            return  # came late
        self._reference, self._answered_at = answer, now
        self.setpoints.append(SetPoint(now, answer.joints, answer.speeds, self._session, answer.seqno))
        if self._guidance is not Guidance.RUNNING:
            return
        here = self.controller.joints if before is None else before.joints
        if max(abs(new - old) for new, old in zip(answer.joints, here, strict=True)) > self.jump:
            self._guidance = Guidance.ERROR
            self.controller.end_program('set-point jumped')

    def _guide(self, now: float) -> None:
        """Go from prepared to running, and from running to the error of missing answers."""
        if not self.controller.running:
            return
        if now - self._answered_at > self.answer_timeout:
            self._guidance = Guidance.STOPPED
            self.controller.end_program('no answer')
        elif self._guidance is Guidance.STOPPED and self._seqno >= PREPARING and self._reference is not None:
            self._guidance = Guidance.RUNNING

    def _move(self, passed: float) -> None:
        if self._guidance is not Guidance.RUNNING or self._reference is None or self.controller.ctrlstate != 'motoron':
            return
        speeds = self._reference.speeds or (0.0,) * len(self._reference.joints)
        for index, (goal, speed) in enumerate(zip(self._reference.joints, speeds, strict=True)):
            here = self.controller.joints[index]
            wanted = speed + self.gain * (goal - here)
            self.controller.joints[index] = here + passed * min(max(wanted, -self.fastest), self.fastest)

    def _report(self, now: float) -> None:
        assert self._socket is not None
        reference = self._reference
        joints = tuple(self.controller.joints)
        planned = joints if reference is None else reference.joints
        report = EgmRobot(
            self._seqno,
            int((now - self._began) * 1000.0),
            joints,
            planned,
            Motors.ON if self.controller.ctrlstate == 'motoron' else Motors.OFF,
            self._guidance,
            Rapid.RUNNING if self.controller.running else Rapid.STOPPED,
            max(abs(goal - here) for goal, here in zip(planned, joints, strict=True)) < CONVERGED,
        )
        self._seqno += 1
        self.reported.append((now, report.seqno))
        self.outward.put(encode_robot(report), now)
        for datagram in self.outward.take(now):
            with contextlib.suppress(OSError):
                self._socket.sendto(datagram, self.target)
                self.last_sent = now
