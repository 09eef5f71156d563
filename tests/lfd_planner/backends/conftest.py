"""The backends that there are on this machine, each with the arms that the contract is checked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec

import pytest
from support import moveit_stand_in
from support.planning_cells import PlanningCell, planning_cell

from lfd_planner.backends import PlanningBackend
from lfd_planner.backends.embedded import EmbeddedBackend
from lfd_planner.backends.moveit import MoveItBackend
from lfd_planner.search.warm_up import warm_up


def on_stand_in(cell: PlanningCell) -> MoveItBackend:
    """The MoveIt backend with a stand-in for MoveIt itself."""
    with moveit_stand_in.installed():
        return MoveItBackend(cell.robot)


MAKERS: dict[str, Callable[[PlanningCell], PlanningBackend]] = {
    'embedded': lambda cell: EmbeddedBackend(cell.robot),
    'moveit stand-in': on_stand_in,
    'moveit': lambda cell: MoveItBackend(cell.robot),
}
CASES = [('embedded', 'ur5e'), ('embedded', 'gp8'), ('embedded', 'panda'), ('moveit stand-in', 'ur5e')]
if find_spec('moveit') is not None and find_spec('moveit.planning') is not None:
    CASES.append(('moveit', 'ur5e'))


@pytest.fixture(scope='session', autouse=True)
def nothing_left_to_compile() -> None:
    """So that time budgets are for searches."""
    warm_up()


@pytest.fixture(scope='session')
def make_backend() -> Iterator[Callable[[str, str], PlanningBackend]]:
    """Makes each backend once; MoveIt takes seconds to start."""
    made: dict[tuple[str, str], PlanningBackend] = {}

    def make(backend: str, arm: str) -> PlanningBackend:
        if (backend, arm) not in made:
            made[backend, arm] = MAKERS[backend](planning_cell(arm))
        return made[backend, arm]

    yield make
    for backend in made.values():
        if isinstance(backend, MoveItBackend):
            backend.close()


@pytest.fixture(params=CASES, ids=' '.join)
def case(request: pytest.FixtureRequest) -> tuple[str, str]:
    return request.param


@pytest.fixture
def cell(case: tuple[str, str]) -> PlanningCell:
    return planning_cell(case[1])


@pytest.fixture
def backend(case: tuple[str, str], make_backend: Callable[[str, str], PlanningBackend]) -> PlanningBackend:
    return make_backend(*case)
