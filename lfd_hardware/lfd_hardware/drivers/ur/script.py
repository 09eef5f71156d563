"""The program that runs on the controller: it moves the arm to the set-points in its input registers.

Joint positions are in rad. The program and the driver talk through registers, in blocks that begin at one number:

==========================  =========================================================================================
input_double_register +0-5  the set-point of each joint
input_int_register +0       the order: the program's session number to follow, its negative to end; else wait
input_int_register +1       a count that changes with every set-point
output_int_register +0      the session number of the program that runs
output_int_register +1      the count of the set-point that is being followed
output_int_register +2      the program's phase
==========================  =========================================================================================

A session number belongs to one start of the program, so that orders left over in the registers mean nothing to it.
From one servoj to the next the set-point moves no further than the joints' speed limits allow, whatever the network
does: set-points that come in a burst are caught up with, not jumped to. A thread does that, because servoj takes longer
while the speed slider is low, and the watch must not: when the count stands still for too long the program stops the
arm and ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

FIRST_REGISTER = 24  # fieldbuses own those below
REGISTERS = 48
PATIENCE = 10.0  # [s] that the program waits for the first order, with the arm at rest


class Phase(IntEnum):
    """What the program is doing, as it says itself."""

    WAITING = 1  # for the first order
    FOLLOWING = 2
    ENDED = 3  # as it was told
    STARVED = 4  # no set-points came any more, so that it stopped the arm and ended


@dataclass(frozen=True)
class Servo:
    """How the program follows."""

    period: float  # [s] cycle of the controller
    lookahead: float  # [s] smooths the path of servoj
    gain: float  # of servoj
    timeout: float  # [s] without a new set-point until it stops
    deceleration: float  # [rad/s^2] of that stop
    steps: tuple[float, ...]  # [rad] how far each joint's set-point may move in one cycle
    first_register: int = FIRST_REGISTER


def outputs(first: int) -> tuple[str, ...]:
    """The registers that the program writes: session, count, phase."""
    return tuple(f'output_int_register_{first + index}' for index in range(3))


def inputs(first: int) -> tuple[str, ...]:
    """The registers that the program reads: order, count, and a set-point for each of six joints."""
    orders = (f'input_int_register_{first + index}' for index in range(2))
    return (*orders, *(f'input_double_register_{first + index}' for index in range(6)))


def program(servo: Servo, session: int) -> str:
    """The text of the program, to be sent to a script port."""
    first = servo.first_register
    moved = ', '.join(
        f'lfd_towards(read_input_float_register({first + joint}), lfd_set_point[{joint}], {_number(step)})'
        for joint, step in enumerate(servo.steps)
    )
    return f"""def lfd_follow():
  def lfd_towards(lfd_goal, lfd_now, lfd_step):
    if lfd_goal > lfd_now + lfd_step:
      return lfd_now + lfd_step
    end
    if lfd_goal < lfd_now - lfd_step:
      return lfd_now - lfd_step
    end
    return lfd_goal
  end

  thread lfd_servo():
    lfd_set_point = get_target_joint_positions()
    while True:
      lfd_set_point = [{moved}]
      servoj(lfd_set_point, 0, 0, {_number(servo.period)}, {_number(servo.lookahead)}, {_number(servo.gain)})
    end
  end

  write_output_integer_register({first + 2}, {Phase.WAITING:d})
  write_output_integer_register({first}, {session})
  lfd_waited = 0.0
  lfd_order = 0
  while lfd_order != {session} and lfd_order != {-session} and lfd_waited < {_number(PATIENCE)}:
    lfd_order = read_input_integer_register({first})
    lfd_waited = lfd_waited + {_number(servo.period)}
    sync()
  end
  if lfd_order == {session}:
    lfd_count = read_input_integer_register({first + 1})
    lfd_silence = 0.0
    write_output_integer_register({first + 2}, {Phase.FOLLOWING:d})
    lfd_thread = run lfd_servo()
    while lfd_order == {session} and lfd_silence < {_number(servo.timeout)}:
      write_output_integer_register({first + 1}, lfd_count)
      sync()
      lfd_order = read_input_integer_register({first})
      lfd_silence = lfd_silence + {_number(servo.period)}
      if read_input_integer_register({first + 1}) != lfd_count:
        lfd_count = read_input_integer_register({first + 1})
        lfd_silence = 0.0
      end
    end
    kill lfd_thread
    stopj({_number(servo.deceleration)})
  end
  if lfd_order == {-session}:
    write_output_integer_register({first + 2}, {Phase.ENDED:d})
  else:
    write_output_integer_register({first + 2}, {Phase.STARVED:d})
  end
  sync()
end
"""


def steps(velocities: Sequence[float], period: float, margin: float) -> tuple[float, ...]:
    """How far set-points may move in one period [rad], for joints with these speed limits [rad/s]."""
    return tuple(velocity * period * margin for velocity in velocities)


def _number(value: float) -> str:
    """A number as URScript writes it, without an exponent."""
    return f'{value:.9f}'.rstrip('0').rstrip('.')
