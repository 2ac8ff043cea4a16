"""A whole week of an operator's life in some minutes: real daemon, webserver, run workers, and a real browser.

From an empty instance: sites are added, the schedule fires, twenty shops are crawled; in the next night one of them
puts up a wall, one is down and one has a new layout; the night is terminated in the middle and goes on; the morning
report says what to do; a selector is mended, the tables are made again and published.

`NIGHTCRAWL_SCREENSHOTS` names a folder for the pictures (docs/screenshots.py); else they go to the test's own folder.
"""

from __future__ import annotations

import os
import re
import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from practice_site import RemoteSite, practice_web_process, site_config, site_yaml
from resources.warehouse.read import domain_state, table_counts
from tests.dagster.browser import Browser, chromium, missing
from tests.dagster.operated import Operated, operated, wait_for
from tests.dagster.test_operation import runs_of, state, tag

pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(missing()), reason=missing() or "chromium is here")]

SITES = 20
WALLED, RELAID, DOWN, LIMITED = 3, 8, 12, 5  # positions of the shops in trouble
STAGES = (
    "seed_frontier",
    "fetched_pages",
    "retried_failures",
    "raw_html",
    "pages",
    "links",
    "items",
    "published",
)
GROUPS = (
    "1_sources",
    "2_plan",
    "3_frontier",
    "4_fetch",
    "5_raw",
    "6_tables",
    "7_published",
    "8_report",
)
NEW_FIELDS = {
    "title": {"css": "h1.pdp-name", "type": "text", "required": True},
    "price": {"css": ".pdp-cost", "type": "money", "required": True},
    "isbn": {"css": "td.pdp-code", "type": "text", "required": True},
}
REPORT = """query { assetNodeOrError(assetKey: {path: ["night_report"]}) { ... on AssetNode {
  assetMaterializations(limit: 20) { metadataEntries { label ... on TextMetadataEntry { text }
    ... on IntMetadataEntry { intValue } ... on PathMetadataEntry { path } ... on MarkdownMetadataEntry { mdStr } } }
} } }"""
CHECK = """query($asset: AssetKeyInput!, $name: String!) {
  assetCheckExecutions(assetKey: $asset, checkName: $name, limit: 200) { status
    evaluation { partition success description } } }"""


@pytest.fixture(scope="module")
def web() -> Iterator[list[RemoteSite]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    configs = [
        site_config(
            n_products=10, host=f"127.0.1.{n + 1}", port=port, seed=n + 1, arrivals=1, departures=1,
            price_change_share=0.3, dead_links=2 * (n % 5 == 0),
            layout_change_night=2 if n == RELAID else 0, rate=20.0 if n == LIMITED else 0.0, burst=10,
        )
        for n in range(SITES)
    ]  # fmt: skip
    with practice_web_process(configs) as sites:
        yield sites


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operated]:
    with operated(tmp_path_factory.mktemp("operator")) as house:
        house.up()  # empty: no site file, no partition, no run
        yield house


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        browser.size(1500, 940)
        yield browser


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    chosen = os.environ.get("NIGHTCRAWL_SCREENSHOTS")
    return Path(chosen).absolute() if chosen else tmp_path_factory.mktemp("pictures")


def write(house: Operated, sites: list[RemoteSite], name: str, **changes: Any) -> None:
    changes.setdefault("schedule", "0 0 1 1 *")
    text = site_yaml([s.domain for s in sites], name=name, changes=changes)
    new = house.installation.sites / f".{name}.new"
    new.write_text(text)
    new.replace(house.installation.sites / f"{name}.yaml")  # the sensor never sees half a file


def url(house: Operated, path: str) -> str:
    return f"http://127.0.0.1:{house.port}{path}"


def reports(house: Operated) -> list[dict[str, Any]]:
    """What each report says of itself, the newest first."""
    node = house.ask(REPORT)["assetNodeOrError"]
    return [
        {
            e["label"]: e.get("text") or e.get("path") or e.get("mdStr") or e.get("intValue")
            for e in m["metadataEntries"]
        }
        for m in node["assetMaterializations"]
    ]


def evaluations(house: Operated, asset: str, name: str) -> dict[str, tuple[bool, str]]:
    """The newest evaluation of a check by domain."""
    found: dict[str, tuple[bool, str]] = {}
    for execution in house.ask(CHECK, asset={"path": [asset]}, name=name)["assetCheckExecutions"]:
        one = execution["evaluation"]
        if one is not None:
            found.setdefault(one["partition"], (one["success"], one["description"]))
    return found


#: The list of groups beside the graph, its button; and the double click on the canvas that fits the graph into it.
FOLD = """(() => { let p = document.querySelector('input[placeholder^="Jump"]').parentElement;
  while (!p.querySelector('button')) p = p.parentElement; p.querySelector('button').click(); })()"""
FIT = """(() => { const svgs = [...document.querySelectorAll('svg')];
  const width = e => e.getBoundingClientRect().width; svgs.sort((a, b) => width(b) - width(a));
  svgs[0].parentElement.dispatchEvent(new MouseEvent('dblclick', {bubbles: true, clientX: 800, clientY: 400})); })()"""


def show_graph(house: Operated, browser: Browser, picture: Path) -> None:
    """The whole asset graph with its groups unfolded: at the size at which nodes show what they hold, and smaller."""
    browser.size(2700, 1250)
    groups = ",".join(f"global@global:{g}" for g in GROUPS)
    browser.open(url(house, f"/asset-groups?expanded={groups}"), "Global asset lineage", "seed_frontier")
    kept = browser.run("JSON.stringify({...localStorage})")
    browser.click("Hide navigation")
    browser.run(FOLD)
    time.sleep(1)
    browser.run(FIT)
    time.sleep(2)  # it moves into place
    browser.wait_until("!document.body.innerText.includes('Loading')")
    for asset in ("site_files", "night_plan", *STAGES, "night_report"):
        assert asset in browser.text
    browser.picture(picture.with_stem(f"{picture.stem}-details"))
    browser.size(1500, 800, density=2.0)
    time.sleep(1)
    browser.run(FIT)
    time.sleep(2)
    browser.picture(picture)
    browser.run(f"localStorage.clear(); Object.assign(localStorage, {kept}); 0")
    browser.size(1500, 940)


def test_an_empty_instance_opens_and_shows_every_asset(
    house: Operated, browser: Browser, pictures: Path
) -> None:
    assert house.runs() == []
    show_graph(house, browser, pictures / "asset-graph-empty.png")
    assert not browser.errors


def test_the_schedule_fires_and_twenty_domains_turn_green(
    house: Operated, browser: Browser, web: list[RemoteSite], pictures: Path
) -> None:
    soon = datetime.now(UTC) + timedelta(minutes=2)
    names = [s.domain for s in web]
    write(house, [web[RELAID]], "bookshop", schedule=f"{soon.minute} {soon.hour} * * *")
    write(
        house, [s for s in web if s is not web[RELAID]], "shops", schedule=f"{soon.minute} {soon.hour} * * *"
    )
    wait_for(lambda: len(house.partitions_of("pages")) == SITES, 60)
    planned = house.launch("plan")
    assert house.ended(planned) == "SUCCESS"
    runs = wait_for(lambda: runs_of(house, "night"), 240)
    assert len(runs) == 1 and tag(runs[0], "nightcrawl/night")
    assert house.ended(runs[0]["runId"], 300) == "SUCCESS"
    for asset in STAGES:
        assert state(house, asset) == (set(names), set())
    told = wait_for(lambda: reports(house), 120)
    assert told[0]["in one sentence"].startswith(f"All {SITES} domains went through")
    for name, text in (("shops", "0 0 1 1 *"), ("bookshop", "0 0 1 1 *")):
        chosen = [web[RELAID]] if name == "bookshop" else [s for s in web if s is not web[RELAID]]
        write(house, chosen, name, schedule=text)  # the next nights are launched by hand
    show_graph(house, browser, pictures / "asset-graph.png")
    browser.open(url(house, "/assets/fetched_pages"), "Latest materialization", "Description", "pages per s")


def test_a_terminated_night_stops_within_seconds_and_goes_on(house: Operated, web: list[RemoteSite]) -> None:
    web[WALLED].set(walled=True)
    web[DOWN].set(down="reset")
    for site in web:
        site.night(2)
        site.set(latency=1.5)
        site.reset()
    night = {"nightcrawl/night": (datetime.now(UTC) + timedelta(days=2)).date().isoformat()}
    first = house.partitions_of("fetched_pages")
    run = house.launch("night", first[0], first[-1], more_tags=night)
    wait_for(lambda: sum(len(s.requests()) for s in web) > 60, 180)
    house.terminate(run)
    stopped = time.monotonic()
    assert house.ended(run) == "CANCELED"
    assert time.monotonic() - stopped < 30
    quiet = sum(len(s.requests()) for s in web)
    done = {(s.domain, r["path"]) for s in web for r in s.requests(status=200) if r["kind"] == "product"}
    time.sleep(3)
    assert sum(len(s.requests()) for s in web) == quiet, "somebody still crawls after Terminate"
    for site in web:
        site.set(latency=0)
        site.reset()
    again = house.launch("night", first[0], first[-1], more_tags=night)
    assert house.ended(again, 300) == "FAILURE"
    twice = done & {
        (s.domain, r["path"]) for s in web for r in s.requests(status=200) if r["kind"] == "product"
    }
    assert not twice, f"fetched before and after the stop: {sorted(twice)[:5]}"


def test_the_right_things_are_red_with_the_right_words(
    house: Operated, browser: Browser, web: list[RemoteSite], pictures: Path
) -> None:
    names = [s.domain for s in web]
    out = {names[WALLED], names[DOWN]}
    assert state(house, "fetched_pages") == (set(names) - out, out)
    assert state(house, "raw_html") == (set(names) - out, out)
    assert state(house, "published")[1] == out | {names[RELAID]}

    canaries = evaluations(house, "seed_frontier", "canary")
    assert {d for d, (passed, _) in canaries.items() if not passed} == out
    assert (
        "them:" in canaries[names[WALLED]][1] and "a wall instead of the page" in canaries[names[WALLED]][1]
    )
    assert "no response" in canaries[names[DOWN]][1]
    rejects = evaluations(house, "items", "rejects")
    assert {d for d, (passed, _) in rejects.items() if not passed} == {names[RELAID]}
    assert "required, and not on the page" in rejects[names[RELAID]][1]
    duplicates = evaluations(house, "fetched_pages", "no_duplicate_fetch")
    assert all(passed for passed, _ in duplicates.values())

    browser.open(url(house, "/assets/published?view=partitions"), "Failed (3)", f"Materialized ({SITES - 3})")
    browser.open(
        url(house, "/assets/fetched_pages?view=partitions"), "Failed (2)", f"Materialized ({SITES - 2})"
    )
    browser.open(
        url(house, f"/assets/fetched_pages?view=partitions&partition={names[0].replace(':', '%3A')}"),
        "pages per s",
    )
    time.sleep(1)
    browser.picture(pictures / "partitions.png")

    browser.open(url(house, "/assets/fetched_pages"), "Latest materialization", "Description", "pages per s")
    browser.click("Plots")
    browser.wait_until("document.querySelectorAll('canvas').length > 3")
    browser.run(
        "[...document.querySelectorAll('div, span')].find(e => e.innerText === 'hit rate').scrollIntoView()"
    )
    time.sleep(2)  # the curves are drawn
    browser.picture(pictures / "asset.png")

    browser.open(url(house, "/assets/seed_frontier?view=checks&checkDetail=canary"), "Latest execution")
    browser.run(
        "[...document.querySelectorAll('[role=tab]')].filter(e => e.innerText === 'Partitions').pop().click()"
    )
    browser.wait_for("Failed (2)", f"Passed ({SITES - 2})", "Missing (0)", "Execution Failed (0)")
    browser.click(names[WALLED])
    browser.wait_for("a wall instead of the page")
    browser.picture(pictures / "checks.png")
    for check in ("conservation", "coverage"):
        browser.open(url(house, f"/assets/fetched_pages?view=checks&checkDetail={check}"), "Latest execution")
        browser.run(
            "[...document.querySelectorAll('[role=tab]')].filter(e => e.innerText === 'Partitions').pop().click()"
        )
        browser.wait_for("Failed (0)", f"Passed ({SITES})", "Missing (0)", "Execution Failed (0)")

    (failed,) = [r for r in runs_of(house, "night") if r["status"] == "FAILURE"]
    browser.open(
        url(house, f"/runs/{failed['runId']}"), "RUN_FAILURE", "a wall instead of the page", "no response"
    )
    assert "3 of 20 domain(s) failed, the others are done" in browser.text
    browser.picture(pictures / "run.png")
    browser.open(url(house, "/overview/activity/timeline"), "nightcrawl", "night", "report")
    browser.click("1hr")
    time.sleep(2)
    browser.picture(pictures / "timeline.png")
    assert not browser.errors


def test_the_morning_report_says_what_needs_whom_and_fits_a_phone(
    house: Operated, browser: Browser, web: list[RemoteSite], pictures: Path
) -> None:
    names = [s.domain for s in web]
    told = wait_for(lambda: [r for r in reports(house) if r.get("needs you")], 120)[0]
    assert told["in one sentence"].startswith(f"{SITES - 3} of {SITES} domains went through; 3 need you")
    assert all(names[n] in told["report"] for n in (WALLED, RELAID, DOWN))
    page = Path(told["page"])
    html = page.read_text()
    assert not re.search(r"<script|@import|url\(|src=", html), "the page loads something"
    for width, height, picture in ((1240, 1750, "night-report.png"), (390, 1500, "night-report-phone.png")):
        browser.size(width, height, phone=width < 500)
        browser.open(page.as_uri(), "Needs you", "Errors by class", "What changed", "Forecast against actual")
        for n in (WALLED, RELAID, DOWN):
            assert names[n] in browser.text
        assert "A wall" in browser.text or "a wall" in browser.text
        drawn = browser.run("document.querySelectorAll('svg polyline, svg .bar').length")
        assert drawn >= 3, "the charts are empty"
        assert browser.run("document.documentElement.scrollWidth") <= width, f"wider than {width} px"
        small = browser.run(
            "Math.min(...[...document.querySelectorAll('svg text')].map(t => t.getBoundingClientRect().height))"
        )
        assert small >= 9, "the axis cannot be read"
        browser.picture(pictures / picture)
    browser.size(1500, 940)
    browser.open(url(house, "/assets/night_report"), "in one sentence", "[Show Markdown]")
    browser.click("[Show Markdown]")
    browser.wait_for("To do: failed: check canary", "requests/s")
    browser.picture(pictures / "report-in-ui.png")
    browser.open(url(house, "/runs"), "Success", "Failure", "Canceled", "night", "report", "In progress (0)")
    browser.picture(pictures / "runs.png")


def test_a_mended_selector_makes_the_tables_again_and_they_are_published(
    house: Operated, web: list[RemoteSite]
) -> None:
    shop = web[RELAID]
    before = domain_state(house.installation, shop.domain)
    assert before is not None and before.stale and "rejected" in str(before.stale_reason)
    kept = table_counts(house.installation, shop.domain)["book"]
    assert kept == 10, "readers keep last night's rows"
    shop.reset()
    items = {"book": {"match": "/book/*", "key": ["isbn"], "fields": NEW_FIELDS}}
    write(house, [shop], "bookshop", items=items)
    run = wait_for(lambda: next(iter(runs_of(house, "reparse")), None), 180)
    assert house.ended(run["runId"], 180) == "SUCCESS"
    assert shop.requests() == []
    after = domain_state(house.installation, shop.domain)
    assert after is not None and not after.stale
    assert table_counts(house.installation, shop.domain)["rejected_items"] == 0
    assert shop.domain in state(house, "published")[0]


def test_a_domain_is_published_by_hand(house: Operated, web: list[RemoteSite]) -> None:
    name = web[0].domain
    before = domain_state(house.installation, name)
    run = house.launch("publish", name)
    assert house.ended(run, 180) == "SUCCESS"
    after = domain_state(house.installation, name)
    assert before is not None and after is not None
    assert before.published_at is not None and after.published_at is not None
    assert after.published_at > before.published_at
