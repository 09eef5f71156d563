"""The command line of ./lfd: what can be asked for, and where the answer is.

Read twice for every command: outside the environment, where wrong usage is answered at once, and inside it, where the
command runs. The first reading has the standard library alone, so handlers are named here and imported when run.
"""

from __future__ import annotations

import argparse
import importlib
import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from .home.layout import CHECKOUT

DEMO_ROBOTS = ('gp8', 'irb1600', 'ur5e')
_USUAL_GRIPPER = "default: the robot's own, else two_finger"
HARDWARE = ('mock', 'motoman', 'abb', 'ur')
HANDS = ('mock', 'external')
AXES = ('ros', 'unity')
TWIN_AXES = "they are of Unity's scene where that is the twin: with --unity and --no-page, without --scene"
BACKENDS = ('embedded', 'moveit')
_RUNNING = "the one that ./lfd up printed; default: $ROS_DOMAIN_ID, else this checkout's own"
BENCHMARKS = CHECKOUT / 'tests' / 'benchmarks'
FORMATS = ('urscript', 'rapid', 'inform')  # of native programs
UNITY = '127.0.0.1:10000'  # where Unity's ROS-TCP-Connector looks for us
HIGHEST_DOMAIN = 231  # the highest for which DDS has all its ports

_EXAMPLES = """\
examples:
  ./lfd demo                          three arms stack boxes as demonstrated, over real ROS 2
  ./lfd up --robot ur5e --scene seed_cell   bring up one arm, and the page to show it a task; Ctrl-C stops it
  ./lfd up --robot ur5e --hardware ur --robot-ip 192.168.1.10   the same on a real one
  ./lfd execute --task TASK.mtdf.yaml   have it perform a task
  ./lfd recover                       after an emergency stop or a crash: make hardware and controllers active again
  ./lfd robots add my_arm.urdf        make a robot of any URDF
  ./lfd plan --robot gp8 --scene seed_cell --task TASK.mtdf.yaml   plan a task, without ROS
  ./lfd export OUT.json               write a plan as URScript, RAPID or INFORM, for a cell without ROS
  ./lfd doctor                        check this machine and explain what is wrong
  ./lfd run python my_node.py         run a program of yours in the same ROS 2 environment

The first start sets everything up below this folder (.venv and .lfd); nothing else on the machine is changed.
exit codes: 0 done, 1 refused or failed, 2 wrong usage
"""


_EXPORT_EXAMPLES = """\
examples:
  ./lfd export OUT.json                                       a .script, .mod or .JBI, as the controller reads it
  ./lfd export OUT.json --out stack.script --gripper-output tool:0
  ./lfd export OUT.json --mode moves --tolerance 0.002        movej with times and blends, few points
  ./lfd export OUT.json --tool tGripper --gripper-output doGrip --input door=diDoor
  ./lfd export OUT.json --pulses-per-degree S L U R B T       six numbers, for a Yaskawa

ports: urscript 0 to 7, configurable:0 to :7, tool:0 to :1; rapid a signal's name; inform 1 to 4096
The program's first lines say what is wired where. It stops if the arm is far from its first point (inform: it moves
there slowly). Try it at reduced speed.
"""


def robot_folders() -> list[str]:
    """Names of the robots in the checkout: a robot is a folder."""
    return sorted(path.parent.name for path in (CHECKOUT / 'lfd_description' / 'robots').glob('*/robot.yaml'))


def gripper_folders() -> list[str]:
    """Names of the grippers in the checkout: a gripper is a folder."""
    return sorted(path.parent.name for path in (CHECKOUT / 'lfd_description' / 'grippers').glob('*/gripper.yaml'))


def benchmarks() -> list[str]:
    """Names of the benchmarks in the checkout: a benchmark is a file."""
    return sorted(path.stem.removeprefix('bench_') for path in BENCHMARKS.glob('bench_*.py'))


def picture_size(text: str) -> tuple[int, int]:
    """Width and height in pixels; argparse prints the sentence otherwise."""
    width, _, height = text.lower().partition('x')
    if not (width.isdigit() and height.isdigit() and 16 <= int(width) <= 8192 and 16 <= int(height) <= 8192):
        raise argparse.ArgumentTypeError(f'{text!r} is no size; write width x height in pixels, such as 1200x900')
    return int(width), int(height)


def robot_name(text: str) -> str:
    """A robot that exists; argparse prints the sentence otherwise."""
    names = robot_folders()
    if text not in names:
        raise argparse.ArgumentTypeError(f'there is no robot {text!r}; the robots are {", ".join(names)}')
    return text


def shown_name(text: str) -> str:
    """A robot or gripper that exists; argparse prints the sentence otherwise."""
    return text if text in gripper_folders() else robot_name(text)


def xacro_argument(text: str) -> tuple[str, str]:
    """Name and value of a xacro argument; argparse prints the sentence otherwise."""
    name, mark, value = text.partition(':=')
    if not name or not mark:
        raise argparse.ArgumentTypeError(f'{text!r} is no xacro argument; write name:=value')
    return name, value


def signal_port(text: str) -> tuple[str, str]:
    """A signal of a task and a port of a controller; argparse prints the sentence otherwise."""
    signal, _, port = text.rpartition('=')
    if not signal or not port:
        raise argparse.ArgumentTypeError(f'{text!r} is no signal with a port; write name=port, such as door=3')
    return signal, port


def hardware_parameter(text: str) -> tuple[str, str]:
    """Name and value of a driver's parameter; argparse prints the sentence otherwise."""
    name, mark, value = text.partition('=')
    if not re.fullmatch(r'[A-Za-z][A-Za-z0-9_/]*', name) or not mark:
        raise argparse.ArgumentTypeError(f'{text!r} is no hardware parameter; write one such as rtde_port=30004')
    return name, value


def finite_number(text: str) -> float:
    """A number that is finite; argparse prints the sentence otherwise."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f'{text!r} is no finite number; write one such as 0.25')
    return number


def whole_number(text: str) -> int:
    """A number from 0 on without a fraction; argparse prints the sentence otherwise."""
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise argparse.ArgumentTypeError(f'{text!r} is no whole number; write one such as 7')
    return int(text)


def seconds(text: str) -> float:
    """A duration [s]; argparse prints the sentence otherwise."""
    number = finite_number(text)
    if number < 0.0:
        raise argparse.ArgumentTypeError(f'{text!r} is no duration; write seconds such as 2.5')
    return number


def speed(text: str) -> float:
    """A part of the full speed; argparse prints the sentence otherwise."""
    number = finite_number(text)
    if not 0.01 <= number <= 1.0:
        raise argparse.ArgumentTypeError(f'{text!r} is no speed; write a number from 0.01 to 1, such as 0.25')
    return number


def namespace(text: str) -> str:
    """A ROS namespace with its first slash; argparse prints the sentence otherwise."""
    name = text if text.startswith('/') else f'/{text}'
    if not re.fullmatch(r'(/[A-Za-z_][A-Za-z0-9_]*)+', name) or '__' in name:
        raise argparse.ArgumentTypeError(f'{text!r} is no namespace of a real robot; write one such as /real')
    return name


def port(text: str) -> int:
    """A TCP port; argparse prints the sentence otherwise."""
    if not (text.isascii() and text.isdigit() and len(text) < 6 and 0 < int(text) < 65536):
        raise argparse.ArgumentTypeError(f'{text!r} is no port; write a number from 1 to 65535, such as 8765')
    return int(text)


def listening_address(text: str) -> str:
    """An address of this machine as HOST:PORT; argparse prints the sentence otherwise."""
    host, _, number = text.rpartition(':')
    if not re.fullmatch(r'[A-Za-z0-9.:_-]+', host):
        raise argparse.ArgumentTypeError(f'{text!r} is no address with a port; write one such as {UNITY}')
    return f'{host}:{port(number)}'


def domain_id(text: str) -> int:
    """A ROS domain number; argparse prints the sentence otherwise."""
    if not text.isdigit() or int(text) > HIGHEST_DOMAIN:
        raise argparse.ArgumentTypeError(f'{text!r} is not a ROS domain; use a number from 0 to {HIGHEST_DOMAIN}')
    return int(text)


class _Parser(argparse.ArgumentParser):
    """Wrong usage in one sentence, with the way to help."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f'lfd: {message}\nSee: ./{self.prog} --help\n')


def _adder(
    commands: argparse._SubParsersAction[_Parser], before: str = ''
) -> Callable[[str, str, str, str], argparse.ArgumentParser]:
    """What adds a command by its name, handler, text and example, which stands after `before`."""

    def add(name: str, handler: str, text: str, example: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text, epilog=f'example: ./lfd {before}{example}')
        command.set_defaults(handler=handler)
        return command

    return add


def parser() -> argparse.ArgumentParser:
    """The command line as argparse sees it."""
    top = _Parser(
        prog='lfd',
        description='Show a manipulation task once, in VR; any industrial arm performs it.',
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = _adder(top.add_subparsers(dest='command', metavar='COMMAND', required=True, parser_class=_Parser))

    _add_demo(
        add(
            'demo',
            'demo.main:main',
            'Play the recorded demonstration on arms: plan, judge, move, report.',
            'demo --robot gp8 ur10e',
        )
    )
    _add_up(
        add(
            'up',
            'supervisor:main',
            'Bring up one robot, and the page on which tasks are shown, until Ctrl-C.',
            'up --robot ur5e --scene seed_cell',
        )
    )
    _add_graph(
        add('graph', 'graph:main', 'Print which nodes run for a robot, with all parameters.', 'graph --robot gp8')
    )
    _add_robots(add('robots', 'robots:main', 'List the robots, add one, show or rebuild them.', 'robots'))
    _add_mtdf(
        add('mtdf', '', 'Check, repair, convert, show and compare task files (MTDF).', 'mtdf check task.mtdf.yaml')
    )
    _add_vr(add('vr', '', 'Work with logs of what people showed.', 'vr replay 0001.mcap'))
    _add_plan(
        add(
            'plan',
            'plan:main',
            'Plan a task for a robot, without a graph.',
            'plan --robot ur5e --scene seed_cell --task stack_boxes.mtdf.yaml --json out.json',
        )
    )
    _add_execute(
        add(
            'execute',
            'execute:main',
            'Have the graph that ./lfd up runs perform a task; Ctrl-C stops the arm.',
            'execute --task stack_boxes.mtdf.yaml --speed 0.3',
        )
    )
    _add_domain(
        add(
            'recover',
            'recover:main',
            'Make hardware that stopped, and its controllers, active again: a real arm is switched on.',
            'recover',
        ),
        _RUNNING,
    )
    _add_validate(
        add('validate', 'validate:main', 'Judge a solution file by other means than its planner.', 'validate OUT.json')
    )
    _add_export(
        add(
            'export',
            'export:main',
            "Write a solution as a program of the robot's own controller.",
            'export OUT.json --out stack.script --gripper-output tool:0',
        )
    )
    add('doctor', 'home.doctor:main', 'Check the machine and the environment, and explain them.', 'doctor')

    bench = add('bench', 'bench:main', 'Measure lfd against its peers, in the same run.', 'bench robots')
    bench.add_argument('name', nargs='?', choices=benchmarks(), help='default: all of them')

    add(
        'test', 'checks:main', 'Run the linters, the type checker and all tests.', 'test tests/interop -x'
    ).add_argument('rest', nargs='*', metavar='...', help='if given: only pytest, with these arguments')
    add('run', 'run:main', 'Run a program inside the environment.', 'run python my_node.py').add_argument(
        'rest', nargs='*', metavar='PROGRAM ...'
    )
    add('setup', '', 'Set everything up and do nothing else.', 'setup')
    add('clean', '', 'Remove all that lfd made (.venv and .lfd).', 'clean')
    return top


def _add_demo(demo: argparse.ArgumentParser) -> None:
    demo.add_argument('--robot', nargs='+', type=robot_name, default=list(DEMO_ROBOTS), metavar='NAME', dest='robots')
    demo.add_argument(
        '--out', type=Path, default=Path('lfd-demo'), metavar='DIR', help='report folder (default: %(default)s)'
    )
    demo.add_argument('--headless', action='store_true', help='no live view in the terminal, and no page')


def _add_up(up: argparse.ArgumentParser) -> None:
    _add_graph_arguments(up)
    _add_domain(up, 'default: $ROS_DOMAIN_ID, else one of this checkout that is free')
    up.add_argument(
        '--discovery',
        choices=('localhost', 'subnet'),
        default='localhost',
        help='who on the network may take part (default: this machine only)',
    )


def _add_domain(command: argparse.ArgumentParser, default: str) -> None:
    command.add_argument('--domain-id', type=domain_id, metavar='N', help=f'ROS domain ({default})')


def _add_execute(execute: argparse.ArgumentParser) -> None:
    execute.add_argument('--task', required=True, type=Path, metavar='TASK.mtdf.yaml', help='what is to be done')
    execute.add_argument(
        '--solution',
        type=Path,
        metavar='OUT.json',
        help='what ./lfd plan --json wrote (default: it is planned, from where the arm and the objects are)',
    )
    execute.add_argument(
        '--from-keyframe',
        type=whole_number,
        default=0,
        metavar='N',
        dest='first_keyframe',
        help='where to go on after a fault (default: %(default)s)',
    )
    execute.add_argument(
        '--speed', type=speed, default=1.0, metavar='S', help='of the planned one, 0.01 to 1 (default: %(default)g)'
    )
    execute.add_argument('--dry-run', action='store_true', help='check everything, move nothing')
    _add_domain(execute, _RUNNING)


def _add_graph(graph: argparse.ArgumentParser) -> None:
    _add_graph_arguments(graph)
    graph.add_argument(
        '--home',
        choices=('embedded', 'ros'),
        default='embedded',
        help='ros: as the launch files start them on a ROS 2 machine (default: %(default)s)',
    )


def _add_robots(robots: argparse.ArgumentParser) -> None:
    add = _adder(robots.add_subparsers(dest='robots_command', metavar='COMMAND', parser_class=_Parser), 'robots ')

    new = add('add', 'robots:add', 'Make a robot of any URDF or xacro file.', 'add my_arm.urdf --gripper two_finger')
    new.add_argument('path', type=Path, metavar='PATH', help='a .urdf or .xacro file')
    new.add_argument(
        'arguments', nargs='*', type=xacro_argument, metavar='NAME:=VALUE', help='what a xacro file is given'
    )
    new.add_argument('--tip', metavar='LINK', help="the arm's last link (default: by convention, such as tool0)")
    new.add_argument('--base', metavar='LINK', help="the arm's first link (default: by convention, such as base_link)")
    new.add_argument('--gripper', choices=gripper_folders(), help='the gripper that it carries')
    new.add_argument('--name', metavar='NAME', help="name of the robot (default: the URDF's)")

    show = add('show', 'show:main', 'Draw robots, and open the 3-D view.', 'show ur5e --gripper two_finger')
    shown = ', '.join([*robot_folders(), *gripper_folders()])
    show.add_argument('names', nargs='*', type=shown_name, metavar='NAME', help=shown)
    show.add_argument('--all', action='store_true', help='all arms and grippers on one sheet')
    show.add_argument('--gripper', choices=gripper_folders(), help='what the arms carry')
    show.add_argument('--pose', default='home', metavar='NAME', help='a named pose of the arm (default: %(default)s)')
    show.add_argument('--out', type=Path, metavar='FILE.png', help='the picture (default: NAME.png)')
    show.add_argument('--size', type=picture_size, default=(1200, 900), metavar='WxH', help='default: 1200x900')
    show.add_argument('--no-browser', dest='browser', action='store_false', help='do not open the 3-D view')

    build = add('build', 'robots:build', 'Derive SRDF, MoveIt and ros2_control files.', 'build gp8 --out moveit_gp8')
    build.add_argument('names', nargs='*', type=robot_name, metavar='NAME', help='default: all robots')
    build.add_argument('--out', type=Path, metavar='DIR', help="write there, not into the robot's folder")
    build.add_argument('--gripper', choices=gripper_folders(), help='with --out: what the arm carries')
    build.add_argument('--prefix', default='', metavar='TEXT', help='with --out: goes before all names')
    build.add_argument('--hardware', choices=HARDWARE, default='mock', help='with --out (default: %(default)s)')
    build.add_argument('--robot-ip', metavar='HOST', help="with --hardware: the real controller's address")


def _add_mtdf(mtdf: argparse.ArgumentParser) -> None:
    made = mtdf.add_subparsers(dest='mtdf_command', metavar='COMMAND', required=True, parser_class=_Parser)
    add = _adder(made, 'mtdf ')

    scene = 'a scene by name or file, to find the objects in'
    check = add(
        'check', 'mtdf:check', 'Say all that is wrong with task files.', 'check task.mtdf.yaml --scene seed_cell'
    )
    check.add_argument('files', nargs='+', type=Path, metavar='FILE')
    check.add_argument('--scene', metavar='SCENE', help=scene)
    check.add_argument('--json', action='store_true', help='the problems as JSON')

    repair = add(
        'repair',
        'mtdf:repair',
        'Repair a task file, and say what was done.',
        'repair old.txt --axes unity --out task.mtdf.yaml',
    )
    repair.add_argument('file', type=Path, metavar='FILE')
    repair.add_argument('--axes', choices=AXES, help='the axes that its poses are in, if it does not say so')
    target = repair.add_mutually_exclusive_group()
    target.add_argument('--out', type=Path, metavar='FILE', help='default: the terminal')
    target.add_argument('--in-place', action='store_true', help='replace the file')

    convert = add(
        'convert',
        'mtdf:convert',
        'Write a task file in another format, version or axes.',
        'convert task.mtdf.yaml --out t.json',
    )
    convert.add_argument('file', type=Path, metavar='FILE')
    convert.add_argument('--out', type=Path, metavar='FILE', help='default: the terminal')
    convert.add_argument(
        '--format', choices=('yaml', 'json'), help="default: by the name of --out, else the file's own"
    )
    convert.add_argument('--version', type=int, choices=(1, 2), default=2, help='default: %(default)s')
    convert.add_argument('--axes', choices=AXES, default='ros', help='default: %(default)s')

    show = add('show', 'mtdf:show', 'Print a task in words.', 'show task.mtdf.yaml --scene seed_cell')
    show.add_argument('file', type=Path, metavar='FILE')
    show.add_argument('--scene', metavar='SCENE', help=scene)

    diff = add('diff', 'mtdf:diff', 'Print how two tasks differ.', 'diff before.mtdf.yaml after.mtdf.yaml')
    diff.add_argument('before', type=Path, metavar='BEFORE')
    diff.add_argument('after', type=Path, metavar='AFTER')
    diff.add_argument('--exit-code', action='store_true', help='exit with 1 if they differ')


def _add_vr(vr: argparse.ArgumentParser) -> None:
    made = vr.add_subparsers(dest='vr_command', metavar='COMMAND', required=True, parser_class=_Parser)
    replay = _adder(made, 'vr ')(
        'replay',
        'vr:replay',
        'Show the log of a demonstration to the recorder again, and write the task that it makes of it.',
        'replay 0001.mcap --out stack.mtdf.yaml',
    )
    replay.add_argument('file', type=Path, metavar='FILE.mcap', help='beside the task, in the folder of the page')
    replay.add_argument('--out', type=Path, metavar='TASK.mtdf.yaml', help='default: the terminal')


def _add_plan(plan: argparse.ArgumentParser) -> None:
    plan.add_argument('--robot', required=True, type=robot_name, metavar='NAME', help=', '.join(robot_folders()))
    plan.add_argument('--scene', required=True, metavar='SCENE.yaml', help='a scene by name or file')
    plan.add_argument('--task', required=True, type=Path, metavar='TASK.mtdf.yaml', help='what is to be done')
    plan.add_argument(
        '--origin',
        nargs=6,
        type=finite_number,
        metavar=('X', 'Y', 'Z', 'R', 'P', 'Y'),
        help="of the task in the scene's frame [m, rad] (default: as the task says)",
    )
    plan.add_argument('--json', type=Path, metavar='OUT.json', help='write the motion, or why there is none, there')
    plan.add_argument('--seed', type=whole_number, default=0, metavar='N', help='of the search (default: %(default)s)')
    plan.add_argument('--gripper', choices=gripper_folders(), help=_USUAL_GRIPPER)
    plan.add_argument(
        '--budget',
        type=seconds,
        default=0.0,
        metavar='S',
        help='keep improving for so long [s] (default: the first solution is enough)',
    )
    plan.add_argument(
        '--speed', type=speed, default=1.0, metavar='S', help='of the fastest motion, 0.01 to 1 (default: %(default)g)'
    )
    plan.add_argument(
        '--end-pose', metavar='POSE', help='of the robot, such as home, to go to at the end (default: it stays)'
    )
    plan.add_argument('--explain', action='store_true', help='say why this motion, or all that was rejected')


def _add_validate(validate: argparse.ArgumentParser) -> None:
    validate.add_argument('file', type=Path, metavar='OUT.json', help='what ./lfd plan --json wrote')
    validate.add_argument('--scene', metavar='SCENE', help="a scene by name or file (default: the file's)")
    validate.add_argument('--task', type=Path, metavar='TASK.mtdf.yaml', help="default: the file's")
    validate.add_argument(
        '--origin',
        nargs=6,
        type=finite_number,
        metavar=('X', 'Y', 'Z', 'R', 'P', 'Y'),
        help="of the task in the scene's frame [m, rad] (default: the file's)",
    )
    validate.add_argument('--robot', type=robot_name, metavar='NAME', help="default: the file's")
    validate.add_argument('--gripper', choices=gripper_folders(), help="default: the file's")
    validate.add_argument('--json', action='store_true', help='the report for programs')


def _add_export(command: argparse.ArgumentParser) -> None:
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.epilog = _EXPORT_EXAMPLES
    command.add_argument('file', type=Path, metavar='OUT.json', help='what ./lfd plan --json wrote')
    command.add_argument('--format', choices=FORMATS, help="default: the one of the robot's controller")
    command.add_argument('--out', type=Path, metavar='FILE', help='default: the name with its ending, in this folder')
    command.add_argument('--name', metavar='NAME', help='of the program (default: of the file)')
    command.add_argument(
        '--mode',
        choices=('servo', 'moves'),
        help='urscript: servo follows the planned motion, moves is a list of movej to edit (default: servo)',
    )
    command.add_argument(
        '--tolerance',
        type=finite_number,
        default=0.0005,
        metavar='RAD',
        help='by which lines between points may leave the planned path [rad] (default: %(default)s)',
    )
    command.add_argument('--tool', metavar='TOOL', help='rapid: tool data (default: tool0); inform: a number (0)')
    command.add_argument(
        '--pulses-per-degree',
        nargs=6,
        type=finite_number,
        metavar=('S', 'L', 'U', 'R', 'B', 'T'),
        help='inform: of the motors, as the controller says; negative: counted the other way',
    )
    command.add_argument(
        '--gripper-output',
        metavar='PORT',
        help='on while it holds (default: urscript 0, rapid doGripper, inform 1)',
    )
    for option, kind in (('--output', 'outputs'), ('--input', 'inputs')):
        command.add_argument(
            option,
            action='append',
            type=signal_port,
            default=[],
            metavar='SIGNAL=PORT',
            dest=kind,
            help=f"one of the task's {kind} (default: the next free port; rapid: the signal's name)",
        )


def _add_graph_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument('--robot', required=True, type=robot_name, metavar='NAME', help=', '.join(robot_folders()))
    command.add_argument(
        '--hardware', choices=HARDWARE, default='mock', help='what moves: nothing, or a real arm (default: %(default)s)'
    )
    command.add_argument('--robot-ip', metavar='ADDRESS', help="with --hardware: the real controller's address")
    command.add_argument(
        '--hardware-parameter',
        action='append',
        type=hardware_parameter,
        default=[],
        metavar='NAME=VALUE',
        dest='hardware_parameters',
        help='with --hardware: a parameter of its driver, such as a port or a timeout; may be repeated',
    )
    command.add_argument(
        '--scene',
        default='',
        metavar='SCENE',
        help='what stands around the robot: a scene file, or a bundled scene such as seed_cell',
    )
    command.add_argument('--gripper', choices=gripper_folders(), default='', help=_USUAL_GRIPPER)
    command.add_argument(
        '--hand',
        choices=HANDS,
        help='what moves the gripper: simulated, or its own driver (default: mock on mock hardware, else external)',
    )
    command.add_argument(
        '--backend',
        choices=BACKENDS,
        default=BACKENDS[0],
        help='what tasks are planned with; moveit needs moveit_py (default: %(default)s)',
    )
    command.add_argument(
        '--twin-of',
        type=namespace,
        metavar='NAMESPACE',
        help='mirror a real robot with these names in the same ROS domain, such as /real; commands go to it',
    )
    command.add_argument(
        '--no-page', dest='page', action='store_false', help='do not serve the page on which tasks are shown'
    )
    command.add_argument('--port', type=port, metavar='P', help='of the page (default: 8765, or the next that is free)')
    command.add_argument(
        '--lan', action='store_true', help='serve the page on the network too, over https, for headsets and tablets'
    )
    command.add_argument(
        '--folder', type=Path, metavar='DIR', help='where shown tasks are kept (default: $XDG_DATA_HOME/lfd)'
    )
    command.add_argument(
        '--unity',
        nargs='?',
        type=listening_address,
        const=UNITY,
        metavar='HOST:PORT',
        help="let Unity's ROS-TCP-Connector in (if given without an address: %(const)s); with --no-page and without "
        '--scene, its scene is what stands around the robot',
    )
    command.add_argument('--twin-axes', choices=AXES, help=f'of what Unity publishes (default: {AXES[0]})')


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Read the command line; exits with code 2 and one sentence on wrong usage."""
    top = parser()
    rest: Sequence[str] = ()
    if argv[:1] in (['test'], ['run']) and argv[1:2] not in (['-h'], ['--help']):
        argv, rest = argv[:1], argv[1:]  # for another program, options included
    elif argv[:1] == ['bench'] and argv[1:2] not in (['-h'], ['--help']):
        argv, rest = argv[:2], argv[2:]
    arguments = top.parse_args(argv)
    arguments.rest = list(rest)
    if arguments.command == 'run' and not rest:
        top.error('run needs a program, for example: ./lfd run python')
    _refuse_useless(top, arguments)
    if arguments.command in ('up', 'graph'):
        _refuse_hardware(top, arguments)
        _refuse_page_options(top, arguments)
    if getattr(arguments, 'robots_command', None) == 'show' and not arguments.names and not arguments.all:
        top.error('robots show needs a robot, for example: ./lfd robots show gp8 (or --all)')
    return arguments


def _refuse_useless(top: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    if getattr(arguments, 'robots_command', None) != 'build' or arguments.out is not None:
        return
    if arguments.gripper or arguments.prefix or arguments.robot_ip or arguments.hardware != 'mock':
        top.error('robots build needs --out DIR with --gripper, --prefix, --hardware or --robot-ip')


def _refuse_hardware(top: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """A real arm needs an address, and only a real arm of this graph does."""
    hardware = arguments.hardware
    is_told = bool(arguments.robot_ip or arguments.hardware_parameters)
    if hardware == 'mock' and is_told:
        top.error(f'--robot-ip and --hardware-parameter need --hardware, one of {", ".join(HARDWARE[1:])}')
    if hardware != 'mock' and arguments.twin_of:
        top.error('--twin-of has no hardware of its own: leave --hardware to the graph of the real robot')
    if arguments.hand and arguments.twin_of:
        top.error('--twin-of has no hand of its own: leave --hand to the graph of the real robot')
    serves_itself = hardware == 'motoman' and getattr(arguments, 'home', '') == 'ros'
    if serves_itself and is_told:
        top.error('MotoROS2 is found by its ROS names: leave --robot-ip and --hardware-parameter out')
    if hardware != 'mock' and not serves_itself and not arguments.robot_ip:
        top.error(f'--hardware {hardware} needs --robot-ip, the address of the controller, such as 192.168.1.10')


def _refuse_page_options(top: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    if not arguments.page and (arguments.port or arguments.lan or arguments.folder):
        top.error('--port, --lan and --folder are of the page: leave --no-page out')
    if arguments.twin_axes and (not arguments.unity or arguments.page or arguments.scene):
        top.error(f'--twin-axes says the axes of a twin: {TWIN_AXES}')


def handler(arguments: argparse.Namespace) -> Callable[[argparse.Namespace], int]:
    """The function that carries out a command."""
    module, function = arguments.handler.split(':')
    found: Callable[[argparse.Namespace], int] = getattr(importlib.import_module(f'{__package__}.{module}'), function)
    return found
