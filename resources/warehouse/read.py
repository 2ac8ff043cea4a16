"""The published tables for readers: a connection that nobody locks and that never changes under its reader."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb

from resources.installation import Installation

from .connection import WarehouseError
from .statements import identifier

__all__ = [
    "DomainState",
    "NothingPublished",
    "domain_state",
    "preview",
    "published",
    "published_path",
    "table_counts",
    "tables",
]


class NothingPublished(WarehouseError):
    """There is no published database, or no such table in it."""


def published_path(installation: Installation) -> Path | None:
    """The published database; of an object store this machine's copy of it, brought up to date. None: there is none.

    WarehouseError if the store does not answer.
    """
    path = installation.open_tables().published()
    return path if path.exists() else None


@contextmanager
def published(installation: Installation) -> Iterator[duckdb.DuckDBPyConnection]:
    """A read-only connection to the published database as it is now; it keeps this state when a newer one comes.

    Files cannot be written or read from SQL over it, except the database itself. NothingPublished if there is none.
    """
    path = published_path(installation)
    if path is None:
        raise NothingPublished(
            f"{installation.published} does not exist yet: run a night (make crawl) or publish what was loaded (nightcrawl publish)"
        )
    # Attached to a database in memory: connecting to the path itself would give an older state, cached by DuckDB,
    # wherever the process still has one open.
    connection = duckdb.connect()
    try:
        text = str(path).replace("'", "''")
        try:
            connection.execute(f"ATTACH '{text}' AS published (READ_ONLY)")
        except duckdb.Error as error:
            raise WarehouseError(f"{path} cannot be read: {error}. Publish again to replace it") from error
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("USE published")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        yield connection
    finally:
        connection.close()


def tables(installation: Installation) -> list[str]:
    """Names of the published tables."""
    with published(installation) as connection:
        return _names(connection)


def _names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    rows = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = 'published' ORDER BY 1"
    ).fetchall()
    return [name for (name,) in rows]


def table_counts(installation: Installation, domain: str | None = None) -> dict[str, int]:
    """Published rows by table, of one domain or of all."""
    with published(installation) as connection:
        counts = {}
        for name in _names(connection):
            row = connection.execute(
                f"SELECT count(*) FROM {identifier(name)} WHERE $1 IS NULL OR domain = $1", [domain]
            ).fetchone()
            counts[name] = int(row[0]) if row else 0
        return counts


@dataclass(frozen=True, slots=True)
class DomainState:
    """How fresh a domain's published rows are."""

    domain: str
    published_at: datetime | None
    stale: bool
    stale_reason: str | None
    stale_since: datetime | None
    pages: int


def domain_state(installation: Installation, domain: str) -> DomainState | None:
    """None if the domain was never loaded."""
    with published(installation) as connection:
        row = connection.execute(
            "SELECT domain, published_at, coalesce(stale, false), stale_reason, stale_since, "
            "(SELECT count(*) FROM pages WHERE domain = $1) FROM domains WHERE domain = $1",
            [domain],
        ).fetchone()
    return DomainState(*row) if row else None


def preview(
    installation: Installation, table: str, limit: int = 10, domain: str | None = None
) -> tuple[list[str], list[tuple[Any, ...]]]:
    """(column names, first rows) of a published table. NothingPublished if there is no such table."""
    with published(installation) as connection:
        if table not in (names := _names(connection)):
            raise NothingPublished(f"there is no published table {table!r}; there are: {', '.join(names)}")
        cursor = connection.execute(
            f"SELECT * FROM {identifier(table)} WHERE $1 IS NULL OR domain = $1 LIMIT $2", [domain, limit]
        )
        return [column[0] for column in cursor.description or []], cursor.fetchall()
