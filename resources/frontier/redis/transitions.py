"""Moves of many URLs at once: due again, retried, reconsidered, excluded, forgotten.

Each runs in script calls of bounded work: others get their turn, and a crash half-way leaves a frontier that
balances and a call that can be made again. Only `force` and `reset` walk a domain; the others look at what
they move.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from resources.frontier.redis.store import CHUNK, Store

__all__ = ["exclude_pending", "reconsider_excluded", "requeue_due", "reset", "retry_failed"]


def requeue_due(store: Store, domain: str, now: float, *, force: bool) -> int:
    """See `Frontier.requeue_due`."""
    if force:
        return store.walk("requeue_all", domain)
    total, left = 0, b""
    while True:
        ((moved, left, over),) = store.run([store.on("requeue_due", domain, repr(now), CHUNK, left)])
        total += int(moved)
        if over:
            return total


def retry_failed(store: Store, domain: str, now: float, *, causes: Iterable[str] | None, force: bool) -> int:
    """See `Frontier.retry_failed`. A row without `next_eligible_at` is never eligible by itself."""
    if causes is None:
        (found,) = store.run([("SMEMBERS", store.own(domain, "fc"))])
        wanted = sorted(found)
    else:
        wanted = [store.name(cause) for cause in dict.fromkeys(causes)]
    latest = "+inf" if force else repr(now)
    return sum(store.repeat("retry_failed", domain, cause, latest) for cause in wanted)


def reconsider_excluded(store: Store, domain: str, reasons: Iterable[str], _now: float) -> int:
    """See `Frontier.reconsider_excluded`."""
    total = 0
    for reason in dict.fromkeys(reasons):
        over = 0
        while not over:
            ((moved, over),) = store.run([store.on("reconsider", domain, store.name(reason), CHUNK)])
            total += moved
    return total


def exclude_pending(store: Store, keys: Sequence[bytes], reason: str, detail: str) -> int:
    """See `Frontier.exclude_pending`. A key does not say its domain: each domain is asked, in one round trip."""
    domains = store.domains()
    total = 0
    for start in range(0, len(keys), CHUNK):
        some = keys[start : start + CHUNK]
        total += sum(
            store.run(
                [
                    store.on("exclude", domain, store.name(reason), store.name(detail), *some)
                    for domain in domains
                ]
            )
        )
    return total


def reset(store: Store, domain: str) -> int:
    """See `Frontier.reset`. The fence of the domain's lease and the fetch log stay."""
    return store.walk("reset", domain)
