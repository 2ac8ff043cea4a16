"""Moves of many URLs at once: due again, retried, reconsidered, excluded, forgotten.

Each runs in chunks of `CHUNK` rows, one transaction a chunk: other workers get their turn, and a crash half-way
leaves a frontier that balances and a call that can be made again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from resources.frontier.base import State
from resources.frontier.postgres.database import CHUNK, Database, Writing, clean
from resources.frontier.postgres.statements import read_statements

__all__ = ["exclude_pending", "reconsider_excluded", "requeue_due", "reset", "retry_failed"]

_SQL = read_statements("transitions.sql")


def requeue_due(database: Database, domain: str, now: float, *, force: bool) -> int:
    """See `Frontier.requeue_due`."""
    return _to_pending(database, domain, "all_done" if force else "due", State.DONE, now, None)


def retry_failed(
    database: Database, domain: str, now: float, *, causes: Iterable[str] | None, force: bool
) -> int:
    """See `Frontier.retry_failed`. A row without `next_eligible_at` is never eligible by itself."""
    statement = "all_failed" if force else "eligible"
    wanted = [None] if causes is None else list(dict.fromkeys(causes))
    return sum(_to_pending(database, domain, statement, State.FAILED, now, cause) for cause in wanted)


def reconsider_excluded(database: Database, domain: str, reasons: Iterable[str], now: float) -> int:
    """See `Frontier.reconsider_excluded`."""
    return sum(
        _to_pending(database, domain, "reconsider", State.EXCLUDED, now, reason)
        for reason in dict.fromkeys(reasons)
    )


def _to_pending(
    database: Database, domain: str, statement: str, old: State, now: float, cause: str | None
) -> int:
    domain_id = database.find(domain)
    if domain_id is None:
        return 0
    words = {
        "domain": domain_id, "now": now, "limit": CHUNK, "cause": None if cause is None else clean(cause),
    }  # fmt: skip

    def work(writing: Writing) -> int:
        moved = writing.connection.execute(_SQL[statement].encode(), words).rowcount
        writing.move(domain_id, old, State.PENDING, moved)
        return moved

    total = 0
    while True:
        moved = database.write(work)
        total += moved
        if moved < CHUNK:
            return total


def exclude_pending(database: Database, keys: Sequence[bytes], reason: str, detail: str) -> int:
    """See `Frontier.exclude_pending`."""

    def work(writing: Writing) -> int:
        words = {"keys": some, "reason": clean(reason), "detail": clean(detail)}
        rows = writing.connection.execute(_SQL["exclude"].encode(), words).fetchall()
        for (domain_id,) in rows:
            writing.move(domain_id, State.PENDING, State.EXCLUDED)
        return len(rows)

    total = 0
    for start in range(0, len(keys), CHUNK):
        some = list(keys[start : start + CHUNK])
        total += database.write(work)
    return total


def reset(database: Database, domain: str) -> int:
    """See `Frontier.reset`. The fence of the domain's lease and the fetch log stay."""
    domain_id = database.find(domain)
    if domain_id is None:
        return 0

    def work(writing: Writing) -> int:
        words = {"domain": domain_id, "limit": CHUNK}
        rows = writing.connection.execute(_SQL["forget"].encode(), words).fetchall()
        for (state,) in rows:
            writing.add(domain_id, State(state), -1)
        return len(rows)

    total = 0
    while True:
        gone = database.write(work)
        total += gone
        if gone < CHUNK:
            return total
