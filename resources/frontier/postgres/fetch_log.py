"""The fetch log: appended last in the transaction of the acks, behind a lock, so that numbers become visible in
their order: a reader that remembers a number misses no row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import astuple, fields

from resources.frontier.base import FetchLogRow
from resources.frontier.postgres.database import CHUNK, Database, Writing, clean
from resources.frontier.postgres.statements import read_statements

__all__ = ["append_log", "read_log", "trim_log"]

_SQL = read_statements("workers.sql")
_WIDTH = len(fields(FetchLogRow))


def append_log(database: Database, writing: Writing, rows: Sequence[FetchLogRow]) -> None:
    """Write log rows within a transaction, right before its end."""
    if not rows:
        return
    run = writing.connection.execute
    run("SELECT pg_advisory_xact_lock(hashtext(%s))", (f"nightcrawl:{database.schema}:log",))
    words = {
        "domains": [clean(row.domain) for row in rows],
        "rows": [json.dumps(astuple(row)) for row in rows],
    }
    run(_SQL["append_log"].encode(), words)


def read_log(database: Database, after: int, limit: int, domain: str | None) -> list[tuple[int, FetchLogRow]]:
    """See `Frontier.read_log`."""
    words = {"after": after, "limit": limit, "domain": None if domain is None else clean(domain)}
    rows = database.rows(_SQL["read_log"], words)
    return [(seq, FetchLogRow(*json.loads(text)[:_WIDTH])) for seq, text in rows]


def trim_log(database: Database, up_to: int) -> int:
    """See `Frontier.trim_log`. In chunks: a crash half-way leaves the rest for the next call."""
    words = {"up_to": up_to, "limit": CHUNK}
    total = 0
    while True:
        trimmed = database.write(
            lambda writing: writing.connection.execute(_SQL["trim_log"].encode(), words).rowcount
        )
        total += trimmed
        if trimmed < CHUNK:
            return total
