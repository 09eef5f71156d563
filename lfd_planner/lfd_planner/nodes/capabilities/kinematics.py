"""compute_ik, compute_fk and check_state_validity."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import PoseStamped
from moveit_msgs.msg import ConstraintEvalResult, Constraints, ContactInformation, PositionIKRequest
from moveit_msgs.srv import GetPositionFK, GetPositionIK, GetStateValidity

from lfd_description.model.model import below
from lfd_description.urdf import Matrix
from lfd_planner.error_codes import Code
from lfd_planner.messages import constraints_from_message, pose_to_message
from lfd_planner.robot.planning_robot import NoKinematics, NoSuchGroup, PlanningGroup
from lfd_planner.scene import Contact, PlanningScene, Pose, SceneFault, anchor, frame_pose
from lfd_planner.scene.faults import names, quoted
from lfd_planner.search.constraint_checker import ConstraintChecker
from lfd_planner.search.constraints import PathConstraints

from .server import SUCCESS, Server, error_code

_KINDS = {
    'link': ContactInformation.ROBOT_LINK,
    'object': ContactInformation.WORLD_OBJECT,
    'attached': ContactInformation.ROBOT_ATTACHED,
}


class KinematicsCapability:
    """Answers where links are, where joints must be, and whether that is allowed."""

    def __init__(self, server: Server) -> None:
        self._server = server
        server.serve(GetPositionIK, 'compute_ik', self._on_ik)
        server.serve(GetPositionFK, 'compute_fk', self._on_fk)
        server.serve(GetStateValidity, 'check_state_validity', self._on_validity)

    def _on_fk(self, request: GetPositionFK.Request, answer: GetPositionFK.Response) -> object:
        try:
            scene = self._server.snapshot(request.robot_state)
            link_poses = self._server.link_poses(scene)
            frame = request.header.frame_id or scene.frame
            to_frame = frame_pose(scene, frame, link_poses).inverse
        except SceneFault as fault:
            answer.error_code = error_code(fault.code, str(fault))
            return answer
        known = [link for link in request.fk_link_names if link in link_poses]
        for link in known:
            stamped = PoseStamped(pose=pose_to_message(to_frame @ Pose.of(link_poses[link])))
            stamped.header.frame_id = frame
            stamped.header.stamp = self._server.node.get_clock().now().to_msg()
            answer.pose_stamped.append(stamped)
            answer.fk_link_names.append(link)
        answer.error_code = SUCCESS
        if not known or len(known) < len(request.fk_link_names):
            unknown = [quoted(link) for link in request.fk_link_names if link not in link_poses]
            told = ', '.join(unknown[:5]) or 'none at all'
            answer.error_code = error_code(
                Code.INVALID_LINK_NAME, f'Asked for the links {told}; the links are {names(link_poses, 100)}.'
            )
        return answer

    def _on_ik(self, request: GetPositionIK.Request, answer: GetPositionIK.Response) -> object:
        try:
            scene, group, q = self._solve(request.ik_request)
        except SceneFault as fault:
            answer.error_code = error_code(fault.code, str(fault))
        except NoSuchGroup as error:
            answer.error_code = error_code(Code.INVALID_GROUP_NAME, str(error))
        except NoKinematics as error:
            answer.error_code = error_code(Code.NO_IK_SOLUTION, str(error))
        else:
            answer.solution = self._server.state(scene.with_joints(group.by_name(q)))
            answer.error_code = SUCCESS
        return answer

    def _solve(self, request: PositionIKRequest) -> tuple[PlanningScene, PlanningGroup, Matrix]:
        """Joint positions that fulfil a request.

        Raises:
            SceneFault: there are none, or the request is wrong.
            NoSuchGroup: there is no such group.
            NoKinematics: nobody can do that for this link.
        """
        backend = self._server.backend
        group = backend.robot.group(request.group_name)
        scene = self._server.snapshot(request.robot_state)
        target, stamped = _one_target(request, group)
        link, held = anchor(scene, target, backend.robot.tree.links)
        pose = (self._server.pose(scene, stamped) @ held.inverse).matrix
        seed = np.clip(group.positions(scene.joints), *group.bounds)
        found = backend.ik(scene, group, link, pose, seed, avoid_collisions=False)
        if not len(found):
            raise SceneFault(Code.NO_IK_SOLUTION, f"Link '{link}' cannot reach that pose within the joint limits.")
        return scene, group, self._allowed(request, scene, group, found)

    def _allowed(self, request: PositionIKRequest, scene: PlanningScene, group: PlanningGroup, found: Matrix) -> Matrix:
        """The first of the solutions that keeps to constraints and touches nothing.

        Raises:
            SceneFault: there is none.
        """
        backend = self._server.backend
        checker = self._checker(request.constraints, scene, group)
        kept = found[[checker is None or checker.satisfied(q) for q in found]]
        if not len(kept):
            raise SceneFault(Code.NO_IK_SOLUTION, f'All {len(found)} solutions break the constraints.')
        if not request.avoid_collisions:
            first: Matrix = kept[0]
            return first
        free = kept[backend.free(scene, group, kept)]
        if not len(free):
            contacts = ', '.join(map(str, backend.contacts(scene, group, kept[0])[:3]))
            raise SceneFault(
                Code.NO_IK_SOLUTION, f'All {len(kept)} solutions are in collision; in the nearest, {contacts}.'
            )
        first = free[0]
        return first

    def _checker(self, message: Constraints, scene: PlanningScene, group: PlanningGroup) -> ConstraintChecker | None:
        robot = self._server.backend.robot
        asked = constraints_from_message(message, scene, robot.frames, self._server.link_poses(scene))
        if not asked:
            return None
        return ConstraintChecker(robot.tree, robot.frame, group.joints, asked, scene.joints)

    def _on_validity(self, request: GetStateValidity.Request, answer: GetStateValidity.Response) -> object:
        answer.valid = False
        try:
            scene = self._server.snapshot(request.robot_state)
            robot = self._server.backend.robot
            asked = constraints_from_message(request.constraints, scene, robot.frames, self._server.link_poses(scene))
            contacts = self._contacts(scene, request.group_name)
        except (SceneFault, NoSuchGroup) as fault:
            self._server.log.error(f'check_state_validity: {fault}')
            return answer
        answer.contacts = [self._contact(contact, scene) for contact in contacts]
        answer.constraint_result = self._judged(asked, scene)
        answer.valid = not contacts and all(result.result for result in answer.constraint_result)
        return answer

    def _contacts(self, scene: PlanningScene, group: str) -> tuple[Contact, ...]:
        """What touches; if a group is named, only what its joints move.

        Raises:
            NoSuchGroup: there is no such group.
        """
        robot = self._server.backend.robot
        contacts = self._server.backend.state_contacts(scene)
        if not group:
            return contacts
        joints = robot.group(group).joints
        moved = {link for name in joints for link in below(robot.tree, robot.tree.joint[name].child)}
        moved |= {held.id for held in scene.attached.values() if held.link in moved}
        return tuple(contact for contact in contacts if contact.a in moved or contact.b in moved)

    def _judged(self, asked: PathConstraints, scene: PlanningScene) -> list[ConstraintEvalResult]:
        """A result for each constraint, in the order joints, positions, orientations."""
        robot = self._server.backend.robot
        q = np.array([scene.joints.get(name, 0.0) for name in robot.joints])
        single = (
            *(PathConstraints(joints=(one,)) for one in asked.joints),
            *(PathConstraints(positions=(one,)) for one in asked.positions),
            *(PathConstraints(orientations=(one,)) for one in asked.orientations),
        )
        checkers = (ConstraintChecker(robot.tree, robot.frame, robot.joints, one, scene.joints) for one in single)
        return [ConstraintEvalResult(result=checker.satisfied(q)) for checker in checkers]

    def _contact(self, contact: Contact, scene: PlanningScene) -> ContactInformation:
        message = ContactInformation(
            depth=contact.depth,
            contact_body_1=contact.a,
            body_type_1=_KINDS[contact.kind_a],
            contact_body_2=contact.b,
            body_type_2=_KINDS[contact.kind_b],
        )
        message.header.frame_id = scene.frame
        message.header.stamp = self._server.node.get_clock().now().to_msg()
        message.position.x, message.position.y, message.position.z = contact.position
        message.normal.x, message.normal.y, message.normal.z = contact.normal
        return message


def _one_target(request: PositionIKRequest, group: PlanningGroup) -> tuple[str, PoseStamped]:
    """The link and the pose that a request is for.

    Raises:
        SceneFault: there are several.
        NoKinematics: the group is no chain.
    """
    if not request.pose_stamped_vector:
        return request.ik_link_name or group.tip, request.pose_stamped
    if len(request.pose_stamped_vector) > 1:
        raise SceneFault(
            Code.INVALID_GOAL_CONSTRAINTS, f'A chain reaches one pose, not {len(request.pose_stamped_vector)}.'
        )
    link = request.ik_link_names[0] if request.ik_link_names else group.tip
    return link, request.pose_stamped_vector[0]
