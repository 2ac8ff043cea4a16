"""The storage of dagster.yaml writes what Dagster's own would, only together and without the long lists."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster import AssetCheckEvaluation
from dagster._core.definitions.asset_checks.asset_check_evaluation import AssetCheckEvaluationPlanned
from dagster._core.definitions.partitions.context import partition_loading_context
from dagster._core.events import DagsterEvent
from dagster._core.storage.asset_check_state import AssetCheckState
from dagster._core.storage.event_log import SqliteEventLogStorage
from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable, SqlEventLogStorageTable
from sqlalchemy import select

from crawl_assets.automation.instance_storage import BatchedEventLog, NightlyStorage
from crawl_assets.definitions import defs
from crawl_assets.partitions import domains

KEYS = [f"shop-{n:03}.example" for n in range(6)]
PLAIN = "storage: {{sqlite: {{base_dir: '{folder}'}}}}\n"
OURS = (
    "storage: {{custom: {{module: crawl_assets.automation.instance_storage, class: NightlyStorage, "
    "config: {{base_dir: '{folder}'}}}}}}\n"
)


def launched(folder: Path, fresh: Path, settings: str) -> tuple[list[Any], list[Any], Counter[str], str]:
    """What a launch over all keys leaves: events of the run, rows of planned checks, events of all runs, asset row."""
    shutil.copytree(fresh, folder)
    (folder / "dagster.yaml").write_text(settings.format(folder=folder))
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        instance.add_dynamic_partitions(str(domains.name), KEYS)
        loaded = defs()
        run = instance.create_run_for_job(
            loaded.resolve_job_def("night"),
            tags={
                "dagster/asset_partition_range_start": KEYS[0],
                "dagster/asset_partition_range_end": KEYS[-1],
            },
            asset_selection=None,
        )
        storage: Any = instance.event_log_storage
        of_run = [
            (r.event_log_entry.dagster_event_type, r.event_log_entry.get_dagster_event().partition)
            for r in instance.get_records_for_run(run.run_id).records
        ]
        with storage.index_connection() as connection:
            t = AssetCheckExecutionsTable.c
            checks = sorted(
                connection.execute(
                    select(t.asset_key, t.check_name, t.partition, t.execution_status, t.evaluation_event)
                ).fetchall()
            )
            kinds = connection.execute(select(SqlEventLogStorageTable.c.dagster_event_type)).scalars()
            mirrored: Counter[str] = Counter(kinds)
        newest = instance.get_latest_planned_materialization_info(dg.AssetKey("pages"))
        assert newest is not None
        return sorted(of_run), checks, mirrored, "" if newest.run_id == run.run_id else newest.run_id


@pytest.fixture(autouse=True)
def own_batch_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAGSTER_EVENT_BATCH_SIZE", "0")  # restored afterwards
    monkeypatch.delenv("DAGSTER_EVENT_BATCH_SIZE")


@pytest.mark.slow
def test_a_launch_plans_the_same_as_with_dagsters_own_storage(
    tmp_path: Path, fresh_instance: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = launched(tmp_path / "plain", fresh_instance, PLAIN)
    written = 0
    single = BatchedEventLog.store_event

    def counted(self: BatchedEventLog, event: Any) -> None:
        nonlocal written
        written += 1
        single(self, event)

    monkeypatch.setattr(BatchedEventLog, "store_event", counted)
    ours = launched(tmp_path / "ours", fresh_instance, OURS)
    assert written == 0, "announcements were written one by one"
    assert len(plain[0]) >= 8 * len(KEYS)
    # The log of the run has one announcement an asset, and all else.
    once = [(kind, None) for kind, key in plain[0] if key in (None, KEYS[0])]
    assert sorted(kind for kind, _ in ours[0]) == sorted(kind for kind, _ in once)
    assert {key for _, key in ours[0]} == {None}
    assert [row[:4] for row in ours[1]] == [row[:4] for row in plain[1]]
    assert ours[2] == plain[2] and ours[3] == plain[3]
    assert {k for row in ours[1] for k in [row[2]]} == set(KEYS)
    assert all(KEYS[-1] not in row[4] for row in ours[1]), "each row repeats the list of all domains"


def test_partitions_are_known_at_once_however_they_come_and_go(
    tmp_path: Path, fresh_instance: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(fresh_instance, tmp_path / "home")
    (tmp_path / "home" / "dagster.yaml").write_text(OURS.format(folder=tmp_path / "home"))
    name = str(domains.name)
    with (
        dg.DagsterInstance.from_config(str(tmp_path / "home")) as instance,
        dg.DagsterInstance.from_config(str(tmp_path / "home")) as elsewhere,
    ):
        instance.add_dynamic_partitions(name, KEYS)
        assert all(instance.has_dynamic_partition(name, key) for key in KEYS)
        monkeypatch.setattr(BatchedEventLog, "index_connection", None)  # no database is asked again
        assert all(instance.has_dynamic_partition(name, key) for key in KEYS)
        monkeypatch.undo()
        elsewhere.add_dynamic_partitions(name, ["new.example"])
        assert instance.has_dynamic_partition(name, "new.example")
        instance.delete_dynamic_partition(name, KEYS[0])
        assert not instance.has_dynamic_partition(name, KEYS[0])


def test_what_is_no_announcement_is_stored_as_ever(tmp_path: Path, fresh_instance: Path) -> None:
    shutil.copytree(fresh_instance, tmp_path / "home")
    (tmp_path / "home" / "dagster.yaml").write_text(OURS.format(folder=tmp_path / "home"))
    with dg.DagsterInstance.from_config(str(tmp_path / "home")) as instance:
        for key in KEYS[:3]:
            instance.report_runless_asset_event(dg.AssetMaterialization("raw_html", partition=key))
        assert len(instance.fetch_materializations(dg.AssetKey("raw_html"), limit=10).records) == 3
        assert instance.get_materialized_partitions(dg.AssetKey("raw_html")) == set(KEYS[:3])


def test_the_states_of_checks_are_those_dagster_computes(tmp_path: Path, fresh_instance: Path) -> None:
    shutil.copytree(fresh_instance, tmp_path / "home")
    (tmp_path / "home" / "dagster.yaml").write_text(OURS.format(folder=tmp_path / "home"))
    asset, name = dg.AssetKey("pages"), "uniqueness"
    key = dg.AssetCheckKey(asset, name)
    keys: list[tuple[dg.AssetCheckKey, dg.PartitionsDefinition | None]] = [(key, domains)]
    with dg.DagsterInstance.from_config(str(tmp_path / "home")) as instance:
        storage: Any = instance.event_log_storage

        def states() -> tuple[AssetCheckState, AssetCheckState]:
            with partition_loading_context(dynamic_partitions_store=instance):
                ours = storage.get_asset_check_state(keys)[key]
                plain = SqliteEventLogStorage.get_asset_check_state(storage, keys)[key]
            return ours, plain

        def say(event: DagsterEvent) -> None:
            instance.report_dagster_event(event, run.run_id)

        instance.add_dynamic_partitions(str(domains.name), KEYS)
        run = instance.create_run_for_job(
            defs().resolve_job_def("canaries"), status=dg.DagsterRunStatus.STARTED
        )
        subset = domains.subset_with_partition_keys(KEYS)
        planned = AssetCheckEvaluationPlanned(asset_key=asset, check_name=name, partitions_subset=subset)
        say(DagsterEvent("ASSET_CHECK_EVALUATION_PLANNED", "canaries", event_specific_data=planned))
        for n, passed in enumerate((True, False, True)):
            found = AssetCheckEvaluation(
                asset_key=asset, check_name=name, passed=passed, metadata={}, partition=KEYS[n]
            )
            say(DagsterEvent("ASSET_CHECK_EVALUATION", "canaries", event_specific_data=found))
        instance.report_runless_asset_event(dg.AssetMaterialization(asset, partition=KEYS[2]))
        ours, plain = states()
        assert ours == plain
        shown = {status.name: subset.size for status, subset in ours.subsets.items() if subset.size}
        assert shown["FAILED"] == 1 and shown["IN_PROGRESS"] == len(KEYS) - 3
        instance.delete_dynamic_partition(str(domains.name), KEYS[1])
        instance.report_run_failed(run)
        ours, plain = states()
        assert ours == plain
        shown = {status.name: subset.size for status, subset in ours.subsets.items() if subset.size}
        assert "FAILED" not in shown and shown["EXECUTION_FAILED"] == len(KEYS) - 3
        assert states()[0] is ours, "nothing was written, and it was computed again"
        instance.report_runless_asset_event(dg.AssetMaterialization(asset, partition=KEYS[0]))
        again, plain = states()
        assert again == plain and again != ours
        instance.report_runless_asset_event(dg.AssetMaterialization("published", partition=KEYS[0]))
        assert states()[0] is again, "what was written was about something else, and it was made anew"


def test_where_there_is_nothing_yet_it_is_made(tmp_path: Path) -> None:
    for _ in range(2):
        storage = NightlyStorage.from_local(str(tmp_path))
        assert storage.event_log_storage.get_dynamic_partitions("domains") == []
        storage.dispose()
