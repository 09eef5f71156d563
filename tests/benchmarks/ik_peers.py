"""Inverse kinematics of others, to be measured beside ours; each is used only where it is installed."""

from __future__ import annotations

import importlib.util
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
from support.arms import TestArm, eaik_solver

from lfd_planner.robot.ik import IkSolver

Array = npt.NDArray[np.float64]

DEBIAN_PACKAGES = Path('/usr/lib/python3/dist-packages')


class Peer(ABC):
    """Another solver: gives positions that it says reach a pose, (k, dof), from a seed of its own."""

    name: str
    install: str
    """What to do to have it."""

    @classmethod
    @abstractmethod
    def available(cls) -> bool:
        """Whether it is installed."""

    @classmethod
    @abstractmethod
    def make(cls, arm: TestArm, solver: IkSolver) -> Callable[[Array], Array] | None:
        """Its solver for an arm; None if it cannot solve this one."""


def _seed(solver: IkSolver) -> Array:
    """A start for those that iterate: near the middle of the range, but off it, for arms are often singular there."""
    lower = np.where(np.isfinite(solver.lower), solver.lower, -math.pi)
    upper = np.where(np.isfinite(solver.upper), solver.upper, math.pi)
    return lower + np.random.default_rng(0).uniform(0.4, 0.6, len(lower)) * (upper - lower)


class Eaik(Peer):
    """All solutions in closed form, limits ignored."""

    name = 'EAIK'
    install = 'pip install EAIK'

    @classmethod
    def available(cls) -> bool:
        return importlib.util.find_spec('eaik') is not None

    @classmethod
    def make(cls, arm: TestArm, solver: IkSolver) -> Callable[[Array], Array] | None:
        return eaik_solver(solver.chain.joint_axes()) if solver.family.analytic else None


class TracIk(Peer):
    """One solution by iteration: two solvers race, at most 5 ms, to 1e-5."""

    name = 'TRAC-IK'
    install = 'pip install pytracik'

    @classmethod
    def available(cls) -> bool:
        return importlib.util.find_spec('pytracik') is not None

    @classmethod
    def make(cls, arm: TestArm, solver: IkSolver) -> Callable[[Array], Array] | None:
        import pytracik

        dof = len(solver.joints)
        trac_ik = pytracik.TRAC_IK(arm.base, arm.tip, arm.urdf, 0.005, 1e-5, pytracik.SolveType.Speed)
        if pytracik.get_num_joints(trac_ik) != dof:
            return None
        # It takes soft limits that are given as zero at their word.
        theirs = (pytracik.get_joint_lower_bounds(trac_ik), pytracik.get_joint_upper_bounds(trac_ik))
        bounds = [
            np.where(np.isfinite(ours), ours, np.array(their))
            for ours, their in zip((solver.lower, solver.upper), theirs, strict=True)
        ]
        pytracik.set_joint_limits(trac_ik, *bounds)
        seed = _seed(solver)

        def solve(pose: Array) -> Array:
            answer = pytracik.ik(trac_ik, seed, *pose[:3, 3], *_quaternion(pose))
            return np.array(answer[1:], dtype=np.float64).reshape(-1, dof) if answer[0] >= 0 else np.empty((0, dof))

        return solve


class Kdl(Peer):
    """One solution by iteration: Levenberg and Marquardt, to 1e-5, limits ignored."""

    name = 'KDL'
    install = "apt install python3-pykdl, with Debian's own Python version"

    @classmethod
    def available(cls) -> bool:
        return _pykdl() is not None

    @classmethod
    def make(cls, arm: TestArm, solver: IkSolver) -> Callable[[Array], Array] | None:
        kdl = _pykdl()
        if kdl is None or len(solver.chain.joint_axes().turns) != len(solver.joints):
            return None
        chain = _kdl_chain(kdl, arm)
        # It counts a radian as a hundredth of a metre.
        levenberg_marquardt = kdl.ChainIkSolverPos_LMA(chain, 1e-7)
        # The compiled solver refers to the chain without owning it: the function below must keep it alive.
        owned = (chain, levenberg_marquardt)
        seed, dof = _kdl_array(kdl, _seed(solver)), len(solver.joints)

        def solve(pose: Array) -> Array:
            answer = kdl.JntArray(dof)
            # It reports a failure when its last step was tiny, which is as often success: the caller judges the answer.
            owned[1].CartToJnt(seed, _kdl_frame(kdl, pose), answer)
            return np.array([[answer[i] for i in range(dof)]])

        return solve


PEERS: tuple[type[Peer], ...] = (Eaik, TracIk, Kdl)


def _quaternion(pose: Array) -> Array:
    """x, y, z, w of a rotation matrix, by its largest component."""
    r = pose[:3, :3]
    squares = np.array([1 + r[0, 0] - r[1, 1] - r[2, 2], 1 - r[0, 0] + r[1, 1] - r[2, 2]])
    squares = np.append(squares, [1 - r[0, 0] - r[1, 1] + r[2, 2], 1 + r[0, 0] + r[1, 1] + r[2, 2]])
    largest = int(np.argmax(squares))
    rows = np.array(
        [
            [squares[0], r[0, 1] + r[1, 0], r[0, 2] + r[2, 0], r[2, 1] - r[1, 2]],
            [r[0, 1] + r[1, 0], squares[1], r[1, 2] + r[2, 1], r[0, 2] - r[2, 0]],
            [r[0, 2] + r[2, 0], r[1, 2] + r[2, 1], squares[2], r[1, 0] - r[0, 1]],
            [r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1], squares[3]],
        ]
    )
    return np.asarray(rows[largest] / np.linalg.norm(rows[largest]))


def _pykdl() -> ModuleType | None:
    """KDL's Python module, from here or from Debian's own Python if that has the same version."""
    if importlib.util.find_spec('PyKDL') is not None:
        return importlib.import_module('PyKDL')
    for file in (DEBIAN_PACKAGES / f'PyKDL{suffix}' for suffix in EXTENSION_SUFFIXES):
        if file.is_file():
            spec = importlib.util.spec_from_file_location('PyKDL', file)
            if spec is not None and spec.loader is not None:
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                return module
    return None


def _kdl_chain(kdl: Any, arm: TestArm) -> Any:
    chain = kdl.Chain()
    for joint in arm.tree.chain(arm.base, arm.tip):
        origin = joint.origin
        frame = _kdl_frame(kdl, origin)
        moving = kdl.Joint(joint.name, kdl.Joint.Fixed)
        if joint.moves:
            kind = kdl.Joint.RotAxis if joint.turns else kdl.Joint.TransAxis
            moving = kdl.Joint(joint.name, frame.p, kdl.Vector(*(origin[:3, :3] @ joint.axis)), kind)
        chain.addSegment(kdl.Segment(joint.child, moving, frame))
    return chain


def _kdl_frame(kdl: Any, pose: Array) -> Any:
    return kdl.Frame(kdl.Rotation(*pose[:3, :3].ravel().tolist()), kdl.Vector(*pose[:3, 3].tolist()))


def _kdl_array(kdl: Any, numbers: Array) -> Any:
    array = kdl.JntArray(len(numbers))
    for i, number in enumerate(numbers):
        array[i] = float(number)
    return array
