"""A fleet on one machine: one practice site that counts, one shared frontier, workers that come and go."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from practice_site import RemoteSite
from practice_site.site_file import site_yaml
from resources.frontier.base import State, StateCounts
from resources.installation import Installation

__all__ = ["Fleet"]


class Fleet:
    """`frontier` and `pages` are addresses; the ledger is where the frontier is, if that is shared."""

    def __init__(
        self,
        site: RemoteSite,
        folder: Path,
        frontier: str,
        pace: dict[str, Any],
        pages: str = "",
        *,
        short_leases: bool = True,
    ) -> None:
        self.more_words = [] if short_leases else ["--usual-leases"]
        self.site = site
        one = Installation.at(folder / "data", folder / "sites")
        ledger = frontier if frontier.startswith(("redis", "postgresql")) else one.ledger
        self.installation = replace(one, frontier=frontier, pages=pages or one.pages, ledger=ledger)
        self.installation.sites.mkdir()
        (one.sites / "practice.yaml").write_text(site_yaml(site.domain, changes={"pace": pace}))
        self.runs = 0
        self.words: list[Path] = []

    def start(self, *, seed: bool = False) -> subprocess.Popen[str]:
        """A worker that has begun to fetch."""
        self.runs += 1
        installation = json.dumps({name: str(value) for name, value in asdict(self.installation).items()})
        command = [sys.executable, "-m", "tests.fleet.crawl_worker", installation, f"run-{self.runs}"]
        words = Path(tempfile.mkstemp(suffix=".err", dir=self.installation.sites.parent)[1])
        self.words.append(words)
        with words.open("w") as errors:
            worker = subprocess.Popen(
                [*command, self.site.domain, *(["--seed"] if seed else []), *self.more_words],
                stdout=subprocess.PIPE, stderr=errors, text=True,
            )  # fmt: skip
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n", words.read_text()
        return worker

    def kill(self, worker: subprocess.Popen[str]) -> None:
        worker.send_signal(signal.SIGKILL)
        worker.communicate()

    def finish(self, *workers: subprocess.Popen[str], seconds: float = 240) -> list[dict[str, Any]]:
        """Their reports, once all have ended by themselves."""
        reports = []
        for worker in workers:
            out, _ = worker.communicate(timeout=seconds)
            assert worker.returncode == 0, "\n".join(words.read_text() for words in self.words)
            reports += json.loads(out.splitlines()[-1])
        return reports

    # -- what came of it -------------------------------------------------------------------------
    def requested(self) -> Counter[str]:
        """Requests by path, without those for robots.txt and sitemaps."""
        return Counter(
            seen["path"] for seen in self.site.requests()
            if not seen["path"].startswith(("/robots.txt", "/sitemap"))
        )  # fmt: skip

    def counts(self) -> StateCounts:
        frontier = self.installation.open_frontier()
        try:
            counts = frontier.counts(self.site.domain)
            assert counts == frontier.recount(self.site.domain)
            assert counts.leased == counts.pending == 0
            return counts
        finally:
            frontier.close()

    def check_complete(self) -> None:
        """Every page that there is was fetched and stored, once each in every table; the books balance."""
        self.counts()
        frontier = self.installation.open_frontier()
        done = [record.url for record in frontier.records(self.site.domain, [State.DONE])]
        frontier.close()
        pages = self.installation.open_pages()
        stored = [head.url for head in pages.scan(self.site.domain)]
        damaged = pages.verify(self.site.domain)
        pages.close()
        expected = self.site.expected_pages()
        assert len(done) == len(set(done)) and len(stored) == len(set(stored))
        assert expected <= set(done), sorted(expected - set(done))[:5]
        assert expected <= set(stored), sorted(expected - set(stored))[:5]
        assert not damaged
