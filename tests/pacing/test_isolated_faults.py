"""503s that have nothing to do with the rate cost a pause; 503s that have slow the domain down."""

from __future__ import annotations

import random
from statistics import mean

import pytest

from resources.pacing.isolated import IsolatedFaults
from tests.pacing.simulated_servers import Crawl, Faulty, LeakyBucket, Overloaded, Unlimited, crawl

SEEDS = range(6)


def faulty_night(share: float, retry_after_s: float | None, seed: int) -> tuple[Crawl, Faulty]:
    limiter = LeakyBucket(rate=100, burst=50, retry_after_s=1.0, rng=random.Random(seed))
    server = Faulty(limiter, share, retry_after_s, random.Random(seed + 5))
    return crawl(server, 2500, seed=seed), server


@pytest.mark.parametrize("share", [0.002, 0.005])
def test_a_site_with_a_few_503s_and_500s_is_crawled_at_its_limit(share: float) -> None:
    nights = [faulty_night(share, None, seed) for seed in SEEDS]
    for night, server in nights:
        assert night.lost == 0
        assert night.throttled - server.faults <= 6
        assert night.goodput >= 0.85 * 100
    assert mean(night.goodput_from(0.3) for night, _ in nights) >= 0.9 * 100


def test_a_retry_after_is_waited_for_and_nothing_more() -> None:
    for seed in SEEDS:
        night, _ = faulty_night(0.005, 1.0, seed)
        # What is left of the time after a second and a little for each.
        at_work = night.seconds - 1.06 * night.throttled
        assert night.pages / at_work >= 0.75 * 100


@pytest.mark.parametrize("retry_after", [1.0, None])
@pytest.mark.parametrize("rate", [5.0, 20.0, 100.0])
def test_a_limiter_that_answers_503_is_found_like_any_other(rate: float, retry_after: float | None) -> None:
    for seed in SEEDS:
        limiter = LeakyBucket(
            rate=rate, burst=5, status=503, retry_after_s=retry_after, rng=random.Random(seed)
        )
        night = crawl(limiter, 2000, seed=seed)
        assert night.lost == 0
        assert night.throttled <= 10
        assert night.goodput_from(0.3) >= 0.92 * rate


def test_503s_that_grow_with_the_rate_slow_the_domain_down() -> None:
    for seed in SEEDS:
        night = crawl(Overloaded(20.0, random.Random(seed)), 2000, seed=seed)
        assert night.lost == 0
        assert 8 <= night.goodput <= 20
        assert night.throttled <= 0.08 * len(night.sent)


def test_an_outage_is_waited_out_and_the_old_rate_comes_back() -> None:
    class Outage(Unlimited):
        start = 1_700_000_000.0

        def arrive(self, now: float):  # type: ignore[no-untyped-def]
            answer = super().arrive(now)
            if 20 <= now - self.start < 30:
                answer.status = 503
            return answer

    night = crawl(Outage(0.05, rng=random.Random(2)), 20_000, seed=1)
    assert night.lost == 0
    assert night.throttled <= 12
    assert night.goodput_from(0.8) >= 0.8 * 5 / 0.05


def test_company_and_equal_distances_give_a_limiter_away() -> None:
    lone = IsolatedFaults()
    for run in (300, 90, 500, 41):
        for _ in range(run):
            lone.answered()
        assert lone.unavailable(1.0, growing=False)
    crowd = IsolatedFaults()
    assert [crowd.unavailable(1.0, growing=False) for _ in range(3)] == [True, True, False]
    regular, verdicts = IsolatedFaults(), []
    for run in (150, 100, 104, 98, 101):
        for _ in range(run):
            regular.answered()
        verdicts.append(regular.unavailable(1.0, growing=False))
    assert verdicts == [True, True, True, True, False]
