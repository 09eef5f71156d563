"""Tasks that nobody can do, each beside a similar one that can be done, and crowds of which some can and some cannot.

`./lfd bench planner --part hopeless` times them; here what planning does can be counted.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

from lfd_description.shapes import Vector
from lfd_planner.backends import Failure
from lfd_planner.backends.embedded import EmbeddedBackend
from lfd_planner.collision import CollisionWorld
from lfd_planner.mtdf import Pick, Place, Task
from lfd_planner.planner import Planned, TaskFailure, TaskPlanner
from lfd_planner.pose import Pose
from lfd_planner.scene import PlanningScene, WorldObject
from support.task_cells import box, moving, planner, seed_cell, seed_origin, seed_task

HEIGHT = 0.0474  # [m], of the blue box
GROUND = -0.15  # [m], the upper side of the template
HERE: Vector = (0.40, -0.10, GROUND + 0.5 * HEIGHT)
"""Where the blue box is [m]."""
THERE: Vector = (0.42, 0.10, GROUND + 0.5 * HEIGHT)
"""Where it goes [m]."""
CROWD_SIZES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.4)  # [m]
CROWD_ROOM = 0.12  # [m] between the blue box's middle and a box of a crowd, at most


@dataclass(frozen=True, eq=False)
class Problem:
    """Something to plan."""

    task: Task
    scene: PlanningScene
    origin: Pose = field(default_factory=Pose)

    def plan(self, with_planner: TaskPlanner) -> tuple[Planned, ...] | TaskFailure:
        """What the planner says to it."""
        return with_planner.plan(self.task, self.scene, self.origin)


@dataclass(frozen=True, eq=False)
class HopelessTask:
    """A task that cannot be done."""

    name: str
    problem: Problem
    similar: Problem
    """One that can be done."""
    keyframe: int
    """The one that cannot be done."""
    reason: str
    """The first that is told."""
    facts: tuple[str, ...]
    """What the message must say."""


def hopeless_tasks(robot: str = 'ur5e') -> tuple[HopelessTask, ...]:
    """All of them; each with its own explanation."""
    return tuple(make() for make in (*_CASES, *((_partition, _no_grasp_at_all) if robot == 'ur5e' else ())))


def one_pair(scene: PlanningScene | None = None, place: Vector = THERE) -> Problem:
    """The blue box is picked and placed."""
    task = moving(Pick('blue_box'), Place('blue_box', Pose(place)))
    return Problem(task, scene or seed_cell())


def whole_stack(scene: PlanningScene | None = None, origin: Pose | None = None) -> Problem:
    """The recorded task."""
    return Problem(seed_task(), scene or seed_cell(), origin or seed_origin())


def fixed(name: str, size: Vector, position: Vector) -> WorldObject:
    """A box that stays where it is [m]."""
    return box(name, size, position, movable=False)


def above(position: Vector, gap: float, size: Vector, aside: float = 0.0) -> Vector:
    """The middle of a box of a size, so far above the blue box at a position, and so far to its front [m]."""
    x, y, z = position
    return x + aside, y, z + 0.5 * HEIGHT + gap + 0.5 * size[2]


def _overlap() -> HopelessTask:
    scene = seed_cell().move('blue_box', Pose((0.40, -0.10, -0.140)))
    return HopelessTask(
        'objects inside each other',
        whole_stack(scene),
        whole_stack(),
        0,
        'objects_overlap',
        ("'blue_box' is 14 mm inside 'table'", 'correct the scene'),
    )


def _far_place() -> HopelessTask:
    return HopelessTask(
        'place out of reach',
        one_pair(place=(1.6, 0.1, THERE[2])),
        one_pair(),
        1,
        'unreachable',
        ('towards the robot',),
    )


def _far_origin() -> HopelessTask:
    return HopelessTask(
        'origin far away',
        whole_stack(origin=seed_origin(x=5.0)),
        whole_stack(),
        1,
        'unreachable',
        ('task origin', 'towards the robot'),
    )


def _far_object() -> HopelessTask:
    return HopelessTask(
        'object out of reach',
        one_pair(seed_cell().move('blue_box', Pose((1.6, -0.1, HERE[2])))),
        one_pair(),
        0,
        'unreachable',
        ("'blue_box' is moved",),
    )


def _covered() -> HopelessTask:
    scene = seed_cell().move('red_box', Pose((HERE[0], HERE[1], HERE[2] + 0.5 * HEIGHT + 0.0082)))
    return HopelessTask(
        'stack taken from below', whole_stack(scene), whole_stack(), 0, 'covered', ("pick 'red_box' first",)
    )


def _interlocked() -> HopelessTask:
    """Each of two hooks has its arm over the other's."""
    blue, red = _hook('blue_box', HERE, -1.0), _hook('red_box', (HERE[0] + 0.09, HERE[1], HERE[2]), 1.0)
    scene = seed_cell().remove('yellow_box').add(blue, red)
    similar = seed_cell().remove('yellow_box').add(blue)
    return HopelessTask(
        'interlocked stack',
        one_pair(scene),
        one_pair(similar),
        0,
        'interlocked',
        ("'blue_box' and 'red_box' hold each other down",),
    )


def _hook(name: str, position: Vector, side: float) -> WorldObject:
    """A box with two arms at one side: at the back a high one and in front a low one, or the other way round."""
    post = box(name, (0.040, 0.040, HEIGHT), position)
    arms = [
        box('arm', (0.04, 0.015, 0.010), (-0.035 * side, 0.0125 * along, 0.008 * along * side)) for along in (-1.0, 1.0)
    ]
    parts = (*post.body.parts, *(replace(arm.body.parts[0], pose=arm.pose) for arm in arms))
    return replace(post, body=replace(post.body, parts=parts))


def _no_size() -> HopelessTask:
    scene = seed_cell().add(box('blue_box', (0.0, 0.04, HEIGHT), HERE))
    return HopelessTask(
        'object without size', whole_stack(scene), whole_stack(), 0, 'object', ("'blue_box' has a size of zero",)
    )


def _too_wide() -> HopelessTask:
    scene = seed_cell().add(box('blue_box', (0.061, 0.061, 0.061), (0.40, -0.10, GROUND + 0.0305)))
    return HopelessTask('gripper too small', whole_stack(scene), whole_stack(), 0, 'too_wide', ('61 mm', '44 mm'))


def _contradiction() -> HopelessTask:
    keyframes = tuple(reversed(seed_task().keyframes))
    return HopelessTask(
        'contradictory keyframes',
        replace(whole_stack(), task=replace(seed_task(), keyframes=keyframes)),
        whole_stack(),
        0,
        'contradiction',
        ('keyframes[0]', "'green_box' is placed and nothing is held"),
    )


def _occupied() -> HopelessTask:
    scene = seed_cell().add(fixed('brick', (0.05, 0.05, 0.05), (0.42, 0.10, -0.125)))
    return HopelessTask('place occupied', whole_stack(scene), whole_stack(), 1, 'place_occupied', ("inside 'brick'",))


def _in_the_air() -> HopelessTask:
    x, y, z = THERE
    return HopelessTask(
        'place in the air', one_pair(place=(x, y, z + 0.08)), one_pair(), 1, 'unsupported', ('80 mm', 'blue_box')
    )


def _under_a_lid() -> HopelessTask:
    size = (0.4, 0.3, 0.02)
    scene = seed_cell().add(fixed('lid', size, above(HERE, 0.005, size)))
    return HopelessTask('pick under a lid', one_pair(scene), one_pair(), 0, 'blocked_above', ("'lid' is", 'make room'))


def _lift_blocked() -> HopelessTask:
    """A bar over the box's edge, beside the hand."""
    size = (0.01, 0.10, 0.005)
    scene = seed_cell().add(fixed('bar', size, above(HERE, 0.005, size, aside=-0.019)))
    return HopelessTask('pick below a bar', one_pair(scene), one_pair(), 0, 'blocked_above', ("'bar' is 5 mm above",))


def _lower_blocked() -> HopelessTask:
    size = (0.01, 0.10, 0.005)
    scene = seed_cell().add(fixed('bar', size, above(THERE, 0.005, size, aside=-0.019)))
    return HopelessTask('place below a bar', one_pair(scene), one_pair(), 1, 'blocked_above', ("'bar' is 5 mm above",))


def _last_of_many() -> HopelessTask:
    """Three picks and places are planned before the fourth turns out to be impossible."""
    scene = seed_cell().move('green_box', Pose((1.2, 0.0, -0.13)))
    return HopelessTask('last object out of reach', whole_stack(scene), whole_stack(), 6, 'unreachable', ('green_box',))


def _partition() -> HopelessTask:
    """A partition through the whole cell; the arm can pass it only if there is room at its axis."""
    return HopelessTask(
        'partition', partitioned(0.2), partitioned(0.25), 0, 'no_path', ('No way was found', 'front_wall')
    )


def partitioned(room: float) -> Problem:
    """Pick on the right and place on the left of a wall that begins at a distance from the arm's axis [m]."""
    away, height = 0.45, GROUND - 0.0002 + 0.5 * HEIGHT
    scene = seed_cell().add(
        fixed('front_wall', (1.4, 0.02, 1.6), (room + 0.7, 0.0, 0.66)),
        fixed('back_wall', (1.4, 0.02, 1.6), (-room - 0.7, 0.0, 0.66)),
        fixed('roof', (3.0, 3.0, 0.02), (0.0, 0.0, 1.47)),
    )
    model = planner().model
    right = dict(zip(model.group.joints, map(float, model.poses['right']), strict=True))
    scene = scene.move('blue_box', Pose((away, -0.3, height))).with_joints(right)
    return Problem(moving(Pick('blue_box'), Place('blue_box', Pose((away, 0.3, height)))), scene)


def _no_grasp_at_all() -> HopelessTask:
    """The last box can be had at both ends, but not with the same grasp, and nowhere can it be put down between."""
    return HopelessTask(
        'no grasp serves both ends',
        whole_stack(origin=seed_origin(x=-0.132, y=0.035)),
        whole_stack(),
        7,
        'collision',
        ('green_box', 'It can be done if the task origin moves'),
    )


def _no_way_out() -> HopelessTask:
    """The hand fits to the box, but a frame around the wrist leaves it no way to come or go."""
    return HopelessTask(
        'frame around the pick', framed(0.07), framed(0.11), 0, 'collision', ('blue_box', 'cannot be done')
    )


def framed(hole: float) -> Problem:
    """A frame with a square hole, 80 mm above the blue box [m]."""
    x, y, z = HERE
    aside, wide, height = 0.5 * hole + 0.015, hole + 0.06, z + 0.5 * HEIGHT + 0.08
    scene = seed_cell().remove('yellow_box').remove('red_box').remove('green_box')
    return one_pair(
        scene.add(
            fixed('front', (0.03, wide, 0.004), (x + aside, y, height)),
            fixed('back', (0.03, wide, 0.004), (x - aside, y, height)),
            fixed('left', (hole, 0.03, 0.004), (x, y + aside, height)),
            fixed('right', (hole, 0.03, 0.004), (x, y - aside, height)),
        )
    )


def crowded(seed: int) -> Problem:
    """One to five fixed boxes of any size stand, or float, around the blue box and its place; many leave no room."""
    dice = random.Random(seed)
    scene = seed_cell().remove('yellow_box').remove('red_box').remove('green_box')
    for number in range(dice.randint(1, 5)):
        x, y, z = dice.choice((HERE, THERE))
        wide, deep, high = (dice.choice(CROWD_SIZES) for _ in range(3))
        dx, dy, dz = (dice.uniform(-1.0, 1.0) * (0.5 * size + CROWD_ROOM) for size in (wide, deep, high))
        low = GROUND + 0.5 * high + 0.0005
        scene = scene.add(fixed(f'box_{number}', (wide, deep, high), (x + dx, y + dy, max(low, z + abs(dz)))))
    return one_pair(scene)


_CASES: tuple[Callable[[], HopelessTask], ...] = (
    _overlap,
    _far_place,
    _far_origin,
    _far_object,
    _covered,
    _interlocked,
    _no_size,
    _too_wide,
    _contradiction,
    _occupied,
    _in_the_air,
    _under_a_lid,
    _lift_blocked,
    _lower_blocked,
    _last_of_many,
    _no_way_out,
)


# About how long things take [ms], so that their counts can be put together.
WORLD = 0.7  # to make a scene ready
CONTACTS = 0.3  # to name all contacts of a position
STATE = 0.004  # to check a position for collisions
SAMPLE = 0.015  # of a search in vain
WAY = 3.0  # of a search that finds one, which is made shorter
MOTION = 0.6  # to time it


@dataclass
class Work:
    """What planning did, counted; the same on every machine."""

    worlds: int = 0
    contacts: int = 0
    states: int = 0
    samples: int = 0
    """Of searches that found nothing."""
    ways: int = 0
    motions: int = 0

    @property
    def cost(self) -> float:
        """All of it in one number, about as long as it takes [ms]."""
        checks = WORLD * self.worlds + CONTACTS * self.contacts + STATE * self.states
        return checks + SAMPLE * self.samples + WAY * self.ways + MOTION * self.motions


def counted_work(problem: Problem, with_planner: TaskPlanner) -> Work:
    """What planning takes."""
    work = Work()
    made, collide, contacts = CollisionWorld.__init__, CollisionWorld.collide, CollisionWorld.contacts
    first_contact = CollisionWorld.first_contact
    search, time_motion = EmbeddedBackend.plan_joint, EmbeddedBackend.time

    def count_world(world: CollisionWorld, *arguments: Any, **named: Any) -> None:
        work.worlds += 1
        made(world, *arguments, **named)

    def count_states(world: CollisionWorld, q: Any) -> Any:
        work.states += len(q)
        return collide(world, q)

    def count_contacts(world: CollisionWorld, q: Any) -> Any:
        work.contacts += 1
        return contacts(world, q)

    def count_first_contact(world: CollisionWorld, q: Any) -> Any:
        work.contacts += 1
        return first_contact(world, q)

    def count_samples(backend: EmbeddedBackend, *arguments: Any) -> Any:
        found = search(backend, *arguments)
        if isinstance(found, Failure):
            work.samples += arguments[-1].iterations
        else:
            work.ways += 1
        return found

    def count_motions(backend: EmbeddedBackend, *arguments: Any, **named: Any) -> Any:
        work.motions += 1
        return time_motion(backend, *arguments, **named)

    with (
        patch.object(CollisionWorld, '__init__', count_world),
        patch.object(CollisionWorld, 'collide', count_states),
        patch.object(CollisionWorld, 'contacts', count_contacts),
        patch.object(CollisionWorld, 'first_contact', count_first_contact),
        patch.object(EmbeddedBackend, 'plan_joint', count_samples),
        patch.object(EmbeddedBackend, 'time', count_motions),
    ):
        problem.plan(with_planner)
    return work
