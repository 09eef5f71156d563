"""How a node of the suite lives: from its start until SIGINT or SIGTERM, and without a traceback at either end.

rclpy's own signal handlers shut the context down under a running executor, which then fails in whatever call it was
making, or misses the signal and waits. Here a signal only sets a flag, and the executor looks at it between two calls.
"""

import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from .executor import BackgroundExecutor

LOOK_EVERY = 0.1  # [s] between two looks at the flag, when nothing else happens
Made = TypeVar('Made', bound=Node)
ANSWER_WITHIN = 2.0  # [s] that requests under way have, at the end, to be answered


def run_until_signal(
    name: str,
    make: Callable[[], Made],
    args: Sequence[str] | None,
    refusals: tuple[type[Exception], ...] = (),
    *,
    threads: int = 1,
    on_stop: Callable[[Made], None] = lambda _: None,
    is_idle: Callable[[Made], bool] = lambda _: True,
) -> int:
    """Run a node until SIGINT or SIGTERM; `threads` callbacks of it at once.

    `on_stop` is called after the signal, to end what is under way; its answers are still sent. With one thread, the
    node is served until it `is_idle`, or for some seconds.

    Returns 0 then, or 2 at once, with one sentence on stderr, if the command line is wrong or `make` raises one of the
    `refusals`.
    """
    explained: tuple[type[Exception], ...] = (RuntimeError, *refusals)  # rclpy raises the first for its arguments
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
        node = make()
    except explained as error:
        print(f'{name}: {" ".join(str(error).split())}', file=sys.stderr)
        rclpy.try_shutdown()
        return 2
    if threads > 1:
        _serve_in_threads(node, threads, stop, on_stop)
    else:
        _serve(node, stop, on_stop, is_idle)
    node.destroy_node()
    rclpy.try_shutdown()
    return 0


def _serve(node: Made, stop: threading.Event, on_stop: Callable[[Made], None], is_idle: Callable[[Made], bool]) -> None:
    executor = SingleThreadedExecutor()
    executor.add_node(node)

    def spin_once() -> None:
        try:
            executor.spin_once(timeout_sec=LOOK_EVERY)
        except Exception as error:  # a callback's: the others go on
            _log(node, error)

    while not stop.is_set():
        spin_once()
    on_stop(node)
    deadline = time.monotonic() + ANSWER_WITHIN
    while not is_idle(node) and time.monotonic() < deadline:
        spin_once()
    executor.shutdown()


def _serve_in_threads(node: Made, threads: int, stop: threading.Event, on_stop: Callable[[Made], None]) -> None:
    executor = BackgroundExecutor(threads, lambda error: _log(node, error))
    executor.add_node(node)
    stop.wait()
    on_stop(node)
    executor.close(ANSWER_WITHIN)


def _log(node: Node, error: Exception) -> None:
    node.get_logger().error(f'A callback failed: {error!r}', throttle_duration_sec=1.0)
