"""docs/tables.md, written from the comments in the SQL: every table readers get, with the meaning of each column."""

from __future__ import annotations

import duckdb

from resources.extract.items import ITEM_COLUMNS

from .item_tables import create_views
from .publish.tables import KEYS, OBSERVED
from .statements import read_script

__all__ = ["tables_markdown"]

_INTRO = """\
# The tables

What `data/tables/published.duckdb` holds. It is read-only, never locked and replaced whole after the audit:

```sh
nightcrawl sql "SELECT url, title FROM pages WHERE changed_at > now() - INTERVAL 1 DAY"
duckdb -readonly data/tables/published.duckdb
```

```python
import duckdb

pages = duckdb.connect("data/tables/published.duckdb", read_only=True).sql("FROM pages").df()
```

A process that lives for days has to connect anew to see a newer night: close its old connection first.

Every table has `domain` (`host[:port]`). Times are UTC. A domain whose audit failed keeps its earlier rows in the
tables of content and is marked `stale` in `domains`; tables of what the crawl observed are always those of the last
night. This page is written from the code (`make docs`); the comments are in the database too:
`SELECT table_name, column_name, comment FROM duckdb_columns()`.
"""

_ITEMS = """\
## One table per item type

Each item type of a site file (`items`) is a table of that name: one row for each key of a domain, with a column for
each field. These columns come first:

| column | type | meaning |
| --- | --- | --- |
"""


def tables_markdown() -> str:
    """The whole page."""
    connection = duckdb.connect()
    try:
        connection.execute(read_script("tables.sql"))
        connection.execute(read_script("views.sql"))
        create_views(connection)
        parts = [_INTRO, "## Content\n"]
        content = [name for name in KEYS if name not in OBSERVED]
        parts += [_table(connection, name) for name in content]
        items = "".join(f"| `{c.name}` | {c.type} | {_cell(c.comment)} |\n" for c in ITEM_COLUMNS)
        parts += [_ITEMS + items, "## What the crawl observed\n"]
        parts += [_table(connection, name) for name in KEYS if name in OBSERVED]
    finally:
        connection.close()
    return "\n".join(parts)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


def _table(connection: duckdb.DuckDBPyConnection, name: str) -> str:
    found = connection.execute(
        "SELECT comment FROM duckdb_tables() WHERE schema_name = 'main' AND table_name = $1 "
        "UNION ALL SELECT comment FROM duckdb_views() WHERE schema_name = 'main' AND view_name = $1",
        [name],
    ).fetchone()
    columns = connection.execute(
        "SELECT column_name, data_type, comment FROM duckdb_columns() "
        "WHERE schema_name = 'main' AND table_name = $1 ORDER BY column_index",
        [name],
    ).fetchall()
    missing = [column for column, _, comment in columns if not comment]
    if found is None or not found[0] or missing:
        raise ValueError(f"{name}: the SQL has no comment on {', '.join(missing) or 'the table'}")
    lines = [
        f"### {name}\n",
        f"{found[0].rstrip('.')}.\n",
        "| column | type | meaning |",
        "| --- | --- | --- |",
    ]
    for column, kind, comment in columns:
        shown = "TIMESTAMPTZ" if kind == "TIMESTAMP WITH TIME ZONE" else kind
        lines.append(f"| `{column}` | {shown} | {_cell(comment)} |")
    return "\n".join(lines) + "\n"
