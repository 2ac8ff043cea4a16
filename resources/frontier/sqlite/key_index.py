"""From a URL's key to its row: the exact answer to "have we met this URL?".

Guarantee: an answer is never probabilistic; what is remembered in memory is only ever a positive answer,
and is dropped when any process forgets rows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Container, Iterable, Sequence

__all__ = ["KeyIndex"]

#: Keys per lookup statement; fewer, larger statements cost less per key.
_CHUNK = 256
_IN = {n: f"SELECT key, id FROM url_key WHERE key IN ({','.join('?' * n)})" for n in (1, 16, _CHUNK)}


class KeyIndex:
    """Keys and row ids of all URLs."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def find(self, keys: Sequence[bytes]) -> dict[bytes, int]:
        """The row ids of those keys that have a row."""
        found: dict[bytes, int] = {}
        for start in range(0, len(keys), _CHUNK):
            chunk = keys[start : start + _CHUNK]
            size = next(n for n in _IN if n >= len(chunk))
            padded = (*chunk, *[chunk[0]] * (size - len(chunk)))
            found.update(self._connection.execute(_IN[size], padded))
        return found

    def remembers(self) -> Container[bytes]:
        """Keys known for sure without asking the database. Within a transaction."""
        return frozenset()

    def add(self, rows: Iterable[tuple[bytes, int]]) -> None:
        """Remember new rows (key, id), within the transaction that writes them."""
        self._connection.executemany("INSERT INTO url_key VALUES (?, ?)", rows)

    def forget(self, rows: Iterable[tuple[bytes, int]]) -> None:
        """Rows are deleted in this transaction."""
        self._connection.executemany("DELETE FROM url_key WHERE key = ?", ((key,) for key, _ in rows))

    def committed(self) -> None: ...

    def rolled_back(self) -> None: ...
