"""Tonight against published, as a few lines for whoever looks at a domain before its rows replace the others.

It stands at the publication where that went well, and at the checks of the audit that held it back. One entry, bounded:
a line a table, some keys, an example a column, and the command that shows it all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import dagster as dg

if TYPE_CHECKING:  # imported where it is used: see definitions.py
    from resources.warehouse.publish.changes import TableChange

__all__ = ["LABEL", "against_published"]

#: The name of the entry.
LABEL = "against published"
#: Tables, and columns of all tables, that are shown: a page of the UI, not a report.
TABLES, COLUMNS = 8, 12
#: Characters of a key, mostly a URL.
KEY = 100


def against_published(domain: str, changes: Sequence[TableChange]) -> dg.MarkdownMetadataValue:
    """What `published` would become, or became, of the domain."""
    return dg.MetadataValue.md("\n".join(_lines(domain, changes)))


def _lines(domain: str, changes: Sequence[TableChange]) -> Iterator[str]:
    if any(c.compared and (c.new or c.gone or c.changed) for c in changes) or not all(
        c.compared for c in changes
    ):
        yield "| table | published | tonight | new | gone | changed |"
        yield "| --- | --- | --- | --- | --- | --- |"
        for c in changes[:TABLES]:
            cells = (c.new, c.gone, c.changed) if c.compared else ("too many rows to compare here", "", "")
            yield f"| {c.table} | {c.published:,} | {c.tonight:,} | " + " | ".join(map(_cell, cells)) + " |"
        if examples := list(_examples(changes)):
            yield ""
            yield from examples
    else:
        yield "Nothing changes: every row is as published."
    yield ""
    yield f"All of it, also before it is published: `nightcrawl publish --diff {domain}`"


def _examples(changes: Sequence[TableChange]) -> Iterator[str]:
    left = COLUMNS
    for c in changes[:TABLES]:
        for words, keys, of in (("new", c.new_keys, c.new), ("gone", c.gone_keys, c.gone)):
            if keys and c.published:
                more = f" and {of - len(keys):,} more" if of > len(keys) else ""
                yield f"- {c.table}, {words}: {', '.join(_cell(k[:KEY]) for k in keys)}{more}"
        for column in c.columns[:left]:
            left -= 1
            if column.column == "content_hash":
                yield f"- {c.table}, another body: {column.rows:,}, as {_cell(column.key[:KEY])}"
                continue
            values = f"{_value(column.before)} → {_value(column.after)}"
            yield f"- {c.table}, `{column.column}` of {column.rows:,}: {_cell(column.key[:KEY])}: {values}"


def _value(text: str) -> str:
    return _cell(text) if text else "(nothing)"


def _cell(value: object) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return text.replace("|", "\\|").replace("\n", " ")
