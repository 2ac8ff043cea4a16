"""Heads as rows: the current ones in `page`, those before in `version`.

Costs: finding n heads is one indexed query for every 500 keys; a head takes about 150 bytes, its two index
entries 40. Writing happens within the caller's transaction, so find-then-write cannot be overtaken.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from resources.pages.base import Kind, PageHead
from resources.pages.head_fields import decode_pairs
from resources.pages.sqlite.domains import Domains
from resources.pages.sqlite.statements import marks, read_statements

__all__ = ["Heads", "Row", "split_key"]

_SQL = read_statements("heads.sql")

#: A row of `page` or `version`: the columns in the order of schema.sql, `id` first.
Row = tuple[Any, ...]

_decode = json.JSONDecoder().decode
_KINDS = {int(kind): kind for kind in Kind}

#: Keys per query: enough that its fixed cost vanishes; longer lists gain nothing.
LIST = 500


def split_key(key: bytes) -> tuple[int, bytes]:
    """A key as its two columns."""
    return int.from_bytes(key[:8]) - (1 << 63), key[8:]


class Heads:
    """Reads and writes heads on one connection."""

    def __init__(self, connection: sqlite3.Connection, domains: Domains) -> None:
        self._connection = connection
        self._domains = domains

    def rows(self, keys: Sequence[bytes], kind: Kind, table: str = "page") -> dict[bytes, list[Row]]:
        """The rows of each key that has any, newest first."""
        wanted = set(keys)
        found: dict[bytes, list[Row]] = {}
        for first in range(0, len(keys), LIST):
            highs = [split_key(key)[0] for key in keys[first : first + LIST]]
            # Lists of a few fixed lengths keep the compiled statements few.
            length = next(size for size in (1, 8, 64, LIST) if size >= len(highs))
            highs += highs[:1] * (length - len(highs))
            query = _SQL["find"].format(table=table, marks=marks(length))
            for row in self._connection.execute(query, (*highs, int(kind))):
                key = row_key(row)
                if key in wanted:
                    found.setdefault(key, []).append(row)
        return found

    def scan(self, connection: sqlite3.Connection, domain: int, kind: Kind, after: bytes) -> Iterator[Row]:
        """Current rows in key order; with `after` empty, all of them."""
        high, low = split_key(after.ljust(16, b"\0")[:16])
        # A key may be all zeros: nothing is less than an empty BLOB, and a key's half is never empty.
        parameters = {"domain": domain, "kind": int(kind), "high": high, "low": low if after else b""}
        yield from connection.execute(_SQL["scan"], parameters)

    def of_domain(self, domain: int, table: str = "page") -> Iterator[Row]:
        yield from self._connection.execute(_SQL["of_domain"].format(table=table), (domain,))

    def head(self, row: Row) -> PageHead:
        """The head that a row holds."""
        (_, domain, kind, high, low, content, status, size, validated, fetched, seen, changed, requested) = (
            row[:13]
        )
        text = self._domains.heads[row[13]].decompress(row[14])
        url, final, run_id, depth, encoding, source, verdict, verdict_version, note, vary, headers = _decode(
            text.decode("ascii")
        )
        return PageHead(
            (high + (1 << 63)).to_bytes(8) + low,
            url,
            self._domains.name(domain),
            _KINDS[kind],
            status,
            decode_pairs(headers),
            content,
            size,
            fetched,
            validated,
            fetched if seen is None else seen,
            fetched if changed is None else changed,
            url if final == 0 else final,
            run_id,
            depth,
            decode_pairs(vary) if vary else (),
            requested,
            encoding,
            source,
            verdict,
            verdict_version,
            note,
        )

    def columns(
        self,
        head: PageHead,
        fields: bytes,
        domain: int,
        head_dictionary: int,
        first_seen_at: float,
        changed_at: float,
    ) -> Row:
        """A head as the columns of its row, without `id`."""
        fetched = head.fetched_at
        return (
            domain,
            int(head.kind),
            *split_key(head.key),
            head.content_hash,
            head.status,
            head.body_bytes,
            head.validated_at,
            fetched,
            None if first_seen_at == fetched else first_seen_at,
            None if changed_at == fetched else changed_at,
            head.requested_at,
            head_dictionary,
            self._domains.heads[head_dictionary].compress(fields),
        )

    def insert(self, rows: Iterable[Row], table: str = "page") -> None:
        self._connection.executemany(_SQL["insert"].format(table=table), rows)

    def replace(self, row_id: int, columns: Row) -> None:
        self._connection.execute(_SQL["replace"], (*columns, row_id))

    def touch(self, rows: Iterable[Row]) -> None:
        """Overwrite current rows that have the same key, kind and body."""
        self._connection.executemany(_SQL["touch"], ((*row, row[2], row[1], row[3], row[4]) for row in rows))

    def archive(self, row: Row, keep: int) -> None:
        """Copy a current row to the older versions, of which the newest `keep` stay."""
        if keep:
            self._connection.execute(_SQL["archive"], (row[0],))
        self._connection.execute(_SQL["trim"], (row[3], row[2], row[4], keep))

    def trim(self, domain: int, keep: int) -> int:
        """Delete the older versions of a domain beyond `keep` a URL; returns how many."""
        return self._connection.execute(_SQL["trim_domain"], {"domain": domain, "keep": keep}).rowcount

    def delete(self, row_id: int, table: str = "page") -> None:
        self._connection.execute(f"DELETE FROM {table} WHERE id = ?", (row_id,))


def row_key(row: Row) -> bytes:
    """The key that a row is about."""
    return bytes((row[3] + (1 << 63)).to_bytes(8) + row[4])
