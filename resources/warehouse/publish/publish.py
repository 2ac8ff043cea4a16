"""Publishing: a new file with the rows that passed, put in the place of the old one in one step.

For each domain one of four: 1. its rows passed (or are forced): tonight's rows; 2. its audit failed and there are
published rows: those, marked stale with the reason; 3. it failed and nothing was ever published: no rows, and its
line in `domains` says why; 4. it was not asked for: published rows as they are. What the crawl observed (fetch log,
rejects, dead letters …) is tonight's in cases 2 and 3 too: whoever mends the domain needs it.
The old file stays valid for whoever has it open. A crash leaves the old file in place.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import duckdb

from resources.installation import Installation
from resources.site.catalog import Catalog
from resources.warehouse.connection import WarehouseError
from resources.warehouse.statements import identifier

from .audit import AuditProblem, audit
from .tables import OBSERVED, published_tables

__all__ = ["PublishError", "PublishReport", "publish"]


class PublishError(WarehouseError):
    """Nothing was published; what was published before is untouched."""


@dataclass(slots=True)
class PublishReport:
    """What happened to each domain, and the rows that are published now, by table."""

    published: list[str] = field(default_factory=list)
    stale: dict[str, str] = field(default_factory=dict)
    """Domain → why it kept its earlier rows."""
    withheld: dict[str, str] = field(default_factory=dict)
    """Domain → why it has no rows: it failed and never passed before."""
    forced: list[str] = field(default_factory=list)
    problems: dict[str, list[AuditProblem]] = field(default_factory=dict)
    tables: dict[str, int] = field(default_factory=dict)
    bytes: int = 0
    seconds: float = 0.0


def publish(
    installation: Installation,
    domains: Iterable[str] | None = None,
    force: Collection[str] = (),
    *,
    failed: Mapping[str, str] | None = None,
    wait_s: float = 600.0,
    catalog: Catalog | None = None,
    audited: Mapping[str, Sequence[AuditProblem]] | None = None,
) -> PublishReport:
    """Audit and publish `domains` (all of the warehouse if None).

    `audited`: what an audit right after the load found and nobody forgave; those domains are not audited again.
    `failed`: domains that checks elsewhere found wanting, with the reason. `force`: domains published whatever
    the audit says. PublishError, WarehouseBusy: nothing has changed for readers.
    """
    started = time.monotonic()
    tables = installation.open_tables()
    folders = tables.folders
    if not tables.exists():
        raise PublishError(f"there is no {folders.warehouse} yet: load a domain first")
    catalog = installation.catalog() if catalog is None else catalog
    target = folders.published.with_name(f"published.{os.getpid()}.new.duckdb")
    report = PublishReport()
    with tables.warehouse(wait_s) as warehouse:
        connection = warehouse.connection
        _remove(target)
        old = _attach_old(connection, warehouse.published())
        known = [name for (name,) in connection.execute("SELECT domain FROM domains ORDER BY 1").fetchall()]
        asked = set(known if domains is None else domains)
        verdicts = dict(failed or {})
        for domain in sorted(asked & set(known)):
            if audited is not None and domain in audited:
                problems = list(audited[domain])
            else:
                problems = audit(connection, domain, catalog.for_domain(domain), published=old)
            if problems:
                report.problems[domain] = problems
                verdicts.setdefault(domain, "; ".join(map(str, problems)))
        try:
            _build(connection, target, old, sorted(asked & set(known)), verdicts, set(force), report)
        except duckdb.Error as error:
            _remove(target)
            raise PublishError(f"published.duckdb could not be made: {error}") from error
        warehouse.publish(target)
    report.bytes = folders.published.stat().st_size
    report.seconds = time.monotonic() - started
    return report


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)
    path.with_name(path.name + ".wal").unlink(missing_ok=True)


def _attach_old(connection: duckdb.DuckDBPyConnection, published: Path | None) -> str | None:
    if published is None:
        return None
    try:
        connection.execute(f"ATTACH '{_text(published)}' AS last_night (READ_ONLY)")
    except duckdb.Error as error:
        raise PublishError(
            f"{published} cannot be read: {error}. Delete it to publish from the warehouse alone"
        ) from error
    return "last_night"


def _text(path: Path) -> str:
    return str(path).replace("'", "''")


def _build(
    connection: duckdb.DuckDBPyConnection,
    target: Path,
    old: str | None,
    asked: list[str],
    verdicts: Mapping[str, str],
    force: set[str],
    report: PublishReport,
) -> None:
    """Write the new file, by the cases of the module docstring."""
    before = _domains_with_rows(connection, old)
    fresh: list[str] = []
    for domain in asked:
        reason = verdicts.get(domain)
        if reason is None or domain in force:
            fresh.append(domain)
            if reason is not None:
                report.forced.append(domain)
        elif domain in before:
            report.stale[domain] = reason
        else:
            report.withheld[domain] = reason
    report.published = fresh
    connection.execute(f"ATTACH '{_text(target)}' AS tonight")
    connection.execute("BEGIN")
    tables = published_tables(connection)
    of_old = _tables_of(connection, old)
    seen = _old_domains(connection, old)
    for table in tables:
        chosen = asked if table in OBSERVED else fresh
        kept = [name for name in (seen if table in OBSERVED else before) if name not in chosen]
        report.tables[table] = _copy(connection, table, chosen, kept if table in of_old else [], old)
    for table in sorted(of_old - set(tables)):
        # A table of an older version or of a warehouse that was deleted: its rows are still somebody's data.
        name = identifier(table)
        connection.execute(f"CREATE TABLE tonight.main.{name} AS SELECT * FROM {old}.main.{name}")
    _mark(connection, old, fresh, report)
    _comment(connection, tables)
    connection.execute("COMMIT")
    connection.execute("CHECKPOINT tonight")
    connection.execute("DETACH tonight")


def _old_domains(connection: duckdb.DuckDBPyConnection, old: str | None) -> list[str]:
    if old is None:
        return []
    rows = connection.execute(f"SELECT domain FROM {old}.main.domains ORDER BY 1").fetchall()
    return [name for (name,) in rows]


def _domains_with_rows(connection: duckdb.DuckDBPyConnection, old: str | None) -> list[str]:
    if old is None:
        return []
    rows = connection.execute(
        f"SELECT domain FROM {old}.main.domains WHERE published_at IS NOT NULL ORDER BY 1"
    ).fetchall()
    return [name for (name,) in rows]


def _tables_of(connection: duckdb.DuckDBPyConnection, old: str | None) -> set[str]:
    if old is None:
        return set()
    rows = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = ?", [old]
    ).fetchall()
    return {name for (name,) in rows}


def _copy(
    connection: duckdb.DuckDBPyConnection, table: str, fresh: list[str], kept: list[str], old: str | None
) -> int:
    """One table: tonight's rows of `fresh`, earlier ones of `kept`. Sorted as loaded; columns as of tonight."""
    name = identifier(table)
    connection.execute(f"CREATE TABLE tonight.main.{name} AS FROM {name} LIMIT 0")
    connection.execute(
        f"INSERT INTO tonight.main.{name} FROM {name} WHERE list_contains($1, domain)", [fresh]
    )
    if kept and old is not None:
        shared = _shared_columns(connection, table, old)
        connection.execute(
            f"INSERT INTO tonight.main.{name} BY NAME SELECT {shared} FROM {old}.main.{name} "
            "WHERE list_contains($1, domain)",
            [kept],
        )
    row = connection.execute(f"SELECT count(*) FROM tonight.main.{name}").fetchone()
    return int(row[0]) if row else 0


def _shared_columns(connection: duckdb.DuckDBPyConnection, table: str, old: str) -> str:
    """Columns of the old table that still exist, as their types of today."""
    rows = connection.execute(
        "SELECT n.column_name, n.data_type FROM duckdb_columns() n JOIN duckdb_columns() o "
        "ON o.column_name = n.column_name AND o.database_name = $old AND o.table_name = $table "
        "WHERE n.database_name = 'tonight' AND n.table_name = $table ORDER BY n.column_index",
        {"old": old, "table": table},
    ).fetchall()
    return ", ".join(f"TRY_CAST({identifier(c)} AS {kind}) AS {identifier(c)}" for c, kind in rows)


def _mark(
    connection: duckdb.DuckDBPyConnection, old: str | None, fresh: list[str], report: PublishReport
) -> None:
    """The `domains` table says of each domain how fresh its rows are."""
    now = datetime.now(UTC)
    connection.execute(
        "UPDATE tonight.main.domains SET published_at = $1, stale = false WHERE list_contains($2, domain)",
        [now, fresh],
    )
    failed = report.stale | report.withheld
    for domain, reason in failed.items():
        connection.execute(
            "UPDATE tonight.main.domains SET stale = true, stale_reason = $1, stale_since = $2 WHERE domain = $3",
            [reason, now, domain],
        )
    if old is not None and failed:
        connection.execute(
            "UPDATE tonight.main.domains AS t SET published_at = o.published_at, "
            f"stale_since = coalesce(o.stale_since, t.stale_since) FROM {old}.main.domains o "
            "WHERE o.domain = t.domain AND list_contains($1, t.domain)",
            [list(failed)],
        )


def _comment(connection: duckdb.DuckDBPyConnection, tables: list[str]) -> None:
    """Carry the documentation of tables and columns over."""
    rows = connection.execute(
        "SELECT table_name, NULL, comment FROM duckdb_tables() WHERE database_name = current_database() "
        "AND schema_name = 'main' AND comment IS NOT NULL "
        "UNION ALL SELECT view_name, NULL, comment FROM duckdb_views() WHERE database_name = current_database() "
        "AND schema_name = 'main' AND comment IS NOT NULL "
        "UNION ALL SELECT table_name, column_name, comment FROM duckdb_columns() WHERE database_name = current_database() "
        "AND schema_name = 'main' AND comment IS NOT NULL"
    ).fetchall()
    for table, column, comment in rows:
        if table not in tables:
            continue
        text = comment.replace("'", "''")
        if column is None:
            connection.execute(f"COMMENT ON TABLE tonight.main.{identifier(table)} IS '{text}'")
        else:
            connection.execute(
                f"COMMENT ON COLUMN tonight.main.{identifier(table)}.{identifier(column)} IS '{text}'"
            )
