"""What a crash costs: nothing is lost, nothing is doubled, only what was in flight is fetched again.

Real processes, a real server that counts, kill −9 at random moments.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from practice_site import RemoteSite, practice_site_process
from practice_site.site_file import site_yaml
from resources.frontier.base import State
from resources.installation import Installation
from tests.crawler.child import Child

RATE = 150
CONCURRENCY = 8
#: Requests a kill may repeat: those in flight, and under a second of results not yet committed
#: (`gather_s` and the commit itself).
REPEATED_PER_KILL = CONCURRENCY + RATE


class Workshop:
    """One practice site, one data folder, and crawls of it in child processes."""

    def __init__(self, site: RemoteSite, folder: Path) -> None:
        self.site = site
        self.installation = Installation.at(folder / "data", folder / "sites")
        self.installation.sites.mkdir()
        pace = {"rate": "unlimited", "concurrency": CONCURRENCY}
        (self.installation.sites / "practice.yaml").write_text(site_yaml(site.domain, changes={"pace": pace}))
        self.runs = 0

    def start(self, *, seed: bool) -> Child:
        """A crawl that has begun to fetch."""
        self.runs += 1
        where = self.installation
        return Child(where.data, where.sites, self.site.domain, f"run-{self.runs}", seed=seed)

    def finish(self) -> dict[str, Any]:
        """Crawl to the end; the domain's report."""
        return self.start(seed=False).report()

    def page_requests(self) -> Counter[str]:
        return Counter(
            str(r["target"] if "target" in r else r["path"])
            for r in self.site.requests()
            if "robots.txt" not in json.dumps(r) and "sitemap" not in json.dumps(r)
        )

    def check_whole(self) -> None:
        """Every page stored once, states balance, nothing leased."""
        frontier, pages = self.installation.open_frontier(), self.installation.open_pages()
        try:
            domain = self.site.domain
            stored = [head.url for head in pages.scan(domain)]
            assert len(stored) == len(set(stored))
            assert set(stored) == set(self.site.expected_pages())
            counts = frontier.counts(domain)
            assert counts == frontier.recount(domain)
            assert counts.leased == counts.pending == 0
            assert not pages.verify(domain)
            done = {record.url for record in frontier.records(domain, [State.DONE])}
            assert set(stored) <= done
        finally:
            frontier.close()
            pages.close()


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    with practice_site_process(preset="tame", n_products=250) as site:
        yield Workshop(site, tmp_path)


def test_ten_kills_lose_nothing_and_double_nothing(workshop: Workshop) -> None:
    rng = random.Random(7)
    kills = 0
    for attempt in range(10):
        child = workshop.start(seed=attempt == 0)
        time.sleep(rng.uniform(0.02, 0.25))  # the moment of the kill is the point of the test
        kills += child.alive
        child.kill()
    report = workshop.finish()
    assert report["end"] == "finished"
    workshop.check_whole()
    assert kills >= 3
    repeated = sum(n - 1 for n in workshop.page_requests().values())
    assert repeated <= kills * REPEATED_PER_KILL


def test_a_stop_repeats_nothing(workshop: Workshop) -> None:
    ends = []
    for attempt in range(4):
        child = workshop.start(seed=attempt == 0)
        time.sleep(0.15)
        child.stop()
        ends.append(child.report()["end"])
    assert "stopped" in ends
    assert workshop.finish()["end"] == "finished"
    workshop.check_whole()
    assert max(workshop.page_requests().values()) == 1


def test_a_second_night_asks_conditionally_and_only_for_what_is_due(workshop: Workshop) -> None:
    workshop.start(seed=True).report()
    workshop.check_whole()
    first = sum(workshop.page_requests().values())
    workshop.site.reset()
    workshop.site.night(2)
    report = workshop.start(seed=True).report()
    requests = workshop.site.requests()
    pages = [r for r in requests if "robots" not in json.dumps(r) and "sitemap" not in json.dumps(r)]
    assert pages
    assert len(pages) < first, "pages that are still fresh were asked for"
    assert all(r["conditional"] for r in pages)
    assert report["not_modified"] > 0
    assert 0 < report["changed"] == report["ok"] < len(pages)
    workshop.check_whole()
