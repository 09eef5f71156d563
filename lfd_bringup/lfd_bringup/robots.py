"""`./lfd robots`: which arms there are, and new ones from any URDF."""

from __future__ import annotations

import argparse
import contextlib
import shutil
import textwrap
from collections.abc import Callable, Iterator

import numpy as np

from lfd_description.grippers import GripperError, find_gripper
from lfd_description.meshes import MeshError
from lfd_description.model.builder import build_model
from lfd_description.model.derived import derived_files, model_files, remove_left_over, write_files
from lfd_description.model.findings import Finding, ModelError
from lfd_description.model.importer import Request, import_robot
from lfd_description.model.model import RobotModel
from lfd_description.robots import RobotError, find_robot, load_robot, robot_names
from lfd_description.urdf import UrdfError
from lfd_planner.robot.ik import make_solver

from .home.console import StepLine
from .home.faults import Fault
from .home.layout import CHECKOUT

ROBOTS = CHECKOUT / 'lfd_description' / 'robots'
ROUND_TRIPS = 200
SEED = 3


def main(_: argparse.Namespace) -> int:
    """Print a table of the robots."""
    print(f'{"name":12} {"arm":28} {"joints":>6} {"reach":>8} {"payload":>8}')
    for name in robot_names():
        try:
            robot = find_robot(name)
        except RobotError as error:
            print(f'{name:12} cannot be used: {error}')
            continue
        payload = f'{robot.payload:5.1f} kg' if robot.payload else f'{"-":>8}'
        print(f'{robot.name:12} {robot.label:28} {len(robot.joints):6} {robot.reach:6.3f} m {payload}')
    return 0


def add(arguments: argparse.Namespace) -> int:
    """Make a robot of a URDF or xacro file, and print what was found out and why."""
    request = Request(
        arguments.path,
        name=arguments.name,
        tip=arguments.tip,
        base=arguments.base,
        gripper=arguments.gripper,
        arguments=dict(arguments.arguments),
    )
    with _explained(), _step(f'Make a robot of {arguments.path}') as progress:
        imported = import_robot(request, ROBOTS, progress)
        check = _check_ik(imported.model)
    name = imported.robot.name
    print(f'{imported.robot.title} is now the robot {name}, in {imported.robot.folder}:\n')
    _print_findings((*imported.findings, check))
    print(f'\nTry: ./lfd robots show {name}    ./lfd up --robot {name}')
    return 0


def build(arguments: argparse.Namespace) -> int:
    """Derive the files of robots anew: in their folders, or for one robot with a gripper and a prefix elsewhere."""
    names = arguments.names or list(robot_names())
    if arguments.out is not None:
        return _export(names, arguments)
    for number, name in enumerate(names, start=1):
        with _explained(), _step(f'Derive the files of {name}', number, len(names)) as progress:
            robot = load_robot(ROBOTS / name)
            files = derived_files(robot, progress=progress)
            write_files(robot.folder, files)
            remove_left_over(robot.folder, files)
        print(f'{name}: {len(files)} files in {robot.folder}')
    return 0


def _export(names: list[str], arguments: argparse.Namespace) -> int:
    if len(names) != 1:
        raise Fault('--out is for one robot.', 'name it: ./lfd robots build NAME --out DIR')
    with _explained(), _step(f'Build the model of {names[0]}') as progress:
        robot = find_robot(names[0])
        gripper = find_gripper(arguments.gripper) if arguments.gripper else robot.default_gripper()
        model = build_model(
            robot,
            gripper=gripper,
            prefix=arguments.prefix,
            hardware=arguments.hardware,
            robot_ip=arguments.robot_ip,
            progress=progress,
        )
        files = model_files(model)
        write_files(arguments.out, files)
    _print_findings(model.findings)
    print(f'\n{arguments.out}: {", ".join(files)}')
    return 0


def _check_ik(model: RobotModel) -> Finding:
    """Whether the inverse kinematics finds the way back from poses that the arm is known to reach."""
    solver = make_solver(model.tree, model.group.base, model.group.tip)
    low = np.where(np.isfinite(solver.lower), solver.lower, -np.pi)
    high = np.where(np.isfinite(solver.upper), solver.upper, np.pi)
    q = np.random.default_rng(SEED).uniform(low, high, (ROUND_TRIPS, len(low)))
    solved = len(set(solver.solve_batch(solver.chain.poses(q)).pose.tolist()))
    share = 'all' if solved == ROUND_TRIPS else 'only'
    return Finding('checked', f'{share} {solved} of {ROUND_TRIPS} poses solved', 'random ones that it reaches')


def _print_findings(findings: tuple[Finding, ...]) -> None:
    width = max(len(finding.what) for finding in findings) + 2
    columns = min(shutil.get_terminal_size((100, 24)).columns, 120)
    for finding in findings:
        text = textwrap.wrap(f'{finding.value} ({finding.why})', columns - width - 2) or ['']
        print(f'  {finding.what:{width}}{text[0]}')
        for line in text[1:]:
            print(f'  {"":{width}}{line}')


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """What is wrong with a robot is one sentence for the user."""
    try:
        yield
    except (RobotError, UrdfError, ModelError, MeshError, GripperError) as error:
        raise Fault(str(error)) from None


@contextlib.contextmanager
def _step(title: str, number: int = 1, total: int = 1) -> Iterator[Callable[[float], None]]:
    line = StepLine(title, number, total)
    try:
        yield line.update
    except BaseException:
        line.end(False)
        raise
    line.end(True)
