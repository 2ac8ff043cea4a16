"""`nightcrawl worker`: any number of processes serve the domains of one frontier, come and go."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from tests.deploy.fleet import Fleet, fleet


def until(reached: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end, f"not reached in {seconds:g} s"
        time.sleep(0.1)


def read_to(process: object, words: str) -> str:
    """The line that has `words`."""
    out = process.stdout  # type: ignore[attr-defined]
    while line := out.readline():
        if words in line:
            return str(line)
    raise AssertionError(f"it ended without {words!r}")


@pytest.mark.slow
def test_workers_share_domains_and_one_that_is_killed_costs_nothing(tmp_path: Path) -> None:
    with fleet(tmp_path, sites=3, books=120, rate=10, ramp_up=0) as house:
        first = house.nightcrawl("worker", "--seed", "--idle-close", "3")
        read_to(first, "serves")
        second = house.nightcrawl("worker", "--idle-close", "3")
        read_to(second, "serves")
        until(lambda: len(_working(house)) == 2 and house.fetched() > 60)
        first.send_signal(signal.SIGKILL)
        first.wait()
        third = house.nightcrawl("worker", "--idle-close", "3")  # as an orchestrator does; it buries the dead
        pages = [
            int(read_to(worker, "handed back").split()[0].replace(",", "")) for worker in (second, third)
        ]
        assert [worker.wait(60) for worker in (second, third)] == [0, 0]
        assert all(pages), pages
        house.check_whole()
        # Only what was in flight or not yet written was fetched again.
        assert house.asked_twice() <= 10 * 3 * 2 + 64


def _working(house: Fleet) -> list[str]:
    frontier = house.installation.open_frontier()
    try:
        return [beat.worker for beat in frontier.workers(time.time()) if beat.doing not in ("", "idle")]
    finally:
        frontier.close()


@pytest.mark.slow
def test_a_stopped_worker_hands_everything_back_and_shows_metrics_until_then(tmp_path: Path) -> None:
    with fleet(tmp_path, sites=2, rate=10, ramp_up=0) as house:
        worker = house.nightcrawl("worker", "--seed", "--metrics-port", "0")
        address = read_to(worker, "metrics on").split()[-1]
        until(lambda: house.fetched() > 10)
        text = httpx.get(address).text
        assert 'nightcrawl_worker_outcomes_total{outcome="ok"}' in text
        assert "nightcrawl_worker_domains 2.0" in text
        worker.send_signal(signal.SIGTERM)
        assert "handed back" in read_to(worker, "handed back")
        assert worker.wait(30) == 143
        counts = house.counts().values()
        assert sum(each.leased for each in counts) == 0 < sum(each.pending for each in counts)


@pytest.mark.slow
def test_a_site_that_is_added_while_workers_run_is_seeded_by_one_of_them(tmp_path: Path) -> None:
    with fleet(tmp_path, sites=3) as house:
        file = house.folder / "sites" / "practice.yaml"
        later = house.folder / "practice.yaml"
        file.rename(later)
        workers = [house.nightcrawl("worker", "--idle-close", "12") for _ in range(2)]
        for worker in workers:
            read_to(worker, "serves")
        later.rename(file)
        assert [worker.wait(120) for worker in workers] == [0, 0]
        house.check_whole()
        for site in house.sites:
            sitemaps = [seen["path"] for seen in site.requests() if "sitemap" in seen["path"]]
            assert sitemaps and len(sitemaps) == len(set(sitemaps)), (site.domain, sitemaps)
        assert house.asked_twice() == 0
