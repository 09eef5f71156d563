import threading

import pytest
import rclpy
from rclpy.signals import SignalHandlerOptions
from support.peer import eventually

from lfd_description.nodes.executor import BackgroundExecutor


@pytest.fixture
def errors():
    return []


@pytest.fixture
def executor(ros_domain, errors):
    rclpy.init(domain_id=ros_domain, signal_handler_options=SignalHandlerOptions.NO)
    executor = BackgroundExecutor(4, errors.append)
    yield executor
    executor.close(0.0)
    rclpy.shutdown()


def test_the_end_waits_for_tasks_and_for_those_that_they_start(executor):
    done = []

    def first():
        threading.Event().wait(0.5)  # a task that takes so long: that is what is tested
        executor.create_task(second)

    def second():
        done.append('second')

    executor.create_task(first)
    assert executor.close(30.0)
    assert done == ['second']


def test_the_end_does_not_wait_for_ever(executor):
    release = threading.Event()
    executor.create_task(release.wait, 30.0)
    assert not executor.close(0.1)
    release.set()


def test_a_task_that_fails_is_reported_and_the_others_go_on(executor, errors):
    def fail():
        raise ZeroDivisionError('no')

    executor.create_task(fail)
    eventually(lambda: errors, 'the report')
    assert [str(error) for error in errors] == ['no']
    done = threading.Event()
    executor.create_task(done.set)
    assert done.wait(30.0)
