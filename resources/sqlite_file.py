"""A SQLite file of ours: opening it, its schema version, transactions, and errors that say what to do.

Guarantees: WAL with synchronous=FULL: a transaction has been synced to the disk when it returns and survives power
loss. Writers of all processes queue on SQLite's lock for up to `busy_s`; readers never wait. Somebody else's
database, and one of a newer version, is refused and not written into.

What is in the file is the business of the subclass: frontier, page store.
"""

from __future__ import annotations

import sqlite3
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["BUSY_S", "SqliteFile", "use_wal"]

#: Half a minute: longer than any transaction of ours takes, shorter than a lease.
BUSY_S = 30.0

#: Pages of 4 KiB in the WAL before it is copied back: 16 MiB, in which most pages are written many times.
CHECKPOINT_PAGES = 4096

#: A WAL blown up by a long reader shrinks to this when it is reset.
WAL_BYTES = 64 * 1024 * 1024

#: Between two tries to turn a new file to WAL: it takes a few of them while another process makes the file.
TURN_S = 0.005


def use_wal(connection: sqlite3.Connection, busy_s: float) -> None:
    """Turn the file to write-ahead logging if it is not. Of processes that open a new file at once all but one are told
    that it is locked, and told so at once (SQLite does not wait for this lock): they try again for up to `busy_s`."""
    until = time.monotonic() + busy_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= until:
                raise
        time.sleep(TURN_S)


class SqliteFile(ABC):
    """One connection. Used by one thread at a time."""

    #: What the file is called in messages.
    what: str
    #: Stored in `PRAGMA user_version`; raised with every change of the schema.
    schema_version: int
    #: Stored in the file's head: marks it as one of ours, of this kind.
    application_id: int
    #: The exceptions that SQLite's errors become: any, and that of a full disk.
    failure: type[Exception]
    full: type[Exception]
    #: Memory for pages of the file, in MiB, and prepared statements that are kept.
    cache_mb: int
    statements_kept: int

    def __init__(self, path: Path, *, read_only: bool = False, busy_s: float = BUSY_S) -> None:
        self.path = path
        self.read_only = read_only
        self.busy_s = busy_s
        if read_only and not path.exists():
            raise self.failure(f"{self.what} {path}: there is no such file; crawl first, or name another")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self.failure(
                f"{self.what} {path}: cannot create its folder: {error.strerror}; "
                "name a folder that can be written to"
            ) from error
        with self.explained():
            self.connection = self._connect(self.cache_mb)
            try:
                self._prepare()
            except BaseException:
                self.connection.close()
                raise

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.path}{' read-only' if self.read_only else ''}>"

    # -- what is in it -----------------------------------------------------------------------------
    @abstractmethod
    def schema(self) -> str:
        """The script that makes an empty file one of ours."""

    def before_the_first_page(self) -> None:
        """Settings of a file that is still empty: none, unless a subclass has some."""
        return

    def upgrade(self, version: int) -> None:
        """From an older version to this one, within a transaction. Where there never was one, it is refused."""
        raise self.failure(
            f"{self.what} {self.path} says that its schema is of version {version}, which no release wrote; "
            "nothing was changed: name another file, or restore this one"
        )

    # -- opening -----------------------------------------------------------------------------------
    def _connect(self, cache_mb: int) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=self.busy_s, isolation_level=None, check_same_thread=False,
            cached_statements=self.statements_kept,
        )  # fmt: skip
        connection.execute(f"PRAGMA cache_size = {-cache_mb * 1024}")
        return connection

    def _prepare(self) -> None:
        run = self.connection.execute
        run("BEGIN")  # one view of the three: another process may be creating the schema right now
        (version,) = run("PRAGMA user_version").fetchone()
        (application,) = run("PRAGMA application_id").fetchone()
        (objects,) = run("SELECT count(*) FROM sqlite_schema").fetchone()
        run("COMMIT")
        # 1. written by a newer Nightcrawl; 2. somebody else's file; 3. empty: ours to fill; 4. ours.
        if application == self.application_id and version > self.schema_version:
            raise self.failure(
                f"{self.what} {self.path}: its schema version {version} is newer than this program's "
                f"{self.schema_version}; upgrade Nightcrawl, or name another file"
            )
        if objects and application != self.application_id:
            raise self.failure(
                f"{self.what} {self.path}: this is a database of some other program; name another file"
            )
        if not objects:
            if self.read_only:
                raise self.failure(
                    f"{self.what} {self.path}: the file is empty; crawl first, or name another"
                )
            self.before_the_first_page()
            use_wal(self.connection, self.busy_s)
        if self.read_only:
            if version < self.schema_version:
                raise self.failure(
                    f"{self.what} {self.path}: an older release wrote it (schema version {version}, this program's is "
                    f"{self.schema_version}) and it cannot be upgraded read-only; open it once for writing"
                )
            run("PRAGMA query_only = ON")
            return
        if not objects or version < self.schema_version:
            self._make_current()
        run(f"PRAGMA wal_autocheckpoint = {CHECKPOINT_PAGES}")
        run(f"PRAGMA journal_size_limit = {WAL_BYTES}")
        run("PRAGMA synchronous = FULL")

    def _make_current(self) -> None:
        """Write the schema, or upgrade it; of several processes that start at once, the first one does."""
        run = self.connection.execute
        run("BEGIN IMMEDIATE")
        try:
            (version,) = run("PRAGMA user_version").fetchone()
            if run("SELECT count(*) FROM sqlite_schema").fetchone() == (0,):
                self.run_script(self.schema())
                run(f"PRAGMA application_id = {self.application_id}")
                run(f"PRAGMA user_version = {self.schema_version}")
            elif version < self.schema_version:
                self.upgrade(version)
                run(f"PRAGMA user_version = {self.schema_version}")
            run("COMMIT")
        except BaseException:
            self.rollback()
            raise

    def run_script(self, script: str) -> None:
        """Its statements, one by one. (`executescript` would commit the transaction we are in.)"""
        statement = ""
        for line in script.splitlines(keepends=True):
            statement += line
            if sqlite3.complete_statement(statement):
                self.connection.execute(statement)
                statement = ""

    # -- transactions ------------------------------------------------------------------------------
    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One write transaction: all of it or, on any exception, nothing of it."""
        with self.explained():
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
    def snapshot(self, cache_mb: int | None = None) -> Iterator[sqlite3.Connection]:
        """A connection of its own for a long read, which this one's writes neither disturb nor wait for."""
        with self.explained():
            connection = self._connect(self.cache_mb if cache_mb is None else cache_mb)
            try:
                connection.execute("PRAGMA query_only = ON")
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

    # -- errors ------------------------------------------------------------------------------------
    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn SQLite's errors into ours: where, what, and what to do."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._explain(error) from error

    def _explain(self, error: sqlite3.Error) -> Exception:
        # The low byte is the primary code, the rest says where it arose (sqlite.org/rescode.html).
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        advice = {
            sqlite3.SQLITE_FULL: "the disk is full; nothing was lost: make room and go on",
            sqlite3.SQLITE_BUSY: f"another process has held its lock for more than {self.busy_s:g} s; "
            "find it (fuser on the file), stop it, and run again",
            sqlite3.SQLITE_NOTADB: "this is not a SQLite database; name another file",
            sqlite3.SQLITE_CORRUPT: "the file is damaged; restore it from a backup, or move it away and start anew",
            sqlite3.SQLITE_READONLY: "the file cannot be written; check its owner, its mode and the mount"
            + (", and that it was not opened read-only" if self.read_only else ""),
            sqlite3.SQLITE_CANTOPEN: "the file cannot be opened; check the path, its owner and its mode",
            sqlite3.SQLITE_PERM: "access was denied; check its owner and its mode",
            sqlite3.SQLITE_IOERR: "reading or writing failed; check the disk and the system log, then run again",
        }.get(code, "the statement failed")
        kind = self.full if code == sqlite3.SQLITE_FULL else self.failure
        return kind(f"{self.what} {self.path}: {advice} (SQLite: {error})")
