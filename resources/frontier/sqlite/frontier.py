"""`SqliteFrontier`: the whole contract of `resources.frontier.base` on one SQLite file.

Any number of processes on one machine may have it open; each operation is one transaction (those that may
touch a whole domain: one transaction per few thousand rows). What a kill -9 or a power cut loses: nothing
that `enqueue` or `commit` returned from. What it may lose: leases, which are then PENDING again.

This file is the table of contents; each group of methods is one module of the package:

* `enqueue` adding URLs, `key_index` the dedup behind it, `key_run` its file beside the database
* `claims` claims and leases, `commit` their end
* `transitions` due again, retried, reconsidered, excluded, forgotten
* `records` whole rows, `fetch_log` the log, `workers` domain leases and signs of life
* `session`, `database`, `domains` what they stand on; `schema.sql` what is on the disk
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

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
from resources.frontier.sqlite import claims, commit, fetch_log, transitions, workers
from resources.frontier.sqlite import records as whole_rows
from resources.frontier.sqlite.enqueue import add_urls
from resources.frontier.sqlite.session import Session

__all__ = ["SqliteFrontier"]


class SqliteFrontier:
    """See the module docstring. `busy_s`: how long to wait for another process's transaction."""

    #: One machine: the pace of a domain is kept beside this file.
    shared = False

    def __init__(self, path: Path | str, *, busy_s: float | None = None) -> None:
        self._session = Session(Path(path), busy_s=busy_s)

    def __repr__(self) -> str:
        return f"<SqliteFrontier {self._session.database.path}>"

    # -- writing ---------------------------------------------------------------------------------
    def enqueue(self, urls: Sequence[Discovery], now: float) -> EnqueueResult:
        with self._session.write() as writing:
            return add_urls(self._session, writing, urls, now)[0]

    def claim(self, domain: str, limit: int, worker: str, lease_s: float, now: float) -> list[Claim]:
        return claims.claim(self._session, domain, limit, worker, lease_s, now)

    def commit(self, acks: Sequence[Ack], now: float) -> CommitResult:
        return commit.commit(self._session, acks, now)

    def extend(self, worker: str, lease_s: float, now: float) -> int:
        return claims.extend(self._session, worker, lease_s, now)

    def reap(self, now: float, domain: str | None = None) -> int:
        return claims.reap(self._session, now, domain)

    def release_worker(self, worker: str, now: float) -> int:
        return claims.release_worker(self._session, worker)

    def requeue_due(self, domain: str, now: float, *, force: bool = False) -> int:
        return transitions.requeue_due(self._session, domain, now, force=force)

    def retry_failed(
        self, domain: str, now: float, *, causes: Iterable[str] | None = None, force: bool = False
    ) -> int:
        return transitions.retry_failed(self._session, domain, now, causes=causes, force=force)

    def reconsider_excluded(self, domain: str, reasons: Iterable[str], now: float) -> int:
        return transitions.reconsider_excluded(self._session, domain, reasons, now)

    def exclude_pending(self, keys: Sequence[bytes], reason: str, detail: str, now: float) -> int:
        return transitions.exclude_pending(self._session, keys, reason, detail)

    def reset(self, domain: str) -> int:
        return transitions.reset(self._session, domain)

    # -- reading ---------------------------------------------------------------------------------
    def counts(self, domain: str) -> StateCounts:
        with self._session.database.explained():
            return self._session.domains.counts(domain)

    def counts_of(self, domains: Sequence[str]) -> dict[str, StateCounts]:
        with self._session.database.explained():
            return {domain: self._session.domains.counts(domain) for domain in domains}

    def all_counts(self) -> Mapping[str, StateCounts]:
        with self._session.database.explained():
            return self._session.domains.all_counts()

    def recount(self, domain: str) -> StateCounts:
        return whole_rows.recount(self._session, domain)

    def next_ready_at(self, domain: str, now: float) -> float | None:
        return claims.next_ready_at(self._session, domain, now)

    def due(self, domain: str, at: float) -> int:
        return whole_rows.due(self._session, domain, at)

    def failures(self, domain: str) -> Mapping[str, tuple[int, int]]:
        return whole_rows.failures(self._session, domain)

    def get(self, key: bytes) -> UrlRecord | None:
        return whole_rows.get(self._session, key)

    def known(self, keys: Sequence[bytes]) -> set[bytes]:
        return whole_rows.known(self._session, keys)

    def records(self, domain: str, states: Iterable[State] | None = None) -> Iterator[UrlRecord]:
        return whole_rows.records(self._session, domain, states)

    def put_records(self, records: Sequence[UrlRecord]) -> int:
        return whole_rows.put_records(self._session, records)

    # -- the fetch log of the running night --------------------------------------------------------
    def read_log(self, after: int, limit: int, domain: str | None = None) -> list[tuple[int, FetchLogRow]]:
        return fetch_log.read_log(self._session, after, limit, domain)

    def trim_log(self, up_to: int) -> int:
        return fetch_log.trim_log(self._session, up_to)

    # -- leases on domains, workers -----------------------------------------------------------------
    def lease_domain(self, domain: str, owner: str, ttl_s: float, now: float) -> DomainLease | None:
        return workers.lease_domain(self._session, domain, owner, ttl_s, now)

    def domain_lease(self, domain: str, now: float) -> DomainLease | None:
        return workers.domain_lease(self._session, domain, now)

    def unlease_domain(self, lease: DomainLease) -> bool:
        return workers.unlease_domain(self._session, lease)

    def beat(self, beat: WorkerBeat) -> None:
        workers.beat(self._session, beat)

    def workers(self, now: float, max_age_s: float = 60.0) -> list[WorkerBeat]:
        return workers.workers(self._session, now, max_age_s)

    # -- small named values (cursors, versions) ------------------------------------------------------
    def get_value(self, name: str) -> str | None:
        return workers.get_value(self._session, name)

    def set_value(self, name: str, value: str) -> None:
        workers.set_value(self._session, name, value)

    def close(self) -> None:
        self._session.keys.close()
        self._session.database.close()
