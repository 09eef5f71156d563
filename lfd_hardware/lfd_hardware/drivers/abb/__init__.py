"""ABB arms: Externally Guided Motion for the set-points, Robot Web Services for motors, program and reasons.

::

    update loop ── write ──► Reference ──► EgmLink ◄──UDP 250 Hz──► controller (lfd_egm.mod)
                ◄── read ─── newest state ──┘                          ▲
    life cycle ─────────────► RwsClient ──────── HTTP ─────────────────┘
                              Watch ────────────── " (own thread: idle state, stop, reasons)

Installing on the controller (RobotWare 6.07 or later with option 689-1 Externally Guided Motion):

1. Configuration, Communication, Transmission Protocol (RobotWare 7: UDP Unicast Device): a device of type UDPUC named
   ``LFD`` with the address of this computer and the port of the parameter ``egm_port`` (6511).
2. Load ``lfd_egm.mod`` (beside this file) as a program module of task T_ROB1; it has the procedure ``main``, so no
   other module may have one. Restart the controller.
3. Automatic mode. The driver switches the motors on, sets the program pointer to main, and starts.

Parameters of the tag, with defaults: ``rws_ip``, ``rws_port`` 80, ``egm_port`` 6511; ``rws_version`` auto (1, or 2 if
rws_port is 443), ``rws_user`` Default User, ``rws_password`` robotics, ``rws_certificate`` (a file to check the
controller's certificate with; without it RWS 2.0 accepts any, as controllers sign their own), ``egm_ip`` (if EGM comes
from another address than rws_ip), ``egm_period`` 0.004 s, ``mechanical_unit`` ROB_1, ``connect_timeout`` 5 s,
``state_limit`` 0.06 s.
"""

from lfd_hardware.drivers.abb.driver import AbbDriver

__all__ = ['AbbDriver']
