import dataclasses
import math
from itertools import permutations
from pathlib import Path

import pytest
from support.scene_edits import ROBOT, TETRAHEDRON

from lfd_description.scenes import Scene, SceneObject, find_scene
from lfd_description.scenes.colours import NAMED
from lfd_description.shapes import Box, Cylinder, MeshFile, Sphere
from lfd_planner.mtdf import (
    Descriptor,
    Pick,
    Place,
    Pose,
    Resolution,
    Task,
    parse_task,
    read_report,
    resolve,
    resolve_task,
)
from lfd_planner.mtdf.resolve import colour_name
from lfd_planner.mtdf.rules import Rule
from lfd_planner.scene import Body, PlanningScene, SceneFault, WorldObject, from_scene


def thing(name: str, shape=None, at=(0.0, 0.0, 0.0), colour='grey', movable=True, tags=()) -> SceneObject:
    return SceneObject(name, shape or Box((0.1, 0.1, 0.1)), at, (0, 0, 0, 1), NAMED[colour], movable, tags)


SCENE = Scene(
    'base_link',
    (
        thing('table', Box((1.0, 1.0, 0.1)), movable=False, colour='red'),
        thing('tray', Box((0.3, 0.2, 0.02)), (0.5, 0.0, 0.0), movable=False),
        thing('red_cube', Box((0.05, 0.05, 0.05)), (0.1, 0.0, 0.0), 'red', tags=('toy',)),
        thing('red_plate', Box((0.2, 0.1, 0.01)), (0.2, 0.0, 0.0), 'red'),
        thing('blue_cube', Box((0.05, 0.05, 0.05)), (0.3, 0.0, 0.0), 'blue', tags=('toy', 'wood')),
        thing('ball', Sphere(0.03), (0.4, 0.3, 0.0), 'green', tags=('toy',)),
        thing('can', Cylinder(0.03, 0.12), (0.0, -0.4, 0.1), 'yellow'),
    ),
)
MOVABLE = ['red_cube', 'red_plate', 'blue_cube', 'ball', 'can']


def rule_of(text: str) -> Rule:
    rule = (
        parse_task(f'{{version: 2, object_descriptors: [{{name: it, rule: {text}}}], keyframes: []}}')
        .descriptors[0]
        .rule
    )
    assert rule is not None
    return rule


def found(text: str, origin: Pose | None = None, scene: Scene | PlanningScene = SCENE) -> Resolution:
    return resolve(Descriptor('it', rule_of(text)), scene, origin)


def names(text: str, origin: Pose | None = None) -> list[str]:
    return [reason.object for reason in found(text, origin).matched]


@pytest.mark.parametrize(
    ('rule', 'matched'),
    [
        ('{shape: sphere}', ['ball']),
        ('{shape: box}', ['red_cube', 'red_plate', 'blue_cube']),
        ('{color: red}', ['red_cube', 'red_plate']),
        ("{color: '#cc2924'}", ['red_cube', 'red_plate']),
        ('{color: [0.13, 0.36, 0.71]}', ['blue_cube']),
        ('{tag: toy}', ['red_cube', 'blue_cube', 'ball']),
        ('{size: {longest: [0.1, 0.15]}}', ['can']),
        ('{size: {shortest: [0.0, 0.01]}}', ['red_plate']),
        ('{size: {longest: [0, 0.06], shortest: [0.055, 1]}}', ['ball']),
        ('{size: {middle: [0.06, 0.06]}}', ['ball', 'can']),
        ('{region: {min: [0.15, -0.1, -0.1], max: [0.45, 0.1, 0.1]}}', ['red_plate', 'blue_cube']),
        ('{region: {center: [0.4, 0.2, 0], radius: 0.11}}', ['ball']),
        ('{nearest: [0, 0, 0]}', ['red_cube']),
        ('{nearest: tray}', ['blue_cube']),
        ('{nearest: red_cube}', ['red_plate']),
        ('{shape: box, color: red}', ['red_cube', 'red_plate']),
        ('{color: red, nearest: tray}', ['red_plate']),
        ('{nearest: tray, color: red}', ['red_plate']),
        ('{any: [{shape: sphere}, {tag: wood}]}', ['blue_cube', 'ball']),
        ('{not: {shape: box}}', ['ball', 'can']),
        ('{shape: box, not: {color: red}}', ['blue_cube']),
        ('{all: [{tag: toy}, {not: {tag: wood}}, {not: {shape: sphere}}]}', ['red_cube']),
        ('{tag: toy, not: {nearest: tray}}', ['red_cube', 'ball']),
        ('{any: [{all: [{tag: toy}, {nearest: [1, 1, 0]}]}, {color: yellow}]}', ['ball', 'can']),
        ('{shape: mesh}', []),
    ],
)
def test_rules(rule: str, matched: list[str]):
    assert names(rule) == matched


def test_every_object_gets_a_reason():
    resolution = found('{color: red, shape: box, nearest: tray}')
    assert resolution.object == 'red_plate'
    assert str(resolution) == (
        "'it' is red_plate\n"
        "  yes  red_plate is red, is a box, is the nearest to 'tray', 0.300 m\n"
        "  no   red_cube is 0.400 m from 'tray', red_plate is nearer\n"
        '  no   blue_cube is blue\n'
        '  no   ball is green\n'
        '  no   can is yellow\n'
        '  no   table, tray cannot be moved'
    )


def test_points_are_in_the_frame_of_the_task():
    """The task's frame is turned by 90 degrees to the left and moved forward."""
    origin = Pose((0.4, 0.0, 0.0), (0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)))
    assert names('{region: {center: [0.3, 0.0, 0.0], radius: 0.01}}', origin) == ['ball']
    assert names('{nearest: [-0.4, 0.4, 0.1]}', origin) == ['can']


def test_two_that_are_equally_near_are_ambiguous():
    scene = Scene('base_link', (thing('a', at=(0.1, 0, 0)), thing('b', at=(-0.1, 0, 0)), thing('c', at=(1, 0, 0))))
    resolution = found('{nearest: [0, 0, 0]}', scene=scene)
    assert resolution.object is None
    assert [reason.object for reason in resolution.matched] == ['a', 'b']


def test_nearest_to_what_is_not_there():
    assert "there is no 'moon' in the scene" in found('{nearest: moon}').undecided[0].fact


@pytest.mark.parametrize(
    'rule',
    [
        '{not: {nearest: moon}}',
        '{not: {not: {nearest: moon}}}',
        '{color: red, not: {nearest: moon}}',
        '{any: [{nearest: moon}, {shape: cone}]}',
        '{not: {any: [{shape: cone}, {nearest: moon}]}}',
        '{not: {all: [{shape: box}, {nearest: moon}]}, shape: box}',
    ],
)
def test_what_cannot_be_decided_is_no_match_whatever_is_around_it(rule: str):
    resolution = found(rule)
    assert resolution.matched == ()
    assert "there is no 'moon'" in resolution.undecided[0].fact
    assert str(resolution).startswith("'it' is undecided\n  ?    red_cube cannot be compared")


def test_what_is_decided_by_another_part_is_decided():
    assert names('{any: [{color: yellow}, {nearest: moon}]}') == ['can']
    assert names('{not: {all: [{shape: box}, {nearest: moon}]}}') == ['ball', 'can']
    assert found('{color: yellow, not: {color: yellow}, nearest: moon}').undecided == ()


def test_a_problem_says_that_it_cannot_be_decided():
    descriptor = Descriptor('it', rule_of('{not: {nearest: moon}}'))
    (problem,) = resolve_task(Task((descriptor,), (Pick('it'), Place('it', Pose()))), SCENE).problems
    assert problem.message.startswith("it cannot be decided what 'it' is: red_cube cannot be compared")


@pytest.mark.parametrize(
    'parts',
    [
        ['{nearest: tray}', '{not: {nearest: [0.3, 0, 0]}}', '{tag: toy}'],
        ['{not: {nearest: [0.1, 0, 0]}}', '{not: {nearest: [0.2, 0, 0]}}', '{color: red}'],
        ['{nearest: tray}', '{nearest: [0.1, 0, 0]}'],
        ['{not: {all: [{color: red}, {nearest: tray}]}}', '{nearest: tray}', '{color: red}'],
    ],
)
def test_the_order_of_parts_does_not_matter(parts: list[str]):
    answers = {tuple(names(f'{{all: [{", ".join(order)}]}}')) for order in permutations(parts)}
    turned = {tuple(names(f'{{not: {{all: [{", ".join(order)}]}}}}')) for order in permutations(parts)}
    assert len(answers) == len(turned) == 1


def test_nearest_looks_at_those_that_fulfil_all_else():
    assert names('{nearest: tray, not: {nearest: [0.3, 0, 0]}}') == names(
        '{not: {nearest: [0.3, 0, 0]}, nearest: tray}'
    )
    assert names('{nearest: tray, not: {nearest: [0.3, 0, 0]}}') == ['red_plate']


class TestTask:
    def resolved(self, *descriptors: Descriptor):
        keyframes = [k for d in descriptors for k in (Pick(d.name), Place(d.name, Pose()))]
        return resolve_task(Task(descriptors, tuple(keyframes)), SCENE)

    def test_all_clear(self):
        resolved = self.resolved(Descriptor('ball'), Descriptor('it', rule_of('{color: blue}')))
        assert resolved.problems == ()
        assert resolved.objects == {'ball': 'ball', 'it': 'blue_cube'}

    @pytest.mark.parametrize(
        ('descriptor', 'message'),
        [
            (Descriptor('bal'), "the scene has no object 'bal'; did you mean 'ball'?"),
            (Descriptor('table'), "'table' is picked and cannot be moved"),
            (
                Descriptor('it', rule_of('{tag: toy, shape: box}')),
                "2 objects can be 'it': red_cube has the tag 'toy', is a box, blue_cube has the tag 'toy', is a box; "
                'make the rule narrower.',
            ),
            (
                Descriptor('it', rule_of('{shape: mesh}')),
                "no object of the scene is 'it': red_cube is a box, red_plate is a box, blue_cube is a box, "
                'ball is a sphere, can is a cylinder, 2 others cannot be moved; make the rule wider.',
            ),
        ],
    )
    def test_problems_give_the_reasons(self, descriptor: Descriptor, message: str):
        (problem,) = self.resolved(descriptor).problems
        assert message in str(problem)

    def test_an_empty_scene_is_told(self):
        task = Task((Descriptor('ball'),), (Pick('ball'), Place('ball', Pose())))
        (problem,) = resolve_task(task, dataclasses.replace(SCENE, objects=())).problems
        assert "the scene has no object 'ball'; it is empty: load a scene, or start the twin." in str(problem)

    def test_two_descriptors_of_one_object(self):
        (problem,) = self.resolved(Descriptor('ball'), Descriptor('it', rule_of('{shape: sphere}'))).problems
        assert problem.message == "'it' and 'ball' are both ball"

    def test_problems_know_their_line(self):
        report = read_report('object_descriptors:\n- ball\n- cup\nkeyframes: []\n')
        assert report.task is not None
        (problem,) = resolve_task(report.task, SCENE, spots=report.spots[0]).problems
        assert (problem.line, problem.column, problem.object) == (3, 3, 'cup')

    def test_origin_of_the_file_is_used_unless_another_is_given(self):
        task = parse_task(
            '{version: 2, task_origin: {position: [0.4, 0.3, 0], orientation: [0, 0, 0, 1]}, '
            'object_descriptors: [{name: it, rule: {nearest: [0, 0, 0]}}], keyframes: []}'
        )
        assert resolve_task(task, SCENE).objects == {'it': 'ball'}
        assert resolve_task(task, SCENE, Pose()).objects == {'it': 'red_cube'}


@pytest.mark.parametrize('name', [name for name in NAMED if name != 'gray'])
def test_colours_with_a_name_are_known_by_it(name: str):
    assert colour_name(NAMED[name]) == name


def test_other_shades_have_the_name_that_people_give_them():
    assert colour_name((0.7, 0.1, 0.1)) == 'red'
    assert colour_name((0.05, 0.2, 0.6)) == 'blue'
    assert colour_name((0.0, 0.5, 0.1)) == 'green'
    assert colour_name((0.05, 0.05, 0.05)) == 'black'


def test_a_mesh_that_cannot_be_read_has_no_size(tmp_path: Path):
    file = tmp_path / 'a.stl'
    file.write_text('nothing')
    scene = Scene('base_link', (thing('a', MeshFile(file)),))
    assert 'has no size' in found('{size: {longest: [0, 1]}}', scene=scene).undecided[0].fact
    assert found('{not: {size: {longest: [0, 1]}}}', scene=scene).matched == ()


def test_one_that_may_be_nearer_leaves_the_nearest_undecided(tmp_path: Path):
    file = tmp_path / 'a.stl'
    file.write_text('nothing')
    near, far = thing('near', MeshFile(file), (0.1, 0, 0)), thing('far', at=(0.2, 0, 0))
    resolution = found('{size: {longest: [0, 1]}, nearest: [0, 0, 0]}', scene=Scene('base_link', (near, far)))
    assert resolution.matched == ()
    assert 'near may be nearer' in resolution.undecided[1].fact
    assert (
        found('{size: {longest: [0, 1]}, nearest: [0.2, 0, 0]}', scene=Scene('base_link', (near, far))).object == 'far'
    )


def test_boxes_of_the_demonstration_by_their_colour():
    scene = find_scene('seed_cell')
    for colour in ('red', 'green', 'blue', 'yellow'):
        assert found(f'{{shape: box, color: {colour}}}', scene=scene).object == f'{colour}_box'


def test_a_planning_scene_is_searched_like_the_file_it_was_made_of():
    for text in ('{color: red, nearest: tray}', '{shape: box}', '{size: {longest: [0.1, 0.15]}}', '{tag: wood}'):
        assert found(text, scene=from_scene(SCENE)) == found(text)


def test_what_no_file_can_hold_is_no_obstacle_to_other_objects():
    bench = PlanningScene('base_link').add(
        WorldObject('vase', dataclasses.replace(Body.of(TETRAHEDRON), movable=True)),
        WorldObject('chair', dataclasses.replace(Body.of(Box((0.4, 0.4, 0.4)), Cylinder(0.02, 0.4)), movable=True)),
        WorldObject('cube', dataclasses.replace(Body.of(Box((0.1, 0.1, 0.1))), movable=True)),
    )
    resolution = found('{shape: box}', scene=bench)
    assert resolution.object == 'cube'
    assert [str(reason) for reason in resolution.rejected] == ['vase is a mesh', 'chair is made of 2 shapes']
    assert found('{shape: mesh}', scene=bench).object == 'vase'
    assert found('{size: {longest: [0.4, 0.4]}}', scene=bench).object == 'chair'


def test_what_the_hand_holds_is_compared_where_it_is():
    poses = ROBOT.link_poses({'joint_1': 0.3})
    scene = from_scene(SCENE).attach('can', 'hand', poses)
    assert resolve(Descriptor('it', rule_of('{shape: cylinder}')), scene, link_poses=poses).object == 'can'
    assert resolve(Descriptor('it', rule_of('{nearest: [0, -0.4, 0.1]}')), scene, link_poses=poses).object == 'can'
    with pytest.raises(SceneFault, match="no link 'hand'"):
        resolve(Descriptor('can'), scene)


def test_objects_on_ros_need_not_say_that_they_can_be_moved():
    """A name that is wrong is told; the right one is not blamed for what its sender could not say."""
    scene = PlanningScene('base_link').add(WorldObject('cup', Body.of(Sphere(0.03))))
    task = Task((Descriptor('cup'), Descriptor('cop')), (Pick('cup'), Place('cup', Pose()), Pick('cop')))
    (problem,) = resolve_task(task, scene).problems
    assert "the scene has no object 'cop'" in str(problem)
    assert "'cup'" in str(problem)
