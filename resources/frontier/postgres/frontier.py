"""`PostgresFrontier`: the whole contract of `resources.frontier.base` on PostgreSQL 13 or newer.

Any number of processes on any number of machines may have it open; each operation is one transaction (those that
may touch a whole domain: one per few thousand rows). Workers never wait for each other's claims (`SKIP LOCKED`),
only, for a moment, at the counters of a domain and at the end of the log. Several may crawl one domain: they keep one
pace by `pacing.shared`, beside the ledger.

What a kill of the server loses: nothing that `enqueue` or `commit` returned from. What it may lose: leases, which
are then PENDING again.

This file is the table of contents; each group of methods is one module of the package, with its `.sql` beside it.
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
from resources.frontier.postgres import claims, commit, fetch_log, transitions, workers
from resources.frontier.postgres import records as whole_rows
from resources.frontier.postgres.database import Database
from resources.frontier.postgres.enqueue import add_urls

__all__ = ["PostgresFrontier"]


class PostgresFrontier:
    """See the module docstring. `address`: see `database`."""

    shared = True

    def __init__(self, address: str) -> None:
        self._database = Database(address)

    def __repr__(self) -> str:
        return f"<PostgresFrontier {self._database.shown}>"

    # -- writing ---------------------------------------------------------------------------------
    def enqueue(self, urls: Sequence[Discovery], now: float) -> EnqueueResult:
        return self._database.write(lambda writing: add_urls(self._database, writing, urls, now)[0])

    def claim(self, domain: str, limit: int, worker: str, lease_s: float, now: float) -> list[Claim]:
        return claims.claim(self._database, domain, limit, worker, lease_s, now)

    def commit(self, acks: Sequence[Ack], now: float) -> CommitResult:
        return commit.commit(self._database, acks, now)

    def extend(self, worker: str, lease_s: float, now: float) -> int:
        return claims.extend(self._database, worker, lease_s, now)

    def reap(self, now: float, domain: str | None = None) -> int:
        return claims.reap(self._database, now, domain)

    def release_worker(self, worker: str, now: float) -> int:
        return claims.release_worker(self._database, worker)

    def requeue_due(self, domain: str, now: float, *, force: bool = False) -> int:
        return transitions.requeue_due(self._database, domain, now, force=force)

    def retry_failed(
        self, domain: str, now: float, *, causes: Iterable[str] | None = None, force: bool = False
    ) -> int:
        return transitions.retry_failed(self._database, domain, now, causes=causes, force=force)

    def reconsider_excluded(self, domain: str, reasons: Iterable[str], now: float) -> int:
        return transitions.reconsider_excluded(self._database, domain, reasons, now)

    def exclude_pending(self, keys: Sequence[bytes], reason: str, detail: str, now: float) -> int:
        return transitions.exclude_pending(self._database, keys, reason, detail)

    def reset(self, domain: str) -> int:
        return transitions.reset(self._database, domain)

    # -- reading ---------------------------------------------------------------------------------
    def counts(self, domain: str) -> StateCounts:
        return whole_rows.counts(self._database, domain)

    def counts_of(self, domains: Sequence[str]) -> dict[str, StateCounts]:
        return whole_rows.counts_of(self._database, domains)

    def all_counts(self) -> Mapping[str, StateCounts]:
        return whole_rows.all_counts(self._database)

    def recount(self, domain: str) -> StateCounts:
        return whole_rows.recount(self._database, domain)

    def next_ready_at(self, domain: str, now: float) -> float | None:
        return claims.next_ready_at(self._database, domain, now)

    def due(self, domain: str, at: float) -> int:
        return whole_rows.due(self._database, domain, at)

    def failures(self, domain: str) -> Mapping[str, tuple[int, int]]:
        return whole_rows.failures(self._database, domain)

    def get(self, key: bytes) -> UrlRecord | None:
        return whole_rows.get(self._database, key)

    def known(self, keys: Sequence[bytes]) -> set[bytes]:
        return whole_rows.known(self._database, keys)

    def records(self, domain: str, states: Iterable[State] | None = None) -> Iterator[UrlRecord]:
        return whole_rows.records(self._database, domain, states)

    def put_records(self, records: Sequence[UrlRecord]) -> int:
        return whole_rows.put_records(self._database, records)

    # -- the fetch log of the running night --------------------------------------------------------
    def read_log(self, after: int, limit: int, domain: str | None = None) -> list[tuple[int, FetchLogRow]]:
        return fetch_log.read_log(self._database, after, limit, domain)

    def trim_log(self, up_to: int) -> int:
        return fetch_log.trim_log(self._database, up_to)

    # -- leases on domains, workers -----------------------------------------------------------------
    def lease_domain(self, domain: str, owner: str, ttl_s: float, now: float) -> DomainLease | None:
        return workers.lease_domain(self._database, domain, owner, ttl_s, now)

    def domain_lease(self, domain: str, now: float) -> DomainLease | None:
        return workers.domain_lease(self._database, domain, now)

    def unlease_domain(self, lease: DomainLease) -> bool:
        return workers.unlease_domain(self._database, lease)

    def beat(self, beat: WorkerBeat) -> None:
        workers.beat(self._database, beat)

    def workers(self, now: float, max_age_s: float = 60.0) -> list[WorkerBeat]:
        return workers.workers(self._database, now, max_age_s)

    # -- small named values (cursors, versions) ------------------------------------------------------
    def get_value(self, name: str) -> str | None:
        return workers.get_value(self._database, name)

    def set_value(self, name: str, value: str) -> None:
        workers.set_value(self._database, name, value)

    def close(self) -> None:
        self._database.close()
