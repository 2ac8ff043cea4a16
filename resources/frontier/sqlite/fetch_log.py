"""The fetch log of the running night: appended in the transaction of the acks, read by the stage that
moves it into the tables, and trimmed after that. Sequence numbers grow and are never used twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from resources.frontier.base import FetchLogRow
from resources.frontier.sqlite.session import CHUNK, Session, Writing
from resources.frontier.sqlite.statements import read_statements

__all__ = ["append_log", "read_log", "trim_log"]

_SQL = read_statements("fetch_log.sql")


def append_log(session: Session, writing: Writing, rows: Sequence[FetchLogRow]) -> None:
    """Write log rows within a transaction."""
    intern = session.domains.intern
    writing.connection.executemany(
        _SQL["append"],
        [
            (
                intern(row.domain), row.url, row.run_id, row.worker, row.attempt, row.started_at, row.ttfb_ms,
                row.duration_ms, row.status, row.outcome, row.from_cache, row.revalidated, row.wire_bytes,
                row.body_bytes, row.retry_after_s, row.error, row.cause, row.redirect_to, row.rule,
            )
            for row in rows
        ],
    )  # fmt: skip


def read_log(session: Session, after: int, limit: int, domain: str | None) -> list[tuple[int, FetchLogRow]]:
    """See `Frontier.read_log`."""
    with session.database.read() as connection:
        if domain is None:
            rows = connection.execute(_SQL["read"], (after, limit))
        else:
            domain_id = session.domains.find(domain)
            if domain_id is None:
                return []
            rows = connection.execute(_SQL["read_of_domain"], (after, domain_id, limit))
        return [(seq, _row(columns)) for seq, *columns in rows]


def _row(columns: Sequence[Any]) -> FetchLogRow:
    # SQLite has no booleans: columns 10 and 11 are from_cache and revalidated.
    values = [*columns[:10], bool(columns[10]), bool(columns[11]), *columns[12:]]
    return FetchLogRow(*values)


def trim_log(session: Session, up_to: int) -> int:
    """See `Frontier.trim_log`. In chunks: a crash half-way leaves the rest for the next call."""
    total = 0
    while True:
        with session.write() as writing:
            trimmed = writing.connection.execute(_SQL["trim"], (up_to, CHUNK)).rowcount
        total += trimmed
        if trimmed < CHUNK:
            return total
