import threading

from lfd_hardware.chores import Chores


def test_jobs_are_done_again_and_again_also_after_one_that_fails():
    errors, done = [], []
    enough = threading.Event()

    def fails():
        raise RuntimeError('no')

    def works():
        done.append(threading.current_thread())
        if len(done) > 3:
            enough.set()

    chores = Chores(errors.append)
    chores.every(0.0, fails)
    chores.every(0.0, works)
    assert enough.wait(30.0)
    chores.stop()
    assert not done[0].is_alive()
    assert {str(error) for error in errors} == {'no'}


def test_a_rare_job_waits_for_its_time():
    done, chores = [], Chores(lambda error: None)
    often = threading.Semaphore(0)
    chores.every(3600.0, lambda: done.append('rare'))
    chores.every(0.0, often.release)
    for _ in range(5):
        assert often.acquire(timeout=30.0)
    chores.stop()
    assert done == []
