"""The frontier's SQLite file (`resources.sqlite_file`), with transactions that need not wait for the disk.

Guarantees: a `durable` transaction has been synced to the disk when it returns; any other survives the death of the
process and loses, on power loss, only what nobody needs then (leases and signs of life of workers that died with
the machine).

Costs: memory is bounded by `cache_mb` per connection whatever the size of the file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from resources.frontier.base import FrontierError, FrontierFull
from resources.sqlite_file import BUSY_S, SqliteFile

__all__ = ["Database"]


class Database(SqliteFile):
    """One connection to the frontier's file. Used by one thread at a time."""

    what = "frontier"
    schema_version = 2
    application_id = 0x4E434652  # "NCFR"
    failure, full = FrontierError, FrontierFull
    #: Holds the hot ends of the tables and the inner pages of the indexes at ten million URLs (some 10 MB): there, 32 and
    #: 64 MB make nothing cheaper. A crawl fills any cache in the end, so more would only be more memory.
    cache_mb = 12
    statements_kept = 512

    def __init__(self, path: Path, *, busy_s: float = BUSY_S) -> None:
        self._synchronous = "FULL"
        super().__init__(path.absolute(), busy_s=busy_s)

    def schema(self) -> str:
        return _text("schema.sql")

    def upgrade(self, version: int) -> None:
        """From version 1, whose keys were in a table: they are in a file now, which is made from the rows."""
        self.run_script(_text("upgrade_to_2.sql"))

    @contextmanager
    def write(self, *, durable: bool) -> Iterator[sqlite3.Connection]:
        """One write transaction: all of it or, on any exception, nothing of it."""
        mode = "FULL" if durable else "NORMAL"
        if mode != self._synchronous:
            with self.explained():
                self.connection.execute(f"PRAGMA synchronous = {mode}")
            self._synchronous = mode
        with self.writing() as connection:
            yield connection


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
