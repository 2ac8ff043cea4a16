"""Who crawls what: leases on domains, signs of life of workers; and small named values."""

from __future__ import annotations

from resources.frontier.base import DomainLease, WorkerBeat
from resources.frontier.sqlite.session import Session
from resources.frontier.sqlite.statements import read_statements

__all__ = ["beat", "domain_lease", "get_value", "lease_domain", "set_value", "unlease_domain", "workers"]

_SQL = read_statements("workers.sql")

#: A worker silent for a day is history: its row is dropped when another one reports.
_FORGET_AFTER_S = 86_400.0


def lease_domain(session: Session, domain: str, owner: str, ttl_s: float, now: float) -> DomainLease | None:
    """See `Frontier.lease_domain`. An owner whose lease ran out, and that nobody took, just goes on."""
    if not owner:
        raise ValueError("a domain lease needs the name of its owner")
    until = now + ttl_s
    with session.write(durable=False) as writing:
        row = writing.connection.execute(_SQL["lease_domain"], (domain, owner, until, now)).fetchone()
    return None if row is None else DomainLease(domain, owner, row[0], until)


def domain_lease(session: Session, domain: str, now: float) -> DomainLease | None:
    """See `Frontier.domain_lease`."""
    with session.database.read() as connection:
        row = connection.execute(_SQL["domain_lease"], (domain, now)).fetchone()
    return None if row is None else DomainLease(domain, *row)


def unlease_domain(session: Session, lease: DomainLease) -> bool:
    """See `Frontier.unlease_domain`."""
    parameters = (lease.domain, lease.owner, lease.fence)
    with session.write(durable=False) as writing:
        return writing.connection.execute(_SQL["unlease_domain"], parameters).rowcount == 1


def beat(session: Session, sign: WorkerBeat) -> None:
    """See `Frontier.beat`."""
    with session.write(durable=False) as writing:
        writing.connection.execute("DELETE FROM worker WHERE at < ?", (sign.at - _FORGET_AFTER_S,))
        writing.connection.execute(
            _SQL["beat"],
            (sign.worker, sign.host, sign.pid, sign.started_at, sign.at, sign.doing, sign.pages, sign.run_id),
        )


def workers(session: Session, now: float, max_age_s: float) -> list[WorkerBeat]:
    """See `Frontier.workers`."""
    with session.database.read() as connection:
        return [WorkerBeat(*row) for row in connection.execute(_SQL["workers"], (now - max_age_s,))]


def get_value(session: Session, name: str) -> str | None:
    """See `Frontier.get_value`."""
    with session.database.read() as connection:
        row = connection.execute("SELECT value FROM named_value WHERE name = ?", (name,)).fetchone()
    return None if row is None else str(row[0])


def set_value(session: Session, name: str, value: str) -> None:
    """See `Frontier.set_value`."""
    with session.write() as writing:
        writing.connection.execute(_SQL["set_value"], (name, value))
