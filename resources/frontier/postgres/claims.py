"""Claims and leases. None of this waits for the disk: on a crash a lost lease is a URL that is PENDING again."""

from __future__ import annotations

from resources.frontier.base import Claim, Source, State
from resources.frontier.postgres.database import Database, Writing
from resources.frontier.postgres.statements import read_statements

__all__ = ["claim", "extend", "next_ready_at", "reap", "release_worker"]

_SQL = read_statements("claims.sql")

#: At most this many parked URLs become claimable again in one claim: its cost stays bounded.
UNPARK = 1_000


def claim(
    database: Database, domain: str, limit: int, worker: str, lease_s: float, now: float
) -> list[Claim]:
    """See `Frontier.claim`."""
    domain_id = database.find(domain)
    if domain_id is None or limit <= 0:
        return []
    until = now + lease_s

    def work(writing: Writing) -> list[Claim]:
        run = writing.connection.execute
        words: dict[str, object] = {"domain": domain_id, "now": now, "limit": max(limit, UNPARK)}
        run(_SQL["unpark"].encode(), words)
        words |= {"limit": limit, "owner": worker, "until": until}
        rows = run(_SQL["claim"].encode(), words).fetchall()
        rows.sort(key=lambda row: (row[3], row[10]))
        writing.move(domain_id, State.PENDING, State.LEASED, len(rows))
        return [
            Claim(
                key, url, domain, depth, priority, Source(source), attempts, redirects, token, until, done_at, parent
            )
            for key, url, depth, priority, source, attempts, redirects, token, done_at, parent, _ in rows
        ]  # fmt: skip

    return database.write(work, durable=False)


def extend(database: Database, worker: str, lease_s: float, now: float) -> int:
    """See `Frontier.extend`."""
    words = {"owner": worker, "until": now + lease_s}
    return database.write(
        lambda writing: writing.connection.execute(_SQL["extend"].encode(), words).rowcount, durable=False
    )


def reap(database: Database, now: float, domain: str | None) -> int:
    """See `Frontier.reap`."""
    domain_id = None if domain is None else database.find(domain)
    if domain is not None and domain_id is None:
        return 0
    return _hand_back(database, "release_expired", {"now": now, "domain": domain_id})


def release_worker(database: Database, worker: str) -> int:
    """See `Frontier.release_worker`."""
    return _hand_back(database, "release_of_worker", {"owner": worker})


def _hand_back(database: Database, statement: str, words: dict[str, object]) -> int:
    def work(writing: Writing) -> int:
        ended = writing.connection.execute(_SQL[statement].encode(), words).fetchall()
        for (domain_id,) in ended:
            writing.move(domain_id, State.LEASED, State.PENDING)
        return len(ended)

    return database.write(work, durable=False)


def next_ready_at(database: Database, domain: str, now: float) -> float | None:
    """See `Frontier.next_ready_at`."""
    domain_id = database.find(domain)
    if domain_id is None:
        return None
    ((ready, parked),) = database.rows(_SQL["next_ready"], {"domain": domain_id})
    if ready:
        return now
    return None if parked is None else max(now, float(parked))
