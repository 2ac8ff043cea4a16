"""Cheap events are the same events: all there, readable by others at once, and everything as before afterwards."""

from __future__ import annotations

import dagster as dg
import pytest
from dagster._core.storage.event_log import SqliteEventLogStorage

from crawl_assets.stages.event_log import cheap_events
from tests.dagster.conftest import House


def materialized(instance: dg.DagsterInstance) -> int:
    return len(instance.fetch_materializations(dg.AssetKey("raw_html"), limit=100).records)


def test_events_of_a_night_are_seen_by_others_while_it_runs_and_stay(house: House) -> None:
    storage = house.instance.event_log_storage
    assert isinstance(storage, SqliteEventLogStorage)
    before = dict(vars(storage))
    run = house.instance.create_run_for_job(house.loaded.resolve_job_def("canaries"))
    others = dg.DagsterInstance.from_ref(house.instance.get_ref())
    with others, pytest.raises(KeyboardInterrupt), cheap_events(house.instance, run.run_id):
        for n in range(5):
            event = dg.AssetMaterialization(dg.AssetKey("raw_html"), partition=f"{n}.example")
            house.instance.report_runless_asset_event(event)
            assert materialized(others) == materialized(house.instance) == n + 1
        others.report_runless_asset_event(
            dg.AssetMaterialization(dg.AssetKey("raw_html"), partition="x.example")
        )
        assert materialized(house.instance) == 6
        raise KeyboardInterrupt
    assert vars(storage).keys() == before.keys()
    assert materialized(house.instance) == 6
