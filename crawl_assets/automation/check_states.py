"""The state of partitioned checks, for the pages of the UI that show them: as Dagster computes it, in one pass.

Dagster adds one domain after another to a set that it copies each time: 12 million steps for a check over 5,000
domains, and the page of checks has a dozen. Here domains are gathered first and become a set once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import dagster as dg
from dagster._core.asset_graph_view.serializable_entity_subset import SerializableEntitySubset
from dagster._core.storage.asset_check_execution_record import (
    AssetCheckExecutionRecordStatus as Recorded,
)
from dagster._core.storage.asset_check_execution_record import (
    AssetCheckExecutionResolvedStatus as Resolved,
)
from dagster._core.storage.asset_check_execution_record import (
    AssetCheckPartitionInfo,
)
from dagster._core.storage.asset_check_state import (
    AssetCheckState,
    _process_run_statuses,
    _valid_partition_key,
)
from dagster._core.storage.dagster_run import FINISHED_STATUSES

__all__ = ["check_states"]


def check_states(
    instance: dg.DagsterInstance,
    partitions: Mapping[dg.AssetCheckKey, dg.PartitionsDefinition],
    infos: Sequence[AssetCheckPartitionInfo],
) -> dict[dg.AssetCheckKey, AssetCheckState]:
    """The states of checks that have partitions. `infos`: the latest record of each partition of each of them."""
    by_key: dict[dg.AssetCheckKey, list[AssetCheckPartitionInfo]] = defaultdict(list)
    for info in infos:
        by_key[info.check_key].append(info)
    planned = {i.latest_planned_run_id for i in infos if i.latest_execution_status is Recorded.PLANNED}
    found = (
        instance.get_runs(dg.RunsFilter(run_ids=sorted(planned), statuses=list(FINISHED_STATUSES)))
        if planned
        else []
    )
    ended = {run.run_id: run.status for run in found}
    return {key: _state(key, each, by_key[key], ended) for key, each in partitions.items()}


def _state(
    key: dg.AssetCheckKey,
    partitions: dg.PartitionsDefinition,
    infos: Sequence[AssetCheckPartitionInfo],
    ended: Mapping[str, dg.DagsterRunStatus],
) -> AssetCheckState:
    """Numbered cases of a partition's latest record: 1. it is gone; 2. planned, in a run; 3. about an older
    materialization: nothing is known of the newest; 4. passed or failed."""
    chosen: dict[Resolved, list[str]] = {status: [] for status in Resolved}
    running: dict[str, list[str]] = defaultdict(list)
    latest = 0
    for info in infos:
        latest = max(latest, info.latest_check_event_storage_id, info.latest_materialization_storage_id or 0)
        name = info.partition_key
        if name is None or not _valid_partition_key(name, partitions):
            continue
        if info.latest_execution_status is Recorded.PLANNED:
            chosen[Resolved.IN_PROGRESS].append(name)
            running[info.latest_planned_run_id].append(name)
        elif info.is_current:
            passed = info.latest_execution_status is Recorded.SUCCEEDED
            chosen[Resolved.SUCCEEDED if passed else Resolved.FAILED].append(name)

    def subset(names: Sequence[str]) -> SerializableEntitySubset[dg.AssetCheckKey]:
        if not names:
            return SerializableEntitySubset.empty(key, partitions)
        return SerializableEntitySubset(key, partitions.subset_with_partition_keys(names))

    subsets, in_progress = _process_run_statuses(
        key,
        partitions,
        {status: subset(names) for status, names in chosen.items()},
        {run_id: subset(names) for run_id, names in running.items()},
        ended,
    )
    return AssetCheckState(latest_storage_id=latest, subsets=subsets, in_progress_runs=in_progress)
