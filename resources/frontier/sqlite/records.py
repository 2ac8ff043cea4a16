"""Whole rows: looked up, streamed, counted by walking, and written as they are."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from resources.frontier.base import Source, State, StateCounts, UrlRecord
from resources.frontier.sqlite.session import CHUNK, Session, Writing
from resources.frontier.sqlite.statements import read_statements

__all__ = [
    "all_counts",
    "counts",
    "counts_of",
    "due",
    "failures",
    "get",
    "known",
    "put_records",
    "records",
    "recount",
]

_SQL = read_statements("records.sql")


def get(session: Session, key: bytes) -> UrlRecord | None:
    """See `Frontier.get`."""
    with session.reading() as connection:
        url_id = session.keys.find([key]).get(key)
        return None if url_id is None else _record(connection, url_id)


def known(session: Session, keys: Sequence[bytes]) -> set[bytes]:
    """See `Frontier.known`."""
    with session.reading():
        return set(session.keys.find(list(dict.fromkeys(keys))))


def records(
    session: Session, domain: str, states: Iterable[State] | None, source: Source | None
) -> Iterator[UrlRecord]:
    """See `Frontier.records`: one snapshot, taken when the first row is asked for."""
    domain_id = session.domains.find(domain)
    if domain_id is None:
        return
    mask = sum(1 << state for state in set(State if states is None else states))
    with session.database.snapshot(cache_mb=8) as connection:
        for (url_id,) in connection.execute(_SQL["ids_in_key_order"], (domain_id, mask, source)):
            yield _record(connection, url_id)


def _record(connection: sqlite3.Connection, url_id: int) -> UrlRecord:
    key, url, domain, state, depth, priority, source, *rest = connection.execute(
        _SQL["record"], (url_id,)
    ).fetchone()
    return UrlRecord(key, url, domain, State(state), depth, priority, Source(source), *rest)


def counts(session: Session, domain: str) -> StateCounts:
    """See `Frontier.counts`."""
    with session.database.explained():
        return session.domains.counts(domain)


def counts_of(session: Session, domains: Sequence[str]) -> dict[str, StateCounts]:
    """See `Frontier.counts_of`."""
    with session.database.explained():
        return {domain: session.domains.counts(domain) for domain in domains}


def all_counts(session: Session) -> Mapping[str, StateCounts]:
    """See `Frontier.all_counts`."""
    with session.database.explained():
        return session.domains.all_counts()


def recount(session: Session, domain: str) -> StateCounts:
    """See `Frontier.recount`: walks the rows of this domain (as they stand in the indexes), no others."""
    with session.database.read() as connection:
        domain_id = session.domains.find(domain)
        if domain_id is None:
            return StateCounts()
        return StateCounts(*connection.execute(_SQL["recount"], (domain_id,)).fetchone())


def due(session: Session, domain: str, at: float) -> int:
    """See `Frontier.due`: read from the index of due pages alone."""
    with session.database.read() as connection:
        domain_id = session.domains.find(domain)
        (found,) = connection.execute(_SQL["due"], (domain_id, at)).fetchone()
        return int(found)


def failures(session: Session, domain: str) -> Mapping[str, tuple[int, int]]:
    """See `Frontier.failures`; the second number: those that have a `next_eligible_at` at all."""
    with session.database.read() as connection:
        domain_id = session.domains.find(domain)
        rows = connection.execute(_SQL["failures"], (domain_id,))
        return {cause: (total, eligible) for cause, total, eligible in rows}


def put_records(session: Session, rows: Sequence[UrlRecord]) -> int:
    """See `Frontier.put_records`. A LEASED row gets a lease with a new token: the old ack is refused."""
    last_of_key = {row.key: row for row in rows}
    distinct = list(last_of_key.values())
    for start in range(0, len(distinct), CHUNK):
        with session.write() as writing:
            _put(session, writing, distinct[start : start + CHUNK])
    return len(distinct)


def _put(session: Session, writing: Writing, rows: Sequence[UrlRecord]) -> None:
    run = writing.connection.execute
    found = session.keys.find([row.key for row in rows])
    for url_id in found.values():
        domain_id, state = run("SELECT domain_id, state FROM url WHERE id = ?", (url_id,)).fetchone()
        writing.moves.add(domain_id, State(state), -1)
        run("DELETE FROM lease WHERE url_id = ?", (url_id,))
    new = [row for row in rows if row.key not in found]
    ids = dict(found)
    ids.update(zip((row.key for row in new), session.next_numbers("url_id", len(new)), strict=True))
    values: list[tuple[Any, ...]] = []
    leases: list[tuple[int, int, str, float]] = []
    for row in rows:
        url_id, domain_id = ids[row.key], session.domains.intern(row.domain)
        writing.moves.add(domain_id, row.state)
        values.append(
            (
                url_id, int(row.state), domain_id, row.priority, row.depth, int(row.source), row.attempts,
                row.fetches, row.redirects, row.not_before, row.done_at, row.due_at, row.failed_at,
                row.next_eligible_at, row.lastmod, row.discovered_at, row.status, row.cause, row.detail,
                row.key, row.parent, row.content_hash, row.url,
            )
        )  # fmt: skip
        if row.state is State.LEASED:
            leases.append((url_id, domain_id, row.lease_owner, row.lease_until or 0.0))
    writing.connection.executemany(_SQL["put"], values)
    tokens = session.next_numbers("token", len(leases))
    writing.connection.executemany(
        "INSERT INTO lease (token, url_id, domain_id, owner, until) VALUES (?, ?, ?, ?, ?)",
        [(token, *lease) for token, lease in zip(tokens, leases, strict=True)],
    )
    session.keys.add([(row.key, ids[row.key]) for row in new])
