"""Claims and leases. The `lease` table holds only what is in flight: walking it is cheap.

None of this is synced to the disk: on power loss the workers that held the leases are gone as well, and
a lost lease is a URL that is PENDING again.
"""

from __future__ import annotations

from collections.abc import Sequence

from resources.frontier.base import Claim, Source, State
from resources.frontier.sqlite.session import Session, Writing
from resources.frontier.sqlite.statements import read_statements

__all__ = ["claim", "extend", "next_ready_at", "reap", "release_worker"]

_SQL = read_statements("claims.sql")

#: At most this many parked URLs become claimable again in one claim: its cost stays bounded, and among so
#: many the best priority is still found.
UNPARK_LIMIT = 1_000


def claim(session: Session, domain: str, limit: int, worker: str, lease_s: float, now: float) -> list[Claim]:
    """See `Frontier.claim`."""
    domain_id = session.domains.find(domain)
    if domain_id is None or limit <= 0:
        return []
    until = now + lease_s
    with session.write(durable=False) as writing:
        run, run_many = writing.connection.execute, writing.connection.executemany
        run(_SQL["unpark"], (domain_id, now, max(limit, UNPARK_LIMIT)))
        rows = run(_SQL["ready"], (domain_id, limit)).fetchall()
        if not rows:
            return []
        tokens = session.next_numbers("token", len(rows))
        run_many(
            _SQL["insert_lease"],
            [(token, row[0], domain_id, worker, until) for token, row in zip(tokens, rows, strict=True)],
        )
        run_many("UPDATE url SET state = 1 WHERE id = ?", [(row[0],) for row in rows])
        writing.moves.move(domain_id, State.PENDING, State.LEASED, len(rows))
    return [
        Claim(
            key, url, domain, depth, priority, Source(source), attempts, redirects, token, until, done_at, parent
        )
        for token, (_, key, url, depth, priority, source, attempts, redirects, done_at, parent) in zip(
            tokens, rows, strict=True
        )
    ]  # fmt: skip


def extend(session: Session, worker: str, lease_s: float, now: float) -> int:
    """See `Frontier.extend`."""
    with session.write(durable=False) as writing:
        return writing.connection.execute(
            "UPDATE lease SET until = ? WHERE owner = ?", (now + lease_s, worker)
        ).rowcount


def reap(session: Session, now: float, domain: str | None) -> int:
    """See `Frontier.reap`."""
    parameters: tuple[float, ...]
    if domain is None:
        name, parameters = "release_expired", (now,)
    else:
        domain_id = session.domains.find(domain)
        if domain_id is None:
            return 0
        name, parameters = "release_expired_of_domain", (now, domain_id)
    with session.write(durable=False) as writing:
        return _hand_back(writing, writing.connection.execute(_SQL[name], parameters).fetchall())


def release_worker(session: Session, worker: str) -> int:
    """See `Frontier.release_worker`."""
    with session.write(durable=False) as writing:
        rows = writing.connection.execute(_SQL["release_of_worker"], (worker,)).fetchall()
        return _hand_back(writing, rows)


def _hand_back(writing: Writing, ended: Sequence[tuple[int, int]]) -> int:
    writing.connection.executemany(_SQL["hand_back"], [(url_id,) for url_id, _ in ended])
    for _, domain_id in ended:
        writing.moves.move(domain_id, State.LEASED, State.PENDING)
    return len(ended)


def next_ready_at(session: Session, domain: str, now: float) -> float | None:
    """See `Frontier.next_ready_at`."""
    with session.database.read() as connection:
        domain_id = session.domains.find(domain)
        if domain_id is None:
            return None
        if connection.execute(_SQL["any_ready"], (domain_id,)).fetchone():
            return now
        (earliest,) = connection.execute(_SQL["next_parked"], (domain_id,)).fetchone()
        return None if earliest is None else max(now, float(earliest))
