"""Partitions follow the site files, and a changed extraction asks for new tables of exactly its domains."""

from __future__ import annotations

import json

import dagster as dg

from crawl_assets.automation.sensors import site_files
from crawl_assets.partitions import contiguous, domains, sync_partitions, usable_sites
from resources.frontier.base import Discovery
from resources.installation_resource import InstallationResource
from resources.web.urls import key
from tests.dagster.conftest import House


def keys(house: House) -> list[str]:
    return list(house.instance.get_dynamic_partitions(str(domains.name)))


def look(house: House, cursor: str | None = None) -> dg.SensorResult | dg.SkipReason:
    resource = InstallationResource(data=str(house.installation.data), sites=str(house.installation.sites))
    with dg.build_sensor_context(instance=house.instance, cursor=cursor) as context:
        found = site_files(context, installation=resource)
    assert isinstance(found, dg.SensorResult | dg.SkipReason)
    return found


def test_domains_of_a_site_stand_together(house: House) -> None:
    house.write_site(["z.example", "m.example"], "one")
    house.write_site(["a.example"], "two")
    assert keys(house) == ["z.example", "m.example", "a.example"]


def test_hosts_below_a_wildcard_are_domains_when_a_seed_names_them_or_a_crawl_met_them(house: House) -> None:
    seeds = ["https://a.shop.example/", "https://b{1..2}.shop.example/list?page={1..500}", "@more.txt"]
    (house.installation.sites / "more.txt").write_text("https://c.shop.example/x # a comment\n")
    house.write_site(["*.shop.example"], seeds=seeds, canaries=[])
    below = ["a.shop.example", "b1.shop.example", "b2.shop.example", "c.shop.example"]
    assert keys(house) == below == house.installation.catalog().domains()
    first = look(house)
    assert isinstance(first, dg.SensorResult)
    frontier = house.installation.open_frontier()
    for host in ("met.shop.example", "elsewhere.example"):
        url = f"https://{host}/"
        frontier.enqueue([Discovery(key(url), url, host)], now=1.0)
    frontier.close()
    look(house, first.cursor)
    assert keys(house) == [*below, "met.shop.example"]


def test_a_removed_site_is_retired_and_comes_back_with_its_history(house: House) -> None:
    path = house.write_site(["a.example"])
    house.instance.report_runless_asset_event(dg.AssetMaterialization("raw_html", partition="a.example"))
    text = path.read_text()
    path.unlink()
    assert sync_partitions(house.instance, house.installation).retired == ("a.example",)
    assert keys(house) == []
    path.write_text(text)
    assert sync_partitions(house.instance, house.installation).added == ("a.example",)
    assert house.partitions("raw_html") == ({"a.example"}, set())


def test_a_broken_file_retires_nothing(house: House) -> None:
    path = house.write_site(["a.example"])
    path.write_text("domains: [a.example")
    change = sync_partitions(house.instance, house.installation)
    assert keys(house) == ["a.example"]
    assert "not valid YAML" in str(change.problems[0])


def test_the_sensor_is_silent_until_a_file_changes(house: House) -> None:
    house.write_site(["a.example"])
    first = look(house)
    assert isinstance(first, dg.SensorResult)
    assert [e.partition for e in first.asset_events] == ["a.example"]
    assert not first.run_requests  # nothing was fetched yet: there is nothing to read again
    assert isinstance(look(house, first.cursor), dg.SkipReason)


def test_a_change_of_selectors_reparses_exactly_the_domains_it_concerns(house: House) -> None:
    house.write_site(["a.example", "b.example"], "one")
    house.write_site(["c.example"], "two")
    first = look(house)
    assert isinstance(first, dg.SensorResult)
    items = {
        "book": {"match": "/book/*", "key": ["title"], "fields": {"title": {"css": "h1", "required": True}}}
    }
    house.write_site(["a.example", "b.example"], "one", items=items)
    second = look(house, first.cursor)
    assert isinstance(second, dg.SensorResult)
    (request,) = second.run_requests or []
    assert request.tags["dagster/asset_partition_range_start"] == "a.example"
    assert request.tags["dagster/asset_partition_range_end"] == "b.example"
    assert {e.partition for e in second.asset_events} == {"a.example", "b.example"}
    assert isinstance(look(house, second.cursor), dg.SkipReason)


def test_a_tick_that_broke_off_is_made_again_from_the_same_state(house: House) -> None:
    """Dagster keeps the cursor last: what a lost tick remembered does not count."""
    house.write_site(["a.example"])
    first = look(house)
    assert isinstance(first, dg.SensorResult)
    house.write_site(["a.example"], structured_data=False)
    cursor = first.cursor
    for _ in range(3):
        lost = look(house, first.cursor)
        assert isinstance(lost, dg.SensorResult) and len(lost.run_requests or []) == 1
        cursor = lost.cursor
    assert isinstance(look(house, cursor), dg.SkipReason)


def test_the_cursor_is_short_however_many_domains_there_are(house: House) -> None:
    """Dagster keeps it with every tick and sends all of them to the sensor's page."""
    many = [f"shop-{n}.example" for n in range(50)]
    house.write_site(many, canaries=[])
    first = look(house)
    assert isinstance(first, dg.SensorResult) and len(first.cursor or "") < 200


def test_a_cursor_of_an_earlier_version_goes_on(house: House) -> None:
    """It had the versions in it."""
    house.write_site(["a.example"], "one")
    house.write_site(["b.example"], "two")
    catalog = house.installation.catalog()
    version = {d: s.extraction_version for d in ("a.example", "b.example") if (s := catalog.for_domain(d))}
    signature, _, _ = usable_sites(house.installation)
    known = {"signature": signature, "versions": version | {"b.example": "another"}, "more": False}
    found = look(house, json.dumps(known))
    assert isinstance(found, dg.SensorResult)
    (request,) = found.run_requests or []
    assert request.tags["dagster/asset_partition_range_start"] == "b.example"
    assert isinstance(look(house, found.cursor), dg.SkipReason)


def test_stretches_are_contiguous_and_bounded() -> None:
    assert contiguous("abcdef", "abdef", 2) == [("a", "b", 2), ("d", "e", 2), ("f", "f", 1)]
    assert contiguous("abc", "", 10) == []
