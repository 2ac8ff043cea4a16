"""Few workers: goodput peaks at their number, then waits, refuses, and with contention falls."""

from __future__ import annotations

import asyncio
from typing import Any

from practice_site import PracticeSite, site_config
from practice_site.worker_pool import WorkerPool
from tests.practice_site.raw_client import fetch
from tests.practice_site.test_gatekeeper import Clock


def pool(**values: Any) -> tuple[WorkerPool, Clock]:
    clock = Clock()
    return WorkerPool(site_config(**values).behaviour, clock), clock


def test_requests_beyond_the_workers_wait_and_beyond_the_queue_are_refused() -> None:
    workers, clock = pool(workers=2, service_seconds=1.0, queue=3)
    waits = [workers.admit() for _ in range(6)]
    assert waits == [1.0, 1.0, 2.0, 2.0, 3.0, None]
    clock.now += 1.0
    assert workers.admit() == 2.0


def goodput(workers: WorkerPool, clock: Clock, *, clients: int, patience: float) -> int:
    """Answers in 60 s that came before `clients` impatient clients gave up and asked again."""
    asks, end, good = [clock.now] * clients, clock.now + 60, 0
    while (now := min(asks)) < end:
        clock.now = now
        wait = workers.admit()
        good += wait is not None and wait <= patience
        asks[asks.index(now)] = now + (0.1 if wait is None else min(wait, patience))
    return good


def test_goodput_collapses_when_a_crowd_loses_patience() -> None:
    numbers = {
        clients: goodput(
            *pool(workers=4, service_seconds=0.2, queue=50, contention=0.1), clients=clients, patience=1.0
        )
        for clients in (1, 4, 30)
    }
    assert numbers[1] < numbers[4]
    assert numbers[30] < numbers[4] / 2


async def test_on_the_wire_waiters_are_served_late_and_the_rest_get_503() -> None:
    async with PracticeSite(site_config(n_products=5, workers=1, service_seconds=0.02, queue=1)) as site:
        replies = await asyncio.gather(*(fetch(site, "/about") for _ in range(4)))
        assert sorted(reply.status for reply in replies) == [200, 200, 503, 503]
        assert site.stats()["by_outcome"] == {"ok": 2, "overloaded": 2}
        assert site.stats()["in_flight_peak"] >= 2
        assert site.responder.in_flight == 0
