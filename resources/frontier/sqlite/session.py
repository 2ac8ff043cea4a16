"""What the parts of the SQLite frontier share: the file, the interned domains, the key index, and one way
to run a transaction in which all of them change together."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from resources.frontier.sqlite.database import Database
from resources.frontier.sqlite.domains import Domains, Moves
from resources.frontier.sqlite.key_index import KeyIndex

__all__ = ["CHUNK", "Session", "Writing"]

#: Rows per transaction of the calls that may touch a whole domain: other processes get their turn.
CHUNK = 5_000

_NEXT = "UPDATE counter SET value = value + ? WHERE name = ? RETURNING value"


class Writing:
    """A write transaction that is going on."""

    __slots__ = ("connection", "moves")

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.moves = Moves()


class Session:
    """One open frontier file."""

    def __init__(self, path: Path, *, busy_s: float | None = None) -> None:
        self.database = Database(path) if busy_s is None else Database(path, busy_s=busy_s)
        self.connection = self.database.connection
        self.domains = Domains(self.connection)
        self.keys = KeyIndex(self.connection, self.database.path)

    @contextmanager
    def write(self, *, durable: bool = True) -> Iterator[Writing]:
        """Rows, counters and key index change together or not at all."""
        try:
            with self.database.write(durable=durable) as connection:
                writing = Writing(connection)
                yield writing
                writing.moves.write(connection)
        except BaseException:
            self.domains.rolled_back()
            self.keys.rolled_back()
            raise
        self.keys.committed()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One consistent view in which keys are looked up."""
        try:
            with self.database.read() as connection:
                yield connection
        finally:
            self.keys.read()

    def next_numbers(self, counter: str, count: int) -> range:
        """`count` numbers that were never given before. Within a write transaction."""
        (last,) = self.connection.execute(_NEXT, (count, counter)).fetchone()
        return range(last - count + 1, last + 1)
