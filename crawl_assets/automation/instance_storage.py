"""Dagster's SQLite storage as dagster.yaml names it: the same files and tables, with launches that take seconds.

A run over a thousand domains is announced by 8,000 planned materializations and sixteen planned checks. Dagster writes
each announcement in transactions of its own, some 15 ms, and repeats the list of all thousand domains in the row of
each domain and check, some 300 MB a run: 5,000 domains would wait half an hour for their launch. Here

* announcements of one run are one transaction in each of the two databases (`store_event_batch`);
* the row of a domain's planned check says what is planned, without the list. The event in the run's log has it;
* whether a partition exists is asked once for all of them: the page of checks asks it for each domain and check, which
  was 80,000 openings of a database after a night, and minutes of waiting for the first who looked;
* the state of checks over domains is computed by check_states.py;
* connections stay open (kept_connections.py);
* the log of a run has what is planned and told of a domain in short (run_log.py): its page would read and send megabytes.

What is read is unchanged but for the latter, and an instance can go back to `storage: {sqlite: …}` at any time. What a run itself writes
is made cheap by stages/event_log.py.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg
from dagster import AssetCheckEvaluation
from dagster._core.definitions.asset_checks.asset_check_evaluation import AssetCheckEvaluationPlanned
from dagster._core.events import ASSET_CHECK_EVENTS, ASSET_EVENTS
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus
from dagster._core.storage.asset_check_state import AssetCheckState
from dagster._core.storage.event_log import SqliteEventLogStorage
from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable, SqlEventLogStorageTable
from dagster._core.storage.event_log.sqlite.sqlite_event_log import INDEX_SHARD_NAME
from dagster._core.storage.sqlite import create_db_conn_string
from dagster._core.storage.sqlite_storage import (
    DagsterSqliteStorage,
    _event_logs_directory,
    _runs_directory,
    _schedule_directory,
)
from dagster._serdes import ConfigurableClassData, serialize_value
from sqlalchemy import bindparam
from sqlalchemy.engine import Connection

from crawl_assets.automation.check_states import CheckStates, create_index
from crawl_assets.automation.kept_connections import KeptConnections, KeptRuns, KeptSchedules
from crawl_assets.automation.run_log import Passed, in_short, planned

__all__ = ["BatchedEventLog", "NightlyStorage"]

#: Announcements written together: those of a run over a thousand domains in a few transactions, each well below the
#: half second after which other writers would notice.
TOGETHER = 2_000
#: For so many seconds the partitions are those that were read; one that is not among them is asked for.
REMEMBERED_S = 2.0
#: Dagster hands announcements over in batches of this size; 0, its default, means one by one.
BATCH_SIZE = "DAGSTER_EVENT_BATCH_SIZE"

#: Made once: SQLAlchemy takes as long to put a statement together as SQLite to execute it.
_INSERT = SqlEventLogStorageTable.insert()
_TELL = AssetCheckExecutionsTable.update().where(
    AssetCheckExecutionsTable.c.asset_key == bindparam("of_asset"),
    AssetCheckExecutionsTable.c.check_name == bindparam("of_check"),
    AssetCheckExecutionsTable.c.run_id == bindparam("of_run"),
    AssetCheckExecutionsTable.c.partition == bindparam("of_partition"),
)

_PLANNED = frozenset(
    {
        dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED,
        dg.DagsterEventType.ASSET_CHECK_EVALUATION_PLANNED,
    }
)


class BatchedEventLog(SqliteEventLogStorage):
    """See the module docstring."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        # First: where there is no log yet, it is made, and connected to, right here.
        self._kept = KeptConnections(create_db_conn_string(str(Path(base_dir).absolute()), INDEX_SHARD_NAME))
        super().__init__(base_dir, inst_data)
        os.environ.setdefault(BATCH_SIZE, str(TOGETHER))
        self._passed = Passed()
        self._partitions: dict[str, tuple[float, frozenset[str]]] = {}
        self._check_states = CheckStates(Path(self.path_for_shard(INDEX_SHARD_NAME)))

    def upgrade(self) -> None:
        """As Dagster does, and an index for the pages of checks."""
        super().upgrade()
        with self.index_connection() as connection:
            create_index(connection)

    def dispose(self) -> None:
        self._check_states.close()
        super().dispose()

    @contextmanager
    def _connect(self, shard: str) -> Iterator[Connection]:
        """The log of all runs: a connection that is kept. That of one run: one of its own, as Dagster does."""
        if shard == INDEX_SHARD_NAME:
            if not self._kept.ready():
                with super()._connect(shard):  # makes its tables, or sees that they are as they should be
                    self._kept.seen_ready()
            with self._kept.begin() as connection:
                yield connection
            return
        with super()._connect(shard) as connection:
            yield connection

    def has_table(self, table_name: str) -> bool:
        """Whether the log of all runs has it. Dagster asks in the middle of its transactions."""
        with self._kept.begin() as connection:
            return bool(connection.dialect.has_table(connection, table_name))

    def store_event(self, event: EventLogEntry) -> None:
        """As Dagster does: into the log of the run, and what is about an asset into the log of all runs too. The first
        has in short what is about a domain."""
        short = in_short(event)
        if short is event:
            super().store_event(event)
            return
        if not self._passed.together(event):
            with self.run_connection(event.run_id) as connection:
                connection.execute(_INSERT, self._event_to_row(short))
        row, told = self._event_to_row(event), False
        with self.index_transaction() as connection:
            stored = connection.execute(_INSERT, row)
            assert stored.inserted_primary_key is not None  # one row, with a number of its own
            number = int(stored.inserted_primary_key[0])
            if event.dagster_event_type in ASSET_EVENTS:
                self._store_asset_event_tags(connection, [event], [number])
                self._store_asset_event(connection, event, number)
            elif event.dagster_event_type is dg.DagsterEventType.ASSET_CHECK_EVALUATION:
                told = _tell(connection, event, row, number)
        if event.dagster_event_type in ASSET_CHECK_EVENTS and not told:
            self.store_asset_check_event(event, number)

    def store_event_batch(self, events: Sequence[EventLogEntry]) -> None:
        """Numbered cases: 1. announcements of one run: together; 2. anything else: one by one, as Dagster does."""
        if not _announces(events):
            super().store_event_batch(events)
            return
        rows = [self._event_to_row(event) for event in events]
        with self.run_connection(events[0].run_id) as connection:
            connection.execute(_INSERT, [self._event_to_row(e) for e in planned(events)])
        checks: list[tuple[EventLogEntry, int]] = []
        newest: dict[str, tuple[EventLogEntry, int]] = {}
        with self.index_transaction() as connection:
            for event, row in zip(events, rows, strict=True):
                stored = connection.execute(_INSERT, row)
                assert stored.inserted_primary_key is not None  # one row, with a number of its own
                number = int(stored.inserted_primary_key[0])
                if event.dagster_event_type in ASSET_CHECK_EVENTS:
                    checks.append((event, number))
                else:
                    newest[row["asset_key"]] = event, number
            # The asset's own row tells of its latest event only.
            for event, number in newest.values():
                self._store_asset_event(connection, event, number)
        for event, number in checks:
            self.store_asset_check_event(event, number)

    def has_dynamic_partition(self, partitions_def_name: str, partition_key: str) -> bool:
        """As Dagster has it; one that was deleted elsewhere may still be there for `REMEMBERED_S`."""
        until, known = self._partitions.get(partitions_def_name, (0.0, frozenset()))
        if time.monotonic() >= until:
            known = frozenset(self.get_dynamic_partitions(partitions_def_name))
            self._partitions[partitions_def_name] = time.monotonic() + REMEMBERED_S, known
        return partition_key in known or super().has_dynamic_partition(partitions_def_name, partition_key)

    def get_asset_check_state(
        self, keys: Sequence[tuple[dg.AssetCheckKey, dg.PartitionsDefinition | None]]
    ) -> Mapping[dg.AssetCheckKey, AssetCheckState]:
        """Of checks over domains by check_states.py, of the others by Dagster."""
        dynamic = {
            key: partitions
            for key, partitions in keys
            if isinstance(partitions, dg.DynamicPartitionsDefinition)
        }
        others = [(key, partitions) for key, partitions in keys if key not in dynamic]
        found = dict(super().get_asset_check_state(others)) if others else {}
        if dynamic:
            with self.index_connection() as connection:
                found |= self._check_states.of(self._instance, connection, dynamic)
        return found

    def delete_dynamic_partition(self, partitions_def_name: str, partition_key: str) -> None:
        self._partitions.pop(partitions_def_name, None)
        super().delete_dynamic_partition(partitions_def_name, partition_key)

    def _store_asset_check_evaluation_planned(self, event: EventLogEntry, event_id: int | None) -> None:
        found = event.dagster_event
        planned = found.event_specific_data if found is not None else None
        if found is None or not isinstance(planned, AssetCheckEvaluationPlanned):
            raise TypeError(f"no announcement of a check: {event.dagster_event_type}")
        short = AssetCheckEvaluationPlanned(asset_key=planned.asset_key, check_name=planned.check_name)
        row = {
            "asset_key": planned.asset_key.to_string(),
            "check_name": planned.check_name,
            "run_id": event.run_id,
            "execution_status": AssetCheckExecutionRecordStatus.PLANNED.value,
            "evaluation_event": serialize_value(
                event._replace(dagster_event=found._replace(event_specific_data=short))
            ),
            "evaluation_event_timestamp": self._event_to_row(event)["timestamp"],
            "evaluation_event_storage_id": event_id,
        }
        subset = planned.partitions_subset
        keys: Iterable[str | None] = subset.get_partition_keys() if subset is not None else [None]
        with self.index_connection() as connection:
            connection.execute(AssetCheckExecutionsTable.insert(), [row | {"partition": key} for key in keys])


def _tell(connection: Connection, event: EventLogEntry, row: Mapping[str, Any], number: int) -> bool:
    """Write what a check found into the row that announced it; False: there is none, or it is about no partition."""
    found = event.dagster_event.event_specific_data if event.dagster_event is not None else None
    if not isinstance(found, AssetCheckEvaluation) or found.partition is None or not event.run_id:
        return False
    status = (
        AssetCheckExecutionRecordStatus.SUCCEEDED if found.passed else AssetCheckExecutionRecordStatus.FAILED
    )
    target = found.target_materialization_data
    values = {
        "of_asset": found.asset_key.to_string(),
        "of_check": found.check_name,
        "of_run": event.run_id,
        "of_partition": found.partition,
        "execution_status": status.value,
        "evaluation_event": row["event"],
        "evaluation_event_timestamp": row["timestamp"],
        "evaluation_event_storage_id": number,
        "materialization_event_storage_id": target.storage_id if target is not None else None,
    }
    return connection.execute(_TELL, values).rowcount > 0


def _announces(events: Sequence[EventLogEntry]) -> bool:
    return bool(events) and all(
        e.is_dagster_event and e.dagster_event_type in _PLANNED and e.run_id == events[0].run_id
        for e in events
    )


class NightlyStorage(DagsterSqliteStorage):
    """`storage: {custom: …}` of dagster.yaml. `base_dir`: as for Dagster's own, and laid out the same."""

    def __init__(self, base_dir: str, inst_data: ConfigurableClassData | None = None) -> None:
        # All that DagsterSqliteStorage does here is to make three others, and every tick makes a storage.
        super(DagsterSqliteStorage, self).__init__()  # type: ignore[no-untyped-call]  # Dagster's
        self.base_dir = base_dir
        self._inst_data = inst_data
        self._run_storage = KeptRuns.from_local(_runs_directory(base_dir))
        self._event_log_storage = BatchedEventLog(_event_logs_directory(base_dir))
        self._schedule_storage = KeptSchedules.from_local(_schedule_directory(base_dir))

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> NightlyStorage:
        return cls.from_local(str(config_value["base_dir"]), inst_data)
