"""The page's files: what a browser may have of the folders of page and libraries, and the headers that it gets."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from types import MappingProxyType

TYPES = MappingProxyType(
    {
        '.html': 'text/html; charset=utf-8',
        '.js': 'text/javascript; charset=utf-8',
        '.mjs': 'text/javascript; charset=utf-8',
        '.css': 'text/css; charset=utf-8',
        '.json': 'application/json',
        '.webmanifest': 'application/manifest+json',
        '.svg': 'image/svg+xml',
        '.png': 'image/png',
        '.jpg': 'image/jpeg',
        '.ico': 'image/x-icon',
        '.woff2': 'font/woff2',
        '.wasm': 'application/wasm',
        '.glb': 'model/gltf-binary',
        '.txt': 'text/plain; charset=utf-8',
    }
)
"""What is served at all, by ending."""
TEXTS = ('.html', '.js', '.mjs', '.css', '.json', '.svg', '.dae', '.urdf', '.stl', '.yaml')
"""What gets much smaller by compression."""
INDEX = 'index.html'

_INLINE_SCRIPT = re.compile(r'<script(?![^>]*\ssrc\s*=)[^>]*>(.*?)</script>', re.DOTALL | re.IGNORECASE)
_HOST = re.compile(r'(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?')


def file_below(folder: Path, name: str) -> Path | None:
    """The file of a name below a folder, if browsers may have it; links, of which installations are made, are followed.

    No part of the name may begin with a dot, so that it neither leaves the folder nor names what is hidden.
    """
    parts = name.split('/')
    if any(not part or part.startswith('.') or not part.isprintable() or '\\' in part for part in parts):
        return None
    file = folder.joinpath(*parts)
    return file if file.suffix.lower() in TYPES and len(name) <= 500 and file.is_file() else None


def page_headers(html: str, host: str) -> Mapping[str, str]:
    """The headers of a page: it may load what this server has, and nothing else; `host` is where it was loaded from."""
    hashes = ' '.join(f"'sha256-{_sha256(script)}'" for script in _INLINE_SCRIPT.findall(html))
    policy = (
        "default-src 'none'",
        f"script-src 'self' {hashes}".rstrip(),
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' blob: data:",
        "font-src 'self' data:",
        "media-src 'self' blob:",
        f"connect-src 'self' blob: data: ws://{host} wss://{host}",
        "worker-src 'self' blob:",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
    return {'Content-Security-Policy': '; '.join(policy)}


SAFE_HEADERS = MappingProxyType(
    {
        'X-Content-Type-Options': 'nosniff',
        'Referrer-Policy': 'no-referrer',
        'Cross-Origin-Opener-Policy': 'same-origin',
        'Cross-Origin-Resource-Policy': 'same-origin',
        'X-Frame-Options': 'DENY',
        'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    }
)
"""Of every answer; a page has a policy of its own."""


def is_own_host(host: str, names: Collection[str]) -> bool:
    """Whether a Host header can be meant for us: an address, or a name of this machine.

    Other names may be somebody's trick to make a browser take their page for ours (DNS rebinding).
    """
    match = _HOST.fullmatch(host)
    if match is None:
        return False
    name = match[1].strip('[]').lower()
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name in names
    return True


def _sha256(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
