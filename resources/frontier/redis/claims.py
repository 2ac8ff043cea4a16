"""Claims and leases. Cost: one round trip; a lease is some 300 bytes while it lasts.

Tokens are 62 random bits a call and a number: a server that lost its last second in a crash can never give a
token a second time, so an ack of before the crash cannot pass for one of after it.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable

from resources.frontier.base import Claim
from resources.frontier.redis.record import claim_of
from resources.frontier.redis.store import CHUNK, Store
from resources.shared_redis.connection import Call

__all__ = ["claim", "extend", "next_ready_at", "reap", "release_worker"]

#: At most this many parked URLs become claimable again in one claim: its cost stays bounded.
UNPARK = 1_000
#: Claims of one script call.
MOST = 4_096
#: A domain nobody has claimed from for so long, and without leases, is not looked at by a reap of all domains.
FORGET_S = 7 * 86_400.0


def claim(store: Store, domain: str, limit: int, worker: str, lease_s: float, now: float) -> list[Claim]:
    """See `Frontier.claim`."""
    _undo_lost(store)
    until = now + lease_s
    claims: list[Claim] = []
    while len(claims) < limit:
        wanted = min(MOST, limit - len(claims))
        prefix = (secrets.randbits(47)).to_bytes(6, "big")
        ahead: list[Call] = [
            ("ZADD", store.common("leasing"), time.time(), store.name(domain)),
            ("SADD", store.common(f"worker:{worker}"), store.name(domain)),
        ]
        call = store.on("claim", domain, wanted, worker, repr(until), repr(now), prefix, max(wanted, UNPARK))
        store.unsure[prefix] = domain
        *_, reply = store.run([*ahead, call])
        del store.unsure[prefix]
        for at in range(0, len(reply), 3):
            key, token, value = reply[at : at + 3]
            claims.append(claim_of(key, domain, value, token, until))
        if len(reply) < wanted * 3:
            break
    return claims


def _undo_lost(store: Store) -> None:
    """Hand back what claims took whose answer was lost: nobody knows of it, and it would be renewed for ever."""
    for prefix, domain in list(store.unsure.items()):
        store.repeat("hand_back", domain, "call", prefix)
        del store.unsure[prefix]


def extend(store: Store, worker: str, lease_s: float, now: float) -> int:
    """See `Frontier.extend`. One round trip for all domains together, two when there is a new one among them."""
    _undo_lost(store)

    def renewals(domains: Iterable[str]) -> list[Call]:
        return [store.on("extend", domain, worker, repr(now + lease_s)) for domain in sorted(domains)]

    known = store.renewed.get(worker, frozenset())
    names, *held = store.run([("SMEMBERS", store.common(f"worker:{worker}")), *renewals(known)])
    found = frozenset(name.decode("utf-8", "surrogatepass") for name in names)
    store.renewed[worker] = found
    renewed: int = sum(held) + sum(store.run(renewals(found - known)))
    return renewed


def release_worker(store: Store, worker: str) -> int:
    """See `Frontier.release_worker`."""
    domains = _of_worker(store, worker)
    total = sum(store.repeat("hand_back", domain, "worker", worker) for domain in domains)
    store.renewed.pop(worker, None)
    if domains:
        store.run([("SREM", store.common(f"worker:{worker}"), *map(store.name, domains))])
    return total


def reap(store: Store, now: float, domain: str | None) -> int:
    """See `Frontier.reap`. All domains: those that somebody claimed from in the last days are looked at."""
    if domain is not None:
        return store.repeat("hand_back", domain, "expired", repr(now))
    leasing = store.common("leasing")
    names: list[bytes] = store.connection.one("ZRANGE", leasing, 0, -1)
    domains = [name.decode("utf-8", "surrogatepass") for name in names]
    calls = [store.on("hand_back", name, "expired", repr(now), CHUNK) for name in domains]
    total = 0
    for name, done in zip(domains, store.run(calls), strict=True):
        total += done
        if done == CHUNK:
            total += store.repeat("hand_back", name, "expired", repr(now))
    held = store.run([("ZCARD", store.own(name, "l")) for name in domains])
    idle = [store.name(name) for name, count in zip(domains, held, strict=True) if not count]
    if idle:
        old = set(store.connection.one("ZRANGEBYSCORE", leasing, "-inf", time.time() - FORGET_S))
        gone = [name for name in idle if name in old]
        if gone:
            store.run([("ZREM", leasing, *gone)])
    return total


def next_ready_at(store: Store, domain: str, now: float) -> float | None:
    """See `Frontier.next_ready_at`."""
    ready, parked = store.run(
        [
            ("EXISTS", store.own(domain, "i")),
            ("ZRANGE", store.own(domain, "p"), 0, 0, "WITHSCORES"),
        ]
    )
    if ready:
        return now
    return max(now, float(parked[1])) if parked else None


def _of_worker(store: Store, worker: str) -> list[str]:
    names: set[bytes] = store.connection.one("SMEMBERS", store.common(f"worker:{worker}"))
    return sorted(name.decode("utf-8", "surrogatepass") for name in names)
