"""A robot as one HTML file: a 3-D view with a slider for each joint, which needs neither a server nor a network.

The page's own code is in `viewer/`. The robot goes in as JSON with its triangles in base64; every name in it comes from
a stranger's URDF, so that it reaches the page as data and never as markup.
"""

import base64
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

import numpy as np
import numpy.typing as npt
from ament_index_python.packages import get_package_share_directory

from ..bodies import MeshFinder, collision_bodies
from ..files import write_atomically
from ..kinematics import Tree
from ..urdf import Joint, RobotTree
from . import studio
from .rasteriser import Floats
from .robot_picture import (
    AZIMUTH,
    ELEVATION,
    DrawnRobot,
    corners_of,
    drawn_robot,
    items_by_link,
    resting_joints,
    slider_range,
)
from .scene_picture import FIELD_OF_VIEW, Colour, Item
from .studio import smooth_normals

SHOTS = 144
"""Frames that are averaged once the view rests."""
KEY_STEPS = np.array([1e6, 1e6, 1e6, 500.0, 500.0, 500.0], dtype=np.float32)
# Corners that differ by less than a micrometre [m] and a 500th in their normal are one.
COLLISION_COLOUR: Colour = (0.10, 0.72, 0.45, 1.0)


@dataclass(frozen=True)
class RobotPage:
    """What a page shows: a URDF, its titles, and named poses, each with joint positions by name [rad or m]."""

    urdf: str
    title: str
    subtitle: str = ''
    poses: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """The page starts with the first one."""
    start: Mapping[str, float] = field(default_factory=dict)
    """Where joints stand at first that the poses do not speak of; others are at zero, if they can be."""
    find: MeshFinder | None = None
    shots: int = SHOTS


@dataclass(frozen=True)
class _Part:
    """Triangles of one link and colour, in the link's frame [m]: unique corners, and three of them per triangle."""

    link: int
    colour: Colour
    collision: bool
    vertices: npt.NDArray[np.float32]
    """Position and normal, (N, 6)."""
    indices: npt.NDArray[np.uint32]


def write_page(page: RobotPage, file: Path) -> None:
    """Write the page, all of it or nothing.

    Raises:
        UrdfError: the URDF is wrong or names mesh files that are missing.
        MeshError: a mesh file cannot be read.
    """
    write_atomically(file, page_html(page))


def page_html(page: RobotPage) -> str:
    """The page's text.

    Raises:
        UrdfError: the URDF is wrong or names mesh files that are missing.
        MeshError: a mesh file cannot be read.
    """
    viewer = Path(get_package_share_directory('lfd_description')) / 'viewer'
    template = Template((viewer / 'robot.html').read_text(encoding='utf-8'))
    return template.substitute(
        title=html.escape(page.title),
        style=(viewer / 'robot.css').read_text(encoding='utf-8'),
        script='\n'.join((viewer / name).read_text(encoding='utf-8') for name in SCRIPTS),
        data=_as_script_text(_data(page)),
    )


SCRIPTS = ('kinematics.js', 'picture.js', 'controls.js')


def _as_script_text(data: Mapping[str, object]) -> str:
    """JSON that no name in it can end: without the letters that HTML gives a meaning to."""
    text = json.dumps(data, separators=(',', ':'), allow_nan=False)
    return text.replace('<', '\\u003c').replace('>', '\\u003e').replace('&', '\\u0026')


def _data(page: RobotPage) -> dict[str, object]:
    model = drawn_robot(page.urdf, page.find)
    solids = items_by_link(collision_bodies(page.urdf, page.find))
    links = Tree(model.tree).links
    poses = {name: dict(joints) for name, joints in page.poses.items()}
    start = {**resting_joints(model.tree), **page.start, **next(iter(poses.values()), {})}
    parts = [*_parts(model.items, links, collision=False), *_parts(solids, links, collision=True)]
    corners = np.concatenate([_corners(model, joints) for joints in poses.values() or [start]])
    return {
        'title': page.title,
        'subtitle': page.subtitle,
        'links': [_link(model.tree, link, links) for link in links],
        'poses': [{'name': name, 'joints': joints} for name, joints in poses.items()],
        'start': start,
        'floor': float(corners[:, 2].min()),
        'camera': _camera(corners),
        'light': _light(),
        'shots': page.shots,
        **_geometry(parts),
    }


def _link(tree: RobotTree, link: str, links: Sequence[str]) -> dict[str, object]:
    joint = tree.joint_to.get(link)
    if joint is None:
        return {'name': link, 'parent': -1, 'origin': np.eye(4).ravel().tolist(), 'joint': None}
    column_major = joint.origin.T.ravel().tolist()
    return {'name': link, 'parent': links.index(joint.parent), 'origin': column_major, 'joint': _joint(joint)}


def _joint(joint: Joint) -> dict[str, object] | None:
    if not joint.moves:
        return None
    lower, upper = slider_range(joint)
    mimic = joint.mimic
    follows = None if mimic is None else {'joint': mimic.joint, 'multiplier': mimic.multiplier, 'offset': mimic.offset}
    return {
        'name': joint.name, 'turns': joint.turns, 'axis': list(joint.axis), 'lower': lower, 'upper': upper,
        'mimic': follows,
    }  # fmt: skip


def _corners(model: DrawnRobot, joints: Mapping[str, float]) -> Floats:
    """The box around the robot in a pose: its corners low and high, (2, 3) [m]."""
    items = model.posed(joints)
    if not items:
        return np.array([[-0.5, -0.5, 0.0], [0.5, 0.5, 1.0]])
    places = corners_of(items)
    return np.array([places.min(axis=0), places.max(axis=0)])


def _camera(corners: Floats) -> dict[str, object]:
    """A view of everything between the outermost of the corners."""
    low, high = corners.min(axis=0), corners.max(axis=0)
    target = 0.5 * (low + high)
    radius = max(0.5 * float(np.linalg.norm(high - low)), 1e-3)
    return {
        'target': target.tolist(), 'radius': radius, 'azimuth': AZIMUTH, 'elevation': ELEVATION,
        'field_of_view': float(FIELD_OF_VIEW),
    }  # fmt: skip


def _light() -> dict[str, object]:
    return {
        'sun': studio.SUN.tolist(),
        'sky': studio.SKY.tolist(),
        'bounce': studio.BOUNCE.tolist(),
        'sun_size': float(studio.SUN_SIZE),
        'sun_azimuth': float(studio.SUN_AZIMUTH),
        'sun_elevation': float(studio.SUN_ELEVATION),
        'shine': studio.SHINE,
        'fill': studio.FILL,
    }


def _parts(items: Mapping[str, tuple[Item, ...]], links: Sequence[str], *, collision: bool) -> list[_Part]:
    parts = []
    for link, of_link in items.items():
        by_colour: dict[Colour, list[Floats]] = {}
        for item in of_link:
            colour = COLLISION_COLOUR if collision else item.colour
            placed = np.asarray(item.mesh.triangles) @ item.pose[:3, :3].T + item.pose[:3, 3]
            by_colour.setdefault(colour, []).append(placed)
        for colour, triangles in by_colour.items():
            normals = np.concatenate([smooth_normals(body) for body in triangles])
            vertices, indices = _shared(np.concatenate(triangles), normals)
            parts.append(_Part(links.index(link), colour, collision, vertices, indices))
    return parts


def _shared(triangles: Floats, normals: Floats) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint32]]:
    """Each pair of position and normal once, and which of them each triangle's corners are."""
    corners = np.column_stack([triangles.reshape(-1, 3), normals.reshape(-1, 3)]).astype(np.float32)
    rough = np.ascontiguousarray(np.round(corners * KEY_STEPS).astype(np.int32))
    keys = rough.view(np.dtype((np.void, rough.dtype.itemsize * rough.shape[1]))).ravel()
    _, first, indices = np.unique(keys, return_index=True, return_inverse=True)
    return corners[first], indices.ravel().astype(np.uint32)


def _geometry(parts: Sequence[_Part]) -> dict[str, object]:
    described, vertices, indices = [], 0, 0
    for part in parts:
        places = part.vertices[:, :3].astype(np.float64)
        centre = 0.5 * (places.min(axis=0) + places.max(axis=0))
        described.append(
            {
                'link': part.link, 'colour': list(part.colour), 'collision': part.collision, 'first': indices,
                'count': len(part.indices), 'centre': centre.tolist(),
                'radius': float(np.linalg.norm(places - centre, axis=1).max()),
            }
        )  # fmt: skip
        vertices += len(part.vertices)
        indices += len(part.indices)
    offsets = np.cumsum([0, *(len(part.vertices) for part in parts)])[:-1]
    joined = [part.indices + np.uint32(offset) for part, offset in zip(parts, offsets, strict=True)]
    return {
        'parts': described,
        'vertices': _base64(np.concatenate([part.vertices for part in parts]) if parts else np.empty(0), '<f4'),
        'indices': _base64(np.concatenate(joined) if parts else np.empty(0), '<u4'),
    }


def _base64(array: npt.NDArray[np.generic], kind: str) -> str:
    return base64.b64encode(array.astype(kind).tobytes()).decode('ascii')
