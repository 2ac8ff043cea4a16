"""A real Chromium, driven over the DevTools protocol: open a page, wait for words on it, look at it, keep a picture.

Nothing leaves the machine: background traffic is switched off, and tests open loopback pages and local files only.
"""

from __future__ import annotations

import base64
import itertools
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

__all__ = ["Browser", "chromium", "missing"]

_FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-extensions",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
    "--disable-dev-shm-usage", "--disable-features=Translate,OptimizationHints,MediaRouter", "--metrics-recording-only",
    "--remote-debugging-port=0", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1", "about:blank",
)  # fmt: skip
#: A loaded machine may take this long to start a browser or to render a page of the UI.
PATIENCE_S = 120.0


def _program() -> str | None:
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def missing() -> str:
    """Why no browser can be had; empty when one is there."""
    return "" if _program() else "no chromium on this machine: apt-get install chromium"


class Browser:
    """One tab. Errors of the page's scripts end up in `errors`."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.errors: list[str] = []
        for domain in ("Page", "Runtime", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """One command of the protocol and its answer; events that come meanwhile are looked at."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=PATIENCE_S))
            if message.get("method") == "Runtime.exceptionThrown":
                self.errors.append(json.dumps(message["params"])[:500])
            if message.get("id") == number:
                assert "error" not in message, (method, message["error"])
                result: dict[str, Any] = message["result"]
                return result

    def size(self, width: int, height: int, *, phone: bool = False, density: float = 1.0) -> None:
        """The window; `phone` with its pixel density and its meta viewport."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=2.0 if phone else density, mobile=phone,
        )  # fmt: skip

    def open(self, url: str, *words: str) -> None:
        """Go to a page and wait until all `words` can be read on it."""
        self.call("Page.navigate", url=url)
        self.wait_for(*words)

    def run(self, script: str) -> Any:
        """The value of a JavaScript expression in the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, (script, found["exceptionDetails"])
        return found["result"].get("value")

    @property
    def text(self) -> str:
        """What a reader sees."""
        return str(self.run("document.body ? document.body.innerText : ''"))

    def wait_for(self, *words: str, seconds: float = PATIENCE_S) -> None:
        """AssertionError with the page's text when the words do not come."""
        until = time.monotonic() + seconds
        while True:
            text = self.text
            if all(w in text for w in words):
                return
            missed = [w for w in words if w not in text]
            assert time.monotonic() < until, f"{missed} not on {self.run('location.href')}: {text[:3000]}"
            time.sleep(0.3)

    def wait_until(self, condition: str, seconds: float = PATIENCE_S, every: float = 0.3) -> None:
        """AssertionError when the JavaScript `condition` does not come true."""
        until = time.monotonic() + seconds
        while not self.run(condition):
            assert time.monotonic() < until, f"not so on {self.run('location.href')}: {condition}"
            time.sleep(every)

    def click(self, words: str) -> None:
        """Click the innermost visible element whose text is exactly `words`."""
        found = self.run(
            "(() => { const all = [...document.querySelectorAll('button, a, [role=button], [role=tab], div, span')]"
            f".filter(e => e.innerText && e.innerText.trim() === {json.dumps(words)} && e.offsetParent !== null);"
            "const e = all[all.length - 1]; if (e) e.click(); return !!e; })()"
        )
        assert found, f"nothing says {words!r} on {self.run('location.href')}"

    def picture(self, path: Path) -> Path:
        """A PNG of the window."""
        data = self.call("Page.captureScreenshot", format="png")["data"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data))
        return path


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser with a profile of its own; both are gone when the block is left."""
    program = _program()
    assert program is not None, missing()
    with tempfile.TemporaryDirectory(prefix="nightcrawl-chromium-", ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [program, f"--user-data-dir={profile}", *_FLAGS],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            # Without pings: a test may leave the browser alone for minutes, and nobody reads the answers then.
            with connect(_tab(Path(profile), process), max_size=None, ping_interval=None) as socket:
                yield Browser(socket)
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _tab(profile: Path, process: subprocess.Popen[bytes]) -> str:
    """The address of the first tab, from the port the browser writes down."""
    note = profile / "DevToolsActivePort"
    until = time.monotonic() + PATIENCE_S
    while not (note.exists() and note.read_text().strip()):
        assert process.poll() is None, f"the browser ended with code {process.poll()}"
        assert time.monotonic() < until, "the browser does not say its port"
        time.sleep(0.1)
    port = note.read_text().split()[0]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=PATIENCE_S) as answer:
        tabs = json.loads(answer.read())
    return str(next(t["webSocketDebuggerUrl"] for t in tabs if t["type"] == "page"))
