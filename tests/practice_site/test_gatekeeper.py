"""Rate limiter, ban and wall: exact on a virtual clock, and visible on the wire."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from practice_site import Behaviour, PracticeSite, site_config
from practice_site.gatekeeper import Gatekeeper, Refusal
from tests.practice_site.raw_client import fetch

EPOCH = 1_700_000_000.0


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    def epoch(self) -> float:
        return EPOCH + self.now


def gatekeeper(**values: Any) -> tuple[Gatekeeper, Clock]:
    clock = Clock()
    return Gatekeeper(site_config(**values).behaviour, clock, clock.epoch), clock


@given(gaps=st.lists(st.floats(0, 0.5), max_size=60), rate=st.floats(0.5, 50), burst=st.integers(1, 20))
def test_no_more_than_burst_plus_rate_times_time_ever_pass(
    gaps: list[float], rate: float, burst: int
) -> None:
    keeper, clock = gatekeeper(rate=rate, burst=burst)
    passed = []
    for gap in gaps:
        clock.now += gap
        if keeper.judge("a") is None:
            passed.append(clock.now)
    for start in range(len(passed)):
        for end in range(start, len(passed)):
            assert end - start + 1 <= burst + rate * (passed[end] - passed[start]) + 1e-6


def test_who_keeps_exactly_to_the_rate_is_never_refused() -> None:
    keeper, clock = gatekeeper(rate=7, burst=1)
    for _ in range(500):
        assert keeper.judge("a") is None
        clock.now += 1 / 7


def test_each_address_has_a_bucket_of_its_own() -> None:
    keeper, _ = gatekeeper(rate=1, burst=1)
    assert keeper.judge("a") is None
    assert keeper.judge("a") == Refusal("limited", 429, "1")
    assert keeper.judge("b") is None


def test_a_client_that_ignores_refusals_is_banned_for_a_while() -> None:
    keeper, clock = gatekeeper(rate=1, burst=1, ban_after=3, ban_seconds=60)
    keeper.judge("a")
    outcomes = [keeper.judge("a") for _ in range(5)]
    assert [refusal.outcome for refusal in outcomes if refusal] == ["limited"] * 3 + ["banned"] * 2
    clock.now += 59
    assert keeper.judge("a") == Refusal("banned", 403)
    clock.now += 1
    assert keeper.judge("a") is None


def test_the_wall_rises_above_its_rate_and_falls_after_its_time() -> None:
    keeper, clock = gatekeeper(wall_rate=5, wall_seconds=10, wall_status=403)
    for _ in range(20):
        assert keeper.judge("a") is None
        clock.now += 0.25
    for _ in range(5):
        last = keeper.judge("a")
        clock.now += 0.01
    assert last == Refusal("walled", 403)
    clock.now += 5
    assert keeper.judge("a") == Refusal("walled", 403)
    clock.now += 10
    assert keeper.judge("a") is None


@pytest.mark.parametrize("form", ["seconds", "date", "none"])
async def test_retry_after_comes_in_the_chosen_form(form: str) -> None:
    clock = Clock()
    config = site_config(n_products=5, rate=0.5, burst=1, retry_after=form)
    async with PracticeSite(config, clock=clock, epoch=clock.epoch) as site:
        assert (await fetch(site, "/")).status == 200
        reply = await fetch(site, "/")
        assert reply.status == 429
        if form == "none":
            assert "retry-after" not in reply.headers
        elif form == "seconds":
            assert reply.headers["retry-after"] == "2"
        else:
            assert parsedate_to_datetime(reply.headers["retry-after"]).timestamp() == clock.epoch() + 2
        clock.now += 2
        assert (await fetch(site, "/")).status == 200
        assert site.stats()["by_outcome"] == {"limited": 1, "ok": 2}


async def test_a_fixed_retry_after_and_another_status() -> None:
    async with PracticeSite(
        site_config(n_products=5, rate=0.1, burst=1, limit_status=503, retry_after_seconds=86_400)
    ) as site:
        await fetch(site, "/")
        reply = await fetch(site, "/robots.txt")
        assert (reply.status, reply.headers["retry-after"]) == (503, "86400")


@pytest.mark.parametrize("status", [200, 403, 503])
async def test_the_challenge_page_pretends_to_be_an_answer(status: int) -> None:
    async with PracticeSite(site_config(n_products=5, walled=True, wall_status=status)) as site:
        reply = await fetch(site, "/books")
        assert reply.status == status
        assert reply.headers["cf-mitigated"] == "challenge"
        assert b"Just a moment" in reply.body
        site.set(walled=False)
        assert b"All books" in (await fetch(site, "/books")).body


async def test_a_crawl_that_is_too_fast_meets_the_wall_on_the_wire() -> None:
    clock = Clock()
    config = site_config(n_products=5, wall_rate=3, wall_seconds=10)
    async with PracticeSite(config, clock=clock, epoch=clock.epoch) as site:
        bodies = [(await fetch(site, "/about")).body for _ in range(5)]
        assert [b"Just a moment" in body for body in bodies] == [False, False, False, True, True]
        clock.now += 12
        assert b"About us" in (await fetch(site, "/about")).body


async def test_a_ban_is_seen_on_the_wire_and_lifted_by_reset() -> None:
    clock = Clock()
    config = site_config(n_products=5, rate=1, burst=1, ban_after=2, ban_seconds=300)
    async with PracticeSite(config, clock=clock, epoch=clock.epoch) as site:
        assert [(await fetch(site, "/")).status for _ in range(4)] == [200, 429, 429, 403]
        clock.now += 299
        assert (await fetch(site, "/")).status == 403
        site.reset()
        assert (await fetch(site, "/")).status == 200


def test_quiet_by_default() -> None:
    assert Gatekeeper(Behaviour(), Clock(), Clock().epoch).judge("a") is None
