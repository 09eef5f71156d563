"""All files of an arm's body, by their names in its folder."""

from pathlib import Path

from .files import collada, shapes_yaml, stl
from .inertials import Inertial, inertial
from .looks import looks
from .model import read_model
from .slices import published_links
from .solids import enclose

ROBOTS = Path(__file__).resolve().parents[1] / 'robots'


def body_files(arm: str) -> dict[str, bytes]:
    """What `robots/<arm>` must hold beside its hand-written files, by name below that folder."""
    links = published_links(arm)
    model = read_model(ROBOTS / arm)
    parts = looks(arm, links)
    files: dict[str, bytes] = {}
    shapes: dict[str, tuple[str, list[str], Inertial | None]] = {}
    for name, link in links.items():
        solids = enclose(link)
        named = {f'meshes/collision/{name}_{number}.stl': solid for number, solid in enumerate(solids, start=1)}
        files |= {file: stl(solid) for file, solid in named.items()}
        files[f'meshes/visual/{name}.dae'] = collada(parts[name])
        weight = inertial(model[name], solids) if name in model else None
        shapes[name] = (f'meshes/visual/{name}.dae', list(named), weight)
    files['shapes.yaml'] = shapes_yaml(shapes)
    return files
