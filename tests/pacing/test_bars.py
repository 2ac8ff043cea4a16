"""The promise, against simulated limiters, with default settings: nothing configured, nothing remembered.

0 pages lost, 429s at most 1 % of the requests, 95 % of the permitted rate once learned and 90 % over 2,000 pages,
no ban, and a second night whose first minute draws no 429.
"""

from __future__ import annotations

import random
from statistics import mean

import pytest

from resources.pacing.ledger.memory import MemoryLedger
from tests.pacing.simulated_servers import (
    Banner,
    CollapsingServer,
    FixedWindow,
    LeakyBucket,
    SlidingWindow,
    TokenBucket,
    Unlimited,
    crawl,
)

SEEDS = range(6)
PAGES = 2000
DAY = 86_400.0


@pytest.mark.parametrize("retry_after", [1.0, None], ids=["Retry-After: 1", "no Retry-After"])
@pytest.mark.parametrize("nodelay", [True, False], ids=["nodelay", "delay"])
@pytest.mark.parametrize("rate", [5.0, 20.0, 100.0])
def test_nginx_limit_req(rate: float, nodelay: bool, retry_after: float | None) -> None:
    for seed in SEEDS:
        limiter = LeakyBucket(
            rate=rate, burst=5, nodelay=nodelay, retry_after_s=retry_after, rng=random.Random(seed)
        )
        server = Banner(limiter, strikes=20, ban_s=300)
        night = crawl(server, PAGES, seed=seed)
        assert night.lost == 0
        assert night.throttled <= 0.01 * len(night.sent)
        assert night.goodput_from(0.1) >= 0.95 * rate
        assert night.goodput >= 0.90 * rate
        assert server.bans == 0


@pytest.mark.parametrize("rate", [5.0, 20.0, 100.0])
def test_the_second_night_starts_from_the_ledger_and_draws_no_429_in_its_first_minute(rate: float) -> None:
    for seed in SEEDS:
        ledger = MemoryLedger()
        server = LeakyBucket(rate=rate, burst=5, retry_after_s=1.0, rng=random.Random(seed))
        first = crawl(server, PAGES, seed=seed, ledger=ledger)
        start = 1_700_000_000.0 + DAY
        second = crawl(server, int(max(PAGES, rate * 70)), seed=seed + 100, ledger=ledger, start=start)
        assert not [1 for instant, status in second.arrivals if instant < start + 60 and status == 429]
        minute = [1 for instant, status in second.arrivals if instant < start + 15 and status == 200]
        assert len(minute) >= 0.9 * 15 * rate
        assert second.throttled <= first.throttled + 3
        row = ledger.load("shop.example")
        assert row is not None and row.limit_rate == pytest.approx(rate, rel=0.05)


def test_a_machine_that_is_held_up_makes_up_for_it_and_draws_no_more_429s() -> None:
    for seed in SEEDS:
        server = LeakyBucket(rate=100, burst=5, retry_after_s=1.0, rng=random.Random(seed))
        night = crawl(server, PAGES, seed=seed, stall_s=0.05)
        assert night.throttled <= 2
        assert night.goodput_from(0.1) >= 0.95 * 100


@pytest.mark.parametrize("penalty", [0.0, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("service", [0.05, 0.1])
def test_a_server_whose_goodput_peaks_at_four_connections(service: float, penalty: float) -> None:
    peak = 4 / service
    for seed in SEEDS:
        night = crawl(CollapsingServer(4, service, penalty), PAGES, seed=seed)
        assert night.lost == 0 and night.throttled == 0
        assert night.goodput >= 0.9 * peak
        assert night.goodput_from(0.25) >= 0.95 * peak


@pytest.mark.parametrize("workers", [1, 2])
def test_a_server_that_takes_fewer_connections_gets_fewer(workers: int) -> None:
    night = crawl(CollapsingServer(workers, 0.05, 2.0), 1000)
    assert night.goodput >= 0.9 * workers / 0.05


@pytest.mark.parametrize(
    ("rate", "burst"),
    [
        (2, 5),
        (13, 3),
        (37, 8),
        (60, 10),
        (11, 50),
        (30, 20),
        (7, 0),
        (0.5, 5),
        (73, 0),
        (150, 2),
        (45, 15),
        (90, 30),
    ],
)
def test_odd_limits_are_found_too(rate: float, burst: int) -> None:
    reached = []
    for seed in range(3):
        server = LeakyBucket(rate=rate, burst=burst, retry_after_s=1.0, rng=random.Random(seed))
        night = crawl(server, int(max(400, min(300 * rate, 9000))), seed=seed)
        assert night.lost == 0
        assert night.throttled <= 8
        reached.append(night.goodput_from(0.5) / rate)
    assert min(reached) >= 0.85 and mean(reached) >= 0.88


@pytest.mark.parametrize("rtt", [0.02, 0.1, 0.3, 0.8])
@pytest.mark.parametrize("rate", [2.0, 20.0])
def test_real_round_trips(rtt: float, rate: float) -> None:
    server = LeakyBucket(rate=rate, burst=5, retry_after_s=1.0, rng=random.Random(3))
    night = crawl(server, int(rate * 200), rtt_s=rtt, noise_s=rtt * 0.3, seed=3)
    permitted = min(rate, 5 / rtt)  # five connections bring no more
    assert night.lost == 0
    assert night.throttled <= 8
    assert night.goodput_from(0.5) >= 0.9 * permitted


@pytest.mark.parametrize(
    ("server", "permitted"),
    [
        (lambda rng: TokenBucket(rate=10, size=10, rng=rng), 10.0),
        (lambda rng: TokenBucket(rate=10, size=10, refused_cost=1.0, rng=rng), 10.0),
        (lambda rng: FixedWindow(count=100, window_s=60, tell=True, rng=rng), 100 / 60),
        (lambda rng: FixedWindow(count=100, window_s=60, rng=rng), 100 / 60),
        (lambda rng: SlidingWindow(count=100, window_s=60, rng=rng), 100 / 60),
        (lambda rng: SlidingWindow(count=10, window_s=1, rng=rng), 10.0),
    ],
    ids=["token", "token with cost", "fixed, told", "fixed", "sliding minute", "sliding second"],
)
def test_other_limiters_lose_nothing_and_are_never_hammered(server: object, permitted: float) -> None:
    for seed in range(3):
        limiter = server(random.Random(seed))  # type: ignore[operator]
        night = crawl(limiter, int(max(1000, permitted * 400)), seed=seed)
        assert night.lost == 0
        assert night.throttled <= 0.02 * len(night.sent)
        assert night.goodput >= 0.5 * permitted


@pytest.mark.parametrize("tell", [True, False])
def test_a_counted_window_is_known_the_second_night(tell: bool) -> None:
    for seed in range(4):
        ledger, start = MemoryLedger(), 1_700_000_000.0 + 17 * seed
        server = FixedWindow(count=100, window_s=60, tell=tell, rng=random.Random(seed))
        first = crawl(server, 1000, seed=seed, ledger=ledger, start=start)
        assert first.throttled <= (5 if tell else 20)
        second = crawl(server, 200, seed=seed + 100, ledger=ledger, start=start + DAY)
        assert not [1 for instant, status in second.arrivals if instant < start + DAY + 60 and status == 429]
        assert second.goodput >= 0.5 * 100 / 60


def test_a_server_without_limits_is_limited_by_courtesy_only() -> None:
    night = crawl(Unlimited(0.2, rng=random.Random(1)), 1000)
    assert night.throttled == 0
    assert night.goodput >= 0.85 * 5 / 0.2
