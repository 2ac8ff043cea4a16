"""Practice sites in a process of their own, for tests and benchmarks that must not share an event loop.

    with practice_site_process(n_products=100, rate=20) as site:
        crawl(site.url)
        assert site.stats()["by_status"] == {"200": 123}
        site.night(2)

The child ends when its standard input closes, so a killed test run leaves no server behind.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from practice_site.behaviour import PRESETS, Behaviour, Preset, changed
from practice_site.control import CONTROL_PATH
from practice_site.site_config import SiteConfig, config_from_json
from practice_site.truth import Truth

__all__ = ["RemoteSite", "practice_site_process", "practice_web_process", "site_config"]

# A loaded machine may take this long to start Python and write thousands of books.
START_SECONDS = 60.0
STOP_SECONDS = 10.0


class RemoteSite:
    """A site that runs elsewhere, asked and switched over its control paths."""

    def __init__(self, config: SiteConfig, neighbours: Sequence[str], pid: int) -> None:
        self.config = config
        self.neighbours = tuple(neighbours)
        self.pid = pid
        self.domain = f"{config.host}:{config.port}"
        self.origin = f"http://{self.domain}"
        self.url = self.origin + "/"
        self.control = self.origin + CONTROL_PATH

    def __repr__(self) -> str:
        return f"RemoteSite({self.url}, night {self.config.night}, pid {self.pid})"

    def requests(self, **filters: Any) -> list[dict[str, Any]]:
        """The log, as dicts of `SeenRequest`; filters as in control.py."""
        found: list[dict[str, Any]] = self._ask("GET", "requests", filters)
        return found

    def stats(self, **arguments: Any) -> dict[str, Any]:
        found: dict[str, Any] = self._ask("GET", "stats", arguments)
        return found

    def reset(self) -> None:
        self._ask("POST", "reset", {})

    def set(self, **behaviour: Any) -> None:
        """Switch fields of Behaviour on the running site. Raises ValueError naming the field."""
        new = changed(self.config.behaviour, behaviour)
        self._ask("POST", "set", behaviour)
        self.config = replace(self.config, behaviour=new)

    def night(self, number: int) -> None:
        self._ask("POST", "night", {"n": number})
        self.config = replace(self.config, night=number)

    def truth(self) -> Truth:
        """Worked out here, from the same config: it does not burden the server."""
        return Truth(self.config, self.origin, self.neighbours)

    def expected_pages(self, **scope: Any) -> frozenset[str]:
        return self.truth().expected_pages(**scope)

    def expected_items(self) -> list[dict[str, Any]]:
        return self.truth().expected_items()

    def _ask(self, method: str, path: str, arguments: dict[str, Any]) -> Any:
        parts = urlsplit(self.control)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
        try:
            connection.request(method, f"{parts.path}{path}?{urlencode(arguments)}")
            response = connection.getresponse()
            result = json.loads(response.read())
        finally:
            connection.close()
        if response.status != 200:
            raise ValueError(f"practice site {self.domain}: {result.get('error', result)}")
        return result


def site_config(*, preset: Preset = "tame", **values: Any) -> SiteConfig:
    """A config from fields of SiteConfig and Behaviour mixed; the latter change the preset."""
    own = {field.name for field in fields(SiteConfig)} - {"behaviour"}
    base: Behaviour = values.pop("behaviour", PRESETS[preset])
    behaviour = changed(base, {name: value for name, value in values.items() if name not in own})
    return SiteConfig(behaviour=behaviour, **{name: value for name, value in values.items() if name in own})


@contextmanager
def practice_site_process(*, preset: Preset = "tame", **values: Any) -> Iterator[RemoteSite]:
    """One site in a child process; `values` as for `site_config`."""
    with practice_web_process([site_config(preset=preset, **values)]) as sites:
        yield sites[0]


@contextmanager
def practice_web_process(
    configs: Sequence[SiteConfig], *, interlinked: bool = True
) -> Iterator[list[RemoteSite]]:
    """Many sites in one child process. Raises RuntimeError with the child's words if it does not start."""
    root = str(Path(__file__).resolve().parent.parent)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    child = subprocess.Popen(
        [sys.executable, "-m", "practice_site", "--attached"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
        # Ctrl-C at the terminal is for the parent: the site goes on while the crawl drains.
        start_new_session=True,
    )
    assert child.stdin is not None and child.stdout is not None
    try:
        job = {"sites": [config.to_json() for config in configs], "interlinked": interlinked}
        child.stdin.write(json.dumps(job) + "\n")
        child.stdin.flush()
        line = child.stdout.readline()
        ready: dict[str, Any] = (
            json.loads(line) if line else {"error": f"it ended with code {child.wait(START_SECONDS)}"}
        )
        if "error" in ready:
            raise RuntimeError(f"practice site did not start: {ready['error']}")
        yield [
            RemoteSite(config_from_json(site["config"]), site["neighbours"], child.pid)
            for site in ready["sites"]
        ]
    finally:
        child.stdin.close()
        try:
            child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        child.stdout.close()
