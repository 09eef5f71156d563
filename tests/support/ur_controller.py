"""What is inside a simulated UR controller: the arm, its safety system, its registers and the program that runs.

Joint positions are in rad, velocities in rad/s, times in s. No sockets here: see ur_simulator.
"""

from __future__ import annotations

import math
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from support.ur_script import Script, ScriptError

HOME = (0.0, -1.8, 1.9, -1.6708, -1.5708, 0.0)
FASTEST = 3.2  # [rad/s] a set-point that moves faster is a protective stop
EMERGENCY = 40.0  # [rad/s^2] how brakes slow the arm down
POWERING = 0.05  # [s] from one robot mode to the next
REGISTERS = 48

OFF, ON, IDLE, RUNNING = 3, 4, 5, 7
NORMAL, PROTECTIVE, SAFEGUARD, EMERGENCY_STOP = 1, 3, 5, 7
STOPPING, STOPPED, PLAYING, PAUSING, PAUSED = 0, 1, 2, 3, 4


@dataclass(frozen=True)
class SetPoint:
    """What servoj was told."""

    time: float  # [s] monotonic
    positions: tuple[float, ...]
    lookahead: float
    gain: float


@dataclass
class Arm:
    """Six joints that follow a set-point, first order, or slow down."""

    positions: list[float]
    velocities: list[float] = field(default_factory=lambda: [0.0] * 6)
    currents: list[float] = field(default_factory=lambda: [0.1, 1.9, 1.2, 0.4, 0.3, 0.0])  # [A] against gravity
    target: tuple[float, ...] | None = None  # None: slow down and stand still
    lookahead: float = 0.1  # [s]
    deceleration: float = 4.0  # [rad/s^2]

    def move(self, period: float, speed: float) -> None:
        """Go on for one period, at this part of full speed."""
        for joint in range(6):
            if self.target is None:
                slower = max(abs(self.velocities[joint]) - self.deceleration * period, 0.0)
                self.velocities[joint] = math.copysign(slower, self.velocities[joint])
            else:
                wanted = (self.target[joint] - self.positions[joint]) / max(self.lookahead, period) * speed
                self.velocities[joint] = max(-FASTEST, min(FASTEST, wanted))
            self.positions[joint] += self.velocities[joint] * period

    def slow_down(self, deceleration: float) -> None:
        self.target, self.deceleration = None, deceleration

    @property
    def stands(self) -> bool:
        return not any(self.velocities)


class Controller:
    """One controller with its arm; ``cycle`` is called ``rate`` times a second."""

    def __init__(self, version: tuple[int, int, int, int], positions: Sequence[float] = HOME) -> None:
        self.version = version
        self.rate = 500 if version[0] >= 5 else 125  # [Hz]
        self.period = 1.0 / self.rate
        self.arm = Arm(list(positions))
        self.clock = 100.0  # [s] since it was switched on
        self.robot_mode, self.safety_mode, self.runtime_state = RUNNING, NORMAL, STOPPED
        self.slider = 1.0
        self.input_ints, self.output_ints = [0] * REGISTERS, [0] * REGISTERS
        self.input_doubles, self.output_doubles = [0.0] * REGISTERS, [0.0] * REGISTERS
        self.set_points: list[SetPoint] = []
        self.programs: list[str] = []  # all that were started
        self.errors: list[str] = []
        self._script: Script | None = None
        self._powering: list[int] = []  # robot modes to come
        self._next_mode_at = 0.0

    def cycle(self) -> None:
        """One turn: the program, then the arm."""
        self.clock += self.period
        self._power()
        if self.runtime_state == STOPPING:
            self.runtime_state = STOPPED
        if self.runtime_state == PAUSING:
            self.runtime_state = PAUSED
        if self._script is not None and self.runtime_state == PLAYING:
            try:
                if not self._script.cycle():
                    self.stop()
            except ScriptError as error:
                self.errors.append(str(error))
                self.stop()
        self.arm.move(self.period, self.slider)

    # What a person or a client does to it

    def start(self, text: str) -> None:
        """Run a program in place of the one that runs."""
        if self.robot_mode != RUNNING or self.safety_mode != NORMAL:
            return
        self.stop()
        try:
            self._script = Script(text, self._functions(), {'sync', 'servoj', 'stopj', 'stopl', 'movej', 'sleep'})
        except ScriptError as error:
            self.errors.append(str(error))
            return
        self.programs.append(text)
        self.runtime_state = PLAYING

    def stop(self) -> None:
        """End the program, if any."""
        if self._script is not None:
            self._script.end()
            self._script = None
            self.runtime_state = STOPPING
            if self.arm.target is not None:
                self.arm.slow_down(8.0)

    def pause(self) -> None:
        if self.runtime_state == PLAYING:
            self.runtime_state = PAUSING
            self.arm.slow_down(8.0)

    def play(self) -> None:
        if self.runtime_state == PAUSED and self.safety_mode == NORMAL:
            self.runtime_state = PLAYING

    def emergency_stop(self) -> None:
        self.stop()
        self.arm.slow_down(EMERGENCY)
        self.safety_mode, self.robot_mode, self._powering = EMERGENCY_STOP, OFF, []

    def protective_stop(self) -> None:
        self.pause()
        self.arm.slow_down(EMERGENCY)
        self.safety_mode = PROTECTIVE

    def safeguard_stop(self) -> None:
        self.pause()
        self.arm.slow_down(EMERGENCY)
        self.safety_mode = SAFEGUARD

    def release(self) -> None:
        """Whatever stopped it is over."""
        self.safety_mode = NORMAL

    def power_on(self) -> None:
        self._powering = [ON, IDLE]

    def brake_release(self) -> None:
        self._powering = [mode for mode in (ON, IDLE, RUNNING) if mode > self.robot_mode]

    def _power(self) -> None:
        if self._powering and self.clock >= self._next_mode_at and self.safety_mode == NORMAL:
            self.robot_mode = self._powering.pop(0)
            self._next_mode_at = self.clock + POWERING

    # What programs call

    def _functions(self) -> dict[str, Callable[..., Any]]:
        return {
            'get_actual_joint_positions': lambda: list(self.arm.positions),
            'get_target_joint_positions': lambda: list(self.arm.positions),
            'get_actual_joint_speeds': lambda: list(self.arm.velocities),
            'get_steptime': lambda: self.period,
            'read_input_integer_register': lambda at: self.input_ints[at],
            'read_input_float_register': lambda at: self.input_doubles[at],
            'write_output_integer_register': self._write_int,
            'write_output_float_register': self._write_double,
            **dict.fromkeys(('textmsg', 'force_mode_set_gain_scaling', 'force_mode_set_damping'), _nothing),
            'sync': self._sync,
            'servoj': self._servoj,
            'stopj': self._stopj,
            'stopl': self._stopj,
            'movej': self._movej,
            'sleep': self._sleep,
        }

    def _write_int(self, at: int, value: int) -> None:
        self.output_ints[at] = struct.unpack('>i', struct.pack('>i', value))[0]

    def _write_double(self, at: int, value: float) -> None:
        self.output_doubles[at] = float(value)

    def _sync(self) -> Iterator[None]:
        yield

    def _sleep(self, seconds: float) -> Iterator[None]:
        for _ in range(max(1, round(seconds / self.period))):
            yield

    def _servoj(
        self,
        q: list[float],
        a: float = 0,
        v: float = 0,
        t: float = 0.002,
        lookahead_time: float = 0.1,
        gain: float = 300,
    ) -> Iterator[None]:
        """Take a set-point; that takes ``t`` at full speed, and longer at less."""
        if not (0.03 <= lookahead_time <= 0.2 and 100 <= gain <= 2000):
            raise ScriptError(f'servoj: lookahead_time {lookahead_time} or gain {gain} is out of range')
        last = self.arm.target or tuple(self.arm.positions)
        if max(abs(a - b) for a, b in zip(q, last, strict=True)) > FASTEST * max(t, self.period) * 1.5:
            self.errors.append('servoj: the set-point jumped')
            self.protective_stop()
            yield
            return
        self.arm.target, self.arm.lookahead = tuple(q), lookahead_time
        self.set_points.append(SetPoint(time.monotonic(), tuple(q), lookahead_time, gain))
        passed = 0.0
        while passed < t - self.period / 2:
            yield
            passed += self.period * self.slider

    def _stopj(self, a: float = 20.0) -> Iterator[None]:
        self.arm.slow_down(a)
        while not self.arm.stands:
            yield

    def _movej(self, q: list[float], a: float = 1.4, v: float = 1.05, t: float = 0.0, r: float = 0.0) -> Iterator[None]:
        """Joints move together, at a steady speed and without ramps."""
        start = list(self.arm.positions)
        way = max(abs(goal - at) for goal, at in zip(q, start, strict=True))
        duration, passed = max(t or way / v, self.period), 0.0
        self.arm.lookahead = 0.03
        while passed < duration:
            passed += self.period * self.slider
            part = min(passed / duration, 1.0)
            self.arm.target = tuple(at + (goal - at) * part for goal, at in zip(q, start, strict=True))
            yield
        while max(abs(goal - at) for goal, at in zip(q, self.arm.positions, strict=True)) > 1e-4:
            yield
        self.arm.slow_down(a)


def _nothing(*_: object) -> None:
    """For functions that change nothing that is simulated."""
