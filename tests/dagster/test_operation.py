"""A night as an operator lives it, with the real daemon, webserver and run workers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from practice_site import RemoteSite, practice_web_process, site_config, site_yaml
from tests.dagster.operated import Operated, operated, wait_for

pytestmark = pytest.mark.slow

PARTITIONS = """
query($asset: AssetKeyInput!) { assetNodeOrError(assetKey: $asset) { ... on AssetNode {
  partitionStats { numMaterialized numFailed numPartitions }
  partitionKeysByDimension { partitionKeys }
  assetPartitionStatuses { ... on DefaultPartitionStatuses { materializedPartitions failedPartitions } }
} } }"""


@pytest.fixture(scope="module")
def web() -> Iterator[list[RemoteSite]]:
    configs = [
        site_config(n_products=10, host=f"127.0.0.{20 + n}", down="reset" if n == 3 else "off")
        for n in range(5)
    ]
    with practice_web_process(configs) as sites:
        yield sites


@pytest.fixture(scope="module")
def house(web: list[RemoteSite], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operated]:
    with operated(tmp_path_factory.mktemp("night")) as house:
        write(house, web, schedule="0 0 1 1 *")
        house.up()
        yield house


def write(house: Operated, sites: list[RemoteSite], **changes: Any) -> None:
    changes.setdefault("pace", {"rate": "unlimited"})
    text = site_yaml([s.domain for s in sites], name="shops", changes=changes)
    (house.installation.sites / "shops.yaml").write_text(text)


def state(house: Operated, asset: str) -> tuple[set[str], set[str]]:
    """(materialized, failed) partitions as the UI's partition bar has them."""
    node = house.ask(PARTITIONS, asset={"path": [asset]})["assetNodeOrError"]
    found = node["assetPartitionStatuses"]
    return set(found["materializedPartitions"]) - set(found["failedPartitions"]), set(
        found["failedPartitions"]
    )


def runs_of(house: Operated, job: str) -> list[dict[str, Any]]:
    return [r for r in house.runs() if r["jobName"] == job]


def tag(run: dict[str, Any], key: str) -> str:
    return next((t["value"] for t in run["tags"] if t["key"] == key), "")


def test_the_schedule_launches_the_night_and_exactly_the_broken_domain_is_red(
    house: Operated, web: list[RemoteSite]
) -> None:
    soon = datetime.now(UTC) + timedelta(minutes=1)
    write(house, web, schedule=f"{soon.minute} {soon.hour} * * *")
    (run,) = wait_for(lambda: runs_of(house, "night"), 180)
    assert tag(run, "nightcrawl/night")
    assert house.ended(run["runId"]) == "FAILURE"
    names = [s.domain for s in web]
    good = {n for n in names if n != names[3]}
    for asset in ("fetched_pages", "raw_html", "pages", "items", "published"):
        assert state(house, asset) == (good, {names[3]})


def test_a_sparse_backfill_takes_exactly_the_chosen_domains(house: Operated, web: list[RemoteSite]) -> None:
    chosen = [web[0].domain, web[2].domain]
    for site in web:
        site.reset()
    backfill = house.backfill(["raw_html", "pages"], chosen)
    ask = "query($id: String!) { partitionBackfillOrError(backfillId: $id) { ... on PartitionBackfill { status } } }"
    wait_for(
        lambda: house.ask(ask, id=backfill)["partitionBackfillOrError"]["status"] == "COMPLETED_SUCCESS",
        240,
        1.0,
    )
    assert all(site.requests() == [] for site in web)


def test_a_mended_selector_makes_the_tables_again_without_a_request(
    house: Operated, web: list[RemoteSite]
) -> None:
    for site in web:
        site.reset()
    before = {r["runId"] for r in runs_of(house, "reparse")}
    fields = {"title": {"css": "h1.title", "required": True}, "isbn": {"css": "td.isbn", "required": True}}
    write(
        house,
        web,
        schedule="0 0 1 1 *",
        items={"book": {"match": "/book/*", "key": ["isbn"], "fields": fields}},
    )
    run = wait_for(
        lambda: next((r for r in runs_of(house, "reparse") if r["runId"] not in before), None), 120
    )
    assert house.ended(run["runId"]) in ("SUCCESS", "FAILURE")
    good = {s.domain for s in web} - {web[3].domain}
    assert state(house, "published")[0] >= good
    assert all(site.requests() == [] for site in web)


def test_a_retired_domain_keeps_its_rows(house: Operated, web: list[RemoteSite]) -> None:
    write(house, web[:-1], schedule="0 0 1 1 *")
    gone = web[-1].domain

    def keys() -> set[str]:
        node = house.ask(PARTITIONS, asset={"path": ["pages"]})["assetNodeOrError"]
        return set(node["partitionKeysByDimension"][0]["partitionKeys"])

    wait_for(lambda: gone not in keys(), 90)
    from resources.warehouse.read import table_counts

    assert table_counts(house.installation, gone)["pages"] > 0
