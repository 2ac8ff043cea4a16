"""`SharedPacer`: the contract of `resources.pacing.base` for workers on many machines, which keep one pace.

* *Rate.* Slots come from one token bucket on the server, booked some at a time and about half a second ahead. Any
  window of W seconds holds at most 1.01 W + 0.06 seconds' worth of requests, one gap's and one a worker.
* *Concurrency.* A worker sends only within permits; those of all workers together never exceed the cap. With
  fewer permits than workers they go round, so that nobody starves.
* *Waits.* A Retry-After goes out at once and holds for all; a slot before the end of a wait is void.
* *Learning.* One worker leads a domain: the observations of all go through its learner, and it tells the rest
  the rate, the cap and the gate. When it is gone another goes on from its last state. Unlimited domains have
  nothing to learn: only permits and waits are shared there.

Costs: turns are taken every `TURN_S` for all domains in one round trip (`TURN_UNLIMITED_S` where none has a rate),
sooner when slots run out: at 100 pages/s 0.05 trips a page. A worker that cannot reach the server sends nothing once
its slots are used up, and lets its permits lapse before the server gives them away.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable

from resources.clock import Clock
from resources.pacing.base import Decision, Observation, PaceEvent, PaceLimits, Slot
from resources.pacing.lane import Lane
from resources.pacing.learning import NO_BURST
from resources.pacing.ledger.base import Ledger, LedgerRow
from resources.pacing.pacer import Pacer
from resources.pacing.shared.exchange import Answer, Ask, Exchange
from resources.pacing.shared.lane import SharedLane
from resources.pacing.waits import wait_after_refusal
from resources.web.rate_limit import Quota

__all__ = ["SharedPacer"]

#: Between turns when nothing is urgent: how old what is told can be. Where all domains are unlimited there are no
#: slots to fetch: only waits of others to hear of and permits to hand on.
TURN_S, TURN_UNLIMITED_S = 0.2, 0.5
#: Never sooner than that after the last one: bounds the trips at any speed.
URGENT_S = 0.02
#: Permits lapse here before they do on the server (PERMIT_S of `turn.lua`, 20 s).
LAPSE_S = 12.0
#: A slot taken later than that, and a gap, is void: what is late comes on top of what is in time, so this bounds by
#: how many requests a window can exceed the rate. 3 % of two seconds; where the limiter takes one request at a time,
#: half of it. Void slots are told to the server, which makes up for them at `CATCH_UP` of `turn.lua`.
LATE_S, LATE_NO_BURST_S = 0.06, 0.03
#: Displacement where the limiter takes one request at a time: more of it would only draw refusals.
JITTER_NO_BURST = 0.02
_REFUSALS = (429, 503)


class SharedPacer(Pacer):
    """See the module docstring. `exchange` is closed with `close`."""

    shared = True

    def __init__(
        self, clock: Clock, ledger: Ledger, exchange: Exchange, rng: random.Random | None = None
    ) -> None:
        self._exchange = exchange
        self._active: dict[str, SharedLane] = {}
        self._turn_at = 0.0
        self._last_turn = 0.0
        self._heard_events: list[PaceEvent] = []
        super().__init__(clock, ledger, rng=rng)

    @property
    def trips(self) -> int:
        """Round trips to the server so far."""
        return self._exchange.trips

    def when_news(self, call: Callable[[], object]) -> None:
        self._exchange.on_answer = call

    def close(self) -> None:
        """Give permits and slots back and end the thread."""
        self._hear(self._clock.now())
        asks = [
            Ask(lane.domain, lane.in_flight, 0, 0, lane.limits.burst, lane.hand_back(), seen=lane.seen)
            for lane in self._active.values()
        ]
        if asks:
            self._exchange.send(asks)
        self._exchange.close()

    # -- the loop's side -------------------------------------------------------------------------
    def _new_lane(self, domain: str, limits: PaceLimits, row: LedgerRow | None, now: float) -> Lane:
        old = self._lanes.get(domain)
        lane = SharedLane(domain, limits, row, now)
        if isinstance(old, SharedLane):
            lane.permits, lane.target, lane.leading = old.permits, old.target, old.leading
            lane.slots, lane.seen = old.slots, old.seen
            self._active[domain] = lane
        return lane

    def admit(self, domain: str, limits: PaceLimits) -> None:
        super().admit(domain, limits)
        lane = self._shared(domain)
        if lane.learner is not None and lane.due < math.inf:
            lane.due = math.inf
            lane.stamp = 0

    def want(self, domain: str, n: int) -> None:
        lane = self._shared(domain)
        if n > 0 and domain not in self._active:
            self._active[domain] = lane
            self._turn_at = 0.0
        elif n <= 0 < lane.want and not lane.in_flight:
            self._turn_at = min(self._turn_at, self._last_turn + URGENT_S)  # others may want the permits
        elif lane.want <= 0 < n and lane.due == math.inf:
            self._turn_at = min(self._turn_at, self._last_turn + URGENT_S)  # its slots were given back
        super().want(domain, n)

    def take(self, now: float) -> Slot | None:
        self._turn(now)
        return super().take(now)

    def next_at(self, now: float) -> float | None:
        self._turn(now)
        at = super().next_at(now)
        if not self._active or not self._exchange.idle:
            return at  # the answer wakes the loop
        return max(now, self._turn_at if at is None else min(at, self._turn_at))

    def done(self, slot: Slot, observation: Observation) -> list[PaceEvent]:
        lane = self._shared(slot.domain)
        events, self._heard_events = self._heard_events, []
        owed = lane.owed_until
        if lane.leading or lane.learner is None:
            if slot.saturated and lane.ladder is not None:
                slot.in_flight = lane.ladder.level
            events = events + super().done(slot, observation)
        else:
            lane.in_flight -= 1
            lane.requests += 1
            lane.seen.append(self._packed(slot, observation))
            lane.throttled += observation.status in _REFUSALS
            if observation.status == 429 or (observation.status == 503 and observation.retry_after_s):
                wait = wait_after_refusal(observation.status, 1, observation.retry_after_s, self._rng)
                if observation.at + wait > lane.owed_until:
                    lane.owed_until = observation.at + wait
                    lane.refresh_gate()
                    lane.stamp = 0
            if not lane.stamp and lane.want > 0:
                self._enqueue(lane, observation.at)
        if lane.owed_until > owed:
            lane.owed_news = lane.owed_until
            lane.slots.clear()
            self._turn_at = 0.0  # at once
        return events

    def decide(self, domain: str, now: float) -> Decision:
        lane = self._shared(domain)
        due = lane.due
        if due == math.inf:
            lane.due = now  # a slot is on its way: that is no reason to give the URLs back
        try:
            return super().decide(domain, now)
        finally:
            lane.due = due

    # -- slots -----------------------------------------------------------------------------------
    def _book(self, lane: Lane, interval: float, now: float) -> None:
        """The next slot in hand; without one the domain waits for the next answer."""
        assert isinstance(lane, SharedLane)
        lane.interval = interval
        limits = lane.limits
        jitter, late, makes_up = limits.jitter, LATE_S, 1
        if lane.learner is not None and (lane.learner.limit_burst or NO_BURST) < NO_BURST:
            # What is made up for would be refused.
            jitter, late, makes_up = min(jitter, JITTER_NO_BURST), LATE_NO_BURST_S, 0
        if lane.taken < now - late - interval:
            late = 0.0  # what was sent just now was late enough: nothing else of that time may follow it
        lane.taken = math.inf
        while lane.slots:
            slot = lane.slots.popleft()
            if slot < lane.gate:
                continue  # void: a wait is for everybody
            if slot < now - late - interval:
                lane.lost += makes_up
                continue
            due = slot + self._random() * jitter * interval
            if limits.burst == 1 and lane.in_flight:
                due = max(due, now + (1.0 - jitter) * interval)
            lane.due, lane.taken = due, slot
            break
        else:
            lane.due = math.inf
        if len(lane.slots) * 2 < lane.stock:
            self._turn_at = min(self._turn_at, self._last_turn + URGENT_S)

    def put_back(self, slot: Slot) -> None:
        lane = self._shared(slot.domain)
        interval, lane.interval = lane.interval, 0.0  # the base would give it back to slots of its own
        super().put_back(slot)
        lane.interval = interval

    # -- turns -----------------------------------------------------------------------------------
    def _turn(self, now: float) -> None:
        """Hear what came back, and ask anew when it is time."""
        if self._exchange.answers or self._exchange.unanswered:
            self._hear(now)
        if now < self._turn_at or now < self._last_turn + URGENT_S or not self._exchange.idle:
            return
        asks, rest = [], TURN_UNLIMITED_S
        for domain, lane in list(self._active.items()):
            if lane.learner is not None or not lane.permits:
                rest = TURN_S
            if now - lane.heard_at > LAPSE_S and lane.permits:
                lane.target = 0  # the server may have given the permits to others by now
            asks.append(self._ask(lane, now))
            if lane.want <= 0 and not lane.in_flight and not lane.permits:
                del self._active[domain]
        self._last_turn = now
        self._turn_at = now + rest
        if asks:
            self._exchange.send(asks)

    def _ask(self, lane: SharedLane, now: float) -> Ask:
        lane.permits = max(lane.in_flight, min(lane.permits, lane.target))
        wanted = 0
        if lane.learner is not None and lane.want > 0:
            wanted = max(0, min(lane.stock, lane.want) - len(lane.slots))
        told = None
        if lane.leading and lane.learner is not None:
            if now >= lane.factor_until:
                lane.refresh_factor(now)
            state = (lane.rate, lane.own_cap, lane.gate)
            if state != lane.told:
                lane.told = state
                gate = lane.gate + self._exchange.offset if lane.gate else 0.0
                told = (lane.rate, lane.own_cap, gate, lane.row(now, ()).to_json())
        elif lane.learner is None and lane.leading and lane.told is None:
            lane.told = (0.0, lane.limits.concurrency, 0.0)
            told = (0.0, lane.limits.concurrency, 0.0, "")
        owed = None if lane.owed_news is None else max(0.0, lane.owed_news - now)
        back: list[float] = []
        if not lane.permits or lane.want <= 0:
            back = lane.hand_back()
        ask = Ask(
            lane.domain, lane.permits, max(0, lane.want) + lane.in_flight, wanted, lane.limits.burst, back, owed,
            told, lane.seen, lane.lost,
        )  # fmt: skip
        lane.owed_news, lane.seen, lane.lost = None, [], 0
        return ask

    def _hear(self, now: float) -> None:
        while self._exchange.unanswered:
            for ask in self._exchange.unanswered.popleft():
                lane = self._shared(ask.domain)
                lane.seen = ask.seen + lane.seen
                lane.lost += ask.lost
                lane.told = None if ask.told is not None else lane.told
                if ask.owed_s is not None and lane.owed_until > now:
                    lane.owed_news = lane.owed_until
        while self._exchange.answers:
            answer = self._exchange.answers.popleft()
            lane = self._shared(answer.domain)
            self._heard(lane, answer, now)
            if lane.permits or lane.want > 0 or lane.in_flight:
                self._active[answer.domain] = lane

    def _heard(self, lane: SharedLane, answer: Answer, now: float) -> None:
        lane.heard_at = now
        lane.permits += answer.extra
        lane.target = answer.target
        lane.holders = max(1, answer.holders)
        if answer.leading == 2 or (answer.leading and not lane.leading):
            self._lead(lane, answer, now)
        lane.leading = answer.leading > 0
        if lane.learner is not None:
            if not lane.leading and answer.rate:
                lane.told_rate, lane.told_cap = answer.rate, answer.cap or 1
                lane.learner.rate = answer.rate / lane.factor
            elif lane.leading:
                lane.told_rate, lane.told_cap = lane.rate, lane.own_cap
            for raw in answer.seen:
                self._seen_by_another(lane, raw)
        else:
            lane.told_cap = lane.limits.concurrency
        self._gate(lane, answer.gate, now)
        lane.slots.extend(answer.slots)
        if lane.due == math.inf and lane.slots and lane.learner is not None:
            self._book(lane, 1.0 / max(lane.rate, 1e-9), now)
        if lane.leading and lane.told is None:
            self._turn_at = min(self._turn_at, now + URGENT_S)
        if lane.target < lane.permits and not lane.in_flight:
            self._turn_at = min(self._turn_at, now + URGENT_S)  # hand them on
        someone_waits = lane.target < min(lane.permits, answer.ask.want)
        if lane.learner is not None or someone_waits or not lane.permits:
            self._turn_at = min(self._turn_at, now + answer.again)
        lane.stamp = 0
        if lane.want > 0:
            self._enqueue(lane, now)

    def _gate(self, lane: SharedLane, gate: float, now: float) -> None:
        if lane.leading or lane.learner is None:
            if now < gate < math.inf and gate > lane.owed_until + 0.01:
                lane.owed_until = gate  # somebody else was told to wait
        elif gate == math.inf:
            lane.paused_cause = lane.paused_cause or "paused by the worker that leads the domain"
        else:
            lane.paused_cause = ""
            lane.told_gate = gate
            if gate > now:
                lane.owed_until = max(lane.owed_until, gate)
        lane.refresh_gate()
        if lane.gate > now:
            lane.slots = type(lane.slots)(slot for slot in lane.slots if slot >= lane.gate)

    def _lead(self, lane: SharedLane, answer: Answer, now: float) -> None:
        """Go on from where the last leader was, or from the ledger's row."""
        lane.told = None
        if lane.learner is None or not answer.told:
            return
        row = LedgerRow.from_json(answer.told)
        fresh = SharedLane(lane.domain, lane.limits, row, lane.admitted_at)
        lane.learner, lane.ladder, lane.signals, lane.breaker = (
            fresh.learner, fresh.ladder, fresh.signals, fresh.breaker,
        )  # fmt: skip
        if answer.rate and row.rate is None and lane.learner is not None:
            lane.learner.rate = min(lane.learner.ceiling, answer.rate)
        lane.owed_until = max(lane.owed_until, row.owed_until)
        lane.paused_cause = row.paused_cause
        lane.told_gate = 0.0
        lane.refresh_gate()

    # -- observations ----------------------------------------------------------------------------
    def _packed(self, slot: Slot, seen: Observation) -> bytes:
        offset = self._exchange.offset
        return json.dumps(
            [
                seen.at + offset, seen.started_at + offset, seen.ttfb_s, seen.duration_s, seen.status,
                str(seen.outcome), seen.retry_after_s, seen.body_bytes, seen.usual_body_bytes, slot.late_s,
                slot.saturated,
                None if (quota := seen.quota) is None else
                [quota.limit, quota.window_s, quota.remaining, quota.reset_s],
            ],
            separators=(",", ":"),
        ).encode()  # fmt: skip

    def _seen_by_another(self, lane: SharedLane, raw: bytes) -> None:
        # A worker of an earlier version says nothing of quotas.
        at, started, ttfb, duration, status, outcome, retry_after, size, usual, late, saturated, *more = (
            json.loads(raw)
        )
        offset = self._exchange.offset
        at, started = at - offset, started - offset
        level = lane.ladder.level if lane.ladder is not None and saturated else 1
        quota = Quota(*more[0]) if more and more[0] is not None else None
        lane.in_flight += 1  # `done` takes it off again
        slot = Slot(lane.domain, started, late, level, saturated)
        seen = Observation(at, started, ttfb, duration, status, outcome, retry_after, size, usual, quota)
        self._heard_events += Pacer.done(self, slot, seen)

    def _save(self, lanes: list[Lane], now: float) -> None:
        """Only the one that leads a domain writes its row."""
        super()._save([lane for lane in lanes if isinstance(lane, SharedLane) and lane.leading], now)

    def _shared(self, domain: str) -> SharedLane:
        lane = self._lanes[domain]
        assert isinstance(lane, SharedLane)
        return lane
