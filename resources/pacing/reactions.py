"""What a domain does about an observation: wait, slow down, stop. Each function changes one `Lane` and tells it.

A changed instant makes the domain's heap entry stale (`lane.stamp = 0`); `Pacer.done` enqueues it anew.
"""

from __future__ import annotations

import random

from resources.pacing.base import EventKind, Observation, Outcome, PaceEvent
from resources.pacing.breaker import FAILURES_TO_OPEN, Breaker, BreakerState
from resources.pacing.lane import Lane
from resources.pacing.learning import Change
from resources.pacing.ledger.base import Command
from resources.pacing.quota import QuotaPace
from resources.pacing.waits import wait_after_fault, wait_after_refusal

__all__ = ["answered", "failed", "obey", "page_came", "quota_told", "refused", "shrunken", "told"]

# Refusals at the floor of the rate until the domain is paused for a person to look at.
_FLOOR_HITS = 3
_AT_FLOOR = 1.01
# Causes that say "they do not want us": worth an alert at once. The others may be over at the first probe.
_ALERTING = frozenset(("throttled", "403", "wall"))
_OPENINGS_TO_ALERT = 3


def told(lane: Lane, change: Change, now: float) -> PaceEvent:
    """The learner's decision as an event."""
    return PaceEvent(lane.domain, now, change.kind, change.detail, change.cause, None, lane.rate)


def page_came(lane: Lane, now: float) -> list[PaceEvent]:
    """A page, or any answer that is no trouble: closes the breaker."""
    lane.refused_in_a_row = 0
    cause = lane.breaker.cause
    if not lane.breaker.success():
        return []
    lane.refresh_gate()
    detail = f"the probe brought a page: {cause} is over"
    return [PaceEvent(lane.domain, now, EventKind.RESUMED, detail, cause, None, lane.rate)]


def shrunken(lane: Lane, observation: Observation, now: float) -> list[PaceEvent]:
    """Count a sign of a ban; slow down when it has jumped."""
    sign = lane.signals.seen(observation)
    if not sign or lane.learner is None:
        return []
    lane.signals.reacted(sign)
    return [told(lane, lane.learner.trouble(sign, now), now)]


def answered(lane: Lane, observation: Observation, now: float) -> list[PaceEvent]:
    """A response that is no plain page: redirects, client and server errors, walls."""
    events = shrunken(lane, observation, now)
    # 1. wall  2. 403  3. server error  4. anything else is an answer like another
    cause = ""
    status = observation.status or 0
    if observation.outcome == Outcome.WALL:
        lane.walls += 1
        cause = "wall"
    elif status == 403:
        lane.forbidden += 1
        cause = "403"
    elif status >= 500:
        lane.failures += 1
        cause = "5xx"
    if status >= 400 and observation.retry_after_s is not None:
        events += _owe(lane, now + observation.retry_after_s, observation, now)
    return events + (_breaker_failure(lane, cause, now) if cause else page_came(lane, now))


def failed(lane: Lane, observation: Observation, now: float) -> list[PaceEvent]:
    """No (whole) response."""
    lane.failures += 1
    return shrunken(lane, observation, now) + _breaker_failure(lane, str(observation.outcome), now)


def refused(lane: Lane, observation: Observation, now: float, rng: random.Random) -> list[PaceEvent]:
    """A 429 or 503: the whole domain waits, and learns."""
    status = observation.status or 0
    lane.throttled += 1
    events: list[PaceEvent] = []
    learner = lane.learner
    # 1. a fault of the site's own  2. unlimited  3. too fast
    if status == 503 and learner is not None and learner.isolated(observation.started_at, now):
        wait = wait_after_fault(observation.retry_after_s, lane.rate, rng)
        return _owe(lane, now + wait, observation, now)
    if learner is None:
        fresh = lane.refused_in_a_row == 0 or observation.started_at >= lane.owed_until
    else:
        change = learner.refused(observation.started_at, now, status, observation.retry_after_s)
        fresh = change is not None
        if change is not None:
            events.append(told(lane, change, now))
            at_floor = learner.rate <= learner.floor * _AT_FLOOR
            lane.floor_hits = lane.floor_hits + 1 if at_floor else 0
    if fresh:
        lane.refused_in_a_row += 1
        opened = _breaker_failure(lane, "throttled", now)
        if opened and learner is not None:
            events.append(told(lane, learner.trouble(str(status), now), now))
        events += opened
    if fresh or observation.retry_after_s is not None:
        wait = wait_after_refusal(status, max(1, lane.refused_in_a_row), observation.retry_after_s, rng)
        events += _owe(lane, now + wait, observation, now)
    if lane.floor_hits >= _FLOOR_HITS and not lane.paused_cause:
        events += _pause(lane, f"throttled at its floor of {lane.limits.min_rate:g} r/s", now)
    return events


def obey(lane: Lane, command: Command, now: float) -> list[PaceEvent]:
    """An order from outside. Nothing happens when the lane has seen it before."""
    if command.seq:
        if command.seq <= lane.command_seq:
            return []
        lane.command_seq = command.seq
    # 1. slow_down  2. pause  3. resume
    if command.kind == "slow_down":
        if command.until <= now:
            return []
        lane.slow_factor, lane.slow_until, lane.slow_reason = command.factor, command.until, command.reason
        lane.refresh_factor(now)
        detail = f"{command.factor:g} times the rate: {command.reason}"
        kind = EventKind.SLOWER
        return [PaceEvent(lane.domain, now, kind, detail, command.reason, command.until, lane.rate)]
    if command.kind == "pause":
        return _pause(lane, command.reason or "paused from outside", now)
    lane.paused_cause = ""
    lane.slow_factor, lane.slow_until, lane.slow_reason = 1.0, 0.0, ""
    lane.floor_hits = lane.refused_in_a_row = 0
    lane.breaker = Breaker()
    lane.refresh_factor(now)
    lane.refresh_gate()
    lane.stamp = 0
    detail = command.reason or "resumed"
    return [PaceEvent(lane.domain, now, EventKind.RESUMED, detail, "", None, lane.rate)]


def quota_told(lane: Lane, observation: Observation, now: float) -> list[PaceEvent]:
    """The response says how much its server permits: no more than that, and nothing while nothing is left."""
    assert observation.quota is not None
    if lane.learner is None:
        return []  # unlimited by the user's word, for servers of their own
    if lane.quota is None:
        lane.quota = QuotaPace()
    wait = lane.quota.told(observation.quota, observation.status not in (429, 503))
    return _owe(lane, now + wait, observation, now) if wait else []


def _pause(lane: Lane, cause: str, now: float) -> list[PaceEvent]:
    lane.paused_cause = cause
    lane.refresh_gate()
    lane.stamp = 0
    return [PaceEvent(lane.domain, now, EventKind.PAUSED, cause, cause, None, lane.rate, alert=True)]


def _owe(lane: Lane, until: float, observation: Observation, now: float) -> list[PaceEvent]:
    if until <= lane.owed_until:
        return []
    lane.waited_s += until - max(now, lane.owed_until)
    lane.owed_until = until
    lane.refresh_gate()
    lane.stamp = 0
    asked = "" if observation.retry_after_s is None else f", Retry-After: {observation.retry_after_s:g}"
    kind = EventKind.PUT_OFF if until - now > lane.limits.retry_after_max_s else EventKind.WAIT
    detail = f"{observation.status}{asked}: the domain waits {until - now:.2f} s"
    return [PaceEvent(lane.domain, now, kind, detail, str(observation.status), until, lane.rate)]


def _breaker_failure(lane: Lane, cause: str, now: float) -> list[PaceEvent]:
    breaker = lane.breaker
    if cause not in FAILURES_TO_OPEN or not breaker.failure(cause, now):
        return []
    assert breaker.state is BreakerState.OPEN
    lane.refresh_gate()
    lane.stamp = 0
    until = breaker.until
    detail = (
        f"{breaker.in_a_row} times {cause} in a row: stopped for {until - now:.0f} s, then one probe;"
        " its URLs stay pending"
    )
    alert = cause in _ALERTING or breaker.opened >= _OPENINGS_TO_ALERT
    events = [PaceEvent(lane.domain, now, EventKind.BREAKER_OPEN, detail, cause, until, lane.rate, alert)]
    if until - now > lane.limits.retry_after_max_s:
        events.append(PaceEvent(lane.domain, now, EventKind.PUT_OFF, detail, cause, until, lane.rate))
    return events
