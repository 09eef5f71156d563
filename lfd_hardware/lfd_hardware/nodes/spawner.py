"""Bring controllers up through the services of a controller manager, embedded or official."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

import rclpy
from builtin_interfaces.msg import Duration
from controller_manager_msgs.srv import ConfigureController, ListControllers, LoadController, SwitchController
from rclpy.exceptions import InvalidNodeNameException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args
from rclpy.validate_node_name import validate_node_name

REMIND_EVERY = 10.0  # [s] between two lines about waiting
POLL_EVERY = 0.02  # [s] between two looks for a service
SWITCH_TIMEOUT = 5  # [s] that the manager may take for a switch
LIST_ATTEMPTS = 3  # a first answer can get lost while the two sides discover each other


class SpawnError(RuntimeError):
    """The controllers could not be brought up; the message is one sentence."""


class WrongUsage(ValueError):
    """A command line that names no controllers as ROS does, or that ROS does not take; the message is one line."""


class Interrupted(BaseException):
    """SIGINT or SIGTERM came."""


class Spawner:
    """Calls the services of one controller manager; an executor must spin ``node`` in another thread."""

    def __init__(self, node: Node, manager: str, service_timeout: float, call_timeout: float) -> None:
        self._manager = manager
        self._service_timeout = service_timeout  # [s] zero: for ever
        self._call_timeout = call_timeout  # [s]
        self._clients: dict[str, Any] = {}
        for kind, name in (
            (ListControllers, 'list_controllers'),
            (LoadController, 'load_controller'),
            (ConfigureController, 'configure_controller'),
            (SwitchController, 'switch_controller'),
        ):
            self._clients[name] = node.create_client(kind, f'{manager}/{name}')

    def wait(self) -> None:
        """Wait until the manager offers all its services."""
        begin = time.monotonic()
        reminded = begin
        while not all(client.service_is_ready() for client in self._clients.values()):
            now = time.monotonic()
            if 0.0 < self._service_timeout < now - begin:
                raise SpawnError(
                    f"No services of '{self._manager}' after {self._service_timeout:g} s: is ros2_control_node running "
                    'and does it have a robot_description?'
                )
            if now - reminded > REMIND_EVERY:
                reminded = now
                _say(f"Still waiting for the services of '{self._manager}'.")
            time.sleep(POLL_EVERY)

    def bring_up(self, controller: str, activate: bool) -> None:
        """Load, configure and activate one controller, leaving out what is done already."""
        state = self._state(controller)
        if state == '':
            self._step('load_controller', LoadController.Request(name=controller), controller, 'load')
            _say(f"Loaded '{controller}'.")
            state = 'unconfigured'
        if state == 'unconfigured':
            self._step('configure_controller', ConfigureController.Request(name=controller), controller, 'configure')
            _say(f"Configured '{controller}'.")
            state = 'inactive'
        if state == 'active':
            _say(f"'{controller}' is active already.")
        elif activate:
            request = SwitchController.Request(
                activate_controllers=[controller],
                strictness=SwitchController.Request.STRICT,
                activate_asap=True,
                timeout=Duration(sec=SWITCH_TIMEOUT),
            )
            self._step('switch_controller', request, controller, 'activate')
            _say(f"Activated '{controller}'.")

    def _state(self, controller: str) -> str:
        """The controller's state, empty when it is not loaded."""
        for attempt in range(LIST_ATTEMPTS):
            try:
                answer = self._call('list_controllers', ListControllers.Request())
                break
            except SpawnError:
                if attempt == LIST_ATTEMPTS - 1:
                    raise
        return next((str(each.state) for each in answer.controller if each.name == controller), '')

    def _step(self, service: str, request: Any, controller: str, verb: str) -> None:
        answer = self._call(service, request)
        if not answer.ok:
            reason = getattr(answer, 'message', '') or 'its log says why'
            raise SpawnError(f"'{self._manager}' did not {verb} '{controller}': {reason}")

    def _call(self, service: str, request: Any) -> Any:
        done = threading.Event()
        future = self._clients[service].call_async(request)
        future.add_done_callback(lambda _: done.set())
        if not done.wait(self._call_timeout):
            raise SpawnError(
                f"'{self._manager}/{service}' did not answer within {self._call_timeout:g} s: is it stuck?"
            )
        return future.result()


def _say(text: str) -> None:
    print(f'[spawner] {text}', flush=True)


def _parse(command_line: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog='spawner', description='Load, configure and activate controllers.')
    parser.add_argument('controllers', nargs='+', metavar='CONTROLLER', help='name of a controller to bring up')
    parser.add_argument(
        '-c', '--controller-manager', default='controller_manager', metavar='NAME', help="the manager's node name"
    )
    parser.add_argument('--inactive', action='store_true', help='load and configure, but do not activate')
    parser.add_argument(
        '--controller-manager-timeout',
        type=float,
        default=0.0,
        metavar='S',
        help='seconds to wait for the manager; 0: for ever (default)',
    )
    parser.add_argument(
        '--service-call-timeout', type=float, default=10.0, metavar='S', help='seconds to wait for an answer (10)'
    )
    try:
        arguments = remove_ros_args(command_line)[1:]
    except RuntimeError as error:  # rclpy's, when it cannot read its part
        raise WrongUsage(' '.join(str(error).split())) from error
    options = parser.parse_args(arguments)
    for name in options.controllers:
        try:
            validate_node_name(name)
        except InvalidNodeNameException as error:
            raise WrongUsage(f"'{name}' is no controller's name: use letters, digits and underscores.") from error
    return options


def _spin(executor: Any) -> None:
    try:
        executor.spin()
    except ExternalShutdownException:
        return


def _interrupt(*_: Any) -> None:
    raise Interrupted


def main(args: Sequence[str] | None = None) -> int:
    """Bring the named controllers up.

    Returns 0 when all are up (or on SIGINT), 1 when one is not, 2 when the command line is wrong.
    """
    command_line = sys.argv if args is None else ['spawner', *args]
    node, executor, spinner = None, None, None
    try:
        options = _parse(command_line)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _interrupt)
        rclpy.init(args=command_line, signal_handler_options=SignalHandlerOptions.NO)
        node = Node(f'spawner_{options.controllers[0]}')
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        spinner = threading.Thread(target=_spin, args=(executor,), name='executor', daemon=True)
        spinner.start()
        spawner = Spawner(
            node, options.controller_manager, options.controller_manager_timeout, options.service_call_timeout
        )
        spawner.wait()
        for controller in options.controllers:
            spawner.bring_up(controller, activate=not options.inactive)
    except (SpawnError, WrongUsage) as error:
        print(f'[spawner] {error}', file=sys.stderr, flush=True)
        return 2 if isinstance(error, WrongUsage) else 1
    except Interrupted:
        return 0
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        if executor is not None and spinner is not None:
            executor.shutdown(timeout_sec=1.0)
            spinner.join(timeout=1.0)
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    sys.exit(main())
