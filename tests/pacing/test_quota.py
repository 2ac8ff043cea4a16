"""Servers that tell their quota are crawled at it, without a refusal; what they tell never makes anything faster."""

from __future__ import annotations

import math
import random
from typing import Literal

import pytest

from resources.pacing.base import PaceLimits
from resources.pacing.quota import UNBELIEVED, QuotaPace
from resources.web.rate_limit import Quota
from tests.pacing.simulated_servers import FixedWindow, LeakyBucket, crawl

SEEDS = range(5)
#: Not at the start of a window.
LATE = 1_700_000_000.0 + 37.0


@pytest.mark.parametrize("fields", ["policy", "whole", "rest"])
@pytest.mark.parametrize(("count", "window_s"), [(100, 60.0), (600, 60.0), (50, 10.0), (1000, 3600.0)])
def test_a_counted_window_that_is_told_draws_no_refusal_and_is_used_up(
    fields: Literal["policy", "whole", "rest"], count: int, window_s: float
) -> None:
    pages = 2 * count if window_s > 600 else 1_000
    for seed in SEEDS:
        server = FixedWindow(count=count, window_s=window_s, quota=fields, rng=random.Random(seed))
        night = crawl(server, pages, seed=seed, start=LATE)
        assert night.lost == 0
        assert night.throttled <= (2 if fields == "policy" else 0), night.events
        # Resets are told in whole seconds: of short windows a part stays unused.
        assert night.goodput_from(0.1) >= (0.85 if window_s < 30 else 0.9) * count / window_s


def test_what_others_use_up_is_left_to_them() -> None:
    for seed in SEEDS:
        server = FixedWindow(count=100, window_s=60, quota="whole", others=0.8, rng=random.Random(seed))
        night = crawl(server, 600, seed=seed, start=LATE)
        assert night.lost == 0
        assert night.throttled <= 6, "1 % of the requests"
        assert night.goodput_from(0.1) >= 0.75 * (100 / 60 - 0.8)


def test_the_second_night_draws_no_refusal_either() -> None:
    first = crawl(FixedWindow(count=100, quota="whole", rng=random.Random(1)), 400, start=LATE)
    second = crawl(
        FixedWindow(count=100, quota="whole", rng=random.Random(2)), 200, start=LATE + 86_400, ledger=first.ledger
    )  # fmt: skip
    assert second.throttled == 0
    assert second.goodput >= 0.9 * 100 / 60


def test_a_generous_quota_lifts_no_other_limit() -> None:
    class Generous(LeakyBucket):
        def arrive(self, now: float):  # type: ignore[no-untyped-def]
            answer = super().arrive(now)
            answer.quota = Quota(1e9, 60, 1e9, 30)
            return answer

    for seed in SEEDS:
        told = crawl(Generous(rate=20, burst=5, rng=random.Random(seed)), 800, seed=seed)
        untold = crawl(LeakyBucket(rate=20, burst=5, rng=random.Random(seed)), 800, seed=seed)
        assert told.sent == untold.sent
    configured = crawl(FixedWindow(count=10_000, quota="whole"), 100, limits=PaceLimits(rate=2.0))
    assert configured.goodput <= 2.05


def test_a_quota_that_is_empty_from_the_first_answer_on_is_not_believed() -> None:
    pace = QuotaPace()
    waits = [pace.told(Quota(60, None, 0, 10), answered=True) for _ in range(UNBELIEVED + 2)]
    assert waits == [10.0] * (UNBELIEVED - 1) + [0.0] * 3
    assert pace.rate == math.inf
    honest = QuotaPace()
    for _ in range(20):
        assert honest.told(Quota(60, 60, 30, 20), answered=True) == 0
        assert honest.told(Quota(60, 60, 0, 20), answered=True) == 20
    assert honest.believed


def test_the_decision_names_the_quota() -> None:
    night = crawl(FixedWindow(count=100, quota="whole"), 60, start=LATE)
    assert night.pacer is not None
    night.pacer.want("shop.example", 5)
    at = LATE + night.seconds
    reasons = {str(reason.name) for reason in night.pacer.decide("shop.example", at).reasons}
    assert "told quota" in reasons
