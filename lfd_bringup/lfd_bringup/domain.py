"""ROS domains: one graph, one domain, so that two clones (or two tests) on a machine never hear each other.

A domain is claimed by listening on a TCP port of its own on localhost. The kernel gives the port back when the process
ends, however it ends, so there are no stale locks.
"""

from __future__ import annotations

import argparse
import os
import socket
from collections.abc import Iterable

from .commands import domain_id
from .home.environment import HIGHEST_DOMAIN, default_domain
from .home.faults import Fault
from .home.layout import Layout

# RTPS gives every domain 250 ports from here on; its participants use the lower ones.
_RTPS_BASE = 7400
_RTPS_DOMAIN_GAIN = 250
_CLAIM_OFFSET = 249


class Domain:
    """A claimed ROS domain; the claim ends with the object."""

    def __init__(self, number: int, claim: socket.socket) -> None:
        self.number = number
        self._claim = claim

    def __enter__(self) -> Domain:
        return self

    def __exit__(self, *_: object) -> None:
        self._claim.close()


def claim(asked: int | None = None) -> Domain:
    """Claim a domain: the asked one, else the user's ROS_DOMAIN_ID, else the first free one."""
    if asked is None and os.environ.get('ROS_DOMAIN_ID') and not os.environ.get('LFD_OWN_DOMAIN'):
        try:
            asked = domain_id(os.environ['ROS_DOMAIN_ID'])
        except argparse.ArgumentTypeError as error:
            raise Fault(f'ROS_DOMAIN_ID is set, and {error}.', 'set it to such a number, or unset it') from None
    if asked is not None:
        found = _first_free([asked])
        if found is None:
            raise Fault(
                f'ROS domain {asked} is taken: port {_port(asked)} of this machine is in use, '
                'most likely by another ./lfd up.',
                'stop that one, or choose another domain with --domain-id',
            )
        return found
    return claim_free()


def claim_free() -> Domain:
    """Claim the first free domain, beginning with this checkout's own."""
    own = default_domain(Layout.inside().home)
    found = _first_free((own + step - 1) % HIGHEST_DOMAIN + 1 for step in range(HIGHEST_DOMAIN))
    if found is None:
        raise Fault('all ROS domains of this machine are taken.', 'stop some of the running graphs')
    return found


def _first_free(numbers: Iterable[int]) -> Domain | None:
    for number in numbers:
        listener = socket.socket()
        try:
            listener.bind(('127.0.0.1', _port(number)))
            listener.listen(1)
        except OSError:
            listener.close()
        else:
            return Domain(number, listener)
    return None


def _port(number: int) -> int:
    return _RTPS_BASE + _RTPS_DOMAIN_GAIN * number + _CLAIM_OFFSET
