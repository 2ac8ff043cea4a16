"""Which proxy is chosen, when one rests, and how it comes back: on a virtual clock, without a network."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from resources.clock import VirtualClock
from resources.fetcher.base import ProxyPlan
from resources.fetcher.proxies.health import DOUBTS_TO_REST, FAILURES_TO_REST, Delivery, Proxy
from resources.fetcher.proxies.pool import FORBIDDEN_TO_REST, ProxyPool

URLS = tuple(f"http://user:secret{n}@proxy{n}.example:8080" for n in range(3))


def make(clock: VirtualClock, urls: tuple[str, ...] = URLS, **options: object) -> ProxyPool:
    return ProxyPool(ProxyPlan(urls, **options), clock.now, random.Random(7))  # type: ignore[arg-type]


def fail(pool: ProxyPool, proxy: Proxy, times: int = FAILURES_TO_REST) -> None:
    for _ in range(times):
        pool.report(proxy, "shop.example", Delivery.FAILED, why="it is down")


def test_a_domain_keeps_its_proxy_while_it_is_well() -> None:
    pool = make(VirtualClock())
    first = pool.choose("shop.example")
    assert first is not None
    assert all(pool.choose("shop.example") is first for _ in range(20))
    assert len({id(pool.choose(f"shop{n}.example")) for n in range(50)}) == 3
    fail(pool, first)
    second = pool.choose("shop.example")
    assert second is not None and second is not first
    assert all(pool.choose("shop.example") is second for _ in range(20))


def test_without_stickiness_round_robin_takes_them_in_turn() -> None:
    pool = make(VirtualClock(), choice="round_robin", sticky=False)
    chosen = [pool.choose("shop.example") for _ in range(9)]
    assert chosen == pool.proxies * 3
    fail(pool, pool.proxies[1])
    chosen = [pool.choose("shop.example") for _ in range(4)]
    assert pool.proxies[1] not in chosen
    assert chosen[0] is not chosen[1]


def test_random_takes_each_about_as_often() -> None:
    pool = make(VirtualClock(), choice="random", sticky=False)
    counts = Counter(p.name for p in (pool.choose("shop.example") for _ in range(3000)) if p is not None)
    assert all(800 < n < 1200 for n in counts.values())


def test_weighted_prefers_who_delivers_and_who_is_fast() -> None:
    pool = make(VirtualClock(), sticky=False)
    sound, slow, unreliable = pool.proxies
    for n in range(60):
        pool.report(sound, "shop.example", Delivery.GOOD, seconds=0.1)
        pool.report(slow, "shop.example", Delivery.GOOD, seconds=0.5)
        pool.report(unreliable, "shop.example", Delivery.GOOD if n % 2 else Delivery.FAILED, seconds=0.1)
    counts = Counter(p.name for p in (pool.choose("shop.example") for _ in range(3000)) if p is not None)
    assert counts[sound.name] > 2 * counts[unreliable.name] > 0
    assert counts[sound.name] > 3 * counts[slow.name] > 0


@pytest.mark.parametrize(
    ("delivery", "times"),
    [(Delivery.FAILED, FAILURES_TO_REST), (Delivery.DOUBTFUL, DOUBTS_TO_REST), (Delivery.DENIED, 1)],
)
def test_a_proxy_rests_after_so_many_failures_in_a_row(delivery: Delivery, times: int) -> None:
    pool = make(VirtualClock(), URLS[:1])
    [proxy] = pool.proxies
    for _ in range(times - 1):
        pool.report(proxy, "shop.example", delivery)
    pool.report(proxy, "shop.example", Delivery.GOOD)
    for _ in range(times - 1):
        pool.report(proxy, "shop.example", delivery)
        assert pool.choose("shop.example") is proxy
    pool.report(proxy, "shop.example", delivery)
    assert pool.choose("shop.example") is None


def test_a_rested_proxy_gets_one_request_on_trial_and_rests_twice_as_long_if_it_fails() -> None:
    clock = VirtualClock()
    pool = make(clock, URLS[:1], ban_s=600.0)
    [proxy] = pool.proxies
    fail(pool, proxy)
    assert pool.recovers_at("shop.example") == clock.now() + 600
    for rest in (600, 1200, 2400):
        clock.tick(rest - 1)
        assert pool.choose("shop.example") is None
        clock.tick(1)
        assert pool.choose("books.example") is proxy
        assert pool.choose("shop.example") is None, "one request on trial, and no second beside it"
        pool.report(proxy, "books.example", Delivery.FAILED, why="still down")
    clock.tick(4800)
    assert pool.choose("shop.example") is proxy
    pool.report(proxy, "shop.example", Delivery.GOOD)
    assert all(pool.choose("shop.example") is proxy for _ in range(3))
    fail(pool, proxy)
    assert pool.recovers_at("shop.example") == clock.now() + 600, "a success ends the doubling"


def test_a_trial_that_tells_nothing_leaves_room_for_another() -> None:
    clock = VirtualClock()
    pool = make(clock, URLS[:1])
    [proxy] = pool.proxies
    fail(pool, proxy)
    clock.tick(601)
    assert pool.choose("shop.example") is proxy
    pool.report(proxy, "shop.example", Delivery.UNTOLD)
    assert pool.choose("shop.example") is proxy


def test_a_rested_proxy_is_tried_although_others_are_well() -> None:
    clock = VirtualClock()
    pool = make(clock)
    own = pool.choose("shop.example")
    other = next(p for p in pool.proxies if p is not own)
    fail(pool, other)
    clock.tick(601)
    assert pool.choose("shop.example") is other
    assert pool.choose("shop.example") is own


def test_a_domain_that_bans_a_proxy_loses_it_and_no_other_domain_does() -> None:
    clock = VirtualClock()
    pool = make(clock)
    banned = pool.choose("shop.example")
    assert banned is not None
    for _ in range(FORBIDDEN_TO_REST):
        pool.report(banned, "shop.example", Delivery.GOOD, forbidden=True)
    assert pool.choose("shop.example") is not banned
    assert any(pool.choose(f"other{n}.example") is banned for n in range(50))
    for proxy in pool.proxies:
        for _ in range(FORBIDDEN_TO_REST):
            pool.report(proxy, "shop.example", Delivery.GOOD, forbidden=True)
    assert pool.choose("shop.example") is None
    assert "answers 403" in pool.why_none("shop.example")
    clock.tick(601)
    assert pool.choose("shop.example") is not None


def test_pages_between_forbidden_ones_are_no_ban() -> None:
    pool = make(VirtualClock(), URLS[:1])
    [proxy] = pool.proxies
    for n in range(10 * FORBIDDEN_TO_REST):
        pool.report(proxy, "shop.example", Delivery.GOOD, forbidden=n % FORBIDDEN_TO_REST != 0)
    assert pool.choose("shop.example") is proxy


def test_nothing_shown_holds_a_credential() -> None:
    pool = make(VirtualClock())
    for proxy in pool.proxies:
        fail(pool, proxy)
    shown = " ".join([repr(pool), repr(pool.plan), *map(repr, pool.proxies), pool.why_none("shop.example")])
    assert "secret" not in shown
    assert "user" not in shown
    assert "proxy1.example:8080" in shown
