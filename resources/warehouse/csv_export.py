"""Tables as CSV that is safe to open in a spreadsheet.

A cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return is run as a formula by spreadsheet programs.
Texts (never numbers) that begin so get an apostrophe in front, which those programs take as "this is text".
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

import duckdb

__all__ = ["export_csv", "safe_cell", "write_csv"]

#: What starts a formula, also after blanks and in the full-width forms that some programs fold.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%", "＝", "＋", "－", "＠")
_BATCH = 10_000


def safe_cell(value: Any) -> Any:
    """`value` as it may stand in a cell. Numbers, dates and truth are left alone; lists become text."""
    if isinstance(value, (list, tuple, dict)):
        value = str(value)
    if isinstance(value, str):
        value = value.replace("\0", "\ufffd")
        start = value.lstrip(" \u00a0\ufeff\u200b")
        if start.startswith(_FORMULA) or value.startswith(_FORMULA):
            return "'" + value
    return value


def write_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]], file: TextIO) -> int:
    """Write a head and rows (RFC 4180); returns how many rows. The file must be opened with newline=''."""
    writer = csv.writer(file)
    writer.writerow([safe_cell(column) for column in columns])
    count = 0
    for row in rows:
        writer.writerow([safe_cell(value) for value in row])
        count += 1
    return count


def export_csv(
    connection: duckdb.DuckDBPyConnection, sql: str, file: TextIO, parameters: object = None
) -> int:
    """The result of a query as CSV, streamed."""
    cursor = connection.execute(sql, parameters) if parameters is not None else connection.execute(sql)
    columns = [column[0] for column in cursor.description or []]

    def rows() -> Iterable[Sequence[Any]]:
        while batch := cursor.fetchmany(_BATCH):
            yield from batch

    return write_csv(columns, rows(), file)
