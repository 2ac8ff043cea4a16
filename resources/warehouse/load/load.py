"""Staged batches, the fetch log and the snapshots of some domains into the warehouse.

Every batch, every stretch of the log and every domain's snapshot is a transaction; then the warehouse is made durable
(`storage`: in a folder each commit was). What a crash leaves:

* before that: nothing of a batch, and it is loaded next time;
* after it, before its files are removed: the batch is known by name, so that only the files go;
* after that, before the index of parsed pages is written: those pages are parsed once more, to equal rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from resources.extract.items import Column
from resources.installation import Installation
from resources.site.catalog import Catalog
from resources.warehouse.connection import WarehouseError
from resources.warehouse.folders import TableFolders
from resources.warehouse.item_tables import create_views, ensure_item_tables, item_types, wanted_columns
from resources.warehouse.parse.batch import Batch
from resources.warehouse.statements import identifier
from resources.warehouse.storage import Warehouse

from .batch_rows import apply_batch
from .frontier_rows import drain_log, snapshot_domain, trim_log

__all__ = ["DomainLoad", "LoadReport", "load_domains"]

_COUNTED = ("pages", "links", "structured_data", "rejected_items", "failed_urls", "excluded_urls")


@dataclass(slots=True)
class DomainLoad:
    """One domain: batches loaded, the rows its tables hold now, and the error if it failed."""

    domain: str
    batches: int = 0
    repeated: int = 0
    tables: dict[str, int] = field(default_factory=dict)
    error: str = ""


@dataclass(slots=True)
class LoadReport:
    """What a load did. `warnings` name columns that site files type differently."""

    domains: dict[str, DomainLoad] = field(default_factory=dict)
    log_rows: int = 0
    seconds: float = 0.0
    warnings: list[str] = field(default_factory=list)

    @property
    def failed(self) -> dict[str, str]:
        return {name: each.error for name, each in self.domains.items() if each.error}


def load_domains(
    installation: Installation,
    domains: Iterable[str],
    *,
    run_id: str = "",
    wait_s: float = 600.0,
    catalog: Catalog | None = None,
    go_on: Callable[[], bool] = lambda: True,
) -> LoadReport:
    """Load what is staged for `domains`, and everything of the fetch log. Safe to repeat at any point.

    A domain that fails keeps its rows and its staged files, and does not fail the others: see `failed`.
    WarehouseBusy after `wait_s` of waiting for another loader. Once `go_on` says no, further domains are left for the
    next load: what is staged of them stays, and the report does not have them.
    """
    started = time.monotonic()
    report = LoadReport()
    catalog = installation.catalog() if catalog is None else catalog
    frontier, ledger = installation.open_frontier(), installation.open_ledger()
    try:
        tables = installation.open_tables()
        with tables.warehouse(wait_s) as warehouse:
            connection = warehouse.connection
            ensure_item_tables(connection, catalog)
            create_views(connection)
            wanted = wanted_columns(catalog)
            report.warnings = [
                f"{kind}.{c.name}: {c.comment}" for kind, columns in wanted.items() for c in columns.values()
                if c.comment.endswith("disagree on its type)")
            ]  # fmt: skip
            report.log_rows, log_end = drain_log(connection, frontier)
            loaded: dict[str, tuple[Path, list[Batch]]] = {}
            for domain in dict.fromkeys(domains):
                if not go_on():
                    break
                done = report.domains[domain] = DomainLoad(domain)
                try:
                    if batches := _batches(warehouse, done, wanted):
                        loaded[domain] = _write_index(connection, tables.folders, domain), batches
                    connection.execute("BEGIN")
                    snapshot_domain(connection, frontier, ledger, catalog, domain)
                    done.tables = _count(connection, domain)
                    _remember(connection, done, run_id)
                    connection.execute("COMMIT")
                except (duckdb.Error, WarehouseError, OSError, ValueError) as error:
                    _rollback(connection)
                    loaded.pop(domain, None)
                    done.error = f"{type(error).__name__}: {error}"
            warehouse.keep()
            for domain, (index, batches) in loaded.items():
                try:
                    warehouse.loaded(domain, index, batches)
                except (WarehouseError, OSError) as error:
                    report.domains[domain].error = f"{type(error).__name__}: {error}"
            trim_log(frontier, log_end)
    finally:
        ledger.close()
        frontier.close()
    report.seconds = time.monotonic() - started
    return report


def _rollback(connection: duckdb.DuckDBPyConnection) -> None:
    try:
        connection.execute("ROLLBACK")
    except duckdb.TransactionException:
        pass  # it failed outside of one


def _batches(warehouse: Warehouse, done: DomainLoad, wanted: dict[str, dict[str, Column]]) -> list[Batch]:
    """Apply what is staged of the domain, each batch in a transaction, and say which these were."""
    connection = warehouse.connection
    batches = warehouse.batches(done.domain)
    # Names of batches whose files are gone for good need not be kept.
    connection.execute(
        "DELETE FROM loading.batches WHERE domain = $1 AND NOT list_contains($2, batch)",
        [done.domain, [batch.name for batch in batches]],
    )
    for batch in batches:
        connection.execute("BEGIN")
        if apply_batch(connection, batch, wanted):
            done.batches += 1
        else:
            done.repeated += 1
        connection.execute("COMMIT")
    return batches


def _write_index(connection: duckdb.DuckDBPyConnection, folders: TableFolders, domain: str) -> Path:
    """What the next parse step compares with, in key order; not yet in its place."""
    folders.parsed.mkdir(parents=True, exist_ok=True)
    path = folders.parsed_of(domain).with_suffix(".new")
    reader = connection.sql(
        "SELECT page_key, signature FROM loading.parsed WHERE domain = $1 ORDER BY page_key", params=[domain]
    ).to_arrow_reader(100_000)
    schema = pa.schema([("page_key", pa.binary()), ("signature", pa.binary())])
    with pq.ParquetWriter(path, schema, compression="none") as writer:
        for rows in reader:
            writer.write_batch(rows.cast(schema) if rows.schema != schema else rows)
    return path


def _count(connection: duckdb.DuckDBPyConnection, domain: str) -> dict[str, int]:
    counts = {}
    for table in [*_COUNTED, *item_types(connection)]:
        row = connection.execute(
            f"SELECT count(*) FROM {identifier(table)} WHERE domain = $1", [domain]
        ).fetchone()
        counts[table] = int(row[0]) if row else 0
    return counts


def _remember(connection: duckdb.DuckDBPyConnection, done: DomainLoad, run_id: str) -> None:
    """The counts of this run, for drift: one a table and run."""
    connection.execute("DELETE FROM row_counts WHERE domain = $1 AND run_id = $2", [done.domain, run_id])
    now = datetime.now(UTC)
    connection.executemany(
        "INSERT INTO row_counts VALUES (?, ?, ?, ?, ?)",
        [(done.domain, table, run_id, now, count) for table, count in done.tables.items()],
    )
