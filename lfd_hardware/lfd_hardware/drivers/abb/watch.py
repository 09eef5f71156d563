"""A thread that asks Robot Web Services what must not keep the update loop waiting."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from lfd_hardware.drivers.abb.link import ArmState, Fault
from lfd_hardware.drivers.abb.refusals import stopped
from lfd_hardware.drivers.abb.rws import RwsClient, RwsError

INTERVAL = 0.2  # [s] controllers bear some twenty requests per second from all clients


class Watch:
    """Reads where the arm is while EGM is silent; after a fault it stops the program and asks for the reason."""

    def __init__(self, rws: RwsClient, unit: str, is_idle: Callable[[], bool]) -> None:
        self._rws = rws
        self._unit = unit
        self._is_idle = is_idle  # whether nobody else tells where the arm is
        self._wake = threading.Event()
        self._ending = threading.Event()
        self._stop_wanted: Fault | None = None
        self.state = self._read()
        self.failure: str | None = None  # why RWS does not answer
        self.explained = threading.Event()
        self.reason: str | None = None  # why the motion ended, once explained
        self._thread = threading.Thread(target=self._run, name='abb_rws', daemon=True)
        self._thread.start()

    def stop(self, fault: Fault) -> None:
        """Stop the program soon and, if the controller knows why the motion ended, ask for that."""
        self._stop_wanted = fault
        self._wake.set()

    def forget(self) -> None:
        """Begin anew: what was explained is past."""
        self.reason = None
        self.explained.clear()

    def close(self) -> None:
        """End the thread; what it waits for must be hurried by the caller."""
        self._ending.set()
        self._wake.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ending.is_set():
            self._wake.wait(INTERVAL)
            self._wake.clear()
            try:
                fault, self._stop_wanted = self._stop_wanted, None
                if fault is not None:
                    self._stop(fault)
                elif self._is_idle() and not self._ending.is_set():
                    self.state = self._read()
                    self.failure = None
            except RwsError as error:
                self.failure = str(error)

    def _stop(self, fault: Fault) -> None:
        try:
            # A controller that stopped by itself is asked first: afterwards the program would be stopped in any case.
            if fault.explainable:
                self.reason = stopped(self._rws.panel())
        finally:
            self.explained.set()
            self._rws.stop_program()

    def _read(self) -> ArmState:
        positions = tuple(map(math.radians, self._rws.joints(self._unit)))
        return ArmState(positions, (0.0,) * len(positions), time.monotonic())
