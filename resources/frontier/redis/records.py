"""Whole rows: looked up, streamed, counted by walking, and written as they are.

A key does not say its domain, so `get` and `known` ask every domain, all in one round trip: some 10 µs of the
server's time each. They are for people and checks; no crawl calls them.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence

from resources.frontier.base import Source, State, StateCounts, UrlRecord
from resources.frontier.redis.record import record_bytes, record_of, text
from resources.frontier.redis.store import BUCKETS, CHUNK, Store

__all__ = [
    "all_counts",
    "counts",
    "counts_of",
    "due",
    "failures",
    "get",
    "known",
    "put_records",
    "records",
    "recount",
]

#: As in lua/queue.lua.
_HOUR = 3600
#: Domains asked in one round trip.
_AT_ONCE = 10_000


def _counts(numbers: Sequence[bytes | None]) -> StateCounts:
    return StateCounts(*(int(number or 0) for number in numbers))


def counts(store: Store, domain: str) -> StateCounts:
    """See `Frontier.counts`."""
    return _counts(store.connection.one("HMGET", store.meta(domain), *range(len(State))))


def counts_of(store: Store, domains: Sequence[str]) -> dict[str, StateCounts]:
    """See `Frontier.counts_of`."""
    replies = store.run([("HMGET", store.meta(domain), *range(len(State))) for domain in domains])
    return {domain: _counts(numbers) for domain, numbers in zip(domains, replies, strict=True)}


def all_counts(store: Store) -> Mapping[str, StateCounts]:
    """See `Frontier.all_counts`."""
    found = {}
    domains = store.domains()
    for start in range(0, len(domains), _AT_ONCE):
        some = domains[start : start + _AT_ONCE]
        replies = store.run([("HMGET", store.meta(domain), *range(len(State))) for domain in some])
        for domain, numbers in zip(some, replies, strict=True):
            counted = _counts(numbers)
            if counted.discovered:
                found[domain] = counted
    return found


def recount(store: Store, domain: str) -> StateCounts:
    """See `Frontier.recount`."""
    sums = [0] * len(State)
    at = b"0"
    while at:
        ((at, *numbers),) = store.run([store.on("recount", domain, at, BUCKETS)])
        sums = [total + number for total, number in zip(sums, numbers, strict=True)]
    return StateCounts(*sums)


def due(store: Store, domain: str, at: float) -> int:
    """See `Frontier.due`: lengths of the lists of the hours up to `at`. URLs that moved on since count until their
    hour has been swept, so this is never too low for past hours and rounds the running one up."""
    hours = store.connection.one("ZRANGE", store.own(domain, "t"), "-inf", math.floor(at / _HOUR), "BYSCORE")
    return sum(store.run([("LLEN", store.own(domain, f"t:{text(hour)}")) for hour in hours])) if hours else 0


def failures(store: Store, domain: str) -> Mapping[str, tuple[int, int]]:
    """See `Frontier.failures`."""
    (reply,) = store.run([store.on("failures", domain)])
    return {text(reply[at]): (reply[at + 1], reply[at + 2]) for at in range(0, len(reply), 3)}


def get(store: Store, key: bytes) -> UrlRecord | None:
    """See `Frontier.get`."""
    domains = store.domains()
    for start in range(0, len(domains), _AT_ONCE):
        some = domains[start : start + _AT_ONCE]
        replies = store.run([store.on("find", domain, key) for domain in some])
        for domain, (value, owner, until) in zip(some, replies, strict=True):
            if value:
                return record_of(key, domain, value, owner, until)
    return None


def known(store: Store, keys: Sequence[bytes]) -> set[bytes]:
    """See `Frontier.known`."""
    left = list(dict.fromkeys(keys))
    found: set[bytes] = set()
    if not left:
        return found
    for domain in store.domains():
        calls = [
            store.on("known", domain, *left[start : start + CHUNK]) for start in range(0, len(left), CHUNK)
        ]
        marks = b"".join(store.run(calls))
        found.update(key for key, mark in zip(left, marks, strict=True) if mark == ord("1"))
        left = [key for key in left if key not in found]
        if not left:
            break
    return found


def records(
    store: Store, domain: str, states: Iterable[State] | None, source: Source | None
) -> Iterator[UrlRecord]:
    """See `Frontier.records`: some buckets at a time, each as it is when its turn comes."""
    mask = sum(1 << state for state in set(State if states is None else states))
    at = b"0" if mask else b""
    while at:
        start = int(at).to_bytes(4, "big")
        ((at, *flat),) = store.run([store.on("scan", domain, at, BUCKETS, mask, CHUNK)])
        rows = [
            record_of(key, domain, value, owner, until)
            for key, value, owner, until in zip(*(flat[place::4] for place in range(4)), strict=True)
            # Only after a reset in between a bucket reaches back to what was read before.
            if key[:4] >= start
        ]
        yield from sorted((row for row in rows if source in (None, row.source)), key=lambda row: row.key)


def put_records(store: Store, rows: Sequence[UrlRecord]) -> int:
    """See `Frontier.put_records`. A LEASED row gets a lease with a new token: the old ack is refused."""
    distinct = {row.key: row for row in rows}
    by_domain: dict[str, list[UrlRecord]] = {}
    for row in distinct.values():
        by_domain.setdefault(row.domain, []).append(row)
    calls = store.registering(by_domain)
    for domain, own in by_domain.items():
        for start in range(0, len(own), CHUNK):
            arguments: list[bytes] = []
            for row in own[start : start + CHUNK]:
                lease = repr(row.lease_until or 0.0).encode()
                token = secrets.randbits(63).to_bytes(8, "big")
                arguments += (row.key, record_bytes(row), store.name(row.lease_owner), lease, token)
                if row.state is State.LEASED:
                    calls.append(("SADD", store.common(f"worker:{row.lease_owner}"), store.name(domain)))
                    calls.append(("ZADD", store.common("leasing"), "NX", 0, store.name(domain)))
            calls.append(store.on("put", domain, *arguments))
    store.run(calls)
    store.registered(by_domain)
    return len(distinct)
