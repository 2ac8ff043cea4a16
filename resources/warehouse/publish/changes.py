"""What publishing would change, of many domains at once: counts, and an example of each kind. For people who look on.

One query a table compares the rows of all domains by key, so that a night over thousands of domains can tell it of each;
`diff` is the thorough one, of one domain. Domains with very many rows are counted and not compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from resources.warehouse.item_tables import item_types
from resources.warehouse.statements import identifier

from .diff import BOOKKEEPING
from .tables import keys_of

__all__ = ["ColumnChange", "TableChange", "changes"]

#: Rows of one domain in one table that are compared: a second, and some hundred megabytes.
MOST_ROWS = 200_000
#: Keys named as examples.
NAMED = 3
#: Characters of a value that are shown.
SHOWN = 60


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """A column whose values differ in `rows` rows; one of them, with its value published and new."""

    column: str
    rows: int
    key: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class TableChange:
    """One table of one domain: rows published and tonight; what of them is new, gone and changed, with examples.
    `compared`: False where there are too many rows; the rest is empty then."""

    table: str
    published: int
    tonight: int
    new: int = 0
    gone: int = 0
    changed: int = 0
    new_keys: tuple[str, ...] = ()
    gone_keys: tuple[str, ...] = ()
    columns: tuple[ColumnChange, ...] = ()
    compared: bool = True


def changes(
    connection: duckdb.DuckDBPyConnection, domains: Sequence[str], published: str | None
) -> dict[str, list[TableChange]]:
    """The changes of each domain, by table: pages, links, then the item types; tables without a row on either side are
    left out. `connection`: to the warehouse, with the published database attached as `published`, if there is one."""
    mine = _types(connection, "current_database()")
    theirs = _types(connection, f"'{published}'") if published is not None else {}
    found: dict[str, list[TableChange]] = {domain: [] for domain in domains}
    for table in ("pages", "links", *item_types(connection)):
        key = keys_of(table)
        there = theirs.get(table, {}) if {"domain", *key} <= theirs.get(table, {}).keys() else {}
        now = _counts(connection, identifier(table), domains)
        before = _counts(connection, f"{published}.main.{identifier(table)}", domains) if there else {}
        few = [d for d in now.keys() | before.keys() if max(now.get(d, 0), before.get(d, 0)) <= MOST_ROWS]
        told = (
            _compare(connection, table, sorted(few), mine[table], there, published) if few and there else {}
        )
        for domain in sorted(now.keys() | before.keys()):
            counted = TableChange(table, before.get(domain, 0), now.get(domain, 0), compared=False)
            if not there:
                counted = TableChange(table, 0, counted.tonight, new=counted.tonight)
            found[domain].append(told.get(domain, counted))
    return found


def _types(connection: duckdb.DuckDBPyConnection, database: str) -> dict[str, dict[str, str]]:
    """Table → column → type, in the order of the columns."""
    tables: dict[str, dict[str, str]] = {}
    for table, column, kind in connection.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() "
        f"WHERE database_name = {database} AND schema_name = 'main' ORDER BY table_name, column_index"
    ).fetchall():
        tables.setdefault(table, {})[column] = kind
    return tables


def _counts(connection: duckdb.DuckDBPyConnection, name: str, domains: Sequence[str]) -> dict[str, int]:
    rows = connection.execute(
        f"SELECT domain, count(*) FROM {name} WHERE list_contains($1, domain) GROUP BY domain",
        [list(domains)],
    ).fetchall()
    return {domain: int(n) for domain, n in rows}


def _compare(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    domains: Sequence[str],
    mine: Mapping[str, str],
    theirs: Mapping[str, str],
    published: str | None,
) -> dict[str, TableChange]:
    """The table's rows of `domains` on both sides, matched by key."""
    key = keys_of(table)
    columns = [c for c in mine if c in theirs and c not in key and c not in BOOKKEEPING and c != "domain"]
    if table == "pages":
        columns.append("content_hash")  # a page changed when its body did
    differs = [_differs(c, same=mine.get(c) == theirs.get(c)) for c in columns]
    label = "concat_ws(' ', " + ", ".join(f"{{side}}.{identifier(k)}" for k in key) + ")"
    a, b = label.format(side="a"), label.format(side="b")
    on = " AND ".join(f"a.{identifier(k)} IS NOT DISTINCT FROM b.{identifier(k)}" for k in key)
    both = "a.here AND b.here"
    either = " OR ".join(differs) or "false"
    parts = [
        "coalesce(a.domain, b.domain)",
        "count(b.here)",
        "count(a.here)",
        "count(*) FILTER (b.here IS NULL)",
        "count(*) FILTER (a.here IS NULL)",
        f"count(*) FILTER ({both} AND ({either}))",
        f"min({a}, {NAMED}) FILTER (b.here IS NULL)",
        f"min({b}, {NAMED}) FILTER (a.here IS NULL)",
    ]
    for column, differing in zip(columns, differs, strict=True):
        before, after = (_text(f"{side}.{identifier(column)}") for side in "ba")
        parts.append(f"count(*) FILTER ({both} AND {differing})")
        parts.append(f"arg_min([{a}, {before}, {after}], {a}) FILTER ({both} AND {differing})")
    sides = (
        f"(SELECT *, true AS here FROM {name} WHERE list_contains($1, domain))"
        for name in (identifier(table), f"{published}.main.{identifier(table)}")
    )
    rows = connection.execute(
        f"SELECT {', '.join(parts)} FROM {next(sides)} a FULL JOIN {next(sides)} b ON a.domain = b.domain AND {on} "
        "GROUP BY 1",
        [list(domains)],
    ).fetchall()
    return {str(row[0]): _change(table, row, columns) for row in rows}


def _differs(column: str, *, same: bool) -> str:
    left, right = (f"{side}.{identifier(column)}" for side in "ab")
    if not same:  # a type that changed: the values may not fit each other's
        left, right = f"CAST({left} AS VARCHAR)", f"CAST({right} AS VARCHAR)"
    return f"{left} IS DISTINCT FROM {right}"


def _text(value: str) -> str:
    return f"coalesce(left(CAST({value} AS VARCHAR), {SHOWN}), '')"


def _change(table: str, row: Sequence[Any], columns: Sequence[str]) -> TableChange:
    published, tonight, new, gone, changed = (int(n) for n in row[1:6])
    pairs = zip(columns, row[8::2], row[9::2], strict=True)
    return TableChange(
        table, published, tonight, new, gone, changed,
        new_keys=tuple(row[6] or ()),
        gone_keys=tuple(row[7] or ()),
        columns=tuple(
            ColumnChange(column, int(rows), *(str(text) for text in example)) for column, rows, example in pairs if rows
        ),
    )  # fmt: skip
