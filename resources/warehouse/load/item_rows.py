"""Items of a batch: joined with what was known of their keys, so that they keep when they were first seen."""

from __future__ import annotations

import duckdb

from resources.extract.items import ITEM_COLUMNS, Column
from resources.warehouse.parse.batch import Batch
from resources.warehouse.parse.staged_rows import item_table
from resources.warehouse.statements import identifier

__all__ = ["read_items", "write_items"]

_HEAD = [column.name for column in ITEM_COLUMNS]


def _staged_columns(connection: duckdb.DuckDBPyConnection, files: list[str]) -> set[str]:
    rows = connection.execute(
        "SELECT column_name FROM (DESCRIBE SELECT * FROM read_parquet($files, union_by_name = true))",
        {"files": files},
    ).fetchall()
    return {name for (name,) in rows}


def read_items(
    connection: duckdb.DuckDBPyConnection, batch: Batch, kind: str, columns: dict[str, Column]
) -> bool:
    """Put the staged items of a type into a temporary table `new_<type>`; False if there are none.

    `first_seen_at` is that of the key's earlier row, on whatever page; `changed_at` stays where no field differs.
    Runs before old rows are deleted. Texts that do not fit a column's type of today become NULL: the batch is
    then of an older site file, and the change re-parses the page.
    """
    files = batch.files(item_table(kind))
    if not files:
        return False
    staged = _staged_columns(connection, files)
    known = [name for name in columns if name in staged]
    table = identifier(kind)
    fields = ", ".join(
        f"TRY_CAST(s.{identifier(n)} AS {c.type}) AS {identifier(n)}"
        if n in staged
        else f"NULL::{c.type} AS {identifier(n)}"
        for n, c in columns.items()
    )
    differs = " OR ".join(
        f"TRY_CAST(s.{identifier(n)} AS {columns[n].type}) IS DISTINCT FROM o.{identifier(n)}" for n in known
    )
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE {identifier('new_' + kind)} AS "
        f"WITH o AS (SELECT *, min(first_seen_at) OVER (PARTITION BY item_key) AS born FROM candidates.{table} "
        "WHERE domain = $domain QUALIFY row_number() OVER (PARTITION BY item_key ORDER BY length(url), url, item_index) = 1) "
        "SELECT s.url, $domain AS domain, s.item_key, s.item_index, s.content_hash, s.fetched_at, "
        "coalesce(o.born, s.fetched_at) AS first_seen_at, "
        f"CASE WHEN o.item_key IS NULL OR {differs or 'false'} THEN s.fetched_at ELSE o.changed_at END AS changed_at, "
        f"s.run_id, s.parser_version, {fields} "
        "FROM read_parquet($files, union_by_name = true) s LEFT JOIN o ON o.item_key = s.item_key",
        {"domain": batch.domain, "files": files},
    )
    return True


def write_items(
    connection: duckdb.DuckDBPyConnection, domain: str, kind: str, columns: dict[str, Column], *, new: bool
) -> None:
    """Old rows of the touched pages out, new ones in."""
    table = identifier(kind)
    connection.execute(
        f"DELETE FROM candidates.{table} WHERE domain = $domain AND url IN (SELECT url FROM touched)",
        {"domain": domain},
    )
    if new:
        names = ", ".join(identifier(name) for name in [*_HEAD, *columns])
        connection.execute(
            f"INSERT INTO candidates.{table} ({names}) SELECT {names} FROM {identifier('new_' + kind)}"
        )
        connection.execute(f"DROP TABLE {identifier('new_' + kind)}")
