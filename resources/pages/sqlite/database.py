"""The page store's SQLite file (`resources.sqlite_file`), which gives room back that it does not need any more.

Costs: memory is bounded by `cache_mb` per connection whatever the size of the file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources

from resources.pages.base import PageStoreError
from resources.sqlite_file import BUSY_S, SqliteFile

__all__ = ["BUSY_S", "Database"]

#: Unused room that stays in the file, to be written to next: a fiftieth of it, and 256 KiB in any case.
FREE_SHARE = 0.02
FREE_PAGES = 64

#: Pages moved in one transaction: 8 MiB.
GIVE_BACK_PAGES = 2048


class Database(SqliteFile):
    """A connection to the page store's file. Used by one thread at a time."""

    what = "page store"
    schema_version = 2
    application_id = 0x4E435047  # "NCPG"
    failure, full = PageStoreError, PageStoreError
    #: Holds the inner pages of the indexes at millions of pages; bodies are read once and need no cache. (A crawl fills
    #: any cache with what it writes: 2 MB for each 1,000 pages.)
    cache_mb = 8
    statements_kept = 256

    def schema(self) -> str:
        return _text("schema.sql")

    def upgrade(self, version: int) -> None:
        """From version 1, where each body was compressed alone. Takes no time: no body is touched. (`maintain` puts
        them together.)"""
        if version != 1:
            super().upgrade(version)
        self.run_script(_text("upgrade_to_2.sql"))

    def before_the_first_page(self) -> None:
        """Lets `give_back` shorten the file. Costs nothing measurable."""
        self.connection.execute("PRAGMA auto_vacuum = INCREMENTAL")

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One durable write transaction: all of it or, on any exception, nothing of it."""
        with self.writing() as connection:
            yield connection

    def give_back(self) -> None:
        """Shorten the file if much of it is unused, a piece a transaction: others get their turn."""
        with self.explained():
            before = None
            while True:
                (free,) = self.connection.execute("PRAGMA freelist_count").fetchone()
                (pages,) = self.connection.execute("PRAGMA page_count").fetchone()
                # No progress: somebody has copied the file into one that cannot be shortened.
                if free <= max(FREE_PAGES, pages * FREE_SHARE) or free == before:
                    return
                before = free
                # Not `execute`: this statement yields no row and a step a page, and Python takes only one.
                self.connection.executescript(f"PRAGMA incremental_vacuum({GIVE_BACK_PAGES})")


def _text(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
