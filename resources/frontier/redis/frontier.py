"""`RedisFrontier`: the contract of `resources.frontier.base` on one Redis or Valkey, or a Redis Cluster.

Any number of processes on any number of machines may have it open. Each operation is one script per domain,
atomic on the server, and one round trip a batch. What differs from a single file:

* *Atomic commit* holds per domain; outlinks to other domains go first, so that nothing can be lost (`commit`).
* *Durability* is the server's: with `appendfsync everysec` a crash of the server may undo the last second.
  URLs acked in it are fetched again, URLs found in it are found again with their pages; on a cluster, whose
  shards crash one by one, outlinks across domains need `appendfsync always` for the same promise.
* *A full server* refuses whole calls (FrontierFull) before they change anything.

Costs, measured by `benchmarks/redis_memory.py` on pending URLs of 60 characters that have a parent: 131 bytes each
on Valkey 9.1 (libc's allocator), of which exact dedup is 24; 145 and 33 on Redis 7.0 (jemalloc, which rounds each
bucket up). No operation walks the frontier but those that are asked to (records, recount, force, reset).

This file is the table of contents; each group of methods is one module of the package, each script one file
in `lua/`; `lua/domain.lua` and `lua/queue.lua` say which keys there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from resources.frontier.base import (
    Ack,
    Claim,
    CommitResult,
    Discovery,
    DomainLease,
    EnqueueResult,
    FetchLogRow,
    State,
    StateCounts,
    UrlRecord,
    WorkerBeat,
)
from resources.frontier.redis import claims, commit, enqueue, fetch_log, transitions, workers
from resources.frontier.redis import records as whole_rows
from resources.frontier.redis.store import Store

__all__ = ["RedisFrontier"]


class RedisFrontier:
    """See the module docstring. `address`: see `resources.shared_redis.address`."""

    #: Many machines: the pace of a domain is kept on the same server.
    shared = True

    def __init__(self, address: str) -> None:
        self._store = Store(address)

    def __repr__(self) -> str:
        return f"<RedisFrontier {self._store.connection.address.shown}>"

    @property
    def trips(self) -> int:
        """Round trips to the server so far."""
        return self._store.connection.trips

    # -- writing ---------------------------------------------------------------------------------
    def enqueue(self, urls: Sequence[Discovery], now: float) -> EnqueueResult:
        return enqueue.enqueue(self._store, urls, now)

    def claim(self, domain: str, limit: int, worker: str, lease_s: float, now: float) -> list[Claim]:
        return claims.claim(self._store, domain, limit, worker, lease_s, now)

    def commit(self, acks: Sequence[Ack], now: float) -> CommitResult:
        return commit.commit(self._store, acks, now)

    def extend(self, worker: str, lease_s: float, now: float) -> int:
        return claims.extend(self._store, worker, lease_s, now)

    def reap(self, now: float, domain: str | None = None) -> int:
        return claims.reap(self._store, now, domain)

    def release_worker(self, worker: str, now: float) -> int:
        return claims.release_worker(self._store, worker)

    def requeue_due(self, domain: str, now: float, *, force: bool = False) -> int:
        return transitions.requeue_due(self._store, domain, now, force=force)

    def retry_failed(
        self, domain: str, now: float, *, causes: Iterable[str] | None = None, force: bool = False
    ) -> int:
        return transitions.retry_failed(self._store, domain, now, causes=causes, force=force)

    def reconsider_excluded(self, domain: str, reasons: Iterable[str], now: float) -> int:
        return transitions.reconsider_excluded(self._store, domain, reasons)

    def exclude_pending(self, keys: Sequence[bytes], reason: str, detail: str, now: float) -> int:
        return transitions.exclude_pending(self._store, keys, reason, detail)

    def reset(self, domain: str) -> int:
        return transitions.reset(self._store, domain)

    # -- reading ---------------------------------------------------------------------------------
    def counts(self, domain: str) -> StateCounts:
        return whole_rows.counts(self._store, domain)

    def counts_of(self, domains: Sequence[str]) -> dict[str, StateCounts]:
        return whole_rows.counts_of(self._store, domains)

    def all_counts(self) -> Mapping[str, StateCounts]:
        return whole_rows.all_counts(self._store)

    def recount(self, domain: str) -> StateCounts:
        return whole_rows.recount(self._store, domain)

    def next_ready_at(self, domain: str, now: float) -> float | None:
        return claims.next_ready_at(self._store, domain, now)

    def due(self, domain: str, at: float) -> int:
        return whole_rows.due(self._store, domain, at)

    def failures(self, domain: str) -> Mapping[str, tuple[int, int]]:
        return whole_rows.failures(self._store, domain)

    def get(self, key: bytes) -> UrlRecord | None:
        return whole_rows.get(self._store, key)

    def known(self, keys: Sequence[bytes]) -> set[bytes]:
        return whole_rows.known(self._store, keys)

    def records(self, domain: str, states: Iterable[State] | None = None) -> Iterator[UrlRecord]:
        return whole_rows.records(self._store, domain, states)

    def put_records(self, records: Sequence[UrlRecord]) -> int:
        return whole_rows.put_records(self._store, records)

    # -- the fetch log of the running night --------------------------------------------------------
    def read_log(self, after: int, limit: int, domain: str | None = None) -> list[tuple[int, FetchLogRow]]:
        return fetch_log.read_log(self._store, after, limit, domain)

    def trim_log(self, up_to: int) -> int:
        return fetch_log.trim_log(self._store, up_to)

    # -- leases on domains, workers -----------------------------------------------------------------
    def lease_domain(self, domain: str, owner: str, ttl_s: float, now: float) -> DomainLease | None:
        return workers.lease_domain(self._store, domain, owner, ttl_s, now)

    def domain_lease(self, domain: str, now: float) -> DomainLease | None:
        return workers.domain_lease(self._store, domain, now)

    def unlease_domain(self, lease: DomainLease) -> bool:
        return workers.unlease_domain(self._store, lease)

    def beat(self, beat: WorkerBeat) -> None:
        workers.beat(self._store, beat)

    def workers(self, now: float, max_age_s: float = 60.0) -> list[WorkerBeat]:
        return workers.workers(self._store, now, max_age_s)

    # -- small named values (cursors, versions) ------------------------------------------------------
    def get_value(self, name: str) -> str | None:
        return workers.get_value(self._store, name)

    def set_value(self, name: str, value: str) -> None:
        workers.set_value(self._store, name, value)

    def close(self) -> None:
        self._store.connection.close()
