"""Whole rows: looked up, streamed, counted by walking, and written as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from resources.frontier.base import Source, State, StateCounts, UrlRecord
from resources.frontier.postgres.database import CHUNK, Database, Writing, clean
from resources.frontier.postgres.statements import read_statements

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
_COUNTERS = "pending, leased, done, failed, excluded"


def counts(database: Database, domain: str) -> StateCounts:
    """See `Frontier.counts`."""
    rows = database.rows(f"SELECT {_COUNTERS} FROM domain WHERE name = %s", (clean(domain),))
    return StateCounts(*rows[0]) if rows else StateCounts()


def counts_of(database: Database, domains: Sequence[str]) -> dict[str, StateCounts]:
    """See `Frontier.counts_of`."""
    names = {clean(domain): domain for domain in domains}
    rows = database.rows(f"SELECT name, {_COUNTERS} FROM domain WHERE name = ANY(%s::text[])", (list(names),))
    found = {names[name]: StateCounts(*numbers) for name, *numbers in rows}
    return {domain: found.get(domain, StateCounts()) for domain in domains}


def all_counts(database: Database) -> Mapping[str, StateCounts]:
    """See `Frontier.all_counts`."""
    rows = database.rows(
        f"SELECT name, {_COUNTERS} FROM domain WHERE pending + leased + done + failed + excluded > 0"
    )
    return {name: StateCounts(*numbers) for name, *numbers in rows}


def recount(database: Database, domain: str) -> StateCounts:
    """See `Frontier.recount`."""
    domain_id = database.find(domain)
    return (
        StateCounts()
        if domain_id is None
        else StateCounts(*database.rows(_SQL["recount"], {"domain": domain_id})[0])
    )


def due(database: Database, domain: str, at: float) -> int:
    """See `Frontier.due`."""
    domain_id = database.find(domain)
    return 0 if domain_id is None else int(database.rows(_SQL["due"], {"domain": domain_id, "at": at})[0][0])


def failures(database: Database, domain: str) -> Mapping[str, tuple[int, int]]:
    """See `Frontier.failures`; the second number: those that have a `next_eligible_at` at all."""
    domain_id = database.find(domain)
    rows = [] if domain_id is None else database.rows(_SQL["failures"], {"domain": domain_id})
    return {cause: (total, eligible) for cause, total, eligible in rows}


def get(database: Database, key: bytes) -> UrlRecord | None:
    """See `Frontier.get`."""
    rows = database.rows(_SQL["record"] + " WHERE key = %s", (key,))
    return _record(rows[0]) if rows else None


def known(database: Database, keys: Sequence[bytes]) -> set[bytes]:
    """See `Frontier.known`."""
    wanted = list(dict.fromkeys(keys))
    rows = database.rows("SELECT key FROM url WHERE key = ANY(%s::bytea[])", (wanted,)) if wanted else []
    return {row[0] for row in rows}


def records(
    database: Database, domain: str, states: Iterable[State] | None, source: Source | None
) -> Iterator[UrlRecord]:
    """See `Frontier.records`: one snapshot, sorted by the server, on a connection of its own."""
    domain_id = database.find(domain)
    if domain_id is None:
        return
    wanted = [int(state) for state in set(State if states is None else states)]
    sources = [int(each) for each in Source if source in (None, each)]
    statement = _SQL["record"] + (
        " WHERE domain_id = %s AND state = ANY(%s::smallint[]) AND source = ANY(%s::smallint[]) ORDER BY key"
    )
    with (
        database.explained(),
        database.open() as connection,
        connection.transaction(),
        connection.cursor(name="records") as cursor,
    ):
        cursor.itersize = 2_000
        cursor.execute(statement.encode(), (domain_id, wanted, sources))
        for row in cursor:
            yield _record(row)


def _record(row: Sequence[Any]) -> UrlRecord:
    key, url, domain, state, depth, priority, source, *rest = row
    return UrlRecord(key, url, domain, State(state), depth, priority, Source(source), *rest)


def put_records(database: Database, rows: Sequence[UrlRecord]) -> int:
    """See `Frontier.put_records`. A LEASED row gets a lease with a new token: the old ack is refused."""
    distinct = list({row.key: row for row in rows}.values())
    for start in range(0, len(distinct), CHUNK):
        some = distinct[start : start + CHUNK]
        database.write(lambda writing, some=some: _put(database, writing, some))  # type: ignore[misc]
    return len(distinct)


def _put(database: Database, writing: Writing, rows: Sequence[UrlRecord]) -> None:
    run = writing.connection.execute
    domains = database.intern(writing.connection, {row.domain for row in rows})
    ids: dict[bytes, int] = {}
    for key, number, domain_id, state in run(_SQL["lock"].encode(), {"keys": [row.key for row in rows]}):
        writing.add(domain_id, State(state), -1)
        ids[key] = number
    new = [row for row in rows if row.key not in ids]
    numbers = run("SELECT nextval('url_id') FROM generate_series(1, %s)", (len(new),)).fetchall()
    ids.update((row.key, number) for row, (number,) in zip(new, numbers, strict=True))
    values = []
    for row in sorted(rows, key=lambda row: row.key):
        writing.add(domains[row.domain], row.state)
        leased = row.state is State.LEASED
        values.append(
            (
                row.key, ids[row.key], domains[row.domain], int(row.state), row.priority, row.depth,
                int(row.source), row.attempts, row.fetches, row.redirects, row.status, row.not_before, row.done_at,
                row.due_at, row.failed_at, row.next_eligible_at, row.lastmod, row.discovered_at, leased,
                (row.lease_until or 0.0) if leased else None, row.lease_owner if leased else "", clean(row.cause),
                clean(row.detail), row.parent, row.content_hash, clean(row.url),
            )
        )  # fmt: skip
    writing.connection.cursor().executemany(_SQL["put"].encode(), values)
