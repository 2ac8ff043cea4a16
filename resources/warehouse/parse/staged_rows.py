"""Rows gathered as columns and written as Parquet, one file a table and chunk of pages.

Links are nearly all of the rows and repeat themselves, so Arrow makes dictionaries of their texts: a link costs four
small numbers on disk.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from resources.extract.items import ItemRow, RejectedRow, field_columns
from resources.extract.page import ExtractedPage
from resources.extract.page_row import PageRow
from resources.site.item_types import ItemType

__all__ = ["StagedRows", "chunk_file", "item_table"]

_TIME = pa.timestamp("us", tz="UTC")
_PAGE_TYPES = {"int": pa.int64(), "int | None": pa.int64(), "float": _TIME}
_FIELD_TYPES = {
    "VARCHAR": pa.string(),
    "DOUBLE": pa.float64(),
    "BIGINT": pa.int64(),
    "DECIMAL(18,4)": pa.decimal128(18, 4),
    "DATE": pa.date32(),
    "BOOLEAN": pa.bool_(),
    "VARCHAR[]": pa.list_(pa.string()),
}
_PAGES = pa.schema([pa.field(f.name, _PAGE_TYPES.get(str(f.type), pa.string())) for f in fields(PageRow)])
_PAGE_VALUES = attrgetter(*_PAGES.names)
_ORIGIN = [
    ("content_hash", pa.string()), ("fetched_at", _TIME), ("run_id", pa.string()), ("parser_version", pa.string()),
]  # fmt: skip
_STRUCTURED = pa.schema(
    [("url", pa.string()), ("format", pa.string()), ("position", pa.int32()), ("type", pa.string()),
     ("data", pa.string()), *_ORIGIN]
)  # fmt: skip
_REJECTED = pa.schema(
    [("url", pa.string()), ("item_type", pa.string()), ("item_index", pa.int32()), ("field", pa.string()),
     ("reason", pa.string()), ("detail", pa.string()), ("raw", pa.string()), *_ORIGIN]
)  # fmt: skip
_PARSED = pa.schema([("page_key", pa.binary()), ("signature", pa.binary()), ("url", pa.string())])


def item_table(kind: str) -> str:
    """Name of an item type's staged files; the dot keeps it apart from the tables of the product."""
    return f"item.{kind}"


def chunk_file(table: str, chunk: int) -> str:
    """Name of the file with the rows of a chunk of pages."""
    return f"{table}-{chunk:06d}.parquet"


def _micros(seconds: float) -> int:
    return round(seconds * 1_000_000)


class StagedRows:
    """Rows of one chunk of pages of one domain; `write` puts them on disk and counts them."""

    def __init__(self, items: dict[str, ItemType], run_id: str) -> None:
        self._run_id = run_id
        self._kinds = {name: field_columns(kind) for name, kind in items.items()}
        self._pages: list[PageRow] = []
        #: Columns of `links`; those of a page that has any stand once with their number.
        self._to: list[str] = []
        self._anchor: list[str] = []
        self._rel: list[str] = []
        self._in_scope: list[bool] = []
        self._from: list[tuple[str, int]] = []
        self._structured: list[tuple[Any, ...]] = []
        self._rejected: list[tuple[Any, ...]] = []
        self._items: dict[str, list[tuple[Any, ...]]] = {}
        self._parsed: list[tuple[bytes, bytes, str]] = []

    def add(self, key: bytes, signature: bytes, found: ExtractedPage) -> None:
        """All rows of a page."""
        page = found.page
        self._parsed.append((key, signature, page.url))
        self._pages.append(page)
        if found.links:
            self._add_links(page.url, found)
        origin = (page.content_hash, _micros(page.fetched_at), self._run_id, page.parser_version)
        for row in found.structured:
            self._structured.append((page.url, *row, *origin))
        for reject in found.rejects:
            self._reject(page.url, reject, origin)
        for item in found.items:
            self._item(page.url, item, origin)

    def _add_links(self, url: str, found: ExtractedPage) -> None:
        to, anchor, rel, in_scope = zip(*found.links, strict=True)
        self._to += to
        self._anchor += anchor
        self._rel += rel
        self._in_scope += in_scope
        self._from.append((url, len(to)))

    def _reject(self, url: str, row: RejectedRow, origin: tuple[Any, ...]) -> None:
        self._rejected.append((url, row.kind, row.index, row.field, row.reason, row.detail, row.raw, *origin))

    def _item(self, url: str, row: ItemRow, origin: tuple[Any, ...]) -> None:
        self._items.setdefault(row.kind, []).append((url, row.key, row.index, *row.values, *origin))

    def _links(self) -> pa.Table:
        sources, numbers = zip(*self._from, strict=True) if self._from else ((), ())
        places = np.repeat(np.arange(len(numbers), dtype=np.int32), np.array(numbers, np.int64))
        columns = {
            "from_url": pa.DictionaryArray.from_arrays(pa.array(places), pa.array(sources, pa.string())),
        }
        for name, texts in (("to_url", self._to), ("anchor", self._anchor), ("rel", self._rel)):
            columns[name] = pa.array(texts, pa.string()).dictionary_encode()
        return pa.table({**columns, "in_scope": pa.array(self._in_scope, pa.bool_())})

    def write(self, folder: Path, chunk: int) -> dict[str, int]:
        """Write what there is; returns rows by table. The files are not durable yet: the manifest is later."""
        tables: dict[str, pa.Table] = {"parsed": _table(_PARSED, self._parsed)}
        tables["pages"] = _table(_PAGES, map(_PAGE_VALUES, self._pages))
        tables["links"] = self._links()
        tables["structured_data"] = _table(_STRUCTURED, self._structured)
        tables["rejected_items"] = _table(_REJECTED, self._rejected)
        for kind, items in self._items.items():
            columns = [(c.name, _FIELD_TYPES[c.type]) for c in self._kinds[kind]]
            head = [("url", pa.string()), ("item_key", pa.string()), ("item_index", pa.int32())]
            tables[item_table(kind)] = _table(pa.schema([*head, *columns, *_ORIGIN]), items)
        counts = {}
        for name, table in tables.items():
            if table.num_rows:
                counts[name] = table.num_rows
                # Read whole, once, and soon: half a millisecond a file less than zstd, which takes a third less room.
                pq.write_table(
                    table, folder / chunk_file(name, chunk), compression="snappy", write_statistics=False
                )
        return counts


def _table(schema: pa.Schema, rows: Iterable[tuple[Any, ...]]) -> pa.Table:
    """Rows as a table; seconds in time columns become microseconds where they are floats."""
    columns = list(zip(*rows, strict=True)) or [()] * len(schema)
    arrays = []
    for field, values in zip(schema, columns, strict=True):
        if field.type == _TIME and values and isinstance(values[0], float):
            values = tuple(_micros(value) for value in values)
        arrays.append(pa.array(values, field.type))
    return pa.Table.from_arrays(arrays, schema=schema)
