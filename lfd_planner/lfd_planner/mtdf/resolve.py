"""Which objects of a scene a task means, and why not the others.

Distances are between the origins of the objects' shapes; an object that is made of several counts where its own
origin is, and has none of their kinds. Rules choose among what can be moved; a name stands for the object of that
name. `nearest` looks at those that fulfil what stands beside it, so that 'the red box nearest to the tray' is
{color: red, shape: box, nearest: tray}; in which order the keys stand does not matter.

A rule holds for an object, does not hold, or cannot be decided: there is nothing to compare with, or a mesh has no
size. What cannot be decided stays so under `not`, and is never taken for a match.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from lfd_description.bodies import Colour
from lfd_description.meshes import MeshError
from lfd_description.scenes import Scene
from lfd_description.scenes.colours import NAMED
from lfd_description.scenes.values import shortened
from lfd_description.shapes import Vector
from lfd_planner.pose import Pose
from lfd_planner.scene import LinkPoses, PlanningScene

from .checks import Spot
from .kinds import suggestion
from .problems import GIVE_UP, Problem
from .rules import AllOf, AnyOf, HasColour, HasShape, HasSize, HasTag, InBall, InBox, Nearest, Not, Range, Rule
from .task import Descriptor, Pick, Task
from .things import Thing, things_in

COLOUR_TOLERANCE = 0.15  # distance in red, green, blue that counts as the same colour
SAME_DISTANCE = 1e-6  # [m], below which two objects are equally near
MAX_REASONS = 12  # told in a problem
FIXED = 'cannot be moved'


@dataclass(frozen=True)
class Reason:
    """Why an object matched, or did not."""

    object: str
    fact: str
    """What is true of the object, such as 'is blue'."""

    def __str__(self) -> str:
        return f'{self.object} {self.fact}'


@dataclass(frozen=True)
class Resolution:
    """What a descriptor stands for in a scene."""

    descriptor: str
    matched: tuple[Reason, ...]
    rejected: tuple[Reason, ...]
    undecided: tuple[Reason, ...] = ()
    """Objects that the rule may or may not hold for."""

    @property
    def object(self) -> str | None:
        """The object, if it is clear which."""
        return self.matched[0].object if len(self.matched) == 1 and not self.undecided else None

    def __str__(self) -> str:
        unclear = 'undecided' if self.undecided else 'ambiguous' if self.matched else 'not in the scene'
        lines = [f"'{self.descriptor}' is {self.object or unclear}"]
        lines += [f'  yes  {reason}' for reason in self.matched]
        lines += [f'  ?    {reason}' for reason in self.undecided]
        lines += [f'  no   {reason}' for reason in self.rejected if reason.fact != FIXED]
        fixed = [reason.object for reason in self.rejected if reason.fact == FIXED]
        lines += [f'  no   {", ".join(fixed)} {FIXED}'] if fixed else []
        return '\n'.join(lines)


@dataclass(frozen=True)
class Resolved:
    """What all descriptors of a task stand for, and what is wrong with that."""

    resolutions: tuple[Resolution, ...]
    problems: tuple[Problem, ...]

    @property
    def objects(self) -> dict[str, str]:
        """The scene's objects by descriptor, of those that are clear."""
        return {found.descriptor: found.object for found in self.resolutions if found.object is not None}


def resolve_task(
    task: Task,
    scene: Scene | PlanningScene,
    origin: Pose | None = None,
    spots: Sequence[Spot] | None = None,
    link_poses: LinkPoses | None = None,
) -> Resolved:
    """Find the objects of a task.

    Args:
        task: what is to be done.
        scene: where. That an object cannot be moved is held against a name in a scene file alone; others on ROS send
            objects that do not say.
        origin: of the task's frame in the scene's; without it the task's own hint, else the scene's frame itself.
        spots: where the descriptors stand in a text (`Report.spots`), for the problems.
        link_poses: of the links to which something is attached in a planning scene.

    Raises:
        SceneFault: something is attached to a link that is not among `link_poses`.
    """
    origin = origin or (task.origin.pose if task.origin is not None else Pose())
    things = things_in(scene, link_poses)
    resolutions = tuple(_resolved(descriptor, things, origin) for descriptor in task.descriptors)
    picked = {keyframe.object for keyframe in task.keyframes if isinstance(keyframe, Pick)}
    places = spots if spots is not None else [Spot()] * len(resolutions)
    problems: list[Problem] = []
    owners: dict[str, str] = {}
    for descriptor, found, spot in zip(task.descriptors, resolutions, places, strict=True):
        wrong = _wrong(descriptor, found, things, descriptor.name in picked and isinstance(scene, Scene))
        if wrong is None and found.object is not None and found.object in owners:
            other = shortened(owners[found.object])
            wrong = f"'{shortened(descriptor.name)}' and '{other}' are both {found.object}", 'make one rule narrower'
        if found.object is not None:
            owners.setdefault(found.object, descriptor.name)
        if wrong is not None and len(problems) < GIVE_UP:
            problems.append(Problem(spot.line, spot.column, None, shortened(descriptor.name), *wrong))
    return Resolved(resolutions, tuple(problems))


def resolve(
    descriptor: Descriptor,
    scene: Scene | PlanningScene,
    origin: Pose | None = None,
    link_poses: LinkPoses | None = None,
) -> Resolution:
    """Find the object of a descriptor; `origin` is that of the task's frame in the scene's.

    Raises:
        SceneFault: something is attached to a link that is not among `link_poses`.
    """
    return _resolved(descriptor, things_in(scene, link_poses), origin or Pose())


def _resolved(descriptor: Descriptor, things: Mapping[str, Thing], origin: Pose) -> Resolution:
    if descriptor.rule is None:
        here = descriptor.name in things
        return Resolution(descriptor.name, (Reason(descriptor.name, 'has this name'),) if here else (), ())
    movable = [thing for thing in things.values() if thing.movable]
    verdicts = _Judge(things, origin).judge(descriptor.rule, movable)
    fixed = [Reason(thing.name, FIXED) for thing in things.values() if not thing.movable]
    matched, rejected, undecided = (
        tuple(Reason(name, verdict.fact) for name, verdict in verdicts.items() if verdict.holds is answer)
        for answer in (True, False, None)
    )
    return Resolution(descriptor.name, matched, (*rejected, *fixed), undecided)


def colour_name(colour: Colour | Vector) -> str:
    """The name that is nearest to a colour, as the eye sees it."""
    here = _lab(colour[:3])
    return min(NAMED, key=lambda name: math.dist(here, _lab(NAMED[name][:3])))


@dataclass(frozen=True)
class _Verdict:
    holds: bool | None
    """None: it cannot be decided."""
    fact: str


_Verdicts = dict[str, _Verdict]
_Names = frozenset[str]
_NOBODY: _Names = frozenset()


class _Judge:
    """Applies rules to objects of a scene; every object gets a verdict with a fact."""

    def __init__(self, things: Mapping[str, Thing], origin: Pose) -> None:
        self.all = things
        self.into_task = np.linalg.inv(origin.matrix)

    def position(self, thing: Thing) -> Vector:
        """Where an object is in the task's frame [m]."""
        x, y, z = (self.into_task @ (*thing.position, 1.0))[:3].tolist()
        return x, y, z

    def judge(self, rule: Rule, things: Sequence[Thing], unsure: _Names = _NOBODY) -> _Verdicts:
        """What a rule says of each thing; of those `unsure` it is not known whether they are candidates at all."""
        match rule:
            case AllOf(rules):
                return self.all_of(rules, things, unsure)
            case AnyOf(rules):
                return self.any_of(rules, things, unsure)
            case Not(part):
                return {name: _opposite(found) for name, found in self.judge(part, things, unsure).items()}
            case Nearest(to):
                return self.nearest(to, things, unsure)
            case _:
                return {thing.name: self.fact(rule, thing) for thing in things}

    def all_of(self, rules: Sequence[Rule], things: Sequence[Thing], unsure: _Names) -> _Verdicts:
        """Filter in three rounds, so that the order of the rules does not matter.

        First comes what is true of an object alone, then what compares objects somewhere inside, and last the choice of
        the nearest among those that are left.
        """
        facts: dict[str, list[_Verdict]] = {thing.name: [] for thing in things}
        left = list(things)
        for rank in _RANKS:
            candidates, doubtful = left, unsure
            for rule in (rule for rule in rules if _rank(rule) == rank):
                # Of the first round nobody need look at what has failed; in the others all look at the same objects.
                for name, verdict in self.judge(rule, left if rank == _ALONE else candidates, doubtful).items():
                    facts[name].append(verdict)
                left = [thing for thing in left if all(found.holds is not False for found in facts[thing.name])]
            unsure |= {name for name, found in facts.items() if any(verdict.holds is None for verdict in found)}
        return {name: _all(found) for name, found in facts.items()}

    def any_of(self, rules: Sequence[Rule], things: Sequence[Thing], unsure: _Names) -> _Verdicts:
        found = [self.judge(rule, things, unsure) for rule in rules]
        return {thing.name: _any([answer[thing.name] for answer in found]) for thing in things}

    def nearest(self, to: Vector | str, things: Sequence[Thing], unsure: _Names) -> _Verdicts:
        if isinstance(to, str) and to not in self.all:
            fact = f"cannot be compared: there is no '{shortened(to)}' in the scene"
            return {thing.name: _Verdict(None, fact) for thing in things}
        target = self.position(self.all[to]) if isinstance(to, str) else to
        what = f"'{to}'" if isinstance(to, str) else _point(to)
        others = {thing.name: math.dist(self.position(thing), target) for thing in things if thing.name != to}
        sure = {name: away for name, away in others.items() if name not in unsure}
        rivals = [(False, 'is', *_least(sure)), (None, 'may be', *_least(others))]
        verdicts = {name: _nearness(away, what, rivals) for name, away in others.items()}
        return {thing.name: verdicts.get(thing.name, _Verdict(False, f'is {what} itself')) for thing in things}

    def fact(self, rule: Rule, thing: Thing) -> _Verdict:
        match rule:
            case HasShape(shape):
                kind = f'a {thing.shape}' if thing.shape else f'made of {len(thing.parts)} shapes'
                return _Verdict(thing.shape == shape, f'is {kind}')
            case HasTag(tag):
                has = tag in thing.tags
                return _Verdict(has, f"has {'the' if has else 'no'} tag '{tag}'")
            case HasColour(colour):
                return _colour_verdict(colour, thing)
            case HasSize():
                return _size_verdict(rule, thing)
            case InBox(low, high):
                here = self.position(thing)
                inside = all(a <= p <= b for a, p, b in zip(low, here, high, strict=True))
                return _Verdict(inside, f'is at {_point(here)}, {"inside" if inside else "outside of"} the region')
            case InBall(centre, radius):
                away = math.dist(self.position(thing), centre)
                return _Verdict(away <= radius, f'is {away:.3f} m from {_point(centre)}')
            case _:
                raise TypeError(f'{rule} is no rule about one object')


_ALONE, _COMPARES, _CHOOSES = _RANKS = range(3)


def _rank(rule: Rule) -> int:
    """Whether a rule is about an object alone, compares objects somewhere inside, or chooses the nearest."""
    match rule:
        case Nearest():
            return _CHOOSES
        case AllOf(rules) | AnyOf(rules):
            return min(_COMPARES, max((_rank(part) for part in rules), default=_ALONE))
        case Not(part):
            return min(_COMPARES, _rank(part))
        case _:
            return _ALONE


def _opposite(verdict: _Verdict) -> _Verdict:
    return verdict if verdict.holds is None else _Verdict(not verdict.holds, verdict.fact)


def _all(verdicts: Sequence[_Verdict]) -> _Verdict:
    """One that does not hold decides; else one that cannot be decided."""
    for answer in (False, None):
        found = [verdict for verdict in verdicts if verdict.holds is answer]
        if found:
            return found[0]
    return _Verdict(True, ', '.join(verdict.fact for verdict in verdicts))


def _any(verdicts: Sequence[_Verdict]) -> _Verdict:
    """One that holds decides; else one that cannot be decided."""
    for answer in (True, None):
        found = [verdict for verdict in verdicts if verdict.holds is answer]
        if found:
            return found[0]
    return _Verdict(False, ', '.join(dict.fromkeys(verdict.fact for verdict in verdicts)))


def _least(distances: dict[str, float]) -> tuple[str, float]:
    """Who is nearest, and how far away [m]."""
    name = min(distances, key=lambda other: distances[other], default='')
    return name, distances.get(name, math.inf)


def _nearness(away: float, what: str, rivals: Sequence[tuple[bool | None, str, str, float]]) -> _Verdict:
    """Whether no rival is nearer; each comes with the answer if it is, a verb, its name and its distance [m]."""
    for answer, verb, rival, distance in rivals:
        if distance < away - SAME_DISTANCE:
            return _Verdict(answer, f'is {away:.3f} m from {what}, {rival} {verb} nearer')
    return _Verdict(True, f'is the nearest to {what}, {away:.3f} m')


def _wrong(
    descriptor: Descriptor, found: Resolution, things: Mapping[str, Thing], picked: bool
) -> tuple[str, str] | None:
    """What is wrong with a resolution, and what to do."""
    name = shortened(descriptor.name)
    if descriptor.rule is None:
        if found.object is None:
            names = list(things)[:20]
            fix = suggestion(descriptor.name, names) if names else 'it is empty: load a scene, or start the twin'
            return f"the scene has no object '{name}'", fix
        if picked and not things[found.object].movable:
            return f"'{name}' is picked and cannot be moved", "write 'movable: true' in the scene if it can"
        return None
    if found.undecided:
        return f"it cannot be decided what '{name}' is: {_listed(found.undecided)}", 'mend that, or change the rule'
    if not found.matched:
        return f"no object of the scene is '{name}': {_listed(found.rejected)}", 'make the rule wider'
    if len(found.matched) > 1:
        return f"{len(found.matched)} objects can be '{name}': {_listed(found.matched)}", 'make the rule narrower'
    return None


def _listed(reasons: Sequence[Reason]) -> str:
    told = [str(reason) for reason in reasons if reason.fact != FIXED]
    fixed = len(reasons) - len(told)
    more = [f'{len(told) - MAX_REASONS} more'] if len(told) > MAX_REASONS else []
    more += [f'{fixed} others {FIXED}'] if fixed else []
    return ', '.join([*told[:MAX_REASONS], *more]) or 'it is empty'


def _point(point: Vector) -> str:
    return f'({", ".join(f"{part + 0.0:.3g}" for part in point)})'


def _colour_verdict(colour: str | Vector, thing: Thing) -> _Verdict:
    name = colour_name(thing.colour)
    if isinstance(colour, str) and not colour.startswith('#'):
        return _Verdict(NAMED[name] == NAMED[colour], f'is {name}')
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)) if isinstance(colour, str) else colour
    away = math.dist(thing.colour[:3], (red, green, blue))
    return _Verdict(away <= COLOUR_TOLERANCE, f'is {name}, {away:.2f} from the colour {_point((red, green, blue))}')


def _size_verdict(rule: HasSize, thing: Thing) -> _Verdict:
    try:
        edges = thing.extents()
    except MeshError as error:
        return _Verdict(None, f'has no size: {error}')
    wanted = (('longest', rule.longest), ('middle', rule.middle), ('shortest', rule.shortest))
    checks = [(word, edge, limits) for (word, limits), edge in zip(wanted, edges, strict=True) if limits is not None]
    for word, edge, limits in checks:
        if not _within(edge, limits):
            return _Verdict(False, f'has a {word} edge of {edge:.4g} m, not {limits[0]:g} to {limits[1]:g}')
    return _Verdict(True, f'has {" and ".join(f"a {word} edge of {edge:.4g} m" for word, edge, _ in checks)}')


def _within(edge: float, limits: Range) -> bool:
    """Whether a length is in a range, give or take what rounding does to it."""
    return limits[0] - 1e-9 <= edge <= limits[1] + 1e-9


@lru_cache(maxsize=1024)
def _lab(colour: Sequence[float]) -> Vector:
    """A colour (sRGB, 0 to 1) as CIE L*a*b*, in which distances are about those that the eye sees."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
    x, y, z = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ linear
    a, b, c = (_lab_curve(part) for part in (x / 0.9505, y, z / 1.089))
    return 116.0 * b - 16.0, 500.0 * (a - b), 200.0 * (b - c)


def _lab_curve(part: float) -> float:
    return float(part ** (1.0 / 3.0)) if part > 0.008856 else 7.787 * float(part) + 16.0 / 116.0
