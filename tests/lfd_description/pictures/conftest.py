"""A real browser without a screen, driven over its debugging pipe."""

from __future__ import annotations

import base64
import io
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

NAMES = ('chromium', 'chromium-browser', 'google-chrome')
TIMEOUT = 120.0  # [s], for one answer; software rendering on a busy machine is slow


class Browser:
    """One page in a headless Chromium; what its console says is in `console`."""

    def __init__(self, folder: Path) -> None:
        program = next((found for found in map(shutil.which, NAMES) if found), None)
        if program is None:
            pytest.fail('There is no Chromium to open the page with; install it: apt-get install -y chromium')
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        # The browser reads its commands from descriptor 3 and answers on 4, whichever numbers are free here.
        script = (
            'import fcntl, os, sys\n'
            f'ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in ({to_read}, {to_write})]\n'
            'for end, number in zip(ends, (3, 4)): os.dup2(end, number)\n'
            'os.execv(sys.argv[1], sys.argv[1:])'
        )
        options = (
            '--headless=new', '--no-sandbox', '--disable-dev-shm-usage', '--no-first-run', '--hide-scrollbars',
            '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--remote-debugging-pipe',
            '--disable-background-networking', '--disable-extensions', f'--user-data-dir={folder / "profile"}',
        )  # fmt: skip
        self._process = subprocess.Popen(
            [sys.executable, '-c', script, program, *options, 'about:blank'],
            pass_fds=(to_read, to_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_read)
        os.close(to_write)
        self.console: list[str] = []
        self._left = b''
        self._number = 0
        self._session: str | None = None
        target = self._ask('Target.createTarget', url='about:blank')['targetId']
        self._session = self._ask('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log'):
            self._ask(f'{domain}.enable')

    def open(self, file: Path, width: int = 760, height: int = 320, *, dark: bool = False) -> None:
        self._ask('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}
        still = {'name': 'prefers-reduced-motion', 'value': 'reduce'}
        self._ask('Emulation.setEmulatedMedia', features=[scheme, still])
        self._ask('Page.navigate', url=file.as_uri())
        self.wait_for("document.readyState === 'complete'")

    def run(self, script: str) -> object:
        answer = self._ask('Runtime.evaluate', expression=script, returnByValue=True, awaitPromise=True)
        assert 'exceptionDetails' not in answer, answer['exceptionDetails']
        return answer['result'].get('value')

    def wait_for(self, condition: str) -> None:
        end = time.monotonic() + TIMEOUT
        while not self.run(f'new Promise(done => setTimeout(() => done(Boolean({condition})), 20))'):
            assert time.monotonic() < end, f'The page never came to: {condition}; its console: {self.console}'

    def rest(self) -> None:
        """Wait until the 3-D view has drawn the robot as it is now."""
        self.wait_for("document.body.dataset.resting === 'yes'")

    def screenshot(self) -> npt.NDArray[np.uint8]:
        png = base64.b64decode(self._ask('Page.captureScreenshot', format='png')['data'])
        return np.asarray(Image.open(io.BytesIO(png)).convert('RGB'))

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def _ask(self, method: str, **parameters: object) -> dict:
        self._number += 1
        message = {'id': self._number, 'method': method, 'params': parameters}
        if self._session is not None:
            message['sessionId'] = self._session
        os.write(self._to, json.dumps(message).encode() + b'\0')
        while True:
            answer = self._receive()
            if answer.get('id') == self._number:
                assert 'error' not in answer, f'{method}: {answer["error"]}'
                return answer['result']
            self._note(answer)

    def _receive(self) -> dict:
        while b'\0' not in self._left:
            ready, _, _ = select.select([self._from], [], [], TIMEOUT)
            assert ready, 'The browser does not answer.'
            part = os.read(self._from, 1 << 20)
            assert part, f'The browser has ended with code {self._process.wait(10)}.'
            self._left += part
        message, _, self._left = self._left.partition(b'\0')
        return json.loads(message)

    def _note(self, event: dict) -> None:
        details = event.get('params', {})
        if event.get('method') == 'Runtime.exceptionThrown':
            self.console.append(details['exceptionDetails'].get('exception', {}).get('description', 'exception'))
        elif event.get('method') == 'Runtime.consoleAPICalled':
            self.console.append(f'{details["type"]}: {[part.get("value") for part in details["args"]]}')
        elif event.get('method') == 'Log.entryAdded':
            self.console.append(f'{details["entry"]["level"]}: {details["entry"]["text"]}')


@pytest.fixture(scope='session')
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = Browser(tmp_path_factory.mktemp('chromium'))
    yield opened
    opened.close()
