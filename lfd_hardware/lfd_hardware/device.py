"""A device: a component, its driver, and the state of its lifecycle.

::

    unconfigured ── configure ──► inactive ── activate ──► active
         ▲  ▲────── close ───────────┘  ▲──── deactivate ────┘
         └───────── close ◄── a step, read or write that failed

Steps run in a thread of their own, one at a time, because they may take seconds or never come back. While one is under
way the update loop leaves the driver alone.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from enum import Enum

from lfd_hardware.description import Component
from lfd_hardware.drivers import Driver, DriverError

LOCK_WITHIN = 2.0  # [s] to wait for the end of a cycle; a driver may hang in it


class DeviceState(Enum):
    """Lifecycle states, with the names and numbers of lifecycle_msgs/msg/State."""

    UNCONFIGURED = ('unconfigured', 1)
    INACTIVE = ('inactive', 2)
    ACTIVE = ('active', 3)

    @property
    def label(self) -> str:
        """The name."""
        return self.value[0]

    @property
    def id(self) -> int:
        """The number."""
        return self.value[1]


UP = {
    DeviceState.UNCONFIGURED: ('configure', DeviceState.INACTIVE),
    DeviceState.INACTIVE: ('activate', DeviceState.ACTIVE),
}
DOWN = {
    DeviceState.ACTIVE: ('deactivate', DeviceState.INACTIVE),
    DeviceState.INACTIVE: ('close', DeviceState.UNCONFIGURED),
}


class Device:
    """A component and its driver. ``lock`` is the one that the update loop holds during a cycle."""

    def __init__(self, component: Component, driver: Driver, lock: threading.Lock) -> None:
        self.component = component
        self.driver = driver
        self.state = DeviceState.UNCONFIGURED
        self.failure: str | None = None  # why the last step, read or write failed
        self.step: str | None = None  # the step under way
        self.is_fresh = False  # read since the last step
        self.sent: dict[str, float] = {}  # what each command interface was told last, since the last step
        self._lock = lock
        self._is_ending = False  # a step that comes back late is the last one
        self._step_began = 0.0
        self._idle = threading.Event()
        self._idle.set()

    @property
    def name(self) -> str:
        """The component's name."""
        return self.component.name

    @property
    def connected(self) -> bool:
        """Whether the loop reads it."""
        return self.step is None and self.state is not DeviceState.UNCONFIGURED

    @property
    def active(self) -> bool:
        """Whether it follows commands."""
        return self.step is None and self.state is DeviceState.ACTIVE

    @property
    def why_not(self) -> str:
        """Why it cannot be used, as the rest of a sentence that begins with its name."""
        if self.step is not None:
            return f"is busy with '{self.step}' since {time.monotonic() - self._step_began:.1f} s: try again later"
        if self.failure is not None:
            return f'failed: {self.failure} Mend it, then call set_hardware_component_state to activate it'
        return f'is {self.state.label}: call set_hardware_component_state to activate it'

    def fail(self, error: Exception) -> None:
        """Use it no more, and close it in the background; the lock is held."""
        self.failure = told(error)
        self.state = DeviceState.UNCONFIGURED
        self._begin('close', self._close)

    def go(self, target: DeviceState, on_change: Callable[[Device], None]) -> bool:
        """Begin to take the steps to a state; False when the driver is busy already. The lock is not held.

        ``on_change`` is called in the steps' thread after the last one, or when one failed.
        """
        if not self._lock.acquire(timeout=LOCK_WITHIN):
            return False
        try:
            if self.step is not None:
                return False
            self._begin('a change of state', lambda: self._walk(target, on_change))
        finally:
            self._lock.release()
        return True

    def shut_down(self) -> None:
        """Begin to let go of it for good, whatever it is doing; the lock is not held."""
        if not self.go(DeviceState.UNCONFIGURED, lambda _: None):
            self._is_ending = True
            # Whatever hangs may end with its connection.
            threading.Thread(target=self._close, name=f'{self.name} close', daemon=True).start()

    def wait(self, timeout: float) -> bool:
        """Wait for the end of the step under way, if there is one; False when it takes longer than that [s]."""
        return self._idle.wait(timeout)

    def _begin(self, step: str, work: Callable[[], None]) -> None:
        self.step, self.is_fresh, self._step_began = step, False, time.monotonic()
        self.sent.clear()
        self._idle = threading.Event()  # a new one, because the end of the step before may still be told by its thread
        threading.Thread(target=self._work, args=(work, self._idle), name=f'{self.name} {step}', daemon=True).start()

    def _work(self, work: Callable[[], None], idle: threading.Event) -> None:
        try:
            work()
        finally:
            self.step = None  # from now on the loop uses it again, and may find that it has failed
            idle.set()

    def _walk(self, target: DeviceState, on_change: Callable[[Device], None]) -> None:
        self.failure = None
        try:
            while self.state is not target:
                way = UP if target.id > self.state.id else DOWN
                self.step, state = way[self.state]
                self._step_began = time.monotonic()
                getattr(self.driver, self.step)()
                self.state = state
                if self._is_ending:
                    raise DriverError('The node ended while it was on its way.')
        except Exception as error:  # whatever a driver raises, the others go on
            self.failure = told(error)
            self.state = DeviceState.UNCONFIGURED
            if self.step != 'close':
                self._close()
        on_change(self)

    def _close(self) -> None:
        self.step = 'close'
        try:
            self.driver.close()
        except Exception as error:  # the first failure says more
            self.failure = self.failure or told(error)


def told(error: Exception) -> str:
    """A failure as a sentence."""
    return str(error) if isinstance(error, DriverError) else f'{error!r}.'


def wait_for_all(devices: Iterable[Device], timeout: float) -> list[Device]:
    """Wait until no device has a step under way; return those that still have one after that time [s]."""
    deadline = time.monotonic() + timeout
    return [device for device in devices if not device.wait(max(0.0, deadline - time.monotonic()))]
