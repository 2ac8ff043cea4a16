"""Who crawls what: leases on domains, signs of life of workers; and small named values."""

from __future__ import annotations

from dataclasses import astuple

from resources.frontier.base import DomainLease, WorkerBeat
from resources.frontier.postgres.database import Database, Writing, clean
from resources.frontier.postgres.statements import read_statements

__all__ = ["beat", "domain_lease", "get_value", "lease_domain", "set_value", "unlease_domain", "workers"]

_SQL = read_statements("workers.sql")

#: Beats of workers not heard of for so long are dropped.
KEEP_S = 31 * 86_400.0


def lease_domain(database: Database, domain: str, owner: str, ttl_s: float, now: float) -> DomainLease | None:
    """See `Frontier.lease_domain`. An owner whose lease ran out, and that nobody took, just goes on."""
    if not owner:
        raise ValueError("a domain lease needs the name of its owner")
    until = now + ttl_s
    words = {"domain": clean(domain), "owner": owner, "until": until, "now": now}
    row = database.write(
        lambda writing: writing.connection.execute(_SQL["lease_domain"].encode(), words).fetchone(), durable=False
    )  # fmt: skip
    return None if row is None else DomainLease(domain, owner, row[0], until)


def domain_lease(database: Database, domain: str, now: float) -> DomainLease | None:
    """See `Frontier.domain_lease`."""
    rows = database.rows(_SQL["domain_lease"], {"domain": clean(domain), "now": now})
    return DomainLease(domain, *rows[0]) if rows else None


def unlease_domain(database: Database, lease: DomainLease) -> bool:
    """See `Frontier.unlease_domain`."""
    words = {"domain": clean(lease.domain), "owner": lease.owner, "fence": lease.fence}
    return database.write(
        lambda writing: writing.connection.execute(_SQL["unlease_domain"].encode(), words).rowcount == 1,
        durable=False,
    )


def beat(database: Database, sign: WorkerBeat) -> None:
    """See `Frontier.beat`."""

    def work(writing: Writing) -> None:
        writing.connection.execute("DELETE FROM worker WHERE at < %s", (sign.at - KEEP_S,))
        writing.connection.execute(_SQL["beat"].encode(), astuple(sign))

    database.write(work, durable=False)


def workers(database: Database, now: float, max_age_s: float) -> list[WorkerBeat]:
    """See `Frontier.workers`."""
    return [WorkerBeat(*row) for row in database.rows(_SQL["workers"], (now - max_age_s,))]


def get_value(database: Database, name: str) -> str | None:
    """See `Frontier.get_value`."""
    rows = database.rows("SELECT value FROM named_value WHERE name = %s", (clean(name),))
    return str(rows[0][0]) if rows else None


def set_value(database: Database, name: str, value: str) -> None:
    """See `Frontier.set_value`."""
    database.write(
        lambda writing: writing.connection.execute(_SQL["set_value"].encode(), (clean(name), clean(value)))
    )
