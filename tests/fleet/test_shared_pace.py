"""Four workers, one pace, on Redis and on PostgreSQL: rate, concurrency and waits as a counting server sees them."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from resources.pacing.ledger.open import open_ledger
from tests.fleet.counting_server import CountingServer
from tests.fleet.pace_worker import DOMAIN
from tests.fleet.servers import PostgresServer, RedisServer

pytestmark = pytest.mark.slow
Keeper = RedisServer | PostgresServer


@pytest.fixture(scope="module", params=[RedisServer, PostgresServer])
def ledger(request: pytest.FixtureRequest) -> Iterator[Keeper]:
    server = request.param()
    yield server
    server.stop()


def start(ledger: Keeper, server: CountingServer, seconds: float, **limits: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            sys.executable, "-m", "tests.fleet.pace_worker", ledger.address, server.address, str(seconds),
            json.dumps(limits),
        ],
        stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip


def run(ledger: Keeper, server: CountingServer, seconds: float, **limits: Any) -> list[dict[str, Any]]:
    """Four workers for so long; what each says at its end."""
    ledger.clear()
    workers = [start(ledger, server, seconds, **limits) for _ in range(4)]
    return [json.loads(worker.communicate(timeout=60)[0].splitlines()[-1]) for worker in workers]


def lost(said: list[dict[str, Any]], server: CountingServer, start: float, end: float) -> float:
    """Slots a second that workers dropped because a busy machine did not let them run in time.

    They are made up for at 1 % of the rate, as `tests/pacing/test_shared_lateness.py` shows: not within seconds.
    """
    first = server.arrivals[0]
    slots: int = sum(n for each in said for at, n in each["lost"] if start <= at - first < end)
    return slots / (end - start)


@pytest.mark.parametrize(
    ("rate", "concurrency", "latency"), [(100.0, 5, 0.02), (40.0, 3, 0.01), (20.0, 1, 0.01)]
)
def test_four_workers_keep_one_rate_and_one_concurrency(
    ledger: Keeper, rate: float, concurrency: int, latency: float
) -> None:
    server = CountingServer(lambda number: (latency, 200, ""))
    said = run(ledger, server, 14, rate=rate, concurrency=concurrency)
    assert server.most <= concurrency
    # Never more than the rate allows, in any window; and all of it once everybody is there.
    for start_, end in ((0.0, 12.0), (3.0, 12.0), (5.0, 6.0), (8.0, 10.0)):
        assert server.rate(start_, end) <= rate * 1.02 + 2 / (end - start_)
    assert server.rate(3.0, 12.0) + lost(said, server, 3.0, 12.0) >= rate * 0.98 - 1 / 9.0
    assert sum(each["requests"] for each in said) == len(server.arrivals)
    server.close()


def test_a_retry_after_told_to_one_holds_for_all(ledger: Keeper) -> None:
    server = CountingServer(
        lambda number: (0.01, 429, "Retry-After: 3\r\n") if number == 150 else (0.01, 200, "")
    )
    said = run(ledger, server, 12, rate=50.0, concurrency=4)
    assert [sum(each["statuses"].get("429", 0) for each in said)] == [1]
    asked = server.arrivals[149]
    # Those that were on their way, and what the others had not yet heard of: a turn's time, in requests and not in
    # seconds, since a busy machine may let a worker run only later.
    late = [at - asked for at in server.arrivals[150:] if at < asked + 3.0]
    assert len(late) <= 4 + 50.0 * 0.25, late
    row = open_ledger(ledger.address).load(DOMAIN)
    assert row is not None and row.owed_until > 0
    server.close()


def test_what_one_learned_all_know(ledger: Keeper) -> None:
    """A limiter of 25 r/s, no rate given: together they find it, as one would alone."""
    tokens, last = [5.0], [0.0]

    def answer(number: int) -> tuple[float, int, str]:
        now = time.monotonic()
        tokens[0] = min(5.0, tokens[0] + (now - last[0]) * 25.0)
        last[0] = now
        if tokens[0] < 1:
            return 0.005, 429, "Retry-After: 1\r\n"
        tokens[0] -= 1
        return 0.005, 200, ""

    server = CountingServer(answer)
    said = run(ledger, server, 30, concurrency=5)
    refused = sum(each["statuses"].get("429", 0) for each in said)
    assert refused <= 0.03 * len(server.arrivals)
    # All of it takes until here on an idle machine; one that is busy answers later and so learns later. Four that did
    # not share what they learn would have a quarter each, or the refusals of four.
    assert server.rate(18.0, 28.0) + lost(said, server, 18.0, 28.0) >= 25.0 * 0.6
    server.close()


def test_a_killed_worker_leaves_its_share_to_the_others(ledger: Keeper) -> None:
    ledger.clear()
    server = CountingServer(lambda number: (0.02, 200, ""))
    workers = [start(ledger, server, 40, rate=40.0, concurrency=2) for _ in range(3)]
    while len(server.arrivals) < 150:
        assert all(worker.poll() is None for worker in workers)
        subprocess.run(["sleep", "0.1"], check=True)
    at = server.arrivals[-1] - server.arrivals[0]
    workers[0].kill()
    said = [json.loads(worker.communicate(timeout=90)[0].splitlines()[-1]) for worker in workers[1:]]
    assert server.most <= 2
    # Its permits lapse after PERMIT_S; then the rate is whole again.
    start_, end = at + 23.0, at + 29.0
    assert server.rate(start_, end) + lost(said, server, start_, end) >= 40.0 * 0.97
    server.close()


def test_without_the_server_nobody_sends_and_then_all_go_on(ledger: Keeper) -> None:
    ledger.clear()
    server = CountingServer(lambda number: (0.01, 200, ""))
    workers = [start(ledger, server, 24, rate=40.0, concurrency=2) for _ in range(3)]
    while len(server.arrivals) < 150:
        subprocess.run(["sleep", "0.1"], check=True)
    ledger.kill()
    at = time.monotonic() - server.arrivals[0]
    subprocess.run(["sleep", "3"], check=True)
    ledger.start()
    back = time.monotonic() - server.arrivals[0]
    said = [json.loads(worker.communicate(timeout=60)[0].splitlines()[-1]) for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 3
    assert server.rate(at + 1.5, at + 2.9) == 0
    start_, end = back + 2.0, back + 5.0
    assert server.rate(start_, end) + lost(said, server, start_, end) >= 40.0 * 0.9
    assert server.rate(start_, end) <= 40.0 * 1.02 + 2 / (end - start_)
    assert server.most <= 2
    server.close()
