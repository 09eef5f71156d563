"""`./lfd recover`: bring hardware that stopped, and its controllers, back when a person who sees the arm asks."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from builtin_interfaces.msg import Duration
from controller_manager_msgs.srv import (
    ListControllers,
    ListHardwareComponents,
    SetHardwareComponentState,
    SwitchController,
)
from lifecycle_msgs.msg import State

from .home.console import complain
from .member import Member, joined

MANAGER = 'controller_manager'
ACTIVE, INACTIVE = 'active', 'inactive'
ANSWER_WITHIN = 10.0  # [s]
CHANGE_WITHIN = 40.0  # [s] that hardware has to come up: motors are switched on, brakes released
SWITCH_WITHIN = 5  # [s] that controllers have


def main(arguments: argparse.Namespace) -> int:
    """Make all hardware and all controllers active; returns 1 if one of them stays as it is.

    Uses `domain_id` (a number, or None: the usual one).
    """
    with joined('lfd_recover', arguments.domain_id) as member:
        manager = _Manager(member)
        told = [*_hardware(manager)]
        if all(told):  # controllers of hardware that is not there would only be refused
            told += _controllers(manager)
    if not told:
        print('Nothing to do: all hardware and all controllers are active.')
    return 0 if all(told) else 1


class _Manager:
    """The services of a controller manager."""

    def __init__(self, member: Member) -> None:
        self._member = member

    def ask(self, kind: Any, name: str, request: Any, timeout: float = ANSWER_WITHIN) -> Any:
        client = self._member.node.create_client(kind, f'{MANAGER}/{name}')
        return self._member.ask(client, request, timeout)


def _hardware(manager: _Manager) -> Iterator[bool]:
    """Make hardware active, one after the other, and say so; whether each of those that were not is."""
    listed = manager.ask(ListHardwareComponents, 'list_hardware_components', ListHardwareComponents.Request())
    for component in listed.component:
        before = component.state.label
        if before == ACTIVE:
            continue
        wanted = State(id=State.PRIMARY_STATE_ACTIVE, label=ACTIVE)
        request = SetHardwareComponentState.Request(name=component.name, target_state=wanted)
        answer = manager.ask(SetHardwareComponentState, 'set_hardware_component_state', request, CHANGE_WITHIN)
        yield _told(f'hardware {component.name}', before, bool(answer.ok), answer.state.label)


def _controllers(manager: _Manager) -> Iterator[bool]:
    """The same of controllers."""
    listed = manager.ask(ListControllers, 'list_controllers', ListControllers.Request())
    for controller in listed.controller:
        if controller.state == ACTIVE:
            continue
        if controller.state != INACTIVE:
            yield _told(f'controller {controller.name}', controller.state, False, controller.state)
            continue
        request = SwitchController.Request(
            activate_controllers=[controller.name],
            strictness=SwitchController.Request.STRICT,
            activate_asap=True,
            timeout=Duration(sec=SWITCH_WITHIN),
        )
        answer = manager.ask(SwitchController, 'switch_controller', request)
        yield _told(f'controller {controller.name}', INACTIVE, bool(answer.ok), INACTIVE)


def _told(what: str, before: str, is_done: bool, after: str) -> bool:
    if is_done:
        print(f'{what}: was {before}, is {ACTIVE} now', flush=True)
    else:
        complain(f'{what} was {before} and is {after}: the lines of {MANAGER} say why.')
    return is_done
