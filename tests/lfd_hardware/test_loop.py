import threading

from lfd_hardware.loop import ControlLoop


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
    loop.stop()
    assert loop.statistics.missed >= 0.2 / period - 2
