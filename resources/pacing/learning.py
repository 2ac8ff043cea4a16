"""The learned rate of one domain: up while it is well, down at the first sign, and then just under the limit.

Phases::

    FIRST   one request; the time to first byte says how much the server can bear at once
    START   slow start: the rate doubles every few good answers, until the ceiling or trouble
    HOLD    just under what is known or believed of the limit; reviews exclude beliefs, at growing distances
    PROBE   a little above the limit for long enough to notice; the pause between probes doubles on failure
    RECOVER after trouble that no limiter explains: half the rate, then slowly back to below where it began

A refusal (429, 503) is an event of the domain. What was accepted and refused before it yields a belief about the
limiter (`limit_estimate`), and the rate goes to just under it at once instead of sawing up and down. When no leaky
bucket explains it, the rate is decreased multiplicatively and recovers additively.

Latency: when the time to first byte has grown to a multiple of its base, throughput tells two cases apart. Constant
throughput: the server delays (a shaping limiter, a queue), its throughput is the rate to hold. Falling throughput:
it collapses, and the rate goes well below.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import NamedTuple

from resources.pacing.base import EventKind
from resources.pacing.limit_estimate import LimitEstimate, estimate_limit

__all__ = ["NO_BURST", "Change", "Phase", "RateLearner", "first_rate"]

# First rate: half of what would keep one connection busy; 10 r/s for a server that answers at once, 1 for 500 ms.
_FIRST_SHARE = 0.5
_FIRST_MIN, _FIRST_MAX = 0.5, 10.0
# Slow start: times 1.25 per good answer doubles the rate every three.
_GROWTH = 1.25
# How far below the believed limit: clocks drift, networks bunch, and 95 % of the limit is the promise.
_BELOW, _BELOW_NO_BURST = 0.985, 0.93
# A limiter that takes fewer at once than that has no burst: gaps must be nearly even then.
NO_BURST = 1.7
# No belief reaches further below the rate at the refusal than that (a burst of 100 hides a limit 50 times lower).
_SEARCH_LOW, _SEARCH_HIGH = 0.015, 1.1
_ARRIVALS_KEPT = 600
_ARRIVALS_FOR_ESTIMATE = 300
# What led to each of the last refusals: the belief rests on it.
_ARRIVALS_ARCHIVED = 200
_ARCHIVED = 3
_REVIEW_FIRST, _REVIEW_LAST = 20, 640
_REVIEW_STEP_MAX = 1.3
_NEVER = 1 << 60
_PROBE_EVERY_S, _PROBE_EVERY_MAX_S = 120.0, 6 * 3600.0
# The first probe is sooner when much of the belief lies above the rate.
_PROBE_SOON_S, _SOON_ABOVE, _SOON_BELIEF = 25.0, 1.08, 0.25
_PROBE_STEP, _PROBE_STEP_MAX = 1.06, 1.5
_PROBE_ANSWERS_MIN, _PROBE_MAX_S = 20, 180.0
# Far below what was once held for long, the pause between probes stays short: the trouble may be over.
_FAR_BELOW, _PROBE_EVERY_FAR_S = 0.3, 600.0
# A latency epoch: enough answers for a mean, long enough for a throughput.
_EPOCH_ANSWERS, _EPOCH_S = 16, 1.0
_CREEP_FACTOR, _CREEP_MIN_S = 3.0, 0.03
_CREEP_STRIKES = 3
_SAME_GOODPUT = 0.9
_COLLAPSE_CUT = 0.7
_CREEP_CUT = 0.8
_TROUBLE_CUT = 0.5
_UNEXPLAINED_CUT = 0.6
_SHORT_RUN_CUT = 0.75
# So many refusals in a row, each after twice the wait, are the rest of a counted window, not a bucket that leaks.
_STREAK_OF_WINDOW = 2
_BELOW_WINDOW = 0.93
_CUT_CLEARLY, _RUN_LONGER = 0.8, 1.2
_RECOVER_TO = 0.85
_RECOVER_ANSWERS = 200
_COOL_ANSWERS = 5
_HELD_ANSWERS = 50
_COOL_ANSWERS_TROUBLE = 10


class Phase(enum.StrEnum):
    """See the module."""

    FIRST = "first"
    START = "slow start"
    HOLD = "hold"
    PROBE = "probe"
    RECOVER = "recover"


class Change(NamedTuple):
    """A decision worth telling: becomes a `PaceEvent`."""

    kind: EventKind
    cause: str
    detail: str


def first_rate(ttfb_s: float) -> float:
    """Requests per second to start with, from the first response's time to first byte."""
    return min(_FIRST_MAX, max(_FIRST_MIN, _FIRST_SHARE / max(ttfb_s, 1e-6)))


def _below(estimate: LimitEstimate) -> float:
    """The share of the believed limit to use: a limiter without any burst sees every unevenness."""
    return _BELOW_NO_BURST if estimate.best_capacity < NO_BURST else _BELOW


class RateLearner:
    """The rate of one domain between `floor` and `ceiling`. Instants are epoch seconds, given by the caller."""

    __slots__ = (
        "_archive",
        "_best_goodput",
        "_count",
        "_counts_windows",
        "_epoch_at",
        "_epoch_late",
        "_epoch_n",
        "_epoch_ttfb",
        "_event_at",
        "_held_rate",
        "_last_mean",
        "_last_run",
        "_lid",
        "_next_review",
        "_probe_from",
        "_probe_left",
        "_probe_step",
        "_recent",
        "_run",
        "_run_at",
        "_short_runs",
        "_status",
        "_steady_rate",
        "_streak",
        "_strikes",
        "ceiling",
        "cool_left",
        "events",
        "floor",
        "limit_burst",
        "limit_rate",
        "next_probe_at",
        "phase",
        "probe_every",
        "rate",
        "trouble_rate",
        "ttfb",
        "ttfb_base",
    )

    def __init__(self, ceiling: float, floor: float, start: float | None = None) -> None:
        """`start`: the rate to begin with at once (a configured or remembered one); None: find out."""
        self.ceiling = ceiling
        self.floor = min(floor, ceiling)
        self.phase = Phase.FIRST if start is None else Phase.HOLD
        self.rate = min(ceiling, 1.0 if start is None else max(self.floor, start))
        self.limit_rate: float | None = None
        self.limit_burst: float | None = None
        self.trouble_rate: float | None = None
        self.probe_every = _PROBE_EVERY_S
        self.next_probe_at: float | None = None
        self.cool_left = 0  # good answers still needed at concurrency one
        self.events = 0  # refusals, each with everything that was in flight counted once
        self.ttfb_base: float | None = None
        self.ttfb: float | None = None
        self._recent: list[float] = []
        self._archive: list[list[float]] = []
        self._event_at = 0.0
        self._count = 0
        self._next_review = _NEVER
        self._probe_left = 0
        self._probe_from = 0.0
        self._probe_step = _PROBE_STEP
        self._steady_rate = self.rate
        self._lid = math.inf  # the highest rate that may be held without a probe
        self._epoch_at = 0.0
        self._epoch_n = 0
        self._epoch_late = 0
        self._epoch_ttfb = 0.0
        self._best_goodput = 0.0
        self._last_mean = 0.0
        self._strikes = 0
        self._short_runs = 0
        self._run = 0  # accepted between the last two refusals, from _run_at on
        self._run_at = 0.0
        self._status = 0
        self._streak = 0  # refusals since with nothing accepted between
        self._counts_windows = False
        self._last_run = (
            0.0,
            0.0,
        )  # rate at the last unexplained refusal and how long all went well before it
        self._held_rate = 0.0  # the highest rate held for long tonight

    def accepted(self, sent_at: float, ttfb: float | None, now: float, paced: bool) -> Change | None:
        """A response that was no refusal. `paced`: its slot was the bottleneck, not a connection or a lack of URLs."""
        recent = self._recent
        recent.append(sent_at)
        if not self._count:
            if self._streak >= _STREAK_OF_WINDOW and self._status == 429:
                self._count_the_window(sent_at, now)
            self._streak = 0
            self._run_at = sent_at
        if len(recent) > _ARRIVALS_KEPT:
            self._trim()
        self._count += 1
        if self.cool_left:
            self.cool_left -= 1
        phase = self.phase
        if phase is Phase.HOLD:
            if self._count >= self._next_review:
                return self._review(now)
            if self.next_probe_at is not None and now >= self.next_probe_at and paced:
                return self._begin_probe(now)
        elif phase is Phase.START:
            if paced:
                self.rate *= _GROWTH
                if self.rate >= self.ceiling:
                    self.rate = self.ceiling
                    self.phase = Phase.HOLD
        elif phase is Phase.PROBE:
            if sent_at >= self._probe_from and paced:
                self._probe_left -= 1
                if self._probe_left <= 0:
                    return self._probe_passed(now)
        elif phase is Phase.RECOVER:
            if paced and self.trouble_rate is not None:
                self.rate += self.trouble_rate / _RECOVER_ANSWERS
                if self.rate >= min(self.ceiling, self.trouble_rate * _RECOVER_TO):
                    return self._hold(min(self.ceiling, self.trouble_rate * _RECOVER_TO), now)
        elif ttfb is not None:
            self.rate = max(self.floor, min(self.ceiling, first_rate(ttfb)))
            self.phase = Phase.START
            self._epoch_at = now
        if ttfb is not None:
            self._epoch_n += 1
            self._epoch_ttfb += ttfb
            self._epoch_late += not paced
            if self._epoch_n >= _EPOCH_ANSWERS and now - self._epoch_at >= _EPOCH_S:
                return self._epoch(now)
        return None

    def refused(self, sent_at: float, now: float, status: int) -> Change | None:
        """A 429 or 503. None when it was already in flight at the last event: one event, one reaction."""
        # 1. in flight at the last event: the same event  2. nothing accepted since: still the same trouble, the
        # waits grow but the rate is not to blame  3. a new event
        if sent_at <= self._event_at:
            self._recent.append(-sent_at)
            return None
        self._event_at = now
        self._status = status
        self.events += 1
        self.cool_left = _COOL_ANSWERS
        if self._count == 0 and self.trouble_rate is not None:
            self._streak += 1
            return Change(EventKind.SLOWER, str(status), f"{status} again, nothing was accepted in between")
        self._recent.append(-sent_at)
        self._run, self._count = self._count, 0
        before, was = self.rate, self.phase
        self._reset_epoch(now)
        if was is Phase.PROBE:
            self._probe_failed()
        self.trouble_rate = before
        estimate = self._estimate()
        if estimate is None and was is Phase.PROBE:
            self._lid = self._steady_rate
            self._hold(self._steady_rate, now)
            return Change(
                EventKind.SLOWER, str(status), f"{status} at {before:.3g} r/s: the probe went too far"
            )
        if estimate is None and self._not_us(before, sent_at - self._run_at):
            self._hold(before, now)
            return Change(
                EventKind.SLOWER, str(status), f"{status} at {before:.3g} r/s, as soon as at a higher rate"
            )
        if estimate is None:
            self.rate = max(self.floor, before * _UNEXPLAINED_CUT)
            self.phase = Phase.RECOVER
            return Change(
                EventKind.SLOWER, str(status), f"{status} at {before:.3g} r/s, no leaky bucket explains it"
            )
        target = estimate.expected_best() * _below(estimate)
        if was is not Phase.START:
            if self._run > _COOL_ANSWERS:
                # It was no transient: what we held was too much, whatever else we believe, until a probe passes.
                self._lid = max(before * 0.95, self._steady_rate if was is Phase.PROBE else 0.0)
                self._short_runs = 0
            else:
                # Refused again at once: believe the likeliest limit now, not the most promising one.
                self._lid = before * _SHORT_RUN_CUT
                self._short_runs += 1
                if self._short_runs > 1:
                    target = min(target, estimate.best_rate * _below(estimate))
            target = min(target, self._lid)
        self.rate = min(target, before)
        self._believe(estimate)
        self._hold(self.rate, now)
        self._next_review = 1
        return Change(
            EventKind.SLOWER,
            str(status),
            f"{status} at {before:.3g} r/s: the limit looks like {self.limit_rate:.3g} r/s"
            f" with {self.limit_burst:.0f} at once",
        )

    def trouble(self, cause: str, now: float, cut: float = _TROUBLE_CUT) -> Change:
        """A sign that is no refusal: less, at one connection, and slowly back to below where it began."""
        before = self.rate
        self.trouble_rate = before if self.trouble_rate is None else min(before, self.trouble_rate)
        if self.phase is Phase.PROBE:
            self._probe_failed()
        self.rate = max(self.floor, before * cut)
        self.phase = Phase.RECOVER
        self.cool_left = _COOL_ANSWERS_TROUBLE
        self._event_at = now
        self._count = 0
        self._reset_epoch(now)
        return Change(EventKind.SLOWER, cause, f"{cause} at {before:.3g} r/s")

    def remember(
        self, limit_rate: float | None, limit_burst: float | None, trouble_rate: float | None, probe_every: float | None, now: float
    ) -> None:  # fmt: skip
        """Start from last night's row: hold, and probe only after the pause that was in force."""
        self.limit_rate, self.limit_burst, self.trouble_rate = limit_rate, limit_burst, trouble_rate
        self.probe_every = probe_every or _PROBE_EVERY_S
        if limit_rate is not None or trouble_rate is not None:
            self.next_probe_at = now + max(_PROBE_EVERY_S, self.probe_every)
        else:
            self.phase = Phase.START if self.rate < self.ceiling else Phase.HOLD

    @property
    def learned(self) -> bool:
        """Whether the rate is more than a guess."""
        return self.phase not in (Phase.FIRST, Phase.START)

    @property
    def rate_to_remember(self) -> float:
        """The rate the next night may start with: never one that was only being tried."""
        return self._steady_rate if self.phase is Phase.PROBE else self.rate

    def _hold(self, rate: float, now: float) -> Change | None:
        self.rate = max(self.floor, min(self.ceiling, rate))
        self.phase = Phase.HOLD
        far_below = self.rate < _FAR_BELOW * self._held_rate
        self.next_probe_at = now + (
            min(_PROBE_EVERY_FAR_S, self.probe_every) if far_below else self.probe_every
        )
        return None

    def _histories(self) -> list[Sequence[float]]:
        self._recent.sort(key=abs)
        return [*self._archive, self._recent[-_ARRIVALS_FOR_ESTIMATE:]]

    def _not_us(self, rate: float, run_s: float) -> bool:
        """Whether the last cut did not make the run up to the refusal any longer: then the rate is not the reason."""
        last_rate, last_run_s = self._last_run
        if rate < last_rate * _CUT_CLEARLY and run_s < last_run_s * _RUN_LONGER and self._run > _COOL_ANSWERS:
            return True
        self._last_run = (rate, run_s)
        return False

    def _count_the_window(self, sent_at: float, now: float) -> None:
        """It took many, then refused for long whatever we did: so many requests per window, not a bucket."""
        self._counts_windows = True
        self.limit_rate, self.limit_burst = (
            self._run / max(1e-3, sent_at - self._run_at),
            float(max(1, self._run)),
        )
        self._lid = self.limit_rate * _BELOW_WINDOW
        self.probe_every = max(self.probe_every, _PROBE_EVERY_S)
        self._next_review = _NEVER
        self._hold(min(self.rate, self._lid), now)

    def _estimate(self) -> LimitEstimate | None:
        if self._counts_windows:
            return None
        top = max(self.rate, self.trouble_rate or 0.0)
        low = max(self.floor / 2, top * _SEARCH_LOW)
        return estimate_limit(self._histories(), low, top * _SEARCH_HIGH, self.ttfb_base or self.ttfb or 0.0)

    def _believe(self, estimate: LimitEstimate) -> None:
        self.limit_rate, self.limit_burst = estimate.best_rate, estimate.best_capacity
        if self.probe_every <= _PROBE_EVERY_S:
            soon = estimate.above(self.rate * _SOON_ABOVE) > _SOON_BELIEF
            self.probe_every = _PROBE_SOON_S if soon else _PROBE_EVERY_S

    def _review(self, now: float) -> Change | None:
        """Beliefs that the accepted requests contradict are gone: is more allowed than we thought?"""
        if self._count <= 1:
            # Everything that was in flight at the refusal has come in: keep what led to it.
            self._recent.sort(key=abs)
            self._archive.append(self._recent[-_ARRIVALS_ARCHIVED:])
            del self._archive[:-_ARCHIVED]
        self._next_review = max(_REVIEW_FIRST, self._count * 2)
        estimate = self._estimate()
        if estimate is None:
            return None
        self._believe(estimate)
        target = min(
            self.ceiling, estimate.expected_best() * _below(estimate), self.rate * _REVIEW_STEP_MAX, self._lid
        )
        if target > self.rate * 1.01 or (self._count <= 1 and target < self.rate):
            before, self.rate = self.rate, max(self.floor, target)
            self._next_review = self._count + _REVIEW_FIRST
            kind = EventKind.FASTER if self.rate > before else EventKind.SLOWER
            return Change(kind, "limit", f"the limit looks like {self.limit_rate:.3g} r/s")
        if self._next_review > _REVIEW_LAST:
            self._next_review = _NEVER
            return Change(
                EventKind.LEARNED,
                "limit",
                f"limit {self.limit_rate:.3g} r/s with {self.limit_burst:.0f} at once",
            )
        return None

    def _begin_probe(self, now: float, wanted: float = 0.0) -> Change | None:
        if self.rate >= self.ceiling:
            return self._hold(self.rate, now)
        if self.phase is not Phase.PROBE:
            self._steady_rate = self.rate
            self._probe_step = _PROBE_STEP
        proven = self.rate
        if self.limit_rate is not None and proven < self.limit_rate < proven * 1.1:
            proven = self.limit_rate
        probe = min(self.ceiling, max(wanted, proven * self._probe_step))
        # Long enough for the burst to be used up if the limit is where we think.
        self._probe_left = int(
            ((self.limit_burst or 6.0) + 2.0) / max(0.01, 1.0 - proven / max(probe, proven * 1.01))
        )
        self._probe_from = now
        self.rate = probe
        self.phase = Phase.PROBE
        return Change(EventKind.FASTER, "probe", f"probing {probe:.3g} r/s for {self._probe_left} requests")

    def _probe_passed(self, now: float) -> Change | None:
        """What was the limit is not; the next one may be just above, so it is felt for at once, in growing steps."""
        self._steady_rate = self.rate
        self._lid = math.inf
        self._probe_step = min(_PROBE_STEP_MAX, 1.0 + (self._probe_step - 1.0) * 2.0)
        estimate = self._estimate() if self._archive else None
        if estimate is None:
            self.limit_rate = self.trouble_rate = None
            self._counts_windows = False
            self._archive.clear()
            return self._begin_probe(now)
        self._believe(estimate)
        return self._begin_probe(
            now, min(estimate.expected_best() * _below(estimate), self.rate * _REVIEW_STEP_MAX)
        )

    def _probe_failed(self) -> None:
        self.probe_every = min(_PROBE_EVERY_MAX_S, max(_PROBE_EVERY_S, self.probe_every) * 2)

    def _epoch(self, now: float) -> Change | None:
        mean = self._epoch_ttfb / self._epoch_n
        goodput = self._goodput()
        late = self._epoch_late / self._epoch_n
        self._reset_epoch(now)
        if self.phase is not Phase.PROBE and self._count > _HELD_ANSWERS:
            self._held_rate = max(self._held_rate, min(self.rate, goodput))
        self.ttfb = mean
        if self.ttfb_base is None:
            self.ttfb_base = mean
        self.ttfb_base = min(self.ttfb_base * 1.01, mean)
        creeping = mean > _CREEP_FACTOR * self.ttfb_base and mean - self.ttfb_base > _CREEP_MIN_S
        best, self._best_goodput = self._best_goodput, max(self._best_goodput * 0.995, goodput)
        if late > 0.5 and self.rate > 1.5 * goodput and self.phase is not Phase.PROBE:
            # Connections are the bottleneck: a rate far above what they bring would burst when they get faster.
            self.rate = max(self.floor, 1.5 * goodput)
            if self.limit_rate is None and self.trouble_rate is None:
                self.phase = Phase.START
        if not creeping or late > 0.5:
            # Where connections are the bottleneck the number of connections answers for the latency, not the rate.
            self._strikes = 0
            return None
        self._strikes += 1
        last, self._last_mean = self._last_mean, mean
        if self._strikes > _CREEP_STRIKES and mean > 0.8 * last:
            # Going slower did not help: the server is slower for reasons of its own.
            self.ttfb_base, self._strikes = mean / 2, 0
            return None
        before = self.rate
        if goodput >= _SAME_GOODPUT * before:
            # 1. It serves all we send, only slower: a little less, to see whether it is our doing.
            self.rate = max(self.floor, before * _CREEP_CUT)
            self._lid = min(self._lid, self.rate)
            self.trouble_rate = before
            self._hold(self.rate, now)
            return Change(EventKind.SLOWER, "latency", f"answers take {mean:.2g} s at {before:.3g} r/s")
        if goodput >= _SAME_GOODPUT * best:
            # 2. It serves as much as ever, the rest waits: that is its rate.
            self.trouble_rate = self.limit_rate = goodput
            self._hold(goodput * 0.98, now)
            return Change(
                EventKind.SLOWER,
                "latency",
                f"answers wait {mean:.2g} s at constant {goodput:.3g} r/s: that is its rate",
            )
        # 3. It serves less than before: it collapses under us.
        self._best_goodput = goodput
        return self.trouble("latency", now, _COLLAPSE_CUT * goodput / before)

    def _goodput(self) -> float:
        """Requests per second over the later half of the epoch: while the rate grows the whole would say too little."""
        n = max(_EPOCH_ANSWERS - 1, self._epoch_n // 2)
        recent = self._recent[-n - 1 :]
        return n / max(1e-6, abs(recent[-1]) - abs(recent[0]))

    def _reset_epoch(self, now: float) -> None:
        self._epoch_at, self._epoch_n, self._epoch_ttfb, self._epoch_late = now, 0, 0.0, 0

    def _trim(self) -> None:
        """Drop the older half; what led to a refusal is in the archive."""
        self._recent.sort(key=abs)
        del self._recent[: len(self._recent) // 2]
