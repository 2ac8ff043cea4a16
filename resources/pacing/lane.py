"""What the pacer keeps of one domain: its limits, its learned state, and the instants it waits for."""

from __future__ import annotations

import math

from resources.pacing.base import PaceLimits
from resources.pacing.breaker import Breaker, BreakerState
from resources.pacing.concurrency import ConcurrencyLadder
from resources.pacing.learning import RateLearner
from resources.pacing.ledger.base import LedgerRow, NightRow
from resources.pacing.quota import QuotaPace
from resources.pacing.signals import Signals

__all__ = ["Lane"]

# Tonight starts a little below last night's limit: its first minute shall draw no refusal.
_SECOND_NIGHT = 0.96


class Lane:
    """One domain. `Pacer` is the only writer.

    The next request goes at max(`due`, `gate`, `window_opens`); all are epoch seconds, `gate` is `inf` when paused.
    """

    __slots__ = (
        "admitted_at", "breaker", "capped", "command_seq", "dirty", "domain", "due", "factor", "factor_until",
        "failures", "floor_hits", "forbidden", "gate", "in_flight", "interval", "ladder", "learner", "limits",
        "owed_until", "paused_cause", "quota", "rate_start", "recorded", "refused_in_a_row", "requests", "signals", "slow_factor",
        "slow_reason", "slow_until", "stamp", "throttled", "waited_s", "walls", "want", "window_closes",
        "window_opens",
    )  # fmt: skip

    def __init__(self, domain: str, limits: PaceLimits, row: LedgerRow | None, now: float) -> None:
        self.domain = domain
        self.limits = limits
        self.admitted_at = now
        self.want = 0
        self.in_flight = 0
        self.stamp = 0  # of its one valid entry in the heap; 0: none
        self.due = now
        self.gate = 0.0
        self.interval = 0.0
        self.capped = False
        self.dirty = False
        self.factor = 1.0
        self.factor_until = 0.0  # recompute `factor` from then on
        self.window_opens = 0.0
        self.window_closes = 0.0 if limits.window else math.inf
        self.requests = self.throttled = self.forbidden = self.walls = self.failures = 0
        self.recorded = 0  # of `requests`, how many the history knows of
        self.waited_s = 0.0
        self.refused_in_a_row = 0
        self.floor_hits = 0
        self.owed_until = row.owed_until if row else 0.0
        self.paused_cause = row.paused_cause if row else ""
        self.slow_factor = row.slow_factor if row else 1.0
        self.slow_until = row.slow_until if row else 0.0
        self.slow_reason = row.slow_reason if row else ""
        self.command_seq = row.command_seq if row else 0
        self.breaker = Breaker(row.breaker_until, row.breaker_opened, row.breaker_cause) if row else Breaker()
        self.signals = Signals(row.usual_body_bytes if row else None)
        self.quota: QuotaPace | None = None  # once the server has told one
        self.learner: RateLearner | None = None
        self.ladder: ConcurrencyLadder | None = None
        if not limits.unlimited:
            self.learner = _learner(limits, row, now)
            self.ladder = ConcurrencyLadder(
                limits.concurrency, row.concurrency if row and row.concurrency else 1
            )
        self.rate_start = self.learner.rate if self.learner else math.inf
        self.refresh_gate()

    def refresh_gate(self) -> None:
        """Recompute `gate` after anything it is made of has changed."""
        if self.paused_cause:
            self.gate = math.inf
        elif self.breaker.state is BreakerState.OPEN:
            self.gate = max(self.owed_until, self.breaker.until)
        else:
            self.gate = self.owed_until

    def refresh_window(self, now: float) -> None:
        """Look the window up again: called when `now` has reached `window_closes`."""
        window = self.limits.window
        if window is None:
            return
        self.window_opens = window.opens_at(now)
        self.window_closes = window.closes_at(self.window_opens) or math.inf

    def refresh_factor(self, now: float) -> None:
        """Ramp-up and outside slow-downs: what the learned rate is multiplied by, and until when that holds."""
        self.factor, self.factor_until = 1.0, math.inf
        ramp_end = self.admitted_at + self.limits.ramp_up_s
        if now < ramp_end:
            self.factor, self.factor_until = 0.5, ramp_end
        if now < self.slow_until:
            self.factor *= self.slow_factor
            self.factor_until = min(self.factor_until, self.slow_until)

    @property
    def cap(self) -> int:
        """Requests that may be in flight now."""
        if self.breaker.state is not BreakerState.CLOSED:
            return 1
        learner, ladder = self.learner, self.ladder
        if learner is None or ladder is None:
            return self.limits.concurrency
        return 1 if learner.cool_left else ladder.level

    @property
    def rate(self) -> float:
        """Requests per second in force, `inf` when unlimited."""
        if self.learner is None:
            return math.inf
        rate = self.learner.rate * self.factor
        return rate if self.quota is None else min(rate, self.quota.rate)

    @property
    def quota_binds(self) -> bool:
        """Whether the told quota is lower than what was learned: then a slot says nothing about the rest."""
        learner, quota = self.learner, self.quota
        return quota is not None and learner is not None and quota.rate < learner.rate * self.factor

    def row(self, now: float, reasons: tuple[str, ...]) -> LedgerRow:
        """What to remember of it."""
        learner = self.learner
        return LedgerRow(
            domain=self.domain,
            updated_at=now,
            rate=learner.rate_to_remember if learner and learner.learned else None,
            concurrency=self.ladder.level if self.ladder else None,
            limit_rate=learner.limit_rate if learner else None,
            limit_burst=learner.limit_burst if learner else None,
            trouble_rate=(learner.trouble_rate or learner.worst_rate) if learner else None,
            probe_every_s=learner.probe_every if learner else None,
            ttfb_base_s=learner.latency.base if learner else None,
            usual_body_bytes=self.signals.usual_body_known,
            owed_until=self.owed_until,
            breaker_until=self.breaker.until,
            breaker_opened=self.breaker.opened,
            breaker_cause=self.breaker.cause if self.breaker.state is not BreakerState.CLOSED else "",
            paused_cause=self.paused_cause,
            slow_factor=self.slow_factor,
            slow_until=self.slow_until,
            slow_reason=self.slow_reason,
            command_seq=self.command_seq,
            reasons=reasons,
        )

    def night_row(self, night: str, now: float) -> NightRow:
        """What the history keeps of its night."""
        learner = self.learner
        return NightRow(
            domain=self.domain,
            night=night,
            started_at=self.admitted_at,
            ended_at=now,
            requests=self.requests,
            throttled=self.throttled,
            forbidden=self.forbidden,
            walls=self.walls,
            failures=self.failures,
            rate_start=self.rate_start if math.isfinite(self.rate_start) else None,
            rate_end=learner.rate if learner else None,
            limit_rate=learner.limit_rate if learner else None,
            trouble_rate=learner.trouble_rate if learner else None,
            waited_s=self.waited_s,
            paused_cause=self.paused_cause or self.breaker.cause * (self.breaker.state is BreakerState.OPEN),
        )


def _learner(limits: PaceLimits, row: LedgerRow | None, now: float) -> RateLearner:
    # 1. remembered: tonight starts where the last night ended. 2. configured: the user knows. 3. auto: find out.
    if row is not None and row.rate is not None:
        start = row.rate
        if row.limit_rate is not None:
            start = min(start, row.limit_rate * _SECOND_NIGHT)
        learner = RateLearner(limits.ceiling, limits.min_rate, start)
        learner.remember(row.limit_rate, row.limit_burst, row.trouble_rate, row.probe_every_s, now)
        learner.latency.base = row.ttfb_base_s
        return learner
    if limits.rate is not None:
        return RateLearner(limits.ceiling, limits.min_rate, limits.ceiling)
    return RateLearner(limits.ceiling, limits.min_rate)
