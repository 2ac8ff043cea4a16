"""One domain that fails can never burn a night, and its URLs stay pending."""

from __future__ import annotations

import pytest

from resources.pacing.breaker import COOL_OFF_S, FAILURES_TO_OPEN, Breaker, BreakerState


@pytest.mark.parametrize("cause", sorted(FAILURES_TO_OPEN))
def test_it_opens_after_so_many_equal_failures(cause: str) -> None:
    breaker = Breaker()
    needed = FAILURES_TO_OPEN[cause]
    assert not any(breaker.failure(cause, 100.0) for _ in range(needed - 1))
    assert breaker.failure(cause, 100.0)
    assert breaker.state is BreakerState.OPEN
    assert breaker.until == 100.0 + COOL_OFF_S[cause]


def test_different_failures_and_successes_start_the_count_anew() -> None:
    breaker = Breaker()
    for _ in range(10):
        assert not breaker.failure("dns", 0.0)
        assert not breaker.failure("tls", 0.0)
    for _ in range(10):
        for _ in range(FAILURES_TO_OPEN["dns"] - 1):
            assert not breaker.failure("dns", 0.0)
        breaker.success()


def test_a_failed_probe_doubles_the_cool_off_and_a_good_one_closes() -> None:
    breaker = Breaker()
    for _ in range(FAILURES_TO_OPEN["dns"]):
        breaker.failure("dns", 0.0)
    first = breaker.until
    breaker.probe()
    assert breaker.failure("dns", first)
    assert breaker.until - first == 2 * COOL_OFF_S["dns"]
    breaker.probe()
    assert breaker.success()
    assert breaker.state is BreakerState.CLOSED
    assert breaker.cause == ""


def test_failures_that_were_in_flight_when_it_opened_do_not_count_again() -> None:
    breaker = Breaker()
    for _ in range(FAILURES_TO_OPEN["timeout"]):
        breaker.failure("timeout", 0.0)
    assert not breaker.failure("timeout", 1.0)
    assert breaker.opened == 1


def test_an_open_one_is_carried_over() -> None:
    breaker = Breaker(until=500.0, opened=2, cause="dns")
    assert breaker.state is BreakerState.OPEN
    assert Breaker().state is BreakerState.CLOSED
