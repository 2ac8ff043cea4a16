"""Item types as tables: created and widened as site files change, seen through views that tell duplicates apart.

`candidates.<type>` holds every item as it was read. The view `<type>` shows one row for each key of a domain:
that of the shortest URL (then the first in order), so that it does not depend on the order of loading. The others
show in `rejected_items` as `duplicate_key`.

Two sites may fill one type. Columns are the union; a column that two sites type differently is text. A column
no site file names any more stays, empty for new rows.
"""

from __future__ import annotations

from collections.abc import Iterable

import duckdb

from resources.extract.items import ITEM_COLUMNS, Column, field_columns
from resources.site.catalog import Catalog

from .statements import identifier

__all__ = ["VIEWS_VERSION", "create_views", "ensure_item_tables", "item_types", "wanted_columns"]

#: Raised with every change of the views' text: a warehouse of another version gets them anew when it is opened.
VIEWS_VERSION = 1

_REJECTED_COLUMNS = (
    ("url", "Page it stands on"),
    ("domain", "host[:port]"),
    ("item_type", "Item type; empty: the whole page could not be parsed"),
    ("item_index", "Position on the page, from 0"),
    ("field", "First field at fault"),
    (
        "reason",
        "missing_required, bad_value, too_many_items, duplicate_key, parser_error, parser_crash or parser_hang",
    ),
    ("detail", "What is wrong, in words, of all fields"),
    ("raw", "JSON: the texts found for each field"),
    ("content_hash", "Hash of the body"),
    ("fetched_at", "When that body was received"),
    ("run_id", "Run that made the row"),
    ("parser_version", "Version of the parser that made the row"),
)


def wanted_columns(catalog: Catalog) -> dict[str, dict[str, Column]]:
    """Columns of every item type over all site files, by type and name."""
    wanted: dict[str, dict[str, Column]] = {}
    for site in catalog:
        for kind, rule in site.items.items():
            columns = wanted.setdefault(kind, {})
            for column in field_columns(rule):
                known = columns.get(column.name)
                if known is not None and known.type != column.type:
                    comment = f"{known.comment} (text: site files disagree on its type)"
                    columns[column.name] = Column(column.name, "VARCHAR", comment)
                else:
                    columns[column.name] = known or column
    return wanted


def item_types(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Types that have a table, also those of sites long retired."""
    rows = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = current_database() "
        "AND schema_name = 'candidates' AND table_name <> 'rejected_items' ORDER BY 1"
    ).fetchall()
    return [name for (name,) in rows]


def _present(connection: duckdb.DuckDBPyConnection, kind: str) -> dict[str, str]:
    rows = connection.execute(
        "SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = current_database() "
        "AND schema_name = 'candidates' AND table_name = ? ORDER BY column_index",
        [kind],
    ).fetchall()
    return dict(rows)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def ensure_item_tables(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Make the tables fit the site files: create, add columns, change types (what does not fit the new type is
    NULL until its page is parsed again, which the same change of the site file brings about)."""
    for kind, columns in wanted_columns(catalog).items():
        table = f"candidates.{identifier(kind)}"
        present = _present(connection, kind)
        if not present:
            parts = ", ".join(f"{identifier(c.name)} {_sql_type(c)}" for c in ITEM_COLUMNS)
            connection.execute(f"CREATE TABLE {table} ({parts})")
            present = {c.name: _sql_type(c) for c in ITEM_COLUMNS}
        for column in columns.values():
            name, kind_of = identifier(column.name), _sql_type(column)
            if column.name not in present:
                connection.execute(f"ALTER TABLE {table} ADD COLUMN {name} {kind_of}")
            elif present[column.name] != kind_of:
                connection.execute(
                    f"ALTER TABLE {table} ALTER COLUMN {name} SET DATA TYPE {kind_of} USING TRY_CAST({name} AS {kind_of})"
                )
            connection.execute(f"COMMENT ON COLUMN {table}.{name} IS {_literal(column.comment)}")


def _sql_type(column: Column) -> str:
    """As DuckDB spells it."""
    return "TIMESTAMP WITH TIME ZONE" if column.type == "TIMESTAMPTZ" else column.type


def create_views(connection: duckdb.DuckDBPyConnection) -> None:
    """One view for each item type, and `rejected_items` over all of them."""
    kinds = item_types(connection)
    for kind in kinds:
        name = identifier(kind)
        connection.execute(
            f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM candidates.{name} QUALIFY {_place('row_number()')} = 1"
        )
        connection.execute(
            f"COMMENT ON VIEW {name} IS {_literal(f'Items of type {kind}: one row for each key of a domain')}"
        )
        comments = {c.name: c.comment for c in ITEM_COLUMNS} | _comments(connection, kind)
        for column in _present(connection, kind):
            connection.execute(
                f"COMMENT ON COLUMN {name}.{identifier(column)} IS {_literal(comments.get(column) or '')}"
            )
    connection.execute(f"CREATE OR REPLACE VIEW rejected_items AS {_rejected(kinds)}")
    connection.execute(
        "COMMENT ON VIEW rejected_items IS 'Items that are no row of their table, with the reason and what was found'"
    )
    for name, comment in _REJECTED_COLUMNS:
        connection.execute(f"COMMENT ON COLUMN rejected_items.{identifier(name)} IS {_literal(comment)}")


def _comments(connection: duckdb.DuckDBPyConnection, kind: str) -> dict[str, str]:
    rows = connection.execute(
        "SELECT column_name, comment FROM duckdb_columns() WHERE database_name = current_database() "
        "AND schema_name = 'candidates' AND table_name = ? AND comment IS NOT NULL",
        [kind],
    ).fetchall()
    return dict(rows)


def _place(function: str) -> str:
    return f"{function} OVER (PARTITION BY domain, item_key ORDER BY length(url), url, item_index)"


def _rejected(kinds: Iterable[str]) -> str:
    parts = ["SELECT * FROM candidates.rejected_items"]
    for kind in kinds:
        parts.append(
            f"SELECT url, domain, {_literal(kind)} AS item_type, item_index, '' AS field, 'duplicate_key' AS reason, "
            "'the same key as the item on ' || winner AS detail, json_object('item_key', item_key) AS raw, content_hash, "
            "fetched_at, run_id, parser_version FROM (SELECT *, "
            f"{_place('row_number()')} AS place, {_place('first_value(url)')} AS winner FROM candidates.{identifier(kind)}) "
            "WHERE place > 1"
        )
    return " UNION ALL ".join(parts)
