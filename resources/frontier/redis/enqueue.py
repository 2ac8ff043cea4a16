"""Adding URLs. Cost: one round trip a batch; 5 µs of the server's time a known URL, 13 a new one."""

from __future__ import annotations

from collections.abc import Sequence

from resources.frontier.base import Discovery, EnqueueResult
from resources.frontier.redis.record import discovery_bytes
from resources.frontier.redis.store import CHUNK, Store

__all__ = ["add_to", "enqueue", "enqueue_by_domain"]


def enqueue(store: Store, urls: Sequence[Discovery], now: float) -> EnqueueResult:
    """See `Frontier.enqueue`. Atomic for each `CHUNK` URLs of one domain."""
    return enqueue_by_domain(store, urls, now)[0]


def enqueue_by_domain(
    store: Store, urls: Sequence[Discovery], now: float
) -> tuple[EnqueueResult, dict[str, int]]:
    """The result, and the new pending URLs by domain."""
    result = EnqueueResult()
    new_by_domain: dict[str, int] = {}
    by_domain: dict[str, list[Discovery]] = {}
    for found in urls:
        by_domain.setdefault(found.domain, []).append(found)
    calls = store.registering(by_domain)
    ahead = len(calls)
    whose: list[str] = []
    for domain, own in by_domain.items():
        for start in range(0, len(own), CHUNK):
            arguments: list[bytes] = []
            for found in own[start : start + CHUNK]:
                arguments += (found.key, discovery_bytes(found, now))
            calls.append(store.on("enqueue", domain, *arguments))
            whose.append(domain)
    replies = store.run(calls)[ahead:]
    store.registered(by_domain)
    for domain, reply in zip(whose, replies, strict=True):
        add_to(result, new_by_domain, domain, reply)
    return result, new_by_domain


def add_to(result: EnqueueResult, new_by_domain: dict[str, int], domain: str, numbers: Sequence[int]) -> None:
    """Add what a script said: new, known, due again, excluded."""
    new, known, due_again, excluded = numbers
    result.new += new
    result.known += known
    result.due_again += due_again
    result.excluded += excluded
    if new:
        new_by_domain[domain] = new_by_domain.get(domain, 0) + new
