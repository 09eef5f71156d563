"""Collision matrices kept in a robot's folder, so that nobody has to sample again what did not change.

One file per gripper, in YAML: a digest of all that the matrix depends on, and for each pair of links the reason and the
evidence. A file with another digest is as good as none.
"""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from lfd_description.bodies import Body
from lfd_description.shapes import MeshFile
from lfd_description.urdf import RobotTree

from .collision_matrix import SAMPLES, SEED, CollisionMatrix, Pair, Reason

VERSION = 2
"""Of the search; a new one makes all files stale."""
CHECKED = 'checked'


def matrix_digest(
    tree: RobotTree, bodies: Sequence[Body], home: Mapping[str, float], visuals: Sequence[Body] = ()
) -> str:
    """A digest of all that a collision matrix depends on; names of mesh files do not matter, their content does."""
    digest = hashlib.sha256()

    def add(*parts: object) -> None:
        digest.update(repr(parts).encode() + b'\n')

    add(VERSION, SEED, SAMPLES, sorted(home.items()))
    for joint in tree.joints:
        add(joint)
    for body in (*bodies, *visuals):
        add(body.link, (body.origin.round(9) + 0.0).tolist())  # + 0.0: no negative zero
        if isinstance(body.shape, MeshFile):
            add(body.shape.scale, hashlib.sha256(body.shape.file.read_bytes()).hexdigest())
        else:
            add(body.shape)
    return digest.hexdigest()[:16]


def matrix_text(matrix: CollisionMatrix, digest: str, title: str) -> str:
    """A matrix as the text of its file."""
    lines = [
        f'# {title}: which pairs of links need no collision check, and the evidence.',
        '# samples: configurations looked at, the likeliest contacts first; collisions: how many of them;',
        '# clearance: the smallest distance found [m]; by_visual: seen of the visuals, not of the collision solids.',
        f'digest: {digest}',
        f'seed: {matrix.seed}',
        'pairs:',
    ]
    for pair in matrix.pairs:
        evidence = f'samples: {pair.samples}, collisions: {pair.collisions}' if pair.samples else ''
        clearance = f'clearance: {pair.clearance}' if pair.clearance is not None else ''
        visuals = 'by_visual: true' if pair.by_visual else ''
        reason = f'reason: {pair.reason.value if pair.reason else CHECKED}'
        fields = ', '.join(
            filter(None, (_link(1, pair.link1), _link(2, pair.link2), reason, evidence, clearance, visuals))
        )
        lines.append(f'- {{{fields}}}')
    return '\n'.join(lines) + '\n'


def _link(number: int, name: str) -> str:
    return f'link{number}: {yaml.dump(name, default_flow_style=True, width=10**6).splitlines()[0]}'


def read_matrix(file: Path, digest: str) -> CollisionMatrix | None:
    """The matrix in a file, if it is there, whole, and made for the robot of this digest."""
    try:
        data = yaml.load(file.read_text(encoding='utf-8'), Loader=_LOADER)
        if data['digest'] != digest:
            return None
        return CollisionMatrix(int(data['seed']), tuple(map(_pair, data['pairs'])))
    except (OSError, UnicodeError, yaml.YAMLError, LookupError, TypeError, ValueError):
        return None


_LOADER = getattr(yaml, 'CSafeLoader', yaml.SafeLoader)  # ten times as fast, where PyYAML was built with it


def _pair(data: Mapping[str, object]) -> Pair:
    reason = str(data['reason'])
    clearance = data.get('clearance')
    return Pair(
        str(data['link1']),
        str(data['link2']),
        None if reason == CHECKED else Reason(reason),
        int(str(data.get('samples', 0))),
        int(str(data.get('collisions', 0))),
        None if clearance is None else float(str(clearance)),
        bool(data.get('by_visual', False)),
    )
