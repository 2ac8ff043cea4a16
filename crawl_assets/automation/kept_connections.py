"""Dagster's SQLite databases with connections that stay open.

Dagster makes an engine for every query, compiles the statement anew, opens the file, and closes it again; the last to
close folds the write-ahead log back and waits for the disk. A page of the UI asks a hundred queries. Every tick of a
sensor or schedule makes an instance of its own, which reads ninety scripts of migration to see that nothing is to be
migrated. Here each process keeps an engine and up to `KEPT` connections per database, for all its instances, and looks
once whether the database is as it should be: a query costs a tenth to a third, an instance a twentieth. Transactions
are as they were, and two threads that read need not wait for each other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import ClassVar, NamedTuple, Self

from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._core.storage.schedules.sqlite.sqlite_schedule_storage import SqliteScheduleStorage
from dagster._core.storage.sqlite import create_db_conn_string
from dagster._serdes import ConfigurableClassData
from sqlalchemy import create_engine
from sqlalchemy.engine import Connection, Engine, make_url

__all__ = ["KeptConnections", "KeptRuns", "KeptSchedules"]

#: Connections that stay open, to each database: more are opened when more threads ask at once, and closed again. Each
#: may hold 2 MB of pages.
KEPT = 2
#: Databases that stay open: those of two instances. Only tests have more, one after another.
DATABASES = 6
#: As long as Dagster waits for another process's write to its event log. For its other databases it gives up after 5.
BUSY_S = 30.0


class _File(NamedTuple):
    """Which file a connection belongs to: one that was deleted and made anew is another one, and so is that of a process
    that was forked."""

    inode: int
    pid: int


class _Open(NamedTuple):
    file: _File
    engine: Engine


#: What this process has open, by URL, the latest used last.
_open: dict[str, _Open] = {}
#: Databases this process has seen to have the tables of this version.
_ready: set[tuple[str, _File]] = set()
_lock = Lock()


class KeptConnections:
    """Connections to the SQLite database of `url`; those of one process are the same."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._path = Path(make_url(url).database or "")

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A connection with a transaction: committed when the block is left, rolled back when it raises."""
        with self._engine().begin() as connection:
            yield connection

    def close(self) -> None:
        """Close what no thread uses; those in use are closed when they come back. They open again when asked."""
        with _lock:
            if (found := _open.pop(self._url, None)) is not None:
                _let_go(found)

    def ready(self) -> bool:
        """Whether this process has seen that the database has the tables of this version of Dagster."""
        return (self._url, self._file()) in _ready

    def seen_ready(self) -> None:
        """Remember it."""
        _ready.add((self._url, self._file()))

    def _file(self) -> _File:
        inode = 0
        with suppress(FileNotFoundError):  # there is none yet: the first connection makes it
            inode = self._path.stat().st_ino
        return _File(inode, os.getpid())

    def _engine(self) -> Engine:
        file = self._file()
        with _lock:
            found = _open.pop(self._url, None)
            if found is not None and found.file != file:
                _let_go(found)
                found = None
            if found is None:
                engine = create_engine(
                    self._url,
                    pool_size=KEPT,
                    max_overflow=-1,
                    pool_use_lifo=True,
                    connect_args={"timeout": BUSY_S},
                )
                found = _Open(file, engine)
            _open[self._url] = found
            while len(_open) > DATABASES:
                _let_go(_open.pop(next(iter(_open))))
            return found.engine


def _let_go(one: _Open) -> None:
    # What a forked process has of its parent's is the parent's to close.
    one.engine.dispose(close=one.file.pid == os.getpid())


class _Kept:
    """Before one of Dagster's storages over one SQLite database in its bases: its connections stay open."""

    database: ClassVar[str]
    _conn_string: str  # Dagster's

    @classmethod
    def from_local(cls, base_dir: str, inst_data: ConfigurableClassData | None = None) -> Self:
        """As Dagster does, which makes the database or sees that it is as it should be; once in a process."""
        url = create_db_conn_string(base_dir, cls.database)
        kept = KeptConnections(url)
        if not kept.ready():
            super().from_local(base_dir, inst_data)  # type: ignore[misc]  # of the storage that follows
            kept.seen_ready()
        return cls(url, inst_data)  # type: ignore[call-arg]  # likewise

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """See KeptConnections.begin."""
        with self._kept.begin() as connection:
            yield connection

    @cached_property
    def _kept(self) -> KeptConnections:
        return KeptConnections(self._conn_string)


class KeptRuns(_Kept, SqliteRunStorage):
    """Dagster's run storage."""

    database = "runs"


class KeptSchedules(_Kept, SqliteScheduleStorage):
    """Dagster's storage of schedules, sensors and their ticks."""

    database = "schedules"
