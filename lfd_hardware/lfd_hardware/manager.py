"""What the controller manager does, without ROS: cycles, switches of controllers, and changes of devices.

Nothing that moves is let go of before it stands still. A controller that is to end is told to halt, goes on to be
updated until it is at rest, and only then gives its interfaces back.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from lfd_hardware.device import LOCK_WITHIN, Device, DeviceState
from lfd_hardware.hardware import ClaimRefused, Hardware, Trouble

REST_WITHIN = 3.0  # [s] in which a controller must come to rest before it is let go of all the same
POLL_EVERY = 0.004  # [s] between two looks at what is waited for


class LoopStuck(RuntimeError):
    """The update loop does not come to the end of its cycle; the message is one sentence."""


class ControllerState(Enum):
    """Lifecycle states, with the names that the official services use."""

    UNCONFIGURED = 'unconfigured'
    INACTIVE = 'inactive'
    ACTIVE = 'active'


@dataclass(frozen=True)
class Halted:
    """The controllers that were busy when all were brought to rest, by name."""

    stopped: tuple[str, ...]
    moving: tuple[str, ...]
    """Those that were not at rest after REST_WITHIN."""


class Controlled(Protocol):
    """What the manager needs to know of a controller; see ``controllers.Controller``."""

    name: str
    state: ControllerState
    needs_finite_states: bool

    @property
    def at_rest(self) -> bool:
        """Whether it commands no motion."""

    def command_interfaces(self) -> Sequence[str]:
        """Interfaces to claim while active."""

    def state_interfaces(self) -> Sequence[str]:
        """Interfaces to read while active."""

    def activate(self) -> None:
        """Begin at the present state."""

    def update(self) -> None:
        """Take part in a cycle."""

    def halt(self, why: str) -> bool:
        """Give up what is going on and come to rest; return whether anything was."""

    def deactivate(self, reason: str) -> None:
        """End."""


class Log(Protocol):
    """Where sentences go."""

    def info(self, message: str) -> object:
        """Tell what happened."""

    def error(self, message: str) -> object:
        """Tell what went wrong."""


class Manager:
    """Runs the controllers on the hardware.

    ``lock`` is held during a cycle, and by whoever changes what a cycle uses.
    """

    def __init__(self, hardware: Hardware, period: float, lock: threading.Lock, log: Log) -> None:
        self.hardware = hardware
        self.period = period  # [s]
        self.active: tuple[Controlled, ...] = ()
        self._lock = lock
        self._log = log
        self._leaving: dict[str, str] = {}  # why, by the name of an active controller that is to end
        self._broken: set[str] = set()  # names of those of them that cannot be updated any more
        self._commanding: dict[str, frozenset[str]] = {}  # command interfaces of every active controller
        self._reading: dict[str, frozenset[str]] = {}  # state interfaces of every active controller

    # The loop

    def cycle(self) -> None:
        """One cycle: read, update, write."""
        with self._lock:
            if troubles := self.hardware.read(self.period):
                self._face(troubles)
            held = self._held()
            for controller in self.active:
                if controller not in held:
                    self._update(controller)
            done = [each for each in self.active if self._may_go(each)] if self._leaving else ()
            troubles = self.hardware.write()  # also what those that are done command last
            if done:
                self._let_go(done)
            if troubles:
                self._face(troubles)

    def _held(self) -> list[Controlled]:
        """The controllers of devices that were stopped, and will fail when the reason is known."""
        holding = [each for each in self.hardware.devices if each.active and each.driver.is_holding]
        return [user for device in holding for user in self._users(device, commanding_only=True)]

    def _update(self, controller: Controlled) -> None:
        if self._leaving and self._may_go(controller):
            return
        try:
            controller.update()
        except Exception as error:  # one controller's mistake must not stop the others
            self._log.error(f"'{controller.name}' failed and is deactivated: {error}\n{traceback.format_exc()}")
            self._dismiss([controller], 'its update failed', broken=True)

    def _may_go(self, controller: Controlled) -> bool:
        return controller.name in self._leaving and (controller.name in self._broken or controller.at_rest)

    def _face(self, troubles: Sequence[Trouble]) -> None:
        """End the controllers that use devices which failed, or that command what must not be sent."""
        for trouble in troubles:
            name = trouble.device.name
            self._log.error(f"Hardware '{name}' {'refused' if trouble.refused else 'failed'}: {trouble.message}")
            if trouble.refused:
                users = self._users(trouble.device, commanding_only=True)
                self._dismiss(users, f"hardware '{name}' was to be told too much: {trouble.message.rstrip('.')}", True)
                for controller in users:
                    self.hardware.stand(controller.name)
            else:
                users = self._users(trouble.device)
                self._dismiss(users, f"hardware '{name}' failed: {trouble.message.rstrip('.')}")

    def _users(self, device: Device, commanding_only: bool = False) -> list[Controlled]:
        """The active controllers that command a device or, unless ``commanding_only``, read it."""
        commands, states = device.component.command_interfaces, device.component.state_interfaces
        return [
            each
            for each in self.active
            if not self._commanding[each.name].isdisjoint(commands)
            or not (commanding_only or self._reading[each.name].isdisjoint(states))
        ]

    # Ending controllers; the lock is held

    def _dismiss(self, controllers: Iterable[Controlled], reason: str, broken: bool = False) -> None:
        """Have controllers come to rest, as the first step of their end."""
        for controller in controllers:
            if controller.name in self._leaving and not broken:
                continue
            self._leaving.setdefault(controller.name, reason)
            controller.state = ControllerState.INACTIVE
            try:
                controller.halt(f"The controller '{controller.name}' was deactivated: {reason}.")
                if broken:
                    self._broken.add(controller.name)
                    controller.deactivate(reason)
            except Exception as error:  # the others must stop all the same
                self._log.error(f"'{controller.name}' failed to stop: {error}\n{traceback.format_exc()}")
                self._broken.add(controller.name)

    def _let_go(self, controllers: Sequence[Controlled]) -> None:
        """Make inactive those that are dismissed."""
        for controller in controllers:
            reason = self._leaving.pop(controller.name)
            self._broken.discard(controller.name)
            self.active = tuple(each for each in self.active if each is not controller)
            try:
                controller.deactivate(reason)
            except Exception as error:
                self._log.error(f"'{controller.name}' failed to stop: {error}\n{traceback.format_exc()}")
            self.hardware.release(controller.name)
            self._log.info(f"Deactivated '{controller.name}': {reason}.")

    def _wait_for_rest(self, names: Collection[str]) -> None:
        """Wait until dismissed controllers are gone, and let go of those that take too long; the lock is not held."""
        if _eventually(lambda: self._leaving.keys().isdisjoint(names), REST_WITHIN):
            return
        with self._locked():
            late = [each for each in self.active if each.name in names and each.name in self._leaving]
            self._log.error(f'Not at rest after {REST_WITHIN:g} s: {", ".join(each.name for each in late)}.')
            self._let_go(late)

    # What services ask for; the lock is not held

    def settle(self) -> None:
        """Wait until no controller is on its way out."""
        self._wait_for_rest(list(self._leaving))

    def switch(
        self, stop: Sequence[Controlled], start: Sequence[Controlled], problems: list[str], best_effort: bool
    ) -> None:
        """Deactivate, then activate; add what was wrong to ``problems``.

        Unless ``best_effort``, nothing is done when there are problems already or some turn up before the first step.
        A controller that is to do both is restarted.
        """
        self.settle()
        with self._locked():
            leaving = [each for each in stop if each in self.active]
            staying = [each for each in self.active if each not in leaving]
            coming = self._admitted(leaving, [each for each in start if each not in staying], problems)
            if problems and not best_effort:
                return
            self._dismiss(leaving, 'a switch of controllers asked for it')
        self._wait_for_rest([each.name for each in leaving])
        with self._locked():
            for controller in self._admitted((), coming, problems):  # a device may have failed in the meantime
                self._activate(controller)

    def _admitted(
        self, leaving: Sequence[Controlled], coming: Sequence[Controlled], problems: list[str]
    ) -> list[Controlled]:
        """Those of ``coming`` whose interfaces will be there and free once ``leaving`` have left."""
        gone = {controller.name for controller in leaving}
        owners = {name: owner for name, owner in self.hardware.owners.items() if owner not in gone}
        admitted: list[Controlled] = []
        for controller in coming:
            try:
                self.hardware.check_states(
                    controller.name, controller.state_interfaces(), finite=controller.needs_finite_states
                )
                self.hardware.check_claim(controller.name, controller.command_interfaces(), owners)
            except ClaimRefused as refusal:
                problems.append(str(refusal))
            else:
                owners.update(dict.fromkeys(controller.command_interfaces(), controller.name))
                admitted.append(controller)
        return admitted

    def _activate(self, controller: Controlled) -> None:
        self.hardware.claim(controller.name, controller.command_interfaces())
        controller.activate()
        controller.state = ControllerState.ACTIVE
        self._commanding[controller.name] = frozenset(controller.command_interfaces())
        self._reading[controller.name] = frozenset(controller.state_interfaces())
        self.active = (*self.active, controller)
        self._log.info(f"Activated '{controller.name}'.")

    def halt(self, why: str) -> Halted:
        """Bring every active controller to rest, but keep it active."""
        with self._locked():
            halted = [each for each in self.active if each.name not in self._leaving and each.halt(why)]
        _eventually(lambda: all(each.at_rest for each in halted), REST_WITHIN)
        moving = [each.name for each in halted if not each.at_rest]
        return Halted(tuple(each.name for each in halted if each.name not in moving), tuple(moving))

    def bring_up(self, device: Device, target: DeviceState) -> None:
        """Begin to bring a device to its first state."""
        device.go(target, self._tell)

    def change(self, device: Device, target: DeviceState, timeout: float, is_ending: Callable[[], bool]) -> str:
        """Bring a device to a state, its controllers to rest first; return why not, or nothing.

        A step that takes longer than ``timeout`` [s] goes on in the background.
        """
        self._free(device, target)
        if device.state is target and device.step is None:
            return ''
        if not device.go(target, self._tell):
            return f"Hardware '{device.name}' {device.why_not}."
        _eventually(lambda: is_ending() or device.wait(POLL_EVERY), timeout)
        if device.step is not None or device.state is not target:
            return f"Hardware '{device.name}' is not {target.label}: it {device.why_not}."
        if target is DeviceState.UNCONFIGURED:
            with self._locked():
                self.hardware.forget(device)
        else:  # so that a switch which follows finds its states
            _eventually(lambda: is_ending() or device.is_fresh or not device.connected, REST_WITHIN)
        return ''

    def _free(self, device: Device, target: DeviceState) -> None:
        """End the controllers that cannot use a device in its next state."""
        if target is DeviceState.ACTIVE:
            self.settle()  # those that still brake after it failed must not command it when it is back
            return
        with self._locked():
            users = self._users(device, commanding_only=target is DeviceState.INACTIVE)
            self._dismiss(users, f"hardware '{device.name}' becomes {target.label}")
        self._wait_for_rest([each.name for each in users])

    def _tell(self, device: Device) -> None:
        if device.failure is None:
            self._log.info(f"Hardware '{device.name}' ({device.component.plugin}) is {device.state.label}.")
        else:
            self._log.error(f"Hardware '{device.name}' failed: {device.failure}")

    def shut_down(self, reason: str) -> None:
        """End every controller, at rest; the loop still runs."""
        try:
            with self._locked():
                leaving = list(self.active)
                self._dismiss(leaving, reason)
            self._wait_for_rest([each.name for each in leaving])
        except LoopStuck as error:
            self._log.error(str(error))
            for controller in self.active:  # so that at least its goals end
                controller.state = ControllerState.INACTIVE
                controller.halt(f"The controller '{controller.name}' was deactivated: {reason}.")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock between two cycles, or raise LoopStuck."""
        if not self._lock.acquire(timeout=LOCK_WITHIN):
            raise LoopStuck(f"The update loop hangs in the driver of '{self.hardware.waits_for}': restart the node.")
        try:
            yield
        finally:
            self._lock.release()


def _eventually(condition: Callable[[], bool], timeout: float) -> bool:
    """Wait until something holds, for at most that time [s]; return whether it does."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_EVERY)
    return True
