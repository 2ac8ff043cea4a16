"""Seeds domains that a site file covers and the frontier has never heard of: once, however many workers see them.

A worker takes the domain's seeding lease, looks again whether the domain is still unknown, and reads its seeds and
sitemaps. Who does not get the lease leaves the domain to whoever has it. A mark in the frontier stays until all was
read: of a worker that died meanwhile the next one that takes the domain up does it again, which changes nothing that
is known already. Many new domains are shared among the workers, since each goes through them in its own order.

Costs: nothing for domains that are known; four calls to the frontier for each that is new.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
from collections.abc import Iterable, Mapping
from functools import partial

from resources.frontier.base import DomainLease, Frontier, FrontierError, StateCounts

from .liveness import take_domain
from .pace_limits import pace_limits
from .session import SEEDING_AT_ONCE, SEEDING_FAILED, CrawlSession

__all__ = ["FirstSight"]

log = logging.getLogger(__name__)

#: A worker that died while it seeded is waited for so long.
LEASE_S = 120.0
#: A domain whose seeding failed or gave no URL is not tried again by this worker for that long.
AGAIN_S = 300.0


class FirstSight:
    """Of one worker. `unseeded` runs in the storage thread, all else on the event loop."""

    def __init__(self, session: CrawlSession, worker: str, rng: random.Random) -> None:
        self._session = session
        self._worker = worker
        self._rng = rng
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._room = asyncio.Semaphore(SEEDING_AT_ONCE)
        self._not_before: dict[str, float] = {}

    @property
    def busy(self) -> bool:
        return bool(self._tasks)

    def unseeded(
        self,
        frontier: Frontier,
        counts: Mapping[str, StateCounts],
        only: set[str],
        taken_up: Iterable[str],
        now: float,
    ) -> list[str]:
        """Domains to seed now: those that nobody knows, and of those about to be `taken_up` the half seeded ones."""
        territory = self._session.territory
        unknown = [
            domain
            for domain in territory.catalog.domains()
            if domain not in counts and (not only or domain in only) and self._in_its_window(domain, now)
        ]
        half = [domain for domain in taken_up if frontier.get_value(_mark(domain))]
        return [domain for domain in unknown + half if self._not_before.get(domain, 0.0) <= now]

    def _in_its_window(self, domain: str, now: float) -> bool:
        rules = self._session.territory.rules(domain)
        if rules is None:
            return False
        window = pace_limits(rules, None).window
        return window is None or window.is_open(now)

    def seed(self, domains: list[str]) -> None:
        """Begin with those; returns at once."""
        self._rng.shuffle(domains)
        for domain in domains:
            if domain not in self._tasks:
                task = asyncio.create_task(self._seed(domain))
                self._tasks[domain] = task
                task.add_done_callback(partial(self._ended, domain))

    def _ended(self, domain: str, task: asyncio.Task[None]) -> None:
        del self._tasks[domain]
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("%s: not seeded: %s: %s", domain, type(error).__name__, error)

    async def stop(self) -> None:
        """End what goes on. What was begun is marked, so somebody else does it."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _seed(self, domain: str) -> None:
        storage, clock = self._session.storage, self._session.clock
        async with self._room:
            try:
                lease = await storage.run(self._begin, storage.frontier, domain, clock.now())
                if lease is None:
                    return
                prolonging = asyncio.create_task(self._prolong(domain))
                try:
                    (report,) = await self._session.seed([domain])
                    failed = any(problem.startswith(SEEDING_FAILED) for problem in report.problems)
                    if not failed:
                        await storage.run(storage.frontier.set_value, _mark(domain), "")
                finally:
                    prolonging.cancel()
                    await storage.run(storage.frontier.unlease_domain, lease)
            except FrontierError as error:  # the next look waits for the storage and says why
                log.warning("%s: not seeded yet: %s", domain, error)
                return
        for problem in report.problems:
            log.warning("%s: %s", domain, problem)
        if failed or not report.new + report.known:
            self._not_before[domain] = clock.now() + AGAIN_S
            log.warning("%s: new, but its seeds and sitemaps gave %d URLs", domain, report.new)
        else:
            log.info("%s: new, seeded with %d URLs", domain, report.new)

    def _begin(self, frontier: Frontier, domain: str, now: float) -> DomainLease | None:
        """The lease, if the domain is still to be seeded and nobody else does it."""
        lease = take_domain(frontier, _lease(domain), self._worker, LEASE_S, now)
        if isinstance(lease, str):
            return None
        if frontier.counts(domain).discovered and not frontier.get_value(_mark(domain)):
            frontier.unlease_domain(lease)
            return None
        frontier.set_value(_mark(domain), self._worker)
        return lease

    async def _prolong(self, domain: str) -> None:
        storage, clock = self._session.storage, self._session.clock
        while True:
            await clock.sleep(LEASE_S / 4)
            with contextlib.suppress(FrontierError):  # it is tried again well before the lease ends
                await storage.run(
                    storage.frontier.lease_domain, _lease(domain), self._worker, LEASE_S, clock.now()
                )


def _mark(domain: str) -> str:
    """The named value that says that seeding began."""
    return f"seeding:{domain}"


def _lease(domain: str) -> str:
    """A name beside the domain's: its crawl has a lease of its own. No domain has a space in it."""
    return f"seeding {domain}"
