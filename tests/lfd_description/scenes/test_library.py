from collections.abc import Callable
from pathlib import Path

import pytest

from lfd_description.scenes import Scene, UnknownScene, dump_scene, find_scene, load_scene, parse_scene, scene_names
from lfd_description.shapes import MeshFile

each_scene = pytest.mark.parametrize('name', scene_names())


@pytest.mark.parametrize('name', ['seed_cell', 'shelf', 'bin', 'kitchen', 'kitchen_primitives'])
def test_has_the_scenes_that_docs_name(name: str):
    assert name in scene_names()


@each_scene
def test_nothing_is_inside_another_thing(name: str, overlaps: Callable[[Scene], list[tuple[str, str]]]):
    assert overlaps(find_scene(name)) == []


@each_scene
def test_everything_movable_stands_on_a_support(name: str, floating: Callable[[Scene], list[str]]):
    assert floating(find_scene(name)) == []


@each_scene
def test_has_something_to_pick(name: str):
    scene = find_scene(name)
    assert scene.frame == 'base_link'
    graspable = scene.tagged('graspable')
    assert graspable
    assert all(thing.movable for thing in graspable)


@each_scene
def test_fixed_things_stay(name: str):
    scene = find_scene(name)
    assert all(thing.movable != ('fixed' in thing.tags) for thing in scene.objects)


@each_scene
def test_survives_being_written_and_read(name: str, tmp_path: Path):
    scene = find_scene(name)
    assert parse_scene(dump_scene(scene, tmp_path), tmp_path) == scene


@each_scene
def test_source_and_installed_file_hold_the_same(name: str, checkout: Path):
    source = load_scene(checkout / 'lfd_description' / 'scenes' / f'{name}.yaml')
    installed = find_scene(name)
    assert source.frame == installed.frame
    for a, b in zip(source.objects, installed.objects, strict=True):
        if isinstance(a.shape, MeshFile) and isinstance(b.shape, MeshFile):
            assert a.shape.file.read_bytes() == b.shape.file.read_bytes()
        else:
            assert a == b


def test_meshes_are_named_by_package_in_other_folders(tmp_path: Path):
    assert 'file: "package://lfd_description/scenes/meshes/cup.stl"' in dump_scene(find_scene('kitchen'), tmp_path)


def test_suggests_a_name():
    with pytest.raises(UnknownScene, match=r"no scene 'kitchn' \(did you mean 'kitchen'\?\); choose one of bin, "):
        find_scene('kitchn')
