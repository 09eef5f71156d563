"""The driver of the plugin ``abb_hardware_interface/ABBSystemHardware``."""

from __future__ import annotations

import contextlib
import math
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lfd_hardware.description import Component, Part
from lfd_hardware.drivers.abb.link import ArmState, EgmLink, Fault, LinkSettings, resolve
from lfd_hardware.drivers.abb.refusals import MOTORS_ON, RUNNING, refused, unsafe
from lfd_hardware.drivers.abb.rws import AXES, Account, RwsClient, RwsError, RwsRefused
from lfd_hardware.drivers.abb.watch import Watch
from lfd_hardware.drivers.driver import Driver, DriverError
from lfd_hardware.drivers.parameters import number, whole

POSITION = 'position'
VELOCITY = 'velocity'

LOOK = 0.05  # [s] how often a step of the life cycle looks whether its time has come
REASON = 0.3  # [s] how long a fault may wait for its reason; the arm stands meanwhile, and the trajectory with it
STILL = 0.02  # [rad/s] slower than this is standing
BRAKING = 0.5  # [s] the longest wait for standing still
PATIENCE = 2.0  # [s] the longest answer that a connected controller is given
HURRY = 1.0  # [s] the longest answer that closing waits for


@dataclass(frozen=True)
class AbbParameters:
    """The parameters of the tag."""

    rws_ip: str
    rws_port: int
    rws_version: int
    account: Account
    rws_certificate: str  # file to check RWS 2.0's certificate with; not checked if empty
    egm_port: int
    egm_ip: str
    egm_period: float  # [s]
    mechanical_unit: str
    connect_timeout: float  # [s]
    state_limit: float  # [s] above 0.08 the arm may be told to stop later than 0.1 s after its last state

    @staticmethod
    def of(component: Component) -> AbbParameters:
        """Read and check them, or raise DriverError."""
        text = component.parameters.get
        ip = text('rws_ip', '')
        if not ip:
            raise DriverError(
                f"Hardware '{component.name}' has no controller address: set the parameter rws_ip, "
                'which the launch argument robot_ip fills.'
            )
        port = whole(component, 'rws_port', 80, 1, 65535)
        versions = {'1': 1, '2': 2, 'auto': 2 if port == 443 else 1}
        version = text('rws_version', 'auto')
        if version not in versions:
            raise DriverError(
                f"The parameter 'rws_version' of hardware '{component.name}' is '{version}': write 1 (RobotWare 6), "
                '2 (RobotWare 7) or auto (2 if rws_port is 443).'
            )
        unit = text('mechanical_unit', 'ROB_1')
        if not re.fullmatch(r'\w{1,32}', unit, re.ASCII):
            raise DriverError(
                f"The parameter 'mechanical_unit' of hardware '{component.name}' is '{unit}': write a name like ROB_1."
            )
        return AbbParameters(
            rws_ip=ip,
            rws_port=port,
            rws_version=versions[version],
            account=Account(text('rws_user', 'Default User'), text('rws_password', 'robotics')),
            rws_certificate=text('rws_certificate', ''),
            egm_port=whole(component, 'egm_port', 6511, 0, 65535),
            egm_ip=text('egm_ip', '') or ip,
            egm_period=number(component, 'egm_period', 0.004, 0.004, 0.048),
            mechanical_unit=unit,
            connect_timeout=number(component, 'connect_timeout', 5.0, 0.1, 60.0),
            state_limit=number(component, 'state_limit', 0.06, 0.01, 1.0),
        )


class AbbDriver(Driver):
    """Follows commands over EGM at 250 Hz; switches motors and program, and asks for reasons, over RWS.

    While it is only connected, positions come from RWS five times a second, since EGM speaks only while the program
    runs. The program is stopped when the hardware is deactivated; the motors stay on.
    """

    def __init__(self, component: Component) -> None:
        super().__init__(component)
        self.parameters = AbbParameters.of(component)
        self._joints = _arm_joints(component)
        self._index = {f'{joint.name}/{POSITION}': index for index, joint in enumerate(self._joints)}
        self._device = f"The ABB controller of '{component.name}' at {self.parameters.rws_ip}"
        self._period = self.parameters.egm_period
        self._changing = threading.Lock()  # around a change of these three
        self._rws: RwsClient | None = None
        self._watch: Watch | None = None
        self._link: EgmLink | None = None

    @property
    def egm_port(self) -> int:
        """The UDP port that the controller's UCdevice must name; a free one was taken if the tag says 0."""
        return self.parameters.egm_port if self._link is None else self._link.port

    def configure(self) -> None:
        """Log on to RWS, read where the arm is, and listen for EGM."""
        self.close()
        own = self.parameters
        address, peer = resolve(own.rws_ip, self._device), resolve(own.egm_ip, self._device)
        rws = RwsClient(address, own.rws_port, own.rws_version, own.account, own.connect_timeout, own.rws_certificate)
        link = EgmLink(self._settings(peer), self._on_fault)
        self._rws, self._link = rws, link
        watch: Watch | None = None
        try:
            link.open()
            watch = Watch(rws, own.mechanical_unit, self._is_silent)
            rws.hurry(PATIENCE)
            with self._changing:
                if self._rws is not rws:
                    raise DriverError(f'{self._device} was closed while it was being connected: configure it again.')
                self._watch = watch
        except BaseException:
            _let_go(rws, watch, link)
            self._rws = self._link = None
            raise

    def activate(self) -> None:
        """Switch the motors on, start the program, and take the arm over where it stands."""
        rws, watch, link = self._parts()
        try:
            self._check_panel(rws)
            self._switch_motors_on(rws)
            self._start_program(rws, link)
        except RwsRefused as error:
            raise DriverError(str(error)) from None
        watch.forget()
        link.follow()

    @property
    def is_holding(self) -> bool:
        """Whether the controller stopped the arm, or fell silent, and is being asked why."""
        link = self._link
        return link is not None and link.fault is not None

    def read(self, period: float) -> Mapping[str, float]:
        """Return the newest positions [rad] and velocities [rad/s]."""
        _, watch, link = self._parts()
        self._period = period
        link.check_age()
        if link.fault is not None:
            self._raise(link.fault, watch)
        state = link.state
        if not link.following:
            if watch.failure is not None:
                raise DriverError(watch.failure)
            state = watch.state if state is None or state.at < watch.state.at else state
        assert state is not None  # the link follows only what it has heard of
        return self._interfaces(state)

    def write(self, commands: Mapping[str, float]) -> None:
        """Take new positions [rad]; they leave with the next answers."""
        _, _, link = self._parts()
        changes: dict[int, float] = {}
        for name, value in commands.items():
            if name not in self._index or not math.isfinite(value):
                link.hold()
                raise DriverError(
                    f"The command {value} for '{name}' cannot be sent to {self._device}: only finite positions "
                    f'of {", ".join(self._index)} can.'
                )
            changes[self._index[name]] = value
        link.command(changes, self._period)
        if link.fault is not None and not link.fault.explainable:
            raise DriverError(link.fault.sentence)

    def deactivate(self) -> None:
        """Let the arm stand and stop the program; the motors stay on."""
        if self._link is None or self._rws is None or not self._link.following:
            return
        self._link.hold()
        _until(self._stands, BRAKING)
        self._link.release()
        self._rws.stop_program()

    def close(self) -> None:
        """Stop the program if it is ours, log off and close the sockets; also ends a step that hangs."""
        with self._changing:
            rws, watch, link = self._rws, self._watch, self._link
            self._rws = self._watch = self._link = None
        if rws is not None and link is not None:
            _let_go(rws, watch, link)

    def _parts(self) -> tuple[RwsClient, Watch, EgmLink]:
        if self._rws is None or self._watch is None or self._link is None:
            raise DriverError(f'{self._device} is not connected: configure the hardware first.')
        return self._rws, self._watch, self._link

    def _settings(self, peer: str) -> LinkSettings:
        own = self.parameters
        return LinkSettings(
            device=self._device,
            peer=peer,
            port=own.egm_port,
            joints=tuple(joint.name for joint in self._joints),
            velocities=tuple(joint.limit.velocity for joint in self._joints if joint.limit is not None),
            period=own.egm_period,
            state_limit=own.state_limit,
        )

    def _on_fault(self, fault: Fault) -> None:
        watch = self._watch
        if watch is not None:
            watch.stop(fault)

    def _is_silent(self) -> bool:
        """Whether EGM does not tell where the arm is."""
        link = self._link
        state = None if link is None else link.state
        return state is None or time.monotonic() - state.at > self.parameters.state_limit

    def _stands(self) -> bool:
        state = None if self._link is None else self._link.state
        return state is None or all(abs(velocity) < STILL for velocity in state.velocities)

    def _check_panel(self, rws: RwsClient) -> None:
        """Refuse a controller that cannot move, and one that somebody else moves."""
        reason = unsafe(rws.panel())
        if reason is not None:
            raise DriverError(f'{self._device} {reason}.')
        # A program that an earlier driver left ends by itself as soon as it misses its answers.
        if not _until(lambda: rws.execution() != RUNNING, self.parameters.connect_timeout):
            raise DriverError(
                f'{self._device} already runs a RAPID program: stop it, or the other client that started it.'
            )

    def _switch_motors_on(self, rws: RwsClient) -> None:
        if rws.ctrlstate() == MOTORS_ON:
            return
        self._ask('switch its motors on', rws.motors_on)
        if not _until(lambda: rws.ctrlstate() == MOTORS_ON, self.parameters.connect_timeout):
            reason = unsafe(rws.panel()) or 'does not switch its motors on: look into its event log'
            raise DriverError(f'{self._device} {reason}.')

    def _start_program(self, rws: RwsClient, link: EgmLink) -> None:
        self._ask('set its program pointer to main', rws.reset_program)
        link.expect()
        self._ask('start its program', rws.start_program)
        if _until(lambda: link.ready, self.parameters.connect_timeout):
            return
        running = rws.execution() == RUNNING
        _try(rws.stop_program)
        if not running:
            raise DriverError(
                f'{self._device} ended its RAPID program at once: look into its event log; it must run lfd_egm.mod '
                'and have the option Externally Guided Motion.'
            )
        raise DriverError(
            f'{self._device} runs its program but no EGM guidance arrives at UDP port {link.port}{link.oddity}: '
            "set the remote address and port of the controller's UDPUC device to this computer, and open its firewall."
        )

    def _ask(self, step: str, request: Callable[[], None]) -> None:
        try:
            request()
        except RwsRefused as error:
            raise DriverError(f'{self._device} {refused(step, error)}.') from None

    def _raise(self, fault: Fault, watch: Watch) -> None:
        """Raise the fault, with the reason that the controller gives if it does so soon."""
        if fault.explainable and not watch.explained.is_set() and time.monotonic() - fault.at < REASON:
            return
        if not fault.explainable or watch.reason is None:
            raise DriverError(fault.sentence)
        if fault.silent:
            raise DriverError(f'{fault.sentence} It {watch.reason}.')
        raise DriverError(f'{self._device} {watch.reason}.')

    def _interfaces(self, state: ArmState) -> dict[str, float]:
        values: dict[str, float] = {}
        for joint, position, velocity in zip(self._joints, state.positions, state.velocities, strict=True):
            for interface in joint.state_interfaces:
                values[f'{joint.name}/{interface.name}'] = position if interface.name == POSITION else velocity
        return values


def _let_go(rws: RwsClient, watch: Watch | None, link: EgmLink) -> None:
    """Stop the arm if it follows, and end all threads and connections."""
    rws.hurry(HURRY)
    rws.interrupt()
    if link.following:
        link.release()
        _try(rws.stop_program)
    if watch is not None:
        watch.close()
    link.close()
    rws.close()


def _arm_joints(component: Component) -> tuple[Part, ...]:
    """The joints in the order of the axes, or DriverError when the arm is none that EGM can guide here."""
    where = f"Hardware '{component.name}'"
    for part in component.parts:
        commands = [interface.name for interface in part.command_interfaces]
        # ABB's official plugin wants a velocity command beside the position; only positions are followed here.
        known = (POSITION, VELOCITY) if POSITION in commands else ()
        wanted = [name for name in commands if name not in known]
        wanted += [i.name for i in part.state_interfaces if i.name not in (POSITION, VELOCITY)]
        if part.kind != 'joint' or part.mimic is not None or wanted:
            raise DriverError(
                f"{where} has the {part.kind} '{part.name}' with {', '.join(wanted) or 'no motor of its own'}: "
                'an ABB arm offers position and velocity of its six joints only.'
            )
        if part.limit is None or not math.isfinite(part.limit.velocity):
            raise DriverError(f"{where} needs a velocity limit for joint '{part.name}': add it to the URDF's <limit>.")
    if len(component.joints) != len(AXES):
        raise DriverError(f'{where} has {len(component.joints)} joints: name the {len(AXES)} of the arm, axis 1 first.')
    return component.joints


def _until(condition: Callable[[], bool], timeout: float) -> bool:
    """Wait for a condition; whether it came true in time [s]."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(LOOK)
    return True


def _try(request: Callable[[], None]) -> None:
    """Ask for what would be good but must not keep anybody from going on."""
    with contextlib.suppress(RwsError):
        request()
