"""Where things are: the checkout, and the folders that lfd makes for itself."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from .faults import Fault

CHECKOUT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Layout:
    """The checkout (never written to) and the home (the checkout itself unless LFD_HOME names another folder)."""

    checkout: Path
    home: Path

    @classmethod
    def outside(cls) -> Layout:
        """Layout as the user asks for it: LFD_HOME moves what lfd writes, for a checkout that is read-only."""
        named = os.environ.get('LFD_HOME')
        if not named:
            return cls(CHECKOUT, CHECKOUT)
        try:
            return cls(CHECKOUT, Path(named).expanduser().resolve())
        except RuntimeError as error:
            raise Fault(
                f'LFD_HOME={named} names no folder: {str(error).rstrip(".")}.', 'set it to a path, or unset it'
            ) from None

    @classmethod
    def inside(cls) -> Layout:
        """Layout of the home whose Python runs this."""
        return cls(CHECKOUT, Path(sys.prefix).parent)

    @property
    def venv(self) -> Path:
        """The Python environment."""
        return self.home / '.venv'

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.venv / 'bin' / 'python'

    @property
    def mark(self) -> Path:
        """Tells that lfd made the environment; holds its id, another one each time."""
        return self.venv / 'lfd-environment'

    @property
    def state(self) -> Path:
        """All else that lfd makes: build, install, logs, caches, the stamp."""
        return self.home / '.lfd'

    @property
    def stamp(self) -> Path:
        """What was installed and built, and of what."""
        return self.state / 'stamp.json'

    @property
    def lock(self) -> Path:
        """Held while the environment is being made."""
        return self.state / 'lock'

    @property
    def trash(self) -> Path:
        """Folders on their way out."""
        return self.state / 'trash'

    @property
    def build(self) -> Path:
        """Colcon's build folder."""
        return self.state / 'build'

    @property
    def install(self) -> Path:
        """Colcon's install folder, merged."""
        return self.state / 'install'

    @property
    def log(self) -> Path:
        """Logs of the set-up, of colcon and of the nodes."""
        return self.state / 'log'

    @property
    def setup_log(self) -> Path:
        """Everything that the set-up steps printed, newest last."""
        return self.log / 'setup.log'

    @property
    def numba_cache(self) -> Path:
        """Compiled numerical kernels."""
        return self.state / 'numba'

    @property
    def page(self) -> Path:
        """The page's JavaScript libraries, in node_modules below it."""
        return self.state / 'page'

    @property
    def requirements(self) -> Path:
        """Folder of the pinned requirements."""
        return self.checkout / 'lfd_bringup' / 'requirements'

    def environment_id(self) -> str:
        """Tells one environment from the next made in its place; empty when there is none of lfd's."""
        try:
            return self.mark.read_text().strip()
        except OSError:
            return ''

    def python_version(self) -> str | None:
        """Version of the environment's Python as `3.11`, or None when there is no environment."""
        try:
            text = (self.venv / 'pyvenv.cfg').read_text()
        except OSError:
            return None
        found = re.search(r'^version(?:_info)?\s*=\s*(\d+\.\d+)', text, re.MULTILINE)
        return found.group(1) if found else None

    def site_packages(self, prefix: Path) -> Path:
        """Folder of the Python packages below a prefix (the environment or the install folder)."""
        return prefix / 'lib' / f'python{self.python_version()}' / 'site-packages'
