"""`RedisFrontier`: the contract of `resources.frontier.base` on one Redis or Valkey, or a Redis Cluster.

Any number of processes on any number of machines may have it open. Each operation is one script per domain,
atomic on the server, and one round trip a batch. What differs from a single file:

* *Atomic commit* holds per domain; outlinks to other domains go first, so that nothing can be lost (`commit`).
* *Durability* is the server's: with `appendfsync everysec` a crash of the server may undo the last second.
  URLs acked in it are fetched again, URLs found in it are found again with their pages; on a cluster, whose
  shards crash one by one, outlinks across domains need `appendfsync always` for the same promise.
* *A full server* refuses whole calls (FrontierFull) before they change anything.

Costs, measured by `benchmarks/redis_memory.py` on 5 M pending URLs of 60 characters that have a parent: 119 bytes each
on Valkey 9.1 (libc's allocator), of which the keys that make dedup exact are 18; 129 and 20 on Redis 7.0 (jemalloc, which
rounds each bucket up). No operation walks the frontier but those that are asked to (records, recount, force, reset).

This file is the table of contents; each group of methods is one module of the package, each script one file
in `lua/`; `lua/domain.lua` and `lua/queue.lua` say which keys there are.
"""

from __future__ import annotations

from collections.abc import Sequence

from resources.frontier.base import Discovery, EnqueueResult
from resources.frontier.in_parts import FrontierInParts
from resources.frontier.redis import claims, commit, enqueue, fetch_log, records, transitions, workers
from resources.frontier.redis.store import Store

__all__ = ["RedisFrontier"]


class RedisFrontier(FrontierInParts[Store]):
    """See the module docstring. `address`: see `resources.shared_redis.address`."""

    #: Many machines: the pace of a domain is kept on the same server.
    shared = True

    def __init__(self, address: str) -> None:
        super().__init__(Store(address), claims, commit, transitions, records, fetch_log, workers)

    def __repr__(self) -> str:
        return f"<RedisFrontier {self._storage.connection.address.shown}>"

    @property
    def trips(self) -> int:
        """Round trips to the server so far."""
        return self._storage.connection.trips

    def enqueue(self, urls: Sequence[Discovery], now: float) -> EnqueueResult:
        return enqueue.enqueue(self._storage, urls, now)

    def close(self) -> None:
        self._storage.connection.close()
