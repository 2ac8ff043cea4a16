"""What refusals prove about a limiter."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.pacing.limit_estimate import estimate_limit, level_bounds
from tests.pacing.simulated_servers import LeakyBucket


def arrivals(rate: float, burst: int, gaps: list[float], start: float = 1_000.0) -> list[float]:
    server = LeakyBucket(rate=rate, burst=burst)
    now, found = start, []
    for gap in gaps:
        now += gap
        found.append(now if server.arrive(now).status == 200 else -now)
    return found


@given(
    rate=st.floats(0.5, 200),
    burst=st.integers(0, 30),
    gaps=st.lists(st.floats(0.0001, 0.5), min_size=5, max_size=200),
)
def test_the_true_limit_is_never_contradicted(rate: float, burst: int, gaps: list[float]) -> None:
    highest, lowest = level_bounds(arrivals(rate, burst, gaps), rate)
    assert highest <= burst + 1 + 1e-6
    assert lowest > burst + 1 - 1e-6


@pytest.mark.parametrize(("rate", "burst"), [(5, 5), (20, 5), (100, 5), (10, 20), (50, 10), (2, 1)])
def test_two_refusals_at_different_rates_cut_at_the_limit(rate: float, burst: int) -> None:
    fast = arrivals(rate, burst, [1 / (rate * 3)] * (3 * burst + 10))
    slow = arrivals(rate, burst, [1 / (rate * 1.15)] * (12 * burst + 40), start=2_000.0)
    fast = fast[: next(i for i, instant in enumerate(fast) if instant < 0) + 1]
    slow = slow[: next(i for i, instant in enumerate(slow) if instant < 0) + 1]
    belief = estimate_limit([fast, slow], rate * 0.02, rate * 3.3)
    assert belief is not None
    assert belief.best_rate == pytest.approx(rate, rel=0.02)
    assert belief.best_capacity == pytest.approx(burst + 1, abs=1.01)
    assert belief.expected_best() == pytest.approx(rate, rel=0.03)


def test_what_no_bucket_does_is_not_explained() -> None:
    # 20 at once are fine, then a single one after a long pause is refused, then 20 at once are fine again.
    history = [1000 + i * 0.001 for i in range(20)] + [-1100.0] + [1101 + i * 0.001 for i in range(20)]
    assert estimate_limit([history], 1.0, 100.0) is None


@settings(max_examples=30)
@given(rate=st.floats(1, 150), burst=st.integers(0, 12), seed=st.integers(0, 5))
def test_beliefs_are_a_distribution(rate: float, burst: int, seed: int) -> None:
    history = arrivals(rate, burst, [1 / (rate * (1.2 + 0.1 * seed))] * 120)
    belief = estimate_limit([history], rate * 0.05, rate * 2)
    if belief is not None:
        assert sum(belief.weights) == pytest.approx(1.0)
        assert list(belief.rates) == sorted(belief.rates)
        assert belief.above(0.0) == pytest.approx(1.0)
