"""The SQLite file: opening it, its schema version, transactions, and errors that say what to do.

Guarantees: a `durable` transaction has been synced to the disk when it returns (WAL, synchronous=FULL: it
survives power loss); any other survives the death of the process and loses, on power loss, only what
nobody needs then (leases and signs of life of workers that died with the machine). Writers of all
processes queue on SQLite's lock for up to `busy_s`; readers never wait.

Costs: memory is bounded by `cache_mb` per connection whatever the size of the file.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

from resources.frontier.base import FrontierError, FrontierFull

__all__ = ["SCHEMA_VERSION", "Database"]

#: Stored in `PRAGMA user_version`; raise it with every change of schema.sql.
SCHEMA_VERSION = 2

#: "NCFR": marks the file as a frontier, so that somebody else's database is refused, not written into.
APPLICATION_ID = 0x4E434652

#: Half a minute: longer than any transaction of ours takes, shorter than a lease.
BUSY_S = 30.0

#: Holds the hot ends of the tables and the inner pages of the indexes at ten million URLs.
CACHE_MB = 64

#: Pages of 4 KiB in the WAL before it is copied back. 16 MiB: most pages are written many times in it.
CHECKPOINT_PAGES = 4096


class Database:
    """One connection to the frontier's file. Used by one thread at a time."""

    def __init__(self, path: Path, *, busy_s: float = BUSY_S, cache_mb: int = CACHE_MB) -> None:
        self.path = path.absolute()
        self.busy_s = busy_s
        self._synchronous = "FULL"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FrontierError(
                f"frontier {path}: cannot create its folder: {error.strerror}; "
                "name a folder that can be written to"
            ) from error
        with self.explained():
            self.connection = sqlite3.connect(
                path, timeout=busy_s, isolation_level=None, check_same_thread=False, cached_statements=512
            )
            try:
                self._prepare(cache_mb)
            except BaseException:
                self.connection.close()
                raise

    def __repr__(self) -> str:
        return f"<Database {self.path}>"

    def _prepare(self, cache_mb: int) -> None:
        run = self.connection.execute
        run(f"PRAGMA cache_size = {-cache_mb * 1024}")
        run("BEGIN")  # one view of the three: another process may be creating the schema right now
        (version,) = run("PRAGMA user_version").fetchone()
        (application,) = run("PRAGMA application_id").fetchone()
        (objects,) = run("SELECT count(*) FROM sqlite_schema").fetchone()
        run("COMMIT")
        # 1. written by a newer Nightcrawl; 2. somebody else's file; 3. empty: ours to fill; 4. ours.
        if application == APPLICATION_ID and version > SCHEMA_VERSION:
            raise FrontierError(
                f"frontier {self.path}: its schema version {version} is newer than this program's "
                f"{SCHEMA_VERSION}; upgrade Nightcrawl, or name another file"
            )
        if objects and application != APPLICATION_ID:
            raise FrontierError(
                f"frontier {self.path}: this is a database of some other program; name another file"
            )
        if not objects:
            run("PRAGMA journal_mode = WAL")
            self._create()
        elif version < SCHEMA_VERSION:
            self._upgrade()
        run(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        run("PRAGMA journal_size_limit = 67108864")  # a WAL blown up by a long reader shrinks again
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
            self.rollback()
            raise

    def _upgrade(self) -> None:
        """From version 1, whose keys were in a table: they are in a file now, which is made from the rows."""
        run = self.connection.execute
        run("BEGIN IMMEDIATE")
        try:
            if run("PRAGMA user_version").fetchone() == (1,):
                text = resources.files(__package__).joinpath("upgrade_to_2.sql").read_text(encoding="utf-8")
                for statement in _split(text):
                    run(statement)
                run(f"PRAGMA user_version = {SCHEMA_VERSION}")
            run("COMMIT")
        except BaseException:
            self.rollback()
            raise

    @contextmanager
    def write(self, *, durable: bool) -> Iterator[sqlite3.Connection]:
        """One write transaction: all of it or, on any exception, nothing of it."""
        with self.explained():
            self._set_synchronous("FULL" if durable else "NORMAL")
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                self.rollback()
                raise

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """One consistent view over several statements."""
        with self.explained():
            self.connection.execute("BEGIN")
            try:
                yield self.connection
            finally:
                self.rollback()

    @contextmanager
    def snapshot(self, cache_mb: int = 8) -> Iterator[sqlite3.Connection]:
        """A connection of its own for a long read, which this one's writes neither disturb nor wait for."""
        with self.explained():
            connection = sqlite3.connect(self.path, timeout=self.busy_s, isolation_level=None)
            try:
                connection.execute(f"PRAGMA cache_size = {-cache_mb * 1024}")
                connection.execute("BEGIN")
                yield connection
            finally:
                connection.close()

    def rollback(self) -> None:
        # SQLite itself rolls back on some errors (disk full): then there is nothing left to do.
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def close(self) -> None:
        with self.explained():
            self.connection.close()

    def _set_synchronous(self, mode: str) -> None:
        if mode != self._synchronous:
            self.connection.execute(f"PRAGMA synchronous = {mode}")
            self._synchronous = mode

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn SQLite's errors into ours: where, what, and what to do."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._explain(error) from error

    def _explain(self, error: sqlite3.Error) -> FrontierError:
        # The low byte is the primary code, the rest says where it arose (sqlite.org/rescode.html).
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        where = f"frontier {self.path}"
        if code == sqlite3.SQLITE_FULL:
            return FrontierFull(f"{where}: the disk is full; nothing was lost: make room and go on")
        if code == sqlite3.SQLITE_BUSY:
            return FrontierError(
                f"{where}: another process has held its lock for more than {self.busy_s:g} s; "
                "find it (fuser on the file), stop it, and run again"
            )
        advice = {
            sqlite3.SQLITE_NOTADB: "this is not a SQLite database; name another file",
            sqlite3.SQLITE_CORRUPT: "the file is damaged; restore it from a backup, or move it away and start anew",
            sqlite3.SQLITE_READONLY: "the file cannot be written; check its owner, its mode and the mount",
            sqlite3.SQLITE_CANTOPEN: "the file cannot be opened; check the path, its owner and its mode",
            sqlite3.SQLITE_PERM: "access was denied; check its owner and its mode",
            sqlite3.SQLITE_IOERR: "reading or writing failed; check the disk and the system log, then run again",
        }.get(code, "the statement failed")
        return FrontierError(f"{where}: {advice} (SQLite: {error})")


def _split(script: str) -> Iterator[str]:
    """The statements of a script. (`executescript` would commit the transaction we are in.)"""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
