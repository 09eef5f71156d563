"""Plans one task for one robot and ends: `python -m lfd_vr_bridge.planning.worker`, started by `WorkerPlanning`.

Reads one pickled `Request` from stdin and writes pickled `PlanProgress` values and then one `PlanResult` to stdout,
each behind its length (4 bytes, big endian). Both ends are the suite's own. It ends when stdin is closed.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
import threading
import time
from dataclasses import dataclass
from typing import BinaryIO

from lfd_description.grippers import GripperError, find_gripper
from lfd_description.meshes import MeshError
from lfd_description.model.builder import build_model
from lfd_description.model.findings import ModelError
from lfd_description.model.model import RobotModel
from lfd_description.robots import RobotError, find_robot
from lfd_description.urdf import UrdfError
from lfd_planner.mtdf import Task
from lfd_planner.planner import PlanOptions, TaskFailure, TaskPlanner
from lfd_planner.pose import Pose
from lfd_planner.reachability import PoseOracle
from lfd_planner.scene import PlanningScene

from ..studio.values import PlanProgress, PlanResult
from .explanation import Asked, explained
from .results import failed, failure, planned

TELL_EVERY = 0.05  # [s]
LENGTH = struct.Struct('>I')


@dataclass(frozen=True)
class Request:
    """What is to be planned."""

    robot: str
    gripper: str
    """What it carries, unless it has its own; empty: nothing."""
    task: Task
    origin: Pose
    """Of the task's poses in the scene's frame."""
    scene: PlanningScene
    """Without a robot in it: the arm begins at its home pose."""


def plan(request: Request, out: BinaryIO) -> PlanResult:
    """Plan a task, and tell how far it is."""
    try:
        planner = TaskPlanner(model_of(request.robot, request.gripper))
    except (RobotError, GripperError, UrdfError, ModelError, MeshError) as error:
        return failed(request.robot, str(error))
    count, last = len(request.task.keyframes), 0.0

    def progress(keyframe: int, stage: str) -> None:
        nonlocal last
        if (now := time.monotonic()) >= last + TELL_EVERY:
            last = now
            send(out, PlanProgress(request.robot, keyframe, count, stage))

    found = planner.plan(request.task, request.scene, request.origin, PlanOptions(progress=progress))
    if isinstance(found, TaskFailure):
        asked = Asked(request.task, request.origin, request.scene)
        return explained(
            failure(request.robot, found, request.task), asked, lambda: PoseOracle(planner.model, planner.backend)
        )
    return planned(found[0].solution)


def model_of(robot: str, gripper: str) -> RobotModel:
    """A robot with a gripper, unless it has its own."""
    arm = find_robot(robot)
    return build_model(arm, gripper=find_gripper(gripper) if gripper and not arm.own_gripper else None)


def send(stream: BinaryIO, value: object) -> None:
    """Write a value behind its length."""
    data = pickle.dumps(value)
    stream.write(LENGTH.pack(len(data)) + data)
    stream.flush()


def _end_with_our_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


def main() -> int:
    """Plan what stdin asks for."""
    (length,) = LENGTH.unpack(sys.stdin.buffer.read(LENGTH.size))
    request: Request = pickle.loads(sys.stdin.buffer.read(length))
    threading.Thread(target=_end_with_our_parent, daemon=True).start()
    out = sys.stdout.buffer
    sys.stdout = sys.stderr  # what is printed must not come between
    send(out, plan(request, out))
    return 0


if __name__ == '__main__':
    sys.exit(main())
