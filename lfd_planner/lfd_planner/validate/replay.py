"""The motion played again without a planner: who stands where, and who is held how, in each segment.

A segment's stretch is sampled so densely that between two samples no joint of the arm moves by more than `STEP`, and no
point of the robot or of what it holds by more than `TRAVEL`. Attaching keeps an object where it is in its link;
detaching leaves it where it is in the scene.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lfd_description.bodies import collision_bodies
from lfd_description.kinematics import Tree
from lfd_description.model.builder import mesh_finder
from lfd_description.model.model import RobotModel
from lfd_description.urdf import Matrix
from lfd_planner.scene import Body, Code, PlanningScene, SceneFault
from lfd_planner.scene.faults import names, quoted
from lfd_planner.solution import Attachment, Segment, Solution
from lfd_planner.timing import Trajectory

from .report import Check, Finding
from .solids import Numbers, link_solids, object_solids, steps

STEP = 0.005  # [rad or m], of an arm's joint between two samples
TRAVEL = 0.0005  # [m], of any point between two samples
GRIPPER_STEP = 0.0005  # [rad or m], of a gripper's joint
STILL = 1e-6  # [rad or m] and [rad/s or m/s], up to which a joint stands


@dataclass(frozen=True, eq=False)
class Held:
    """An object in the hand, from one moment to another."""

    attachment: Attachment
    grip: Matrix
    """The 4x4 transform link -> object [m]."""
    picked: Matrix | None = None
    """Where it was attached, or was when the motion began if it was held then, scene -> object."""
    released: Matrix | None = None
    """Where it will be detached, scene -> object; None: it is held until the end."""

    @property
    def object(self) -> str:
        """Its name."""
        return self.attachment.object


@dataclass(frozen=True, eq=False)
class Stretch:
    """A segment as it is performed."""

    index: int
    segment: Segment
    times: Numbers
    """(N,) [s]"""
    q: Matrix
    """Positions of all joints of the robot, (N, dof), in the order of `Stage.joints` [rad or m]."""
    standing: Mapping[str, Matrix]
    """The 4x4 transforms scene -> object of all that nobody holds."""
    held: Mapping[str, Held]
    arm_moves: bool
    gripper_moves: bool
    outputs: Mapping[str, bool | float] = field(default_factory=dict)
    """What was switched in the segments before."""

    @property
    def end(self) -> float:
        """When it ends [s]."""
        return float(self.times[-1])


@dataclass(frozen=True, eq=False)
class Story:
    """What happens, and what is wrong with the telling."""

    stretches: tuple[Stretch, ...]
    standing: Mapping[str, Matrix]
    """Where all objects are in the end that nobody holds."""
    held: Mapping[str, Held]
    """What is held in the end."""
    findings: tuple[Finding, ...] = ()

    def held_after(self, stretch: Stretch) -> Mapping[str, Held]:
        """What is held when a stretch is over."""
        after = stretch.index + 1
        return self.stretches[after].held if after < len(self.stretches) else self.held

    def standing_after(self, stretch: Stretch) -> Mapping[str, Matrix]:
        """Where all stands that nobody holds when a stretch is over."""
        after = stretch.index + 1
        return self.stretches[after].standing if after < len(self.stretches) else self.standing

    def leaving_after(self, stretch: Stretch) -> Stretch | None:
        """The next stretch in which the arm moves; None: it does not."""
        return next((later for later in self.stretches[stretch.index + 1 :] if later.arm_moves), None)


class Stage:
    """The robot's kinematics in a scene, and the solids of all that is there.

    Raises:
        UrdfError, MeshError: a shape cannot be used.
        SceneFault: something is attached to what is no link of the robot.
    """

    def __init__(self, model: RobotModel, scene: PlanningScene) -> None:
        self.model = model
        self.tree = Tree(model.tree)
        self.joints = self.tree.joints
        self.column = {name: number for number, name in enumerate(self.joints)}
        self.links = {name: number for number, name in enumerate(self.tree.links)}
        self._frame = self.links.get(scene.frame, 0)
        for held in scene.attached.values():
            if held.link not in self.links:
                known = names(self.links, 100)
                raise SceneFault(
                    Code.INVALID_LINK_NAME,
                    f'Object {quoted(held.id)} is attached to {quoted(held.link)}, which is no link of the robot; its '
                    f'links are {known}.',
                )
        self.bodies: dict[str, Body] = {
            name: thing.body for things in (scene.objects, scene.attached) for name, thing in things.items()
        }
        solids = link_solids(collision_bodies(model.urdf, mesh_finder(model.robot)))
        self.link_solids = tuple(solid for solid in solids if solid.owner in self.links)
        self.object_solids = {name: object_solids(name, body) for name, body in self.bodies.items()}

    def link_poses(self, q: Matrix) -> Matrix:
        """The 4x4 transforms scene -> link, (N, links, 4, 4) [m], for rows of all joints' positions."""
        poses = self.tree.link_poses(q)
        if self._frame == 0:
            return poses
        found: Matrix = np.linalg.inv(poses[:, self._frame])[:, np.newaxis] @ poses
        return found

    def link_pose(self, q: Matrix, link: str) -> Matrix:
        """The 4x4 transform scene -> link [m], for one row of positions."""
        found: Matrix = self.link_poses(q[np.newaxis])[0, self.links[link]]
        return found

    def travel(self, q: Matrix, held: Mapping[str, Held]) -> Numbers:
        """How far any point of the robot and of what it holds can move from row to row of positions, (N - 1,) [m]."""
        poses = self.link_poses(q)
        ways = [(poses[:, self.links[solid.owner]] @ solid.origin, solid) for solid in self.link_solids]
        for thing in held.values():
            carrier = poses[:, self.links[thing.attachment.link]] @ thing.grip
            ways += [(carrier @ solid.origin, solid) for solid in self.object_solids[thing.object]]
        farthest = np.zeros(len(q) - 1)
        for way, solid in ways:
            turns = way[:, :3, :3]
            farthest = np.maximum(farthest, steps(turns, way[:, :3, 3] + turns @ solid.centre, solid.radius))
        return farthest

    def start(self, scene: PlanningScene, first: Numbers, arm: Sequence[str]) -> Numbers:
        """All joints' positions before the motion: as the scene says, the arm as its first point says.

        A gripper of which the scene knows nothing is open.
        """
        q = np.array([scene.joints.get(name, self._default(name)) for name in self.joints], dtype=np.float64)
        for name, position in zip(arm, first, strict=True):
            q[self.column[name]] = position
        return q

    def _default(self, joint: str) -> float:
        gripper = self.model.gripper
        if gripper is None:
            return 0.0
        names = [f'{self.model.prefix}{name}' for name in gripper.grasp_data.joints]
        return gripper.grasp_data.pregrasp_posture[names.index(joint)] if joint in names else 0.0


def replay(stage: Stage, scene: PlanningScene, solution: Solution) -> Story:
    """Play a solution whose structure is sound from its first point to its last."""
    return _Player(stage, scene, solution).play()


def still(trajectory: Trajectory, first: int, last: int) -> bool:
    """Whether no joint moves between two points, on the cubics that are executed."""
    q, v = trajectory.q[first : last + 1], trajectory.v[first : last + 1]
    return last == first or bool(np.ptp(q, axis=0).max(initial=0.0) <= STILL and np.abs(v).max(initial=0.0) <= STILL)


def sample_times(trajectory: Trajectory, first: int, last: int, step: float) -> Numbers:
    """Times [s] from one point to another, between which no joint moves by more than `step` [rad or m]."""
    if last == first:
        return trajectory.times[first : first + 1].copy()
    times, v = trajectory.times[first : last + 1], trajectory.v[first : last + 1]
    span = np.diff(times)
    way = np.abs(np.diff(trajectory.q[first : last + 1], axis=0)).max(axis=1, initial=0.0)
    fastest = np.abs(v).max(axis=1, initial=0.0)
    # On a cubic the speed is at most 1.5 times the mean plus the greater speed at the ends.
    most = 1.5 * way + np.maximum(fastest[:-1], fastest[1:]) * span
    return _denser(times, np.ceil(most / step))


def _denser(times: Numbers, counts: Numbers) -> Numbers:
    """Times, (N,) [s], with those between two neighbours cut into so many pieces, (N - 1,)."""
    pieces = [
        np.linspace(a, b, max(1, int(count)), endpoint=False)
        for a, b, count in zip(times[:-1], times[1:], counts, strict=True)
    ]
    return np.concatenate([*pieces, times[-1:]])


@dataclass
class _Player:
    stage: Stage
    scene: PlanningScene
    solution: Solution
    findings: list[Finding] = field(default_factory=list)

    def play(self) -> Story:
        q = self.stage.start(self.scene, self.solution.trajectory.q[0], self.solution.joints)
        standing = {name: thing.pose.matrix for name, thing in self.scene.objects.items()}
        held = {
            name: Held(
                Attachment(name, thing.link, tuple(sorted(thing.touch_links))),
                thing.pose.matrix,
                self.stage.link_pose(q, thing.link) @ thing.pose.matrix,
            )
            for name, thing in self.scene.attached.items()
        }
        stretches: list[Stretch] = []
        outputs: dict[str, bool | float] = {}
        for index, segment in enumerate(self.solution.segments):
            stretch = replace(self.stretch(index, segment, q, standing, held), outputs=outputs)
            stretches.append(stretch)
            outputs = {**outputs, **segment.outputs}
            q = stretch.q[-1]
            standing, held = self.changed(stretch, standing, held)
        return Story(tuple(_with_releases(self.stage, stretches)), standing, held, tuple(self.findings))

    def stretch(
        self, index: int, segment: Segment, q: Numbers, standing: Mapping[str, Matrix], held: Mapping[str, Held]
    ) -> Stretch:
        trajectory = self.solution.trajectory
        moves = not still(trajectory, segment.first, segment.last)
        goal = {joint: position for joint, position in segment.gripper.items() if joint in self.stage.column}
        way = {self.stage.column[joint]: position - q[self.stage.column[joint]] for joint, position in goal.items()}
        farthest = max((abs(distance) for distance in way.values()), default=0.0)
        times = sample_times(trajectory, segment.first, segment.last, STEP)
        if farthest > STILL:
            count = int(np.ceil(farthest / GRIPPER_STEP)) + 1
            times = np.union1d(times, np.linspace(times[0], times[-1], count))
        rows = self.rows(times, q, way)
        if moves:
            # Within a sample's time the arm may be a little faster than on average.
            times = _denser(times, np.ceil(1.1 * self.stage.travel(rows, held) / TRAVEL))
            rows = self.rows(times, q, way)
        return Stretch(index, segment, times, rows, standing, held, moves, farthest > STILL)

    def rows(self, times: Numbers, q: Numbers, way: Mapping[int, float]) -> Matrix:
        """All joints' positions at times, (N, dof) [rad or m], if the gripper's go a way from where they are at q."""
        rows = np.repeat(q[np.newaxis], len(times), axis=0)
        arm = [self.stage.column[name] for name in self.solution.joints]
        rows[:, arm] = self.solution.trajectory.sample(times).q
        duration = times[-1] - times[0]
        share = (times - times[0]) / duration if duration > 0.0 else np.ones(len(times))
        for column, distance in way.items():
            rows[:, column] = q[column] + share * distance
        return rows

    def changed(
        self, stretch: Stretch, standing: Mapping[str, Matrix], held: Mapping[str, Held]
    ) -> tuple[dict[str, Matrix], dict[str, Held]]:
        """Who stands and who is held after a stretch."""
        standing, held = dict(standing), dict(held)
        let_go, taken = stretch.segment.detach, stretch.segment.attach
        if let_go is not None:
            if let_go.object not in held or held[let_go.object].attachment.link != let_go.link:
                self.refuse(
                    stretch, let_go, f"'{let_go.object}' is let go of by '{let_go.link}', which does not hold it"
                )
            else:
                gone = held.pop(let_go.object)
                standing[let_go.object] = self.stage.link_pose(stretch.q[-1], let_go.link) @ gone.grip
        if taken is not None:
            if taken.object not in standing:
                why = 'is held already' if taken.object in held else 'is not in the scene'
                self.refuse(stretch, taken, f"'{taken.object}' is taken, which {why}")
            elif taken.link not in self.stage.links:
                self.refuse(
                    stretch, taken, f"'{taken.object}' is taken by '{taken.link}', which is no link of the robot"
                )
            else:
                pose = standing.pop(taken.object)
                grip = np.linalg.inv(self.stage.link_pose(stretch.q[-1], taken.link)) @ pose
                held[taken.object] = Held(taken, grip, pose)
        return standing, held

    def refuse(self, stretch: Stretch, attachment: Attachment, message: str) -> None:
        self.findings.append(
            Finding(Check.STRUCTURE, f'{message}.', stretch.index, stretch.end, (attachment.object, attachment.link))
        )


def _with_releases(stage: Stage, stretches: Sequence[Stretch]) -> Iterator[Stretch]:
    """The stretches, in which what is held knows where it will be let go of."""
    released: dict[int, Matrix] = {}
    for stretch, after in zip(stretches, [*(later.held for later in stretches[1:]), {}], strict=True):
        for name, held in stretch.held.items():
            let_go = stretch.segment.detach
            if after.get(name) is not held and let_go is not None and let_go.object == name:
                released[id(held)] = stage.link_pose(stretch.q[-1], held.attachment.link) @ held.grip
    for stretch in stretches:
        known = {name: replace(held, released=released.get(id(held))) for name, held in stretch.held.items()}
        yield replace(stretch, held=known)
