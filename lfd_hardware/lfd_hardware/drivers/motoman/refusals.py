"""What a Motoman controller means when it refuses, as the end of a sentence: what is wrong and what to do."""

from __future__ import annotations

from lfd_hardware.drivers.motoman.simple_message import Result, RobotStatus

ALARM, ERROR = 5001, 5002
START_POSITION = 3011

NOT_READY = {
    5000: 'it is not ready for motion and gives no reason: look at the teach pendant',
    ALARM: 'it has an active alarm: read it on the teach pendant, remove the cause and reset it',
    ERROR: 'it has an active error: read it on the teach pendant and cancel it',
    5003: 'its emergency stop is pressed: release it, then activate the hardware again',
    5004: 'it is not in PLAY mode: turn the key of the teach pendant to REMOTE',
    5005: 'it is not in REMOTE mode: turn the key of the teach pendant to REMOTE',
    5006: 'its servo power is off: close the safety circuit, then activate the hardware again',
    5007: 'it is in HOLD: release the hold on the teach pendant or at the external input',
    5008: 'its job INIT_ROS is not running: activate the hardware again',
    5009: 'its job INIT_ROS does not stand at its WAIT instruction: check that job',
    5010: 'its job INIT_ROS has not reached SKILLSND: check that job',
    5011: 'its power and force limiting has stopped the arm: free the arm, then activate the hardware again',
    5012: 'its motion interface refused a move: read the alarm on the teach pendant, then activate the hardware again',
}

INVALID = {
    3000: 'it calls a message invalid and gives no reason: check the version of MotoROS on the controller',
    3001: 'it calls the size of a message wrong: check byte_order (big for an FS100, else little)',
    3002: 'it calls the header of a message wrong: check byte_order (big for an FS100, else little)',
    3003: 'it does not know a type of message: install a newer MotoROS on the controller',
    3004: "it has no such group of axes: correct the parameter 'group' (0 is the first robot)",
    3005: 'it calls the sequence of points wrong: activate the hardware again',
    3006: 'it does not know a command: install a newer MotoROS on the controller',
    3010: 'it calls the data of a point wrong: check the joints of the tag',
    START_POSITION: 'the motion does not begin where the arm stands: activate the hardware again',
    3012: 'a position is outside of its limits: correct the limits of the URDF',
    3013: 'a velocity is above its limit: correct the velocity limits of the URDF',
    3014: 'an acceleration is above its limit: move more slowly',
    3015: 'a point has no time, position or velocity: install a newer MotoROS on the controller',
    3016: 'a time is out of its range, which is four hours without a rest: let the arm rest',
    3017: 'it has no tool of that number: correct the tool on the controller',
}

FAILURES = {
    Result.BUSY: 'it stays busy and takes no more points: look at the teach pendant',
    Result.FAILURE: 'it could not do that and gives no reason: look at the teach pendant',
    Result.ALARM: NOT_READY[ALARM],
    Result.MP_FAILURE: 'its MotoPlus interface failed: restart the controller',
}


def explain(result: int, subcode: int) -> str:
    """Why a request was refused; codes that nobody knows are named."""
    known = NOT_READY.get(subcode) or INVALID.get(subcode)
    if known is not None:
        return known
    if result == Result.NOT_READY:
        return f'it is not ready for motion (subcode {subcode}): look at the teach pendant'
    if result in FAILURES:
        return FAILURES[Result(result)]
    return f'it answered with the unknown result {result}, subcode {subcode}: look at the teach pendant'


def hindrance(status: RobotStatus) -> str:
    """Why the arm cannot move by this status; empty when it names no reason."""
    if status.e_stopped == 1:
        return NOT_READY[5003]
    if status.in_error == 1:
        code = f'alarm {status.error_code}' if status.error_code else 'an alarm'
        return f'it has {code}: read it on the teach pendant, remove the cause and reset it'
    if status.mode == 1:
        return NOT_READY[5004]
    if status.drives_powered == 0:
        return NOT_READY[5006]
    return ''
