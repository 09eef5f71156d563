"""What an ABB controller knows and allows, without any network: motors, mode, safety, program, mastership, axes."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

MODE_REJECT, RESOURCE_HELD, REJECT, EXEC_STATE, NO_PP, SYSFAIL = (
    -1073445860,
    -1073445862,
    -1073445881,
    -1073442809,
    -1073442783,
    -1073445851,
)


class Refused(Exception):
    """What RWS answers with an HTTP error: RobotWare's code and message."""

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


@dataclass(frozen=True)
class Event:
    """A line of the event log."""

    at: float  # [s] monotonic
    what: str


class AbbController:
    """All its methods may be called by any thread; the lock is public because EGM moves the axes under it."""

    def __init__(self, joints: tuple[float, ...]) -> None:
        self.lock = threading.RLock()
        self.joints = list(joints)  # [deg]
        self.ctrlstate = 'motoroff'
        self.opmode = 'AUTO'
        self.running = False
        self.runs = 0  # how often a program was started
        self.pointer = False
        self.mastered = False  # whether another client has mastership
        self.program = True  # whether the EGM program is loaded; else main returns at once
        self.stubborn = False  # whether the motors stay off without a word
        self.log: list[Event] = []

    def note(self, what: str) -> None:
        self.log.append(Event(time.monotonic(), what))

    def logged(self, what: str) -> list[Event]:
        return [event for event in self.log if event.what == what]

    # What a client may ask for over RWS.

    def motors_on(self) -> None:
        with self.lock:
            if self.opmode != 'AUTO':
                raise Refused(403, MODE_REJECT, 'operation mode')
            if self.ctrlstate == 'sysfail':
                raise Refused(403, SYSFAIL, 'system failure')
            if self.ctrlstate not in ('motoroff', 'motoron'):
                raise Refused(403, REJECT, f'state {self.ctrlstate}')
            if not self.stubborn:
                self.ctrlstate = 'motoron'
            self.note('motors on')

    def reset_program(self) -> None:
        with self.lock:
            self._check_master()
            if self.running:
                raise Refused(403, EXEC_STATE, 'program is running')
            self.pointer = True
            self.note('program pointer to main')

    def start_program(self) -> None:
        with self.lock:
            self._check_master()
            if self.opmode != 'AUTO':
                raise Refused(403, MODE_REJECT, 'operation mode')
            if self.ctrlstate != 'motoron':
                raise Refused(400, EXEC_STATE, 'motors are off')
            if not self.pointer:
                raise Refused(400, NO_PP, 'no program pointer')
            self.note('start')
            if self.program:
                self.running = True
                self.runs += 1

    def stop_program(self) -> None:
        with self.lock:
            self.running = False
            self.note('stop')

    def _check_master(self) -> None:
        if self.mastered:
            raise Refused(403, RESOURCE_HELD, 'resource is held by someone else')

    # What a person in front of it, or its supervision, does.

    def emergency_stop(self) -> None:
        self._fall('emergencystop', 'emergency stop')

    def open_guard(self) -> None:
        self._fall('guardstop', 'guard stop')

    def fail(self) -> None:
        self._fall('sysfail', 'system failure')

    def motors_off(self) -> None:
        self._fall('motoroff', 'motors off')

    def recover(self) -> None:
        """Released and acknowledged."""
        with self.lock:
            self.ctrlstate = 'motoroff'

    def end_program(self, why: str = 'program ended') -> None:
        with self.lock:
            self.running = False
            self.pointer = False
            self.note(why)

    def turn_key(self, opmode: str) -> None:
        with self.lock:
            self.opmode = opmode
            self._fall('motoroff', f'mode {opmode}')

    def _fall(self, ctrlstate: str, what: str) -> None:
        with self.lock:
            self.ctrlstate = ctrlstate
            self.running = False
            self.note(what)
