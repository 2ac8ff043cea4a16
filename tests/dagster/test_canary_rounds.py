"""Rounds of canaries: by day, of sites that name some, bounded, and never in each other's way."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, cast

import dagster as dg
import pytest
from dagster._core.utils import make_new_run_id

from crawl_assets.automation import canary_rounds as rounds
from crawl_assets.automation.canary_rounds import ROUND, ROUND_TAG, canary_rounds
from crawl_assets.definitions import defs
from resources.installation_resource import InstallationResource
from tests.dagster.conftest import House

STARTED = dg.DagsterRunStatus.STARTED
NOON = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


def tick(house: House, now: datetime = NOON) -> tuple[str, str] | str:
    """The domains of the round, first and last, or why there is none."""
    resource = InstallationResource(data=str(house.installation.data), sites=str(house.installation.sites))
    with dg.build_schedule_context(instance=house.instance, scheduled_execution_time=now) as context:
        told = list(cast("Any", canary_rounds)(context, installation=resource))
    (found,) = cast("list[dg.RunRequest | dg.SkipReason]", told)
    if isinstance(found, dg.SkipReason):
        return str(found.skip_message)
    assert found.tags[ROUND_TAG] == "round"
    return found.tags["dagster/asset_partition_range_start"], found.tags["dagster/asset_partition_range_end"]


def canaries(domain: str) -> list[dict[str, Any]]:
    return [{"url": f"http://{domain}/"}]


def test_it_runs_from_the_start_and_runs_only_checks() -> None:
    assert canary_rounds.default_status is dg.DefaultScheduleStatus.RUNNING
    assert canary_rounds.job_name == "canaries"
    chosen = defs().resolve_job_def("canaries").asset_layer
    assert not chosen.selected_asset_keys
    assert {key.name for key in chosen.asset_graph.asset_check_keys} == {"canary"}


def test_only_sites_that_name_canaries_are_asked(house: House) -> None:
    assert "nothing to ask" in str(tick(house))
    house.write_site(["a.example"], "a", canaries=[])
    assert "nothing to ask" in str(tick(house))
    house.write_site(["b.example"], "b", canaries=canaries("b.example"))
    assert tick(house) == ("b.example", "b.example")


def test_a_site_is_asked_within_its_own_hours(house: House) -> None:
    night = {"rate": "unlimited", "window": {"start": "22:00", "end": "06:00", "zone": "Europe/Berlin"}}
    house.write_site(["a.example"], "a", canaries=canaries("a.example"), pace=night)
    assert "hours" in str(tick(house))
    assert tick(house, NOON.replace(hour=21)) == ("a.example", "a.example")


def test_many_domains_come_in_turn_a_run_a_round(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "DOMAINS_PER_RUN", 2)
    names = [f"{letter}.example" for letter in "abcde"]
    house.write_site(names, canaries=canaries("a.example"))
    turns = {tick(house, NOON + n * ROUND) for n in range(3)}
    assert turns == {("a.example", "b.example"), ("c.example", "d.example"), ("e.example", "e.example")}
    assert tick(house, NOON + 3 * ROUND) == tick(house, NOON)


def test_a_round_waits_for_the_last_one(house: House) -> None:
    house.write_site(["a.example"], canaries=canaries("a.example"))
    run = dg.DagsterRun("canaries", make_new_run_id(), status=STARTED, tags={ROUND_TAG: "round"})
    house.instance.run_storage.add_run(run)
    assert "under way or waits" in str(tick(house))
    house.instance.run_storage.delete_run(run.run_id)
    assert tick(house, NOON + timedelta(minutes=15)) == ("a.example", "a.example")
