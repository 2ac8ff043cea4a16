"""The plan before a night and the report after it, through the real Dagster machinery."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime

import dagster as dg
import pytest

from crawl_assets.automation.nights import night_reports, plans
from crawl_assets.stages.night_report import gather
from crawl_assets.stages.upcoming import upcoming
from practice_site import practice_web_process, site_config
from resources.installation_resource import InstallationResource
from resources.planner.deadline import ready_by
from resources.planner.read import make_plan
from resources.planner.store import load_plan
from resources.reports.facts import RunFacts
from resources.reports.markdown import night_markdown
from resources.reports.needs import needs
from resources.reports.page import night_page
from resources.reports.read import read_night
from resources.site.catalog import Catalog
from tests.dagster.conftest import NIGHT, House

TONIGHT = {"nightcrawl/night": "2026-11-29"}


def run_job(house: House, name: str, **config: str) -> dg.ExecuteInProcessResult:
    folders = {"data": str(house.installation.data), "sites": str(house.installation.sites)}
    return house.loaded.resolve_job_def(name).execute_in_process(
        instance=house.instance,
        run_config={
            "ops": {f"night_{name}": {"config": config}},
            "resources": {"installation": {"config": folders}},
        },
        raise_on_error=False,
    )


def metadata(house: House, asset: str) -> dict[str, object]:
    (record,) = house.instance.fetch_materializations(dg.AssetKey(asset), limit=1).records
    assert record.asset_materialization is not None
    return {k: v.value for k, v in record.asset_materialization.metadata.items()}


def test_a_night_is_planned_reported_and_compared(house: House) -> None:
    configs = [
        site_config(n_products=8, host=f"127.0.0.{n}", down="reset" if n == 3 else "off", dead_links=2)
        for n in (2, 3, 4)
    ]
    with practice_web_process(configs) as sites:
        names = [s.domain for s in sites]
        house.write_site(names, canaries=[])
        house.run(*NIGHT, first=names[0], last=names[2], tags=TONIGHT)
        asked = {s.domain: len(s.requests()) for s in sites}

    plan = load_plan(house.installation, "2026-11-29")
    assert plan is not None and {d.domain for d in plan.domains} == set(names)
    assert all(not d.known for d in plan.domains)

    facts = gather(house.instance, house.installation, "2026-11-29")
    assert [d.domain for d in facts.domains if d.requests] and {d.domain for d in facts.domains} == set(names)
    seen = {d.domain: d.requests for d in facts.domains if d.domain != names[1]}
    assert all(0 < n <= asked[d] for d, n in seen.items()), (seen, asked)
    assert facts.queue and facts.buckets
    assert {e.cause for e in facts.errors} >= {"http_404", "http_410"}
    (table,) = [t for t in facts.tables if t.table == "book"]
    assert (table.before, table.now, table.new) == (0, 16, 16)
    urgent = [n for n in needs(facts) if n.urgency == "act"]
    assert [d for n in urgent for d, _ in n.domains] == [names[1]]
    assert "robots.txt" in urgent[0].cure and "materialize again" in urgent[0].cure

    coming = make_plan(
        house.installation,
        house.installation.catalog(),
        "2026-11-30",
        {d: time.time() + 60 for d in names},
        ready_by("07:00", {}),
    )
    by_name = {d.domain: d for d in coming.domains}
    assert (
        by_name[names[0]].known and by_name[names[0]].urls >= 8
    )  # every page says no-cache: due again at once
    assert not by_name[names[1]].known

    assert run_job(house, "report").success
    told = metadata(house, "night_report")
    assert told["night"] == "2026-11-29" and told["needs you"] == 1 and told["domains well"] == 2
    page = (house.installation.reports / "2026-11-29.html").read_text()
    assert names[1] in page and "2 of 3 domains went through" in page
    assert not re.search(r"<script|(?:src|href)=[\"'](?!#)", page)


def test_the_report_counts_what_no_load_has_taken_over_yet(house: House) -> None:
    with practice_web_process([site_config(n_products=8, host="127.0.0.2")]) as (site,):
        house.write_site(site.domain)
        house.run("seed_frontier", "fetched_pages", first=site.domain, tags=TONIGHT)
    facts = gather(house.instance, house.installation, "2026-11-29")
    assert facts.pages >= 8 and facts.tables == ()


def test_a_report_of_no_night_says_what_to_do(house: House) -> None:
    result = run_job(house, "report")
    assert not result.success
    (failure,) = [e for e in result.all_events if e.is_step_failure]
    assert "launch the job night" in str(failure.step_failure_data.error)


def test_the_next_night_is_planned_half_an_hour_before(house: House) -> None:
    house.write_site(["a.example"], "one", schedule="0 1 * * *", zone="Europe/Berlin")
    house.write_site(["b.example"], "two", schedule="30 1 * * *", zone="Europe/Berlin")

    def tick(text: str) -> list[dg.RunRequest]:
        at = datetime.fromisoformat(text).replace(tzinfo=UTC)
        resource = InstallationResource(
            data=str(house.installation.data), sites=str(house.installation.sites)
        )
        with dg.build_schedule_context(instance=house.instance, scheduled_execution_time=at) as context:
            return [r for r in plans(context, installation=resource) if isinstance(r, dg.RunRequest)]

    assert tick("2099-11-28 23:00") == []
    (request,) = tick("2099-11-28 23:35")
    assert request.run_key == "plan 2099-11-29"
    assert tick("2099-11-28 23:55")[0].run_key == request.run_key  # the daemon launches a key once
    assert tick("2099-11-29 00:05") == []  # begun: what is planned now would know what was done already


def test_sites_of_one_night_are_planned_together_each_with_its_own_begin(house: House) -> None:
    house.write_site(["a.example"], "one", schedule="0 1 * * *", zone="Europe/Berlin")
    house.write_site(["b.example"], "two", schedule="0 1 * * *", zone="America/New_York")
    catalog = Catalog.load(house.installation.sites)
    now = datetime(2026, 11, 28, 12, tzinfo=UTC)
    coming = upcoming(catalog, ["a.example", "b.example"], now)
    assert coming is not None and coming.night == "2026-11-29"
    assert coming.starts["b.example"] - coming.starts["a.example"] == 6 * 3600
    assert upcoming(catalog, ["a.example"], now, "2031-01-01") is None
    begun = upcoming(catalog, ["a.example"], datetime(2026, 11, 29, 0, 10, tzinfo=UTC))
    assert begun is not None and begun.night == "2026-11-29"


def test_a_night_is_reported_when_all_its_runs_have_ended_and_again_when_one_is_added(house: House) -> None:
    def add(status: dg.DagsterRunStatus) -> dg.DagsterRun:
        run_id = dg._core.utils.make_new_run_id()  # type: ignore[attr-defined]
        run = dg.DagsterRun(job_name="night", run_id=run_id, status=status, tags=TONIGHT)
        house.instance.run_storage.add_run(run)
        return run

    def look(cursor: str | None = None) -> dg.SensorResult | dg.SkipReason:
        with dg.build_sensor_context(instance=house.instance, cursor=cursor) as context:
            found = night_reports(context)
        assert isinstance(found, dg.SensorResult | dg.SkipReason)
        return found

    add(dg.DagsterRunStatus.FAILURE)
    going = add(dg.DagsterRunStatus.STARTED)
    assert isinstance(look(), dg.SkipReason)
    house.instance.report_run_failed(going)
    first = look()
    assert isinstance(first, dg.SensorResult)
    (request,) = first.run_requests or []
    assert request.run_config["ops"]["night_report"]["config"] == {"night": "2026-11-29"}
    assert isinstance(look(first.cursor), dg.SkipReason)
    add(dg.DagsterRunStatus.SUCCESS)
    again = look(first.cursor)
    assert isinstance(again, dg.SensorResult)
    assert [r.run_key for r in again.run_requests or []] != [request.run_key]


AFTER_THE_WEB = ("raw_html", "pages", "links", "items", "published")
RIGHT = {"title": {"css": "h1.title", "required": True}, "isbn": {"css": "td.isbn", "required": True}}
WRONG = RIGHT | {"isbn": {"css": "td.moved", "required": True}}


def items(fields: object) -> dict[str, object]:
    return {"book": {"match": "/book/*", "key": ["isbn"], "fields": fields}}


@pytest.mark.slow
def test_a_domain_that_was_mended_without_a_request_is_told_as_mended(house: House) -> None:
    with practice_web_process([site_config(n_products=30, host=f"127.0.0.{n}") for n in (2, 3)]) as sites:
        names = [s.domain for s in sites]
        house.write_site(names[0], "one", items=items(WRONG))
        house.write_site(
            names[1], "two", canaries=[{"url": f"http://{names[1]}/", "contains": "no such words"}]
        )
        house.run(*NIGHT, first=names[0], last=names[1], tags=TONIGHT)
        before = gather(house.instance, house.installation, "2026-11-29")
        fell = {f.domain: f.stage for f in before.fallen}
        assert fell == {names[0]: "check rejects", names[1]: "check canary"} and not before.mended

        house.write_site(names[0], "one", items=items(RIGHT))
        house.run(
            *AFTER_THE_WEB, first=names[0], last=names[1]
        )  # as the sensor and the UI launch it: no night's tag
    after = gather(house.instance, house.installation, "2026-11-29")
    (mended,) = after.mended
    assert mended.domain == names[0] and mended.at > before.ended_at and "check rejects" in mended.was
    assert [f.domain for f in after.fallen] == [names[1]], (
        "what was not fetched is not mended from the page store"
    )
    assert (after.runs, after.ended_at) == (before.runs, before.ended_at), "the night itself is what it was"
    told = night_markdown(after)
    assert f"`{names[0]}` mended at" in told and "it was: check rejects" in told
    assert f"<b>{names[0]}</b> mended at" in night_page(after)


@pytest.mark.slow
def test_rows_that_were_loaded_and_never_published_are_counted(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("resources.warehouse.load.frontier_rows.LOG_KEPT_S", 0.0)
    with practice_web_process([site_config(n_products=8, host="127.0.0.2")]) as (site,):
        house.write_site(site.domain)
        house.run("seed_frontier", "fetched_pages", first=site.domain, tags=TONIGHT)
        house.run("pages", "links", "items", first=site.domain, tags={"nightcrawl/night": "2026-11-28"})
    (run,) = [r for r in house.instance.get_runs() if r.tags.get("nightcrawl/night") == "2026-11-29"]
    stopped = RunFacts(run.run_id, "night", "CANCELED", 0.0, time.time(), 1)
    facts = read_night(house.installation, "2026-11-29", [stopped], [site.domain], made_at=time.time())
    assert facts.pages >= 8
