"""URDFs for tests: small ones made here, and those of other robots that somebody else published."""

from __future__ import annotations

import sysconfig
from pathlib import Path

PUBLISHED = Path(sysconfig.get_path('purelib')) / 'cmeel.prefix/share/example-robot-data/robots'
"""The robots of the package example-robot-data."""

LIMIT = '<limit lower="-2" upper="2" velocity="1" effort="10"/>'


def link(name: str, inside: str = '') -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(
    name: str,
    parent: str,
    child: str,
    *,
    kind: str = 'revolute',
    xyz: str = '0 0 0.3',
    axis: str = '0 1 0',
    inside: str = LIMIT,
) -> str:
    return (
        f'<joint name="{name}" type="{kind}"><origin xyz="{xyz}"/><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="{axis}"/>{inside if kind != "fixed" else ""}</joint>'
    )


def robot(*parts: str, name: str = 'arm') -> str:
    return f'<robot name="{name}">{"".join(parts)}</robot>'


def ball(radius: float = 0.05) -> str:
    return f'<collision><geometry><sphere radius="{radius}"/></geometry></collision>'


def serial_arm(joints: int = 3, tip: str = 'tool0', base: str = 'base_link', body: str = '', **options: str) -> str:
    """An arm of turning joints with a tool frame."""
    names = [base, *(f'link_{i}' for i in range(1, joints + 1))]
    parts = [link(name, body) for name in names] + [link(tip)]
    parts += [joint(f'joint_{i}', names[i - 1], names[i], **options) for i in range(1, joints + 1)]
    return robot(*parts, joint('tool', names[-1], tip, kind='fixed'))
