"""Events of old runs go; what is the latest of anything stays, and every page shows the same states as before."""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster import AssetCheckEvaluation
from dagster._core.definitions.asset_checks.asset_check_evaluation import AssetCheckEvaluationPlanned
from dagster._core.definitions.partitions.context import partition_loading_context
from dagster._core.events import AssetMaterializationPlannedData, DagsterEvent, StepMaterializationData
from dagster._core.events import AssetObservationData as Observed
from dagster._core.storage.event_log.schema import AssetEventTagsTable, SqlEventLogStorageTable
from dagster._core.storage.runs.schema import RunsTable
from sqlalchemy import func, select
from typer.testing import CliRunner

from crawl_assets.automation.event_retention import (
    forget_run,
    forget_runless,
    forgettable_runs,
    kept_days,
)
from crawl_assets.cli import app
from crawl_assets.definitions import defs
from crawl_assets.partitions import domains
from crawl_assets.stages.event_log import cheap_events
from tests.dagster.test_instance_storage import OURS

KEYS = [f"shop-{n}.example" for n in range(8)]
ASSETS = [dg.AssetKey("pages"), dg.AssetKey("raw_html")]
CHECK = dg.AssetCheckKey(ASSETS[0], "uniqueness")
KINDS = [
    dg.DagsterEventType.ASSET_MATERIALIZATION,
    dg.DagsterEventType.ASSET_OBSERVATION,
    dg.DagsterEventType.ASSET_MATERIALIZATION_PLANNED,
]
DAY_S = 86_400.0


@pytest.fixture
def instance(tmp_path: Path, fresh_instance: Path) -> Iterator[dg.DagsterInstance]:
    shutil.copytree(fresh_instance, tmp_path / "home")
    (tmp_path / "home" / "dagster.yaml").write_text(OURS.format(folder=tmp_path / "home"))
    with dg.DagsterInstance.from_config(str(tmp_path / "home")) as made:
        made.add_dynamic_partitions(str(domains.name), KEYS)
        yield made


def started(instance: dg.DagsterInstance) -> dg.DagsterRun:
    return instance.create_run_for_job(defs().resolve_job_def("canaries"), status=dg.DagsterRunStatus.STARTED)


def some_events(draw: random.Random, version: int) -> Iterator[DagsterEvent]:
    """A run as it may have gone: plans, and for some partitions what came of them, in any order of partitions."""
    for asset in ASSETS:
        for key in draw.sample(KEYS, 6):
            if draw.random() < 0.8:
                planned = AssetMaterializationPlannedData(asset, partition=key)
                yield DagsterEvent("ASSET_MATERIALIZATION_PLANNED", "canaries", event_specific_data=planned)
            tags = {"dagster/data_version": str(version)} if draw.random() < 0.7 else {"other": "tag"}
            if draw.random() < 0.5:
                made = dg.AssetMaterialization(asset, partition=key, metadata={"n": version}, tags=tags)
                data: Any = StepMaterializationData(made)
                yield DagsterEvent("ASSET_MATERIALIZATION", "canaries", event_specific_data=data)
            if draw.random() < 0.5:
                data = Observed(dg.AssetObservation(asset, partition=key, tags=tags))
                yield DagsterEvent("ASSET_OBSERVATION", "canaries", event_specific_data=data)
    chosen = draw.sample(KEYS, 5)
    subset = domains.subset_with_partition_keys(chosen)
    plan = AssetCheckEvaluationPlanned(
        asset_key=CHECK.asset_key, check_name=CHECK.name, partitions_subset=subset
    )
    yield DagsterEvent("ASSET_CHECK_EVALUATION_PLANNED", "canaries", event_specific_data=plan)
    for key in chosen[:3]:
        found = AssetCheckEvaluation(
            asset_key=CHECK.asset_key,
            check_name=CHECK.name,
            passed=draw.random() < 0.5,
            metadata={},
            partition=key,
        )
        yield DagsterEvent("ASSET_CHECK_EVALUATION", "canaries", event_specific_data=found)


def a_run(instance: dg.DagsterInstance, draw: random.Random, version: int) -> str:
    run = started(instance)
    with cheap_events(instance, run.run_id):
        for event in some_events(draw, version):
            instance.report_dagster_event(event, run.run_id)
    instance.report_run_failed(run)
    return run.run_id


def shown(instance: dg.DagsterInstance) -> dict[str, Any]:
    """What pages, sensors and conditions ask of an asset and its checks."""
    storage: Any = instance.event_log_storage
    told: dict[str, Any] = {}
    for asset in ASSETS:
        name = asset.to_user_string()
        told[f"{name} done"] = storage.get_materialized_partitions(asset)
        for kind in KINDS:
            told[f"{name} {kind.value}"] = storage.get_latest_storage_id_by_partition(asset, kind)
            tags = storage.get_latest_tags_by_partition(asset, kind, ["dagster/data_version"])
            told[f"{name} {kind.value} versions"] = tags
        attempts = storage.get_latest_asset_partition_materialization_attempts_without_materializations
        told[f"{name} attempts"] = attempts(asset)
        told[f"{name} versions"] = storage._get_partition_data_versions(asset, KEYS)
        told[f"{name} record"] = storage.get_asset_records([asset])[0].asset_entry.last_materialization_record
        told[f"{name} planned"] = storage.get_latest_planned_materialization_info(asset)
        for key in KEYS:
            latest = instance.fetch_materializations(
                dg.AssetRecordsFilter(asset, asset_partitions=[key]), limit=1
            )
            told[f"{name} {key}"] = latest.records
    told["infos"] = storage.get_asset_check_partition_info([CHECK])
    with partition_loading_context(dynamic_partitions_store=instance):
        told["check"] = storage.get_asset_check_state([(CHECK, domains)])[CHECK]
    told["check latest"] = storage.get_latest_asset_check_execution_by_key([CHECK])
    for record in reversed(storage.get_asset_check_execution_history(CHECK, limit=1_000)):
        told[f"check {record.partition}"] = record
        if record.status.value != "PLANNED":
            told[f"check {record.partition} result"] = record
    return told


def rows(instance: dg.DagsterInstance) -> tuple[int, int, int]:
    storage: Any = instance.event_log_storage
    with storage.index_connection() as connection:
        of = [
            connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in (SqlEventLogStorageTable, AssetEventTagsTable)
        ]
        loose = connection.execute(
            select(func.count()).where(
                AssetEventTagsTable.c.event_id.not_in(select(SqlEventLogStorageTable.c.id))
            )
        ).scalar_one()
    return of[0], of[1], loose


def test_rounds_of_canaries_are_forgotten_after_a_week(instance: dg.DagsterInstance) -> None:
    night, asked = (
        instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED, tags=job.run_tags)
        for job in map(defs().resolve_job_def, ("night", "canaries"))
    )
    for run in (night, asked):
        instance.report_run_failed(run)
    assert forgettable_runs(instance, 90, time.time() + 6 * DAY_S) == []
    assert forgettable_runs(instance, 90, time.time() + 8 * DAY_S) == [asked.run_id]
    assert set(forgettable_runs(instance, 90, time.time() + 91 * DAY_S)) == {night.run_id, asked.run_id}


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_pages_show_the_same_states_when_old_events_are_gone(instance: dg.DagsterInstance, seed: int) -> None:
    draw = random.Random(seed)
    old = [a_run(instance, draw, n) for n in range(5)]
    storage: Any = instance.event_log_storage
    before, (events, tags, _) = shown(instance), rows(instance)
    later = time.time() + 91 * DAY_S
    assert forgettable_runs(instance, 90, later) == old
    freed = [forget_run(instance, run_id) for run_id in old]
    assert shown(instance) == before
    left, tags_left, loose = rows(instance)
    assert left < events * 0.7 and tags_left < tags and loose == 0
    assert sum(f.rows for f in freed) >= events - left and all(f.freed > 0 for f in freed)
    assert forgettable_runs(instance, 90, later) == [], "each run is looked at once"
    assert not any(Path(storage.path_for_shard(run_id)).exists() for run_id in old)
    # The runs themselves are still there, and their pages open.
    assert {r.run_id for r in instance.get_runs(dg.RunsFilter(run_ids=old))} == set(old)
    assert instance.get_records_for_run(old[0]).records == []
    assert forget_run(instance, old[0]).rows == 0, "to do it twice changes nothing"
    # And life goes on: numbers of events are not given again.
    newest = max(before["pages ASSET_MATERIALIZATION_PLANNED"].values())
    a_run(instance, draw, 9)
    assert max(shown(instance)["pages ASSET_MATERIALIZATION_PLANNED"].values()) > newest


def test_young_runs_and_those_that_have_not_ended_keep_every_event(instance: dg.DagsterInstance) -> None:
    draw = random.Random(7)
    old = a_run(instance, draw, 1)
    hanging = started(instance)
    instance.report_engine_event("still here", hanging)
    between = time.time()
    young = a_run(instance, draw, 2)
    events = len(instance.get_records_for_run(young).records)
    assert forgettable_runs(instance, 90, between + 90 * DAY_S) == [old]
    assert forgettable_runs(instance, 90) == []
    forget_run(instance, old)
    assert len(instance.get_records_for_run(young).records) == events
    assert len(instance.get_records_for_run(hanging.run_id).records) > 0


def without_a_run(instance: dg.DagsterInstance, draw: random.Random, version: int) -> None:
    """What sensors observe, and what people report, about some domains and about whole assets."""
    for asset in ASSETS:
        for key in (None, *draw.sample(KEYS, 5)):
            tags = {"dagster/data_version": str(version)} if draw.random() < 0.7 else {"other": "tag"}
            about: Any = {"asset_key": asset, "partition": key, "tags": tags}
            if draw.random() < 0.6:
                instance.report_runless_asset_event(dg.AssetMaterialization(**about))
            instance.report_runless_asset_event(dg.AssetObservation(**about))
    # One about a partition Dagster takes once only.
    for key in [*KEYS[version : version + 1], None]:
        instance.report_runless_asset_event(
            AssetCheckEvaluation(
                asset_key=CHECK.asset_key,
                check_name=CHECK.name,
                passed=draw.random() < 0.5,
                metadata={},
                partition=key,
            )
        )


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
def test_events_without_a_run_go_by_their_own_age(instance: dg.DagsterInstance, seed: int) -> None:
    draw = random.Random(seed)
    assert forget_runless(instance, 90, time.time() + 91 * DAY_S) == 0
    storage: Any = instance.event_log_storage
    own = Path(storage.path_for_shard(""))
    assert not own.exists(), "to look makes nothing"
    for version in range(3):
        without_a_run(instance, draw, version)
        of_run = a_run(instance, draw, version)
    between = time.time()
    before, (events, _, _) = shown(instance), rows(instance)
    logged = len(instance.get_records_for_run("").records)
    assert forget_runless(instance, 90, between + 89 * DAY_S) == 0
    assert shown(instance) == before and len(instance.get_records_for_run("").records) == logged
    without_a_run(instance, draw, 3)
    before, (events, _, _) = shown(instance), rows(instance)
    young = [
        (r.storage_id, r.event_log_entry)
        for r in instance.get_records_for_run("").records
        if r.event_log_entry.timestamp > between
    ]
    assert forget_runless(instance, 90, between + 90 * DAY_S) > 0
    assert shown(instance) == before
    left, _, loose = rows(instance)
    assert left < events and loose == 0
    assert [(r.storage_id, r.event_log_entry) for r in instance.get_records_for_run("").records] == young
    assert len(instance.get_records_for_run(of_run).records) > 0, "those of runs go with their runs"
    assert forget_runless(instance, 90, between + 90 * DAY_S) == 0
    # The newest of all stays in both logs: numbers are not given again.
    assert forget_runless(instance, 90, time.time() + 91 * DAY_S) > 0
    assert shown(instance) == before
    (last,) = instance.get_records_for_run("").records
    assert last.storage_id == young[-1][0]


def test_other_event_logs_are_left_as_they_are() -> None:
    with dg.DagsterInstance.ephemeral() as memory:
        assert forgettable_runs(memory, 90, time.time() + 1000 * DAY_S) == []
        assert forget_runless(memory, 90, time.time() + 1000 * DAY_S) == 0
        with pytest.raises(TypeError):
            forget_run(memory, "a run")


def test_how_long_events_are_kept_is_a_setting() -> None:
    assert kept_days({}) == 90
    assert kept_days({"NIGHTCRAWL_EVENT_DAYS": "400"}) == 400
    assert kept_days({"NIGHTCRAWL_EVENT_DAYS": "0"}) is None
    for wrong in ("-1", "soon", "1", "nan", "inf"):
        with pytest.raises(ValueError, match="NIGHTCRAWL_EVENT_DAYS"):
            kept_days({"NIGHTCRAWL_EVENT_DAYS": wrong})


def test_maintain_forgets_them_too(
    tmp_path: Path, fresh_instance: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    shutil.copytree(fresh_instance, home)
    (home / "dagster.yaml").write_text(OURS.format(folder=home))
    for name, value in {"DAGSTER_HOME": home, "NIGHTCRAWL_DATA": tmp_path / "data"}.items():
        monkeypatch.setenv(name, str(value))
    monkeypatch.setenv("NIGHTCRAWL_EVENT_DAYS", "30")
    (tmp_path / "data" / "dagster").mkdir(parents=True)
    long_ago = time.time() - 31 * DAY_S
    with dg.DagsterInstance.from_config(str(home)) as instance:
        old, young = a_run(instance, random.Random(1), 1), a_run(instance, random.Random(2), 2)
        storage: Any = instance.event_log_storage
        shards = [Path(storage.path_for_shard(run_id)) for run_id in (old, young)]
        runs: Any = instance.run_storage
        with runs.connect() as connection:
            connection.execute(RunsTable.update().where(RunsTable.c.run_id == old).values(end_time=long_ago))
    os.utime(shards[0], (long_ago, long_ago))
    told = CliRunner().invoke(app, ["maintain"])
    assert told.exit_code == 0 and "event log: 1 runs older than 30 days" in told.output
    assert [shard.exists() for shard in shards] == [False, True]
