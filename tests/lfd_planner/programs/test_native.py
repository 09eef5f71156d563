"""Native programs do what the solution says: each is read back by a parser of its language, run, and compared."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np
import pytest
from support.programs.cells import PULSES, ROBOTS, Names, acting, model, options, run, stacked
from support.programs.inform import parse_inform
from support.programs.rapid import parse_rapid
from support.programs.replay import Halted, ProgramError, Recorder, Section
from support.task_cells import planner

from lfd_description.kinematics import Chain
from lfd_description.robots import MOCK
from lfd_planner.programs import INFORM, MOVES, RAPID, SERVO, URSCRIPT, Asked, ExportError, export
from lfd_planner.programs import inform as inform_module
from lfd_planner.programs import rapid as rapid_module
from lfd_planner.solution import Segment, Solution
from lfd_planner.timing import Trajectory, path_times

WAYS = [(URSCRIPT, SERVO), (URSCRIPT, MOVES), (RAPID, MOVES), (INFORM, MOVES)]
TOLERANCE = 0.0005
PULSE = 0.0001  # [rad], more than half a pulse
TIMING = 0.021  # [rad], with the rounding of times and speeds


def piece(solution: Solution, segment: Segment) -> Trajectory:
    rows = slice(segment.first, segment.last + 1)
    motion = solution.trajectory
    return Trajectory(motion.times[rows] - motion.times[segment.first], motion.q[rows], motion.v[rows])


def polyline(section: Section, step: float = 0.005) -> tuple[np.ndarray, np.ndarray]:
    """Times and positions along the lines between the set-points, closely."""
    times, rows = [np.zeros(1)], [section.q[0][np.newaxis]]
    for index in range(len(section.times) - 1):
        count = int(np.ceil(np.abs(section.q[index + 1] - section.q[index]).max() / step)) + 1
        share = np.linspace(0.0, 1.0, count + 1)[1:]
        times.append(section.times[index] + share * (section.times[index + 1] - section.times[index]))
        rows.append(section.q[index] + share[:, np.newaxis] * (section.q[index + 1] - section.q[index]))
    return np.concatenate(times), np.concatenate(rows)


def apart(some: np.ndarray, others: np.ndarray) -> float:
    """The largest distance from one of some points to the polyline through others [rad]."""
    starts, ways = others[:-1], np.diff(others, axis=0)
    lengths = np.maximum((ways**2).sum(axis=1), 1e-18)
    worst = 0.0
    for rows in np.array_split(some, max(len(some) // 50, 1)):
        from_starts = rows[:, np.newaxis] - starts
        share = np.clip((from_starts * ways).sum(axis=2) / lengths, 0.0, 1.0)
        worst = max(worst, np.abs(from_starts - share[..., np.newaxis] * ways).max(axis=2).min(axis=1).max())
    return worst


def moves(recorded: Recorder, solution: Solution) -> list[tuple[Section, Trajectory]]:
    """The sections of a run with the motions that they stand for."""
    sections = recorded.sections[1:]
    assert len(sections) == len(solution.segments)
    return [(section, piece(solution, segment)) for section, segment in zip(sections, solution.segments, strict=True)]


def expected_acts(segment: Segment, motion: Trajectory, holds: bool, ports: dict[str, str]) -> list[tuple[object, ...]]:
    acts: list[tuple[object, ...]] = []
    if segment.gripper:
        acts.append(('output', ports['gripper'], holds))
    if np.ptp(motion.q, axis=0).max() > 0.0:
        acts.append(('move',))
    elif motion.duration > 0.0:
        acts.append(('pause', pytest.approx(motion.duration, abs=0.011)))
    for signal, value in segment.outputs.items():
        acts.append(('output' if isinstance(value, bool) else 'level', ports[signal], value))
    if segment.awaits:
        acts.append(('input', ports[segment.awaits.signal], segment.awaits.value))
    return acts


def check_acts(recorded: Recorder, solution: Solution, ports: dict[str, str]) -> None:
    held = False
    for (section, motion), segment in zip(moves(recorded, solution), solution.segments, strict=True):
        held = bool(segment.attach) or (held and not segment.detach)
        assert section.title.startswith(f'keyframe {segment.keyframe}: ')
        assert section.acts == expected_acts(segment, motion, held, ports)


def check_path(recorded: Recorder, solution: Solution, tolerance: float) -> None:
    np.testing.assert_allclose(recorded.approach, solution.trajectory.q[0], atol=PULSE)
    for section, motion in moves(recorded, solution):
        if len(section.q) == 1:
            assert np.ptp(motion.q, axis=0).max() == 0.0
            continue
        times, lines = polyline(section)
        planned = motion.sample(path_times(motion, 0.001)).q
        assert apart(lines, planned) <= tolerance
        assert apart(planned, lines) <= tolerance
        np.testing.assert_allclose(lines[-1], motion.q[-1], atol=PULSE)
        assert np.abs(motion.sample(times).q - lines).max() <= TIMING


@pytest.mark.parametrize(('language', 'mode'), WAYS[1:])
def test_moves_keep_to_the_planned_path_and_pace(language: str, mode: str) -> None:
    solution = stacked(ROBOTS[language])
    recorded = run(solution, options(language, mode=mode))
    check_path(recorded, solution, TOLERANCE + PULSE)
    took = sum(section.times[-1] for section in recorded.sections)
    moving = sum(motion.duration for section, motion in moves(recorded, solution) if len(section.q) > 1)
    assert took == pytest.approx(moving, rel=0.005)
    check_acts(recorded, solution, {'gripper': {URSCRIPT: 'standard:0', RAPID: 'dogripper', INFORM: '1'}[language]})


@pytest.mark.parametrize('step', [0.002, 0.008])
def test_servo_follows_the_planned_motion_in_time(step: float) -> None:
    solution = stacked('ur5e')
    recorded = run(solution, options(URSCRIPT), step=step)
    check_acts(recorded, solution, {'gripper': 'standard:0'})
    late = 0.0  # the set-points of one section go on where those of the one before ended, to a part of a cycle
    for section, motion in moves(recorded, solution):
        if len(section.q) == 1:
            late = 0.0
            continue
        times = np.array(section.times[1:]) + late
        assert np.abs(motion.sample(times).q - section.q[1:]).max() < 1e-5
        late = times[-1] - motion.duration
        assert -step < late <= step
        if section.rest_time:
            late = 0.0


def test_the_arm_catches_up_before_it_acts() -> None:
    recorded = run(acting('ur5e'), options(URSCRIPT))
    rests = {section.title: section.rest_time for section in recorded.sections if section.rest_time}
    assert list(rests) == ['keyframe 0: transit', 'keyframe 2: transit', 'keyframe 4: transit']
    assert min(rests.values()) >= 0.19


@pytest.mark.parametrize('seed', range(3))
@pytest.mark.parametrize(('language', 'mode'), WAYS)
def test_all_actions_at_their_places(language: str, mode: str, seed: int) -> None:
    solution = acting(ROBOTS[language], seed=seed)
    recorded = run(solution, options(language, mode=mode))
    ports = {
        URSCRIPT: {'gripper': 'standard:0', 'lamp': 'standard:1', 'glue': 'standard:0', 'door': 'standard:0'},
        RAPID: {'gripper': 'dogripper', 'lamp': 'lamp', 'glue': 'glue', 'door': 'door'},
        INFORM: {'gripper': '1', 'lamp': '2', 'glue': '1', 'door': '1'},
    }[language]
    check_acts(recorded, solution, ports)
    if mode == MOVES:
        check_path(recorded, solution, TOLERANCE + PULSE)


@pytest.mark.parametrize(
    ('language', 'asked', 'ports'),
    [
        (
            URSCRIPT,
            Asked('tool:1', {'lamp': 'configurable:7', 'glue': '1'}, {'door': 'tool:0'}),
            {'gripper': 'tool:1', 'lamp': 'configurable:7', 'glue': 'standard:1', 'door': 'tool:0'},
        ),
        (
            RAPID,
            Asked('doGrip', {'lamp': 'doLamp'}, {'door': 'diDoor'}),
            {'gripper': 'dogrip', 'lamp': 'dolamp', 'glue': 'glue', 'door': 'didoor'},
        ),
        (
            INFORM,
            Asked('17', {'glue': '2'}, {'door': '4096'}),
            {'gripper': '17', 'lamp': '1', 'glue': '2', 'door': '4096'},
        ),
    ],
)
def test_ports_as_the_user_wired_them(language: str, asked: Asked, ports: dict[str, str]) -> None:
    solution = acting(ROBOTS[language])
    check_acts(run(solution, options(language, signals=asked)), solution, ports)
    made = export(solution, model(solution.robot), options(language, signals=asked))
    flat = re.sub(r"\s*(\r\n['! ]*|\n *#)\s*", ' ', made.files[0].text).lower()
    for signal in ('lamp', 'glue', 'door'):
        assert f'{ports[signal]}: {signal}' in flat  # the program says it
        assert any(f': {signal}' in note for note in made.notes)  # and so does the command


@pytest.mark.parametrize('language', [URSCRIPT, RAPID])
def test_a_far_start_is_refused_and_a_near_one_corrected(language: str) -> None:
    solution = acting(ROBOTS[language])
    start = solution.trajectory.q[0]
    run(solution, options(language), start=start + 0.05)
    for joint in range(6):
        with pytest.raises(Halted, match='far from the first point'):
            run(solution, options(language), start=start - 0.2 * np.eye(6)[joint])


@pytest.mark.parametrize(('language', 'mode'), WAYS)
def test_an_input_is_waited_for_until_its_timeout(language: str, mode: str) -> None:
    late = acting(ROBOTS[language], timeout=2.5)
    recorded = run(late, options(language, mode=mode), inputs=lambda port, waited: waited >= 2.0)
    assert recorded.sections[-1].title == 'keyframe 5: open'
    with pytest.raises(Halted):
        run(late, options(language, mode=mode), inputs=lambda port, waited: False)
    patient = acting(ROBOTS[language], timeout=None)
    recorded = run(patient, options(language, mode=mode), inputs=lambda port, waited: waited >= 60.0)
    assert recorded.sections[-1].title == 'keyframe 5: open'


def test_a_suction_gripper_is_the_gripper_output() -> None:
    arm = planner('ur5e', 'suction').model
    solution = acting('ur5e')
    segments = tuple(
        replace(
            segment,
            gripper={},
            outputs={arm.gripper.gpio: bool(segment.attach)} if segment.attach or segment.detach else {},
            awaits=None,
        )
        for segment in solution.segments
    )
    text = export(replace(solution, segments=segments), arm, options(URSCRIPT)).files[0].text
    assert text.index('set_standard_digital_out(0, True)') < text.index('set_standard_digital_out(0, False)')


def test_what_is_held_at_the_start_stays_in_the_hand() -> None:
    solution = acting('ur5e')
    move, close, *others = solution.segments
    slack = replace(close, attach=None, name='squeeze')
    text = export(replace(solution, segments=(move, slack, *others)), model('ur5e'), options(URSCRIPT)).files[0].text
    assert text.index('set_standard_digital_out(0, True)') < text.index('set_standard_digital_out(0, False)')


@pytest.mark.parametrize('tolerance', [0.0005, 0.01])
def test_blends_never_meet(tolerance: float) -> None:
    """A controller skips a point whose blend overlaps that of another, and leaves the path."""
    arm, solution = model('ur5e'), stacked('ur5e')
    chain = Chain(arm.tree, arm.group.base, arm.group.tip)
    blended = 0
    for section in run(solution, options(URSCRIPT, mode=MOVES, tolerance=tolerance)).sections:
        tips = chain.poses(np.array(section.q))[:, :3, 3]
        ways = np.linalg.norm(np.diff(tips, axis=0), axis=1)
        blends = np.array([0.0, *section.blends])
        assert np.all(blends[:-1] + blends[1:] <= 0.9 * ways + 1e-4 * (blends[1:] > 0.0))
        assert blends[-1] == 0.0
        blended += np.count_nonzero(blends)
    assert blended > 20


def test_long_programs_are_split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rapid_module, 'MOST_TARGETS', 9)
    monkeypatch.setattr(inform_module, 'MOST_POSITIONS', 10)
    for language in (RAPID, INFORM):
        solution = acting(ROBOTS[language])
        made = export(solution, model(solution.robot), options(language, name='a_name_with_32_characters_in_it_'))
        assert len(made.files) > 3
        assert len({file.name.lower() for file in made.files}) == len(made.files)
        recorded = run(solution, options(language))
        whole = [section for section in recorded.sections[1:] if not section.title.startswith('keyframe 0')]
        assert [section.acts[-1] for section in whole if section.acts][-1][0] == 'pause'
        path = np.concatenate([polyline(section)[1] for section in recorded.sections])
        assert apart(solution.trajectory.q, path) <= TOLERANCE + PULSE
    listed = made = export(acting('irb1600'), model('irb1600'), options(RAPID)).files
    assert re.findall('<Module>(.*)</Module>', listed[-1].text) == [file.name for file in made[:-1]]


def test_jobs_for_older_controllers_keep_to_eight_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inform_module, 'MOST_POSITIONS', 10)
    made = export(acting('gp8'), model('gp8'), options(INFORM, name='stacking'))
    assert made.files[0].name == 'STACKING.JBI'
    assert {len(file.name) for file in made.files} == {12}
    assert parse_inform(made.files[1].text).name == 'STACKI01'


def _comments(text: str) -> str:
    """The first comments of a job as one text."""
    lines = text.split('NOP\r\n')[1].split('\r\n')
    return ' '.join(line[1:] for line in itertools.takewhile(lambda line: line.startswith("'"), lines))


def test_a_job_says_that_it_begins_unchecked_and_what_it_cannot_keep_to(monkeypatch: pytest.MonkeyPatch) -> None:
    solution = acting('gp8')
    head = _comments(export(solution, model('gp8'), options(INFORM)).files[0].text)
    assert 'BEWARE: begins with an unchecked MOVJ at 2 % to the first point' in head
    assert 'than planned' not in head
    moves = solution.trajectory
    creeping = replace(solution, trajectory=Trajectory(moves.times * 1e5, moves.q, moves.v * 1e-5))
    head = _comments(export(creeping, model('gp8'), options(INFORM)).files[0].text)
    assert re.search(r'[0-9]+ moves are faster than planned: VJ is 0.01 % at least', head)
    monkeypatch.setattr(inform_module, 'FULL_SPEED', 20.0)
    head = _comments(export(solution, model('gp8'), options(INFORM)).files[0].text)
    assert re.search(r'[0-9]+ moves are slower than planned: VJ is 20 % at most', head)


HOSTILE = (
    'box"); halt #',
    'a\nset_standard_digital_out(7, True)\n',
    'a\r\nDOUT OT#(9) ON\r\nEND',
    "'; ENDPROC ENDMODULE !",
    'a\\T:=0.001,fine,tool0; SetDO doX,1;',
    '\\',
    'é ünï \u2028 中文 \x00\x1b[31m',
    '///INST',
    'end',
    '   ',
    '%%%' * 400,
    '*LABEL',
    'keyframe 9: retreat',
)


@pytest.mark.parametrize(('language', 'mode'), WAYS)
def test_no_name_becomes_code(language: str, mode: str) -> None:
    tame = run(acting(ROBOTS[language]), options(language, mode=mode))
    numbers = np.random.default_rng(6)
    letters = [chr(code) for code in (*range(0, 0x180), 0x2028, 0x2029, 0x85, 0xFEFF, 0x1F600)]
    strange = [*HOSTILE, *(''.join(numbers.choice(letters, 30)) for _ in range(10))]
    for number, text in enumerate(strange):
        # Two signals may not have one name; the objects, the segments and the program may.
        names = Names(text, text, text, f'{text}1', f'{text}2', f'{text}3')
        solution = acting(ROBOTS[language], names)
        made = options(language, mode=mode, name=text)
        recorded = run(solution, made)
        file = export(solution, model(solution.robot), made).files[0]
        assert file.text.isascii(), number
        assert re.fullmatch(r'[A-Za-z][A-Za-z0-9_]*\.(script|mod|JBI)', file.name)
        assert len(recorded.sections) == len(tame.sections)
        for ours, theirs in zip(recorded.sections, tame.sections, strict=True):
            assert [act[0] for act in ours.acts] == [act[0] for act in theirs.acts]
            np.testing.assert_array_equal(ours.q, theirs.q)


def test_names_that_are_words_of_the_language() -> None:
    for language, words in ((URSCRIPT, ('def', 'End', 'movej', '3d')), (RAPID, ('main', 'MODULE', 'Proc', '_', '1'))):
        for word in words:
            made = run(acting(ROBOTS[language]), options(language, name=word))
            assert len(made.sections) == 7


def refused(solution: Solution, robot: str = '', **changes: object) -> str:
    arm = model(robot or solution.robot)
    language = {'ur5e': URSCRIPT, 'irb1600': RAPID, 'gp8': INFORM}[solution.robot]
    with pytest.raises(ExportError) as error:
        export(solution, arm, options(language, **changes))
    message = str(error.value)
    assert message.endswith('.')
    assert '\n' not in message
    return message


def test_formats_that_do_not_fit() -> None:
    assert 'ABB' in refused(acting('ur5e'), format=RAPID)
    assert 'use --format inform' in refused(acting('gp8'), format=URSCRIPT)
    assert 'no servo mode' in refused(acting('irb1600'), mode=SERVO)
    assert 'not those of gp8' in refused(acting('ur5e'), robot='gp8')
    assert '--pulses-per-degree S L U R B T' in refused(acting('gp8'), pulses_per_degree=None)
    for wrong in ((1000.0,) * 5, (*PULSES[:5], 0.0), (*PULSES[:5], float('nan'))):
        assert '--pulses-per-degree' in refused(acting('gp8'), pulses_per_degree=wrong)
    assert 'pulses' in refused(acting('gp8'), pulses_per_degree=(1e9,) * 6)


def test_an_arm_of_no_vendor_takes_any_format() -> None:
    arm = model('ur5e')
    mock = replace(arm, robot=replace(arm.robot, hardware=MOCK))
    with pytest.raises(ExportError, match='add --format'):
        export(acting('ur5e'), mock, options(URSCRIPT))
    made = export(acting('ur5e'), mock, options(URSCRIPT, format=RAPID))
    assert parse_rapid(made.files[0].text).name == 'stack'


def test_arms_with_other_axes_are_refused() -> None:
    solution, arm = acting('irb1600'), model('irb1600')
    group = replace(arm.group, joints=arm.group.joints[:5])
    motion = solution.trajectory
    shorter = replace(
        solution, joints=solution.joints[:5], trajectory=Trajectory(motion.times, motion.q[:, :5], motion.v[:, :5])
    )
    with pytest.raises(ExportError, match='6 turning axes, and irb1600 has 5 of 5'):
        export(shorter, replace(arm, group=group), options(RAPID))


def test_limits_are_checked_before_anything_is_written() -> None:
    solution = acting('ur5e')
    motion = solution.trajectory
    beyond = replace(solution, trajectory=Trajectory(motion.times, motion.q + 6.5, motion.v))
    assert "'shoulder_pan_joint' leaves its limits at" in refused(beyond)
    hasty = replace(solution, trajectory=Trajectory(motion.times / 3.0, motion.q, motion.v * 3.0))
    assert 'leaves its speed at' in refused(hasty)


def test_what_a_language_cannot_say_is_refused() -> None:
    solution = acting('ur5e')
    moving = replace(solution.segments[0], last=solution.segments[0].last - 2, outputs={'lamp': True})
    rest = replace(solution.segments[1], first=moving.last, attach=None, gripper={})
    assert 'acts while the arm moves' in refused(replace(solution, segments=(moving, rest, *solution.segments[2:])))
    number = replace(solution.segments[3].awaits, value=2.0)
    changed = replace(solution.segments[3], awaits=number)
    assert 'waits for a number' in refused(
        replace(solution, segments=(*solution.segments[:3], changed, *solution.segments[4:]))
    )
    for robot, level, word in (('ur5e', 1.5, 'take 0 to 1'), ('gp8', 15.0, '-14 to 14')):
        loud = acting(robot)
        segment = replace(loud.segments[2], outputs={'glue': level})
        assert word in refused(replace(loud, segments=(*loud.segments[:2], segment, *loud.segments[3:])))
    assert '655.35' in refused(acting('gp8', timeout=700.0))


@pytest.mark.parametrize(
    ('robot', 'changes', 'word'),
    [
        ('ur5e', {'signals': Asked('8')}, "'8' is no digital output"),
        ('ur5e', {'signals': Asked('tool:2')}, 'tool:0 to :1'),
        ('ur5e', {'signals': Asked('mars:0')}, 'is no digital output'),
        ('ur5e', {'signals': Asked(None, {'glue': 'tool:0'})}, 'is no analogue output'),
        ('ur5e', {'signals': Asked('1', {'lamp': '1'})}, 'Two signals are on one'),
        ('ur5e', {'signals': Asked(None, {'lanp': '1'})}, "did you mean 'lamp'?"),
        ('ur5e', {'signals': Asked(None, {}, {'lamp': '1'})}, "no input 'lamp'"),
        ('irb1600', {'signals': Asked('do gripper')}, 'no signal name'),
        ('irb1600', {'signals': Asked('x' * 33)}, 'no signal name'),
        ('irb1600', {'signals': Asked('doX', {'lamp': 'DOx'})}, 'Two signals are on one'),
        ('irb1600', {'tool': 't;l'}, 'no name of tool data'),
        ('gp8', {'signals': Asked('0')}, '1 to 4096'),
        ('gp8', {'signals': Asked('OT#(1)')}, '1 to 4096'),
        ('gp8', {'tool': '64'}, 'no tool number'),
        ('gp8', {'tolerance': 0.0}, 'tolerance'),
    ],
)
def test_wrong_ports_and_tools(robot: str, changes: dict[str, object], word: str) -> None:
    assert word in refused(acting(robot), **changes)


def test_the_controllers_on_paper_are_strict() -> None:
    """What would be an error on a controller must be one here, or the tests above prove nothing."""
    arm = model('irb1600')
    rapid = export(acting('irb1600'), arm, options(RAPID)).files[0].text
    inform = export(acting('gp8'), model('gp8'), options(INFORM)).files[0].text
    for text, changed in ((rapid, 'ENDPROC'), (rapid, ';'), (rapid, ']')):
        with pytest.raises(ProgramError):
            parse_rapid(''.join(text.rsplit(changed, 1)))
    for old, new in (('VJ=', 'VJ=1'), ('PL=0', 'PL=9'), ('C00001=', 'C00002='), ('\r\n', '\n'), ('NOP\r\n', '')):
        with pytest.raises(ProgramError):
            parse_inform(inform.replace(old, new, 1) if old != 'VJ=' else inform.replace('VJ=2.00', 'VJ=200.00'))
