"""The crawlers of the comparison, each run as a command in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

__all__ = ["CRAWLERS", "Crawler"]

_ENVIRONMENTS = Path(__file__).parent.parent / ".venvs"
_PEERS = Path(__file__).parent / "peers"


@dataclass(frozen=True, slots=True)
class Crawler:
    """`package`: what its environment is made of; empty for ours, which runs here."""

    name: str
    words: str
    package: str = ""
    script: str = ""
    flags: tuple[str, ...] = ()

    @property
    def ours(self) -> bool:
        return not self.package

    def install(self) -> None:
        """Make its environment if it is not there. Raises CalledProcessError when PyPI can not be reached."""
        if self.ours or self._python.exists():
            return
        print(f"installing {self.package} into {self._environment}", flush=True)
        venv.create(self._environment, with_pip=True)
        command = [
            str(self._python),
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            self.package,
        ]
        subprocess.run(command, check=True)

    def crawl(self, port: int, work: Path, run: str, max_pages: int | None, timeout_s: float) -> str:
        """Crawl the site at `port`. How it ended, in words."""
        work.mkdir(parents=True, exist_ok=True)
        domain = f"127.0.0.1:{port}"
        if self.ours:
            command = [sys.executable, "-m", "benchmarks.politeness.our_crawl", str(work), domain, run]
            command += [str(max_pages)] if max_pages else []
            folder = Path.cwd()
        else:
            command = [str(self._python), str(_PEERS / self.script), f"http://{domain}/", *self.flags]
            folder = work
        environment = os.environ | {"CRAWLEE_STORAGE_DIR": str(work / "storage")}
        with (work / f"{run}.log").open("w") as log:
            try:
                done = subprocess.run(
                    command, cwd=folder, env=environment, stdout=log, stderr=log, timeout=timeout_s
                )
            except subprocess.TimeoutExpired:
                return f"stopped after {timeout_s:.0f} s"
        return "" if done.returncode == 0 else f"exit code {done.returncode}, see {log.name}"

    @property
    def _environment(self) -> Path:
        return _ENVIRONMENTS / self.package.partition("[")[0]

    @property
    def _python(self) -> Path:
        return self._environment / "bin" / "python"


CRAWLERS = (
    Crawler("nightcrawl", "Nightcrawl"),
    Crawler("scrapy", "Scrapy", "scrapy", "scrapy_crawl.py"),
    Crawler("autothrottle", "Scrapy AutoThrottle", "scrapy", "scrapy_crawl.py", ("--autothrottle",)),
    Crawler("crawlee", "Crawlee for Python", "crawlee[parsel]", "crawlee_crawl.py"),
)
