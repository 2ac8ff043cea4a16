"""The frontier in memory: for tests and tiny crawls. Gone with its process, and grows with the URLs met.

Guarantees: those of `resources.frontier.base`, but nothing is durable and only one process sees it. A call
either does all it should or raises before it has changed anything.

Costs: about 1 KB a URL; see `domain` for how a claim finds the next one.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from resources.frontier.base import (
    Ack,
    Claim,
    CommitResult,
    Discovery,
    DomainLease,
    EnqueueResult,
    FetchLogRow,
    Source,
    State,
    StateCounts,
    UrlRecord,
    Verdict,
    WorkerBeat,
)

from .domain import DomainUrls, Row

__all__ = ["MemoryFrontier"]


class MemoryFrontier:
    """See the module docstring. Used by one thread at a time."""

    shared = False

    def __init__(self) -> None:
        self._domains: dict[str, DomainUrls] = {}
        self._rows: dict[bytes, Row] = {}
        self._leases: dict[int, Row] = {}
        self._ages = itertools.count(1)
        self._tokens = itertools.count(1)
        self._log: dict[int, FetchLogRow] = {}
        self._sequence = itertools.count(1)
        self._domain_leases: dict[str, DomainLease] = {}
        self._workers: dict[str, WorkerBeat] = {}
        self._values: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"<MemoryFrontier {len(self._rows)} URLs, {len(self._leases)} leased>"

    def _domain(self, name: str) -> DomainUrls:
        return self._domains.setdefault(name, DomainUrls())

    def _of(self, row: Row) -> DomainUrls:
        return self._domains[row.record.domain]

    # -- writing ---------------------------------------------------------------------------------
    def enqueue(self, urls: Sequence[Discovery], now: float) -> EnqueueResult:
        return self._enqueue(urls, now)[0]

    def _enqueue(self, urls: Sequence[Discovery], now: float) -> tuple[EnqueueResult, dict[str, int]]:
        result = EnqueueResult()
        new_by_domain: Counter[str] = Counter()
        for discovery in urls:
            row = self._rows.get(discovery.key)
            # 1. known and made due by a newer lastmod; 2. known; 3. new but excluded; 4. new.
            if row is not None and self._apply_lastmod(row, discovery.lastmod):
                result.due_again += 1
            elif row is not None:
                result.known += 1
            elif discovery.excluded:
                self._add(discovery, State.EXCLUDED, now)
                result.excluded += 1
            else:
                self._add(discovery, State.PENDING, now)
                result.new += 1
                new_by_domain[discovery.domain] += 1
        return result, dict(new_by_domain)

    def _add(self, discovery: Discovery, state: State, now: float) -> None:
        record = UrlRecord(
            discovery.key, discovery.url, discovery.domain, state, discovery.depth, discovery.priority,
            discovery.source, discovery.parent, now, redirects=discovery.redirects, lastmod=discovery.lastmod,
            cause=discovery.excluded,
        )  # fmt: skip
        self._insert(record)

    def _insert(self, record: UrlRecord, instead_of: Row | None = None) -> None:
        row = Row(record, next(self._ages))
        if instead_of is not None:
            # As old as the row it replaces, and newer than any entry of that one.
            row.age, row.version = instead_of.age, instead_of.version
        domain = self._domain(record.domain)
        self._rows[record.key] = domain.rows[record.key] = row
        domain.counters[record.state] += 1
        owner, until = record.lease_owner, record.lease_until
        domain.place(row, record.state, record.not_before)
        if record.state is State.LEASED:
            self._lease(row, owner, until or 0.0)

    def _apply_lastmod(self, row: Row, lastmod: float | None) -> bool:
        record = row.record
        if lastmod is None:
            return False
        if record.lastmod is None or record.lastmod < lastmod:
            record.lastmod = lastmod
        if record.state is State.DONE and record.done_at is not None and record.done_at < lastmod:
            record.attempts = 0
            self._of(row).move(row, State.PENDING)
            return True
        return False

    def claim(self, domain: str, limit: int, worker: str, lease_s: float, now: float) -> list[Claim]:
        claims: list[Claim] = []
        urls = self._domains.get(domain)
        if urls is None:
            return claims
        urls.unpark(now)
        while len(claims) < limit and (row := urls.next_ready()) is not None:
            urls.move(row, State.LEASED)
            self._lease(row, worker, now + lease_s)
            record = row.record
            claims.append(
                Claim(
                    record.key, record.url, domain, record.depth, record.priority, record.source,
                    record.attempts, record.redirects, row.token, now + lease_s, record.done_at, record.parent,
                )
            )  # fmt: skip
        return claims

    def _lease(self, row: Row, owner: str, until: float) -> None:
        row.token = next(self._tokens)
        row.record.lease_owner, row.record.lease_until = owner, until
        self._leases[row.token] = row

    def commit(self, acks: Sequence[Ack], now: float) -> CommitResult:
        result = CommitResult()
        outlinks: list[Discovery] = []
        for ack in acks:
            row = self._leases.pop(ack.claim.token, None)
            if row is None:
                result.stale += 1
                continue
            self._end(row, ack, now)
            result.acked += 1
            outlinks += ack.outlinks
            if ack.log is not None:
                self._log[next(self._sequence)] = ack.log
        result.enqueued, result.new_by_domain = self._enqueue(outlinks, now)
        return result

    def _end(self, row: Row, ack: Ack, now: float) -> None:
        record, domain = row.record, self._of(row)
        parked = ack.not_before if ack.not_before is not None and ack.not_before > now else None
        if ack.verdict is Verdict.RELEASED:
            domain.move(row, State.PENDING, parked)
            return
        record.cause, record.detail = ack.cause, ack.detail
        record.status = ack.status if ack.status is not None else record.status
        if ack.verdict is Verdict.EXCLUDED:
            domain.move(row, State.EXCLUDED)
            return
        record.attempts += ack.counts_attempt
        record.fetches += 1
        if ack.verdict is Verdict.DONE:
            record.done_at, record.due_at = ack.at, ack.due_at
            record.failed_at = record.next_eligible_at = None
            record.content_hash = ack.content_hash if ack.content_hash is not None else record.content_hash
            domain.move(row, State.DONE)
        elif ack.verdict is Verdict.FAILED:
            record.failed_at, record.next_eligible_at = ack.at, ack.next_eligible_at
            domain.move(row, State.FAILED)
        else:
            domain.move(row, State.PENDING, parked)

    def extend(self, worker: str, lease_s: float, now: float) -> int:
        held = [row for row in self._leases.values() if row.record.lease_owner == worker]
        for row in held:
            row.record.lease_until = now + lease_s
        return len(held)

    def reap(self, now: float, domain: str | None = None) -> int:
        return self._hand_back(
            row
            for row in self._leases.values()
            if (row.record.lease_until or 0.0) <= now and domain in (None, row.record.domain)
        )

    def release_worker(self, worker: str, now: float) -> int:
        return self._hand_back(row for row in self._leases.values() if row.record.lease_owner == worker)

    def _hand_back(self, rows: Iterable[Row]) -> int:
        ended = list(rows)
        for row in ended:
            del self._leases[row.token]
            self._of(row).move(row, State.PENDING)
        return len(ended)

    def requeue_due(self, domain: str, now: float, *, force: bool = False) -> int:
        due = [
            row
            for row in self._in_state(domain, State.DONE)
            if force or (row.record.due_at is not None and row.record.due_at <= now)
        ]
        for row in due:
            row.record.attempts = 0
            self._of(row).move(row, State.PENDING)
        return len(due)

    def retry_failed(
        self, domain: str, now: float, *, causes: Iterable[str] | None = None, force: bool = False
    ) -> int:
        wanted = None if causes is None else set(causes)
        eligible = [
            row
            for row in self._in_state(domain, State.FAILED)
            if (wanted is None or row.record.cause in wanted)
            and (force or (row.record.next_eligible_at is not None and row.record.next_eligible_at <= now))
        ]
        for row in eligible:
            row.record.failed_at = row.record.next_eligible_at = None
            self._of(row).move(row, State.PENDING)
        return len(eligible)

    def reconsider_excluded(self, domain: str, reasons: Iterable[str], now: float) -> int:
        wanted = set(reasons)
        rows = [row for row in self._in_state(domain, State.EXCLUDED) if row.record.cause in wanted]
        for row in rows:
            row.record.attempts, row.record.cause, row.record.detail = 0, "", ""
            self._of(row).move(row, State.PENDING)
        return len(rows)

    def exclude_pending(self, keys: Sequence[bytes], reason: str, detail: str, now: float) -> int:
        total = 0
        for key in keys:
            row = self._rows.get(key)
            if row is not None and row.record.state is State.PENDING:
                row.record.cause, row.record.detail = reason, detail
                self._of(row).move(row, State.EXCLUDED)
                total += 1
        return total

    def reset(self, domain: str) -> int:
        forgotten = self._domains.pop(domain, None)
        if forgotten is None:
            return 0
        for key, row in forgotten.rows.items():
            del self._rows[key]
            self._leases.pop(row.token, None)
        return len(forgotten.rows)

    def _in_state(self, domain: str, state: State) -> list[Row]:
        urls = self._domains.get(domain)
        return [] if urls is None else [row for row in urls.rows.values() if row.record.state is state]

    # -- reading ---------------------------------------------------------------------------------
    def counts(self, domain: str) -> StateCounts:
        urls = self._domains.get(domain)
        return StateCounts() if urls is None else urls.counts()

    def counts_of(self, domains: Sequence[str]) -> dict[str, StateCounts]:
        return {domain: self.counts(domain) for domain in domains}

    def all_counts(self) -> Mapping[str, StateCounts]:
        return {name: urls.counts() for name, urls in self._domains.items() if urls.rows}

    def recount(self, domain: str) -> StateCounts:
        urls = self._domains.get(domain)
        walked = Counter(row.record.state for row in urls.rows.values()) if urls else Counter[State]()
        return StateCounts(*(walked[state] for state in State))

    def next_ready_at(self, domain: str, now: float) -> float | None:
        urls = self._domains.get(domain)
        if urls is None:
            return None
        urls.unpark(now)
        if urls.next_ready() is not None:
            return now
        return urls.parked[0][0] if urls.parked else None

    def due(self, domain: str, at: float) -> int:
        return sum(
            row.record.due_at is not None and row.record.due_at <= at
            for row in self._in_state(domain, State.DONE)
        )

    def failures(self, domain: str) -> Mapping[str, tuple[int, int]]:
        total: Counter[str] = Counter()
        eligible: Counter[str] = Counter()
        for row in self._in_state(domain, State.FAILED):
            total[row.record.cause] += 1
            eligible[row.record.cause] += row.record.next_eligible_at is not None
        return {cause: (number, eligible[cause]) for cause, number in total.items()}

    def get(self, key: bytes) -> UrlRecord | None:
        row = self._rows.get(key)
        return None if row is None else replace(row.record)

    def known(self, keys: Sequence[bytes]) -> set[bytes]:
        return {key for key in keys if key in self._rows}

    def records(
        self, domain: str, states: Iterable[State] | None = None, *, source: Source | None = None
    ) -> Iterator[UrlRecord]:
        wanted = set(State if states is None else states)
        urls = self._domains.get(domain)
        rows = [] if urls is None else [row.record for _, row in sorted(urls.rows.items())]
        return (replace(row) for row in rows if row.state in wanted and source in (None, row.source))

    def put_records(self, records: Sequence[UrlRecord]) -> int:
        distinct = {record.key: record for record in records}
        for record in distinct.values():
            old = self._rows.pop(record.key, None)
            if old is not None:
                domain = self._of(old)
                domain.counters[old.record.state] -= 1
                old.version += 1
                del domain.rows[record.key]
                self._leases.pop(old.token, None)
            self._insert(replace(record), old)
        return len(distinct)

    # -- the fetch log of the running night --------------------------------------------------------
    def read_log(self, after: int, limit: int, domain: str | None = None) -> list[tuple[int, FetchLogRow]]:
        rows = (
            (number, row)
            for number, row in self._log.items()
            if number > after and domain in (None, row.domain)
        )
        return list(itertools.islice(rows, limit))

    def trim_log(self, up_to: int) -> int:
        old = [number for number in self._log if number <= up_to]
        for number in old:
            del self._log[number]
        return len(old)

    # -- leases on domains, workers -----------------------------------------------------------------
    def lease_domain(self, domain: str, owner: str, ttl_s: float, now: float) -> DomainLease | None:
        if not owner:
            raise ValueError("a domain lease needs the name of its owner")
        held = self._domain_leases.get(domain)
        if held is not None and held.owner != owner and held.until > now:
            return None
        fence = 1 if held is None else held.fence + (held.owner != owner)
        lease = self._domain_leases[domain] = DomainLease(domain, owner, fence, now + ttl_s)
        return lease

    def domain_lease(self, domain: str, now: float) -> DomainLease | None:
        held = self._domain_leases.get(domain)
        return held if held is not None and held.until > now else None

    def unlease_domain(self, lease: DomainLease) -> bool:
        held = self._domain_leases.get(lease.domain)
        if held is None or (held.owner, held.fence) != (lease.owner, lease.fence):
            return False
        # The row stays, without an owner: the fence never starts again.
        self._domain_leases[lease.domain] = DomainLease(lease.domain, "", lease.fence, 0.0)
        return True

    def beat(self, beat: WorkerBeat) -> None:
        self._workers[beat.worker] = beat

    def workers(self, now: float, max_age_s: float = 60.0) -> list[WorkerBeat]:
        return [beat for _, beat in sorted(self._workers.items()) if beat.at >= now - max_age_s]

    # -- small named values (cursors, versions) ------------------------------------------------------
    def get_value(self, name: str) -> str | None:
        return self._values.get(name)

    def set_value(self, name: str, value: str) -> None:
        self._values[name] = value

    def close(self) -> None:
        """Nothing to give back: the data goes with the object."""
