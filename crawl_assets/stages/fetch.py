"""`fetched_pages`: everything that is due, fetched at each domain's own pace. One loop drives all domains of a run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

import dagster as dg

from crawl_assets.checks import merged_urls
from crawl_assets.partitions import domains
from crawl_assets.stages.facts import next_due
from crawl_assets.stages.metadata import crawl_numbers, progress_numbers
from crawl_assets.stages.night import Night
from crawl_assets.stages.progress import NightProgress
from crawl_assets.stages.seed import ASSET as SEEDED

if TYPE_CHECKING:  # imported where it is used: see definitions.py
    from resources.crawler.crawl import Crawl
    from resources.crawler.order import CrawlOrder, DomainReport
    from resources.crawler.session import CrawlSession

__all__ = ["ASSET", "SPEC", "Done", "Watch", "fetch", "order", "verdict"]

ASSET = "fetched_pages"

SPEC = dg.AssetSpec(
    ASSET,
    deps=[SEEDED],
    description=(
        "Bodies in the page store, outcomes in the fetch log, links in the frontier.\n\n"
        "A domain is done when nothing claimable is left tonight, its budget is used up or its window closed; the "
        "rest stays pending. Materialize again to continue: only what is due is requested.\n\n"
        "**When red:** read the reason in the failed run. *paused*: the site throttles or blocks us, look at the "
        "checks and `nightcrawl why`. *put_off* without a page: the site or its robots.txt was not available. "
        "*leased*: another run crawls this domain; wait for it."
    ),
    group_name="4_fetch",
    kinds={"source", "sqlite"},
    partitions_def=domains,
    skippable=True,
    owners=["team:crawl"],
)

#: How often a running fetch shows itself. Observations cost 8 ms each, so with many domains every
#: `OBSERVE_PER_DOMAIN_S` seconds more per domain: at most 1 % of a core.
OBSERVE_EVERY_S = 30.0
OBSERVE_PER_DOMAIN_S = 0.8
#: How soon a domain that has ended is reported.
LOOK_EVERY_S = 0.5

Done = Callable[[str, "DomainReport"], Awaitable[None]]


def order(night: Night, stage: Literal["fetch", "retry"], chosen: Sequence[str]) -> CrawlOrder:
    """The run's limits as a crawl order."""
    from resources.crawler.order import CrawlOrder

    minutes = night.config.max_minutes
    return CrawlOrder(
        domains=tuple(chosen),
        run_id=night.run_id,
        stage=stage,
        max_pages=night.config.max_pages,
        deadline=night.started_at + minutes * 60 if minutes is not None else None,
        audit_urls=stage == "fetch" and night.asks(merged_urls.SPEC),
    )


def verdict(report: DomainReport, *, retrying: bool = False) -> str:
    """Why the domain counts as failed, in words; empty when it does not. Numbered cases:

    1. it could not be crawled at all (leased, lost, defect); 2. pacing gave it up (throttled at its floor, circuit
    breaker); 3. it was put off, or every request failed, without one page. In a retry pass the third is no failure:
    what failed once may fail again.
    """
    if report.end in ("leased", "lost_lease", "error", "paused"):
        return f"{report.end}: {report.detail}"
    if retrying:
        return ""
    if report.end == "put_off" and not report.pages:
        return f"put off before the first page: {report.detail}"
    if report.requests and not report.pages and not report.redirects and not report.excluded:
        causes = (
            ", ".join(f"{cause} ({n})" for cause, n in sorted(report.causes.items())) or "see the fetch log"
        )
        return f"not one page in {report.requests} request(s): {causes}"
    return ""


async def fetch(night: Night, session: CrawlSession, then: Done | None = None) -> None:
    """Fetch what is pending; `then(domain, report)` is awaited for each domain that ended well."""
    if not night.in_play:
        return
    watch = Watch(night, session, ASSET, then)
    wanted = order(night, "fetch", night.in_play)
    reports = await session.crawl(wanted, stop=night.stop, on_start=watch.start)
    await watch.finish(reports, wanted.domains)


class Watch:
    """Looks at a running crawl: reports each domain the moment it has ended, shows the others now and then."""

    def __init__(self, night: Night, session: CrawlSession, asset: str, then: Done | None = None) -> None:
        self._night = night
        self._session = session
        self._asset = asset
        self._then = then
        self._told: set[str] = set()
        self._progress = NightProgress(night, asset)
        self._crawl: Crawl | None = None
        self._task: asyncio.Task[None] | None = None
        self._ended = asyncio.Event()

    def start(self, crawl: Crawl) -> None:
        self._crawl = crawl
        self._task = asyncio.create_task(self._run(crawl))

    async def finish(self, reports: list[DomainReport], expected: Iterable[str]) -> None:
        """After the crawl: tell the rest. An expected domain the crawl says nothing about fell."""
        self._ended.set()
        if self._task is not None:
            await self._task  # not cancelled: the domain it is telling of just now would be told by nobody
        if self._crawl is not None:
            await self._progress.look(self._crawl, last=True)
        for report in reports:
            await self._tell(report)
        for domain in sorted(set(expected) - self._told):
            self._night.fall(domain, self._asset, "the crawl ended without a word about it; see the log")

    async def _run(self, crawl: Crawl) -> None:
        shown = time.monotonic()
        while not await self._over(LOOK_EVERY_S):
            await self._progress.look(crawl)
            for lane in list(crawl.lanes.values()):
                # `unflushed`: results that are not durable yet are not reported as done.
                if lane.closed and not lane.unflushed and lane.report.end != "stopped":
                    await self._tell(lane.report)
            open_lanes = [lane for lane in crawl.lanes.values() if not lane.closed]
            if time.monotonic() - shown > max(OBSERVE_EVERY_S, OBSERVE_PER_DOMAIN_S * len(open_lanes)):
                shown = time.monotonic()
                for lane in open_lanes:
                    await self._night.observed(
                        self._asset,
                        progress_numbers(lane.report, len(lane.buffer) + lane.in_flight),
                        lane.domain,
                    )

    async def _over(self, seconds: float) -> bool:
        """Whether the crawl ended within that time."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), seconds)
        return self._ended.is_set()

    async def _tell(self, report: DomainReport) -> None:
        domain, night = report.domain, self._night
        if domain in self._told:
            return
        self._told.add(domain)
        storage, now = self._session.storage, self._session.clock.now()
        counts = await storage.run(storage.frontier.counts, domain)
        due = await storage.run(next_due, storage.frontier, domain, now)
        numbers = crawl_numbers(report, counts, due)
        why = verdict(report, retrying=self._asset != ASSET)
        if why:
            night.fall(domain, self._asset, why)
            await night.observed(self._asset, numbers, domain)
        elif report.end == "stopped":
            # Partial results are kept; the partition is not done, and a new run goes on where this one ended.
            night.unfinished.add(domain)
            await night.observed(self._asset, numbers, domain)
        else:
            await night.materialized(self._asset, domain, numbers)
            if self._then is not None:
                await self._then(domain, report)
