"""The crawl loop: frontier, pacing, fetcher and page store tied together. One event loop, many domains.

* One dispatcher asks the pacer for the next domain that may be requested and starts one fetch per slot:
  O(log domains) a page, no pool of idle workers, no head-of-line blocking.
* Claims are buffered per domain in proportion to its pace, so a dead worker never sits on much.
* Results go through `BatchWriter`: durable bodies first, then one frontier transaction.

What a kill −9 loses: nothing. In-flight requests and at most `gather_s` of the page store of results are fetched again.
A stop (SIGTERM, Terminate) lets in-flight requests end, writes everything, hands all leases back.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from collections.abc import Callable

from resources.clock import Clock, SystemClock
from resources.fetcher.base import Cause, Fetcher, FetchRequest
from resources.frontier.base import Ack, Claim, CommitResult, Verdict
from resources.pacing.base import PaceEvent, Slot
from resources.pacing.pacer import Pacer
from resources.pages.base import PageHead

from .digest import Digester
from .heartbeat import Heartbeat
from .lane import Lane
from .merges import MergeAudit, Probe
from .observations import observe_aside
from .order import CrawlOrder, DomainReport, End
from .parser_guard import ParserGuard
from .progress import Progress, ProgressMeter
from .refill import Refill
from .robots_gate import RobotsGate
from .storage import Storage
from .territory import MissingSecret, Territory
from .traps.guard import TrapGuard
from .writer import BatchWriter, StorageStuck

__all__ = ["Crawl"]

log = logging.getLogger(__name__)

#: Longest the dispatcher sleeps without a reason: bounds the delay of a deadline or a stop.
TICK_S = 0.5
#: Domains whose robots.txt is being read at once: thousands start in a night, not thousands of connections.
OPENING_AT_ONCE = 64
#: Lanes looked at again per tick for what only time changes (a retry due, a window closed): with thousands
#: of domains the look goes round in a few seconds and stays under 2 % of a core.
SWEEP = 500


class Crawl:
    """One run over one or many domains. `await run()` returns the report of each domain."""

    def __init__(
        self,
        order: CrawlOrder,
        territory: Territory,
        storage: Storage,
        pacer: Pacer,
        fetcher: Fetcher,
        *,
        clock: Clock | None = None,
        stop: asyncio.Event | None = None,
        rng: random.Random | None = None,
        on_event: Callable[[PaceEvent], None] | None = None,
        gate: RobotsGate | None = None,
        guard: ParserGuard | None = None,
    ) -> None:
        self.order = order
        self.clock = clock or SystemClock()
        self.stop = stop or asyncio.Event()
        self.lanes: dict[str, Lane] = {}
        self.reports: dict[str, DomainReport] = {}
        self._territory = territory
        self._storage = storage
        self._pacer = pacer
        self._fetcher = fetcher
        self._on_event = on_event
        self._meter = ProgressMeter()
        self._wake = asyncio.Event()
        self._in_flight = 0
        self._open_count = 0
        self._opening = asyncio.Semaphore(OPENING_AT_ONCE)
        self._turn: deque[Lane] = deque()
        self._next_sweep = 0.0
        self._alarm: asyncio.Future[None] | None = None
        self._alarm_at = 0.0
        self._tasks: set[asyncio.Task[None]] = set()
        self._openers: list[asyncio.Task[None]] = []
        self._over = False
        self.writer = BatchWriter(storage, self.clock.now, self._committed)
        self.gate = gate or RobotsGate(fetcher, storage, self.clock, order.run_id)
        rng, guard = rng or random.Random(), guard or ParserGuard()
        self._digester = Digester(order, territory, self.clock, rng, guard)
        self._audit = MergeAudit(storage, self.gate, self.clock, guard, rng) if order.audit_urls else None
        self._refill = Refill(
            order, storage, self.gate, pacer, self.writer, self.clock, self._digester, self._audit
        )
        self._heartbeat = Heartbeat(order, storage, pacer, self.clock, self.lanes)

    def progress(self) -> Progress:
        """A snapshot of the crawl for a display; cheap enough for every second."""
        return self._meter.take(
            self.lanes.values(), self._heartbeat.queues, self.clock.now(), self.writer.trouble
        )

    # -- the run -----------------------------------------------------------------------------------
    async def run(self) -> list[DomainReport]:
        """Crawl until every domain has ended; reports in the order of `order.domains`."""
        loop = asyncio.get_running_loop()
        self._pacer.when_news(lambda: loop.call_soon_threadsafe(self._wake.set))
        background = [asyncio.create_task(self.writer.run()), asyncio.create_task(self._heartbeat.run())]
        self._openers = [asyncio.create_task(self._open(domain)) for domain in self.order.domains]
        try:
            await self._dispatch()
        finally:
            self._over = True
            if self._alarm is not None:
                self._alarm.cancel()
            for task in self._openers:
                task.cancel()
            await self._drain()
            for task in background:
                task.cancel()
            await asyncio.gather(*background, *self._openers, return_exceptions=True)
        if self.writer.stuck is not None:
            raise self.writer.stuck
        return [self.reports[d] for d in self.order.domains if d in self.reports]

    def join(self, domain: str) -> bool:
        """Take one more domain into the running crawl, or one that had ended and has work again.

        False: the crawl is ending, or the domain is being worked on. Its report is in `reports`.
        """
        lane = self.lanes.get(domain)
        if self._over or (lane is not None and (not lane.closed or lane.unflushed)):
            return False
        self._openers = [task for task in self._openers if not task.done()]
        self._openers.append(asyncio.create_task(self._open(domain)))
        self._wake.set()
        return True

    async def _open(self, domain: str) -> None:
        """Lease the domain, read its robots.txt, admit it to the pacer, claim the first URLs."""
        report = self.reports[domain] = DomainReport(domain, started_at=self.clock.now())
        try:
            rules = self._territory.rules(domain)
            if rules is not None:
                _ = rules.profile  # a secret that is missing is told here, and not by every request
        except MissingSecret as error:
            report.end, report.detail, report.ended_at = "error", str(error), self.clock.now()
            return
        if rules is None:
            report.end, report.detail = "error", f"no site file covers {domain}"
            report.ended_at = self.clock.now()
            return
        guard = TrapGuard(domain, self.clock.now())  # its memory of earlier nights comes with the lease
        lane = self.lanes[domain] = Lane(domain, rules, report, guard)
        self._open_count += 1
        self._turn.append(lane)
        try:
            async with self._opening:
                if not self.stop.is_set():
                    await self._refill.open(lane)
        except Exception as error:
            log.exception("domain %s could not be started", domain)
            lane.end("error", f"could not be started: {error}")
        self._settle(lane)
        self._wake.set()

    async def _dispatch(self) -> None:
        while True:
            now = self.clock.now()
            if self.stop.is_set():
                self._end_all("stopped", "asked to stop")
                return
            if self.order.deadline is not None and now >= self.order.deadline:
                self._end_all("budget", "out of time; the rest is pending")
                return
            if self.writer.stuck is not None:
                return
            started = self._start_ready(now)
            self._sweep(now)
            if not self._open_count and all(t.done() for t in self._openers):
                return
            if not started:
                await self._pause(now)
            elif started >= 16:
                await asyncio.sleep(0)  # let the fetches run before more are started

    def _start_ready(self, now: float) -> int:
        """Start a request for every slot that is due; returns how many."""
        started = 0
        while self._in_flight < self.order.concurrency and not self.writer.full and started < 64:
            slot = self._pacer.take(now)
            if slot is None:
                break
            lane = self.lanes[slot.domain]
            if not lane.wanted or lane.ending is not None:
                self._pacer.put_back(slot)
                self._pacer.want(slot.domain, 0)
                continue
            if lane.buffer:
                claim, head = lane.buffer.popleft()
                lane.taken += 1
                task = asyncio.create_task(self._fetch(lane, claim, head, slot))
            else:
                task = asyncio.create_task(self._probe(lane, lane.probes.popleft(), slot))
            self._pacer.want(slot.domain, lane.wanted)
            lane.in_flight += 1
            self._in_flight += 1
            started += 1
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            self._refill.top_up(lane, self._settle_later)
        return started

    async def _pause(self, now: float) -> None:
        wait = TICK_S
        if self._in_flight < self.order.concurrency and not self.writer.full:
            due = self._pacer.next_at(now)
            if due is not None:
                wait = min(wait, max(0.0, due - now))
        if wait <= 0:
            await asyncio.sleep(0)
            return
        self._wake.clear()
        self._set_alarm(now, wait)
        await self._wake.wait()

    def _set_alarm(self, now: float, wait: float) -> None:
        """Wake in `wait` seconds or before. An alarm that goes off sooner stays: most pauses end by a page that came,
        and a new timer for each would cost 10 µs a page."""
        alarm, at = self._alarm, now + wait
        if alarm is not None and not alarm.done():
            if self._alarm_at <= at:
                return
            alarm.cancel()
        self._alarm_at = at
        self._alarm = asyncio.ensure_future(self.clock.sleep(wait))
        self._alarm.add_done_callback(lambda done: None if done.cancelled() else self._wake.set())

    def _sweep(self, now: float) -> None:
        """Look again at some of the open lanes, in turn."""
        if now < self._next_sweep:
            return
        self._next_sweep = now + TICK_S
        for _ in range(min(SWEEP, len(self._turn))):
            lane = self._turn.popleft()
            self._settle(lane)
            if not lane.closed:
                self._turn.append(lane)

    # -- one page ----------------------------------------------------------------------------------
    async def _fetch(self, lane: Lane, claim: Claim, head: PageHead | None, slot: Slot) -> None:
        try:
            request = FetchRequest(claim.url, lane.rules.profile, self._digester.validators(claim, head))
            result = await self._fetcher.fetch(request)
            apart = await self._digester.read_apart(lane, claim, result)
        except asyncio.CancelledError:
            self._pacer.put_back(slot)
            self._hand_back(lane, claim)
            raise
        finally:
            lane.in_flight -= 1
            self._in_flight -= 1
        digest = self._digester.digest(lane, claim, head, result, apart)
        if result.cause is Cause.NO_PROXY:
            lane.end("paused", result.error)  # its URLs stay pending; nothing is asked directly
        for event in self._pacer.done(slot, digest.observation):
            self._paced(lane, event)
        lane.unflushed += 1
        self.writer.add(digest.ack, digest.version, digest.head)
        if not lane.buffer and not lane.in_flight:
            self.writer.hurry()  # its links are all there is to do
        if lane.guard.stirred:
            self._refill.stir(lane)
        self._settle(lane)
        self._wake.set()

    async def _probe(self, lane: Lane, probe: Probe, slot: Slot) -> None:
        """A request of the audit of merged URLs: paced like a page, and no page."""
        assert self._audit is not None
        try:
            try:
                result = await self._fetcher.fetch(FetchRequest(probe.url, lane.rules.profile))
            except asyncio.CancelledError:
                self._pacer.put_back(slot)
                raise
            for event in self._pacer.done(slot, observe_aside(result, self.clock.now())):
                self._paced(lane, event)
            await self._audit.answered(lane, probe, result)
        except Exception:
            log.exception("%s: a merged URL could not be compared with its page", lane.domain)
        finally:
            lane.in_flight -= 1
            self._in_flight -= 1
        self._pacer.want(lane.domain, lane.wanted)
        self._settle(lane)
        self._wake.set()

    def _paced(self, lane: Lane, event: PaceEvent) -> None:
        self._refill.note_event(lane, event)
        if self._on_event is not None:
            self._on_event(event)

    def _committed(self, acks: list[Ack], result: CommitResult) -> None:
        for ack in acks:
            if result.stale:
                self._digester.outlinks.forget(ack.outlinks)  # dropped with the ack, of whichever it was
            lane = self.lanes.get(ack.claim.domain)
            if lane is not None:
                lane.unflushed -= 1
                if ack.verdict is Verdict.RETRY:
                    lane.dry = (
                        False  # it was in flight when the frontier was last asked, and is due again soon
                    )
                if result.stale:  # perhaps a batch whose first answer was lost: what it added was not told
                    lane.dry = False
        for domain, count in result.new_by_domain.items():
            lane = self.lanes.get(domain)
            if lane is not None and count:
                lane.report.new_urls += count
                lane.dry = False
                self._refill.top_up(lane, self._settle_later)
        for domain in {ack.claim.domain for ack in acks}:
            lane = self.lanes.get(domain)
            if lane is not None and lane.idle:
                # This was all it waited for: it goes on or ends now, not at the next sweep.
                self._settle(lane)
        self._wake.set()

    # -- ends --------------------------------------------------------------------------------------
    def _settle_later(self, lane: Lane) -> None:
        self._settle(lane)
        self._wake.set()

    def _settle(self, lane: Lane) -> None:
        """Close the lane if it is over, else see that it has work."""
        if lane.closed:
            return
        if lane.ending is None:
            self._refill.review(lane, self._settle_later)
        if lane.ending is not None and not lane.in_flight and not lane.refilling:
            self._close(lane)

    def _close(self, lane: Lane) -> None:
        lane.closed = True
        self._open_count -= 1
        if lane.admitted:
            self._pacer.want(lane.domain, 0)
        for claim, _ in (*lane.buffer, *lane.held):
            self._hand_back(lane, claim)
        lane.buffer.clear()
        lane.probes.clear()
        lane.held.clear()
        if lane.merges is not None:
            lane.report.merged = lane.merges.found
        lane.report.ended_at = self.clock.now()

    def _hand_back(self, lane: Lane, claim: Claim) -> None:
        lane.unflushed += 1
        self.writer.add(Ack(claim, Verdict.RELEASED, self.clock.now(), counts_attempt=False))

    def _end_all(self, end: End, detail: str) -> None:
        for lane in self.lanes.values():
            lane.end(end, detail)

    async def _drain(self) -> None:
        """Let requests end, write everything, hand everything back."""
        if self.stop.is_set():
            self._end_all("stopped", "asked to stop")
        if self._tasks:
            _, late = await asyncio.wait(list(self._tasks), timeout=self.order.drain_s)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        for lane in self.lanes.values():
            lane.end("stopped", "the crawl was cut short")
            if not lane.closed:
                self._close(lane)
        try:
            await self.writer.close()
            await self._heartbeat.farewell()
        except StorageStuck as error:
            log.error("the last results could not be written and will be fetched again: %s", error)
