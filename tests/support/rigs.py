"""Simulated controllers of all vendors behind one face: what can go wrong with them, and what the arm was told.

Positions are in rad.
"""

from __future__ import annotations

import math
import random
import socket
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lfd_description.robots import MOTOROS1, find_robot, robot_description
from lfd_hardware.description import parse_hardware
from lfd_hardware.drivers.motoman.simple_message import Command
from support.abb_network import Weather
from support.abb_simulator import AbbSimulator
from support.motoman_simulator import STEP, MotomanSimulator
from support.ur_controller import STOPPED, Controller
from support.ur_simulator import URSimulator

SEED = 11
ROUNDING = 1e-6
FAR = 1 << 40  # cycles


@dataclass(frozen=True, eq=False)
class Told:
    """A set-point that reached the arm."""

    cycle: int
    """In which it was sent; cycles without one that arrived are left out."""
    positions: Sequence[float] | np.ndarray


class Rig(ABC):
    """One simulated controller that the driver of a ros2_control_node finds by the parameters of its tag.

    A driver for a `patient` one waits longer than usual for states and answers, because tests share their machine.
    """

    robot: str
    hardware: str
    period: float
    """[s] between two set-points."""
    margin: float
    """By which set-points may be faster than the joints' limits when the driver catches up."""
    survives_intruders = False
    """Whether the controller turns other clients away while its arm moves."""
    emergency: str
    """What the error of an emergency stop says; so do the others of their causes."""
    refusal: str
    loss: str
    silence: str
    intrusion: str

    def __init__(self, patient: bool = True) -> None:
        self.patient = patient
        self.is_off = False
        self.fastest = self._limits()
        """[rad/s] of each joint."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, object]:
        """Of the tag."""

    @property
    @abstractmethod
    def positions(self) -> np.ndarray:
        """Where the arm is."""

    @property
    @abstractmethod
    def is_still(self) -> bool:
        """Whether the arm stands, and follows nothing."""

    @property
    @abstractmethod
    def is_told_to_stop(self) -> bool:
        """Whether an order to stop came over the network since `forget`."""

    @property
    @abstractmethod
    def stop_delay(self) -> float:
        """From the last state that was sent to the order to stop that came after it [s]; infinite: there was none."""

    @abstractmethod
    def set_points(self) -> list[Told]:
        """What the arm was told since `forget`."""

    @abstractmethod
    def forget(self) -> None:
        """Begin the records anew."""

    @abstractmethod
    def emergency_stop(self) -> None:
        """Somebody presses the button."""

    @abstractmethod
    def release(self) -> None:
        """The button is out again, and acknowledged."""

    def lose_power(self) -> None:
        """The controller is gone, in the midst of everything."""
        if not self.is_off:
            self.is_off = True
            self._switch_off()

    def power_up(self) -> None:
        """It is back, where its arm came to stand."""
        self._switch_on()
        self.is_off = False

    @abstractmethod
    def _switch_off(self) -> None: ...

    @abstractmethod
    def _switch_on(self) -> None: ...

    @abstractmethod
    def fall_silent(self) -> None:
        """No more states come; all else works."""

    @abstractmethod
    def speak(self) -> None:
        """They come again."""

    @abstractmethod
    def refuse(self) -> None:
        """It does not let itself be started from here."""

    @abstractmethod
    def accept(self) -> None:
        """It does again."""

    @abstractmethod
    def storm(self) -> None:
        """The network does all that its protocol's transport can do to packets."""

    @abstractmethod
    def calm(self) -> None:
        """And stops doing it."""

    @abstractmethod
    def intrude(self) -> None:
        """Another client wants to move the arm."""

    @abstractmethod
    def withdraw(self) -> None:
        """It gives up."""

    def worst_step(self) -> float:
        """The largest step between two set-points, as a part of what the joint's limit allows within a period."""
        told = self.set_points()
        if len(told) < 2:
            return 0.0
        ways = np.abs(np.diff([each.positions for each in told], axis=0)) / (self.fastest * self.period)
        cycles = np.diff([each.cycle for each in told])
        return float((ways / cycles[:, np.newaxis]).max())

    @property
    def has_jumped(self) -> bool:
        """Whether a set-point was further from the one before than the limits allow within a cycle."""
        return self.worst_step() > self.margin + ROUNDING

    def _limits(self) -> np.ndarray:
        urdf = robot_description(find_robot(self.robot), hardware=self.hardware, robot_ip='127.0.0.1')
        joints = parse_hardware(urdf).components[0].joints
        return np.array([part.limit.velocity for part in joints if part.limit is not None])


class URRig(Rig):
    """A UR5e."""

    robot, hardware, period, margin = 'ur5e', 'ur', 0.002, 1.1
    emergency = 'emergency stop'
    refusal = 'switch it to Remote Control'
    loss = 'connection'
    silence = 'has sent no new state for'
    intrusion = 'program'

    def __init__(self, patient: bool = True) -> None:
        super().__init__(patient)
        self.simulator = URSimulator()
        self.simulator.__enter__()
        self._random = random.Random(SEED)
        self._held: list[bytes] = []

    @property
    def parameters(self) -> dict[str, object]:
        return {
            'rtde_port': self.simulator.rtde_port,
            'script_port': self.simulator.script_port,
            'dashboard_port': self.simulator.dashboard_port,
            **({'state_limit': 2.0, 'robot_receive_timeout': 2.0} if self.patient else {}),
        }

    @property
    def positions(self) -> np.ndarray:
        return np.array(self.simulator.positions)

    @property
    def is_still(self) -> bool:
        return self.simulator.stands and self.simulator.controller.runtime_state == STOPPED

    @property
    def is_told_to_stop(self) -> bool:
        orders = [value for each in list(self.simulator.inputs) for value in each.values.values()]
        return any(isinstance(value, int) and value < 0 for value in orders)

    @property
    def stop_delay(self) -> float:
        last = self.simulator.last_data_at
        stops = [
            each.time
            for each in list(self.simulator.inputs)
            if each.time > last and any(isinstance(value, int) and value < 0 for value in each.values.values())
        ]
        return min(stops, default=math.inf) - last

    def set_points(self) -> list[Told]:
        return [Told(cycle, each.positions) for cycle, each in enumerate(list(self.simulator.set_points))]

    def forget(self) -> None:
        self.simulator.do(lambda controller: controller.set_points.clear())
        self.simulator.inputs.clear()

    def emergency_stop(self) -> None:
        self.simulator.do(Controller.emergency_stop)

    def release(self) -> None:
        self.simulator.do(Controller.release)

    def _switch_off(self) -> None:
        self.simulator.__exit__()

    def _switch_on(self) -> None:
        old = self.simulator
        ports = (old.rtde_port, old.script_port, old.dashboard_port)
        self.simulator = URSimulator(ports=ports, positions=old.controller.arm.positions)
        self.simulator.__enter__()

    def fall_silent(self) -> None:
        self.simulator.silent = True

    def speak(self) -> None:
        self.simulator.silent = False

    def refuse(self) -> None:
        self.simulator.local_mode = True

    def accept(self) -> None:
        self.simulator.local_mode = False

    def storm(self) -> None:
        self.simulator.tamper = self._tampered

    def calm(self) -> None:
        self.simulator.tamper = None

    def intrude(self) -> None:
        with socket.create_connection(('127.0.0.1', self.simulator.script_port), 10.0) as client:
            client.sendall(b'def other():\n  while True:\n    sync()\n  end\nend\n')
            client.recv(5)

    def withdraw(self) -> None:
        self.simulator.do(Controller.stop)

    def _tampered(self, frame: bytes) -> Sequence[bytes]:
        """Frames come late and in bunches, twice or never; TCP does not reorder them."""
        self._held += [frame] * self._random.choice((0, 1, 1, 1, 2))
        if self._random.random() < 0.7:
            return ()
        out, self._held = self._held, []
        return out


class AbbRig(Rig):
    """An IRB 1600."""

    robot, hardware, period, margin = 'irb1600', 'abb', 0.004, 1.2
    emergency = 'emergency stop'
    refusal = 'mastership'
    loss = 'message for'
    silence = 'message for'
    intrusion = 'EGM'

    def __init__(self, patient: bool = True) -> None:
        super().__init__(patient)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(('127.0.0.1', 0))
            self._egm_port = int(probe.getsockname()[1])
        self._start(AbbSimulator(self._egm_port, seed=SEED))

    def _start(self, simulator: AbbSimulator) -> None:
        self.simulator = simulator
        if self.patient:
            simulator.egm.answer_timeout = 1.0
        simulator.__enter__()

    @property
    def parameters(self) -> dict[str, object]:
        return {
            'rws_port': self.simulator.rws.port,
            'rws_version': 1,
            'egm_port': self._egm_port,
            'connect_timeout': 10.0,
            **({'state_limit': 1.0} if self.patient else {}),
        }

    @property
    def positions(self) -> np.ndarray:
        return np.radians(self.simulator.controller.joints)

    @property
    def is_still(self) -> bool:
        return not self.simulator.controller.running

    @property
    def is_told_to_stop(self) -> bool:
        return bool(self.simulator.controller.logged('stop'))

    @property
    def stop_delay(self) -> float:
        # EGM has no order to stop but a set-point that stands; without reports nothing follows it.
        last = self.simulator.egm.last_sent
        stands = [each.at for each in self.simulator.setpoints if each.at > last and not any(each.speeds)]
        return min(stands, default=math.inf) - last

    def set_points(self) -> list[Told]:
        # Answers that were lost count; a new session begins where the arm stands, however far that is.
        return [Told(each.session * FAR + each.number, np.radians(each.joints)) for each in self.simulator.setpoints]

    def forget(self) -> None:
        with self.simulator.controller.lock:
            self.simulator.egm.setpoints.clear()
            self.simulator.controller.log.clear()

    def emergency_stop(self) -> None:
        self.simulator.controller.emergency_stop()

    def release(self) -> None:
        self.simulator.controller.recover()

    def _switch_off(self) -> None:
        self.simulator.close()

    def _switch_on(self) -> None:
        old = self.simulator
        self._start(AbbSimulator(self._egm_port, tuple(old.controller.joints), rws_port=old.rws.port, seed=SEED))

    def fall_silent(self) -> None:
        self.simulator.egm.outward.weather = Weather(cut=True)

    def speak(self) -> None:
        self.simulator.egm.outward.weather = Weather()

    def refuse(self) -> None:
        self.simulator.controller.mastered = True

    def accept(self) -> None:
        self.simulator.controller.mastered = False

    def storm(self) -> None:
        for way in (self.simulator.egm.outward, self.simulator.egm.inward):
            way.weather = Weather(lost=0.1, duplicated=0.1, delayed=0.3)

    def calm(self) -> None:
        for way in (self.simulator.egm.outward, self.simulator.egm.inward):
            way.weather = Weather()

    def intrude(self) -> None:
        self.simulator.egm.restart_session()

    def withdraw(self) -> None:
        self.simulator.controller.end_program()


class MotomanRig(Rig):
    """A GP8."""

    robot, hardware, period, margin = 'gp8', MOTOROS1, STEP, 1.1
    survives_intruders = True
    emergency = 'emergency stop'
    refusal = 'REMOTE mode'
    loss = 'closed'
    silence = 'sent no state for'
    intrusion = ''  # there is no error

    def __init__(self, patient: bool = True) -> None:
        super().__init__(patient)
        self._power(find_robot(self.robot).poses['home'])

    def _power(self, positions: Sequence[float], motion_port: int = 0, state_port: int = 0) -> None:
        self.simulator = MotomanSimulator(positions, motion_port=motion_port, state_port=state_port)
        self.simulator.__enter__()

    @property
    def parameters(self) -> dict[str, object]:
        return {
            'motion_port': self.simulator.motion_port,
            'state_port': self.simulator.state_port,
            **({'state_timeout': 1.0, 'reply_timeout': 3.0} if self.patient else {}),
        }

    @property
    def positions(self) -> np.ndarray:
        return self.simulator.actual.copy()

    @property
    def is_still(self) -> bool:
        with self.simulator.lock:
            behind = np.abs(self.simulator.commanded - self.simulator.actual).max()
            return not self.simulator.queued and bool(behind < 1e-4)

    @property
    def is_told_to_stop(self) -> bool:
        return bool(self.simulator.told(Command.STOP_MOTION))

    @property
    def stop_delay(self) -> float:
        last = self.simulator.last_state
        stops = [when for when in self.simulator.told(Command.STOP_MOTION) if when > last]
        return min(stops, default=math.inf) - last

    def set_points(self) -> list[Told]:
        return [Told(cycle, positions) for cycle, (_, positions) in enumerate(list(self.simulator.played))]

    def forget(self) -> None:
        with self.simulator.lock:
            self.simulator.played.clear()
            self.simulator.commands.clear()

    def emergency_stop(self) -> None:
        self.simulator.e_stopped = True

    def release(self) -> None:
        self.simulator.e_stopped = False

    def _switch_off(self) -> None:
        self.simulator.__exit__()

    def _switch_on(self) -> None:
        old = self.simulator
        self._power(old.actual.tolist(), old.motion_port, old.state_port)

    def fall_silent(self) -> None:
        self.simulator.sends_states = False

    def speak(self) -> None:
        self.simulator.sends_states = True

    def refuse(self) -> None:
        self.simulator.remote = False

    def accept(self) -> None:
        self.simulator.remote = True

    def storm(self) -> None:
        with self.simulator.lock:
            self.simulator.state_delay = 0.05
            self.simulator.doubles_states = self.simulator.splits_states = True
            self.simulator.busy_answers = 10

    def calm(self) -> None:
        with self.simulator.lock:
            self.simulator.state_delay = 0.0
            self.simulator.doubles_states = self.simulator.splits_states = False

    def intrude(self) -> None:
        with socket.create_connection(('127.0.0.1', self.simulator.motion_port), 10.0) as client:
            assert client.recv(1) == b'', 'it was let in'

    def withdraw(self) -> None:
        """It was turned away already."""
