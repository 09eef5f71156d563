"""The files of an arm's body as bytes: STL solids, COLLADA looks, and `shapes.yaml` that macros/body.xacro reads."""

import struct

import numpy as np

from .inertials import Inertial
from .parts import Mesh, Paint, Part, shaded
from .slices import Array, snapped
from .solids import Solid

HEADER = """\
# Bodies of the links, read by macros/body.xacro. Made from sculpt/link_shapes.json and model.yaml; do not edit, but run
# `../lfd run python -m sculpt` in lfd_description.
# Files: below this folder. Inertials: mass [kg], centre in the link's frame [m], inertia about it [kg m^2].
"""


def stl(solid: Solid) -> bytes:
    """A solid as a binary STL file [m]."""
    corners = solid.vertices.astype('<f4')[solid.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0)
    triangles = np.zeros(len(corners), dtype=[('normal', '<f4', 3), ('corners', '<f4', (3, 3)), ('attribute', '<u2')])
    # No more digits than every machine computes alike.
    triangles['normal'] = np.round(normals, 4) + 0.0
    triangles['corners'] = corners
    return b'lfd'.ljust(80) + struct.pack('<I', len(triangles)) + triangles.tobytes()


def collada(parts: list[Part]) -> bytes:
    """Parts as a COLLADA file: metres, z up, one geometry for each paint, with normals."""
    paints = list(dict.fromkeys(part.paint for part in parts))
    meshes = {paint: [part.mesh for part in parts if part.paint == paint] for paint in paints}
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">',
        # A fixed date: the file must not change unless the body does.
        '<asset><created>2026-01-01T00:00:00Z</created><modified>2026-01-01T00:00:00Z</modified>',
        '<unit name="meter" meter="1"/><up_axis>Z_UP</up_axis></asset>',
        '<library_effects>',
        *(_effect(paint) for paint in paints),
        '</library_effects>',
        '<library_materials>',
        *(f'<material id="{p.name}"><instance_effect url="#{p.name}-effect"/></material>' for p in paints),
        '</library_materials>',
        '<library_geometries>',
        *(line for paint, group in meshes.items() for line in _geometry(paint.name, group)),
        '</library_geometries>',
        '<library_visual_scenes><visual_scene id="scene"><node id="link">',
        *(_instance(paint.name) for paint in paints),
        '</node></visual_scene></library_visual_scenes>',
        '<scene><instance_visual_scene url="#scene"/></scene>',
        '</COLLADA>',
    ]
    return '\n'.join([*lines, '']).encode()


def _effect(paint: Paint) -> str:
    colour = ' '.join(f'{value:g}' for value in paint.rgb)
    shine = f'{0.6 * paint.shine:.3g}'
    return (
        f'<effect id="{paint.name}-effect"><profile_COMMON><technique sid="common"><phong>'
        f'<ambient><color>{colour} 1</color></ambient><diffuse><color>{colour} 1</color></diffuse>'
        f'<specular><color>{shine} {shine} {shine} 1</color></specular>'
        f'<shininess><float>{8 + 56 * paint.shine:.3g}</float></shininess>'
        '</phong></technique></profile_COMMON></effect>'
    )


def _geometry(name: str, meshes: list[Mesh]) -> list[str]:
    pieces = [shaded(Mesh(snapped(mesh.vertices), mesh.faces, mesh.normals)) for mesh in meshes]
    offsets = np.cumsum([0, *(len(piece[0]) for piece in pieces[:-1])])
    vertices, normals = (np.concatenate([piece[index] for piece in pieces]) for index in (0, 1))
    faces = np.concatenate([piece[2] + offset for piece, offset in zip(pieces, offsets, strict=True)])
    indices = ' '.join(map(str, faces.ravel()))
    return [
        f'<geometry id="{name}-geometry"><mesh>',
        _source(f'{name}-positions', vertices, 5),
        _source(f'{name}-normals', normals, 2),
        f'<vertices id="{name}-vertices"><input semantic="POSITION" source="#{name}-positions"/></vertices>',
        f'<triangles material="{name}" count="{len(faces)}">',
        f'<input semantic="VERTEX" source="#{name}-vertices" offset="0"/>',
        f'<input semantic="NORMAL" source="#{name}-normals" offset="0"/>',
        f'<p>{indices}</p></triangles></mesh></geometry>',
    ]


def _source(name: str, values: Array, digits: int) -> str:
    numbers = ' '.join(_short(value, digits) for value in values.ravel())
    params = ''.join(f'<param name="{axis}" type="float"/>' for axis in 'XYZ')
    return (
        f'<source id="{name}"><float_array id="{name}-array" count="{values.size}">{numbers}</float_array>'
        f'<technique_common><accessor source="#{name}-array" count="{len(values)}" stride="3">{params}</accessor>'
        '</technique_common></source>'
    )


def _instance(name: str) -> str:
    return (
        f'<instance_geometry url="#{name}-geometry"><bind_material><technique_common>'
        f'<instance_material symbol="{name}" target="#{name}"/>'
        '</technique_common></bind_material></instance_geometry>'
    )


def _short(value: float, digits: int) -> str:
    """A number without zeros that say nothing."""
    text = f'{value:.{digits}f}'.rstrip('0').rstrip('.')
    text = text.replace('0.', '.', 1) if text.startswith(('0.', '-0.')) else text
    return '0' if text in ('', '-', '-0') else text


def shapes_yaml(links: dict[str, tuple[str, list[str], Inertial | None]]) -> bytes:
    """The file that names each link's visual and collision files and gives its inertial."""
    lines = ['links:']
    for name, (visual, collision, inertial) in links.items():
        lines += [f'  {name}:', f'    visual: {visual}', '    collision:']
        lines += [f'      - {file}' for file in collision]
        lines += _inertial(inertial) if inertial else []
    return (HEADER + '\n'.join(lines) + '\n').encode()


def _inertial(inertial: Inertial) -> list[str]:
    axes = 'xyz'
    tensor = {f'i{axes[i]}{axes[j]}': inertial.tensor[i, j] for i in range(3) for j in range(i, 3)}
    centre = ', '.join(_number(value, 5) for value in inertial.centre)
    inertia = [f'      {key}: {_number(value, 8)}' for key, value in tensor.items()]
    return ['    inertial:', f'      mass: {_number(inertial.mass, 4)}', f'      centre: [{centre}]', *inertia]


def _number(value: float, digits: int) -> str:
    text = f'{value:.{digits}f}'.rstrip('0')
    text = text + '0' if text.endswith('.') else text
    return '0.0' if text == '-0.0' else text
