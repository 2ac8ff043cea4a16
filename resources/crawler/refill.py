"""Keeps a lane supplied: opens it, claims in proportion to its pace, asks scope and robots, decides its end."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable

from resources.clock import Clock
from resources.frontier.base import Ack, Claim, Verdict
from resources.pacing.base import EventKind, PaceEvent
from resources.pacing.pacer import Pacer
from resources.pages.base import PageHead

from .digest import Digester
from .lane import Lane
from .liveness import take_domain
from .merges import MergeAudit
from .order import CrawlOrder, End
from .pace_limits import pace_limits
from .robots_gate import RobotsGate
from .storage import Storage
from .traps.guard import Held, Refusal, TrapGuard, state_name
from .writer import BatchWriter

__all__ = ["Refill"]

log = logging.getLogger(__name__)

#: A claim covers this much of a domain's time: enough to hide the trip to the storage thread, and a worker
#: that dies sits on no more than that.
CLAIM_AHEAD_S = 4.0
#: Bounds of one claim. The upper one matters only for unlimited domains.
MIN_CLAIM, MAX_CLAIM = 8, 256
#: How often a dry domain is looked at while other workers hold URLs of it.
LOOK_AGAIN_S = 1.0
#: Events kept per domain for the report.
MAX_EVENTS = 200
#: Claims the trap guard may hold back before no more are taken: bounds memory and what a dead worker sits on.
MAX_HELD = 1_024


class Refill:
    """See the module docstring. All methods run in the event loop; storage calls go to its thread."""

    def __init__(
        self,
        order: CrawlOrder,
        storage: Storage,
        gate: RobotsGate,
        pacer: Pacer,
        writer: BatchWriter,
        clock: Clock,
        digester: Digester,
        audit: MergeAudit | None = None,
    ) -> None:
        self._order = order
        self._storage = storage
        self._gate = gate
        self._pacer = pacer
        self._writer = writer
        self._clock = clock
        self._digester = digester
        self._audit = audit
        self._running: set[asyncio.Task[None]] = set()

    async def open(self, lane: Lane) -> None:
        """Lease the domain, read robots.txt, admit it to the pacer, claim the first URLs."""
        order, now = self._order, self._clock.now()
        frontier = self._storage.frontier
        lane.refilling = True
        try:
            if order.exclusive and not self._pacer.shared:
                lease = await self._storage.patiently(
                    take_domain, frontier, lane.domain, order.worker, order.domain_lease_s, now
                )
                if isinstance(lease, str):
                    lane.end("leased", lease)
                    return
                lane.lease = lease
            await self._storage.patiently(frontier.reap, now, lane.domain)
            saved = await self._storage.run(frontier.get_value, state_name(lane.domain))
            lane.guard = TrapGuard(lane.domain, now, saved, lane.rules.trust)
            lane.report.trapped = lane.guard.refused
            if self._audit is not None:
                await self._audit.open(lane)
            lane.waves.extend(order.waves.get(lane.domain, ()))
            delay = None
            first = await self._claim(lane, MIN_CLAIM)
            if first and lane.rules.site.robots == "obey":
                verdict = await self._gate.verdict(first[0][0].url, lane.rules)
                delay = verdict.robots.crawl_delay(lane.rules.token)
            self._pacer.admit(lane.domain, pace_limits(lane.rules, delay, self._order.pace_factor))
            lane.admitted = True
            await self._sort(lane, first)
        finally:
            lane.refilling = False

    def top_up(self, lane: Lane, then: Callable[[Lane], None]) -> None:
        """Claim more if the buffer runs low and the frontier is not known to be dry."""
        if not lane.admitted or lane.refilling or lane.closed or lane.ending is not None or lane.dry:
            return
        if len(lane.buffer) > lane.batch // 2 or len(lane.held) >= MAX_HELD:
            return
        wanted = lane.batch = self._batch(lane)
        lane.refilling = True
        task = asyncio.create_task(self._top_up(lane, wanted, then))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _top_up(self, lane: Lane, wanted: int, then: Callable[[Lane], None]) -> None:
        try:
            await self._sort(lane, await self._claim(lane, wanted))
        except Exception as error:
            log.exception("claiming for %s failed", lane.domain)
            lane.end("error", f"claiming failed: {error}")
        finally:
            lane.refilling = False
            then(lane)

    def _batch(self, lane: Lane) -> int:
        rate = self._pacer.decide(lane.domain, self._clock.now()).rate
        if not math.isfinite(rate):
            return MAX_CLAIM
        return max(MIN_CLAIM, min(MAX_CLAIM, int(rate * CLAIM_AHEAD_S)))

    async def _claim(self, lane: Lane, wanted: int) -> list[tuple[Claim, PageHead | None]]:
        """Claims with the stored heads of those that were fetched before."""
        order, frontier, pages = self._order, self._storage.frontier, self._storage.pages
        now = self._clock.now()
        limit = self._page_limit(lane)
        if limit is not None:
            wanted = min(wanted, limit - lane.taken - len(lane.buffer) - len(lane.held))
        again = lane.guard.reconsider()

        def work() -> tuple[list[Claim], float | None]:
            if again:
                frontier.reconsider_excluded(lane.domain, again, now)
            claims = (
                frontier.claim(lane.domain, wanted, order.worker, order.lease_s, now) if wanted > 0 else []
            )
            if claims:
                return claims, None
            ready = frontier.next_ready_at(lane.domain, now)
            if ready is None and self._pacer.shared and wanted > 0:
                # Others work on the domain too: what they hold may come back, and bring more.
                if frontier.reap(now, lane.domain):
                    return [], now
                if frontier.counts(lane.domain).leased:
                    ready = now + LOOK_AGAIN_S
            return [], ready

        claims, lane.ready_at = await self._storage.patiently(work)
        known = [c.key for c in claims if c.done_at is not None]
        heads = await self._storage.patiently(pages.heads, known, domain=lane.domain) if known else {}
        lane.dry = not claims
        return [(c, heads.get(c.key)) for c in claims]

    async def _sort(self, lane: Lane, claims: list[tuple[Claim, PageHead | None]]) -> None:
        """Scope and robots, asked for every claim right before its turn: rules may be newer than the URL."""
        for claim, head in claims:
            verdict = await self._judge(lane, claim)
            if verdict is None:
                lane.buffer.append((claim, head))
            elif isinstance(verdict, Held):
                lane.held.append((claim, head))
            else:
                self._ack(lane, verdict)
        if not lane.buffer and not lane.in_flight:
            self._writer.hurry()  # none of them is fetched: the lane has nothing to do until that is written
        if lane.admitted and not lane.closed:
            self._pacer.want(lane.domain, lane.wanted)

    async def _judge(self, lane: Lane, claim: Claim) -> Ack | Held | None:
        """None: fetch it. Numbered cases: 1. out of scope; 2. robots.txt unavailable; 3. robots.txt says no;
        4. a trap, or perhaps one.
        """
        now = self._clock.now()
        out = lane.rules.exclusion(claim.url, claim.depth)
        if out is not None:
            return self._digester.excluded(lane, claim, *out)
        if lane.rules.site.robots == "ignore":
            return self._guarded(lane, claim)
        decision, verdict = await self._gate.decide(claim.url, lane.rules)
        if decision.allowed:
            return self._guarded(lane, claim)
        if verdict.temporary:
            lane.end("put_off", f"robots.txt: {verdict.reason}")
            return Ack(claim, Verdict.RELEASED, now, not_before=verdict.ask_again_at, counts_attempt=False)
        line = f"robots.txt line {decision.line}: {decision.rule}" if decision.line else str(decision.rule)
        return self._digester.excluded(lane, claim, "robots", line)

    def _guarded(self, lane: Lane, claim: Claim) -> Ack | Held | None:
        verdict = lane.guard.judge(claim)
        if isinstance(verdict, Refusal):
            return self._digester.excluded(lane, claim, verdict.reason, "", verdict.instead)
        return verdict

    def stir(self, lane: Lane) -> None:
        """The trap guard has learned something: judge held claims again, take back what it lets go no more."""
        guard = lane.guard
        guard.stirred = False
        if lane.closed:
            return
        kept: list[tuple[Claim, PageHead | None]] = []
        for claim, head in lane.buffer:
            refusal = guard.refuses(claim)
            if refusal is None:
                kept.append((claim, head))
            else:
                self._ack(lane, self._digester.excluded(lane, claim, refusal.reason, "", refusal.instead))
        held, lane.held = lane.held, []
        for claim, head in held:
            verdict = self._guarded(lane, claim)
            if verdict is None:
                kept.append((claim, head))
            elif isinstance(verdict, Held):
                lane.held.append((claim, head))
            else:
                self._ack(lane, verdict)
        lane.buffer.clear()
        lane.buffer.extend(kept)
        lane.dry = False  # something may have been reopened, and there may be room again
        if guard.loops:
            lane.end("paused", "the last pages were the same few under other URLs; the rest is pending")
        if lane.admitted:
            self._pacer.want(lane.domain, lane.wanted)

    def _let_go(self, lane: Lane) -> None:
        """Nothing is on its way, so nothing can decide about what is held: by the guard's contract one may go now."""
        self.stir(lane)
        if not lane.buffer and lane.held:
            log.error("%s: %d URLs were held for nothing; they are fetched", lane.domain, len(lane.held))
            lane.buffer.extend(lane.held)
            lane.held.clear()
            self._pacer.want(lane.domain, lane.wanted)

    def _ack(self, lane: Lane, ack: Ack) -> None:
        lane.unflushed += 1
        self._writer.add(ack)

    def review(self, lane: Lane, then: Callable[[Lane], None]) -> None:
        """Decide whether an open lane is over. Numbered cases:

        1. its page limit is reached; 2. pacing will not let it go within the longest wait;
        3. nothing claimable is left and nothing is on its way; 4. something becomes claimable later.
        """
        if not lane.admitted:
            return  # still waiting for its turn to be opened: pacing does not know it yet
        now = self._clock.now()
        limit = self._page_limit(lane)
        if limit is not None and lane.taken >= limit and not lane.probes:
            self._wind_up(lane, then, "budget", f"{limit} pages; the rest is pending")
            return
        if lane.wanted:
            if lane.in_flight:
                return  # what comes of those may change what pacing says
            decision = self._pacer.decide(lane.domain, now)
            horizon = now + self._order.longest_wait_s
            if decision.put_off or decision.at > horizon:
                if not lane.buffer:
                    lane.probes.clear()  # the audit can wait for another night, and the domain for nothing
                    return
                reason = decision.reasons[0] if decision.reasons else None
                words = f"{reason.name}: {reason.detail}" if reason else "pacing"
                name = str(reason.name) if reason else ""
                lane.end(
                    "window"
                    if name == "window"
                    else "paused"
                    if name in ("paused", "circuit breaker")
                    else "put_off",
                    words,
                )
            return
        if lane.held and not lane.in_flight and not lane.refilling:
            self._let_go(lane)
        if not lane.idle:
            return
        if lane.dry and (lane.ready_at is None or lane.ready_at - now > self._order.longest_wait_s):
            if lane.waves:
                self._start_wave(lane, then)
            else:
                self._wind_up(lane, then, "finished")
            return
        if lane.ready_at is None or lane.ready_at <= now:
            lane.dry = False
            self.top_up(lane, then)

    def _wind_up(self, lane: Lane, then: Callable[[Lane], None], end: End, detail: str = "") -> None:
        """The domain's pages are done: end it, after the audit of merged URLs if that has not had its turn."""
        if self._audit is None or lane.audited or not self._audit.due(lane):
            if self._audit is None or lane.idle:
                lane.end(end, detail)
        elif lane.idle:
            lane.audited = lane.refilling = True
            task = asyncio.create_task(self._begin_audit(self._audit, lane, then))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def _begin_audit(self, audit: MergeAudit, lane: Lane, then: Callable[[Lane], None]) -> None:
        try:
            await audit.begin(lane)
            self._pacer.want(lane.domain, lane.wanted)
        except Exception:
            log.exception("%s: merged URLs could not be audited", lane.domain)
        finally:
            lane.refilling = False
            then(lane)

    def _start_wave(self, lane: Lane, then: Callable[[Lane], None]) -> None:
        lane.refilling = True
        task = asyncio.create_task(self._next_wave(lane, lane.waves.popleft(), then))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _next_wave(self, lane: Lane, causes: tuple[str, ...], then: Callable[[Lane], None]) -> None:
        """Failures of the next causes get their chance now that the ones before have had theirs."""
        try:
            again = self._storage.frontier.retry_failed
            now, force = self._clock.now(), self._order.retry_all
            taken = await self._storage.patiently(again, lane.domain, now, causes=causes, force=force)
            lane.report.taken_up += taken
            await self._sort(lane, await self._claim(lane, MIN_CLAIM))
        except Exception as error:
            log.exception("the retry wave %s of %s failed", ", ".join(causes), lane.domain)
            lane.end("error", f"taking up failures failed: {error}")
        finally:
            lane.refilling = False
            then(lane)

    def note_event(self, lane: Lane, event: PaceEvent) -> None:
        """Remember what pacing did; a domain that is paused or put off gives its URLs back."""
        if len(lane.report.events) < MAX_EVENTS:
            lane.report.events.append(f"{event.kind}: {event.detail}")
        # 1. paused  2. the circuit breaker opened, on a domain that gave no page yet or for longer than is waited
        # 3. put off
        if event.kind is EventKind.PAUSED:
            lane.end("paused", event.detail)
        elif event.kind is EventKind.BREAKER_OPEN:
            if not lane.report.pages or (event.until or 0.0) - event.at > self._order.longest_wait_s:
                lane.end("paused", f"circuit breaker: {event.detail}")
        elif event.kind is EventKind.PUT_OFF:
            lane.end("put_off", event.detail)

    def _page_limit(self, lane: Lane) -> int | None:
        whole, site = self._order.max_pages, lane.rules.site.scope.max_pages
        if whole is None or site is None:
            return site if whole is None else whole
        return min(whole, site)
