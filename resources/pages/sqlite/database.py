"""The page store's SQLite file: opening it, its schema version, transactions, errors that say what to do.

Guarantees: a write transaction has been synced to the disk when it returns (WAL, synchronous=FULL: it
survives power loss). Writers of all processes queue on SQLite's lock for up to `busy_s`; readers never
wait, and see one consistent state for as long as they read.

Costs: memory is bounded by CACHE_MB per connection whatever the size of the file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from resources.pages.base import PageStoreError

__all__ = ["SCHEMA_VERSION", "Database"]

#: Stored in `PRAGMA user_version`; raise it with every change of schema.sql.
SCHEMA_VERSION = 1

#: "NCPG": marks the file as a page store, so that somebody else's database is refused, not written into.
APPLICATION_ID = 0x4E435047

#: Half a minute: longer than any transaction of ours takes, shorter than a lease.
BUSY_S = 30.0

#: Holds the inner pages of the indexes at millions of pages; bodies are read once and need no cache.
CACHE_MB = 32

#: Pages of 4 KiB in the WAL before it is copied back: 16 MiB, some thousand pages of a crawl.
CHECKPOINT_PAGES = 4096

#: Unused room that stays in the file, to be written to next: a fiftieth of it, and 256 KiB in any case.
FREE_SHARE = 0.02
FREE_PAGES = 64

#: Pages moved in one transaction: 8 MiB.
GIVE_BACK_PAGES = 2048

#: A WAL blown up by a long reader shrinks to this when it is reset.
WAL_BYTES = 64 * 1024 * 1024


class Database:
    """A connection to the page store's file. Used by one thread at a time."""

    def __init__(self, path: Path, *, read_only: bool = False, busy_s: float = BUSY_S) -> None:
        self.path = path
        self.read_only = read_only
        self.busy_s = busy_s
        if read_only and not path.exists():
            raise PageStoreError(f"page store {path}: there is no such file; crawl first, or name another")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise PageStoreError(
                f"page store {path}: cannot create its folder: {error.strerror}; "
                "name a folder that can be written to"
            ) from error
        with self.explained():
            self.connection = self._connect()
            try:
                self._prepare()
            except BaseException:
                self.connection.close()
                raise

    def __repr__(self) -> str:
        return f"<Database {self.path}{' read-only' if self.read_only else ''}>"

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path,
            timeout=self.busy_s,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        connection.execute(f"PRAGMA cache_size = {-CACHE_MB * 1024}")
        return connection

    def _prepare(self) -> None:
        run = self.connection.execute
        (version,) = run("PRAGMA user_version").fetchone()
        (application,) = run("PRAGMA application_id").fetchone()
        (objects,) = run("SELECT count(*) FROM sqlite_schema").fetchone()
        # 1. written by a newer Nightcrawl; 2. somebody else's file; 3. empty: ours to fill; 4. ours.
        if application == APPLICATION_ID and version > SCHEMA_VERSION:
            raise PageStoreError(
                f"page store {self.path}: its schema version {version} is newer than this program's "
                f"{SCHEMA_VERSION}; upgrade Nightcrawl, or name another file"
            )
        if objects and application != APPLICATION_ID:
            raise PageStoreError(
                f"page store {self.path}: this is a database of some other program; name another file"
            )
        if not objects:
            if self.read_only:
                raise PageStoreError(
                    f"page store {self.path}: the file is empty; crawl first, or name another"
                )
            # Before the first page is written: lets `give_back` shorten the file. Costs nothing measurable.
            run("PRAGMA auto_vacuum = INCREMENTAL")
            run("PRAGMA journal_mode = WAL")
            self._create()
        if self.read_only:
            run("PRAGMA query_only = ON")
            return
        run(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        run(f"PRAGMA journal_size_limit = {WAL_BYTES}")
        run("PRAGMA synchronous = FULL")

    def _create(self) -> None:
        """Write the schema; of several processes that start at once, the first one does."""
        run = self.connection.execute
        run("BEGIN IMMEDIATE")
        try:
            if run("SELECT count(*) FROM sqlite_schema").fetchone() == (0,):
                text = resources.files(__package__).joinpath("schema.sql").read_text(encoding="utf-8")
                for statement in _split(text):
                    run(statement)
                run(f"PRAGMA application_id = {APPLICATION_ID}")
                run(f"PRAGMA user_version = {SCHEMA_VERSION}")
            run("COMMIT")
        except BaseException:
            self._rollback(self.connection)
            raise

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One durable write transaction: all of it or, on any exception, nothing of it."""
        with self.explained():
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                self._rollback(self.connection)
                raise

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """One consistent view over several statements."""
        with self.explained():
            self.connection.execute("BEGIN")
            try:
                yield self.connection
            finally:
                self._rollback(self.connection)

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """A connection of its own for a long read, which this one's writes neither disturb nor wait for."""
        with self.explained():
            connection = self._connect()
            try:
                connection.execute("PRAGMA query_only = ON")
                connection.execute("BEGIN")
                yield connection
            finally:
                connection.close()

    def give_back(self) -> None:
        """Shorten the file if much of it is unused, a piece a transaction: others get their turn."""
        with self.explained():
            while True:
                (free,) = self.connection.execute("PRAGMA freelist_count").fetchone()
                (pages,) = self.connection.execute("PRAGMA page_count").fetchone()
                if free <= max(FREE_PAGES, pages * FREE_SHARE):
                    return
                # Not `execute`: this statement yields no row and a step a page, and Python takes only one.
                self.connection.executescript(f"PRAGMA incremental_vacuum({GIVE_BACK_PAGES})")

    @staticmethod
    def _rollback(connection: sqlite3.Connection) -> None:
        # SQLite itself rolls back on some errors (disk full): then there is nothing left to do.
        if connection.in_transaction:
            connection.execute("ROLLBACK")

    def close(self) -> None:
        with self.explained():
            self.connection.close()

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn SQLite's errors into ours: where, what, and what to do."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._explain(error) from error

    def _explain(self, error: sqlite3.Error) -> PageStoreError:
        # The low byte is the primary code, the rest says where it arose (sqlite.org/rescode.html).
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        advice = {
            sqlite3.SQLITE_FULL: "the disk is full; nothing was lost: make room and go on",
            sqlite3.SQLITE_BUSY: f"another process has held its lock for more than {self.busy_s:g} s; "
            "find it (fuser on the file), stop it, and run again",
            sqlite3.SQLITE_NOTADB: "this is not a SQLite database; name another file",
            sqlite3.SQLITE_CORRUPT: "the file is damaged; restore a backup, or move it away and crawl anew",
            sqlite3.SQLITE_READONLY: "the file cannot be written; check its owner, its mode and the mount, "
            "and that it was not opened read-only",
            sqlite3.SQLITE_CANTOPEN: "the file cannot be opened; check the path, its owner and its mode",
            sqlite3.SQLITE_PERM: "access was denied; check its owner and its mode",
            sqlite3.SQLITE_IOERR: "reading or writing failed; check the disk and the system log, then run again",
        }.get(code, "the statement failed")
        return PageStoreError(f"page store {self.path}: {advice} (SQLite: {error})")


def _split(script: str) -> Iterator[str]:
    """The statements of a script. (`executescript` would commit the transaction we are in.)"""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
