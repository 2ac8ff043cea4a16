"""Old events of Dagster's SQLite event log, forgotten: otherwise it grows by some 200 kB a domain and night, for ever.

Once a run ended more than `kept_days` ago, its own log is deleted (the file of its shard), and so are those of its
events in the log of all runs that a later one has replaced: the same kind of event about the same partition of the same
asset, with the same tags, or a later record of the same check. So what every page, sensor and condition calls the
latest (materialization, observation, plan and failure, data version, check result) stays, however old, with its
metadata; plots and lists of events begin `kept_days` ago. The run itself stays in the list of runs, without its events.

Events without a run (what sensors observe, check results that somebody reports) go by their own age, the same way; they
have one log of their own, in which nothing that is shown is looked up, and what is old in it goes too.

Runs that only ask canaries come a hundred a day: they are forgotten after `AT_LEAST_DAYS`, or they would be most of the
log. A run that has not ended is never touched. It is safe to be killed at any moment and to run in several processes: the
shard goes last, and while it is there the run is looked at again. Each write is a short transaction. Other event logs
(PostgreSQL) are left as they are.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.storage.event_log import SqliteEventLogStorage
from sqlalchemy import DateTime, TextClause, bindparam, text
from sqlalchemy.engine import Connection

__all__ = ["KEPT_DAYS", "Forgotten", "forget_run", "forget_runless", "forgettable_runs", "kept_days"]

#: A quarter: the plots of a weekly or monthly site still show several points.
KEPT_DAYS = 90.0
#: A night, its morning after and a week-end: reports, alerts and retries read the events of runs this young.
AT_LEAST_DAYS = 7.0
#: Rows deleted in one transaction: a few dozen milliseconds, which no writer of a night notices.
AT_ONCE = 500
#: Runs looked up at once.
LOOKED_UP = 100
_DAY_S = 86_400.0

#: What Dagster writes for the run of an event without one: observations of sensors, results that people report.
NO_RUN = ""

# The newest row of all stays whatever it is: SQLite would give its number again, and cursors go by numbers.
_REPLACED_EVENTS = """
    SELECT e.id FROM event_logs e
    WHERE e.run_id = :run_id AND e.id < (SELECT max(id) FROM event_logs) AND (
      e.asset_key IS NULL
      OR EXISTS (
        SELECT 1 FROM event_logs n
        WHERE n.asset_key = e.asset_key AND n.dagster_event_type = e.dagster_event_type
          AND n.partition IS e.partition AND n.id > e.id)
      AND NOT EXISTS (
        SELECT 1 FROM asset_event_tags t
        WHERE t.event_id = e.id AND NOT EXISTS (
          SELECT 1 FROM event_logs n JOIN asset_event_tags m ON m.event_id = n.id AND m.key = t.key
          WHERE n.asset_key = e.asset_key AND n.dagster_event_type = e.dagster_event_type
            AND n.partition IS e.partition AND n.id > e.id)))
"""
# A result is replaced by a result only: a later plan that came to nothing leaves it the last there is.
_REPLACED_CHECKS = """
    SELECT e.id FROM asset_check_executions e
    WHERE e.run_id = :run_id AND e.id < (SELECT max(id) FROM asset_check_executions) AND EXISTS (
      SELECT 1 FROM asset_check_executions n
      WHERE n.asset_key = e.asset_key AND n.check_name = e.check_name AND n.partition IS e.partition
        AND n.id > e.id AND (e.execution_status = 'PLANNED' OR n.execution_status <> 'PLANNED'))
"""
_OF_RUN = text(_REPLACED_EVENTS), text(_REPLACED_CHECKS)
# Both columns have UTC without saying so.
_BEFORE = bindparam("before", type_=DateTime)
_RUNLESS = (
    text(f"{_REPLACED_EVENTS} AND e.timestamp < :before").bindparams(_BEFORE),
    text(f"{_REPLACED_CHECKS} AND e.evaluation_event_timestamp < :before").bindparams(_BEFORE),
)
_RUNLESS_LOG = text(
    "SELECT id FROM event_logs WHERE timestamp < :before AND id < (SELECT max(id) FROM event_logs)"
).bindparams(_BEFORE)


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What went with one run: rows of the log of all runs, and bytes of the run's own log."""

    run_id: str
    rows: int
    freed: int


def kept_days(environ: Mapping[str, str] | None = None) -> float | None:
    """For how many days events are kept: NIGHTCRAWL_EVENT_DAYS, else 90; None for ever (0). ValueError if it is none."""
    given = (os.environ if environ is None else environ).get("NIGHTCRAWL_EVENT_DAYS", "").strip()
    try:
        days = float(given) if given else KEPT_DAYS
    except ValueError:
        days = -1.0
    if days == 0:
        return None
    if not AT_LEAST_DAYS <= days < float("inf"):
        raise ValueError(
            f"NIGHTCRAWL_EVENT_DAYS={given!r}: give a number of days, {AT_LEAST_DAYS:g} at least, or 0 to keep all events"
        )
    return days


def forgettable_runs(instance: dg.DagsterInstance, days: float, now: float | None = None) -> list[str]:
    """Runs that ended more than `days` ago, or a week ago if they only asked canaries, and still have a log of their own,
    the oldest first. Costs a look at each file of the event log, and at the records of runs older than a week."""
    storage = instance.event_log_storage
    if not isinstance(storage, SqliteEventLogStorage):
        return []
    today = time.time() if now is None else now
    old = [run_id for _, run_id in sorted(_old_shards(storage, today - min(days, AT_LEAST_DAYS) * _DAY_S))]
    ended: set[str] = set()
    for at in range(0, len(old), LOOKED_UP):
        for record in instance.get_run_records(dg.RunsFilter(run_ids=old[at : at + LOOKED_UP])):
            only_canaries = record.dagster_run.tags.get("nightcrawl/kind") == "canaries"
            before = today - (min(days, AT_LEAST_DAYS) if only_canaries else days) * _DAY_S
            when = record.end_time or record.update_timestamp.timestamp()
            if record.dagster_run.is_finished and when < before:
                ended.add(record.dagster_run.run_id)
    return [run_id for run_id in old if run_id in ended]


def _old_shards(storage: SqliteEventLogStorage, before: float) -> Iterator[tuple[float, str]]:
    for run_id in storage.get_all_run_ids():
        with suppress(FileNotFoundError):  # another process was quicker
            written = Path(storage.path_for_shard(run_id)).stat().st_mtime
            if written < before:
                yield written, run_id


def forget_run(instance: dg.DagsterInstance, run_id: str) -> Forgotten:
    """Forget what the module docstring says of one run that `forgettable_runs` named. Some 0.2 s for 250 domains."""
    storage = instance.event_log_storage
    if not isinstance(storage, SqliteEventLogStorage):
        raise TypeError(f"{type(storage).__name__} has no log for each run")
    rows = _forget_replaced(storage, _OF_RUN, {"run_id": run_id})
    freed = 0
    shard = Path(storage.path_for_shard(run_id))
    for file in (shard.with_name(shard.name + "-wal"), shard.with_name(shard.name + "-shm"), shard):
        with suppress(FileNotFoundError):
            size = file.stat().st_size
            file.unlink()
            freed += size
    storage._initialized_dbs.discard(run_id)  # so that whoever opens the run's page here finds an empty log
    return Forgotten(run_id, rows, freed)


def forget_runless(instance: dg.DagsterInstance, days: float, now: float | None = None) -> int:
    """Forget the events without a run that are older than `days` and replaced, and what their own log has of that time;
    how many rows went. Some milliseconds where nothing is old."""
    storage = instance.event_log_storage
    if not isinstance(storage, SqliteEventLogStorage):
        return 0
    then = (time.time() if now is None else now) - days * _DAY_S
    before = datetime.fromtimestamp(then, UTC).replace(tzinfo=None)
    rows = _forget_replaced(storage, _RUNLESS, {"run_id": NO_RUN, "before": before})
    if not Path(storage.path_for_shard(NO_RUN)).exists():  # to look would make it
        return rows

    def own() -> AbstractContextManager[Connection]:
        return storage._connect(NO_RUN)

    with own() as connection:
        old = _ids(connection, _RUNLESS_LOG, {"before": before})
    _delete(own, old, "event_logs", "id")
    return rows + len(old)


def _forget_replaced(
    storage: SqliteEventLogStorage, queries: tuple[TextClause, TextClause], parameters: Mapping[str, Any]
) -> int:
    """Events and check results of the log of all runs that the queries name; how many rows went."""
    index = storage.index_connection
    with index() as connection:
        events, checks = (_ids(connection, query, parameters) for query in queries)
    _delete(index, events, "asset_event_tags", "event_id")
    _delete(index, events, "event_logs", "id")
    _delete(index, checks, "asset_check_executions", "id")
    return len(events) + len(checks)


def _ids(connection: Connection, query: TextClause, parameters: Mapping[str, Any]) -> list[int]:
    return [int(row[0]) for row in connection.execute(query, parameters)]


def _delete(
    connect: Callable[[], AbstractContextManager[Connection]], ids: Sequence[int], table: str, column: str
) -> None:
    statement = text(f"DELETE FROM {table} WHERE {column} IN :ids").bindparams(
        bindparam("ids", expanding=True)
    )
    for at in range(0, len(ids), AT_ONCE):
        with connect() as connection:
            connection.execute(statement, {"ids": list(ids[at : at + AT_ONCE])})
