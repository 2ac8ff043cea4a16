"""The course of a night: canaries, seeds, fetch, retry pass, raw bodies, tables, audit, publish.

The web comes first, for all domains in one loop. A domain that is done there goes on to its bodies and tables while
the others are still being fetched: a slow domain holds up nobody. Publishing replaces the whole file, so it happens
once a while and at the end.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from crawl_assets.checks import (
    audit,
    ban_signals,
    budget,
    canary,
    conservation,
    coverage,
    freshness,
    frontier_novelty,
    integrity,
    merged_urls,
    no_duplicate_fetch,
    robots_changed,
    truncation,
)
from crawl_assets.stages import fetch, mends, publish, raw, retry, seed, tables, upkeep
from crawl_assets.stages.against_published import LABEL, against_published
from crawl_assets.stages.facts import listed_by_state, log_of_run, robots_bodies
from crawl_assets.stages.night import Night
from crawl_assets.stages.night_plan import plan_the_rest
from crawl_assets.stages.stoppable import until_stopped

if TYPE_CHECKING:  # imported where it is used: see definitions.py
    from resources.crawler.order import DomainReport
    from resources.crawler.session import CrawlSession
    from resources.frontier.base import StateCounts
    from resources.warehouse.parse.report import ParseReport
    from resources.warehouse.publish.audit import AuditProblem

__all__ = ["CHECKS", "SPECS", "run_course"]

SPECS = (seed.SPEC, fetch.SPEC, retry.SPEC, raw.SPEC, *tables.SPECS, publish.SPEC)

_REQUEST_CHECKS = (
    no_duplicate_fetch.SPEC,
    frontier_novelty.SPEC,
    ban_signals.SPEC,
    truncation.SPEC,
)
CHECKS = (
    canary.SPEC,
    robots_changed.SPEC,
    conservation.SPEC,
    *_REQUEST_CHECKS,
    budget.SPEC,
    merged_urls.SPEC,
    coverage.SPEC,
    integrity.SPEC,
    *audit.SPECS,
    freshness.SPEC,
)

_ON_THE_WEB = (seed.ASSET, fetch.ASSET, retry.ASSET)
_AFTER_THE_WEB = (raw.ASSET, *tables.TABLES, publish.ASSET)

#: Domains loaded in one go: they share the opening of the warehouse.
LOADED_TOGETHER = 200
#: Publishing costs as much as the whole published file; in between, finished domains wait at most this long.
PUBLISH_EVERY_S = 600.0


async def run_course(night: Night) -> None:
    """Do what was selected, for the domains in play, until done or asked to stop."""
    from resources.crawler.session import CrawlSession

    if night.does(fetch.ASSET) or night.does(retry.ASSET):
        await night.tag_run()
        await asyncio.to_thread(plan_the_rest, night)
    elif any(night.does(a) for a in _AFTER_THE_WEB):
        await mends.join_latest_night(night)
    rest = Rest(night)
    working = asyncio.create_task(rest.run())
    try:
        if any(night.does(a) for a in _ON_THE_WEB) or any(
            night.asks(s) for s in (canary.SPEC, robots_changed.SPEC)
        ):
            async with CrawlSession(night.installation, night.run_id, catalog=night.catalog) as session:
                rest.on_leaving = lambda leaving: session.pacer.end_night(
                    night.name, session.clock.now(), leaving
                )
                try:
                    await _on_the_web(night, session, rest)
                finally:
                    rest.on_leaving = lambda leaving: None
        for domain in night.in_play:
            await rest.add(domain)
        await rest.close()
        await working
        if night.does(raw.ASSET) and not night.stop.is_set():
            await upkeep.upkeep(night)
        await night.close_checks(CHECKS)
    finally:
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working


# -- on the web --------------------------------------------------------------------------------------------
async def _on_the_web(night: Night, session: CrawlSession, rest: Rest) -> None:
    for domain in night.in_play:
        try:
            if (rules := session.territory.rules(domain)) is not None:
                _ = rules.profile
        except (
            Exception
        ) as error:  # a secret that is missing, a pattern that does not compile: this domain's alone
            night.fall(domain, "site file", str(error))
    if night.asks(canary.SPEC):
        results = await until_stopped(session.canaries(night.in_play), night.stop)
        for domain in night.in_play if results is not None else ():
            await night.found(canary.SPEC, domain, canary.canary(domain, results or {}))
    if night.does(seed.ASSET):
        await until_stopped(seed.seed(night, session), night.stop)
    if night.asks(robots_changed.SPEC):
        for domain in night.in_play:
            before, now = await night.storage.run(
                robots_bodies, night.storage.frontier, night.storage.pages, domain
            )
            await night.found(robots_changed.SPEC, domain, robots_changed.robots_changed(before, now))

    async def fetched(domain: str, report: DomainReport) -> None:
        night.reports[domain] = report
        if not night.does(retry.ASSET):
            await rest.add(domain)
        elif not await retry.eligible(night, session, domain):
            await retry.nothing_to_do(night, session, domain)
            await rest.add(domain)

    if night.does(fetch.ASSET):
        await fetch.fetch(night, session, fetched)
    if night.does(retry.ASSET):
        left = [d for d in night.in_play if d not in rest.taken]
        await retry.retry(night, session, left, lambda domain, _: rest.add(domain))
    if night.does(fetch.ASSET) or night.does(retry.ASSET):
        session.pacer.end_night(night.name, session.clock.now())


# -- after the web -----------------------------------------------------------------------------------------
class Rest:
    """Takes domains that are done with the web through their bodies, tables and publication."""

    def __init__(self, night: Night) -> None:
        self._night = night
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self.taken: set[str] = set()
        #: Told which domains leave the web, before their tables are made: their pace is written down by then.
        self.on_leaving: Callable[[Collection[str]], object] = lambda leaving: None
        self._ready: list[str] = []
        self._audited: dict[str, list[AuditProblem]] = {}
        self._changes: dict[str, dict[str, Any]] = {}
        self._published_at = time.monotonic()

    async def add(self, domain: str) -> None:
        if domain not in self.taken:
            self.taken.add(domain)
            await self._queue.put(domain)

    async def close(self) -> None:
        await self._queue.put(None)

    async def run(self) -> None:
        """Until closed. Domains that wait are taken together."""
        async with raw.RawBodies(self._night) as bodies:
            await self._take(bodies)

    async def _take(self, bodies: raw.RawBodies) -> None:
        night = self._night
        with tables.TableMaker(night) as maker:
            more = True
            while more:
                group = [await self._queue.get()]
                while len(group) < LOADED_TOGETHER and not self._queue.empty():
                    group.append(self._queue.get_nowait())
                more = None not in group
                await self._group([d for d in group if d is not None], bodies, maker)
                if not more or time.monotonic() - self._published_at > PUBLISH_EVERY_S:
                    await self._publish(last=not more)

    async def _group(self, group: list[str], bodies: raw.RawBodies, maker: tables.TableMaker) -> None:
        night = self._night
        wanted: list[str] = []
        self.on_leaving(group)
        for domain in group:
            if night.stop.is_set():
                night.unfinished.add(domain)
                continue
            await _fetch_checks(night, domain)
            if domain in night.in_play and (night.does(raw.ASSET) or night.asks(integrity.SPEC)):
                await _raw(night, domain, bodies)
            if domain in night.in_play and self._wants_tables:
                wanted.append(domain)
        parsed = await maker.parse(wanted) if wanted else {}
        if parsed and not night.stop.is_set():
            await self._load(parsed, maker)
        self._ready += [d for d in group if d in night.in_play]

    @property
    def _wants_tables(self) -> bool:
        return any(self._night.does(t) for t in tables.TABLES) or any(
            self._night.asks(s) for s in audit.SPECS
        )

    async def _load(self, parsed: dict[str, ParseReport], maker: tables.TableMaker) -> None:
        night = self._night
        for domain, (load, audited) in (await maker.load(parsed)).items():
            if domain not in night.in_play:
                continue
            await maker.tell(domain, parsed[domain], load, audited)
            report = night.reports.get(domain)
            cut_short = report.end if report is not None and not report.complete else ""
            self._audited[domain] = [
                p for p in audited.problems if not cut_short or p.rule not in audit.FORGIVABLE
            ]
            against = {LABEL: against_published(domain, audited.changes)}
            self._changes[domain] = against
            found = audit.audit_findings(
                audited.problems,
                audited.rows,
                cut_short=cut_short,
                causes=_seen_tonight(report),
                more=against,
            )
            for spec in audit.SPECS:
                if night.asks(spec):
                    await night.found(spec, domain, found[spec.name])

    async def _publish(self, *, last: bool) -> None:
        night = self._night
        self._published_at = time.monotonic()
        chosen, self._ready = self._ready, []
        chosen = [d for d in chosen if d in night.in_play or night.config.publish_anyway]
        if night.does(publish.ASSET) and not night.stop.is_set() and (chosen or (last and night.fallen)):
            await publish.publish_domains(night, chosen, self._audited, self._changes)
        if night.asks(freshness.SPEC):
            await _freshness(night, chosen, left_behind=tuple(night.fallen) if last else ())


async def _fetch_checks(night: Night, domain: str) -> None:
    storage, report = night.storage, night.reports.get(domain)
    frontier = storage.frontier
    counted = await storage.run(frontier.counts, domain)
    if night.asks(conservation.SPEC):

        def facts() -> tuple[StateCounts, bool]:
            held = frontier.domain_lease(domain, time.time()) is not None
            return frontier.recount(domain), held

        recounted, held = await storage.run(facts)
        # Held by this run itself, the domain is quiet by now: its results are written and nothing is in flight.
        in_use = held and report is None
        await night.found(
            conservation.SPEC, domain, conservation.conservation(counted, recounted, in_use=in_use)
        )
    if report is not None:
        cut_short = not report.complete
        if report.requests:  # without a request they have nothing to say, and are shown as skipped
            await _request_checks(night, domain, report, cut_short=cut_short)
        if night.asks(budget.SPEC):
            await night.found(budget.SPEC, domain, budget.budget(report, counted.pending))
        if night.asks(merged_urls.SPEC):
            await night.found(merged_urls.SPEC, domain, merged_urls.merged_urls(report.merged))
    if night.asks(coverage.SPEC):
        await _coverage(night, domain, cut_short=report is not None and not report.complete)


async def _request_checks(night: Night, domain: str, report: DomainReport, *, cut_short: bool) -> None:
    storage = night.storage
    if night.asks(no_duplicate_fetch.SPEC):
        rows = await storage.run(lambda: list(log_of_run(storage.frontier, domain, night.run_id)))
        await night.found(no_duplicate_fetch.SPEC, domain, no_duplicate_fetch.no_duplicate_fetch(rows))
    if night.asks(frontier_novelty.SPEC):
        new, distinct = await storage.run(storage.pages.new_bodies, domain, night.started_at)
        finding = frontier_novelty.frontier_novelty(
            new, distinct, report.requests, report.new_urls, cut_short=cut_short
        )
        await night.found(frontier_novelty.SPEC, domain, finding)
    for spec, finding in (
        (ban_signals.SPEC, ban_signals.ban_signals(report)),
        (truncation.SPEC, truncation.truncation(report)),
    ):
        if night.asks(spec):
            await night.found(spec, domain, finding)


async def _coverage(night: Night, domain: str, *, cut_short: bool) -> None:
    frontier, name = night.storage.frontier, f"sitemap urls:{domain}"
    listed, missing = await night.storage.run(listed_by_state, frontier, domain)
    seeded = night.seeded.get(domain)
    before = await night.storage.run(frontier.get_value, name)
    if seeded is not None and seeded.sitemap_urls:
        await night.storage.run(frontier.set_value, name, str(seeded.sitemap_urls))
    site = night.catalog.for_domain(domain)
    least = site.quality.min_coverage if site is not None else 0.0
    finding = coverage.coverage(
        listed,
        seeded.sitemap_urls if seeded is not None else None,
        int(before) if before is not None else None,
        least,
        missing=missing,
        cut_short=cut_short,
    )
    await night.found(coverage.SPEC, domain, finding)


async def _raw(night: Night, domain: str, bodies: raw.RawBodies) -> None:
    found = await bodies.domain(domain)
    if found is not None and night.asks(integrity.SPEC):
        await night.found(
            integrity.SPEC, domain, integrity.integrity(found.pages, [h.url for h in found.damaged])
        )


def _seen_tonight(report: DomainReport | None) -> str:
    """What else was seen of the domain tonight, as a hint at the cause of missing rows."""
    if report is None:
        return ""
    seen = (
        (report.walls, "walls"),
        (report.forbidden, "forbidden (403)"),
        (report.server_errors, "server errors"),
        (report.timeouts + report.connect_errors, "connection failures"),
        (report.truncated, "truncated bodies"),
    )
    return ", ".join(f"{n} {words}" for n, words in seen if n)


async def _freshness(night: Night, chosen: Sequence[str], left_behind: Sequence[str] = ()) -> None:
    """`left_behind`: domains that fell. Their readers have older rows, and these age; where there are none yet, what
    they fell at says it already."""

    def look() -> dict[str, float]:
        from resources.warehouse.connection import WarehouseError
        from resources.warehouse.read import published

        try:
            with published(night.installation) as connection:
                rows = connection.execute("SELECT domain, epoch(published_at) FROM domains").fetchall()
        except WarehouseError:
            return {}  # nothing was ever published
        return {domain: float(at) for domain, at in rows if at is not None}

    found = await asyncio.to_thread(look)
    for domain in (*chosen, *(d for d in left_behind if d in found and d not in chosen)):
        site = night.catalog.for_domain(domain)
        if site is not None:
            finding = freshness.freshness(found.get(domain), time.time(), site.quality.max_age)
            await night.found(freshness.SPEC, domain, finding)
