"""The driver for the plugin ``ur_robot_driver/URPositionHardwareInterface``: arms of Universal Robots.

State comes over RTDE at the rate of the controller (CB3 125 Hz, e-Series 500 Hz). Set-points go into its registers,
where a program of ours (script.py) follows them; it is sent when the hardware is activated and ended when it is
deactivated.
Positions are in rad, velocities in rad/s; the controller uses the same units, signs and zeros as the URDF.
"""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Mapping
from contextlib import suppress

from lfd_hardware.description import Component
from lfd_hardware.drivers.driver import Driver, DriverError
from lfd_hardware.drivers.ur.dashboard import Dashboard
from lfd_hardware.drivers.ur.link import RtdeLink
from lfd_hardware.drivers.ur.script import Servo, program, steps
from lfd_hardware.drivers.ur.session import COUNTS, STEP_MARGIN, Session
from lfd_hardware.drivers.ur.settings import limits_of, settings_of, states_of
from lfd_hardware.drivers.ur.state import (
    SLIDER_AT_ZERO,
    STILL,
    RobotMode,
    RobotState,
    RuntimeState,
    why_not_following,
    why_not_powered,
    why_unsafe,
)

LAG_TIME = 0.15  # [s] beyond the look-ahead that the arm may be behind its set-points
DEAF_TIME = 0.1  # [s] beyond state_limit in which our program repeats the count of a set-point
START_TIME = 5.0  # [s] for the program to begin
STOP_TIME = 5.0  # [s] for the arm to stop and the program to end
REMOTE = 'if its pendant says Local, switch it to Remote Control'


class URDriver(Driver):
    """One arm of Universal Robots.

    States: ``position``, ``velocity`` and ``effort`` of six joints, in the controller's order (base to wrist 3), and of
    a gpio or sensor, if the tag has one, ``speed_scaling_factor`` (1 when the arm moves as fast as it is told). As with
    UR's own driver, an effort is the current of the joint's motor [A]. Commands: ``position``; they are meant to come
    at the rate of the controller. A ``velocity`` command may stand in the tag, but nobody may claim it.
    """

    def __init__(self, component: Component) -> None:
        super().__init__(component)
        self._settings = settings_of(component)
        self._limits = limits_of(component)
        self._states = states_of(component)
        self._where = f"The UR controller of '{component.name}' at {self._settings.robot_ip}"
        self._link: RtdeLink | None = None
        self._session: Session | None = None  # while the arm follows
        self._period = 0.0  # [s] of the controller's cycle

    # Life

    def configure(self) -> None:
        """Connect and wait for the first state; the motors may be off."""
        self.close()
        settings = self._settings
        self._link = RtdeLink(
            settings.robot_ip, settings.rtde_port, settings.connect_timeout, self._where, settings.first_register
        )
        self._period = 1.0 / self._link.controller.rate
        if settings.robot_receive_timeout < 3.0 * self._period:
            self.close()
            raise DriverError(
                f"robot_receive_timeout of hardware '{self.component.name}' is {settings.robot_receive_timeout:g} s, "
                f'but the controller has a cycle of {self._period:g} s: give it at least three cycles.'
            )

    def activate(self) -> None:
        """Switch the motors on if need be, start the program, and be ready to follow from where the arm stands."""
        link = self._connected()
        self._refuse(why_unsafe(link.poll()))
        if link.state.robot_mode != RobotMode.RUNNING:
            self._power_on(link)
        self._refuse(SLIDER_AT_ZERO if link.state.slider < STILL else None)
        # To send a program ends the one that runs, and that may be somebody else's.
        if not link.wait(lambda state: state.runtime_state in _AT_REST, STOP_TIME):
            self._refuse('runs a program already: stop it on the pendant, or end the client that started it')
        number = secrets.randbelow(COUNTS - 2) + 1
        self._start(link, number)
        self._session = Session(number, self._limits, link.state, self._period, time.monotonic())

    def deactivate(self) -> None:
        """Stop the arm and wait until the program has ended."""
        session, self._session = self._session, None
        if session is None:
            return
        link = self._connected()
        link.send(-session.number, session.count, session.goal)
        if not link.wait(lambda state: state.runtime_state in _AT_REST or state.session != session.number, STOP_TIME):
            raise DriverError(
                f'{self._where} did not end our program within {STOP_TIME:g} s: press stop on its pendant.'
            )

    def close(self) -> None:
        """Order the stop if the arm follows, and disconnect."""
        self._stop_at_once()
        link, self._link = self._link, None
        if link is not None:
            link.close()

    # The update loop

    def read(self, period: float) -> Mapping[str, float]:
        """Return the newest state; raises DriverError when it is too old or the arm does not follow any more."""
        link, session = self._connected(), self._session
        try:
            state = link.poll()
            self._check_age(link)
            if session is not None:
                self._check_following(session, state)
        except DriverError:
            self._stop_at_once()
            raise
        if session is not None:
            session.note_read(period, time.monotonic())
        numbers = (*state.positions, *state.velocities, *state.currents, state.speed_scaling * state.slider)
        return {name: numbers[index] for name, index in self._states.items()}

    def write(self, commands: Mapping[str, float]) -> None:
        """Send a set-point; joints without a command hold. Raises DriverError rather than send a jump."""
        session = self._session
        if session is None:
            return
        try:
            session.aim(commands, time.monotonic())
            self._connected().send(session.number, session.count, session.goal)
        except DriverError:
            self._stop_at_once()
            raise

    def _check_age(self, link: RtdeLink) -> None:
        age, late, limit = link.age, link.lateness, self._settings.state_limit
        if age + late <= limit:
            return
        what = f'sends its state too late: the newest is {age + late:.3f} s old'
        if age >= late:
            what = f'has sent no new state for {age + late:.3f} s'
        raise DriverError(f'{self._where} {what} (state_limit is {limit:g} s): check the network and the controller.')

    def _check_following(self, session: Session, state: RobotState) -> None:
        settings = self._settings
        self._refuse(why_not_following(state, session.number, settings.robot_receive_timeout))
        now, patience = time.monotonic(), settings.state_limit + DEAF_TIME
        session.note_state(state, now)
        if session.is_deaf(now, patience):
            self._refuse('runs another program in place of ours: let only one client start programs, then start anew')
        if session.unheard(now) > patience:
            self._refuse(
                f'repeats set-points later than {patience:g} s after they were sent: the network delays them or the '
                'states; check it'
            )
        if joint := session.lagging(state, settings.servoj_lookahead_time + LAG_TIME):
            self._refuse(
                f"is too far behind the set-points of '{joint}', with its speed slider at {state.slider:.0%} and its "
                f'speed scaled to {state.speed_scaling:.0%}: raise the slider, or move more slowly'
            )

    def _stop_at_once(self) -> None:
        """Order the stop on whatever is left of the connection; the error that led here matters more."""
        session, self._session = self._session, None
        if session is not None and self._link is not None:
            with suppress(DriverError):
                self._link.send(-session.number, session.count, session.goal)

    # The start

    def _power_on(self, link: RtdeLink) -> None:
        """Switch the motors on and release the brakes."""
        self._refuse(why_not_powered(link.state))
        settings, end = self._settings, time.monotonic() + self._settings.power_on_timeout
        try:
            with Dashboard(
                settings.robot_ip, settings.dashboard_port, settings.connect_timeout, f"'{self.component.name}'"
            ) as dashboard:
                if link.state.robot_mode == RobotMode.POWER_OFF:
                    dashboard.order('power on', 'Powering on')
                    self._await_mode(link, RobotMode.IDLE, end)
                dashboard.order('brake release', 'Brake releasing')
                self._await_mode(link, RobotMode.RUNNING, end)
        except DriverError as error:
            self._refuse(why_unsafe(link.poll()))
            raise DriverError(
                f'{self._where} has its motors off and they could not be switched on from here: start the arm on the '
                f'pendant, or {REMOTE}. ({error})'
            ) from None

    def _await_mode(self, link: RtdeLink, mode: RobotMode, end: float) -> None:
        reached = link.wait(
            lambda state: state.robot_mode in (mode, RobotMode.RUNNING) or why_unsafe(state) is not None,
            max(end - time.monotonic(), 0.0),
        )
        if not reached:
            raise DriverError(f'It was not {mode.name} within {self._settings.power_on_timeout:g} s.')
        self._refuse(why_unsafe(link.state))

    def _start(self, link: RtdeLink, session: int) -> None:
        """Send the program and wait until it says that it runs."""
        settings = self._settings
        try:
            with socket.create_connection((settings.robot_ip, settings.script_port), settings.connect_timeout) as port:
                port.sendall(program(self._servo(), session).encode('ascii'))
                port.setblocking(False)
                # The port stays open until then: to close it with data unread could take the program back.
                begun = link.wait(lambda state: _is_settled(state, session, port), START_TIME)
        except (OSError, UnicodeError) as error:
            self._refuse(why_unsafe(link.state))
            raise DriverError(
                f'{self._where} refuses programs on port {settings.script_port} ({error}): {REMOTE}.'
            ) from None
        self._refuse(why_unsafe(link.state))
        if not begun:
            raise DriverError(
                f'{self._where} did not start our program within {START_TIME:g} s (port {settings.script_port}): '
                f'{REMOTE}; else see the log on the pendant.'
            )

    def _servo(self) -> Servo:
        settings = self._settings
        return Servo(
            self._period,
            settings.servoj_lookahead_time,
            settings.servoj_gain,
            settings.robot_receive_timeout,
            settings.stop_deceleration,
            steps([limit.velocity for limit in self._limits], self._period, STEP_MARGIN),
            settings.first_register,
        )

    def _refuse(self, reason: str | None) -> None:
        if reason is not None:
            raise DriverError(f'{self._where} {reason}.')

    def _connected(self) -> RtdeLink:
        if self._link is None:
            raise DriverError(f'{self._where} is not connected: configure the hardware first.')
        return self._link


# A paused program sees the order to end as soon as somebody lets it go on.
_AT_REST = (RuntimeState.STOPPED, RuntimeState.PAUSED)


def _is_settled(state: RobotState, session: int, port: socket.socket) -> bool:
    """Whether our program runs, or cannot; raises OSError when the controller has closed the script port."""
    if why_unsafe(state) or (state.session == session and state.runtime_state == RuntimeState.PLAYING):
        return True
    with suppress(BlockingIOError):
        if not port.recv(65536):
            raise ConnectionResetError('it closed the connection')
    return False
