"""A worker without a plan: joins whatever domains of the frontier have work, and leaves them when they have none.

Any number of these may run beside each other and beside Dagster runs, on any machine: URLs are claimed under leases
and a shared frontier keeps one pace for all. Joining and leaving in mid-crawl is normal; a kill −9 costs what was in
flight, once its leases have expired.

Cost: a look every `LOOK_S` reads the counters of every domain, never their URLs; it grows with the number of
domains, so looks are spaced to take at most `SHARE_OF_TIME` of the storage thread.

Domains that a site file covers and the frontier has never heard of are seeded by whichever worker sees them first
(`first_sight`), unless the order says otherwise.

Site files are looked at every `SITES_LOOK_S`. When they say something else the crawl is drained as for a stop, which
hands its leases back, and goes on by the new rules. While one of them has mistakes, the old rules stay.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import socket
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from resources.frontier.base import FrontierError, WorkerBeat
from resources.site.catalog import Catalog

from .crawl import Crawl
from .first_sight import FirstSight
from .liveness import worker_name
from .order import CrawlOrder, DomainReport
from .session import CrawlSession
from .tally import Tally
from .territory import Territory

__all__ = ["Roamer", "RoamingOrder"]

log = logging.getLogger(__name__)

#: Between two looks at the site files: the time of change of each; only what has changed is read.
SITES_LOOK_S = 5.0
#: Between two looks for work.
LOOK_S = 3.0
SHARE_OF_TIME = 0.02
#: Domains asked in one look whether something of theirs is claimable; the order is random, so all have their turn.
ASKED = 500
#: An idle worker still shows itself; less often than a working one.
IDLE_BEAT_S = 10.0
#: A domain that ended for a reason (paused, put off, out of its window) is not tried again for that long.
SHUN_S = 300.0
#: These ends say "not now"; `finished` and `budget` only that nothing was left to do.
_NOT_NOW = frozenset({"leased", "lost_lease", "error", "paused", "put_off", "window"})


@dataclass(frozen=True, slots=True)
class RoamingOrder:
    """`domains`: only these; empty: all that a site file covers. `idle_close_s` None: stay until stopped."""

    run_id: str
    domains: tuple[str, ...] = ()
    idle_close_s: float | None = None
    most_domains: int = 256  # at once: bounds memory and connections
    concurrency: int = 64
    worker: str = field(default_factory=worker_name)
    seed_new: bool = True  # domains that the frontier has never heard of


class Roamer:
    """`await run(stop)`; `crawl` is the crawl that goes on, if one does."""

    def __init__(self, session: CrawlSession, order: RoamingOrder, rng: random.Random | None = None) -> None:
        self.session = session
        self.order = order
        self.crawl: Crawl | None = None
        self.tally = Tally()
        self._rng = rng or random.Random()
        self._started = session.clock.now()
        self._shunned: dict[str, float] = {}
        self._beat_at = 0.0
        self._others_work = False
        self._first_sight = FirstSight(session, order.worker, self._rng) if order.seed_new else None
        self._unseeded: list[str] = []
        self._sites_at = self._started
        self._sites_wrong: list[str] = []
        self._new_sites: Catalog | None = None
        #: Ends the crawl that goes on, and not the worker.
        self._drain = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> int:
        """Serve until stopped or idle for long enough; the number of pages. StorageStuck when storage stays away."""
        crawling: asyncio.Task[list[DomainReport]] | None = None
        clock = self.session.clock
        busy_at = clock.now()
        try:
            while not stop.is_set():
                before = clock.now()
                found = await self._look()
                took = clock.now() - before
                if crawling is not None and crawling.done():
                    self._note(crawling.result())
                    crawling = None
                await self._look_at_sites()
                if self._new_sites is not None and crawling is None:
                    self.session.territory = Territory(self._new_sites)
                    self._new_sites = None
                    self._shunned.clear()
                    continue
                if self._first_sight is not None:
                    self._first_sight.seed(self._unseeded)
                if self._new_sites is not None:
                    self._drain.set()
                elif crawling is not None:
                    busy_at = clock.now()
                    self._join(found)
                elif found:
                    busy_at = clock.now()
                    crawling = asyncio.create_task(self._crawl(found))
                elif self._others_work or (self._first_sight is not None and self._first_sight.busy):
                    busy_at = clock.now()  # their pages may bring work, and what a dead one held comes back
                    await self._show_idle()
                elif self.order.idle_close_s is not None and clock.now() - busy_at >= self.order.idle_close_s:
                    break
                else:
                    await self._show_idle()
                await self._rest(max(LOOK_S, took / SHARE_OF_TIME), crawling, stop)
        finally:
            if self._first_sight is not None:
                await self._first_sight.stop()
            if crawling is not None:
                self._drain.set()
                self._note(await crawling)
        return self.pages

    @property
    def pages(self) -> int:
        """Pages answered for, so far."""
        sums = self.tally.sums(list(self.crawl.reports.values()) if self.crawl is not None else ())
        return sums["ok"] + sums["not_modified"]

    # -- site files ----------------------------------------------------------------------------------
    async def _look_at_sites(self) -> None:
        """Find out whether the site files say something else than what is served."""
        now = self.session.clock.now()
        if now - self._sites_at < SITES_LOOK_S:
            return
        self._sites_at = now
        catalog, problems = await asyncio.to_thread(self.session.installation.usable_catalog)
        wrong = [str(problem) for problem in problems]
        if wrong:
            if wrong != self._sites_wrong:
                log.warning("the site files have mistakes, the rules from before stay: %s", "; ".join(wrong))
            self._new_sites = None
        elif catalog.sites != self.session.territory.catalog.sites:
            log.warning("the site files have changed: going on by their new rules")
            self._new_sites = catalog
        self._sites_wrong = wrong

    # -- looking -------------------------------------------------------------------------------------
    async def _look(self) -> list[str]:
        """Domains with claimable work that nobody here works on: first those nobody works on at all, in random order.

        So workers spread by themselves, and come together only where there is too little else to do.
        """
        room = self.order.most_domains - len(self._open())
        self._unseeded = []
        if room <= 0:
            return []
        now = self.session.clock.now()
        if self.crawl is not None:
            self._shun(self.crawl.reports.values())
        self._shunned = {domain: until for domain, until in self._shunned.items() if until > now}
        return await self.session.storage.patiently(
            self._with_work, self._open() | self._shunned.keys(), room, now
        )

    def _with_work(self, but: set[str], room: int, now: float) -> list[str]:
        """Runs in the storage thread. Up to `room` domains with claimable work, of at most `ASKED` that may have."""
        frontier, territory = self.session.storage.frontier, self.session.territory
        only = set(self.order.domains)
        counts = frontier.all_counts()
        self._others_work = any(counts[domain].leased for domain in counts.keys() - but)
        candidates = [
            domain
            for domain, each in counts.items()
            if (each.pending or each.leased)
            and domain not in but
            and (not only or domain in only)
            and territory.catalog.for_domain(domain) is not None
        ]
        self._rng.shuffle(candidates)
        candidates.sort(key=lambda domain: counts[domain].leased > 0)
        found: list[str] = []
        for domain in candidates[:ASKED]:
            if not counts[domain].pending:
                frontier.reap(now, domain)  # a dead worker's, if nobody else works on the domain
            ready_at = frontier.next_ready_at(domain, now)
            if ready_at is not None and ready_at <= now + LOOK_S:
                found.append(domain)
                if len(found) >= room:
                    break
        if self._first_sight is not None:
            self._unseeded = self._first_sight.unseeded(frontier, counts, only, found, now)
        return found

    def _open(self) -> set[str]:
        if self.crawl is None:
            return set()
        return {domain for domain, lane in self.crawl.lanes.items() if not lane.closed}

    # -- serving -------------------------------------------------------------------------------------
    async def _crawl(self, domains: list[str]) -> list[DomainReport]:
        order = CrawlOrder(
            tuple(domains),
            self.order.run_id,
            worker=self.order.worker,
            concurrency=self.order.concurrency,
        )
        self._drain = asyncio.Event()
        return await self.session.crawl(order, stop=self._drain, on_start=self._on_start)

    def _on_start(self, crawl: Crawl) -> None:
        self.crawl = crawl

    def _join(self, domains: Iterable[str]) -> None:
        assert self.crawl is not None
        for domain in domains:
            before = self.crawl.reports.get(domain)
            if self.crawl.join(domain) and before is not None:
                self.tally.end(before)

    def _note(self, reports: Iterable[DomainReport]) -> None:
        """A crawl has ended; `reports` are of the domains it began with, its own also of those that joined."""
        crawl, self.crawl = self.crawl, None
        ended = list(crawl.reports.values() if crawl is not None else reports)
        for report in ended:
            self.tally.end(report)
        self._shun(ended)

    def _shun(self, reports: Iterable[DomainReport]) -> None:
        for report in reports:
            if report.ended_at and report.end in _NOT_NOW:
                self._shunned[report.domain] = report.ended_at + SHUN_S

    async def _rest(
        self, seconds: float, crawling: asyncio.Task[list[DomainReport]] | None, stop: asyncio.Event
    ) -> None:
        """Sleep, but not past a stop or the end of the crawl."""
        sleeping = asyncio.ensure_future(self.session.clock.sleep(seconds))
        stopping = asyncio.ensure_future(stop.wait())
        waits: list[asyncio.Future[Any]] = [sleeping, stopping, *([crawling] if crawling is not None else [])]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        sleeping.cancel()
        stopping.cancel()

    async def _show_idle(self) -> None:
        now = self.session.clock.now()
        if now - self._beat_at < IDLE_BEAT_S:
            return
        self._beat_at = now
        beat = WorkerBeat(
            self.order.worker, socket.gethostname(), os.getpid(), self._started, now,
            "idle", self.pages, self.order.run_id,
        )  # fmt: skip
        try:
            await self.session.storage.run(self.session.storage.frontier.beat, beat)
        except FrontierError:
            self._beat_at = 0.0  # the next look waits for the storage and says why
