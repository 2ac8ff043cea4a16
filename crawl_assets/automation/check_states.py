"""The state of partitioned checks, for the pages of the UI that show them: as Dagster computes it, at a tenth of the cost.

Dagster reads every record of a check that there ever was to find the latest of each domain, once more for each check,
and adds one domain after another to a set that it copies each time. Here

* the latest record of each domain is looked up by an index of our own (`create_index`), which has all that is read: what
  it costs depends on the number of domains, not of nights;
* domains are gathered first and become a set once;
* what was found is remembered until something is written to the database (`Unchanged`): the pages ask for the same
  dozen checks again and again, and in the morning nothing is written. After that, a state is made anew only where its
  records are others.
"""

from __future__ import annotations

import marshal
import sqlite3
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import dagster as dg
import xxhash
from dagster._core.asset_graph_view.serializable_entity_subset import SerializableEntitySubset
from dagster._core.storage.asset_check_execution_record import (
    AssetCheckExecutionRecordStatus as Recorded,
)
from dagster._core.storage.asset_check_execution_record import (
    AssetCheckExecutionResolvedStatus as Resolved,
)
from dagster._core.storage.asset_check_state import (
    AssetCheckState,
    _process_run_statuses,
)
from dagster._core.storage.dagster_run import FINISHED_STATUSES
from sqlalchemy import text
from sqlalchemy.engine import Connection

__all__ = ["CheckStates", "Unchanged", "create_index"]

_PLANNED, _SUCCEEDED = Recorded.PLANNED.value, Recorded.SUCCEEDED.value
# With all that is read: the records themselves have kilobytes before it. It costs a few percent of what writing one does.
_INDEXES = (
    text("DROP INDEX IF EXISTS nightcrawl_checks_by_partition"),  # of earlier versions, without what is read
    text(
        "CREATE INDEX IF NOT EXISTS nightcrawl_latest_checks ON asset_check_executions (asset_key, check_name, partition, "
        "id, evaluation_event_storage_id, execution_status, run_id, materialization_event_storage_id)"
    ),
)
# Records without a number of their event are from versions of Dagster long gone; it leaves them out as well. The cross
# join keeps SQLite at looking domain by domain: the other way round it would read the records of all nights.
_LATEST = """
    SELECT d.partition, c.execution_status, c.run_id, c.evaluation_event_storage_id, c.materialization_event_storage_id
    FROM dynamic_partitions d CROSS JOIN asset_check_executions c INDEXED BY nightcrawl_latest_checks
    WHERE d.partitions_def_name = :partitions
      AND c.asset_key = :asset AND c.check_name = :name AND c.partition = d.partition AND c.id = (
        SELECT n.id FROM asset_check_executions n
        WHERE n.asset_key = :asset AND n.check_name = :name AND n.partition = d.partition
          AND n.evaluation_event_storage_id IS NOT NULL
        ORDER BY n.id DESC LIMIT 1)
"""
_MATERIALIZED = """
    SELECT d.partition, (
      SELECT max(e.id) FROM event_logs e
      WHERE e.asset_key = :asset AND e.dagster_event_type = 'ASSET_MATERIALIZATION' AND e.partition = d.partition)
    FROM dynamic_partitions d WHERE d.partitions_def_name = :partitions
"""
_WITHOUT_PARTITION = """
    SELECT max(id) FROM event_logs
    WHERE asset_key = :asset AND dagster_event_type = 'ASSET_MATERIALIZATION' AND partition IS NULL
"""


def create_index(connection: Connection) -> None:
    """For the look-ups of this module. Costs nothing where it is there, else some seconds for a year of thousands."""
    for statement in _INDEXES:
        connection.execute(statement)


#: The latest record of a check for one domain: domain, status, run, number of its event, and of the materialization it is
#: about. Plain tuples: there are tens of thousands.
Latest = tuple[str, str, str, int, int | None]


class Records(NamedTuple):
    """What the state of a check is made of. `made`: the number of the newest materialization of each domain."""

    latest: Sequence[Latest]
    made: Mapping[str, int | None]

    def digest(self) -> bytes:
        """The same for the same records, 128 bits; another for others."""
        # Format 2 of marshal: the bytes depend on the values alone, not on which of them are one object.
        return xxhash.xxh3_128_digest(marshal.dumps((list(self.latest), dict(self.made)), 2))


class Known(NamedTuple):
    """A state, the version of the database it was found in, and the digest of what it was made of."""

    version: tuple[int, int]
    digest: bytes
    state: AssetCheckState


class Unchanged:
    """Tells whether an SQLite database is as it was: a number that is another one after each commit of anybody."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = Lock()
        self._open: tuple[int, sqlite3.Connection] | None = None

    def version(self) -> tuple[int, int]:
        """The file, and its version. Costs microseconds; SQLite promises the number for one connection, kept open."""
        with self._lock:
            file = self._path.stat().st_ino
            if self._open is not None and self._open[0] != file:  # deleted and made anew
                self._open[1].close()
                self._open = None
            if self._open is None:
                self._open = file, sqlite3.connect(self._path, check_same_thread=False)
            return file, int(self._open[1].execute("PRAGMA data_version").fetchone()[0])

    def close(self) -> None:
        with self._lock:
            if self._open is not None:
                self._open[1].close()
                self._open = None


Key = tuple[dg.AssetCheckKey, str]


class CheckStates:
    """The states of checks whose partitions are dynamic, remembered while nothing changes."""

    def __init__(self, path: Path) -> None:
        self._unchanged = Unchanged(path)
        self._known: dict[Key, Known] = {}
        self._indexed = False

    def close(self) -> None:
        self._unchanged.close()

    def of(
        self,
        instance: dg.DagsterInstance,
        connection: Connection,
        partitions: Mapping[dg.AssetCheckKey, dg.DynamicPartitionsDefinition],
    ) -> dict[dg.AssetCheckKey, AssetCheckState]:
        """`connection`: to the log of all runs. States with runs under way are asked for anew: how a run ended is in
        another database."""
        if not self._indexed:  # an instance that was not prepared by this version
            create_index(connection)
            self._indexed = True
        # Before anything is read: what comes meanwhile counts as a change.
        version = self._unchanged.version()
        states: dict[dg.AssetCheckKey, AssetCheckState] = {}
        missing: dict[dg.AssetCheckKey, dg.DynamicPartitionsDefinition] = {}
        for key, each in partitions.items():
            found = self._known.get((key, str(each.name)))
            if found is not None and found.version == version and not found.state.in_progress_runs:
                states[key] = found.state
            else:
                missing[key] = each
        anew: dict[dg.AssetCheckKey, Records] = {}
        digests: dict[dg.AssetCheckKey, bytes] = {}
        for key, records in _latest(connection, missing).items():
            place = key, str(missing[key].name)
            found, digests[key] = self._known.get(place), records.digest()
            if found is not None and found.digest == digests[key] and not found.state.in_progress_runs:
                states[key] = found.state  # what was written was about something else
                self._known[place] = found._replace(version=version)
            else:
                anew[key] = records
        for key, state in _states(instance, missing, anew).items():
            states[key] = state
            self._known[key, str(missing[key].name)] = Known(version, digests[key], state)
        return states


def _latest(
    connection: Connection, partitions: Mapping[dg.AssetCheckKey, dg.DynamicPartitionsDefinition]
) -> dict[dg.AssetCheckKey, Records]:
    made: dict[tuple[str, str], dict[str, int | None]] = {}
    found: dict[dg.AssetCheckKey, Records] = {}
    for key, each in partitions.items():
        asset, name = key.asset_key.to_string(), str(each.name)
        if (asset, name) not in made:
            ((whole,),) = _rows(connection, _WITHOUT_PARTITION, asset=asset)
            rows = _rows(connection, _MATERIALIZED, asset=asset, partitions=name)
            # Numbers begin at 1: 0 is none.
            made[asset, name] = {domain: max(newest or 0, whole or 0) or None for domain, newest in rows}
        records = _rows(connection, _LATEST, asset=asset, name=key.name, partitions=name)
        found[key] = Records(records, made[asset, name])
    return found


def _rows(connection: Connection, query: str, **parameters: str) -> list[Any]:
    """Rows as SQLite's own tuples: SQLAlchemy makes an object of each, which costs more than finding them."""
    cursor = connection.connection.cursor()
    try:
        cursor.execute(query, parameters)
        return list(cursor.fetchall())
    finally:
        cursor.close()


def _states(
    instance: dg.DagsterInstance,
    partitions: Mapping[dg.AssetCheckKey, dg.DynamicPartitionsDefinition],
    records: Mapping[dg.AssetCheckKey, Records],
) -> dict[dg.AssetCheckKey, AssetCheckState]:
    planned = {
        run_id for each in records.values() for _, status, run_id, *_ in each.latest if status == _PLANNED
    }
    found = (
        instance.get_runs(dg.RunsFilter(run_ids=sorted(planned), statuses=list(FINISHED_STATUSES)))
        if planned
        else []
    )
    ended = {run.run_id: run.status for run in found}
    return {key: _state(key, partitions[key], each, ended) for key, each in records.items()}


def _state(
    key: dg.AssetCheckKey,
    partitions: dg.PartitionsDefinition,
    records: Records,
    ended: Mapping[str, dg.DagsterRunStatus],
) -> AssetCheckState:
    """Numbered cases of a domain's latest record: 1. planned, in a run; 2. about an older materialization: nothing is
    known of the newest; 3. passed or failed."""
    chosen: dict[Resolved, list[str]] = {status: [] for status in Resolved}
    running: dict[str, list[str]] = defaultdict(list)
    latest = 0
    in_progress, passed, failed = (
        chosen[status] for status in (Resolved.IN_PROGRESS, Resolved.SUCCEEDED, Resolved.FAILED)
    )
    for domain, status, run_id, event, about in records.latest:
        made = records.made.get(domain)
        latest = max(latest, event, made or 0)
        if status == _PLANNED:
            in_progress.append(domain)
            running[run_id].append(domain)
        elif made is None or made == about:
            (passed if status == _SUCCEEDED else failed).append(domain)

    def subset(names: Sequence[str]) -> SerializableEntitySubset[dg.AssetCheckKey]:
        if not names:
            return SerializableEntitySubset.empty(key, partitions)
        return SerializableEntitySubset(key, partitions.subset_with_partition_keys(names))

    subsets, in_progress_runs = _process_run_statuses(
        key,
        partitions,
        {status: subset(names) for status, names in chosen.items()},
        {run_id: subset(names) for run_id, names in running.items()},
        ended,
    )
    return AssetCheckState(latest_storage_id=latest, subsets=subsets, in_progress_runs=in_progress_runs)
