"""Makes writing to Dagster's SQLite event log cheap while a night runs: from some 11 ms an event to about 1.

Dagster opens up to three databases for every event, each with a new engine that compiles its statements anew, and
closes them again. Each commit waits for the disk, and each close, being the last connection, folds the write-ahead log
back and waits for the disk again. A night over thousands of domains writes tens of events for each. So, for the
process of the run and while it lasts,

* one engine and one connection per database stay open: the run's own and the one all runs share. Transactions are
  those of Dagster, under Dagster's own lock; what it does with other databases is as it was;
* commits do not wait for the disk (`synchronous=NORMAL`). In WAL mode that cannot damage the database; a power cut,
  not a kill, may take the last events with it. What was fetched is in the frontier and the page store, which do wait.

Other event logs (PostgreSQL, in memory) are left as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import lru_cache, partial

import dagster as dg
from dagster._core.storage.event_log import SqliteEventLogStorage
from sqlalchemy import create_engine, text
from sqlalchemy.engine import Connection

__all__ = ["cheap_events"]

#: The shard of the SQLite event log that all runs share.
INDEX = "index"
#: As long as Dagster itself waits for another process's write.
BUSY_S = 30.0

Connect = Callable[[str], AbstractContextManager[Connection]]


@contextmanager
def cheap_events(instance: dg.DagsterInstance, run_id: str) -> Iterator[None]:
    """See the module docstring; everything is as before when the block is left."""
    storage = instance.event_log_storage
    if not isinstance(storage, SqliteEventLogStorage):
        yield
        return
    as_before: Connect = storage._connect
    with ExitStack() as stack:
        held: dict[str, Connection] = {}
        for shard in (run_id, INDEX):
            with as_before(shard):  # makes the database where there is none yet
                pass
            engine = create_engine(storage.conn_string_for_shard(shard), connect_args={"timeout": BUSY_S})
            stack.callback(engine.dispose)
            held[shard] = stack.enter_context(engine.connect())
            held[shard].execute(text("PRAGMA synchronous=NORMAL"))
            held[shard].rollback()
        # The instance's attribute hides the method of its class until the block is left.
        vars(storage)["_connect"] = partial(_connect, storage, held, as_before)
        stack.callback(vars(storage).pop, "_connect")
        # Asked for every event, with an engine of its own each time; tables do not come and go under a running process.
        vars(storage)["has_table"] = lru_cache(storage.has_table)
        stack.callback(vars(storage).pop, "has_table")
        yield


@contextmanager
def _connect(
    storage: SqliteEventLogStorage, held: dict[str, Connection], as_before: Connect, shard: str
) -> Iterator[Connection]:
    if shard not in held:
        with as_before(shard) as connection:
            yield connection
        return
    # Dagster holds this lock for as long as a connection of its own is open: the same one serves one thread at a time.
    with storage._db_lock, held[shard].begin():
        yield held[shard]
