"""The learned rate of one domain: up while it is well, down at the first sign, and then just under the limit.

Phases::

    FIRST   one request; the time to first byte says how much the server can bear at once
    START   slow start: the rate doubles every few good answers, until the ceiling or trouble
    HOLD    just under what is known or believed of the limit; reviews exclude beliefs, at growing distances
    PROBE   a little above the limit for long enough to notice; the pause between probes doubles on failure
    RECOVER after trouble that no limiter explains: half the rate, then slowly back to below where it began

A refusal (429, 503) is an event of the domain; a lone 503 is none (`isolated`). What was accepted and refused before it yields a belief about the
limiter (`limit_estimate`), and the rate goes to just under it at once instead of sawing up and down. When no leaky
bucket explains it, the rate is decreased multiplicatively and recovers additively.

Latency: when the time to first byte has grown to a multiple of its base, throughput tells two cases apart. Constant
throughput: the server delays (a shaping limiter, a queue), its throughput is the rate to hold. Falling throughput:
it collapses, and the rate goes well below.
"""

from __future__ import annotations

import enum
import math
from typing import NamedTuple

from resources.pacing.base import EventKind
from resources.pacing.isolated import IsolatedFaults
from resources.pacing.latency import Latency, LatencyVerdict
from resources.pacing.limit_estimate import LimitEstimate
from resources.pacing.refusals import RefusalKind, Refusals

__all__ = ["NO_BURST", "Change", "Phase", "RateLearner", "first_rate"]

# First rate: half of what would keep one connection busy; 10 r/s for a server that answers at once, 1 for 500 ms.
_FIRST_SHARE = 0.5
_FIRST_MIN, _FIRST_MAX = 0.5, 10.0
# Slow start: times 1.25 per good answer doubles the rate every three.
_GROWTH = 1.25
# How far below the believed limit: clocks drift, networks bunch, and 95 % of the limit is the promise.
_BELOW, _BELOW_WINDOW = 0.985, 0.93
# Without a burst every gap counts by itself: clocks and networks shorten some by that much.
_SHORTER_S = 0.0002
# A limiter that takes fewer at once than that has no burst: gaps must be nearly even then.
NO_BURST = 1.7
# Reviews of the belief: after so many answers, then at doubling distances; it changes little after the last.
_REVIEW_FIRST, _REVIEW_LAST = 20, 640
_NEVER, _IN_WINDOWS = 1 << 60, 1 << 61
_REVIEW_STEP_MAX = 1.3
_PROBE_EVERY_S, _PROBE_EVERY_MAX_S = 120.0, 6 * 3600.0
# Probes are sooner while much of the belief lies above the rate, and each failed one makes the next later.
_PROBE_SOON_S, _PROBE_LATER_S, _SOON_LATER, _SOON_ABOVE, _SOON_BELIEF = 4.0, 25.0, 2.5, 1.08, 0.25
# Less belief than that is no reason to try a certain rate.
_WORTH_A_STEP = 0.03
# ... and only while the refusals drawn tonight are few.
_SOON_EVENTS, _SOON_EVENTS_SHARE = 3, 0.002
_PROBE_STEP, _PROBE_STEP_MAX = 1.06, 1.5
_PROBE_ANSWERS_MIN, _PROBE_MAX_S = 20, 180.0
_USUAL_BURST = 6.0
# What is counted by the minute shows only then.
_PROBE_WINDOW_S = 25.0
# Far below what was once held for long, the pause between probes stays short: the trouble may be over.
_FAR_BELOW, _PROBE_EVERY_FAR_S, _HELD_ANSWERS = 0.3, 600.0, 50
# Where connections are the bottleneck a rate far above what they bring would burst when they get faster.
_ABOVE_GOODPUT = 1.5
# Multiplicative decreases: for signs of a ban, for refusals no limiter explains, for another refusal at once, for
# refusals in the middle of holding, for a server that gets slower, and for one that collapses.
_TROUBLE_CUT, _UNEXPLAINED_CUT, _SHORT_RUN_CUT, _HELD_CUT = 0.5, 0.6, 0.75, 0.95
_SLOWER_CUT, _COLLAPSE_CUT = 0.8, 0.7
# Recovery: additive, to below where the trouble began, within so many answers.
_RECOVER_TO, _RECOVER_ANSWERS = 0.85, 200
# So many answers say more about a rate than how it was come by.
_SETTLED = 40
# A rate that was accepted that often in a row is under the limit, whatever one refusal says.
_HELD_LONG = 500
# A 503 after that many answers is alone; if no limiter explains it with the last one, neither was a refusal.
_FAULT_ALONE = 40
# Good answers at one connection before there may be more.
_COOL_ANSWERS, _COOL_ANSWERS_TROUBLE = 5, 10


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


def _promised(estimate: LimitEstimate) -> float:
    """The rate to hold under a belief: a limiter without any burst sees every unevenness."""
    return estimate.expected_best() * _share(estimate)


def _share(estimate: LimitEstimate) -> float:
    return _BELOW / (1.0 + _SHORTER_S * estimate.best_rate) if estimate.best_capacity < NO_BURST else _BELOW


class RateLearner:
    """The rate of one domain between `floor` and `ceiling`. Instants are epoch seconds, given by the caller."""

    __slots__ = (
        "_belief", "_blamed_rate", "_held_rate", "_hiccup", "_lid", "_next_review", "_probe_from", "_probe_left",
        "_probe_step", "_short_runs",
        "_soon", "_steady_rate", "ceiling", "cool_left", "faults", "floor", "latency", "limit_burst", "limit_rate", "next_probe_at",
        "phase", "probe_every", "rate", "refusals", "trouble_rate", "worst_rate",
    )  # fmt: skip

    def __init__(self, ceiling: float, floor: float, start: float | None = None) -> None:
        """`start`: the rate to begin with at once (a configured or remembered one); None: find out."""
        self.ceiling = ceiling
        self.floor = min(floor, ceiling)
        self.phase = Phase.FIRST if start is None else Phase.HOLD
        self.rate = min(ceiling, 1.0 if start is None else max(self.floor, start))
        self.limit_rate: float | None = None
        self.limit_burst: float | None = None
        self.trouble_rate: float | None = None  # at which trouble last began
        self.worst_rate: float | None = None  # the same, not forgotten when a probe passes
        self.probe_every = _PROBE_EVERY_S
        self.next_probe_at: float | None = None
        self.cool_left = 0  # good answers still needed at concurrency one
        self.latency = Latency()
        self.refusals = Refusals()
        self.faults = IsolatedFaults()
        self._belief: LimitEstimate | None = None
        self._blamed_rate = 0.0  # in force when a 503 was last taken for a limiter's
        self._hiccup = False  # a refusal at a rate long held was forgiven
        self._soon = _PROBE_SOON_S
        self._next_review = _NEVER
        self._probe_left = 0
        self._probe_from = 0.0
        self._probe_step = _PROBE_STEP
        self._steady_rate = self.rate  # held before the probe that is on
        self._lid = math.inf  # the highest rate that may be held without a probe
        self._held_rate = 0.0  # the highest rate held for long tonight
        self._short_runs = 0

    @property
    def learned(self) -> bool:
        """Whether the rate is more than a guess."""
        return self.phase not in (Phase.FIRST, Phase.START)

    @property
    def rate_to_remember(self) -> float:
        """The rate the next night may start with: never one that was only being tried."""
        return self._steady_rate if self.phase is Phase.PROBE else self.rate

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

    # -- observations ---------------------------------------------------------------------------------------------

    def accepted(self, sent_at: float, ttfb: float | None, now: float, paced: bool) -> Change | None:
        """A response that was no refusal. `paced`: its slot was the bottleneck, not a connection or a lack of URLs."""
        window_rate = self.refusals.accepted(sent_at)
        if window_rate is not None:
            return self._count_window(window_rate, now)
        self.faults.answered()
        if self.cool_left:
            self.cool_left -= 1
        phase = self.phase
        if phase is Phase.HOLD:
            if self.refusals.since >= self._next_review:
                return self._review()
            if self.next_probe_at is not None and now >= self.next_probe_at and paced:
                return self._begin_probe(now, self._promising())
        elif phase is Phase.START:
            if paced and not self.faults.recent:
                self.rate *= _GROWTH
                if self.rate >= self.ceiling:
                    self.rate, self.phase = self.ceiling, Phase.HOLD
        elif phase is Phase.PROBE:
            if paced and sent_at >= self._probe_from:
                self._probe_left -= 1
                if self._probe_left <= 0:
                    return self._probe_passed(now)
        elif phase is Phase.RECOVER:
            if paced and self.trouble_rate is not None:
                self.rate += self.trouble_rate / _RECOVER_ANSWERS
                enough = min(self.ceiling, self.trouble_rate * _RECOVER_TO)
                if self.rate >= enough:
                    self._hold(enough, now)
        elif ttfb is not None:
            self.rate = max(self.floor, min(self.ceiling, first_rate(ttfb)))
            self.phase = Phase.START
            self.latency.start(now)
        if ttfb is not None and self.latency.answered(ttfb, paced, now):
            return self._latency_epoch(now)
        return None

    def isolated(self, sent_at: float, now: float) -> bool:
        """Record a 503. True: the site's own fault, which leaves the rate alone; else call `refused`."""
        unsettled = self.phase in (Phase.FIRST, Phase.START) or self.refusals.answers < _SETTLED
        if self.faults.unavailable(sent_at, unsettled):
            self.refusals.accepted(sent_at)  # a limiter in front of the fault has counted it
            if self.phase is Phase.PROBE:
                self._hold(self._steady_rate, now)
            return True
        self.refusals.were_refused(self.faults.suspects)
        return False

    def refused(
        self, sent_at: float, now: float, status: int, retry_after_s: float | None = None
    ) -> Change | None:
        """A 429 or 503. None when it was already in flight at the last event: one event, one reaction."""
        kind = self.refusals.refused(sent_at, now, status, retry_after_s)
        if kind is RefusalKind.SAME:
            return None
        self.cool_left = _COOL_ANSWERS
        cause = str(status)
        if kind is RefusalKind.AGAIN:
            # The waits grow; the rate, which nobody has tried since, is not to blame.
            return Change(EventKind.SLOWER, cause, f"{status} again, nothing was accepted in between")
        before, was = self.rate, self.phase
        at = f"{status} at {before:.3g} r/s"
        self.latency.start(now)
        if was is Phase.PROBE:
            self._probe_failed()
        self._troubled(before)
        if self.refusals.told_rate is not None:
            return self._count_window(self.refusals.told_rate, now)
        estimate = self._estimate()
        if status == 503:
            mistaken = self.faults.limiter and estimate is None and self.refusals.run > _FAULT_ALONE
            self.faults.reacted(explained=estimate is not None)
            if mistaken:
                self._hold(max(before, self._blamed_rate), now)
                return Change(EventKind.FASTER, cause, f"{at}: no limiter explains it and the last one")
            self._blamed_rate = before
        # 1. no limiter explains it: the probe went too far, or the rate is innocent, or it is to blame
        if estimate is None:
            if was is Phase.PROBE:
                self._lid = self._steady_rate
                self._hold(self._steady_rate, now)
                return Change(EventKind.SLOWER, cause, f"{at}: the probe went too far")
            if self.refusals.rate_is_innocent(before, sent_at):
                self._hold(before, now)
                return Change(EventKind.SLOWER, cause, f"{at}, as soon as at a higher rate")
            self.rate = max(self.floor, before * _UNEXPLAINED_CUT)
            self.phase = Phase.RECOVER
            return Change(EventKind.SLOWER, cause, f"{at}, no leaky bucket explains it")
        # 2. a limiter explains it
        target = _promised(estimate)
        if was is Phase.HOLD and self.refusals.run > _HELD_LONG and not self._hiccup:
            # Once a night: something bunched what we had sent evenly.
            self._hiccup = True
            self._believe(estimate)
            self._hold(before, now)
            return Change(EventKind.SLOWER, cause, f"{at}, which went well {self.refusals.run} times: kept")
        if was is not Phase.START:
            if self.refusals.run > _COOL_ANSWERS:
                # It was no transient: what we held was too much, whatever else we believe, until a probe passes.
                self._lid = max(before * _HELD_CUT, self._steady_rate if was is Phase.PROBE else 0.0)
                self._short_runs = 0
            else:
                # Refused again at once: believe the likeliest limit now, not the most promising one.
                self._lid = before * _SHORT_RUN_CUT
                self._short_runs += 1
                if self._short_runs > 1:
                    target = min(target, estimate.best_rate * _share(estimate))
            target = min(target, self._lid)
        self.rate = min(target, before)
        self._believe(estimate)
        self._hold(self.rate, now)
        self._next_review = 1
        return Change(EventKind.SLOWER, cause, f"{at}: {self._limit_in_words()}")

    def trouble(self, cause: str, now: float, cut: float = _TROUBLE_CUT) -> Change:
        """A sign that is no refusal: less, at one connection, and slowly back to below where it began."""
        before = self.rate
        self._troubled(before if self.trouble_rate is None else min(before, self.trouble_rate))
        if self.phase is Phase.PROBE:
            self._probe_failed()
        self.rate = max(self.floor, before * cut)
        self.phase = Phase.RECOVER
        self.cool_left = _COOL_ANSWERS_TROUBLE
        self.refusals.event(now)
        self.latency.start(now)
        return Change(EventKind.SLOWER, cause, f"{cause} at {before:.3g} r/s")

    def _troubled(self, rate: float) -> None:
        self.trouble_rate = self.worst_rate = rate

    # -- beliefs --------------------------------------------------------------------------------------------------

    def _estimate(self) -> LimitEstimate | None:
        round_trip = self.latency.base or self.latency.mean or 0.0
        return self.refusals.estimate(max(self.rate, self.trouble_rate or 0.0), self.floor, round_trip)

    def _believe(self, estimate: LimitEstimate) -> None:
        self._belief = estimate
        self.limit_rate, self.limit_burst = estimate.best_rate, estimate.best_capacity
        if self.probe_every <= _PROBE_EVERY_S:
            affordable = self.refusals.events <= _SOON_EVENTS + self.refusals.answers * _SOON_EVENTS_SHARE
            above = estimate.above(self.rate * _SOON_ABOVE)
            often = self._soon if above > _SOON_BELIEF else _PROBE_LATER_S * _SOON_BELIEF / max(above, 1e-3)
            self.probe_every = min(often if affordable else math.inf, _PROBE_EVERY_S)

    def _count_window(self, rate: float, now: float) -> Change:
        """It took many, then refused for long whatever we did: so many per window, `rate` on the whole."""
        self.limit_rate, self.limit_burst = rate, float(max(1, self.refusals.run))
        self._lid = rate * _BELOW_WINDOW
        self._belief = None
        if self._next_review != _IN_WINDOWS:
            self.probe_every = max(self.probe_every, _PROBE_WINDOW_S)
        self._next_review = _IN_WINDOWS
        self._hold(min(self.rate, self._lid), now)
        return Change(
            EventKind.LEARNED, "limit", f"{self.limit_burst:.0f} a window, {rate:.3g} r/s on the whole"
        )

    def _review(self) -> Change | None:
        """Beliefs that the accepted requests contradict are gone: is more allowed than we thought?"""
        since = self.refusals.since
        if since <= 1:
            self.refusals.keep()
        self._next_review = max(_REVIEW_FIRST, since * 2)
        estimate = self._estimate()
        if estimate is None:
            return None
        self._believe(estimate)
        target = min(self.ceiling, _promised(estimate), self.rate * _REVIEW_STEP_MAX, self._lid)
        if target > self.rate * 1.01 or (since <= 1 and target < self.rate):
            before, self.rate = self.rate, max(self.floor, target)
            self._next_review = since + _REVIEW_FIRST
            kind = EventKind.FASTER if self.rate > before else EventKind.SLOWER
            return Change(kind, "limit", self._limit_in_words())
        if self._next_review > _REVIEW_LAST:
            self._next_review = _NEVER
            return Change(EventKind.LEARNED, "limit", self._limit_in_words())
        return None

    def _limit_in_words(self) -> str:
        return f"the limit looks like {self.limit_rate:.3g} r/s with {self.limit_burst:.0f} at once"

    # -- holding and probing --------------------------------------------------------------------------------------

    def _hold(self, rate: float, now: float) -> None:
        self.rate = max(self.floor, min(self.ceiling, rate))
        self.phase = Phase.HOLD
        far_below = self.rate < _FAR_BELOW * self._held_rate
        self.next_probe_at = now + (
            min(_PROBE_EVERY_FAR_S, self.probe_every) if far_below else self.probe_every
        )

    def _begin_probe(self, now: float, wanted: float = 0.0) -> Change | None:
        if self.rate >= self.ceiling:
            self._hold(self.rate, now)
            return None
        if self.phase is not Phase.PROBE:
            self._steady_rate = self.rate
            self._probe_step = _PROBE_STEP
        proven = self.rate
        if self.limit_rate is not None and proven < self.limit_rate < proven * 1.1:
            proven = self.limit_rate
        probe = min(self.ceiling, max(wanted, proven * self._probe_step))
        # Long enough for the burst to be used up if the limit is where we think, but not for ever.
        enough = ((self.limit_burst or _USUAL_BURST) + 2.0) / max(
            0.01, 1.0 - proven / max(probe, proven * 1.01)
        )
        self._probe_left = int(min(enough, max(_PROBE_ANSWERS_MIN, probe * _PROBE_MAX_S)))
        self._probe_from = now
        self.rate, self.phase = probe, Phase.PROBE
        return Change(EventKind.FASTER, "probe", f"probing {probe:.3g} r/s for {self._probe_left} requests")

    def _probe_passed(self, now: float) -> Change | None:
        """What was the limit is not; the next one may be just above, so it is felt for at once, in growing steps."""
        self._steady_rate = self.rate
        self._lid = math.inf
        self._probe_step = min(_PROBE_STEP_MAX, 1.0 + (self._probe_step - 1.0) * 2.0)
        estimate = self._estimate() if self.refusals.kept else None
        if estimate is None:
            self.limit_rate = self.trouble_rate = self._belief = None
            self.refusals.forget()
            return self._begin_probe(now)
        self._believe(estimate)
        return self._begin_probe(now, min(_promised(estimate), self.rate * _REVIEW_STEP_MAX))

    def _promising(self) -> float:
        """The rate above the present one that promises most, where much of the belief lies above; else 0."""
        belief, floor = self._belief, self.rate * _SOON_ABOVE
        if belief is None or belief.above(floor) <= _WORTH_A_STEP:
            return 0.0
        return min(belief.expected_best(above=floor) * _share(belief), self.rate * _PROBE_STEP_MAX)

    def _probe_failed(self) -> None:
        if self.probe_every < _PROBE_EVERY_S:
            self._soon *= _SOON_LATER
            self.probe_every = min(_PROBE_EVERY_S, self.probe_every * _SOON_LATER)
            return
        self.probe_every = min(_PROBE_EVERY_MAX_S, max(_PROBE_EVERY_S, self.probe_every) * 2)

    def _latency_epoch(self, now: float) -> Change | None:
        before, latency = self.rate, self.latency
        verdict = latency.judge(self.refusals.recent, before, now)
        mean, goodput = latency.mean, latency.goodput
        if self.phase is not Phase.PROBE:
            if self.refusals.since > _HELD_ANSWERS:
                self._held_rate = max(self._held_rate, min(before, goodput))
            if latency.bound and before > _ABOVE_GOODPUT * goodput:
                self.rate = max(self.floor, _ABOVE_GOODPUT * goodput)
                if self.limit_rate is None and self.trouble_rate is None:
                    self.phase = Phase.START
        if verdict is LatencyVerdict.SLOWER:
            self._lid = min(self._lid, before * _SLOWER_CUT)
            self._troubled(before)
            self._hold(before * _SLOWER_CUT, now)
            return Change(EventKind.SLOWER, "latency", f"answers take {mean:.2g} s at {before:.3g} r/s")
        if verdict is LatencyVerdict.DELAYS:
            self._troubled(goodput)
            self.limit_rate = goodput
            self._hold(goodput * _BELOW, now)
            detail = f"answers wait {mean:.2g} s at constant {goodput:.3g} r/s: that is its rate"
            return Change(EventKind.SLOWER, "latency", detail)
        if verdict is LatencyVerdict.COLLAPSES:
            return self.trouble("latency", now, _COLLAPSE_CUT * min(1.0, goodput / before))
        return None
