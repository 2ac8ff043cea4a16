"""How a domain's night may end before its URLs do: nothing is lost, nothing is burnt, the report says why."""

from __future__ import annotations

import asyncio
import socket
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from crawl_assets.checks.ban_signals import ban_signals
from practice_site import practice_site_process
from resources.crawler.order import CrawlOrder
from resources.crawler.session import CrawlSession
from resources.frontier.base import State
from resources.pacing.breaker import FAILURES_TO_OPEN
from resources.pacing.ledger.base import LedgerRow
from tests.crawler.house import House


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.9", 0))
        return int(probe.getsockname()[1])


# -- pages that are none ---------------------------------------------------------------------------------------------
def test_a_page_that_says_not_found_is_a_failure_and_no_wall(tmp_path: Path) -> None:
    with practice_site_process(n_products=10, soft_404s=4) as site:
        house = House(tmp_path)
        house.write(site.domain)
        report = house.night(site.domain)[site.domain]
        assert report.causes["wall_soft_404"] == 4
        assert report.walls == 0
        assert ban_signals(report).passed


# -- nothing left to do ------------------------------------------------------------------------------------------------
def test_the_last_results_end_the_night_and_no_timer_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last claims are of pages that robots.txt forbids: what waits for them to be written does so by itself."""
    monkeypatch.setattr("resources.crawler.crawl.TICK_S", 25.0)
    monkeypatch.setattr("resources.pages.sqlite.store.SqlitePages.gather_s", 25.0)
    with practice_site_process(n_products=16) as site:
        house = House(tmp_path)
        house.write(site.domain)
        for _ in range(2):
            report = house.night(site.domain, deadline=time.time() + 20)[site.domain]
            assert report.end == "finished"
        assert house.stored(site) == site.expected_pages()
        assert house.excluded(site.domain)["robots"] > 0


# -- the circuit breaker -------------------------------------------------------------------------------------------
def test_a_dead_domain_is_stopped_by_its_circuit_breaker_and_the_others_go_on(tmp_path: Path) -> None:
    dead = f"127.0.0.9:{free_port()}"
    with practice_site_process(n_products=60) as site:
        house = House(tmp_path)
        house.write(site.domain)
        seeds = [f"http://{dead}/page/{n}" for n in range(200)]
        house.write(dead, name="dead", seeds=seeds, sitemaps="off", robots="ignore", canaries=[])
        began = time.monotonic()
        reports = house.night(site.domain, dead)
        assert time.monotonic() - began < 60
        assert reports[site.domain].end == "finished"
        assert house.stored(site) == site.expected_pages()
        report = reports[dead]
        assert (report.end, report.detail.split(":")[0]) == ("paused", "circuit breaker")
        assert "connect_error" in report.detail
        # Those in flight when it opened are all that goes beyond it.
        assert report.requests <= FAILURES_TO_OPEN["connect_error"] + house.pace["concurrency"]
        counts = house.counts(dead)
        assert (counts.pending, counts.failed) == (200, 0)


def test_a_site_that_dies_in_the_night_keeps_its_urls_pending(tmp_path: Path) -> None:
    with practice_site_process(n_products=60) as site:
        house = House(tmp_path)
        house.write(site.domain, cache={"ttl": 0})
        house.night(site.domain)
        site.set(down="reset")
        site.night(2)
        report = house.night(site.domain)[site.domain]
        assert (report.end, report.pages) == ("paused", 0)
        assert house.counts(site.domain).pending > 50
        ledger = house.installation.open_ledger()
        row = ledger.load(site.domain)
        ledger.close()
        assert isinstance(row, LedgerRow)
        assert row.breaker_cause == "connect_error"
        assert row.breaker_until > time.time(), "the next run begins with one probe, and not before"


# -- put off to a later night --------------------------------------------------------------------------------------
def test_a_retry_after_beyond_the_maximum_puts_the_domain_off(tmp_path: Path) -> None:
    with practice_site_process(n_products=60, rate=0.001, burst=10, retry_after_seconds=7_200) as site:
        house = House(tmp_path)
        house.write(site.domain)
        began = time.monotonic()
        report = house.night(site.domain)[site.domain]
        assert time.monotonic() - began < 30
        assert report.end == "put_off"
        assert "Retry-After: 7200" in report.detail
        counts = house.counts(site.domain)
        assert counts.failed == 0
        assert counts.pending > 40
        ledger = house.installation.open_ledger()
        row = ledger.load(site.domain)
        ledger.close()
        assert isinstance(row, LedgerRow) and row.owed_until > time.time() + 7_000
        # Sooner than that nothing is asked, however often somebody starts a run.
        site.reset()
        assert house.night(site.domain)[site.domain].end == "put_off"
        assert site.stats()["by_kind"].keys() <= {"robots", "sitemap"}


def test_a_crawl_delay_beyond_the_maximum_gives_one_page_and_puts_the_rest_off(tmp_path: Path) -> None:
    with practice_site_process(n_products=20, crawl_delay=3_600.0) as site:
        house = House(tmp_path, pace={"rate": 10.0})
        house.write(site.domain, sitemaps="off")
        report = house.night(site.domain)[site.domain]
        assert (report.end, report.requests) == ("put_off", 1)
        assert "crawl-delay: 3600 s" in report.detail
        pending = house.counts(site.domain).pending
        assert pending > 10
        report = house.night(site.domain)[site.domain]
        assert (report.end, report.requests) == ("put_off", 0)
        assert house.counts(site.domain).pending >= pending


# -- windows -------------------------------------------------------------------------------------------------------
def window(opens: timedelta, closes: timedelta) -> dict[str, Any]:
    now = datetime.now(UTC)
    return {"start": f"{now + opens:%H:%M}", "end": f"{now + closes:%H:%M}", "zone": "UTC"}


def test_a_crawl_that_meets_the_end_of_its_window_checkpoints_and_ends(tmp_path: Path) -> None:
    """The clock of the crawl runs until a second before the window closes, so that the test need not wait for it."""
    with practice_site_process(n_products=300) as site:
        house = House(
            tmp_path,
            pace={"rate": 100.0, "ramp_up": 0, "window": window(timedelta(hours=-1), timedelta(hours=1))},
        )
        house.write(site.domain)
        closes = (datetime.now(UTC) + timedelta(hours=1)).replace(second=0, microsecond=0).timestamp()

        async def go() -> Any:
            clock = ShiftedClock(closes - 1.5 - time.time())
            async with CrawlSession(house.installation, "r", clock=clock) as session:
                await session.seed([site.domain])
                return (await session.crawl(CrawlOrder((site.domain,), "r")))[0]

        report = asyncio.run(go())
        assert report.end == "window"
        assert "only within" in report.detail
        assert 0 < report.pages < 300
        counts = house.counts(site.domain)
        assert counts.done == report.pages + report.redirects
        assert counts.pending > 0


def test_outside_its_window_a_domain_is_not_asked_for_a_page(tmp_path: Path) -> None:
    with practice_site_process(n_products=20) as site:
        house = House(tmp_path, pace={"rate": 50.0, "window": window(timedelta(hours=2), timedelta(hours=4))})
        house.write(site.domain)
        assert house.night(site.domain)[site.domain].end == "window"
        assert site.stats()["by_kind"].keys() <= {"robots", "sitemap"}


class ShiftedClock:
    """The real clock, some seconds away."""

    def __init__(self, shift: float) -> None:
        self._shift = shift

    def now(self) -> float:
        return time.time() + self._shift

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


# -- the retry pass ------------------------------------------------------------------------------------------------
def test_the_retry_pass_goes_in_waves_by_cause_and_takes_up_only_what_was_asked_for(tmp_path: Path) -> None:
    with practice_site_process(
        n_products=40, broken_pages=4, dead_links=4, truncated_share=0.1, truncated_attempts=99
    ) as site:
        house = House(tmp_path)
        house.write(site.domain, retry={"attempts": 1, "retry_pass_attempts": 3, "base": 0.01, "cap": 0.02})
        house.night(site.domain)
        failed = {r.url: r.cause for r in house.records(site.domain, State.FAILED)}
        assert {"http_500", "http_404", "truncated"} <= set(failed.values())

        def retry(**how: Any) -> tuple[dict[str, int], list[str]]:
            site.reset()

            async def go() -> dict[str, int]:
                async with CrawlSession(house.installation, "retry") as session:
                    taken, _ = await session.retry(CrawlOrder((site.domain,), "retry"), **how)
                    return taken

            taken = asyncio.run(go())
            return taken, [site.origin + r["path"] for r in site.requests() if r["kind"] != "robots"]

        truncated = [url for url, cause in failed.items() if cause == "truncated"]
        taken, asked = retry(causes=["truncated"])
        assert taken == {site.domain: len(truncated)}
        assert set(asked) == set(truncated)
        taken, asked = retry(force=True)
        assert taken == {site.domain: len(failed)}
        first = {
            cause: min(n for n, url in enumerate(asked) if failed[url] == cause)
            for cause in set(failed.values())
        }
        last = {
            cause: max(n for n, url in enumerate(asked) if failed[url] == cause)
            for cause in set(failed.values())
        }
        assert last["truncated"] < first["http_404"], "dead links are for the last wave"
        assert last["http_500"] < first["http_404"]
        for record in house.records(site.domain, State.FAILED):
            assert record.next_eligible_at is not None
