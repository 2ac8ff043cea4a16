"""Nights as sites have given them to crawlers: what is done, in which order, and how it ends."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from resources.pacing.base import EventKind, Outcome, PaceLimits
from tests.pacing.simulated_servers import (
    Answer,
    CollapsingServer,
    Crawl,
    LatencyClimb,
    LeakyBucket,
    Recorded,
    Server,
    Unlimited,
    crawl,
)

FOR_EVER = 1e9
LIMITS = PaceLimits(max_rate=20.0)


@dataclass
class Always:
    """The same answer to everything."""

    status: int = 200
    outcome: str = Outcome.OK
    body_bytes: int = 150
    after_s: float = 0.05
    retry_after_s: float | None = None

    def arrive(self, now: float) -> Answer:
        return Answer(self.after_s, self.status, self.retry_after_s, self.outcome, self.body_bytes)

    def left(self, now: float) -> None: ...


@dataclass
class Share:
    """`share` of the requests get the bad answer."""

    share: float
    bad: Server
    good: Server = field(default_factory=lambda: Unlimited(0.05, rng=random.Random(5)))
    rng: random.Random = field(default_factory=lambda: random.Random(6))

    def arrive(self, now: float) -> Answer:
        return (self.bad if self.rng.random() < self.share else self.good).arrive(now)

    def left(self, now: float) -> None: ...


def well() -> Server:
    return Unlimited(0.05, rng=random.Random(4))


def night(*script: tuple[float, Server], pages: int = 4000, max_s: float = 7200.0) -> Crawl:
    return crawl(Recorded(list(script)), pages, limits=LIMITS, max_s=max_s, seed=3)


def kinds(result: Crawl) -> list[EventKind]:
    return [event.kind for event in result.events]


def rate_after(result: Crawl, second: float) -> float:
    """Requests per second in the minute from `second` on."""
    start = 1_700_000_000.0 + second
    return sum(start <= instant < start + 60 for instant in result.sent) / 60


def test_slow_climb_of_refusals_is_answered_before_it_is_a_ban() -> None:
    climb = [(30.0 + 30 * step, Share(0.02 * step, Always(429))) for step in range(1, 10)]
    result = night((30.0, well()), *climb, (FOR_EVER, well()))
    assert result.lost == 0
    assert result.throttled <= 30
    assert rate_after(result, 240) < 5
    assert result.rates and rate_after(result, result.seconds - 70) > 10  # it recovers


def test_burst_of_refusals_is_waited_out_and_forgotten() -> None:
    result = night((30.0, well()), (33.0, Always(429)), (FOR_EVER, well()))
    assert result.lost == 0
    assert result.throttled <= 6
    assert rate_after(result, 60) > 10


def test_flapping_never_draws_many_and_loses_nothing() -> None:
    flaps = [
        piece for turn in range(8) for piece in ((60.0 * turn + 50, well()), (60.0 * turn + 60, Always(429)))
    ]
    result = night(*flaps, (FOR_EVER, well()), max_s=36_000)
    assert result.lost == 0
    assert result.throttled <= 6 * 8


def test_full_ban_by_429_stops_the_domain_with_an_alert_after_a_dozen_requests() -> None:
    result = night((60.0, well()), (FOR_EVER, Always(429)), max_s=36_000)
    assert result.throttled <= 14
    opened = [event for event in result.events if event.kind is EventKind.BREAKER_OPEN]
    assert opened and opened[0].alert and opened[0].cause == "throttled"
    assert result.lost > 0  # still pending, not thrown away


def test_full_ban_by_403_stops_the_domain_with_an_alert() -> None:
    result = night((60.0, well()), (FOR_EVER, Always(403)), max_s=7200)
    assert result.other <= 30
    slower = [event for event in result.events if event.kind is EventKind.SLOWER]
    assert slower and slower[0].cause == "403"
    opened = [event for event in result.events if event.kind is EventKind.BREAKER_OPEN]
    assert opened and opened[0].alert
    assert EventKind.PUT_OFF in kinds(result)


def test_recovery_after_a_ban_starts_with_one_probe_and_ends_at_the_old_rate() -> None:
    result = night((60.0, well()), (1000.0, Always(429)), (FOR_EVER, well()), pages=10_000, max_s=36_000)
    assert result.lost == 0
    assert EventKind.RESUMED in kinds(result)
    assert rate_after(result, result.seconds - 70) > 15


def test_a_jump_in_403_without_any_429_slows_down_and_what_stays_is_the_sites_own() -> None:
    result = night((60.0, well()), (FOR_EVER, Share(0.3, Always(403))), max_s=900)
    first = next(event for event in result.events if event.kind is EventKind.SLOWER)
    assert first.cause == "403" and first.at < 1_700_000_000 + 63
    assert rate_after(result, 65) < 14
    assert result.throttled == 0
    assert EventKind.PAUSED not in kinds(result)


def test_walls_slow_down_faster_than_403() -> None:
    result = night((60.0, well()), (FOR_EVER, Share(0.4, Always(200, Outcome.WALL, 9_000))), max_s=300)
    causes = [event.cause for event in result.events if event.kind is EventKind.SLOWER]
    assert causes[0] == "wall"
    assert rate_after(result, 75) < 6


def test_empty_bodies_are_a_sign_too() -> None:
    result = night((60.0, well()), (FOR_EVER, Share(0.5, Always(200, Outcome.OK, 0))), max_s=120)
    assert next(event.cause for event in result.events if event.kind is EventKind.SLOWER) == "empty bodies"


def test_latency_that_climbs_with_the_rate_is_answered_and_goodput_kept() -> None:
    result = crawl(LatencyClimb(rate=10.0), 2000, seed=3)
    assert result.lost == 0
    assert result.goodput >= 0.9 * 10


def test_a_server_that_gets_slower_by_itself_is_not_starved() -> None:
    slow = Unlimited(0.4, rng=random.Random(8))
    result = night((60.0, well()), (FOR_EVER, slow), pages=8000)
    assert result.lost == 0
    assert rate_after(result, result.seconds - 70) > 8


def test_connections_are_kept_when_a_server_gets_slower_for_reasons_of_its_own() -> None:
    script: list[tuple[float, Server]] = [
        (30.0 + 20 * step, CollapsingServer(4, 0.05 + 0.02 * step, 0.5)) for step in range(6)
    ]
    result = night(*script, (FOR_EVER, CollapsingServer(4, 0.15, 0.5)), pages=6000)
    assert result.lost == 0
    late = [instant for instant in result.sent if instant > 1_700_000_200]
    assert (len(late) - 1) / (late[-1] - late[0]) >= 0.85 * min(20.0, 4 / 0.15)


@pytest.mark.parametrize("outcome", [Outcome.DNS, Outcome.TLS, Outcome.CONNECT_ERROR, Outcome.TIMEOUT])
def test_a_dead_domain_costs_a_handful_of_requests(outcome: str) -> None:
    result = night((FOR_EVER, Always(0, outcome)), pages=100, max_s=4 * 3600)
    assert len(result.sent) <= 14
    assert EventKind.BREAKER_OPEN in kinds(result)


def test_a_limit_below_the_floor_pauses_the_domain_with_a_cause_and_an_alert() -> None:
    stingy = LeakyBucket(rate=0.02, burst=0, rng=random.Random(1))
    result = crawl(stingy, 500, limits=PaceLimits(min_rate=0.2), max_s=36_000)
    paused = [event for event in result.events if event.kind in (EventKind.PAUSED, EventKind.BREAKER_OPEN)]
    assert paused and paused[0].alert
    assert result.throttled <= 40
