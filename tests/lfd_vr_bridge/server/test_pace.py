"""What a client's times mean."""

from __future__ import annotations

import numpy as np
import pytest

from lfd_vr_bridge.server.pace import ClientClock


def test_waiting_on_the_way_does_not_change_when_something_was() -> None:
    random, clock = np.random.default_rng(1), ClientClock()
    sent = np.arange(0.0, 10.0, 1.0 / 90.0)
    delays = 0.002 + random.exponential(0.03, len(sent))
    arrived = np.maximum.accumulate(sent + delays)  # a WebSocket keeps the order
    here = np.array([clock.here(5000.0 + s, 100.0 + a) for s, a in zip(sent, arrived, strict=True)])
    assert (np.diff(here) >= 0.0).all()
    assert (here <= 100.0 + arrived).all()
    late = here[200:] - 100.0 - sent[200:]
    assert np.ptp(late) < 0.01 < 0.05 < np.ptp(arrived - sent)


def test_a_clock_that_goes_slower_is_followed() -> None:
    clock = ClientClock()
    for second in range(7200):
        here = clock.here(second * (1.0 - 1e-4), 100.0 + second)
    assert here == pytest.approx(100.0 + 7199, abs=0.01)
