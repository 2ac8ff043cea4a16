"""`nightcrawl sql "…"`: a query over the published tables. Read-only, never locked, no other file in reach."""

from __future__ import annotations

import math
import sys
from typing import Annotated, Any

import typer

from .failures import CommandFailed
from .terminal import say, say_json, table

__all__ = ["sql"]

#: Rows shown on a terminal; --json and --csv give all.
SHOWN = 100


def sql(
    query: Annotated[str | None, typer.Argument(help="SQL; without one, the tables are listed.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="All rows, as objects.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="All rows, safe to open in a spreadsheet.")] = False,
) -> None:
    """Ask the published tables (DuckDB SQL)."""
    import duckdb

    from resources.installation import Installation
    from resources.warehouse.csv_export import export_csv
    from resources.warehouse.read import NothingPublished, published

    if as_json and as_csv:
        raise CommandFailed("choose one of --json and --csv")
    try:
        with published(Installation.from_environment()) as connection:
            if query is None:
                query = (
                    'select table_name as "table", estimated_size as "rows", comment from duckdb_tables() '
                    "where database_name = 'published' order by 1"
                )
            if as_csv:
                export_csv(connection, query, sys.stdout)
                return
            cursor = connection.execute(query)
            columns = [column[0] for column in cursor.description or []]
            rows = cursor.fetchall() if as_json else cursor.fetchmany(SHOWN + 1)
    except NothingPublished as error:
        raise CommandFailed(str(error)) from None
    except duckdb.Error as error:
        raise CommandFailed(f"this query cannot be answered: {error}") from None
    if as_json:
        say_json([{c: _plain(v) for c, v in zip(columns, row, strict=True)} for row in rows])
        return
    table(columns, [["" if v is None else str(v) for v in row] for row in rows[:SHOWN]])
    if len(rows) > SHOWN:
        say(f"… the first {SHOWN} rows; --csv and --json give all")


def _plain(value: Any) -> Any:
    """JSON has no NaN, no infinity and no dates."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    return value
