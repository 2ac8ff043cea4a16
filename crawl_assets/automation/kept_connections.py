"""Dagster's SQLite databases with connections that stay open.

Dagster makes an engine for every query, compiles the statement anew, opens the file, and closes it again; the last to
close folds the write-ahead log back and waits for the disk. A page of the UI asks a hundred queries, and the daemon and
the code server ask all day. Here each process keeps an engine and up to `KEPT` connections per database: a query costs a
tenth to a third. Transactions are as they were. Two threads that read need not wait for each other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage
from dagster._core.storage.schedules.sqlite.sqlite_schedule_storage import SqliteScheduleStorage
from dagster._serdes import ConfigurableClassData
from sqlalchemy import create_engine
from sqlalchemy.engine import Connection, Engine, make_url

__all__ = ["KeptConnections", "KeptRuns", "KeptSchedules"]

#: Connections that stay open, to each database: more are opened when more threads ask at once, and closed again. Each
#: may hold 2 MB of pages.
KEPT = 2
#: As long as Dagster waits for another process's write to its event log. For its other databases it gives up after 5.
BUSY_S = 30.0


class KeptConnections:
    """Connections to the SQLite database of `url`."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._path = Path(make_url(url).database or "")
        self._lock = Lock()
        self._open: tuple[int, int, Engine] | None = None

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        """A connection with a transaction: committed when the block is left, rolled back when it raises."""
        with self._engine().begin() as connection:
            yield connection

    def close(self) -> None:
        """Those that are in use are closed when they come back."""
        with self._lock:
            if self._open is not None:
                self._open[2].dispose()
                self._open = None

    def _engine(self) -> Engine:
        with self._lock:
            file = 0
            with suppress(FileNotFoundError):  # there is none yet: it is made by the first connection
                file = self._path.stat().st_ino
            here = file, os.getpid()
            if self._open is None or self._open[:2] != here:  # deleted and made anew, or a forked process
                if self._open is not None:
                    self._open[2].dispose(close=self._open[1] == os.getpid())
                engine = create_engine(
                    self._url,
                    pool_size=KEPT,
                    max_overflow=-1,
                    pool_use_lifo=True,
                    connect_args={"timeout": BUSY_S},
                )
                self._open = *here, engine
            return self._open[2]


class KeptRuns(SqliteRunStorage):
    """Dagster's run storage."""

    def __init__(self, conn_string: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._kept = KeptConnections(conn_string)
        super().__init__(conn_string, inst_data)

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """See KeptConnections.begin."""
        with self._kept.begin() as connection:
            yield connection

    def dispose(self) -> None:
        self._kept.close()
        super().dispose()


class KeptSchedules(SqliteScheduleStorage):
    """Dagster's storage of schedules, sensors and their ticks."""

    def __init__(self, conn_string: str, inst_data: ConfigurableClassData | None = None) -> None:
        self._kept = KeptConnections(conn_string)
        super().__init__(conn_string, inst_data)

    @classmethod
    def from_local(cls, base_dir: str, inst_data: ConfigurableClassData | None = None) -> KeptSchedules:
        made = super().from_local(base_dir, inst_data)
        assert isinstance(made, KeptSchedules)  # Dagster makes one of `cls`
        return made

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """See KeptConnections.begin."""
        with self._kept.begin() as connection:
            yield connection

    def dispose(self) -> None:
        self._kept.close()
        super().dispose()
