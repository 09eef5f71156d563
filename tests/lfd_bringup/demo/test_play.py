"""A robot's part of the demo when somebody stops it, and on a busy machine."""

from __future__ import annotations

import asyncio

import pytest
from std_srvs.srv import Trigger
from support.peer import Peer

from lfd_bringup.demo.execution import Progress
from lfd_bringup.demo.job import bundled_job
from lfd_bringup.demo.play import PATIENT, Audience, patient, play
from lfd_bringup.demo.report import Result, executed_lines
from lfd_bringup.graph import describe, embedded
from lfd_bringup.inputs import model_of
from lfd_planner.error_codes import Code


class Spoilsport:
    """Has the execution aborted as soon as the robot moves."""

    def __init__(self) -> None:
        self._domain = -1
        self._is_done = False

    @property
    def audience(self) -> Audience:
        return Audience(on_up=self._on_up, on_progress=self._on_progress)

    def _on_up(self, domain: int) -> None:
        self._domain = domain

    def _on_progress(self, progress: Progress) -> None:
        if progress.is_under_way and not self._is_done:
            self._is_done = True
            peer = Peer('spoilsport', self._domain)
            client = peer.node.create_client(Trigger, 'abort_execution')
            peer.eventually(client.service_is_ready, 'the executor')
            peer.ask(client, Trigger.Request())
            peer.close()


def test_an_execution_that_is_aborted_is_explained(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv('LFD_OWN_DOMAIN', '1')
    model = model_of('gp8', None, with_hand=True)
    show = asyncio.run(play(bundled_job(), model, Spoilsport().audience))
    data = Result('gp8', show).data()
    assert data['ok'] is data['execution']['ok'] is False
    assert data['execution']['code'] == Code.PREEMPTED
    assert data['execution']['next_keyframe'] < len(bundled_job().task.keyframes)
    assert data['message'].startswith(f'PREEMPTED (-7): {show.execution.message.rstrip(".")}; the logs')
    assert data['tracking'] is None
    assert len(data['final_poses']) == 4, 'where the boxes are is told all the same'
    assert any(end.problem for end in show.end_poses)
    assert [what for what, _ in executed_lines(show)] == ['boxes']


def test_only_the_executor_waits_for_a_busy_machine():
    graph = embedded(describe('gp8'))
    changed = [node for node, before in zip(patient(graph).nodes, graph.nodes, strict=True) if node != before]
    assert [node.name for node in changed] == ['task_executor']
    assert PATIENT.items() <= changed[0].parameters.items()
