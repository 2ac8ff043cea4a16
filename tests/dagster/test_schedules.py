"""When nights begin: each site by its own cron and clocks, once, and never long after its time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import dagster as dg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawl_assets.automation import schedules
from crawl_assets.automation.fire_times import GRACE, last_fire, night_of
from resources.installation_resource import InstallationResource
from tests.dagster.conftest import House

BERLIN = "Europe/Berlin"


def at(text: str, zone: str = "UTC") -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


def test_a_cron_is_read_on_the_clocks_of_its_zone() -> None:
    assert last_fire("0 1 * * *", BERLIN, at("2026-07-02 12:00")) == at("2026-07-01 23:00")
    assert last_fire("0 1 * * *", BERLIN, at("2026-12-02 12:00")) == at("2026-12-02 00:00")
    assert last_fire("0 1 * * *", "America/New_York", at("2026-12-02 12:00")) == at("2026-12-02 06:00")


@pytest.mark.parametrize("day", ["2026-03-29", "2026-10-25"])
def test_the_nights_on_which_clocks_change_fire_exactly_once(day: str) -> None:
    first = at(f"{day} 00:00", BERLIN) - timedelta(hours=2)
    fired = {last_fire("30 2 * * *", BERLIN, first + timedelta(minutes=5 * n)) for n in range(12 * 12)}
    tonight = [f for f in fired if f.astimezone(ZoneInfo(BERLIN)).date().isoformat() == day]
    assert len(tonight) == 1


@given(
    st.sampled_from(["0 1 * * *", "30 2 * * *", "*/15 22-23 * * 1-5", "5 0 1 * *"]),
    st.sampled_from([BERLIN, "UTC", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]),
    st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31)),
)
def test_the_last_fire_is_past_and_stays_until_the_next(cron: str, zone: str, now: datetime) -> None:
    now = now.replace(tzinfo=UTC)
    fired = last_fire(cron, zone, now)
    assert fired <= now
    assert last_fire(cron, zone, fired) == fired


def test_a_night_is_named_by_the_morning_it_ends_in() -> None:
    assert night_of(at("2026-11-28 22:00", BERLIN), BERLIN) == "2026-11-29"
    assert night_of(at("2026-11-29 01:00", BERLIN), BERLIN) == "2026-11-29"


class Clock(datetime):
    """`datetime` whose now is set."""

    moment: datetime

    @classmethod
    def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
        return cls.moment.astimezone(tz)


def tick(
    house: House, scheduled: datetime, monkeypatch: pytest.MonkeyPatch, late: timedelta = timedelta()
) -> list[dg.RunRequest]:
    """One tick of the nightly schedule; its runs are created, as the daemon does."""
    Clock.moment = scheduled + late
    monkeypatch.setattr(schedules, "datetime", Clock)
    resource = InstallationResource(data=str(house.installation.data), sites=str(house.installation.sites))
    with dg.build_schedule_context(instance=house.instance, scheduled_execution_time=scheduled) as context:
        found = list(schedules.nightly(context, installation=resource))  # type: ignore[call-overload]
    requests = [r for r in found if isinstance(r, dg.RunRequest)]
    for request in requests:
        house.instance.run_storage.add_run(
            dg.DagsterRun(job_name="night", run_id=dg._core.utils.make_new_run_id(), tags=dict(request.tags))  # type: ignore[attr-defined]
        )
    return requests


def test_each_site_is_launched_when_its_own_time_has_come(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.write_site(["a.example", "b.example"], "berlin", schedule="0 1 * * *", zone=BERLIN)
    house.write_site(["c.example"], "london", schedule="0 1 * * *", zone="Europe/London")
    (berlin,) = tick(house, at("2026-11-29 00:00"), monkeypatch)
    assert berlin.tags["dagster/asset_partition_range_start"] == "a.example"
    assert berlin.tags["dagster/asset_partition_range_end"] == "b.example"
    assert berlin.tags["nightcrawl/night"] == "2026-11-29"
    (london,) = tick(house, at("2026-11-29 01:00"), monkeypatch)
    assert london.tags["dagster/asset_partition_range_start"] == "c.example"


def test_a_tick_is_made_up_for_within_the_grace_and_only_once(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.write_site(["a.example"], schedule="0 1 * * *")
    due = at("2026-11-29 01:00")
    assert len(tick(house, due + timedelta(minutes=20), monkeypatch)) == 1
    assert tick(house, due + timedelta(minutes=25), monkeypatch) == []


def test_a_night_that_was_slept_through_is_not_started_in_the_morning(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.write_site(["a.example"], schedule="0 1 * * *")
    due = at("2026-11-29 01:00")
    assert tick(house, due, monkeypatch, late=timedelta(hours=8)) == []
    assert tick(house, due + GRACE + timedelta(minutes=5), monkeypatch) == []


def test_a_broken_site_file_does_not_keep_the_others_from_their_night(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.write_site(["a.example"], schedule="0 1 * * *")
    (house.installation.sites / "broken.yaml").write_text("domains: [b.example]\nsede: []\n")
    assert len(tick(house, at("2026-11-29 01:00"), monkeypatch)) == 1
