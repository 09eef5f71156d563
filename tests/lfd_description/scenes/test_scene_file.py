import math
import re
from pathlib import Path

import numpy as np
import pytest
import trimesh
import yaml

from lfd_description.scenes import Scene, SceneError, SceneObject, dump_scene, load_scene, parse_scene, save_scene
from lfd_description.scenes.colours import NAMED
from lfd_description.shapes import Box, Capsule, Cone, Cylinder, MeshFile, Plane, Shape, Sphere

BOX = '{name: a, shape: box, size: [1, 2, 3], position: [0, 0, 0]'


def scene_text(*objects: str) -> str:
    return '\n'.join(['frame: base_link', 'objects:', *(f'- {thing}' for thing in objects)])


def only(text: str, folder: Path = Path()) -> SceneObject:
    (thing,) = parse_scene(scene_text(text), folder).objects
    return thing


def problems(text: str, folder: Path = Path()) -> tuple[str, ...]:
    with pytest.raises(SceneError) as error:
        parse_scene(text, folder)
    return error.value.problems


def problem(thing: str, folder: Path = Path()) -> str:
    (sentence,) = problems(scene_text(thing), folder)
    return sentence


@pytest.fixture
def mesh(tmp_path: Path) -> Path:
    file = tmp_path / 'meshes' / 'cube.stl'
    file.parent.mkdir()
    trimesh.creation.box((1, 1, 1)).export(file)
    return file


def test_reads_every_key():
    thing = only(
        '{name: can, shape: cylinder, radius: 0.03, height: 0.1, position: [1, -2, 0.5], '
        'orientation: [0, 0, 1, 0], color: [0.1, 0.2, 0.3, 0.5], movable: true, tags: [graspable, tin]}'
    )
    assert thing == SceneObject(
        'can', Cylinder(0.03, 0.1), (1, -2, 0.5), (0, 0, 1, 0), (0.1, 0.2, 0.3, 0.5), True, ('graspable', 'tin')
    )


@pytest.mark.parametrize(
    ('keys', 'shape'),
    [
        ('box, size: [1, 2, 3]', Box((1, 2, 3))),
        ('sphere, radius: 0.5', Sphere(0.5)),
        ('cylinder, radius: 0.5, height: 2', Cylinder(0.5, 2)),
        ('cone, radius: 0.5, height: 2', Cone(0.5, 2)),
        ('capsule, radius: 0.5, height: 1', Capsule(0.5, 1)),
        ('plane', Plane()),
    ],
)
def test_reads_every_shape(keys: str, shape: Shape):
    assert only(f'{{name: a, shape: {keys}, position: [0, 0, 0]}}').shape == shape


def test_fills_in_what_may_be_left_out():
    thing = only(BOX + '}')
    assert thing.orientation == (0, 0, 0, 1)
    assert not thing.movable
    assert thing.tags == ()
    assert only('{name: floor, shape: plane}').position == (0, 0, 0)


def test_empty_scene():
    assert parse_scene('{frame: world, objects: []}', Path()) == Scene('world')


def test_finds_objects_by_name_and_tag():
    scene = parse_scene(scene_text(BOX + ', tags: [support]}', BOX.replace('name: a', 'name: b') + '}'), Path())
    assert scene.object['b'].name == 'b'
    assert [thing.name for thing in scene.tagged('support')] == ['a']


def test_pose_turns_as_the_quaternion_says():
    s = math.sqrt(0.5)
    pose = SceneObject('a', Plane(), (1, 2, 3), (0, 0, s, s)).pose
    assert np.allclose(pose, [[0, -1, 0, 1], [1, 0, 0, 2], [0, 0, 1, 3], [0, 0, 0, 1]])


def test_numbers_with_exponents():
    assert only('{name: a, shape: sphere, radius: 5e-2, position: [1e-3, -1.5E+1, +.5]}') == SceneObject(
        'a', Sphere(0.05), (1e-3, -15, 0.5)
    )


def test_quaternion_that_is_nearly_unit_is_made_unit():
    orientation = only(BOX + ', orientation: [0, 0, 0.70711, 0.7071]}').orientation
    assert math.hypot(*orientation) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize(
    ('color', 'rgba'),
    [
        ('red', NAMED['red']),
        ('Blue', NAMED['blue']),
        ("'#ff0080'", (1, 0, 128 / 255, 1)),
        ('[0, 0.5, 1]', (0, 0.5, 1, 1)),
        ('[0, 0.5, 1, 0.25]', (0, 0.5, 1, 0.25)),
    ],
)
def test_colours(color: str, rgba: tuple[float, ...]):
    assert only(f'{BOX}, color: {color}}}').colour == rgba


class TestMeshFiles:
    def test_relative_to_the_scene_file(self, mesh: Path, tmp_path: Path):
        file = tmp_path / 'scene.yaml'
        file.write_text(scene_text('{name: a, shape: mesh, file: meshes/cube.stl, scale: 0.1, position: [0, 0, 0]}'))
        assert load_scene(file).objects[0].shape == MeshFile(mesh, (0.1, 0.1, 0.1))

    def test_absolute(self, mesh: Path):
        thing = only(f'{{name: a, shape: mesh, file: {mesh}, scale: [1, -2, 3], position: [0, 0, 0]}}')
        assert thing.shape == MeshFile(mesh, (1, -2, 3))

    def test_in_a_package(self):
        uri = 'package://lfd_description/scenes/meshes/cup.stl'
        shape = only(f"{{name: a, shape: mesh, file: '{uri}', position: [0, 0, 0]}}").shape
        assert isinstance(shape, MeshFile)
        assert shape.file.is_file()

    @pytest.mark.parametrize(
        ('file', 'reason'),
        [
            ('meshes/gone.stl', 'is missing: there is no file'),
            ('../cube.stl', 'leaves its folder; put the mesh below it, or write an absolute path'),
            ('meshes/../../cube.stl', 'leaves its folder'),
            ('package://lfd_description/../cube.stl', 'leaves its folder'),
            ('package://lfd_description/%2e%2e/cube.stl', 'leaves its folder'),
            ('package://no_such_package/cube.stl', "package 'no_such_package', which was not found"),
            ('meshes/cube.txt', 'is no mesh that can be read; use one of .stl'),
            ('meshes', 'is no mesh that can be read'),
        ],
    )
    def test_refused(self, file: str, reason: str, mesh: Path, tmp_path: Path):
        text = problem(f"{{name: a, shape: mesh, file: '{file}', position: [0, 0, 0]}}", tmp_path)
        assert text.startswith("line 3, object 'a', key 'file': ")
        assert reason in text

    def test_written_relative_to_the_scene_file(self, mesh: Path, tmp_path: Path):
        scene = Scene('base_link', (SceneObject('a', MeshFile(mesh, (0.5, 0.5, 0.5))),))
        save_scene(scene, tmp_path / 'scene.yaml')
        assert 'file: "meshes/cube.stl"' in (tmp_path / 'scene.yaml').read_text()
        assert load_scene(tmp_path / 'scene.yaml') == scene

    def test_written_absolutely_from_elsewhere(self, mesh: Path, tmp_path: Path):
        scene = Scene('base_link', (SceneObject('a', MeshFile(mesh)),))
        save_scene(scene, tmp_path / 'scenes' / 'scene.yaml')
        assert load_scene(tmp_path / 'scenes' / 'scene.yaml') == scene


@pytest.mark.parametrize(
    ('thing', 'sentence'),
    [
        (BOX + ', colour: red}', "key 'colour': the key is not known; did you mean 'color'?"),
        (BOX + ', weight: 1}', "key 'weight': the key is not known; use name, shape, position,"),
        (BOX + ', radius: 1}', "key 'radius': the key does not go with a box, which has size; remove it."),
        (BOX + ', movable: true, movable: false}', "key 'movable': the key is there twice; remove one."),
        (BOX + ', movable: maybe}', "key 'movable': 'maybe' is neither true nor false; write one of them."),
        (BOX + ', tags: support}', "key 'tags': 'support' is no list; write []"),
        (BOX + ', tags: [a, a]}', "key 'tags': a tag is there twice"),
        (BOX + ', tags: [1]}', "key 'tags': '1' is no text to YAML; write a name, such as table, or put it in quotes."),
        (BOX + ', color: rd}', "key 'color': 'rd' is no colour with a name; did you mean 'red'?"),
        (BOX + ', color: [255, 0, 0]}', "key 'color': a part of the colour is not within 0 to 1; divide by 255"),
        (BOX + ', color: [1, 0]}', "key 'color': a list of 2 is no colour; write a name such as red, [r, g, b]"),
        (BOX + ', color: [.nan, 0, 0]}', "key 'color': '.nan' is no finite number"),
        (
            BOX + ', orientation: [0, 0, 0]}',
            "key 'orientation': a list of 3 is not four numbers; write a unit quaternion",
        ),
        (BOX + ', orientation: [0, 0, 0, 0]}', "key 'orientation': the quaternion has the length 0 and not 1;"),
        (BOX + ', orientation: [1.4756, -0.2618, -6.0335, 0.9651]}', 'the quaternion has the length 6.291 and not 1;'),
        (BOX + ', orientation: [1e300, 1e300, 0, 0]}', 'the quaternion has the length 1.414e+300 and not 1;'),
        (BOX + ', orientation: [0, .inf, 0, 0]}', "key 'orientation': '.inf' is no finite number"),
        ('{name: a, shape: box, position: [0, 0, 0]}', "key 'size': the key is missing; add it."),
        ('{name: a, shape: box, size: [1, 1, 1]}', "key 'position': the key is missing; add it."),
        ('{name: a, position: [0, 0, 0]}', "key 'shape': the key is missing; add it."),
        ('{shape: plane}', "line 3, object 1, key 'name': the key is missing; add it."),
        (
            '{name: a, shape: cilinder, radius: 1, position: [0, 0, 0]}',
            "'cilinder' is no shape; did you mean 'cylinder'?",
        ),
        (
            '{name: a, shape: [box], position: [0, 0, 0]}',
            "key 'shape': a list of 1 is no shape; use one of box, sphere",
        ),
        ('{name: a, shape: sphere, radius: 0, position: [0, 0, 0]}', "key 'radius': 0 is no length of a solid; write"),
        ('{name: a, shape: sphere, radius: -1, position: [0, 0, 0]}', "key 'radius': -1 is no length of a solid"),
        (
            '{name: a, shape: sphere, radius: 1e-300, position: [0, 0, 0]}',
            "key 'radius': 1e-300 is no length of a solid",
        ),
        ('{name: a, shape: sphere, radius: big, position: [0, 0, 0]}', "key 'radius': 'big' is no number; write one"),
        ("{name: a, shape: sphere, radius: '1', position: [0, 0, 0]}", "key 'radius': '1' is no number"),
        ('{name: a, shape: sphere, radius: 1:30, position: [0, 0, 0]}', "key 'radius': '1:30' is no number"),
        ('{name: a, shape: sphere, radius: .nan, position: [0, 0, 0]}', "key 'radius': '.nan' is no finite number"),
        ('{name: a, shape: sphere, radius: 1e999, position: [0, 0, 0]}', "key 'radius': '1e999' is too big"),
        ('{name: a, shape: sphere, radius: true, position: [0, 0, 0]}', "key 'radius': 'true' is no number"),
        (
            '{name: a, shape: sphere, radius: 500, position: [0, 0, 0]}',
            'is more than 100 m; write metres, not millimetres.',
        ),
        (
            '{name: a, shape: sphere, radius: 1, position: [0, 0, 500]}',
            "key 'position': 500 is more than 100 m away; write",
        ),
        ('{name: a, shape: sphere, radius: 1, position: [0, 0]}', "key 'position': a list of 2 is not three numbers;"),
        ('{name: a, shape: sphere, radius: 1, position: 1}', "key 'position': '1' is not three numbers;"),
        ('{name: a, shape: box, size: [1, 1, 0], position: [0, 0, 0]}', "key 'size': 0 is no length of a solid"),
        ('{name: a, shape: capsule, radius: 1, height: 1.9, position: [0, 0, 0]}', '1.9 is less than two radii of 1;'),
        ('{name: a, shape: plane, movable: true}', 'a plane has no end and cannot be moved; write false.'),
        ('{name: 12, shape: plane}', "key 'name': '12' is no text to YAML"),
        ('{name: yes, shape: plane}', "key 'name': 'yes' is no text to YAML"),
        ("{name: '', shape: plane}", "key 'name': '' is no name;"),
        (r'{name: "a\tb", shape: plane}', "key 'name': 'a?b' is no name;"),
        ('{name: [a], shape: plane}', "key 'name': a list of 1 is no text;"),
        ('table', 'line 3, object 1: an object holds keys such as name and shape, and this one none.'),
    ],
)
def test_says_what_is_wrong_and_where(thing: str, sentence: str):
    text = problem(thing)
    assert sentence in text
    assert text.startswith('line 3, object ')
    assert text.endswith(('.', '?'))


def test_scale_that_is_no_scale(mesh: Path, tmp_path: Path):
    text = problem('{name: a, shape: mesh, file: meshes/cube.stl, scale: 0, position: [0, 0, 0]}', tmp_path)
    assert "key 'scale': 0 is no scale" in text


def test_tells_all_problems_at_once_with_their_lines():
    text = """
frame: base_link
objects:
- name: table
  shape: box
  size: [1, 1, -1]
  position: [0, 0, 0]
- name: table
  shape: sphere
  radius: .inf
  position: [0, 0,
    a]
  colour: red
gravity: 9.81
"""
    lines = [int(match[1]) for sentence in problems(text) if (match := re.match(r'line (\d+)', sentence))]
    assert sorted(lines) == [6, 8, 10, 12, 13, 14]


def test_two_of_a_name_on_one_line():
    (sentence,) = problems(f'{{frame: a, objects: [{BOX}}}, {BOX}}}]}}')
    assert sentence == "line 1, object 'a', key 'name': the object of line 1 has this name too; give each its own."


def test_a_thousand_problems_make_a_short_message():
    told = problems(scene_text(*(f'{{name: a{n}, shape: plane, size: 1}}' for n in range(1000))))
    assert len(told) == 51
    assert told[-1] == 'and there are 950 or more other problems; mend these first.'


@pytest.mark.parametrize(
    ('text', 'sentence'),
    [
        ('', 'line 1: a scene holds the keys frame and objects, and this text does not.'),
        ('- a', 'line 1: a scene holds the keys frame and objects'),
        ('frame: base_link', "line 1, key 'objects': the key is missing; add it."),
        ('objects: []', "line 1, key 'frame': the key is missing; add it."),
        ('frame: a\nobjects: {}', "line 2, key 'objects': a mapping is no list;"),
        ('frame: a\nobject: []\nobjects: []', "line 2, key 'object': the key is not known; did you mean 'objects'?"),
        ('frame: a\nobjects: [', 'this is no YAML'),
        ('frame: a\n\tobjects: []', 'line 2: a tab stands where YAML asks for spaces; indent with spaces.'),
        ('frame: \x00', 'line 1: the character U+0000 is not allowed; remove it.'),
        ('frame: \ud800', 'line 1: the character U+D800 is not allowed; remove it.'),
        ('frame: a\n---\nframe: b', 'a second document begins; keep one in a file.'),
        ('[a]: b', 'line 1: a list or mapping stands where a key should be; write a name.'),
    ],
)
def test_texts_that_are_no_scene(text: str, sentence: str):
    (told,) = problems(text)
    assert sentence in told


class TestHostileText:
    def test_aliases_that_grow(self):
        levels = ['a: &a [x, x, x, x, x, x, x, x, x]']
        levels += [f'{b}: &{b} [{", ".join([f"*{a}"] * 9)}]' for a, b in zip('abcdefgh', 'bcdefghi', strict=True)]
        (told,) = problems('\n'.join(levels))
        assert told == 'line 1: anchors (&) and aliases (*) are not used here; write the value out.'

    @pytest.mark.parametrize('bracket', ['[', '{a: ', '- '])
    def test_bottomless_nesting(self, bracket: str):
        (told,) = problems('objects:\n ' + bracket * 1_000_000)
        assert told.startswith('line 2: lists and keys are nested 9 levels deep; flatten them.')

    def test_text_without_end(self):
        (told,) = problems('frame: ' + 'a' * 10_000_001)
        assert told == 'line 1: the text has 10000008 characters and may have 10000000; split the file.'

    def test_values_without_end(self):
        (told,) = problems('objects: [' + '1,' * 1_000_000 + ']')
        assert told == 'line 1: there are more than 200000 values; split the file.'

    @pytest.mark.parametrize(
        'text',
        [
            'objects: []\n' + '\n'.join(f'colr{n}: 1' for n in range(90_000)),
            'frame: a\nobjects:\n' + '- {color: rad}\n' * 60_000,
            'frame: a\nobjects:\n' + '- x\n' * 190_000,
            'frame: a\nobjects: []\n' + 'c' * 9_000_000 + ': 1',
            'frame: a\nobjects: [{color: ' + 'r' * 9_000_000 + '}]',
        ],
        ids=['keys', 'objects', 'items', 'key', 'value'],
    )
    def test_problems_without_end(self, text: str):
        told = problems(text)
        assert len(told) <= 51
        assert len('\n'.join(told)) < 20_000

    def test_python_objects(self):
        (told,) = problems('frame: !!python/object/apply:os.system [echo]')
        assert 'python/object/apply:os.system' in told
        assert told.endswith('is not used here; remove it.')

    def test_names_that_fill_the_screen(self):
        assert len(problem(f'{{name: {"a" * 100_000}, shape: plane}}')) < 400

    def test_files_without_end(self, tmp_path: Path):
        with pytest.raises(SceneError, match=r'^/dev/zero is no file; name a YAML file\.$'):
            load_scene(Path('/dev/zero'))
        big = tmp_path / 'big.yaml'
        with big.open('wb') as stream:
            stream.truncate(10**12)
        with pytest.raises(SceneError, match=r'big\.yaml has more than 10000000 bytes; split the scene'):
            load_scene(big)


class TestFiles:
    def test_missing(self, tmp_path: Path):
        with pytest.raises(SceneError, match=r'gone\.yaml cannot be read: No such file or directory\.$'):
            load_scene(tmp_path / 'gone.yaml')

    def test_folder(self, tmp_path: Path):
        with pytest.raises(SceneError, match=r'is no file; name a YAML file\.$'):
            load_scene(tmp_path)

    def test_no_text(self, tmp_path: Path):
        file = tmp_path / 'scene.yaml'
        file.write_bytes(b'frame: \xff\xfe')
        with pytest.raises(SceneError, match=r'scene\.yaml is no UTF-8 text; save it as such\.$'):
            load_scene(file)

    def test_problems_name_the_file(self, tmp_path: Path):
        file = tmp_path / 'scene.yaml'
        file.write_text('frame: a')
        with pytest.raises(SceneError, match=r"scene\.yaml, line 1, key 'objects': the key is missing"):
            load_scene(file)

    def test_a_scene_that_cannot_be_read_back_is_not_written(self, tmp_path: Path):
        file = tmp_path / 'scene.yaml'
        save_scene(Scene('base_link'), file)
        with pytest.raises(SceneError, match='finite number'):
            save_scene(Scene('base_link', (SceneObject('a', Sphere(math.nan)),)), file)
        assert load_scene(file) == Scene('base_link')
        assert [path.name for path in tmp_path.iterdir()] == ['scene.yaml']


def random_object(rng: np.random.Generator, number: int) -> SceneObject:
    """An object whose numbers have all their digits."""
    lengths = tuple(float(10.0**power) for power in rng.uniform(-5.9, 1.9, 3))
    shapes = (Box(lengths), Sphere(lengths[0]), Cylinder(*lengths[:2]), Cone(*lengths[:2]), Plane())
    shape: Shape = shapes[rng.integers(len(shapes))]
    turn = rng.normal(size=4)
    turn /= np.linalg.norm(turn)
    return SceneObject(
        name=str(rng.choice(['box', 'null', '~', '1e3', "it's", 'a: b', '#1', '- x', 'Größe', 'Cube (1)', '"', '\\n']))
        + f' {number}',
        shape=shape,
        position=tuple(rng.uniform(-100, 100, 3).tolist()),
        orientation=tuple(turn.tolist()),
        colour=tuple(rng.uniform(0, 1, 4).tolist()),
        movable=not isinstance(shape, Plane) and bool(rng.integers(2)),
        tags=tuple(rng.choice(['yes', '12', 'graspable', 'a, b', '[x]'], size=2, replace=False).tolist()),
    )


@pytest.mark.parametrize('seed', range(50))
def test_round_trip_loses_nothing(seed: int):
    rng = np.random.default_rng(seed)
    scene = Scene(f'frame {seed}', tuple(random_object(rng, number) for number in range(6)))
    text = dump_scene(scene)
    again = parse_scene(text, Path())
    assert again == scene
    assert dump_scene(again) == text


def test_written_text_is_yaml_to_others():
    scene = Scene('base_link', (SceneObject('on', Sphere(1e-05), (1e-05, -0.0, 2.5), tags=('no',)),))
    data = yaml.safe_load(dump_scene(scene))
    assert data['objects'][0]['name'] == 'on'
    assert data['objects'][0]['radius'] == 1e-05
    assert data['objects'][0]['position'] == [1e-05, 0, 2.5]
    assert data['objects'][0]['tags'] == ['no']


def sentences(text: str, folder: Path) -> tuple[str, ...]:
    try:
        parse_scene(text, folder)
    except SceneError as error:
        return error.problems
    return ()


def test_damaged_files_give_a_scene_or_a_sentence(checkout: Path):
    """Cuts and swaps in real files, seed 20: whatever comes, the reader says what is wrong."""
    rng = np.random.default_rng(20)
    folder = checkout / 'lfd_description' / 'scenes'
    for file in sorted(folder.glob('*.yaml')):
        text = file.read_text()
        for _ in range(60):
            at, length = int(rng.integers(len(text))), int(rng.integers(1, 30))
            damage = ''.join(rng.choice(list('[]{}:,-#&*!|>\'"%@` \n\t0aé'), size=int(rng.integers(0, 4))))
            told = sentences(text[:at] + damage + text[at + length :], folder)
            assert all(sentence.startswith(('line ', 'and ')) for sentence in told)
