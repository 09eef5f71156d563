"""The grippers the suite knows: each is a folder of `grippers/`, found by listing.

A folder holds `gripper.yaml` (this module's data), `grasp_data.yaml` (what it can grasp), `controllers.yaml` (of
ros2_control) and `<name>.xacro`, whose
macro `lfd_gripper` mounts it on any link: a fixed joint to `hand_base`, whose z axis points out of the flange, the
bodies, and the frame `tcp` at the finger tips or the lip of the cup. Adding a gripper is adding a folder.
"""

from dataclasses import dataclass
from pathlib import Path

from ament_index_python.packages import get_package_share_directory

from .grasp_data import FINGER, KINDS, AnyGraspData, GraspDataError, load_grasp_data
from .hints import no_such
from .shapes import Vector
from .yaml_file import YamlFile

BASE_LINK = 'hand_base'
TCP_LINK = 'tcp'
MOUNT_JOINT = 'hand_joint'
MACRO = 'lfd_gripper'

_KEYS = ('title', 'kind', 'mass_kg', 'payload_kg', 'mount_diameter_m', 'tcp_xyz_m', 'touch_links')


class GripperError(Exception):
    """A gripper's folder is wrong; the message is one sentence for the user, or a line for each problem."""


class UnknownGripper(GripperError):
    """There is no gripper of that name."""


@dataclass(frozen=True)
class Gripper:
    """An end effector: how it is mounted, what moves it, and what it can grasp. Its names come without prefix."""

    name: str
    title: str
    kind: str
    """`finger` or `suction`."""
    mass: float
    """[kg], of the whole gripper."""
    payload: float
    """[kg], the heaviest object that it holds."""
    mount_diameter: float
    """[m], of the plate on the flange."""
    tcp: Vector
    """Where the frame `tcp` lies in `hand_base` [m]; both look the same way."""
    joint: str | None
    """The joint that opens and closes the fingers; a suction gripper has none."""
    gpio: str | None
    """The output that switches the vacuum; a gripper with fingers has none."""
    touch_links: tuple[str, ...]
    """The links that touch a held object."""
    grasp_data: AnyGraspData
    folder: Path

    @property
    def xacro_file(self) -> Path:
        """The source of its bodies, with the macro `lfd_gripper` (prefix, parent, rpy)."""
        return self.folder / f'{self.name}.xacro'

    @property
    def controllers_file(self) -> Path:
        """The controllers of ros2_control that move it, for names without prefix."""
        return self.folder / 'controllers.yaml'

    @property
    def controllers(self) -> tuple[str, ...]:
        """Their names."""
        fingers, valve = self.joint and 'gripper_controller', self.gpio and f'{self.gpio}_controller'
        return tuple(name for name in (fingers, valve) if name)

    @property
    def grasp_data_file(self) -> Path:
        """What it can grasp, in MoveIt Grasps' format."""
        return self.folder / 'grasp_data.yaml'


def gripper_names() -> tuple[str, ...]:
    """The names of all grippers, in alphabetical order."""
    return tuple(sorted(file.parent.name for file in _grippers_folder().glob('*/gripper.yaml')))


def find_gripper(name: str) -> Gripper:
    """The gripper of that name.

    Raises:
        UnknownGripper: there is none; the message names those there are.
        GripperError: its files are wrong; the message names the file and the key.
    """
    names = gripper_names()
    if name not in names:
        raise UnknownGripper(no_such('gripper', name, names))
    return load_gripper(_grippers_folder() / name)


def load_gripper(folder: Path) -> Gripper:
    """Read and check the gripper.yaml and the grasp_data.yaml of a gripper's folder.

    Raises:
        GripperError: a file is missing or wrong; the message names the file and the key.
    """
    data = YamlFile(folder / 'gripper.yaml', GripperError, example='title: My gripper')
    kind = data.choice('kind', KINDS)
    drive = 'joint' if kind == FINGER else 'gpio'
    for error in data.unknown_keys((*_KEYS, drive)):
        raise error
    x, y, z = data.numbers('tcp_xyz_m', 3, 'numbers [m]')
    gripper = Gripper(
        name=folder.name,
        title=data.text('title'),
        kind=kind,
        mass=data.positive('mass_kg'),
        payload=data.positive('payload_kg'),
        mount_diameter=data.positive('mount_diameter_m'),
        tcp=(x, y, z),
        joint=data.text('joint') if kind == FINGER else None,
        gpio=data.text('gpio') if kind != FINGER else None,
        touch_links=data.names('touch_links'),
        grasp_data=_grasp_data(folder),
        folder=folder,
    )
    _refuse_mismatch(gripper, data)
    return gripper


def _grasp_data(folder: Path) -> AnyGraspData:
    try:
        return load_grasp_data(folder / 'grasp_data.yaml')
    except GraspDataError as error:
        raise GripperError(str(error)) from None


def _refuse_mismatch(gripper: Gripper, data: YamlFile) -> None:
    """The two files of a folder must speak of the same gripper."""
    grasps = gripper.grasp_data
    if grasps.end_effector_type != gripper.kind:
        raise data.wrong(
            'kind', gripper.kind, f'{grasps.end_effector_type}, the end_effector_type of {gripper.grasp_data_file}'
        )
    if gripper.joint is not None and gripper.joint not in grasps.joints:
        raise data.wrong(
            'joint', gripper.joint, f'one of the joints of {gripper.grasp_data_file}: {", ".join(grasps.joints)}'
        )


def _grippers_folder() -> Path:
    return Path(get_package_share_directory('lfd_description')) / 'grippers'
