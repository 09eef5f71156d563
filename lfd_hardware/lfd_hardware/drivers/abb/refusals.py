"""Why an ABB controller does not do what it is asked, in the words of the person in front of it."""

from __future__ import annotations

from lfd_hardware.drivers.abb.rws import Panel, RwsRefused

AUTO = 'AUTO'
MOTORS_ON = 'motoron'
MOTORS_OFF = 'motoroff'
RUNNING = 'running'

_STATES = {
    'emergencystop': 'is in emergency stop: release the emergency stop, acknowledge it with the motors-on button',
    'emergencystopreset': 'waits after an emergency stop: acknowledge it with the motors-on button',
    'guardstop': 'is in guard stop, its safety chain is open: close the fence or the safety input',
    'sysfail': 'is in system failure: read its event log and restart it',
    'init': 'is still starting: wait until it is up',
}
_CODES = {
    -1073445862: 'mastership is held by another client: release it there (RobotStudio, FlexPendant)',
    -1073445859: 'mastership is held by another client: release it there (RobotStudio, FlexPendant)',
    -1073445860: 'its operating mode forbids it: turn the key switch to automatic',
    -1073445867: 'the user has no right to do it: give rws_user the grants for program execution and full access',
    -1073445863: 'the user has no right to do it: give rws_user the grants for program execution and full access',
    -1073445851: 'it is in system failure: read its event log and restart it',
    -1073442809: 'a program is running or the motors are off: stop the program and switch the motors on',
    -1073442783: 'there is no program pointer: load lfd_egm.mod, which has the procedure main',
    -1073442801: 'main cannot be started: load lfd_egm.mod, which has the procedure main',
    -1073442802: 'its program has errors: load lfd_egm.mod as it is',
    -1073442803: 'its program has errors: load lfd_egm.mod as it is',
}


def unsafe(panel: Panel) -> str | None:
    """Why the motors cannot be on, if so: the end of a sentence that begins with the controller."""
    if panel.ctrlstate in _STATES:
        return _STATES[panel.ctrlstate]
    if panel.opmode != AUTO:
        return f'is in manual mode ({panel.opmode}): turn the key switch to automatic and confirm it on the FlexPendant'
    return None


def stopped(panel: Panel) -> str | None:
    """Why a motion ended, as far as the front of the controller tells."""
    if panel.ctrlstate in _STATES or panel.opmode != AUTO:
        return unsafe(panel)
    if panel.ctrlstate != MOTORS_ON:
        return 'switched its motors off: look for the reason in its event log and activate the hardware again'
    if panel.execution != RUNNING:
        return 'ended its RAPID program: look for the reason in its event log and activate the hardware again'
    return None


def refused(step: str, error: RwsRefused) -> str:
    """Why a request was refused: the end of a sentence that begins with the controller."""
    reason = _CODES.get(error.code) if error.code is not None else None
    if reason is None:
        return f'does not {step}: {error}'
    return f'does not {step}, {reason} (HTTP {error.status}, code {error.code})'
