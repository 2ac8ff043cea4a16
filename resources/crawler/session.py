"""Everything one process needs to work on domains: opened together, closed together.

    async with CrawlSession(installation, run_id="…") as session:
        await session.seed(["shop.example"])
        reports = await session.crawl(CrawlOrder(("shop.example",), run_id="…"))

On entry, what a dead process of this machine left behind is cleared: its URL leases go back to pending, so
a crawl resumes at once instead of waiting for leases to expire.
"""

from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType

from resources.clock import Clock, SystemClock
from resources.fetcher.base import Fetcher
from resources.fetcher.proxies import ProxiedFetcher
from resources.fetcher.web import WebFetcher
from resources.frontier.base import Frontier
from resources.installation import Installation
from resources.pacing.base import PaceEvent
from resources.pages.base import PageStore
from resources.site.catalog import Catalog

from .canaries import CanaryResult, check_canary
from .collector import rare_collections
from .crawl import Crawl
from .heap import keep_heap
from .liveness import process_start
from .order import CrawlOrder, DomainReport
from .parser_guard import ParserGuard, parsing_folder, suspects
from .robots_gate import RobotsGate
from .seeding import Seeder, SeedReport
from .storage import Storage
from .taxonomy import waves_of
from .territory import DomainRules, Territory
from .watch import tell

__all__ = ["CrawlSession"]

#: Domains seeded at once: their sitemaps are on different hosts, so this is only about memory.
SEEDING_AT_ONCE = 16
#: How the problem begins that ended the seeding of a domain.
SEEDING_FAILED = "seeding failed"
#: Domains whose canaries are asked at once: of a thousand at once the last would have waited for this machine, and the
#: time it took would be taken for the site's.
CANARIES_AT_ONCE = 32


class CrawlSession:
    """See the module docstring. `fetcher` and `clock` can be given for tests."""

    def __init__(
        self,
        installation: Installation,
        run_id: str,
        *,
        catalog: Catalog | None = None,
        fetcher: Fetcher | None = None,
        clock: Clock | None = None,
        rng: random.Random | None = None,
    ) -> None:
        self.installation = installation
        self.run_id = run_id
        self.clock = clock or SystemClock()
        self.territory = Territory(catalog or installation.catalog())
        self._rng = rng or random.Random()
        self.fetcher = fetcher or ProxiedFetcher(WebFetcher(clock=self.clock), self.clock, self._rng)

    async def __aenter__(self) -> CrawlSession:
        self.installation.prepare()
        self.storage = await Storage(self._open).open()
        self.ledger = self.installation.open_ledger()
        self.pacer = self.installation.open_pacer(self.clock, self.ledger, self._rng)
        self.gate = RobotsGate(self.fetcher, self.storage, self.clock, self.run_id)
        suspected = await self.storage.run(self._bury_the_dead)
        self.guard = ParserGuard(parsing_folder(self.installation.data), suspected)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.fetcher.close()
        await self.guard.close()
        await self.storage.close()
        self.pacer.close()
        self.ledger.close()

    def _open(self) -> tuple[Frontier, PageStore]:
        return self.installation.open_frontier(), self.installation.open_pages()

    def _bury_the_dead(self) -> list[bytes]:
        """Hand back what dead processes of this machine hold; keys of pages at which one ended (see `slot`)."""
        frontier, now = self.storage.frontier, self.clock.now()
        here = socket.gethostname()
        for beat in frontier.workers(now, max_age_s=30 * 86400.0):
            if beat.host == here and process_start(beat.pid) is None:
                frontier.release_worker(beat.worker, now)
        frontier.reap(now)
        return suspects(frontier, parsing_folder(self.installation.data))

    # -- stages --------------------------------------------------------------------------------------
    async def seed(self, domains: Sequence[str], *, force: bool = False) -> list[SeedReport]:
        """Seeds, sitemaps and due pages of each domain into the frontier; one report each."""
        seeder = Seeder(self.territory, self.storage, self.fetcher, self.gate, self.clock, self.run_id)
        room = asyncio.Semaphore(SEEDING_AT_ONCE)

        async def one(domain: str) -> SeedReport:
            async with room:
                try:
                    return await seeder.seed(domain, force=force)
                except Exception as error:
                    return SeedReport(domain, problems=[f"{SEEDING_FAILED}: {type(error).__name__}: {error}"])

        return list(await asyncio.gather(*(one(d) for d in domains)))

    async def crawl(
        self,
        order: CrawlOrder,
        *,
        stop: asyncio.Event | None = None,
        on_event: Callable[[PaceEvent], None] | None = None,
        on_start: Callable[[Crawl], None] | None = None,
    ) -> list[DomainReport]:
        """Fetch what is pending on the order's domains."""
        crawl = Crawl(
            order, self.territory, self.storage, self.pacer, self.fetcher,
            clock=self.clock, stop=stop, rng=self._rng, on_event=on_event, gate=self.gate, guard=self.guard,
        )  # fmt: skip
        tell(crawl)
        if on_start is not None:
            on_start(crawl)
        keep_heap()
        with rare_collections():
            return await crawl.run()

    async def retry(
        self,
        order: CrawlOrder,
        *,
        causes: Sequence[str] | None = None,
        force: bool = False,
        stop: asyncio.Event | None = None,
        on_event: Callable[[PaceEvent], None] | None = None,
        on_start: Callable[[Crawl], None] | None = None,
    ) -> tuple[dict[str, int], list[DomainReport]]:
        """Failed URLs that are eligible get another chance, gently. (URLs taken up by domain, reports).

        They go in waves by cause, what heals quickest first: where the names still do not resolve, the domain's
        circuit breaker ends its pass before the next wave is taken up.
        """
        taken: dict[str, int] = {}
        left: dict[str, tuple[tuple[str, ...], ...]] = {}
        for domain in order.domains:
            rules = self.territory.rules(domain)
            if rules is not None:
                rules.retry = replace(rules.retry, attempts=rules.site.retry.retry_pass_attempts)
            taken[domain], left[domain] = await self.storage.run(
                self._first_wave, domain, frozenset(causes or ()), force
            )
        with_work = tuple(d for d, n in taken.items() if n)
        if not with_work:
            return taken, []
        order = replace(order, domains=with_work, stage="retry", pace_factor=0.5, waves=left, retry_all=force)
        reports = await self.crawl(order, stop=stop, on_event=on_event, on_start=on_start)
        for report in reports:
            report.taken_up += taken[report.domain]
            taken[report.domain] = report.taken_up
        return taken, reports

    def _first_wave(
        self, domain: str, causes: frozenset[str], force: bool
    ) -> tuple[int, tuple[tuple[str, ...], ...]]:
        """Take up the first wave that has anything; how many URLs, and the waves after it."""
        frontier, now = self.storage.frontier, self.clock.now()
        waves = waves_of(cause for cause in frontier.failures(domain) if not causes or cause in causes)
        for number, wave in enumerate(waves):
            if taken := frontier.retry_failed(domain, now, causes=wave, force=force):
                return taken, waves[number + 1 :]
        return 0, ()

    async def canaries(self, domains: Sequence[str]) -> dict[str, list[CanaryResult]]:
        """Every canary of every domain; `CANARIES_AT_ONCE` domains at once, the canaries of one after another."""
        room = asyncio.Semaphore(CANARIES_AT_ONCE)

        async def one(rules: DomainRules) -> list[CanaryResult]:
            own = [c for c in rules.site.canaries if f"//{rules.domain}/" in c.url]
            async with room:
                return [await check_canary(c, rules, self.fetcher) for c in own]

        known = [r for d in domains if (r := self.territory.rules(d)) is not None]
        results = await asyncio.gather(*(one(r) for r in known))
        return {r.domain: found for r, found in zip(known, results, strict=True)}
