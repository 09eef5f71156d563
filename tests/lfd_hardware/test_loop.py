import threading

from lfd_hardware.loop import REMEMBERED, ControlLoop, LoopStatistics


def test_cycles_until_stopped_and_survives_a_failing_cycle():
    errors, threads, enough = [], [], threading.Event()

    def cycle():
        threads.append(threading.current_thread())
        if len(errors) < 3:
            raise RuntimeError('no')
        if len(threads) > 10:
            enough.set()

    loop = ControlLoop(0.001, cycle, errors.append)
    loop.start()
    assert enough.wait(10.0)
    loop.stop()
    assert not threads[0].is_alive()
    assert set(threads) == {threads[0]}
    assert [str(error) for error in errors] == ['no'] * 3
    assert loop.statistics.cycles == len(threads)


def test_cycles_that_come_too_late_are_counted_and_left_out():
    blocked, release, went_on = threading.Event(), threading.Event(), threading.Event()
    period = 0.01

    def cycle():
        if not blocked.is_set():
            blocked.set()
            release.wait(10.0)
        elif loop.statistics.cycles > 3:
            went_on.set()

    loop = ControlLoop(period, cycle, lambda error: None)
    loop.start()
    assert blocked.wait(10.0)
    threading.Event().wait(0.2)  # the cycle is held up for this long: that is what is tested
    release.set()
    assert went_on.wait(10.0)
    assert loop.stop()
    figures = loop.statistics
    assert figures.missed >= 0.2 / period - 2
    assert figures.overruns >= 1
    assert figures.duration.max >= 0.2
    assert figures.period.max >= 0.2
    assert 0.0 < figures.period.p50 <= figures.period.p99 <= figures.period.max


def test_figures_are_of_the_last_cycles_only():
    enough = threading.Event()

    def cycle():
        if loop.cycles > REMEMBERED + 100:
            enough.set()

    loop = ControlLoop(1e-6, cycle, lambda error: None)
    assert loop.statistics == LoopStatistics(0, 0)
    loop.start()
    assert enough.wait(30.0)
    assert loop.stop()
    figures = loop.statistics
    assert figures.cycles > REMEMBERED
    assert figures.duration.p50 > 0.0
