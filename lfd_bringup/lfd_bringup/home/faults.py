"""Failures that explain themselves: what went wrong, and what to do about it."""

from __future__ import annotations

import re
from pathlib import Path


class Fault(Exception):
    """A failure that a user can act on: one sentence for the cause, one for the fix unless the cause names it.

    is_understood: the cause is known, so that doing the same again from the start would not help.
    """

    def __init__(self, cause: str, fix: str = '', *, is_understood: bool = True) -> None:
        super().__init__(f'{cause}\nFix: {fix}' if fix else cause)
        self.cause = cause
        self.fix = fix
        self.is_understood = is_understood


DISK_FULL = 'free some space, or set LFD_HOME to a folder on a larger disk, and run the same command again'

# Searched in this order, first in the last lines of a failed step. Groups of the pattern fill the texts.
_KNOWN: tuple[tuple[str, str, str], ...] = (
    (r'No space left on device|\[Errno 28\]', 'the disk is full', DISK_FULL),
    (
        r'Disk quota exceeded|\[Errno 122\]',
        'your disk quota is used up',
        DISK_FULL,
    ),
    (
        r'Temporary failure in name resolution|Name or service not known|NameResolutionError|Network is unreachable'
        r'|Failed to establish a new connection|Connection refused|Read timed out|ConnectTimeoutError|ProxyError'
        r'|npm error code (?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH)',
        'the package index cannot be reached',
        'check the network (and the proxy: HTTPS_PROXY, pip config list, npm config list), then run the same command '
        'again; what was downloaded is kept',
    ),
    (
        r'No matching distribution found for (\S+)|Could not find a version that satisfies the requirement (\S+)',
        'the package index does not have {0} for this Python',
        'check that line of lfd_bringup/requirements, and that pip reaches an index that has it (pip config list)',
    ),
    (
        r'Invalid requirement: (.+)',
        'a line of the requirements is not valid: {0}',
        'mend or restore that line (git diff lfd_bringup/requirements)',
    ),
    (
        r'CERTIFICATE_VERIFY_FAILED|SSLError',
        'the package index does not show a certificate that this machine trusts',
        'set PIP_CERT to the certificate file of your network, then run the same command again',
    ),
    (
        r'THESE PACKAGES DO NOT MATCH THE HASHES|npm error code EINTEGRITY',
        'a download was damaged',
        'run the same command again',
    ),
    (
        r'ensurepip is not available|No module named ensurepip',
        'this Python comes without venv and pip',
        'install them (Debian, Ubuntu: sudo apt install python3-venv), or name another Python with LFD_PYTHON',
    ),
    (
        r'fatal error: Python\.h: No such file',
        "this Python's C headers are missing",
        'install them (Debian, Ubuntu: sudo apt install python3-dev), or name another Python with LFD_PYTHON',
    ),
    (
        r'internal compiler error|Killed signal terminated program|cannot allocate memory|out of memory',
        'the compiler ran out of memory',
        'close other programs, or build with one job at a time: LFD_JOBS=1 ./lfd setup',
    ),
    (
        r'Permission denied: (.+)|PermissionError: (.+)',
        'a file may not be written: {0}',
        'give yourself the right to write there, or set LFD_HOME to a folder of yours',
    ),
    (
        r'Read-only file system',
        'the folder is read-only',
        'set LFD_HOME to a folder that can be written to, for example LFD_HOME=$HOME/lfd ./lfd demo',
    ),
)


def explain(title: str, output: str, code: int, log: Path) -> Fault:
    """Turn the output of a failed step into a cause and a fix; the log is named when the cause is not known."""
    for pattern, cause, fix in _KNOWN:
        found = re.search(pattern, output)
        if found:
            groups = [group.strip() for group in found.groups() if group]
            return Fault(f'{title} failed: {cause.format(*groups)}.', f'{fix}. (Whole log: {log})')
    how = f'was stopped by signal {-code}' if code < 0 else f'failed with exit code {code}'
    lines = [line for line in output.splitlines() if line.strip()]
    first_error = next((line for line in lines if re.search(r'\berror\b', line, re.IGNORECASE)), None)
    what = (first_error or (lines or ['it printed nothing'])[-1]).strip()
    fix = f'read the log {log}; running the same command again continues from here.'
    return Fault(f'{title} {how}: {what}', fix, is_understood=False)
