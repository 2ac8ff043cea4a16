"""One staged batch into the tables. Statements are in `sql/load.sql`; all of them run in one transaction."""

from __future__ import annotations

from datetime import UTC, datetime

import duckdb

from resources.extract.items import Column
from resources.warehouse.item_tables import item_types
from resources.warehouse.parse.batch import Batch
from resources.warehouse.statements import read_statements

from .item_rows import read_items, write_items

__all__ = ["apply_batch"]

_SQL = read_statements("load.sql")
_TABLES = ("pages", "links", "structured_data", "rejected_items")


def _list(files: list[str]) -> str:
    """A list of our own file names as a literal: DuckDB takes no parameters in every place that needs one."""
    return "[" + ", ".join("'" + name.replace("'", "''") + "'" for name in files) + "]"


def apply_batch(
    connection: duckdb.DuckDBPyConnection, batch: Batch, wanted: dict[str, dict[str, Column]]
) -> bool:
    """Replace the rows of the pages the batch touches. False if it was loaded before. The caller commits."""
    known = connection.execute("SELECT 1 FROM loading.batches WHERE batch = $1", [batch.name]).fetchone()
    if known is not None:
        return False
    domain = {"domain": batch.domain}
    now = datetime.now(UTC)
    _touched(connection, batch)
    kinds = item_types(connection)
    new = {kind: read_items(connection, batch, kind, wanted[kind]) for kind in kinds if kind in wanted}
    connection.execute(_SQL["gone_again"], domain)
    connection.execute(_SQL["gone"], {**domain, "now": now, "run": batch.run_id})
    for table in _TABLES:
        connection.execute(_SQL[f"{table}_old"], domain)
        if files := batch.files(table):
            statement = _SQL[table].replace("{files}", _list(files))
            connection.execute(statement, domain if "$domain" in statement else {})
    for kind in kinds:
        write_items(connection, batch.domain, kind, wanted.get(kind, {}), new=new.get(kind, False))
    connection.execute(_SQL["parsed_old"], domain)
    connection.execute(_SQL["parsed"], domain)
    connection.execute(_SQL["batch"], {**domain, "batch": batch.name, "now": now})
    return True


def _touched(connection: duckdb.DuckDBPyConnection, batch: Batch) -> None:
    """The temporary table of all pages whose rows change: parsed ones, and those that are gone."""
    connection.execute(_SQL["touched"])
    if parsed := batch.files("parsed"):
        connection.execute(_SQL["touched_parsed"].replace("{parsed}", _list(parsed)))
    if gone := batch.files("gone"):
        connection.execute(_SQL["touched_gone"].replace("{gone}", _list(gone)), {"domain": batch.domain})
