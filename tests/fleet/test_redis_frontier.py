"""What only the Redis frontier promises: many buckets, a full or restarted or badly set server, a cluster."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from resources.frontier.base import FrontierError, FrontierFull, Source, State, StateCounts
from resources.frontier.redis import RedisFrontier
from resources.shared_redis.address import Address
from tests.fleet.servers import RedisServer
from tests.frontier.samples import NEWS, SHOP, done, log_row, url


@pytest.fixture(scope="module")
def server() -> RedisServer:
    return RedisServer()


@pytest.fixture
def frontier(server: RedisServer, request: pytest.FixtureRequest) -> Iterator[RedisFrontier]:
    server.client.config_set("maxmemory", 0)
    opened = RedisFrontier(f"{server.address}?namespace={request.node.name}")
    yield opened
    opened.close()


def test_a_large_domain_splits_its_buckets_and_keeps_every_record(
    server: RedisServer, frontier: RedisFrontier
) -> None:
    many = [url(str(number), priority=number % 3) for number in range(20_000)]
    for start in range(0, len(many), 3_000):
        frontier.enqueue(many[start : start + 3_000], 1.0)
    assert frontier.enqueue(many[::7], 2.0).known == len(many[::7])
    assert frontier.counts(SHOP) == StateCounts(pending=20_000) == frontier.recount(SHOP)
    keys = [record.key for record in frontier.records(SHOP)]
    assert keys == sorted(each.key for each in many)
    buckets = server.client.keys(f"{frontier._storage.connection.namespace.decode()}:*:u:*")
    assert len(buckets) == 20_000 // 44 + 1
    assert {server.client.object("encoding", bucket) for bucket in buckets} == {b"listpack"}
    claims = frontier.claim(SHOP, 9_000, "w", 60, 3.0)
    expected = [each.url for each in sorted(many, key=lambda each: each.priority)[:9_000]]
    assert [claim.url for claim in claims] == expected
    frontier.commit([done(claim, 4.0, due_at=5_000.0 + at) for at, claim in enumerate(claims)], 4.0)
    assert frontier.requeue_due(SHOP, 7_999.0) == 3_000
    assert frontier.requeue_due(SHOP, 8_000.0) == 1
    assert frontier.requeue_due(SHOP, 99_999.0) == 5_999
    assert frontier.counts(SHOP) == StateCounts(pending=20_000) == frontier.recount(SHOP)
    assert frontier.reset(SHOP) == 20_000
    left = server.client.keys(f"{frontier._storage.connection.namespace.decode()}:{{{SHOP}}}:*")
    assert {name.rpartition(b":")[2] for name in left} <= {b"m", b"log"}


def test_records_at_the_edges_of_the_short_form_stay_as_they_are(frontier: RedisFrontier) -> None:
    """Depth and priority that fit one byte, and those that just do not, before and after a fetch."""
    fields: list[dict[str, Any]] = [{"depth": depth} for depth in (0, 255, 256, 65_535)]
    fields += [{"priority": priority} for priority in (-(2**31), -129, -128, 127, 128, 2**31 - 1)]
    fields += [{"redirects": 1}, {"depth": 255, "priority": -128, "lastmod": 7.5}, {"excluded": "scope"}]
    many = [url(str(at), source=Source(at % 6), parent=bytes(16), **each) for at, each in enumerate(fields)]
    frontier.enqueue(many, 1.5)
    found = {record.url: record for record in frontier.records(SHOP)}
    for each in many:
        record = found[each.url]
        assert (record.depth, record.priority, record.source) == (each.depth, each.priority, each.source)
        assert (record.redirects, record.lastmod, record.parent) == (each.redirects, each.lastmod, bytes(16))
        assert (record.attempts, record.fetches, record.status, record.discovered_at) == (0, 0, None, 1.5)
    claims = frontier.claim(SHOP, 99, "w", 60, 2.0)
    assert [claim.priority for claim in claims] == sorted(each.priority for each in many if not each.excluded)
    frontier.commit([done(claim, 3.0, status=200) for claim in claims[::2]], 3.0)
    frontier.release_worker("w", 4.0)
    for record in frontier.records(SHOP):
        state, fetches, status = record.state, record.fetches, record.status
        assert (state is State.DONE, fetches == 1, status == 200) in ((True,) * 3, (False,) * 3)
        before = replace(
            found[record.url],
            state=state,
            fetches=fetches,
            attempts=fetches,
            status=status,
            done_at=record.done_at,
        )
        assert record == before


def test_a_full_server_refuses_whole_calls_and_hands_leases_back(
    server: RedisServer, frontier: RedisFrontier
) -> None:
    frontier.enqueue([url("a"), url("b")], 1.0)
    (a, _) = frontier.claim(SHOP, 2, "w", 60, 2.0)
    server.client.config_set("maxmemory", 1)
    ack = done(a, 3.0, outlinks=[url("c"), url("x", NEWS)], log=log_row("a"))
    for call in (
        lambda: frontier.enqueue([url("d")], 3.0),
        lambda: frontier.commit([ack], 3.0),
        lambda: frontier.claim(SHOP, 1, "w", 60, 3.0),
    ):
        with pytest.raises(FrontierFull, match="nothing was lost: raise maxmemory"):
            call()
    assert frontier.counts(SHOP) == StateCounts(leased=2) == frontier.recount(SHOP)
    assert frontier.extend("w", 60, 4.0) == 2
    server.client.config_set("maxmemory", 0)
    assert frontier.commit([ack], 5.0).acked == 1
    assert frontier.all_counts() == {SHOP: StateCounts(1, 1, 1), NEWS: StateCounts(pending=1)}
    server.client.config_set("maxmemory", 1)
    assert frontier.release_worker("w", 6.0) == 1
    server.client.config_set("maxmemory", 0)


def test_a_batch_whose_answer_was_lost_can_be_committed_again(frontier: RedisFrontier) -> None:
    frontier.enqueue([url("a"), url("n", NEWS)], 1.0)
    claims = frontier.claim(SHOP, 1, "w", 60, 2.0) + frontier.claim(NEWS, 1, "w", 60, 2.0)
    acks = [done(claim, 3.0, outlinks=[url("x", NEWS), url("y")], log=log_row("a")) for claim in claims]
    assert frontier.commit(acks, 3.0).acked == 2
    before = [list(frontier.records(domain)) for domain in (SHOP, NEWS)]
    again = frontier.commit(acks, 4.0)
    assert (again.acked, again.stale, again.enqueued.new) == (0, 2, 0)
    assert [list(frontier.records(domain)) for domain in (SHOP, NEWS)] == before
    assert len(frontier.read_log(0, 9)) == 2


def test_a_server_that_forgot_the_scripts_is_told_them_again(
    server: RedisServer, frontier: RedisFrontier
) -> None:
    frontier.enqueue([url("a")], 1.0)
    server.client.script_flush()
    assert frontier.enqueue([url("a"), url("b")], 1.0).known == 1
    assert len(frontier.claim(SHOP, 9, "w", 60, 2.0)) == 2


def test_a_killed_server_is_an_error_and_then_goes_on() -> None:
    server = RedisServer(appendfsync="always")
    frontier = RedisFrontier(server.address)
    frontier.enqueue([url("a"), url("b")], 1.0)
    (a, _) = frontier.claim(SHOP, 2, "w", 60, 2.0)
    frontier.commit([done(a, 3.0, outlinks=[url("c")])], 3.0)
    server.kill()
    with pytest.raises(FrontierError, match="see that the server runs"):
        frontier.counts(SHOP)
    server.start()
    assert frontier.counts(SHOP) == StateCounts(pending=1, leased=1, done=1) == frontier.recount(SHOP)
    assert frontier.commit([done(a, 3.0)], 4.0).stale == 1
    assert frontier.reap(100.0) == 1
    frontier.close()
    server.stop()


def test_a_stall_is_waited_for(server: RedisServer, frontier: RedisFrontier) -> None:
    frontier.enqueue([url("a")], 1.0)
    server.pause(True)
    threading.Timer(0.5, server.pause, [False]).start()
    started = time.monotonic()
    assert len(frontier.claim(SHOP, 1, "w", 60, 2.0)) == 1
    assert time.monotonic() - started > 0.3


def test_numbers_of_the_log_grow_with_what_was_read(frontier: RedisFrontier) -> None:
    """Rows that are acked later, on any domain, have larger numbers than any that were read."""
    frontier.enqueue([url(str(at), domain) for at in range(5) for domain in (SHOP, NEWS)], 1.0)
    last = 0
    for domain in (SHOP, NEWS, SHOP, NEWS, NEWS):
        (claim,) = frontier.claim(domain, 1, "w", 60, 2.0)
        frontier.commit([done(claim, 3.0, log=log_row("x", domain))], 3.0)
        ((number, row),) = frontier.read_log(last, 10)
        assert number > last and row.domain == domain
        last = number


@pytest.mark.parametrize(
    ("settings", "cure"),
    [
        ({"maxmemory-policy": "allkeys-lru"}, "set `maxmemory-policy noeviction`"),
        ({"appendonly": "no"}, "set `appendonly yes`"),
    ],
)
def test_a_server_that_could_lose_urls_is_refused_with_the_cure(settings: dict[str, str], cure: str) -> None:
    server = RedisServer(**settings)
    with pytest.raises(FrontierError, match=cure):
        RedisFrontier(server.address)
    RedisFrontier(f"{server.address}?check=warn").close()
    server.stop()


def test_an_address_says_everything_and_shows_no_password() -> None:
    address = Address.parse("redis://me:secret@db.example:7000/2?namespace=shop&check=warn&cluster=1")
    assert (address.namespace, address.strict, address.cluster) == ("shop", False, True)
    assert "secret" in address.url and "secret" not in address.shown
    for wrong in ("redis://", "http://x", "redis://x?namespace={a}", "redis://x?check=maybe"):
        with pytest.raises(ValueError):
            Address.parse(wrong)
    with pytest.raises(FrontierError, match="does not answer"):
        RedisFrontier("redis://127.0.0.1:1/0")


def test_on_a_cluster_each_script_stays_on_one_shard() -> None:
    server = RedisServer(**{"cluster-enabled": "yes"})
    server.client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
    while b"cluster_state:ok" not in server.client.execute_command("CLUSTER", "INFO", NEVER_DECODE=True):
        time.sleep(0.05)
    frontier = RedisFrontier(server.address + "?cluster=1")
    frontier.enqueue([url("a"), url("b"), url("n", NEWS), url("x", excluded="scope")], 1.0)
    a, b = frontier.claim(SHOP, 9, "w", 10, 2.0)
    ack = done(a, 3.0, due_at=9.0, outlinks=[url("c"), url("o", NEWS)], log=log_row("a"))
    assert frontier.commit([ack], 3.0).new_by_domain == {SHOP: 1, NEWS: 1}
    assert frontier.extend("w", 10, 3.0) == 1 == frontier.reap(100.0)
    assert frontier.requeue_due(SHOP, 10.0) == 1 == frontier.reconsider_excluded(SHOP, ["scope"], 10.0)
    assert frontier.exclude_pending([b.key], "trap", "", 10.0) == 1
    assert [row.url for _, row in frontier.read_log(0, 9)] == [log_row("a").url]
    lease = frontier.lease_domain(SHOP, "w", 10, 1.0)
    assert lease is not None and frontier.unlease_domain(lease)
    rows = list(frontier.records(SHOP))
    frontier.put_records([replace(row, state=State.LEASED, lease_owner="v") for row in rows])
    assert frontier.release_worker("v", 11.0) == 4
    assert frontier.all_counts() == {SHOP: StateCounts(pending=4), NEWS: StateCounts(pending=2)}
    assert frontier.reset(SHOP) == 4
    frontier.close()
    server.stop()
