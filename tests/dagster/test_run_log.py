"""The log of a run tells of a domain in one line; what pages of assets and checks read has everything."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster import AssetCheckEvaluation
from dagster._core.events import AssetObservationData as Observed
from dagster._core.events import DagsterEvent, StepMaterializationData
from dagster._core.events.log import EventLogEntry
from dagster._core.storage.event_log import SqliteEventLogStorage

from crawl_assets.automation.run_log import LABEL, LINE, in_short, one_line
from crawl_assets.definitions import defs
from crawl_assets.partitions import domains
from tests.dagster.test_instance_storage import OURS

DOMAIN, ASSET = "shop.example", dg.AssetKey("pages")
CHECK = dg.AssetCheckKey(ASSET, "uniqueness")
METADATA: dict[str, Any] = {
    "pages": 15,
    "failed": 0,
    "rate per s": 2.5,
    "rate reason": "learned",
    "next due": dg.MetadataValue.timestamp(0.0 + 1_764_000_000),
    "preview": dg.MetadataValue.md("| a |\n| --- |\n| b |"),
    "path": dg.MetadataValue.path("/data/published.duckdb"),
    "dagster/partition_row_count": 14,
    "dagster/column_schema": dg.TableSchema([dg.TableColumn("url", "VARCHAR")]),
}
TAGS = {"dagster/data_version": "7"}


@pytest.fixture
def run(tmp_path: Path, fresh_instance: Path) -> Iterator[tuple[dg.DagsterInstance, str]]:
    """A run that told of a domain in each of the ways a night does, and of the night itself."""
    shutil.copytree(fresh_instance, tmp_path / "home")
    (tmp_path / "home" / "dagster.yaml").write_text(OURS.format(folder=tmp_path / "home"))
    with dg.DagsterInstance.from_config(str(tmp_path / "home")) as instance:
        yield instance, _told(instance)


def _told(instance: dg.DagsterInstance) -> str:
    instance.add_dynamic_partitions(str(domains.name), [DOMAIN])
    made = instance.create_run_for_job(defs().resolve_job_def("night"), status=dg.DagsterRunStatus.STARTED)
    numbers = {"pages": dg.IntMetadataValue(15), "preview": dg.MetadataValue.md("- long\n- list")}
    for kind, data in (
        ("ASSET_OBSERVATION", Observed(dg.AssetObservation(ASSET, partition=DOMAIN, metadata={"queue": 3}))),
        ("ASSET_OBSERVATION", Observed(dg.AssetObservation("night_report", metadata={"queue": 3, "n": 1}))),
        (
            "ASSET_MATERIALIZATION",
            StepMaterializationData(
                dg.AssetMaterialization(ASSET, partition=DOMAIN, metadata=METADATA, tags=TAGS)
            ),
        ),
        (
            "ASSET_CHECK_EVALUATION",
            AssetCheckEvaluation(
                ASSET, CHECK.name, False, numbers, description="2 rows twice", partition=DOMAIN, blocking=True
            ),
        ),
    ):
        event = DagsterEvent(kind, "night", step_key="stages", event_specific_data=data)
        instance.report_dagster_event(event, made.run_id)
    return made.run_id


def of_run(instance: dg.DagsterInstance, run_id: str, kind: dg.DagsterEventType) -> list[Any]:
    found = instance.get_records_for_run(run_id, of_type=kind).records
    return [r.event_log_entry.get_dagster_event() for r in found]


def test_the_log_of_a_run_has_one_line_of_each(run: tuple[dg.DagsterInstance, str]) -> None:
    instance, run_id = run
    (made,) = of_run(instance, run_id, dg.DagsterEventType.ASSET_MATERIALIZATION)
    told = made.step_materialization_data.materialization
    assert (told.asset_key, told.partition, told.tags) == (ASSET, DOMAIN, TAGS)
    line = "pages 15, rate per s 2.5, rate reason learned, next due 2025-11-24 16:00 UTC, rows 14"
    assert {k: v.value for k, v in told.metadata.items()} == {LABEL: line}
    (judged,) = of_run(instance, run_id, dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    found = judged.asset_check_evaluation_data
    assert (found.passed, found.blocking, found.partition) == (False, True, DOMAIN)
    assert found.description == "2 rows twice" and found.metadata[LABEL].value == "pages 15"
    domain, night = of_run(instance, run_id, dg.DagsterEventType.ASSET_OBSERVATION)
    assert domain.asset_observation_data.asset_observation.metadata[LABEL].value == "queue 3"
    assert night.asset_observation_data.asset_observation.metadata["n"].value == 1


def test_a_check_that_passed_says_so_in_words_alone() -> None:
    numbers = {"pages": dg.IntMetadataValue(15)}
    entry: Any = EventLogEntry
    for passed in (True, False):
        data = AssetCheckEvaluation(ASSET, CHECK.name, passed, numbers, description="fine", partition=DOMAIN)
        event = DagsterEvent("ASSET_CHECK_EVALUATION", "night", event_specific_data=data)
        short = in_short(entry(None, 10, "", "run", 0.0, dagster_event=event)).get_dagster_event()
        told = short.asset_check_evaluation_data
        assert told.description == "fine" and bool(told.metadata) is not passed


def test_checks_that_passed_are_said_together_and_those_that_failed_before_by_themselves(
    run: tuple[dg.DagsterInstance, str],
) -> None:
    """The check of the run has failed: that it passed when it was asked again has to be known to alerts and reports."""
    instance, run_id = run
    other = dg.AssetCheckKey(ASSET, "budget")
    for key in (other, CHECK):
        data = AssetCheckEvaluation(
            key.asset_key, key.name, True, {}, description="as it should be", partition=DOMAIN
        )
        event = DagsterEvent("ASSET_CHECK_EVALUATION", "night", step_key="stages", event_specific_data=data)
        instance.report_dagster_event(event, run_id)
    found = of_run(instance, run_id, dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    told = [(e.asset_check_evaluation_data.check_name, e.asset_check_evaluation_data.passed) for e in found]
    assert told == [(CHECK.name, False), (CHECK.name, True)]
    for key in (other, CHECK):
        (newest, *_) = instance.event_log_storage.get_asset_check_execution_history(key, limit=5)
        assert newest.event is not None
        assert newest.event.get_dagster_event().asset_check_evaluation_data.passed


def test_pages_of_assets_and_checks_have_everything(run: tuple[dg.DagsterInstance, str]) -> None:
    instance, run_id = run
    (record,) = instance.fetch_materializations(ASSET, limit=5).records
    made = record.asset_materialization
    assert made is not None and record.run_id == run_id
    assert made.metadata.keys() == METADATA.keys() and made.tags == TAGS
    check = instance.event_log_storage.get_asset_check_execution_history(CHECK, limit=5)[0]
    assert check.event is not None and check.event.dagster_event is not None
    evaluated = check.event.dagster_event.asset_check_evaluation_data
    assert evaluated.metadata["preview"].value == "- long\n- list"
    storage: Any = instance.event_log_storage
    kind = dg.DagsterEventType.ASSET_MATERIALIZATION
    assert storage.get_latest_tags_by_partition(ASSET, kind, list(TAGS)) == {DOMAIN: TAGS}
    assert instance.get_materialized_partitions(ASSET) == {DOMAIN}
    assert len(instance.fetch_observations(dg.AssetKey("night_report"), limit=5).records) == 1


def test_all_runs_know_the_same_as_with_dagsters_own_storage(
    run: tuple[dg.DagsterInstance, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Event by event, as Dagster mirrors them."""
    instance, _ = run
    ours = [r.event_log_entry for r in mirrored(instance)]
    written = list(ours)
    monkeypatch.setattr(type(instance.event_log_storage), "store_event", SqliteEventLogStorage.store_event)
    for entry in written:
        instance.event_log_storage.store_event(entry)
    assert [r.event_log_entry for r in mirrored(instance)] == [*ours, *written]


def mirrored(instance: dg.DagsterInstance) -> list[dg.EventLogRecord]:
    kinds = (dg.DagsterEventType.ASSET_MATERIALIZATION, dg.DagsterEventType.ASSET_OBSERVATION)
    found = [
        record
        for kind in kinds
        for record in instance.event_log_storage.get_event_records(dg.EventRecordsFilter(kind, ASSET))
    ]
    return sorted(found, key=lambda r: r.storage_id)


def test_a_line_is_bounded() -> None:
    many = {f"number {n}": dg.IntMetadataValue(n + 1) for n in range(1_000)}
    assert len(one_line(many)) == LINE
    assert one_line({"long": dg.TextMetadataValue("x" * 500), "zero": dg.FloatMetadataValue(0.0)}) == ""
