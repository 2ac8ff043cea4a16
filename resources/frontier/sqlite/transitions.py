"""Moves of many URLs at once: due again, retried, reconsidered, excluded, forgotten.

Each runs in chunks of `CHUNK` rows, one transaction a chunk: other processes get their turn, and a crash
half-way leaves a frontier that balances and a call that can be made again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from resources.frontier.base import State
from resources.frontier.sqlite.session import CHUNK, Session
from resources.frontier.sqlite.statements import read_statements

__all__ = ["exclude_pending", "reconsider_excluded", "requeue_due", "reset", "retry_failed"]

_SQL = read_statements("transitions.sql")


def requeue_due(session: Session, domain: str, now: float, *, force: bool) -> int:
    """See `Frontier.requeue_due`."""
    return _to_pending(session, domain, "all_done" if force else "due", State.DONE, now, None)


def retry_failed(
    session: Session, domain: str, now: float, *, causes: Iterable[str] | None, force: bool
) -> int:
    """See `Frontier.retry_failed`. A row without `next_eligible_at` is never eligible by itself."""
    statement = "all_failed" if force else "eligible"
    wanted = [None] if causes is None else list(dict.fromkeys(causes))
    return sum(_to_pending(session, domain, statement, State.FAILED, now, cause) for cause in wanted)


def reconsider_excluded(session: Session, domain: str, reasons: Iterable[str], now: float) -> int:
    """See `Frontier.reconsider_excluded`."""
    return sum(
        _to_pending(session, domain, "reconsider", State.EXCLUDED, now, reason)
        for reason in dict.fromkeys(reasons)
    )


def _to_pending(
    session: Session, domain: str, statement: str, old: State, now: float, cause: str | None
) -> int:
    domain_id = session.domains.find(domain)
    if domain_id is None:
        return 0
    parameters = {"domain": domain_id, "now": now, "limit": CHUNK, "cause": cause}
    total = 0
    while True:
        with session.write() as writing:
            moved = writing.connection.execute(_SQL[statement], parameters).rowcount
            writing.moves.move(domain_id, old, State.PENDING, moved)
        total += moved
        if moved < CHUNK:
            return total


def exclude_pending(session: Session, keys: Sequence[bytes], reason: str, detail: str) -> int:
    """See `Frontier.exclude_pending`."""
    total = 0
    for start in range(0, len(keys), CHUNK):
        with session.write() as writing:
            for url_id in session.keys.find(keys[start : start + CHUNK]).values():
                row = writing.connection.execute(_SQL["exclude"], (url_id, reason, detail)).fetchone()
                if row is not None:
                    writing.moves.move(row[0], State.PENDING, State.EXCLUDED)
                    total += 1
    return total


def reset(session: Session, domain: str) -> int:
    """See `Frontier.reset`. The fence of the domain's lease and the fetch log stay."""
    domain_id = session.domains.find(domain)
    if domain_id is None:
        return 0
    total = 0
    while True:
        with session.write() as writing:
            rows = writing.connection.execute(_SQL["some_rows"], (domain_id, CHUNK)).fetchall()
            session.keys.forget([(key, url_id) for url_id, key, _ in rows])
            ids = [(url_id,) for url_id, _, _ in rows]
            writing.connection.executemany("DELETE FROM lease WHERE url_id = ?", ids)
            writing.connection.executemany("DELETE FROM url WHERE id = ?", ids)
            for _, _, state in rows:
                writing.moves.add(domain_id, State(state), -1)
        total += len(rows)
        if len(rows) < CHUNK:
            return total
