"""`FrontierInParts`: the contract of `base`, spread over the modules of a back-end's package by what they are about.

A back-end that keeps its rows elsewhere is a storage (connection, transactions) and six modules of functions whose
first argument it is. This is the one place that says which method is which function; a back-end's own class opens
and closes the storage, and adds URLs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

from resources.frontier.base import (
    Ack,
    Claim,
    CommitResult,
    DomainLease,
    FetchLogRow,
    Source,
    State,
    StateCounts,
    UrlRecord,
    WorkerBeat,
)

__all__ = ["FrontierInParts"]

S = TypeVar("S")
C = TypeVar("C", contravariant=True)


class Claims(Protocol[C]):
    """Claims and leases of URLs."""

    def claim(
        self, storage: C, domain: str, limit: int, worker: str, lease_s: float, now: float, /
    ) -> list[Claim]: ...
    def extend(self, storage: C, worker: str, lease_s: float, now: float, /) -> int: ...
    def reap(self, storage: C, now: float, domain: str | None, /) -> int: ...
    def release_worker(self, storage: C, worker: str, /) -> int: ...
    def next_ready_at(self, storage: C, domain: str, now: float, /) -> float | None: ...


class Commits(Protocol[C]):
    """Their end."""

    def commit(self, storage: C, acks: Sequence[Ack], now: float, /) -> CommitResult: ...


class Transitions(Protocol[C]):
    """Moves of many rows at once."""

    def requeue_due(self, storage: C, domain: str, now: float, /, *, force: bool) -> int: ...
    def retry_failed(
        self, storage: C, domain: str, now: float, /, *, causes: Iterable[str] | None, force: bool
    ) -> int: ...
    def reconsider_excluded(self, storage: C, domain: str, reasons: Iterable[str], now: float, /) -> int: ...
    def exclude_pending(self, storage: C, keys: Sequence[bytes], reason: str, detail: str, /) -> int: ...
    def reset(self, storage: C, domain: str, /) -> int: ...


class Records(Protocol[C]):
    """Counters and whole rows."""

    def counts(self, storage: C, domain: str, /) -> StateCounts: ...
    def counts_of(self, storage: C, domains: Sequence[str], /) -> dict[str, StateCounts]: ...
    def all_counts(self, storage: C, /) -> Mapping[str, StateCounts]: ...
    def recount(self, storage: C, domain: str, /) -> StateCounts: ...
    def due(self, storage: C, domain: str, at: float, /) -> int: ...
    def failures(self, storage: C, domain: str, /) -> Mapping[str, tuple[int, int]]: ...
    def get(self, storage: C, key: bytes, /) -> UrlRecord | None: ...
    def known(self, storage: C, keys: Sequence[bytes], /) -> set[bytes]: ...
    def records(
        self, storage: C, domain: str, states: Iterable[State] | None, source: Source | None, /
    ) -> Iterator[UrlRecord]: ...
    def put_records(self, storage: C, rows: Sequence[UrlRecord], /) -> int: ...


class FetchLog(Protocol[C]):
    """The log of the running night."""

    def read_log(
        self, storage: C, after: int, limit: int, domain: str | None, /
    ) -> list[tuple[int, FetchLogRow]]: ...
    def trim_log(self, storage: C, up_to: int, /) -> int: ...


class Workers(Protocol[C]):
    """Leases on domains, signs of life, named values."""

    def lease_domain(
        self, storage: C, domain: str, owner: str, ttl_s: float, now: float, /
    ) -> DomainLease | None: ...
    def domain_lease(self, storage: C, domain: str, now: float, /) -> DomainLease | None: ...
    def unlease_domain(self, storage: C, lease: DomainLease, /) -> bool: ...
    def beat(self, storage: C, sign: WorkerBeat, /) -> None: ...
    def workers(self, storage: C, now: float, max_age_s: float, /) -> list[WorkerBeat]: ...
    def get_value(self, storage: C, name: str, /) -> str | None: ...
    def set_value(self, storage: C, name: str, value: str, /) -> None: ...


class FrontierInParts(Generic[S]):
    """See the module docstring; each method is explained in `base.Frontier`."""

    def __init__(
        self,
        storage: S,
        claims: Claims[S],
        commits: Commits[S],
        transitions: Transitions[S],
        records: Records[S],
        log: FetchLog[S],
        workers: Workers[S],
    ) -> None:
        self._storage = storage
        self._claims = claims
        self._commits = commits
        self._transitions = transitions
        self._records = records
        self._log = log
        self._workers = workers

    # -- writing ---------------------------------------------------------------------------------
    def claim(self, domain: str, limit: int, worker: str, lease_s: float, now: float) -> list[Claim]:
        return self._claims.claim(self._storage, domain, limit, worker, lease_s, now)

    def commit(self, acks: Sequence[Ack], now: float) -> CommitResult:
        return self._commits.commit(self._storage, acks, now)

    def extend(self, worker: str, lease_s: float, now: float) -> int:
        return self._claims.extend(self._storage, worker, lease_s, now)

    def reap(self, now: float, domain: str | None = None) -> int:
        return self._claims.reap(self._storage, now, domain)

    def release_worker(self, worker: str, now: float) -> int:
        return self._claims.release_worker(self._storage, worker)

    def requeue_due(self, domain: str, now: float, *, force: bool = False) -> int:
        return self._transitions.requeue_due(self._storage, domain, now, force=force)

    def retry_failed(
        self, domain: str, now: float, *, causes: Iterable[str] | None = None, force: bool = False
    ) -> int:
        return self._transitions.retry_failed(self._storage, domain, now, causes=causes, force=force)

    def reconsider_excluded(self, domain: str, reasons: Iterable[str], now: float) -> int:
        return self._transitions.reconsider_excluded(self._storage, domain, reasons, now)

    def exclude_pending(self, keys: Sequence[bytes], reason: str, detail: str, now: float) -> int:
        return self._transitions.exclude_pending(self._storage, keys, reason, detail)

    def reset(self, domain: str) -> int:
        return self._transitions.reset(self._storage, domain)

    # -- reading ---------------------------------------------------------------------------------
    def counts(self, domain: str) -> StateCounts:
        return self._records.counts(self._storage, domain)

    def counts_of(self, domains: Sequence[str]) -> dict[str, StateCounts]:
        return self._records.counts_of(self._storage, domains)

    def all_counts(self) -> Mapping[str, StateCounts]:
        return self._records.all_counts(self._storage)

    def recount(self, domain: str) -> StateCounts:
        return self._records.recount(self._storage, domain)

    def next_ready_at(self, domain: str, now: float) -> float | None:
        return self._claims.next_ready_at(self._storage, domain, now)

    def due(self, domain: str, at: float) -> int:
        return self._records.due(self._storage, domain, at)

    def failures(self, domain: str) -> Mapping[str, tuple[int, int]]:
        return self._records.failures(self._storage, domain)

    def get(self, key: bytes) -> UrlRecord | None:
        return self._records.get(self._storage, key)

    def known(self, keys: Sequence[bytes]) -> set[bytes]:
        return self._records.known(self._storage, keys)

    def records(
        self, domain: str, states: Iterable[State] | None = None, *, source: Source | None = None
    ) -> Iterator[UrlRecord]:
        return self._records.records(self._storage, domain, states, source)

    def put_records(self, records: Sequence[UrlRecord]) -> int:
        return self._records.put_records(self._storage, records)

    # -- the fetch log of the running night --------------------------------------------------------
    def read_log(self, after: int, limit: int, domain: str | None = None) -> list[tuple[int, FetchLogRow]]:
        return self._log.read_log(self._storage, after, limit, domain)

    def trim_log(self, up_to: int) -> int:
        return self._log.trim_log(self._storage, up_to)

    # -- leases on domains, workers -----------------------------------------------------------------
    def lease_domain(self, domain: str, owner: str, ttl_s: float, now: float) -> DomainLease | None:
        return self._workers.lease_domain(self._storage, domain, owner, ttl_s, now)

    def domain_lease(self, domain: str, now: float) -> DomainLease | None:
        return self._workers.domain_lease(self._storage, domain, now)

    def unlease_domain(self, lease: DomainLease) -> bool:
        return self._workers.unlease_domain(self._storage, lease)

    def beat(self, beat: WorkerBeat) -> None:
        self._workers.beat(self._storage, beat)

    def workers(self, now: float, max_age_s: float = 60.0) -> list[WorkerBeat]:
        return self._workers.workers(self._storage, now, max_age_s)

    # -- small named values (cursors, versions) ------------------------------------------------------
    def get_value(self, name: str) -> str | None:
        return self._workers.get_value(self._storage, name)

    def set_value(self, name: str, value: str) -> None:
        self._workers.set_value(self._storage, name, value)
