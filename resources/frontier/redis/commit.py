"""The end of claims: acks with their outlinks and log rows, one script call per domain and some dozens of pages.

What holds instead of one transaction over all domains: the acks of a call, their log rows and their outlinks
to their own domain become durable together. Outlinks to other domains are added before, and only when all of
them are in does any ack go out: whatever is cut short, nothing is lost, and the same batch can be committed
again (what was acked counts as stale then). The outlinks of a stale ack to other domains stay: they were met.

Costs: one round trip a batch, two when it names other domains. An outlink that many pages of a call name
travels and is looked up once.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from resources.frontier.base import Ack, CommitResult, Discovery
from resources.frontier.redis.enqueue import add_to, enqueue_by_domain
from resources.frontier.redis.fetch_log import row_bytes, telling
from resources.frontier.redis.record import ack_bytes, discovery_bytes
from resources.frontier.redis.store import Store
from resources.shared_redis.connection import Call

__all__ = ["commit"]

_NUMBER = struct.Struct("<H")
#: Bounds of one script call: some 5 ms of the server's time.
ACKS, OUTLINKS = 128, 1_000


def commit(store: Store, acks: Sequence[Ack], now: float) -> CommitResult:
    """See `Frontier.commit` and the module docstring."""
    result = CommitResult()
    by_domain: dict[str, list[tuple[Ack, list[Discovery]]]] = {}
    elsewhere: list[Discovery] = []
    for ack in acks:
        domain = ack.claim.domain
        own: list[Discovery] = []
        for link in ack.outlinks:
            (own if link.domain == domain else elsewhere).append(link)
        by_domain.setdefault(domain, []).append((ack, own))
    if elsewhere:
        result.enqueued, result.new_by_domain = enqueue_by_domain(store, elsewhere, now)
    calls = [*store.registering(by_domain), *telling(store, by_domain)]
    ahead = len(calls)
    whose = []
    for domain, own_acks in by_domain.items():
        batch = _Batch()
        for ack, links in own_acks:
            batch.add(ack, links, now)
            if batch.full:
                calls.append(batch.call(store, domain, now))
                whose.append(domain)
                batch = _Batch()
        if batch.acks:
            calls.append(batch.call(store, domain, now))
            whose.append(domain)
    replies = store.run(calls)[ahead:]
    store.registered(by_domain)
    for domain, (acked, stale, *numbers) in zip(whose, replies, strict=True):
        result.acked += acked
        result.stale += stale
        add_to(result.enqueued, result.new_by_domain, domain, numbers)
    return result


class _Batch:
    """The arguments of one script call."""

    def __init__(self) -> None:
        self.acks = 0
        self._ends: list[bytes] = []
        #: By key and date: which acks name it, and its record.
        self._links: dict[tuple[bytes, float | None], tuple[bytearray, bytes]] = {}

    @property
    def full(self) -> bool:
        return self.acks >= ACKS or len(self._links) >= OUTLINKS

    def add(self, ack: Ack, links: Sequence[Discovery], now: float) -> None:
        self.acks += 1
        token = ack.claim.token.to_bytes(8, "big")
        log = b"" if ack.log is None else row_bytes(ack.log)
        self._ends += (ack.claim.key, token, ack_bytes(ack), log)
        number = _NUMBER.pack(self.acks)
        for link in links:
            known = self._links.get((link.key, link.lastmod))
            if known is None:
                self._links[link.key, link.lastmod] = (bytearray(number), discovery_bytes(link, now))
            else:
                known[0].extend(number)

    def call(self, store: Store, domain: str, now: float) -> Call:
        arguments: list[object] = [now, self.acks, *self._ends]
        for (key, _), (names, rest) in self._links.items():
            arguments += (bytes(names), key, rest)
        return store.on("commit", domain, *arguments)
