"""Tonight against published: what publishing a domain would change, before it is done."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import duckdb

from resources.installation import Installation
from resources.warehouse.item_tables import item_types
from resources.warehouse.statements import identifier

from .tables import KEYS, keys_of

__all__ = ["BOOKKEEPING", "TableDiff", "diff"]

#: Columns that change with every fetch and say nothing about the content.
BOOKKEEPING = frozenset(
    {
        "fetched_at",
        "run_id",
        "parser_version",
        "content_hash",
        "body_bytes",
        "text_length",
        "changed_at",
        "first_seen_at",
    }
)
_COMPARED = ("pages", "links", "structured_data", "rejected_items", "failed_urls", "excluded_urls")


@dataclass(slots=True)
class TableDiff:
    """One table of one domain. Examples are keys; changed ones come with column, published and new value."""

    table: str
    published: int = 0
    tonight: int = 0
    new: int = 0
    gone: int = 0
    changed: int = 0
    new_examples: list[tuple[Any, ...]] = field(default_factory=list)
    gone_examples: list[tuple[Any, ...]] = field(default_factory=list)
    changed_examples: list[tuple[tuple[Any, ...], str, Any, Any]] = field(default_factory=list)


def diff(
    installation: Installation, domain: str, *, examples: int = 10, wait_s: float = 60.0
) -> list[TableDiff]:
    """New, gone and changed rows per table, compared by key; where nothing is published all rows are new."""
    storage = installation.open_tables()
    if not storage.exists():
        return []
    with storage.warehouse(wait_s) as warehouse:
        connection = warehouse.connection
        there: dict[str, set[str]] = {}
        if published := warehouse.published():
            connection.execute(
                f"ATTACH '{str(published).replace(chr(39), chr(39) * 2)}' AS last_night (READ_ONLY)"
            )
            for table, column in connection.execute(
                "SELECT table_name, column_name FROM duckdb_columns() WHERE database_name = 'last_night'"
            ).fetchall():
                there.setdefault(table, set()).add(column)
        tables = [*(t for t in _COMPARED if t in KEYS), *item_types(connection)]
        return [_one(connection, table, domain, there.get(table, set()), examples) for table in tables]


def _one(
    connection: duckdb.DuckDBPyConnection, table: str, domain: str, there: set[str], examples: int
) -> TableDiff:
    name, key = identifier(table), keys_of(table)
    result = TableDiff(table)
    result.tonight = _number(connection, f"SELECT count(*) FROM {name} WHERE domain = $1", domain)
    keys = ", ".join(identifier(each) for each in key)
    mine = f"(SELECT * FROM {name} WHERE domain = $1)"
    if not set(key) <= there:
        result.new = result.tonight
        result.new_examples = _rows(
            connection, f"SELECT {keys} FROM {mine} ORDER BY ALL LIMIT {examples:d}", domain
        )
        return result
    theirs = f"(SELECT * FROM last_night.main.{name} WHERE domain = $1)"
    result.published = _number(connection, f"SELECT count(*) FROM {theirs}", domain)
    on = " AND ".join(f"a.{identifier(each)} IS NOT DISTINCT FROM b.{identifier(each)}" for each in key)
    for attribute, left, right in (("new", mine, theirs), ("gone", theirs, mine)):
        only = f"FROM {left} a WHERE NOT EXISTS (SELECT 1 FROM {right} b WHERE {on})"
        setattr(result, attribute, _number(connection, f"SELECT count(*) {only}", domain))
        found = _rows(connection, f"SELECT {keys} {only} ORDER BY ALL LIMIT {examples:d}", domain)
        setattr(result, f"{attribute}_examples", found)
    _changed(connection, result, (mine, theirs, on), domain, there, examples)
    return result


def _changed(
    connection: duckdb.DuckDBPyConnection,
    result: TableDiff,
    sides: tuple[str, str, str],
    domain: str,
    there: set[str],
    examples: int,
) -> None:
    mine, theirs, on = sides
    key = keys_of(result.table)
    columns = [
        name
        for (name,) in connection.execute(
            "SELECT column_name FROM duckdb_columns() WHERE database_name = current_database() "
            "AND schema_name = 'main' AND table_name = $1 ORDER BY column_index",
            [result.table],
        ).fetchall()
        if name in there and name not in key and name not in BOOKKEEPING and name != "domain"
    ]
    # A page counts as changed when its body did: titles of equal length would hide it.
    if result.table == "pages":
        columns.append("content_hash")
    if not columns:
        return
    differs = " OR ".join(f"a.{identifier(c)} IS DISTINCT FROM b.{identifier(c)}" for c in columns)
    both = f"FROM {mine} a JOIN {theirs} b ON {on} WHERE {differs}"
    result.changed = _number(connection, f"SELECT count(*) {both}", domain)
    keys = ", ".join(f"a.{identifier(each)}" for each in key)
    pairs = ", ".join(f"b.{identifier(c)}, a.{identifier(c)}" for c in columns)
    for row in _rows(connection, f"SELECT {keys}, {pairs} {both} ORDER BY ALL LIMIT {examples:d}", domain):
        identity, values = row[: len(key)], row[len(key) :]
        for at, column in enumerate(columns):
            before, after = values[2 * at], values[2 * at + 1]
            if before != after:
                result.changed_examples.append((identity, column, before, after))


def _number(connection: duckdb.DuckDBPyConnection, sql: str, domain: str) -> int:
    row = connection.execute(sql, [domain]).fetchone()
    return int(row[0]) if row else 0


def _rows(connection: duckdb.DuckDBPyConnection, sql: str, domain: str) -> list[tuple[Any, ...]]:
    return connection.execute(sql, [domain]).fetchall()
