"""The pacer: hands out the next request of the next domain, and learns from what came of it.

Domains that can be requested sooner or later stand in one heap by the instant of their next slot. An entry is
stale when its stamp is not the domain's current one; stale entries are dropped when they surface (lazy deletion),
so that every change of a domain is one push. Domains that wait for a connection, for URLs, or for a person are not
in the heap at all: they cost nothing. The contract is in `base`.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import deque
from collections.abc import Callable, Collection, Iterable

from resources.clock import Clock
from resources.pacing.base import (
    Decision,
    Observation,
    Outcome,
    PaceEvent,
    PaceLimits,
    PaceSnapshot,
    Slot,
    SlotSource,
)
from resources.pacing.breaker import BreakerState
from resources.pacing.explain import decision_of, snapshot_of
from resources.pacing.lane import Lane
from resources.pacing.learning import NO_BURST
from resources.pacing.ledger.base import Command, Ledger, LedgerRow, NightRow
from resources.pacing.reactions import answered, failed, obey, page_came, quota_told, refused, shrunken, told
from resources.pacing.slots import LocalSlots

__all__ = ["Pacer"]

# A slot taken later than that share of its gap was not the bottleneck; timers are no better than 2 ms.
_LATE_SHARE, _LATE_MIN_S = 0.5, 0.002
# Jitter where the limiter takes one request at a time: more of it would only draw refusals.
_JITTER_NO_BURST = 0.02
# A process that was held up makes up for so many requests, at the shortest gaps that jitter allows, where the
# learned limiter has room for them: what one is late fills it when it is made up for.
_LATE_REQUESTS, _LATE_SHARE_OF_ROOM = 10.0, 0.5
# A rate grown by that factor makes the slot already booked obsolete.
_REBOOK = 1.5
_REFUSALS = (429, 503)
_FAILURES = frozenset(
    (Outcome.TIMEOUT, Outcome.CONNECT_ERROR, Outcome.DNS, Outcome.TLS, Outcome.PROTOCOL, Outcome.TRUNCATED)
)
_NOTHING: list[PaceEvent] = []


class Pacer:
    """See `resources.pacing.base` for the contract. `slots`: where reservations are kept; default: this process."""

    #: Whether other processes keep the same pace: several may crawl one domain then.
    shared = False

    def __init__(
        self, clock: Clock, ledger: Ledger, slots: SlotSource | None = None, rng: random.Random | None = None
    ) -> None:
        self._clock = clock
        self._ledger = ledger
        self._slots: SlotSource = slots if slots is not None else LocalSlots()
        self._rng = rng if rng is not None else random.Random()
        self._random = self._rng.random
        self._lanes: dict[str, Lane] = {}
        self._heap: list[tuple[float, int, Lane]] = []
        self._free: deque[tuple[int, Lane]] = deque()  # unlimited domains with work
        self._stamp = 0
        self._dirty: list[Lane] = []
        self._events: list[PaceEvent] = []  # of commands, told by the next checkpoint
        self._command_seq = 0
        self._commands: dict[str, list[Command]] = {}
        self._read_commands()

    def __repr__(self) -> str:
        return f"<Pacer {len(self._lanes)} domains, {len(self._heap)} heap entries, next at {self._peek()}>"

    # -- what the loop does -------------------------------------------------------------------------------------

    def admit(self, domain: str, limits: PaceLimits) -> None:
        """Start (or restart with other limits) a domain from its ledger row. Keeps requests in flight counted."""
        now = self._clock.now()
        old = self._lanes.get(domain)
        if old is not None:
            if old.limits == limits:
                return
            self._save([old], now)
        lane = self._new_lane(domain, limits, self._ledger.load(domain), now)
        if old is not None:
            lane.want, lane.in_flight, lane.admitted_at = old.want, old.in_flight, old.admitted_at
            lane.due = old.due
            old.stamp = 0  # its heap entry is stale
            old.want = 0
        self._lanes[domain] = lane
        for command in self._commands.get(domain, ()):
            self._obey(lane, command, now)
        if not lane.stamp:
            self._enqueue(lane, now)

    def _new_lane(self, domain: str, limits: PaceLimits, row: LedgerRow | None, now: float) -> Lane:
        return Lane(domain, limits, row, now)

    def when_news(self, call: Callable[[], object]) -> None:
        """`call` from any thread when the pace changed from outside; in one process it never does."""

    def close(self) -> None:
        """Give back what is kept outside this process; here nothing is."""

    def want(self, domain: str, n: int) -> None:
        """Say that `n` URLs of an admitted domain are buffered and claimable now; 0 takes it out."""
        lane = self._lanes[domain]
        lane.want = n
        if n <= 0:
            lane.stamp = 0
        elif not lane.stamp:
            self._enqueue(lane, self._clock.now())

    def take(self, now: float) -> Slot | None:
        """A slot for a domain that may be requested right now, or None: see `next_at`."""
        heap = self._heap
        while heap:
            at, stamp, lane = heap[0]
            if stamp != lane.stamp:
                heapq.heappop(heap)
                continue
            if at > now:
                break
            heapq.heappop(heap)
            lane.stamp = 0
            if lane.gate > now or now >= lane.window_closes or lane.due > now:
                self._enqueue(lane, now)
                continue
            return self._hand_out(lane, now)
        free = self._free
        while free:
            stamp, lane = free[0]
            if stamp != lane.stamp or lane.gate > now or now >= lane.window_closes:
                free.popleft()
                if stamp == lane.stamp:
                    lane.stamp = 0
                    self._enqueue(lane, now)
                continue
            lane.in_flight += 1
            lane.want -= 1
            if lane.want <= 0 or lane.in_flight >= lane.cap:
                free.popleft()
                lane.stamp = 0
            elif len(free) > 1:
                free.rotate(-1)
            return Slot(lane.domain, now, 0.0, lane.in_flight, False)
        return None

    def next_at(self, now: float) -> float | None:
        """When `take` may succeed next, `now` or later; None when only a finished fetch or new URLs can help."""
        if self._free:
            return now
        at = self._peek()
        return None if at is None else max(at, now)

    def done(self, slot: Slot, observation: Observation) -> list[PaceEvent]:
        """Report what came of a slot. Returns what a person should be told (usually nothing)."""
        lane = self._lanes[slot.domain]
        lane.in_flight -= 1
        lane.requests += 1
        if not lane.dirty:
            lane.dirty = True
            self._dirty.append(lane)
        status, outcome = observation.status, observation.outcome
        now = observation.at
        events = _NOTHING
        waits = quota_told(lane, observation, now) if observation.quota is not None else _NOTHING
        # 1. a page  2. a refusal  3. no whole response  4. any other answer  5. not sent, or lost on the way: no lesson
        if status == 200 and outcome == "ok":
            if (
                lane.breaker.in_a_row
                or lane.refused_in_a_row
                or lane.breaker.state is not BreakerState.CLOSED
            ):
                events = page_came(lane, now)
            if lane.learner is not None:  # else unlimited: there is no rate to learn
                if lane.signals.is_shrunk(observation):
                    events = events + shrunken(lane, observation, now)
                else:
                    lane.signals.good(observation.body_bytes)
                events = self._learn(lane, slot, observation, now, events)
        elif status in _REFUSALS:
            events = refused(lane, observation, now, self._rng)
        elif outcome in _FAILURES:
            events = failed(lane, observation, now)
        elif outcome != Outcome.REFUSED_HERE:
            events = answered(lane, observation, now)
            events = self._learn(lane, slot, observation, now, events)
        if not lane.stamp and lane.want > 0:
            self._enqueue(lane, now)
        return [*events, *waits] if waits else events

    def put_back(self, slot: Slot) -> None:
        """Return a slot for which nothing was sent; the URL counts as wanted again."""
        lane = self._lanes[slot.domain]
        lane.in_flight -= 1
        lane.want += 1
        if lane.interval:
            self._slots.give_back(lane.domain, 1, lane.interval)
        if not lane.stamp:
            self._enqueue(lane, self._clock.now())

    # -- what people and other parts ask -------------------------------------------------------------------------

    def decide(self, domain: str, now: float) -> Decision:
        """When the domain may be requested next, and every reason why not now. Changes nothing."""
        return decision_of(self._lanes[domain], now)

    def snapshot(self, domain: str) -> PaceSnapshot:
        """The domain's live state."""
        return snapshot_of(self._lanes[domain], self._clock.now())

    def domains(self) -> Iterable[str]:
        """Every admitted domain."""
        return self._lanes.keys()

    # -- from outside ---------------------------------------------------------------------------------------------

    def slow_down(self, domain: str, factor: float, until: float, reason: str) -> list[PaceEvent]:
        """Multiply the domain's rate by `factor` until the instant `until`."""
        now = self._clock.now()
        return self._obey(self._lanes[domain], Command(domain, "slow_down", now, factor, until, reason), now)

    def pause(self, domain: str, cause: str) -> list[PaceEvent]:
        """Send nothing more to the domain until `resume`. Its URLs stay pending."""
        now = self._clock.now()
        return self._obey(self._lanes[domain], Command(domain, "pause", now, reason=cause), now)

    def resume(self, domain: str) -> list[PaceEvent]:
        """End a pause, an open breaker and an outside slow-down. What a Retry-After owes is still owed."""
        now = self._clock.now()
        return self._obey(self._lanes[domain], Command(domain, "resume", now), now)

    def checkpoint(self, now: float) -> list[PaceEvent]:
        """Write changed rows to the ledger and obey the commands that came in through it.

        Raises LedgerError; the rows stay marked as changed and go with the next checkpoint.
        """
        dirty, self._dirty = self._dirty, []
        try:
            self._save(dirty, now)
        except BaseException:
            self._dirty = dirty + self._dirty
            raise
        for lane in dirty:
            lane.dirty = False
        events: list[PaceEvent] = []
        for command in self._read_commands():
            if command.domain in self._lanes:
                events += self._obey(self._lanes[command.domain], command, now)
        return events

    def end_night(self, night: str, now: float, domains: Collection[str] | None = None) -> list[NightRow]:
        """Checkpoint and append one history row for each domain that was asked anything since its last row.

        `domains`: only these, whose night is over while that of others goes on; their tables are made with the row.
        """
        self.checkpoint(now)
        ending = [
            lane
            for lane in self._lanes.values()
            if lane.requests > lane.recorded and (domains is None or lane.domain in domains)
        ]
        rows = [lane.night_row(night, now) for lane in ending]
        self._ledger.append_history(rows)
        for lane in ending:
            lane.recorded = lane.requests
        return rows

    # -- scheduling -----------------------------------------------------------------------------------------------

    def _peek(self) -> float | None:
        heap = self._heap
        while heap and heap[0][1] != heap[0][2].stamp:
            heapq.heappop(heap)
        return heap[0][0] if heap else None

    def _enqueue(self, lane: Lane, now: float) -> None:
        """Put a domain where it belongs: into the heap, among the unlimited, or nowhere (no URL, no connection)."""
        if lane.want <= 0:
            return
        if lane.in_flight >= lane.cap:
            lane.capped = True
            return
        if now >= lane.window_closes:
            lane.refresh_window(now)
        at = max(lane.due, lane.gate, lane.window_opens)
        if at == math.inf:
            return
        if at >= lane.window_closes and lane.limits.window is not None:
            at = lane.limits.window.opens_at(at)
        if lane.learner is None and at <= now and lane.breaker.state is BreakerState.CLOSED:
            self._stamp += 1
            lane.stamp = self._stamp
            self._free.append((self._stamp, lane))
            return
        self._stamp += 1
        lane.stamp = self._stamp
        heapq.heappush(self._heap, (at, self._stamp, lane))

    def _hand_out(self, lane: Lane, now: float) -> Slot:
        if lane.breaker.state is BreakerState.OPEN:
            lane.breaker.probe()
        if now >= lane.factor_until:
            lane.refresh_factor(now)
        late = now - max(lane.due, lane.gate, lane.window_opens)
        capped, lane.capped = lane.capped, False
        lane.in_flight += 1
        lane.want -= 1
        learner = lane.learner
        if learner is None:  # an unlimited domain that had to wait
            lane.due = now
            slot = Slot(lane.domain, now, late, lane.in_flight, False)
        else:
            interval = 1.0 / lane.rate
            slot = Slot(lane.domain, now, late, lane.in_flight, capped and late > 0.25 * interval)
            self._book(lane, interval, now)
            if lane.limits.delay_s > lane.limits.crawl_delay_max_s:
                # Nobody sleeps that long: the ledger keeps it for whoever comes next.
                lane.owed_until = max(lane.owed_until, lane.due)
                lane.refresh_gate()
        self._enqueue(lane, now)
        return slot

    def _book(self, lane: Lane, interval: float, now: float) -> None:
        """Reserve the domain's next slot: its place in the bucket, displaced by chance, never too close to `now`."""
        limits = lane.limits
        lane.interval = interval
        jitter = earlier = limits.jitter
        learner, since = lane.learner, now
        if learner is not None and learner.limit_burst is not None:
            if learner.limit_burst < NO_BURST:
                jitter, earlier = min(jitter, _JITTER_NO_BURST), 0.0
            elif limits.rate is None:
                room = min(_LATE_REQUESTS, max(0.0, learner.limit_burst - 2.0) * _LATE_SHARE_OF_ROOM)
                since = min(now, max(lane.gate, now - room * interval))
        due = self._slots.reserve(lane.domain, 1, interval, limits.burst, since)[0]
        due += self._random() * jitter * interval
        if limits.burst == 1:
            nearest = now + (1.0 - earlier) * interval
            if due < nearest:
                due = nearest
        lane.due = due

    # -- what observations do -------------------------------------------------------------------------------------

    def _learn(
        self, lane: Lane, slot: Slot, observation: Observation, now: float, events: list[PaceEvent]
    ) -> list[PaceEvent]:
        learner, ladder = lane.learner, lane.ladder
        if learner is None or ladder is None:
            return events
        paced = slot.late_s <= _LATE_MIN_S or slot.late_s * learner.rate <= _LATE_SHARE
        paced = paced and not lane.quota_binds
        change = learner.accepted(observation.started_at, observation.ttfb_s, now, paced)
        if change is not None:
            events = [*events, told(lane, change, now)]
        if slot.saturated and not learner.cool_left:
            ladder.measured(slot.in_flight, observation.duration_s, now)
        if lane.rate * lane.interval > _REBOOK and lane.due > now:
            # The booked slot belongs to a much slower rate: book anew from the last request on.
            self._slots.give_back(lane.domain, 1, lane.interval)
            self._book(lane, 1.0 / lane.rate, now)
            lane.stamp = 0
        return events

    def _obey(self, lane: Lane, command: Command, now: float) -> list[PaceEvent]:
        events = obey(lane, command, now)
        self._mark(lane)
        if not lane.stamp:
            self._enqueue(lane, now)
        return events

    def _mark(self, lane: Lane) -> None:
        if not lane.dirty:
            lane.dirty = True
            self._dirty.append(lane)

    def _save(self, lanes: list[Lane], now: float) -> None:
        self._ledger.save(
            lane.row(
                now, tuple(f"{reason.name}: {reason.detail}" for reason in decision_of(lane, now).reasons)
            )
            for lane in lanes
        )

    def _read_commands(self) -> list[Command]:
        commands = self._ledger.commands(self._command_seq)
        for command in commands:
            self._command_seq = command.seq
            self._commands.setdefault(command.domain, []).append(command)
        return commands
