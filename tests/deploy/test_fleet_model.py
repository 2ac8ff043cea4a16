"""The model behind docs/scale.md: it keeps its own laws. Its check against real workers is `--check`."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.fleet_model import Crawl, bound, share_out, simulate, web

crawls = st.lists(st.tuples(st.floats(1, 5_000), st.floats(0.02, 20)), min_size=1, max_size=60).map(
    lambda rows: Crawl(np.array([n for n, _ in rows]), np.array([r for _, r in rows]))
)


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=50), st.floats(0.1, 1_000))
def test_capacity_is_used_up_or_every_pace_is_met(rates: list[float], capacity: float) -> None:
    given_out = share_out(np.array(rates), capacity)
    assert np.all(given_out <= np.array(rates) + 1e-9)
    assert np.isclose(given_out.sum(), min(capacity, sum(rates)))
    slowed = given_out < np.array(rates) - 1e-9
    if slowed.any():  # whoever is slowed gets the common share, and nobody has more
        assert np.allclose(given_out[slowed], given_out.max())


@settings(max_examples=60, deadline=None)
@given(crawls, st.integers(1, 5), st.integers(1, 20), st.floats(5, 500))
def test_the_formula_is_a_lower_bound_and_every_page_is_fetched(
    crawl: Crawl, workers: int, places: int, m: float
) -> None:
    outcome = simulate(crawl, workers, m, places)
    assert outcome.seconds >= max(bound(crawl, workers, m, places)) * (1 - 1e-9)
    assert np.isclose(outcome.curve[-1][1], crawl.total)
    # List scheduling is never worse than the sum of all terms.
    assert outcome.seconds <= sum(bound(crawl, workers, m, places)) * 1.05 + 1


def test_one_domain_takes_its_pages_by_its_pace() -> None:
    outcome = simulate(Crawl(np.array([600.0]), np.array([2.0])), 4)
    assert np.isclose(outcome.seconds, 300) and np.isclose(outcome.pages_at(150), 300)
    assert np.isclose(outcome.until(0.5), 150)


def test_workers_help_where_cpu_is_the_limit_and_not_where_pace_is() -> None:
    many = Crawl(np.full(200, 1_000.0), np.full(200, 20.0))
    assert simulate(many, 2, 100).seconds < 0.51 * simulate(many, 1, 100).seconds
    polite = Crawl(np.full(3, 1_000.0), np.full(3, 1.0))
    assert np.isclose(simulate(polite, 8).seconds, simulate(polite, 1).seconds)


def test_a_web_has_as_many_pages_as_asked_and_a_long_tail() -> None:
    crawl = web(1e6, 2_000)
    assert 0.99e6 < crawl.total < 1.01e6
    largest = np.sort(crawl.pages)[::-1]
    assert largest[: len(largest) // 10].sum() > 0.5 * crawl.total
    assert crawl.rates.min() >= 1 / 60 and crawl.rates.max() <= 20
