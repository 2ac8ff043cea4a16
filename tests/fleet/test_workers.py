"""Workers that join, leave and are killed, and servers that are killed: nothing is lost, nothing is doubled.

The same on Redis and on PostgreSQL.
"""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from practice_site import RemoteSite, practice_site_process
from tests.fleet.fleet import Fleet
from tests.fleet.servers import PostgresServer, RedisServer, S3Server

pytestmark = pytest.mark.slow
Keeper = RedisServer | PostgresServer

RATE = 60
PACE = {"rate": f"{RATE}/s", "concurrency": 3, "ramp_up": 0}
BOOKS = 900


@pytest.fixture
def redis() -> Iterator[RedisServer]:
    server = RedisServer()
    yield server
    server.stop()


@pytest.fixture(params=[RedisServer, PostgresServer])
def keeper(request: pytest.FixtureRequest) -> Iterator[Keeper]:
    """Where the frontier and the pace are."""
    server = request.param()
    yield server
    server.stop()


@pytest.fixture
def site() -> Iterator[RemoteSite]:
    with practice_site_process(n_products=BOOKS, latency=0.01) as remote:
        yield remote


def check_pace(fleet: Fleet) -> None:
    """No window of two seconds holds more than the rate allows; concurrency never above its cap."""
    seen = sorted(request["at"] for request in fleet.site.requests() if request["path"] != "/robots.txt")
    first = 0
    for at, instant in enumerate(seen):
        while seen[first] < instant - 2.0:
            first += 1
        assert at - first + 1 <= 2.0 * RATE * 1.02 + 5  # robots.txt and sitemaps are not paced with the pages
    assert fleet.site.stats()["in_flight_peak"] <= 3 + 1


def wait_for(fleet: Fleet, requests: int) -> None:
    while fleet.site.stats()["requests"] < requests:
        time.sleep(0.1)


def test_four_workers_share_a_domain_and_its_pace(keeper: Keeper, site: RemoteSite, tmp_path: Path) -> None:
    fleet = Fleet(site, tmp_path, keeper.address, PACE)
    workers = [fleet.start(seed=True), *(fleet.start() for _ in range(3))]
    reports = fleet.finish(*workers)
    assert [report["end"] for report in reports] == ["finished"] * 4
    fleet.check_complete()
    assert set(fleet.requested().values()) == {1}
    check_pace(fleet)


def test_kills_and_stops_of_workers_lose_nothing(keeper: Keeper, site: RemoteSite, tmp_path: Path) -> None:
    fleet = Fleet(site, tmp_path, keeper.address, PACE)
    rng = random.Random(7)
    workers = [fleet.start(seed=True), *(fleet.start() for _ in range(3))]
    for number in range(4):
        wait_for(fleet, 120 * (number + 1))
        victim = workers.pop(rng.randrange(len(workers)))
        if number == 2:
            victim.send_signal(signal.SIGTERM)
            victim.communicate(timeout=60)
        else:
            fleet.kill(victim)
        workers.append(fleet.start())
    fleet.finish(*workers)
    fleet.check_complete()
    again = sum(count - 1 for count in fleet.requested().values())
    assert again <= 3 * (3 + RATE)  # a kill may repeat what was in flight or not committed yet
    check_pace(fleet)


def test_kills_of_the_server_lose_nothing(keeper: Keeper, site: RemoteSite, tmp_path: Path) -> None:
    """Redis with `appendfsync everysec` may forget the last second, PostgreSQL leases: these are fetched again."""
    fleet = Fleet(site, tmp_path, keeper.address, PACE)
    workers = [fleet.start(seed=True), *(fleet.start() for _ in range(3))]
    for number in range(2):
        wait_for(fleet, 200 * (number + 1))
        keeper.kill()
        time.sleep(1.0)
        keeper.start()
    fleet.finish(*workers)
    fleet.check_complete()
    again = sum(count - 1 for count in fleet.requested().values())
    assert again <= 2 * 2 * RATE
    check_pace(fleet)


def test_kills_of_the_page_store_lose_nothing(redis: RedisServer, site: RemoteSite, tmp_path: Path) -> None:
    s3 = S3Server()
    fleet = Fleet(site, tmp_path, redis.address, PACE, s3.place("night"))
    workers = [fleet.start(seed=True), *(fleet.start() for _ in range(3))]
    for number in range(2):
        wait_for(fleet, 200 * (number + 1))
        s3.kill()
        time.sleep(2.0)
        s3.start()
    fleet.finish(*workers)
    fleet.check_complete()
    assert set(fleet.requested().values()) == {1}  # what was fetched waited in the workers
    check_pace(fleet)
    s3.stop()


def test_at_full_speed_a_page_costs_a_tenth_of_a_round_trip(redis: RedisServer, tmp_path: Path) -> None:
    with practice_site_process(n_products=4_000) as site:
        pace = {"rate": "unlimited", "concurrency": 16}
        # Leases as they are unless set: each renewal is a trip, and those of the other tests lapse in seconds.
        fleet = Fleet(site, tmp_path, redis.address, pace, short_leases=False)
        reports = fleet.finish(fleet.start(seed=True), fleet.start())
        fleet.check_complete()
    pages = sum(report["ok"] for report in reports)
    assert sum(report["trips"] for report in reports) <= 0.1 * pages
