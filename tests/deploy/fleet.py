"""An installation on a real Redis with practice sites, and worker processes that serve it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from practice_site import RemoteSite, SiteConfig, many_sites, practice_web_process
from practice_site.site_file import site_yaml
from resources.frontier.base import State, StateCounts
from resources.installation import Installation
from tests.fleet.servers import RedisServer

__all__ = ["ROOT", "Fleet", "fleet"]

ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Fleet:
    """`environment` makes any process part of it."""

    folder: Path
    sites: list[RemoteSite]
    redis: RedisServer
    workers: list[subprocess.Popen[str]] = field(default_factory=list)

    @property
    def domains(self) -> list[str]:
        return sorted(site.domain for site in self.sites)

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {
            "NIGHTCRAWL_DATA": str(self.folder / "data"),
            "NIGHTCRAWL_SITES": str(self.folder / "sites"),
            "NIGHTCRAWL_FRONTIER": self.redis.address,
            "PYTHONPATH": str(ROOT),
            "PYTHONWARNINGS": "ignore",
        }

    @property
    def installation(self) -> Installation:
        return Installation.from_environment(self.environment)

    def nightcrawl(self, *words: str) -> subprocess.Popen[str]:
        """The command as its user starts it, in a process of its own."""
        process = subprocess.Popen(
            [sys.executable, "-m", "crawl_assets.cli", *words],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=(self.folder / "stderr").open("ab"),
            text=True,
        )
        self.workers.append(process)
        return process

    def counts(self) -> dict[str, StateCounts]:
        frontier = self.installation.open_frontier()
        try:
            return dict(frontier.all_counts())
        finally:
            frontier.close()

    def fetched(self) -> int:
        return sum(counts.done for counts in self.counts().values())

    def check_whole(self) -> None:
        """Every page there is was fetched and is stored, once; states balance; nothing is leased or left."""
        frontier, pages = self.installation.open_frontier(), self.installation.open_pages()
        try:
            for site in self.sites:
                counts = frontier.counts(site.domain)
                assert counts == frontier.recount(site.domain)
                assert (counts.pending, counts.leased, counts.failed) == (0, 0, 0), (site, counts)
                rows = list(frontier.records(site.domain, [State.DONE]))
                missing = set(site.expected_pages()) - {row.url for row in rows}
                assert not missing, f"{len(missing)} pages never fetched, one is {min(missing)}"
                heads = pages.heads([row.key for row in rows])
                bodies = [row for row in rows if row.status == 200]
                assert all(row.key in heads for row in bodies)
        finally:
            frontier.close()
            pages.close()

    def asked_twice(self) -> int:
        """Requests for a page beyond the first."""
        seen: Counter[str] = Counter()
        for site in self.sites:
            for request in site.requests():
                path = str(request.get("target", request.get("path", "")))
                if "robots.txt" not in path and "sitemap" not in path:
                    seen[site.domain + path] += 1
        return sum(number - 1 for number in seen.values())


@contextmanager
def fleet(folder: Path, *, sites: int, books: int = 40, **pace: object) -> Iterator[Fleet]:
    """`sites` practice sites, a Redis, no worker yet. What was started and still runs at the end is killed."""
    (folder / "sites").mkdir(parents=True)
    configs = many_sites(sites, SiteConfig(n_products=books))
    with practice_web_process(configs, interlinked=False) as running:
        text = site_yaml([site.domain for site in running], changes={"pace": pace or {"rate": "unlimited"}})
        (folder / "sites" / "practice.yaml").write_text(text)
        made = Fleet(folder, running, RedisServer())
        try:
            yield made
        finally:
            for worker in made.workers:
                if worker.poll() is None:
                    worker.send_signal(signal.SIGKILL)
                worker.wait()
            made.redis.stop()
