"""Leases on domains, signs of life, small named values."""

from __future__ import annotations

import json
from dataclasses import astuple

from resources.frontier.base import DomainLease, WorkerBeat
from resources.frontier.redis.record import text
from resources.frontier.redis.store import SCRIPTS, Store

__all__ = ["beat", "domain_lease", "get_value", "lease_domain", "set_value", "unlease_domain", "workers"]

#: Beats of workers not heard of for so long are dropped.
KEEP_S = 31 * 86_400.0


def lease_domain(store: Store, domain: str, owner: str, ttl_s: float, now: float) -> DomainLease | None:
    """See `Frontier.lease_domain`."""
    if not owner:
        raise ValueError("a domain lease needs the name of its owner")
    until = now + ttl_s
    fence = store.connection.one(
        SCRIPTS["lease_domain"], (store.own(domain, "lease"),), (store.name(owner), repr(until), repr(now))
    )
    return DomainLease(domain, owner, fence, until) if fence else None


def domain_lease(store: Store, domain: str, now: float) -> DomainLease | None:
    """See `Frontier.domain_lease`."""
    owner, fence, until = store.connection.one("HMGET", store.own(domain, "lease"), "owner", "fence", "until")
    if not owner or float(until) <= now:
        return None
    return DomainLease(domain, text(owner), int(fence), float(until))


def unlease_domain(store: Store, lease: DomainLease) -> bool:
    """See `Frontier.unlease_domain`."""
    keys = (store.own(lease.domain, "lease"),)
    return bool(store.connection.one(SCRIPTS["unlease_domain"], keys, (store.name(lease.owner), lease.fence)))


def beat(store: Store, sign: WorkerBeat) -> None:
    """See `Frontier.beat`."""
    keys = (store.common("beats"), store.common("beat:times"))
    arguments = (store.name(sign.worker), json.dumps(astuple(sign)), repr(sign.at), repr(sign.at - KEEP_S))
    store.connection.one(SCRIPTS["beat"], keys, arguments)


def workers(store: Store, now: float, max_age_s: float) -> list[WorkerBeat]:
    """See `Frontier.workers`."""
    raw: list[bytes] = store.connection.one("HVALS", store.common("beats"))
    beats = [WorkerBeat(*json.loads(each)) for each in raw]
    return sorted((each for each in beats if each.at >= now - max_age_s), key=lambda each: each.worker)


def get_value(store: Store, name: str) -> str | None:
    """See `Frontier.get_value`."""
    raw: bytes | None = store.connection.one("HGET", store.common("values"), store.name(name))
    return None if raw is None else text(raw)


def set_value(store: Store, name: str, value: str) -> None:
    """See `Frontier.set_value`."""
    store.connection.one("HSET", store.common("values"), store.name(name), store.name(value))
