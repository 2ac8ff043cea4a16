"""The decision of a domain in words: every reason that holds it back, the binding one first."""

from __future__ import annotations

import math

from resources.pacing.base import Decision, PaceSnapshot, Reason, ReasonName
from resources.pacing.breaker import BreakerState
from resources.pacing.lane import Lane

__all__ = ["decision_of", "snapshot_of"]


def decision_of(lane: Lane, now: float) -> Decision:
    """When `lane` may go next and why not now. Reads only."""
    limits, learner = lane.limits, lane.learner
    reasons: list[Reason] = []
    if lane.paused_cause:
        reasons.append(Reason(ReasonName.PAUSED, math.inf, lane.paused_cause))
    if lane.breaker.state is not BreakerState.CLOSED:
        detail = f"{lane.breaker.cause}, opened {lane.breaker.opened} times in a row; then one probe"
        reasons.append(Reason(ReasonName.BREAKER, lane.breaker.until, detail))
    if lane.owed_until > now:
        reasons.append(
            Reason(ReasonName.RETRY_AFTER, lane.owed_until, "the server asked to wait, or we back off")
        )
    at = max(now, lane.due, lane.gate)
    opens = limits.window.opens_at(at) if limits.window and math.isfinite(at) else at
    if limits.window and opens > at:
        window = limits.window
        hours = f"{window.start:%H:%M}-{window.end:%H:%M} {window.zone}"
        reasons.append(Reason(ReasonName.WINDOW, opens, f"only within {hours}"))
    if lane.due > now or lane.factor < 1 or (learner and learner.cool_left):
        reasons += _rate_reasons(lane, now)
    at = opens
    if lane.in_flight >= lane.cap:
        reasons.append(Reason(ReasonName.CONCURRENCY, at, f"{lane.in_flight} requests in flight are allowed"))
    if lane.want <= 0:
        reasons.append(Reason(ReasonName.NO_WORK, math.inf, "no claimable URL is buffered"))
    reasons.sort(key=lambda reason: -reason.until)
    put_off = lane.gate - now > limits.retry_after_max_s
    if limits.delay_s > limits.crawl_delay_max_s and at > now:
        # One request went, or goes, at once; the next is for a later night.
        put_off = True
        detail = f"{limits.delay_s:g} s between requests, more than the {limits.crawl_delay_max_s:g} s that are slept on"
        reasons.insert(0, Reason(ReasonName.CRAWL_DELAY, at, detail))
    return Decision(lane.domain, at, lane.rate, lane.cap, tuple(reasons), put_off)


def _rate_reasons(lane: Lane, now: float) -> list[Reason]:
    limits, learner = lane.limits, lane.learner
    if learner is None:
        return []
    reasons = []
    if lane.quota is not None and lane.quota_binds:
        detail = f"{lane.quota.rate:.3g} r/s: the server says what it permits"
        reasons.append(Reason(ReasonName.QUOTA, lane.due, detail))
    elif learner.rate < limits.ceiling:
        known = "" if learner.limit_rate is None else f", the limit looks like {learner.limit_rate:.3g} r/s"
        reasons.append(
            Reason(ReasonName.LEARNED_RATE, lane.due, f"{learner.rate:.3g} r/s ({learner.phase}){known}")
        )
    elif limits.delay_s > 0 and limits.ceiling <= 1.0 / limits.delay_s:
        reasons.append(Reason(ReasonName.CRAWL_DELAY, lane.due, f"{limits.delay_s:g} s between requests"))
    else:
        reasons.append(Reason(ReasonName.CONFIGURED_RATE, lane.due, f"{limits.ceiling:g} r/s"))
    if now < lane.admitted_at + limits.ramp_up_s:
        end = lane.admitted_at + limits.ramp_up_s
        reasons.append(Reason(ReasonName.RAMP_UP, lane.due, f"half the rate for {end - now:.0f} s more"))
    if now < lane.slow_until:
        detail = (
            f"{lane.slow_factor:g} times the rate for {lane.slow_until - now:.0f} s more: {lane.slow_reason}"
        )
        reasons.append(Reason(ReasonName.SLOWED_DOWN, lane.due, detail))
    if learner.cool_left:
        detail = f"one connection until {learner.cool_left} more good answers"
        reasons.append(Reason(ReasonName.COOL_DOWN, lane.due, detail))
    return reasons


def snapshot_of(lane: Lane, now: float) -> PaceSnapshot:
    """The live state of `lane`."""
    decision = decision_of(lane, now)
    learner = lane.learner
    return PaceSnapshot(
        domain=lane.domain,
        rate=lane.rate,
        ceiling=lane.limits.ceiling,
        concurrency=lane.cap,
        in_flight=lane.in_flight,
        waiting=max(0, lane.want),
        phase=str(learner.phase) if learner else "unlimited",
        next_at=decision.at if math.isfinite(decision.at) else None,
        binding=f"{decision.reasons[0].name}: {decision.reasons[0].detail}" if decision.reasons else "",
        limit_rate=learner.limit_rate if learner else None,
        limit_burst=learner.limit_burst if learner else None,
        trouble_rate=learner.trouble_rate if learner else None,
        ttfb_base_s=learner.latency.base if learner else None,
        ttfb_s=learner.latency.mean if learner else None,
        requests=lane.requests,
        throttled=lane.throttled,
        forbidden=lane.forbidden,
        walls=lane.walls,
        failures=lane.failures,
        paused_cause=lane.paused_cause,
        owed_until=lane.owed_until,
    )
